"""How much of a network's speed is left in self-play? 256 games of connect four, a tower of 5 × 32 in eight bits.

    .venv/bin/python benchmarks/self_play_speed.py [--games 256] [--simulations 64] [--moves 6] [--rounds 5]
        [--worker] [--write]

Every move of every game: search with noise and forced playouts, take the target, draw an action, move the root on with
its graph; finished games begin anew. The search notes how large its batches were; then the bare session, on one thread
as in the search, is given observations of exactly those sizes in the same process. The ratio is the share of the
session's positions per second that self-play reaches. Printed too: what a move costs beside the search itself. The last
rows are the worker of `anabranch train` by the game's preset, records included, with and without the rollouts it mixes
into values; `--worker` measures nothing else. It is timed by the processor's clock, as is the session beside it.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import logging
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import measure  # before NumPy: it limits threads
import numpy as np
from network_overhead import Noting
from pages import fill

import anabranch as ab

BAR = 0.9
WORKER_BAR = 0.85  # with everything that a record of a game takes
PAGE = Path(__file__).resolve().parents[1] / "docs" / "training.md"


class SelfPlay:
    """So many games abreast, a few moves at a time."""

    def __init__(self, model: Path, games: int, simulations: int, depth: int) -> None:
        self.game = ab.games.load("connect_four")
        self.evaluator = Noting(ab.Onnx(model, threads=1))
        config = ab.SearchConfig(noise=ab.RootNoise(), forced=ab.ForcedPlayouts(), depth=depth)
        self.searcher = ab.Searcher(self.game, self.evaluator, config, threads=1)
        self.simulations = simulations
        self.dice = np.random.default_rng(0)
        self.roots = [self.searcher.root(self.game.start()) for _ in range(games)]
        self.targets: list[np.ndarray[Any, Any]] = []
        self.seconds: dict[str, float] = {"search": 0.0, "targets": 0.0, "choose": 0.0, "advance": 0.0}
        self.moved = 0
        self.observations = ab.random_positions(self.game, games).observations

    def move(self) -> None:
        """Play one move in every game."""
        times = [time.perf_counter()]
        results = self.searcher.run(self.roots, simulations=self.simulations)
        times.append(time.perf_counter())
        self.targets = [result.target for result in results]
        times.append(time.perf_counter())
        actions = [self.drawn(result) for result in results]
        times.append(time.perf_counter())
        for at, (root, action) in enumerate(zip(self.roots, actions, strict=True)):
            root.advance(action, keep="graph")
            if root.state.over:
                self.roots[at] = self.searcher.root(self.game.start())
        times.append(time.perf_counter())
        for name, begun, ended in zip(self.seconds, times, times[1:], strict=False):
            self.seconds[name] += ended - begun
        self.moved += len(self.roots)

    def drawn(self, result: ab.Result) -> int:
        """Draw an action from the visits."""
        assert isinstance(result.state.turn, tuple)
        row = result.policy[result.state.turn[0]]
        return int(np.searchsorted(np.cumsum(row), self.dice.random() * row.sum(), side="right").clip(0, len(row) - 1))

    def play(self, moves: int) -> None:
        """Play some moves."""
        for _ in range(moves):
            self.move()

    def infer(self, sizes: Sequence[int]) -> None:
        """Give the bare session batches of given sizes."""
        session, name = self.evaluator.inner._session, self.evaluator.inner.input_name
        for size in sizes:
            session.run(["logits", "values"], {name: self.observations[:size]})


def row(model: Path, games: int, simulations: int, moves: int, rounds: int, depth: int) -> measure.Row:
    """Measure one setting: moves, then the bare session with the same batches, in turn."""
    play = SelfPlay(model, games, simulations, depth)
    play.play(2)
    shares, rates, bare = [], [], []
    play.seconds = dict.fromkeys(play.seconds, 0.0)
    play.moved = 0
    for _ in range(rounds):
        play.evaluator.sizes.clear()
        begun = time.perf_counter()
        play.play(moves)
        ours = time.perf_counter() - begun
        sizes = list(play.evaluator.sizes)
        begun = time.perf_counter()
        play.infer(sizes)
        theirs = time.perf_counter() - begun
        shares.append(theirs / ours)
        rates.append(sum(sizes) / ours)
        bare.append(sum(sizes) / theirs)
    beside = ", ".join(
        f"{name} {1e6 * play.seconds[name] / play.moved:.1f}" for name in ("targets", "choose", "advance")
    )
    python = sum(play.seconds[name] for name in ("targets", "choose", "advance")) / sum(play.seconds.values())
    return measure.Row(
        f"self-play, {games} games, depth {depth}",
        statistics.median(rates),
        theirs=statistics.median(bare),
        ratio=statistics.median(shares),
        bar=BAR,
        unit="positions/s",
        note=f"µs a move beside the search: {beside}; {100 * python:.1f} % of the time",
    )


def worker_row(model: Path, rounds: int, seconds: float, rollouts: int | None = None) -> measure.Row:
    """Measure the worker of a training run: batches, then the bare session with the same sizes, in turn.

    The game's preset mixes rollouts into values, which the bare session knows nothing of: they count as the worker's.
    """
    from anabranch.learn.presets import preset
    from anabranch.learn.selfplay import Worker

    game = ab.games.load("connect_four")
    evaluator = Noting(ab.Onnx(model, threads=1))
    config = preset(game)
    if rollouts is not None:
        config = dataclasses.replace(config, self_play=dataclasses.replace(config.self_play, rollouts=rollouts))
    bare = SelfPlay(model, config.self_play.abreast, 1, 1)
    shares, rates, alone, ended = [], [], [], 0
    with Worker(game, config, evaluator) as worker:
        batches = worker.play(itertools.count())
        begun = time.process_time()
        while time.process_time() - begun < 2 * seconds:  # until games are at different moves
            next(batches)
        decisions = worker.decisions
        for _ in range(rounds):
            evaluator.sizes.clear()
            begun = time.process_time()
            while (ours := time.process_time() - begun) < seconds:
                ended += len(next(batches))
            sizes = list(evaluator.sizes)
            begun = time.process_time()
            bare.infer(sizes)
            theirs = time.process_time() - begun
            shares.append(theirs / ours)
            rates.append(sum(sizes) / ours)
            alone.append(sum(sizes) / theirs)
        moves = (worker.decisions - decisions) / rounds / seconds
        full = worker.fill
    return measure.Row(
        f"the worker of training, {config.self_play.abreast} games, {config.self_play.rollouts} rollouts a state",
        statistics.median(rates),
        theirs=statistics.median(alone),
        ratio=statistics.median(shares),
        bar=WORKER_BAR,
        unit="positions/s",
        note=f"batches {full:.0%} full; {moves:,.0f} moves/s, {ended / rounds / seconds:.1f} games/s",
    )


def table(lines: Sequence[measure.Row]) -> str:
    """Return the rows of workers for the page."""
    head = "| | positions/s | the bare network | share | bar | |"
    told = [
        f"| {row.name} | {row.ours:,.0f} | {row.theirs:,.0f} | {row.ratio:.2f} | {row.bar:.2f} | {row.note} |"
        for row in lines
    ]
    return "\n".join([head, "| --- | ---: | ---: | ---: | ---: | --- |", *told])


def main(words: Sequence[str] | None = None) -> list[measure.Row]:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--games", type=int, default=256)
    parser.add_argument("--simulations", type=int, default=64)
    parser.add_argument("--moves", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--channels", type=int, help="as the preset has if not given")
    parser.add_argument("--blocks", type=int)
    parser.add_argument("--seconds", type=float, default=4.0, help="of the worker's rounds")
    parser.add_argument("--worker", action="store_true", help="nothing but the worker of training")
    parser.add_argument("--write", action="store_true", help="the worker's rows into docs/training.md")
    asked = parser.parse_args(words)
    from anabranch.learn.presets import preset

    game = ab.games.load("connect_four")
    usual = preset(game).net
    sizes = {"channels": asked.channels or usual.channels, "blocks": asked.blocks or usual.blocks}
    with tempfile.TemporaryDirectory() as folder:
        whole, model = Path(folder, "tower.onnx"), Path(folder, "eight_bits.onnx")
        net = ab.nets.make("tower", game, **sizes).eval()
        ab.to_onnx(net, game, whole)
        ab.quantise(whole, model, game)
        depths = () if asked.worker else (1, 2)
        lines = [row(model, asked.games, asked.simulations, asked.moves, asked.rounds, depth) for depth in depths]
        workers = [worker_row(model, asked.rounds, asked.seconds, rollouts) for rollouts in (None, 0)]
    lines += workers
    measure.finish(__file__, lines)
    if asked.write:
        fill("self-play", table(workers), PAGE)
    return lines


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch is loaded
    measure.use_cores(2)
    main(sys.argv[1:])
