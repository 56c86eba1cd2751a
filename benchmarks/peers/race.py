"""Ours against one peer on one question: two processes on the same core, called in turn, round by round."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import measure

from peers.catalogue import OURS, Peer
from peers.questions import Question
from peers.remote import FailedError, Remote


@dataclass(frozen=True)
class Pythons:
    """Which interpreter runs whom."""

    ours: Path
    peers: Path


@dataclass(frozen=True)
class Patience:
    """How long a pair is measured."""

    rounds: int = 15
    seconds: float = 4.0
    search: float = 30.0  # the longest one search may take


@dataclass
class Outcome:
    """One line: our rate, theirs, and the median over rounds of the ratio; or why there is none."""

    question: Question
    peer: str
    like: str  # our selector
    version: str | None = None
    ours: float | None = None  # simulations per second
    theirs: float | None = None
    ratio: float | None = None
    ratios: list[float] = field(default_factory=list)  # one a round
    ready: list[float] = field(default_factory=list)  # seconds to the first answer: ours, theirs
    cores: list[float] = field(default_factory=list)  # share of the core: ours, theirs
    evaluated: float | None = None  # positions evaluated in a search: fewer than simulations where lines meet or end
    failure: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data, figures with four digits."""
        line = asdict(self)
        line |= line.pop("question")
        for name in ("ours", "theirs", "ratio"):
            line[name] = _short(line[name])
        for name in ("ratios", "ready", "cores"):
            line[name] = [_short(value) for value in line[name]]
        return line


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")


def pair(question: Question, peer: Peer, ours: Remote, theirs: Remote, patience: Patience) -> Outcome:
    """Measure both in turn."""
    rates = measure.compare([ours, theirs], rounds=patience.rounds, seconds=patience.seconds)
    a, b = (rates.names.index(name) for name in (ours.name, theirs.name))
    return Outcome(
        question=question,
        peer=peer.name,
        like=peer.like,
        version=theirs.version,
        ours=rates.rate(ours.name),
        theirs=rates.rate(theirs.name),
        ratio=rates.ratio(ours.name, theirs.name),
        ratios=[row[a] / row[b] for row in rates.rounds],
        ready=[ours.ready, theirs.ready],
        cores=[rates.share(ours.name), rates.share(theirs.name)],
        evaluated=ours.evaluated,
    )


def races(
    questions: Iterable[Question], peers: Sequence[Peer], pythons: Pythons, patience: Patience
) -> Iterator[Outcome]:
    """Put every question to every peer it is for; one that fails is an outcome too, and the next is asked."""
    for question in questions:
        asked = [peer for peer in peers if peer.asked(question)]
        with ExitStack() as stack:
            mine: dict[str, Remote] = {}
            for peer in asked:
                reason = peer.refusal(question)
                if reason is not None:
                    yield Outcome(question, peer.name, peer.like, failure=f"cannot: {reason}")
                    continue
                if peer.like not in mine:  # failing here is our own fault: let it be seen
                    own = Remote(pythons.ours, OURS[peer.like], question, patience.search)
                    mine[peer.like] = stack.enter_context(own)
                try:
                    with Remote(pythons.peers, peer, question, patience.search) as theirs:
                        yield pair(question, peer, mine[peer.like], theirs, patience)
                except FailedError as error:
                    yield Outcome(question, peer.name, peer.like, failure=str(error))
