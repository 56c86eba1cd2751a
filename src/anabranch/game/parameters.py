"""Check what a game's `__init__` was given, so that a wrong parameter is named at once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from anabranch.errors import UnknownNameError, UsageError, shown

LARGEST = 1e300  # of a number


def whole(name: str, value: Any, low: int | None = None, high: int | None = None) -> int:
    """Return a parameter that must be an integer from `low` to `high`, both allowed."""
    if not is_whole(value) or (low is not None and value < low) or (high is not None and value > high):
        allowed = "" if low is None else f" at least {low}" if high is None else f" from {low} to {high}"
        raise UsageError(f"{name} must be a whole number{allowed}, found {shown(value)}")
    return int(value)


def is_whole(value: Any) -> bool:
    """Whether a value is an integer, Python's or NumPy's, and no truth."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def real(name: str, value: Any, low: float = -math.inf, high: float = math.inf) -> float:
    """Return a parameter that must be a finite number from `low` to `high`, both allowed."""
    known = is_whole(value) or isinstance(value, (float, np.floating))
    if not (known and low <= value <= high and abs(value) < LARGEST):
        allowed = f"number from {low:g} to {high:g}" if abs(low) < math.inf else "finite number"
        raise UsageError(f"{name} must be a {allowed}, found {shown(value)}")
    return float(value)


def flag(name: str, value: Any) -> bool:
    """Return a parameter that must be true or false."""
    if not isinstance(value, (bool, np.bool_)):
        raise UsageError(f"{name} must be true or false, found {shown(value)}")
    return bool(value)


def one_of(what: str, value: Any, known: Iterable[str]) -> str:
    """Return a parameter that must be one of some words."""
    if not isinstance(value, str):
        raise UsageError(f"{what} must be one of {', '.join(sorted(known))}; found {shown(value)}")
    if value not in known:
        raise UnknownNameError(what, value, known)
    return value


def listed(name: str, value: Any, what: str) -> list[Any]:
    """Return the items of a parameter that must be a list of something."""
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise UsageError(f"{name} must be a list of {what}; found {shown(value)}")
    return list(value)
