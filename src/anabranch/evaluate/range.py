"""Values outside of the returns that a game declares: what counts as such, and the warning that says so."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from anabranch.errors import EvaluatorWarning
from anabranch.evaluate.native import BUILT_IN
from anabranch.game.game import Game

SLACK = 1e-6  # of the range: what rounding in single precision may add


def limits(games: Iterable[Game]) -> tuple[float, float]:
    """Return the range in which values of these games may lie: what is left to win, of returns that are totals.

    Where rewards come along the way, what is left may be anything between a loss of all and a gain of all.
    """
    ranges = np.array([_left(game) for game in games], np.float64)
    low, high = float(ranges[:, 0].min()), float(ranges[:, 1].max())
    return low - SLACK * (high - low), high + SLACK * (high - low)


def _left(game: Game) -> tuple[float, float]:
    low, high = (float(end) for end in game.returns)
    if not game.rewards_along:
        return low, high
    span = max(high, 0.0) - min(low, 0.0)
    return -span, span


def watched(evaluator: Any) -> bool:
    """Whether an evaluator's values are looked at: those of built-in ones are what the game pays, or was asked for."""
    return type(evaluator) not in BUILT_IN.values()


def warn_of(game: Game, values: npt.ArrayLike, within: tuple[float, float]) -> None:
    """Warn of the value `[rows, players]` that is farthest outside of a range; one at least is."""
    table = np.asarray(values, np.float64)
    row, player = np.unravel_index(np.argmax(np.maximum(within[0] - table, table - within[1])), table.shape)
    low, high = game.returns
    warnings.warn(
        f"the evaluator says {table[row, player]:.6g} for player {player}, and {game.name} declares returns from "
        f"{low:g} to {high:g}: the search goes on, but weighs values by that range and may explore too little. Scale "
        f"what the evaluator says (row {row} of this batch), or set self.returns in the game to what can be won. Said "
        f"once per searcher",
        EvaluatorWarning,
        stacklevel=2,
    )
