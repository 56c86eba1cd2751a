"""What a model says, as arrays that the engine takes; a shape, a type or a cell that cannot be is named."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from anabranch.errors import ModelError
from anabranch.evaluate.seats import seated
from anabranch.models.arrays import as_numpy
from anabranch.models.model import Shape

REAL = "fiu"  # kinds of numbers, as NumPy's types name them
KINDS = {"legal": (f"b{REAL}", np.dtype(np.bool_)), "mover": ("iu", np.dtype(np.int64))}
MEANING = {
    "legal": "true or false for every action",
    "logits": "a number for every action",
    "mover": "a player for every row",
    "discount": "a number for every row",
    "chances": "a probability for every outcome",
    "value": "a number for every player",
    "reward": "a number for every player",
}


def checked_tuple(name: str, verb: str, told: Any, least: int, most: int) -> Any:
    """Refuse what is no tuple of the right length."""
    if not isinstance(told, tuple) or not least <= len(told) <= most:
        found = f"a tuple of {len(told)}" if isinstance(told, tuple) else type(told).__name__
        raise ModelError(f"{name}: {verb} must return a tuple of {least} to {most} arrays, found {found}")
    return told


def checked_column(
    where: str, column: str, given: Any, wanted: tuple[int, ...], shape: Shape | None = None
) -> npt.NDArray[Any]:
    """Return a column as the engine reads it: float32 or float64, booleans what is legal, int64 who moves.

    Numbers say what is legal where each is exactly 0 or 1.
    """
    array = as_array(where, column, given)
    if array.shape == wanted and array.dtype in (np.float32, np.float64) and column not in KINDS:
        return np.ascontiguousarray(array)
    kinds, kind = KINDS.get(column, (REAL, np.dtype(np.float64)))
    if array.dtype.kind not in kinds:
        raise ModelError(f"{where}: {column} has type {array.dtype}, expected {kind.name}")
    if array.shape == wanted[:1] and wanted[1:] == (1,):
        array = array.reshape(wanted)
    if array.shape != wanted:
        raise ModelError(f"{where}: {column} has shape {array.shape}, expected {wanted}: {_meant(column, shape)}")
    if column == "legal" and array.dtype != kind:
        _refuse_odd(where, array)
    return np.ascontiguousarray(array, np.float32 if array.dtype == np.float32 and column not in KINDS else kind)


def by_seat(shape: Shape, verb: str, column: str, given: Any, movers: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    """Return values or rewards `[B, players]` in seat order, whichever way the model speaks."""
    wide = 1 if shape.view == "scalar" else shape.players
    numbers = checked_column(f"{shape.name}: {verb}", column, given, (len(movers), wide), shape)
    return numbers if shape.players == 1 else seated(numbers, movers, shape.view)


def _meant(column: str, shape: Shape | None) -> str:
    """Say what a column holds; values and rewards by how the model speaks."""
    if shape is None:
        return MEANING[column]
    if shape.players == 1:
        return "one number a row"
    if shape.view == "scalar":
        return "one number a row, the mover's, for the model's view is 'scalar'"
    order = "player 0 first" if shape.view == "seats" else "who moves first and the others in turn"
    hint = "; a model with one number a row, the mover's, has view='scalar'" if shape.players == 2 else ""
    return f"a number for each of {shape.players} players, {order}{hint}"


def as_array(where: str, column: str, given: Any) -> npt.NDArray[Any]:
    """Return what was given as an array of NumPy."""
    try:
        return as_numpy(given)
    except ValueError as error:  # rows of different lengths
        raise ModelError(f"{where}: {column} is no array: {error}") from None


def _refuse_odd(where: str, legal: npt.NDArray[Any]) -> None:
    """Refuse what is neither 0 nor 1 in a mask of numbers."""
    odd = np.argwhere((legal != 0) & (legal != 1))
    if len(odd):
        row, action = map(int, odd[0])
        raise ModelError(
            f"{where}: legal is {legal[row, action]} in row {row} for action {action}; it is True or False, or 1 or 0",
            row,
        )
