"""Ours beside the peers', side by side in one run: one table with ratios, and peers/latest.json.

`make bench-peers` builds the peers' own environment first. A part is run with, say, `--only connect_four --peers
open_spiel`; its figures go to results/ and leave latest.json alone.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

import measure
from peers import table
from peers.catalogue import PEERS, Peer
from peers.questions import GAMES, QUESTIONS, TASKS, Question
from peers.race import Patience, Pythons, races
from peers.remote import FailedError
from run_all import collect

ROOT = Path(__file__).resolve().parents[1]
PART = measure.RESULTS / "peers.json"  # of a part, or of a run so far
BARS = ("search_speed", "rollout_speed", "object_speed")  # what we promise against OpenSpiel, on our own environment's


def arguments(words: list[str] | None) -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", nargs="+", default=[], metavar="WHAT", help=f"{', '.join((*TASKS, *GAMES))}")
    parser.add_argument("--peers", nargs="+", default=[], metavar="NAME", help="names or how they begin; see --list")
    parser.add_argument("--simulations", nargs="+", type=int, default=[], help="only questions with so many")
    parser.add_argument(
        "--seconds", type=float, default=Patience.seconds, help="to spend on a pair (at least 3 rounds)"
    )
    parser.add_argument("--rounds", type=int, default=Patience.rounds, help="at most so many a pair")
    parser.add_argument("--python", type=Path, default=ROOT / ".venv-peers" / "bin" / "python", help="of the peers")
    parser.add_argument("--list", action="store_true", help="say what there is, and stop")
    return parser.parse_args(words)


def fail(words: str) -> NoReturn:
    """Stop: the command line asks for something that is not there."""
    print(f"run_peers: {words}", file=sys.stderr)
    raise SystemExit(2)


def known(what: str, names: Iterable[str], allowed: Iterable[str], fits: Any) -> None:
    """Stop with the nearest name if one is unknown."""
    allowed = list(allowed)
    for name in names:
        if not any(fits(other, name) for other in allowed):
            near = difflib.get_close_matches(name, allowed, 1, 0.0)
            fail(f"no {what} {name!r}; did you mean {near[0]!r}? --list shows all")


def chosen(asked: argparse.Namespace) -> tuple[list[Question], list[Peer]]:
    """Return the questions and the peers asked for."""
    known("task or game", asked.only, (*TASKS, *GAMES), str.__eq__)
    known("peer", asked.peers, (peer.name for peer in PEERS), str.startswith)
    tasks, games = ([name for name in asked.only if name in group] for group in (TASKS, GAMES))
    questions = [
        question
        for question in QUESTIONS
        if (not tasks or question.task in tasks)
        and (not games or question.game in games)
        and (not asked.simulations or question.simulations in asked.simulations)
    ]
    peers = [peer for peer in PEERS if not asked.peers or peer.name.startswith(tuple(asked.peers))]
    return questions, peers


def load() -> float:
    """Return how busy the machine is: processes that want to run, over the last minute."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else 0.0


def save(path: Path, busy: float, lines: list[table.Line], bars: list[measure.Row]) -> None:
    """Write what was found, with what it was measured on."""
    path.parent.mkdir(exist_ok=True)
    data = {"machine": measure.machine(), "load": [busy, load()], "bars": measure.plain(bars), "rows": lines}
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main(words: list[str] | None = None) -> int:
    """Race, print, write; the exit code says whether the bars are met (or that nothing could be measured)."""
    asked = arguments(words)
    if asked.list:
        print("tasks:", *TASKS, "\ngames:", *GAMES)
        for peer in PEERS:
            print(f"{peer.name:26} {peer.title}: {peer.note}")
        return 0
    questions, peers = chosen(asked)
    if not asked.python.exists():
        fail(f"{asked.python} does not exist; `make peers` builds the peers' environment")
    total = sum(peer.asked(question) for question in questions for peer in peers)
    busy = load()
    measure.log(f"{total} pairs, at most {asked.seconds:g} s each where searches are short; load average {busy}")
    lines: list[table.Line] = []
    bars: list[measure.Row] = []
    whole = len(questions) == len(QUESTIONS) and len(peers) == len(PEERS)
    stopped = 0
    try:
        pythons = Pythons(Path(sys.executable), asked.python)
        for outcome in races(questions, peers, pythons, Patience(asked.rounds, asked.seconds)):
            lines.append(outcome.to_json())
            save(PART, busy, lines, [])  # so that a run cut short leaves what it found
            measure.log(f"{len(lines):3}/{total} " + table.text(lines[-1:]).splitlines()[1])
        if whole:
            bars = collect(BARS)
    except KeyboardInterrupt:
        stopped = 130
        measure.log("stopped; what there is:")
    except FailedError as error:
        stopped = 1
        measure.log(f"our own search failed: {error}; what there is:")
    print(table.text(lines), "\nwhat they do differently", table.differences(lines), sep="\n")
    if bars:
        print("\nbars, against OpenSpiel\n" + measure.table(bars))
    if stopped:
        return stopped
    path = table.LATEST if whole else PART
    save(path, busy, lines, bars)
    measure.log(f"written: {path.relative_to(ROOT)}")
    failed = all(line["ratio"] is None for line in lines)
    return 1 if failed or any(row.ok is False for row in bars) else 0


if __name__ == "__main__":
    raise SystemExit(main())
