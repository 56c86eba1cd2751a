"""Is N in a row on a board of 100 by 100 fast enough for self-play? Random plies a second, time of an observation.

One core, by the processor's clock. Plies are those of random rollouts by the engine: a few simulations from the start
with many rollouts at each leaf; how long random games are is counted beside it.
"""

from __future__ import annotations

import time

import measure  # first: it limits threads
import numpy as np

import anabranch as ab

PLIES, MICROSECONDS = 1e6, 100.0  # the bars
GAMES, ROLLOUTS, SIMULATIONS, LOOKS, ROUNDS = 20, 64, 4, 500, 5


def played(game: ab.Game, dice: np.random.Generator) -> list[ab.State]:
    """Return the positions of a random game that are not over."""
    state, positions = game.start(), []
    while not state.over:
        positions.append(state)
        state, _ = state.step(int(dice.choice(state.legal())))
    return positions


def rows() -> list[measure.Row]:
    """Measure and return the lines of the table."""
    game, dice = ab.games.load("n_in_a_row", preset="giant"), np.random.default_rng(1)
    games = [played(game, dice) for _ in range(GAMES)]
    plies = float(np.mean([len(positions) for positions in games]))
    late = games[0][-1 - len(games[0]) // 50]
    late.observe()  # compiles it
    searcher = ab.Searcher(game, ab.Rollout(count=ROLLOUTS, policy="uniform", greedy=False), threads=1)
    searcher.run([searcher.root(game.start())], simulations=1)
    rates, looks = [], []
    for _ in range(ROUNDS):
        root, began = searcher.root(game.start()), time.process_time()
        searcher.run([root], simulations=SIMULATIONS)
        rollouts = ROLLOUTS * (SIMULATIONS + 1)  # the root has its own
        rates.append(rollouts * plies / (time.process_time() - began))
        began = time.process_time()
        for _ in range(LOOKS):
            late.observe()
        looks.append(1e6 * (time.process_time() - began) / LOOKS)
    note = f"{plies:.0f} plies a game"
    return [
        measure.Row("N in a row 100/8, random plies", max(rates), bar=PLIES, unit="plies/s", note=note),
        measure.Row("N in a row 100/8, late observation", min(looks), bar=MICROSECONDS, at_most=True, unit="µs"),
    ]


if __name__ == "__main__":
    measure.use_cores(1)
    measure.finish(__file__, rows())
