"""Check what a game's `__init__` was given, so that a wrong parameter is named at once."""

from __future__ import annotations

from typing import Any

from anabranch.errors import UsageError


def whole(name: str, value: Any, low: int, high: int | None = None) -> int:
    """Return a parameter that must be an integer from `low` to `high`, both allowed."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or value < low or (high is not None and value > high):
        allowed = f"at least {low}" if high is None else f"from {low} to {high}"
        raise UsageError(f"{name} must be a whole number {allowed}, found {value!r}")
    return int(value)
