"""Does search slow down as the graph grows, and what does a node weigh? Connect four at 10^6 nodes against 10^3.

The rate at so many nodes is that of the next simulations once there are so many. The rates of whole searches, from
nothing to so many nodes, are timed too and noted.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

import measure  # first: it limits threads
from engine import make, run

import anabranch as ab

SMALL, LARGE = 1_000, 1_000_000
MORE, A_FEW = 50_000, 200  # simulations timed at the large and at the small size
REPEATS = 3
QUESTIONS = ((ab.Uniform(), 1 / 9), (ab.Rollout(), 1 / 4))
MOST_BYTES = 200.0


def grow(root: Any, nodes: int, step: int) -> int:
    """Search until a graph has so many nodes; how many simulations that took."""
    done = 0
    while root.nodes < nodes:
        done += step
        run(root, done)
    return done


def rate(root: Any, simulations: int) -> float:
    """Return simulations per second of processor time."""
    goal = root.root_visits + simulations
    before = time.process_time()
    run(root, goal)
    return simulations / (time.process_time() - before)


def rows() -> list[measure.Row]:
    """Measure and return the lines of the table."""
    lines: list[measure.Row] = []
    weights: list[measure.Row] = []
    for evaluator, bar in QUESTIONS:
        kind = type(evaluator).__name__.lower()
        new_root = make(ab.games.load("connect_four"), evaluator)
        needed = grow(new_root(), SMALL, 20)
        small, large, ratios = [], [], []
        whole: list[float] = []
        whole_small: list[float] = []
        for _ in range(REPEATS):
            measure.log(f"growing connect four, {kind}, to {LARGE:,} nodes")
            root = new_root()
            before = time.process_time()
            done = grow(root, LARGE, MORE)
            whole.append(done / (time.process_time() - before))
            large.append(rate(root, MORE))
            weight = root.bytes / root.nodes
            del root
            rates = []
            for _ in range(200):
                root = new_root()
                rates.append((rate(root, needed), rate(root, A_FEW)))  # at once, while its memory is in the caches
            whole_small.append(statistics.median(whole for whole, _ in rates))
            small.append(statistics.median(further for _, further in rates))
            ratios.append(large[-1] / small[-1])
        lines.append(
            measure.Row(
                f"rate at 10^6 nodes, {kind}",
                statistics.median(large),
                statistics.median(small),
                statistics.median(ratios),
                bar,
                note=f"rate at 10^3; from nothing to there: {measure.figure(statistics.median(whole))} and "
                f"{measure.figure(statistics.median(whole_small))}",
                details={"ratios": ratios, "simulations_to_small": needed},
            )
        )
        name = f"bytes per connect four node at 10^6, {kind}"
        weights.append(measure.Row(name, weight, bar=MOST_BYTES, at_most=True, unit="bytes"))
    return lines + weights


if __name__ == "__main__":
    measure.use_cores(1)
    measure.finish(__file__, rows())
