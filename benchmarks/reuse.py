"""What does keeping the graph between moves save? Self-played connect four, 400 root visits at every move.

    .venv/bin/python benchmarks/reuse.py [--games 100] [--visits 400] [--seed 0] [--write]

One search moves on with its game and keeps what it knows; at every position it reaches, another one begins afresh and
gets as many root visits. Saved is the share of positions the evaluator need not be asked about, over all moves of all
games. The evaluator is five random rollouts; how many positions it evaluated is read off the graph: decision nodes that
were not there before the search. Two ways of playing: as one learns (temperature 1, noise on the root's priors), and as
one competes (the largest entry of the policy). Games begin with two random plies, or those of the second were alike.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import measure  # first: it limits threads
import numpy as np
import pages
from openings import opened

import anabranch as ab

DECISION = 2  # in the graph's column of kinds
OPENING = 2


@dataclass
class Asked:
    """How many positions were evaluated: by the search that keeps, and by the one that begins afresh."""

    kept: int = 0
    fresh: int = 0
    moves: int = 0

    @property
    def saved(self) -> float:
        """The share that keeping saves."""
        return 1.0 - self.kept / self.fresh


def decisions(root: ab.Root) -> int:
    """Return how many positions of a graph have an evaluation."""
    return int((root.graph.columns["kind"] == DECISION).sum())


def largest(policy: np.ndarray, rng: np.random.Generator) -> int:
    """Return the choice one competes with."""
    return int(np.argmax(policy))


def drawn(policy: np.ndarray, rng: np.random.Generator) -> int:
    """Return a choice by temperature 1."""
    return int(rng.choice(len(policy), p=policy / policy.sum()))


def play(
    choose: Callable[[np.ndarray, np.random.Generator], int],
    noise: ab.RootNoise | None,
    *,
    games: int,
    visits: int,
    seed: int,
    evaluator: object | None = None,
) -> Asked:
    """Play games abreast and count what both searches ask."""
    game = ab.games.load("connect_four")
    searcher = ab.Searcher(game, evaluator or ab.Rollout(count=5), ab.SearchConfig(noise=noise, seed=seed), threads=1)
    draws = [np.random.default_rng((seed, number)) for number in range(games)]
    live = [(searcher.root(opened(game, OPENING, rng)), rng) for rng in draws]
    asked = Asked()
    while live:
        roots = [root for root, _ in live]
        before = [decisions(root) if root.root_number else 0 for root in roots]
        results = searcher.run(roots, visits=visits)
        asked.kept += sum(decisions(root) for root in roots) - sum(before)
        afresh = [searcher.root(root.state) for root in roots]
        searcher.run(afresh, visits=visits)
        asked.fresh += sum(decisions(root) for root in afresh)
        asked.moves += len(roots)
        for (root, rng), result in zip(live, results, strict=True):
            root.advance(choose(result.policy[root.state.turn[0]], rng), keep="graph")
        live = [(root, rng) for root, rng in live if root.state.turn != ab.OVER]
    return asked


WAYS = (
    ("learning: temperature 1, noise", drawn, ab.RootNoise(), 25.0),
    ("competing: largest entry", largest, None, 40.0),
)


def rows(games: int, visits: int, seed: int) -> list[measure.Row]:
    """Play and return the lines of the table."""
    lines = []
    for words, choose, noise, bar in WAYS:
        asked = play(choose, noise, games=games, visits=visits, seed=seed)
        note = f"{asked.kept:,} positions evaluated instead of {asked.fresh:,} in {asked.moves:,} moves"
        details = {"games": games, "visits": visits, "seed": seed} | vars(asked)
        lines.append(measure.Row(words, 100 * asked.saved, bar=bar, unit="% saved", note=note, details=details))
        measure.log(f"{words}: {100 * asked.saved:.1f} %, {note}")
    return lines


def markdown(lines: Sequence[measure.Row]) -> str:
    """Return the table."""
    body = [
        "| game played by | moves | positions evaluated afresh | evaluated | saved |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for line in lines:
        told = line.details
        body.append(f"| {line.name} | {told['moves']:,} | {told['fresh']:,} | {told['kept']:,} | {line.ours:.1f} % |")
    return "\n".join(body)


def main(words: Sequence[str] | None = None) -> list[measure.Row]:
    """Play, print, and write what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--visits", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="the table into docs/waves.md")
    asked = parser.parse_args(words)
    lines = rows(asked.games, asked.visits, asked.seed)
    if asked.write:
        pages.fill("reuse", markdown(lines))
    measure.finish(__file__, lines)
    return lines


if __name__ == "__main__":
    measure.use_cores(1)
    main(sys.argv[1:])
