"""Fixed-size records: the layout of a compiled game's state, and the views interpreted verbs see it through."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from anabranch.errors import UsageError

FieldType = Any  # what numpy.dtype() takes: np.int8, "i4", bool, …
STATE_TYPES = ("int8", "int16", "int32", "int64", "bool", "uint64")


def record(**fields: FieldType | tuple[FieldType, int | tuple[int, ...]]) -> np.dtype[np.void]:
    """Declare a record: `record(board=(np.int8, (6, 7)), ply=np.int16)`.

    Fields are sorted by size, so there is no padding and equal states have equal bytes. Floats are refused
    (0.0 and -0.0 differ in bytes) and so are small unsigned integers (7 - 8 in uint8 is three different
    things in NumPy, Numba and Python).
    """
    if not fields:
        raise UsageError("a record needs at least one field, e.g. ab.record(ply=np.int16)")
    for name, declared in fields.items():
        try:
            kind = _base(declared)
        except (TypeError, ValueError):
            raise UsageError(
                f"field {name!r} is declared as {declared!r}; a field is a type or (type, shape), "
                f"e.g. ab.record({name}=np.int8) or ab.record({name}=(np.int8, 3))"
            ) from None
        if kind.name not in STATE_TYPES:
            raise UsageError(f"field {name!r} has type {kind.name}; a state holds only {', '.join(STATE_TYPES)}")
    return pack(fields)


def pack(fields: dict[str, Any]) -> np.dtype[np.void]:
    """Lay fields out widest first: aligned and without padding, except to a multiple of 8 bytes at the end."""
    order = sorted(fields, key=lambda name: -_base(fields[name]).itemsize)
    formats = [np.dtype(fields[name]) for name in order]
    for name, layout in zip(order, formats, strict=True):
        if 0 in layout.shape:
            raise UsageError(f"field {name!r} has size zero, which cannot be stored; leave it out")
    offsets = np.concatenate([[0], np.cumsum([layout.itemsize for layout in formats])]).tolist()
    size = -(-offsets[-1] // 8) * 8
    return np.dtype({"names": order, "formats": formats, "offsets": offsets[:-1], "itemsize": size})


def _base(declared: Any) -> np.dtype[Any]:
    base: np.dtype[Any] = np.dtype(declared).base
    return base


class Cells(np.ndarray[Any, Any]):
    """An array whose items are Python ints and floats, as compiled code's 64-bit locals are; uint64 stays uint64."""

    def __getitem__(self, index: Any) -> Any:
        item = super().__getitem__(index)
        if isinstance(item, np.generic) and not isinstance(item, np.uint64):
            return item.item()
        return item

    def __iter__(self) -> Any:
        return (self[index] for index in range(len(self)))


def cells(array: npt.NDArray[Any]) -> Any:
    """View an array as `Cells`."""
    return array.view(Cells)


class RecordView:
    """One record in memory, its fields as attributes: numbers as Python ints, arrays as `Cells`.

    Assigning a number that does not fit its field is an OverflowError here (compiled code would wrap it).
    """

    __slots__ = ("_data", "_fields")

    def __init__(self, layout: np.dtype[np.void], data: bytearray) -> None:
        fields = {}
        for name, (kind, offset, *_) in (layout.fields or {}).items():
            base, shape = kind.subdtype or (kind, ())
            fields[name] = np.ndarray(shape, base, data, offset).view(Cells)
        object.__setattr__(self, "_data", data)
        object.__setattr__(self, "_fields", fields)

    def __getattr__(self, name: str) -> Any:
        try:
            field = self._fields[name]
        except KeyError:
            raise AttributeError(f"the state record has no field {name!r}; it has {', '.join(self._fields)}") from None
        return field[()] if field.ndim == 0 else field

    def __setattr__(self, name: str, value: Any) -> None:
        try:
            field = self._fields[name]
        except KeyError:
            raise AttributeError(f"the state record has no field {name!r}; it has {', '.join(self._fields)}") from None
        if value is field:  # state.cells += …, which has written already
            return
        if field.ndim:
            raise AttributeError(f"{name!r} is an array: write into it, e.g. state.{name}[0] = … or ab.copy(…)")
        field[()] = value

    def __bytes__(self) -> bytes:
        return bytes(self._data)

    def __repr__(self) -> str:
        return "record(" + ", ".join(f"{name}={field.tolist()}" for name, field in self._fields.items()) + ")"


def copy(target: Any, source: Any) -> None:
    """Copy an array into another of the same shape, item by item (much cheaper to compile in verbs than `[:] =`)."""
    if target.shape != source.shape:
        raise ValueError(f"cannot copy an array of shape {source.shape} into one of shape {target.shape}")
    # Through `flat`: in compiled verbs `reshape` would need Numba's runtime, and with it Numba at every start.
    flat_target, flat_source = target.flat, source.flat
    for index in range(target.size):
        flat_target[index] = flat_source[index]
