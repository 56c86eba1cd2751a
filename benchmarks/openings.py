"""Positions to begin with, some random plies after the start."""

from __future__ import annotations

import numpy as np

import anabranch as ab


def opened(game: ab.Game, plies: int, rng: np.random.Generator) -> ab.State:
    """Return a position after so many random plies of a game that is not over by then."""
    state = game.start()
    for _ in range(plies):
        state, _ = state.step(int(rng.choice(state.legal(state.turn[0]))))
    return state
