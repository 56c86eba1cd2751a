"""One name for everything that decides compiled code: bytecode, constants, globals, layouts, versions, the processor.

Equal fingerprints mean equal code, so object code is kept under its fingerprint. File names and line numbers are left
out: moving a function or editing a comment compiles nothing again. Shapes inside `self` are in, values only where they
are built into the code.
"""

from __future__ import annotations

import enum
import hashlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

import anabranch
from anabranch.game.native.entries import Entry, Layout
from anabranch.game.native.reachable import Reachable, is_plain
from anabranch.game.native.whole import whole

_COMPILER = ("compiler.py", "passes.py")  # whoever edits these wants to see what comes of it


def fingerprint(entries: dict[str, Entry], layout: Layout, reachable: Reachable, built_in: bytes | None = None) -> str:
    """Return the name of a unit's code as 64 hexadecimal digits."""
    digest = hashlib.sha256()
    for part in (*_parts(entries, layout, reachable), b"" if built_in is None else built_in):
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


Part = str | bytes


def _parts(entries: dict[str, Entry], layout: Layout, reachable: Reachable) -> Iterator[Part]:
    yield from machine()
    yield from (f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith("NUMBA_"))
    yield repr((layout.players, layout.actions, layout.outcomes, layout.observation))
    for record in (layout.instance, layout.state, layout.key):
        yield repr(record)
    for name, entry in entries.items():
        yield name
        yield repr((entry.verbs, entry.integer, entry.arguments(layout)))
    numbers = {function: number for number, function in enumerate(reachable.functions)}
    for function in reachable.functions:
        yield "function"
        yield from _code(function.__code__)
        yield from _value(function.__defaults__)
        yield from _value(function.__kwdefaults__)
        for use in reachable.uses[function]:
            yield repr((use.reference.scope, use.reference.path, use.read))
            if is_plain(use.value):
                yield f"function {numbers[use.value]}"
            else:
                yield from _value(use.value)


@cache
def machine() -> tuple[str, ...]:
    """Return the versions, the way of compiling and the processor that code depends on."""
    return whole(_machine)


def _machine() -> tuple[str, ...]:
    import llvmlite
    import llvmlite.binding as llvm

    versions = (sys.version, anabranch.__version__, np.__version__, llvmlite.__version__, _numba_version())
    processor = (llvm.get_default_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())
    ours = [hashlib.sha256(Path(__file__).with_name(name).read_bytes()).hexdigest() for name in _COMPILER]
    return (*versions, *ours, *processor)


def _numba_version() -> str:
    """Return Numba's version without importing it, nor `importlib.metadata`, which takes as long as all the rest."""
    spec = importlib.util.find_spec("numba")
    origin = spec.origin if spec else None
    found = [path.name for path in Path(origin).parent.parent.glob("numba-*.dist-info")] if origin else []
    if len(found) == 1:
        return found[0]
    from importlib.metadata import version

    return version("numba")


def _code(code: CodeType) -> Iterator[Part]:
    yield code.co_code
    yield code.co_exceptiontable
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    yield repr((counts, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars))
    for constant in code.co_consts:
        yield from _value(constant)


def _value(value: Any) -> Iterator[Part]:
    """Describe a constant; of what Numba cannot compile into code, the type is enough."""
    kind = type(value)
    yield f"{kind.__module__}.{kind.__qualname__}"
    if isinstance(value, enum.Enum):
        yield value.name
        yield from _value(value.value)
    elif value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        yield repr(value)
    elif isinstance(value, (np.ndarray, np.generic)):
        yield repr((value.dtype, value.shape))
        if not value.dtype.hasobject:
            yield np.ascontiguousarray(value).tobytes()
    elif isinstance(value, (tuple, list)):
        yield str(len(value))
        for item in value:
            yield from _value(item)
    elif isinstance(value, frozenset):
        yield from sorted(repr(item) for item in value)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _value(key)
            yield from _value(item)
    elif isinstance(value, CodeType):
        yield from _code(value)
    elif isinstance(value, enum.EnumType):
        members: list[enum.Enum] = list(value)
        for member in members:
            yield from _value(member)
    elif isinstance(value, ModuleType):
        yield value.__name__
    elif isinstance(value, (type, FunctionType)) or callable(value):
        yield f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"
    elif isinstance(value, np.dtype):
        yield repr(value)
