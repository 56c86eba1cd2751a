"""The type of `self` in compiled verbs: a record that nobody writes to."""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.extending import models, register_model


class FixedArray(types.NestedArray):
    """An array inside a record that nobody writes to; so are its slices and views."""

    def __init__(self, dtype: Any, shape: tuple[int, ...]) -> None:
        super().__init__(dtype, shape)
        self.mutable = False
        self.name = f"fixed {self.name}"


class Instance(types.Record):
    """The record of `self`: nobody writes to it, nor to its arrays."""

    def __init__(self, record: Any) -> None:
        fields = []
        for name, field in record.fields.items():
            kind = field.type
            if isinstance(kind, types.NestedArray):
                kind = FixedArray(kind.dtype, kind.shape)
            fields.append((name, {"type": kind, "offset": field.offset, "title": field.title}))
        super().__init__(fields, record.size, record.aligned)  # type: ignore[arg-type]


register_model(FixedArray)(models.NestedArrayModel)
register_model(Instance)(models.RecordModel)
