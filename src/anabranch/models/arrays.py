"""Arrays of any library through one small interface: latents in rows under numbers, answers as NumPy arrays.

NumPy and torch are written to in place; arrays that cannot be (JAX's) by `array.at[…].set(…)`. A latent may be one
array or a tuple of them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from anabranch.errors import ModelError

Numbers = npt.NDArray[np.int64]
FEWEST = 16  # rows to make room for


def is_torch(array: Any) -> bool:
    """Whether an array is a tensor of torch; whoever has one has imported it."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def as_numpy(array: Any) -> npt.NDArray[Any]:
    """Return an array's numbers for the engine, without a copy where they are in reach."""
    if type(array) is np.ndarray:
        return array
    if is_torch(array):
        return np.asarray(array.detach().cpu())
    return np.asarray(array)


def _indices(array: Any) -> Callable[[Numbers], Any]:
    """Return how numbers of rows and actions are handed to the library of an array."""
    if not is_torch(array):
        return lambda numbers: numbers
    torch, device = sys.modules["torch"], array.device
    return lambda numbers: torch.from_numpy(numbers.copy()).to(device)


class Latents:
    """Rows of latents under numbers, in memory that grows with the nodes made."""

    def __init__(self, first: Any, rows: int | None = None) -> None:
        self._parts = [_Part(array) for array in (first if isinstance(first, tuple) else (first,))]
        for part in self._parts:
            if rows is not None and part.capacity != rows:
                raise ModelError(
                    f"initial: latents have shape {tuple(part.array.shape)}, expected {rows} rows, as many as value has"
                )
        self._single = not isinstance(first, tuple)
        self._kind = type(first)
        self.index = _indices(self._parts[0].array)  # numbers as its library takes them
        self.plain: _Part | None = None  # its only part, where that is NumPy's
        if self._single:  # a step may be short: no call more than needed
            self.plain = self._parts[0] if type(first) is np.ndarray else None
            self.rows, self.put = self._parts[0].rows, self._parts[0].put  # type: ignore[method-assign, assignment]

    def rows(self, numbers: Any) -> Any:
        """Return the latents of some numbers."""
        return self._made(part.rows(numbers) for part in self._parts)

    def _made(self, arrays: Any) -> Any:
        return self._kind(*arrays) if hasattr(self._kind, "_fields") else tuple(arrays)

    def put(self, first: int, latent: Any, count: int) -> None:
        """Keep latents under consecutive numbers."""
        self.put_at(slice(first, first + count), latent, first + count, count)

    def put_at(self, numbers: Any, latent: Any, wanted: int, count: int) -> None:
        """Keep latents under any numbers below `wanted`."""
        arrays = (latent,) if self._single else latent
        if not self._single and (not isinstance(latent, tuple) or len(latent) != len(self._parts)):
            raise ModelError(f"latents are tuples of {len(self._parts)} arrays, found {type(latent).__name__}")
        for part, array in zip(self._parts, arrays, strict=True):
            part.put_at(numbers, array, wanted, count)

    @property
    def bytes(self) -> int:
        """Memory held."""
        return sum(part.bytes for part in self._parts)


def _fits(rows: Any, array: Any) -> bool:
    """Whether rows can be kept as numbers of another type: in fewer digits, and not fractions as whole numbers."""
    if is_torch(array):
        return is_torch(rows) and bool(sys.modules["torch"].can_cast(rows.dtype, array.dtype))
    return bool(np.can_cast(as_numpy(rows).dtype, as_numpy(array[:0]).dtype, "same_kind"))


class _Part:
    """One array of latents."""

    def __init__(self, rows: Any) -> None:
        if not hasattr(rows, "shape") or len(rows.shape) < 1:
            raise ModelError(f"a latent is an array with one row per state, found {type(rows).__name__}")
        self.array = rows  # of the roots; put() makes it larger
        self.capacity = int(rows.shape[0])
        self._plain = type(rows) is np.ndarray
        self._rest = tuple(rows.shape[1:])  # of one row
        self._dtype = rows.dtype
        self._owned = False  # until it is written to: what `initial` returned is the model's
        self._room = -1  # rows that NumPy may write at once
        self._like: tuple[int, ...] = (-1,)  # the shape of what was kept last

    def rows(self, numbers: Any) -> Any:
        if self._plain:
            return self.array.take(numbers if type(numbers) is np.ndarray else as_numpy(numbers), 0)
        return self.array[numbers]

    def put(self, first: int, rows: Any, count: int) -> None:
        end = first + count
        if end <= self._room and type(rows) is np.ndarray:
            like = self._like  # mostly that of the step before: many steps are short
            if rows.dtype is self._dtype and like[0] == count and rows.shape == like:
                self.array[first:end] = rows
                return
        self.put_at(slice(first, end), rows, end, count)
        self._like = (count, *self._rest)

    def put_at(self, where: Any, rows: Any, wanted: int, count: int) -> None:
        if not hasattr(rows, "shape") or rows.shape != (count, *self.array.shape[1:]):
            found = tuple(rows.shape) if hasattr(rows, "shape") else type(rows).__name__
            expected = (count, *self.array.shape[1:])
            raise ModelError(f"latents have shape {found}, expected {expected}: rows like those of initial")
        if rows.dtype != self._dtype and not _fits(rows, self.array):
            raise ModelError(
                f"latents have type {rows.dtype}, and those of initial {self._dtype}, which cannot hold it"
            )
        if not self._owned or wanted > self.capacity:
            self._grow(wanted)
        if self._plain:
            self.array[where if isinstance(where, slice) else as_numpy(where)] = rows
        elif is_torch(self.array):
            self.array[where] = rows.detach()
        else:
            self.array = self.array.at[where].set(rows)

    def _grow(self, wanted: int) -> None:
        """Make room for twice as many rows; the numbers of all others stay."""
        capacity = max(wanted, 2 * self.capacity, FEWEST)
        old, shape = self.array, (capacity, *self.array.shape[1:])
        if is_torch(old):
            self.array = old.new_empty(shape)
            self.array[: old.shape[0]] = old.detach()
        elif self._plain:
            self.array = np.empty(shape, old.dtype)
            self.array[: len(old)] = old
        else:
            space = old.__array_namespace__() if hasattr(old, "__array_namespace__") else np
            more = space.zeros((capacity - old.shape[0], *old.shape[1:]), dtype=old.dtype)
            self.array = space.concat([old, more], axis=0)
        self.capacity, self._owned = capacity, True
        self._room = capacity if self._plain else -1

    @property
    def bytes(self) -> int:
        size = getattr(self.array, "nbytes", 0)
        return int(size)
