"""What processes that play beside the learner bring: positions per second, and who is idle, on connect four.

    .venv/bin/python benchmarks/workers.py [--seconds 180] [--workers 0 1 2] [--rounds 1]

Runs by the preset of the game, each for the same wall time, one after the other, in folders that are thrown away.
Beside wall time stands processor time, of the process that learns and of those that play: a machine that does other
work, too, gives a share of itself, and processor time says what an evaluation costs all the same. From that follows
what two free cores would make of it, min(2 / c, workers / s) evaluations a second, where c processor seconds of all
processes and s of those that play go into one evaluation; the last column is that over what one free core makes of one
process.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import measure  # noqa: F401  (first: it limits threads)

import anabranch as ab
from anabranch.learn.presets import preset
from anabranch.learn.run_folder import RunFolder
from anabranch.learn.train import described, train


def seconds(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def run(workers: int, minutes: float, settings: tuple[str, ...]) -> dict[str, Any]:
    """Train for so long and return what was done, and at what cost."""
    from anabranch.search.settings.mapping import from_pairs

    game = ab.games.load("connect_four")
    config = from_pairs(["rating.models=0", "rating.positions=0", *settings], base=preset(game))
    before = [seconds(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    shown: list[Any] = []
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        done = train(
            Path(folder, "run"),
            described("connect_four", {}),
            dataclasses.replace(config, workers=workers),
            minutes=minutes,
            progress=shown.append,
        )
        passed = time.perf_counter() - begun
        with RunFolder.open(Path(folder, "run")) as found:
            sizes = {
                "bytes of a game": sum(row["bytes"] for row in found.ledger.rows["shards"]) / max(1, done.games),
                "decisions": sum(row["decisions"] for row in found.ledger.rows["shards"]),
            }
    own, others = (
        seconds(who) - start
        for who, start in zip((resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN), before, strict=True)
    )
    status = shown[-1]
    return {
        "workers": workers,
        "seconds": passed,
        "evaluations": status.rows_per_second * (status.seconds),
        "positions": done.positions,
        "games": done.games,
        "steps": done.step,
        "idle": status.idle,
        "fill": status.fill,
        "own": own,
        "others": others,
        **sizes,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=180)
    parser.add_argument("--workers", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--set", action="append", default=[])
    asked = parser.parse_args()
    found = []
    for _ in range(asked.rounds):
        for workers in asked.workers:
            found.append({**run(workers, asked.seconds / 60, tuple(asked.set)), "load": os.getloadavg()[0]})
            print(found[-1], flush=True)
    print(table(found))


def table(found: list[dict[str, Any]]) -> str:
    """Return what was found, and what it would be on two free cores."""
    columns = (
        *("workers", "evaluations/s", "games/s", "processor s: learner", "self-play"),
        *("learner idle", "self-play idle", "batches full", "load", "two free cores, × one process"),
    )
    lines = [f"| {' | '.join(columns)} |", "|" + "---:|" * len(columns)]
    alone = [row["own"] / row["evaluations"] for row in found if not row["workers"]]
    for row in found:
        free = ""
        if alone and row["workers"]:
            least = 2.0 * row["evaluations"] / (row["own"] + row["others"])
            free = f"{min(least, row['workers'] * row['evaluations'] / row['others']) * alone[0]:.2f}"
        cells = (
            *(row["workers"], f"{row['evaluations'] / row['seconds']:,.0f}", f"{row['games'] / row['seconds']:.1f}"),
            *(f"{row['own']:.0f}", f"{row['others']:.0f}" if row["workers"] else ""),
            *(f"{row['idle'][who]:.0%}" for who in ("learner", "self_play")),
            *(f"{row['fill']:.0%}", f"{row['load']:.1f}", free),
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
