"""Train tic-tac-toe on a Ray cluster of two nodes on this machine, while somebody kills those who play.

    python -m tests.two_nodes FOLDER [--minutes 3] [--every 10] [--workers 2] [--method muzero]

Prints as JSON how many were killed, whether every game counts once, and how many of 200 games against perfect play are
lost.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

from tests.killed import children

import anabranch as ab
from anabranch.learn.game_of_run import described
from anabranch.learn.presets import preset
from anabranch.learn.rating import rated_agent
from anabranch.learn.run_folder import RunFolder, examine
from anabranch.learn.train import train


def players(process: int) -> list[int]:
    """Return the actors that play among all that a process has started, and what those have."""
    found = []
    for child in children(process):
        try:
            name = Path(f"/proc/{child}/cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue
        found += [child] if name.startswith(b"ray::Player") else players(child)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--every", type=float, default=10.0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--method", default="alphazero")
    asked = parser.parse_args()
    os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_worker_niceness="0")
    from ray.cluster_utils import Cluster

    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    nodes.add_node(num_cpus=asked.workers - 1)
    killed: list[int] = []
    over = threading.Event()

    def kill() -> None:
        while not over.wait(asked.every):
            for place in sorted(players(os.getpid()))[:1]:  # the oldest, and so each in its turn
                os.kill(place, signal.SIGKILL)
                killed.append(place)

    game, said = ab.games.load("tic_tac_toe"), described("tic_tac_toe", {})
    config = preset(game, asked.method)
    config = dataclasses.replace(config, rating=dataclasses.replace(config.rating, models=0))
    threading.Thread(target=kill, daemon=True).start()
    told: list[str] = []
    last = [0.0]

    def progress(status: Any) -> None:
        if time.monotonic() - last[0] > 10.0:
            last[0] = time.monotonic()
            print(status, flush=True)

    done = train(
        asked.folder, said, config, minutes=asked.minutes, workers=asked.workers, ray=nodes.address,
        say=told.append, progress=progress,
    )  # fmt: skip
    over.set()
    nodes.shutdown()
    with RunFolder.open(asked.folder) as run:
        ids = [record.id for row in run.ledger.rows["shards"] for record in run.games(row)]
        version = len(run.ledger.rows["models"])
        losses = {}
        for simulations in (2, 25):
            found = ab.match(game, rated_agent(run, game, version, simulations), "oracle", games=200)
            losses[simulations] = sum(g.returns[list(g.seats).index(0)] < 0 for g in found.records)
    facts = {
        "nodes": 2, "killed": len(killed), "told": len(told), "games": done.games, "once": len(ids) == len(set(ids)),
        "steps": done.step, "score": done.score, "losses": losses,
        "damaged": [wrong for _, wrong in examine(asked.folder) if wrong],
    }  # fmt: skip
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
