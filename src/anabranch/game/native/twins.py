"""Library helpers as compiled verbs see them: the same numbers from another kind of argument.

Interpreted, `random` is a `Random`; compiled, it is one uint64 in memory. Every operand here is uint64: beside a signed
one, Numba turns to floats.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np

from anabranch.game import random as interpreted

_GOLDEN = np.uint64(interpreted.GOLDEN)
_FIRST, _SECOND = np.uint64(0xBF58_476D_1CE4_E5B9), np.uint64(0x94D0_49BB_1331_11EB)
_11, _27, _30, _31, _53 = np.uint64(11), np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(53)


def _next(random: Any) -> Any:
    """Return 53 random bits and move on."""
    random[0] += _GOLDEN
    word = random[0]
    word = (word ^ (word >> _30)) * _FIRST
    word = (word ^ (word >> _27)) * _SECOND
    return (word ^ (word >> _31)) >> _11


def uniform(random: Any) -> Any:
    """Return a double in [0, 1), as `anabranch.game.random.uniform` does."""
    return np.float64(_next(random)) * 2.0**-53


def below(random: Any, n: Any) -> Any:
    """Return an integer in [0, n), as `anabranch.game.random.below` does."""
    word = _next(random)
    if n < 2048:
        return np.int64(word * np.uint64(n) >> _53)
    return np.int64(np.float64(word) * 2.0**-53 * n)


TWINS: dict[FunctionType, FunctionType] = {interpreted.uniform: uniform, interpreted.below: below}  # type: ignore[dict-item]
