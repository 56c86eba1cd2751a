"""What Numba compiles without checking indices, or writes where nobody may, and what to write instead.

Compiled verbs check every index, but only in code that is compiled as theirs. Numba's own implementations of NumPy
functions are compiled without; most of them check by themselves, and these do not. `tests/unchecked.py` calls every
function and method that Numba knows with indices and shapes that are wrong; what failed there is here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

# Refused wherever they are named.
FUNCTIONS: tuple[tuple[Any, tuple[str, str]], ...] = (
    (np.bincount, ("np.bincount", "count in a loop: counts[value] += 1")),
    (np.take_along_axis, ("np.take_along_axis", "index in a loop")),
    (as_strided, ("np.lib.stride_tricks.as_strided", "index what the strides would reach")),
)

# Refused where they are used like this, which depends on types.
FLAT = ("array.flat[i]", "index every axis, or write array.reshape(-1)[i]")
TAKE = ("np.take with an axis", "index that axis, e.g. cells[:, i]")
DELETE = ("np.delete with an array or a list", "copy what stays in a loop, or delete one index or a slice")
FIELD = ("record['field'] = array", "write record.field[:] = array, or ab.copy(record.field, array)")
TRANSPOSE = ("transpose with axes", "write array.T or np.swapaxes(array, 0, 1)")
OUT = ("out= of this NumPy function", "assign what it returns: target[:] = …")
HANDED = ("a function that indexes or writes, handed to another", "hand a lambda that calls it")
READ_ONLY = "self and arrays of modules are read-only; what changes during play belongs into the state"


def refusal(what: tuple[str, str]) -> str:
    """Say why something is refused and what to use."""
    name, instead = what
    return f"{name} does not check indices or sizes in compiled code; {instead}"
