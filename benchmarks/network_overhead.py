"""How much of a network's speed is left during search? Connect four, 64 roots, a tower of 64 channels and 5 blocks.

    .venv/bin/python benchmarks/network_overhead.py [--roots 64] [--simulations 40] [--rounds 9] [--write]

onnxruntime runs the network on two threads. The search notes how large its batches were; then the bare session is given
observations of exactly those sizes, in that order, in the same process. Both are called in turn, by the wall's clock;
the ratio is the share of the session's positions per second that the search reaches.
"""

from __future__ import annotations

import argparse
import logging
import os
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import measure  # before NumPy: it limits threads
import numpy as np
import pages
from openings import opened

import anabranch as ab

BAR = 0.9
QUIET = 0.85  # of its cores the session had, or others were at work too; below three such rounds, all count
SETTINGS = ((1, 1), (1, 2), (4, 1), (4, 2))  # width, depth


class Noting:
    """An evaluator around another that notes the sizes of its batches."""

    def __init__(self, inner: ab.Onnx) -> None:
        self.inner = inner
        self.sizes: list[int] = []

    def evaluate(self, batch: ab.Batch) -> tuple[Any, Any]:
        """Ask the other."""
        self.sizes.append(len(batch))
        answer: tuple[Any, Any] = self.inner.evaluate(batch)
        return answer


class Search:
    """Searching so many roots from their start, each time on new graphs."""

    def __init__(self, model: Path, width: int, depth: int, roots: int, simulations: int, threads: int) -> None:
        self.game = ab.games.load("connect_four")
        self.evaluator = Noting(ab.Onnx(model, threads=threads))
        config = ab.SearchConfig(width=width, depth=depth)
        self.searcher = ab.Searcher(self.game, self.evaluator, config, threads=1)
        self.count, self.simulations = roots, simulations
        self.roots: list[ab.Root] = []
        # Roots differ, as the games of self-play do.
        self.starts = [opened(self.game, at % 8, np.random.default_rng(at)) for at in range(roots)]
        self.observations = ab.random_positions(self.game, roots * width).observations

    def plant(self) -> None:
        """Make new roots."""
        self.roots = [self.searcher.root(state) for state in self.starts]
        self.evaluator.sizes.clear()

    def search(self) -> None:
        """Search them."""
        self.searcher.run(self.roots, simulations=self.simulations)

    def infer(self, sizes: Sequence[int]) -> None:
        """Give the bare session batches of given sizes."""
        session, name = self.evaluator.inner._session, self.evaluator.inner.input_name
        for size in sizes:
            session.run(["logits", "values"], {name: self.observations[:size]})


def row(search: Search, words: str, rounds: int, seconds: float, threads: int) -> measure.Row:
    """Measure one setting."""
    search.plant()
    search.search()
    sizes = list(search.evaluator.sizes)
    positions = float(sum(sizes))
    contenders = [
        measure.Contender("search", search.search, positions, prepare=search.plant),
        measure.Contender("session", lambda: search.infer(sizes), positions),
    ]
    every = measure.compare(contenders, rounds=rounds, seconds=seconds, wall=True)
    # By the session's share alone: a search that used its cores badly must not be left out for it.
    quiet = every.undisturbed([0.0, QUIET * threads])
    rates = quiet if len(quiet.rounds) >= 3 else every
    line = measure.versus(words, rates, "search", "session", BAR)
    line.unit = "positions/s"
    middle = statistics.median(sizes)
    shares = " and ".join(f"{rates.share(name):.2f}" for name in rates.names)
    line.note = f"median batch {middle:g}; {shares} cores; {len(quiet.rounds)} of {len(every.rounds)} rounds were quiet"
    line.details["sizes"] = sizes
    return line


def rows(*, roots: int, simulations: int, rounds: int, seconds: float, threads: int, **net: int) -> list[measure.Row]:
    """Measure and return the lines of the table."""
    game = ab.games.load("connect_four")
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder, "tower.onnx")
        ab.to_onnx(ab.nets.make("tower", game, **net).eval(), game, model)
        for width, depth in SETTINGS:
            search = Search(model, width, depth, roots, simulations, threads)
            lines.append(row(search, f"{roots} roots, width {width}, depth {depth}", rounds, seconds, threads))
            measure.log(f"  {lines[-1].name}: {lines[-1].ratio:.3f}")
    return lines


def markdown(lines: Sequence[measure.Row]) -> str:
    """Return the table."""
    body = ["| search | median batch | positions/s | bare session | share |", "| --- | ---: | ---: | ---: | ---: |"]
    for line in lines:
        middle = statistics.median(line.details["sizes"])
        ours, theirs = measure.figure(line.ours), measure.figure(line.theirs)
        body.append(f"| {line.name} | {middle:g} | {ours} | {theirs} | {100 * (line.ratio or 0):.0f} % |")
    return "\n".join(body)


def main(words: Sequence[str] | None = None) -> list[measure.Row]:
    """Measure, print, and write what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--roots", type=int, default=64)
    parser.add_argument("--simulations", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=20.0, help="for each setting (at least 3 rounds)")
    parser.add_argument("--threads", type=int, default=2, help="of onnxruntime")
    parser.add_argument("--channels", type=int, default=64)
    parser.add_argument("--blocks", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="the table into docs/waves.md")
    asked = vars(parser.parse_args(words))
    writing = asked.pop("write")
    lines = rows(**asked)
    if writing:
        pages.fill("overhead", markdown(lines))
    measure.finish(__file__, lines)
    return lines


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch is loaded
    measure.use_cores(2)
    main(sys.argv[1:])
