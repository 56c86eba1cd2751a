"""Whole games of Yatzy by the oracle, and searches that ask it: what the oracle promises is what is scored.

    .venv/bin/python benchmarks/oracle_games.py [--games 100000] [--states 10000] [--rules yatzy] [--write]

The first part plays the oracle's moves by the game's own rules, dice from (seed, event), and compares the mean with
what the oracle says the start is worth. The second searches states of games in which every third choice is random and
the others greedy, with the oracle's values as evaluator, every outcome of chance enumerated and one visit per choice,
and adds up what the choice of the highest q costs. `--write` puts both into docs/games/yatzy.md.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import measure  # first: it limits threads
import numpy as np
import pages

import anabranch as ab
from anabranch.game.random import Random, key_of

PAGE = Path(__file__).resolve().parents[1] / "docs" / "games" / "yatzy.md"
ABREAST = 20_000


def by_oracle(game: Any, known: ab.Oracle, games: int, seed: int = 1) -> np.ndarray:
    """Return the points of games played by the oracle."""
    rules, points = game.rules, []
    for first in range(0, games, ABREAST):
        some = [game.start().data] * min(ABREAST, games - first)
        while not (state := ab.State(game, some[0])).over:  # all games of one player are as long
            if state.turn == ab.CHANCE:
                keys = ((seed, first + number, *rules.event(data)) for number, data in enumerate(some))
                rolls = [rules.draw(data, Random(key_of(key))) for data, key in zip(some, keys, strict=True)]
            else:
                rolls = known.best_of([ab.State(game, data) for data in some])
            some = [rules.step(data, [move])[0] for data, move in zip(some, rolls, strict=True)]
        points += [int(ab.State(game, data).points[0]) for data in some]
        measure.log(f"  {len(points):,} games: mean {np.mean(points):.3f}")
    return np.array(points)


def decisions(game: Any, count: int, seed: int = 1) -> list[ab.State]:
    """Return decision states of games played by a mixture of greedy and random choices."""
    found: list[ab.State] = []
    random, greedy = ab.Random(seed), game.agents()["greedy"]
    while len(found) < count:
        state = game.start()
        while not state.over:
            if state.turn == ab.CHANCE:
                state, _ = state.step(state.sample(random))
                continue
            if ab.below(random, 5) == 0:
                found.append(state)
            choices = list(state.choices(0))
            chance = ab.below(random, 3) == 0
            state, _ = state.step(choices[ab.below(random, len(choices))] if chance else greedy(state, 0))
    return found[:count]


def regrets(known: ab.Oracle, states: list[ab.State]) -> np.ndarray:
    """Return what the choice of the highest q costs after one visit per choice."""
    config = ab.SearchConfig(chance=ab.Chance(exact_up_to=252), selector=ab.Ucb1())
    searcher = ab.Searcher(known.game, ab.OracleValue(known), config)
    costs = []
    for number, state in enumerate(states):
        choices = list(state.choices(0))
        result = searcher.run([searcher.root(state)], visits=len(choices))[0]
        assert (result.visits[0, choices] == 1).all()
        costs.append(known.regret(state, max(choices, key=lambda action: float(result.q[0, action]))))
        if number % 1000 == 999:
            measure.log(f"  {number + 1:,} states: largest regret {max(costs):.2g}")
    return np.array(costs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--games", type=int, default=100_000)
    parser.add_argument("--states", type=int, default=10_000)
    parser.add_argument("--rules", choices=("yatzy", "yahtzee"), default="yatzy")
    parser.add_argument("--write", action="store_true", help="into docs/games/yatzy.md")
    flags = parser.parse_args()
    game: Any = ab.games.load(flags.rules)
    began = time.process_time()
    known = ab.oracle(game)
    value = known.value(game.start())
    print(f"the oracle says {value:.6f} ({time.process_time() - began:.1f} s of processor time to know)", flush=True)
    lines = []
    if flags.games:
        points = by_oracle(game, known, flags.games)
        error = points.std(ddof=1) / len(points) ** 0.5
        apart = (points.mean() - value) / error
        lines.append(
            f"The oracle's moves in {len(points):,} games: mean {points.mean():.3f} ± {error:.3f} (standard error), "
            f"standard deviation {points.std(ddof=1):.2f}, {apart:+.2f} standard errors from {value:.4f}."
        )
        print(lines[-1], flush=True)
        assert abs(apart) <= 3.0, "more than three standard errors"
    if flags.states:
        costs = regrets(known, decisions(game, flags.states))
        lines.append(
            f"Searches with the oracle's values, chance enumerated, one visit per choice: {len(costs):,} states, "
            f"{int((costs > 1e-9).sum())} with any regret, largest {costs.max():.2g}."
        )
        print(lines[-1], flush=True)
    if flags.write:
        pages.fill("oracle", "\n".join(lines), PAGE)


if __name__ == "__main__":
    main()
