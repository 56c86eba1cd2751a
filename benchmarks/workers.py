"""What two cores make of training beside one: recorded positions, steps, and who is idle.

    .venv/bin/python benchmarks/workers.py [--steps 240 600] [--workers 0 1 2] [--rounds 1] [--set KEY=VALUE] [--write]

Runs by the preset of connect four, one after the other, in folders that are thrown away, each judged between the same
two steps of the learner: weights that have learnt nothing are not fit for eight bits and play at a third of the rate,
so a count from the beginning on would be of other networks where there are more processes. There is no teacher:
processes go on with its games for as long as the learner learns from the first of them, and those cost next to nothing.
A machine that does other work, too, gives a share of itself, and processor time says what a recorded position costs all
the same. From that follows what two free cores would make of it, min(2 / (l + s), 1 / l, workers / s) positions a
second, where l processor seconds of the learner and s of those that play go into one position; the last column is that
over 1 / l of one process that does both on one free core.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import os
import resource
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import measure  # noqa: F401  (first: it limits threads)
from pages import fill

import anabranch as ab
from anabranch.learn.game_of_run import described
from anabranch.learn.presets import preset
from anabranch.learn.train import train

PAGE = Path(__file__).resolve().parents[1] / "docs" / "training.md"
BAR = 1.8


def own_seconds() -> float:
    """Return the processor seconds of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def seconds_of_others() -> float:
    """Return the processor seconds of the processes that this one started and that have not ended."""
    total, me, ticks = 0.0, str(os.getpid()), os.sysconf("SC_CLK_TCK")
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if words[1] == me:
            total += (int(words[11]) + int(words[12])) / ticks
    return total


def run(workers: int, steps: Sequence[int], settings: tuple[str, ...]) -> dict[str, Any]:
    """Train for so many processor seconds after the first step; return what was done, at what cost."""
    from anabranch.search.settings.mapping import from_pairs

    game = ab.games.load("connect_four")
    config = from_pairs(["teacher.positions=0", "rating.models=0", "rating.positions=0", *settings], base=preset(game))
    marks: list[dict[str, Any]] = []

    def look(status: Any) -> None:
        if isinstance(status, str) or (not marks and status.step < steps[0]):
            return
        mark = {
            "seconds": time.perf_counter(),
            "own": own_seconds(),
            "others": seconds_of_others(),
            "positions": status.positions,
            "games": status.games,
            "steps": status.step,
            "idle": status.idle,
            "fill": status.fill,
        }
        marks[1 if marks else 0 :] = [mark]  # the first and the last
        if status.step >= steps[1]:
            raise KeyboardInterrupt

    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(KeyboardInterrupt):
        train(
            Path(folder, "run"),
            described("connect_four", {}),
            dataclasses.replace(config, workers=workers),
            minutes=60.0,
            progress=look,
        )
    first, last = marks[0], marks[-1]
    done = {name: last[name] - first[name] for name in ("seconds", "own", "others", "positions", "games", "steps")}
    return {"workers": workers, **done, "idle": last["idle"], "fill": last["fill"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--steps", type=int, nargs=2, default=[240, 600], help="of the learner, the first and the last")
    parser.add_argument("--workers", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--write", action="store_true", help="into docs/training.md")
    asked = parser.parse_args()
    found = []
    for _ in range(asked.rounds):
        for workers in asked.workers:
            found.append({**run(workers, asked.steps, tuple(asked.set)), "load": os.getloadavg()[0]})
            print(found[-1], flush=True)
    text = table(found)
    print(text)
    if asked.write:
        fill("workers", text, PAGE)


def on_free_cores(row: dict[str, Any], alone: float) -> float:
    """Return how many times the positions of one process on one core, at `alone` seconds each, two free cores make."""
    learner, players = row["own"] / row["positions"], row["others"] / row["positions"]
    return float(min(2.0 / (learner + players), 1.0 / learner, row["workers"] / players) * alone)


def table(found: list[dict[str, Any]]) -> str:
    """Return what was found, and what it would be on two free cores."""
    columns = (
        *("processes that play", "positions/min", "steps/min", "processor ms a position: learner", "self-play"),
        *("learner idle", "self-play idle", "batches full", "cores had", "load", f"two free cores, × one (bar {BAR})"),
    )
    lines = [f"| {' | '.join(columns)} |", "|" + "---:|" * len(columns)]
    alone = [row["own"] / row["positions"] for row in found if not row["workers"]]
    for row in found:
        free = f"{on_free_cores(row, sum(alone) / len(alone)):.2f}" if alone and row["workers"] else ""
        cells = (
            *(row["workers"], f"{60 * row['positions'] / row['seconds']:,.0f}"),
            f"{60 * row['steps'] / row['seconds']:.0f}",
            f"{1e3 * row['own'] / row['positions']:.2f}",
            f"{1e3 * row['others'] / row['positions']:.2f}" if row["workers"] else "",
            *(f"{row['idle'][who]:.0%}" for who in ("learner", "self_play")),
            *(f"{row['fill']:.0%}", f"{(row['own'] + row['others']) / row['seconds']:.2f}", f"{row['load']:.1f}", free),
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
