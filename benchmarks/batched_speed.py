"""How fast are many searches whose evaluator is Python? 256 roots beside gumbel-mcts, an evaluator that does nothing.

    .venv/bin/python benchmarks/batched_speed.py [--trees 256] [--simulations 200] [--rounds 15] [--write]

Both in processes of their own on the same core, called in turn; `make peers` builds the environment of the other. Ours
is asked twice: with no logits, and with zeros for logits, as the other one gets them. Ours notices that they are equal
and then stores no priors, so this is less work than a network's logits are.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import measure  # first: it limits threads
import pages
from peers.catalogue import PEERS, Peer
from peers.questions import Question
from peers.remote import FailedError, Remote

PYTHON = Path(__file__).resolve().parents[1] / ".venv-peers" / "bin" / "python"
WAIT = 60.0  # seconds for one search, at the most
VARIANTS = {"none": "no logits", "zeros": "zeros for logits"}
BARS = {"none": 1.5, "zeros": 1.3}


def rows(question: Question, rounds: int, python: Path) -> list[measure.Row]:
    """Measure and return the lines of the table."""
    lines = []
    theirs = next(peer for peer in PEERS if peer.name == "gumbel_mcts")
    for variant, words in VARIANTS.items():
        own = Peer(f"anabranch_{variant}", f"anabranch, {words}", "anabranch", "peers.adapters.asked", variant, "PUCT")
        with (
            Remote(Path(sys.executable), own, question, WAIT) as ours,
            Remote(python, theirs, question, WAIT) as other,
        ):
            rates = measure.compare([ours, other], rounds=rounds, seconds=30.0)
            line = measure.versus(f"{question}, {words}", rates, ours.name, other.name, BARS[variant])
            line.note = f"gumbel-mcts {other.version}; {ours.evaluated:,.0f} evaluations for {question.units:,.0f}"
        lines.append(line)
    return lines


def markdown(lines: Sequence[measure.Row]) -> str:
    """Return the table."""
    body = ["| evaluator's answer | simulations/s | gumbel-mcts | ratio |", "| --- | ---: | ---: | ---: |"]
    for line, words in zip(lines, VARIANTS.values(), strict=True):
        ours, theirs = measure.figure(line.ours), measure.figure(line.theirs)
        body.append(f"| {words} | {ours} | {theirs} | {line.ratio:.2f} |")
    return "\n".join(body)


def main(words: Sequence[str] | None = None) -> list[measure.Row]:
    """Measure, print, and write what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--trees", type=int, default=256)
    parser.add_argument("--simulations", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--python", type=Path, default=PYTHON, help="of the peer")
    parser.add_argument("--write", action="store_true", help="the table into docs/waves.md")
    asked = parser.parse_args(words)
    if not asked.python.exists():
        raise SystemExit(f"{asked.python} does not exist; `make peers` builds the peers' environment")
    question = Question("batch", "connect_four", "uniform", asked.simulations, asked.trees)
    try:
        lines = rows(question, asked.rounds, asked.python)
    except FailedError as error:
        raise SystemExit(f"one of the two failed: {error}") from None
    if asked.write:
        pages.fill("batched", markdown(lines))
    measure.finish(__file__, lines)
    return lines


if __name__ == "__main__":
    main(sys.argv[1:])
