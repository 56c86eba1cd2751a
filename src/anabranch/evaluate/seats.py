"""From a mover's words to seats, and back: the one place where values are turned around the table.

Networks say `(me, the next player, …)`; the search wants player 0 first. With P players and mover m,

    by seat[s] = from the mover[(s − m) mod P],      from the mover[i] = by seat[(m + i) mod P].
"""

from __future__ import annotations

import functools
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from anabranch.errors import EvaluatorError, UsageError, shown

View: TypeAlias = Literal["mover", "seats", "scalar"]
VIEWS = ("mover", "seats", "scalar")


def to_seats(values: npt.NDArray[Any], movers: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return values `[B, P]` in seat order, given them from each row's mover on."""
    rows, players = values.shape
    index = _places(players).take(np.asarray(movers, np.int64), axis=0, mode="wrap")
    index += np.arange(0, rows * players, players)[:, None]
    found: npt.NDArray[Any] = values.ravel().take(index)
    return found


@functools.lru_cache
def _places(players: int) -> npt.NDArray[np.int64]:
    """Return (s − m) mod P, `[m, s]`: where a network that speaks from mover m on has seat s."""
    seats = np.arange(players)
    return (seats[None, :] - seats[:, None]) % players


def to_mover(values: npt.NDArray[Any], movers: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return values `[B, P]` from each row's mover on, given them in seat order; what a network learns from."""
    index = np.arange(values.shape[1])[None, :] + np.asarray(movers)[:, None]
    return np.take_along_axis(values, index % values.shape[1], axis=1)


def seated(values: npt.NDArray[Any], movers: npt.NDArray[np.int64], view: View) -> npt.NDArray[Any]:
    """Return a network's values in seat order, whichever way it speaks."""
    if view == "scalar":
        if values.size != len(movers):
            raise EvaluatorError(
                f"values have shape {values.shape}, expected {(len(movers),)}: view='scalar' means one number a row, "
                "the mover's, and the other player gets its negative"
            )
        mine = values.reshape(-1, 1)
        values = np.concatenate([mine, -mine], axis=1)
    if values.ndim != 2:
        raise EvaluatorError(
            f"values have shape {values.shape}, expected one row per position and one number per player"
        )
    return values if view == "seats" else to_seats(values, movers)


def checked_view(view: str) -> View:
    """Return a way of speaking, or say which there are."""
    for known in VIEWS:
        if view == known:
            return known  # type: ignore[return-value]
    raise UsageError(f"view is one of {', '.join(VIEWS)}, found {shown(view)}")
