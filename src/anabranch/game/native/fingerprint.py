"""One name for everything that decides compiled code: bytecode, constants, globals, layouts, versions, the processor.

Equal fingerprints mean equal code, so object code is kept under its fingerprint. File names and line numbers are left
out: moving a function or editing a comment compiles nothing again. Shapes inside `self` are in, values only where they
are built into the code.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np

import anabranch
from anabranch.game.native.constants import Constants, Part
from anabranch.game.native.entries import Entry, Layout
from anabranch.game.native.whole import whole

# Whoever edits one of these wants to see what comes of it, and nobody wants code made before a check was there.
_COMPILER = ("checked.py", "compiler.py", "constants.py", "instance.py", "library.py", "passes.py", "unchecked.py")


def fingerprint(entries: dict[str, Entry], layout: Layout, constants: Constants, built_in: bytes | None = None) -> str:
    """Return the name of a unit's code as 64 hexadecimal digits."""
    digest = hashlib.sha256()
    for part in (*_parts(entries, layout), *constants.parts, b"" if built_in is None else built_in):
        data = part.encode(errors="surrogatepass") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def _parts(entries: dict[str, Entry], layout: Layout) -> Iterator[Part]:
    yield from machine()
    yield from (f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith("NUMBA_"))
    yield repr((layout.players, layout.actions, layout.outcomes, layout.observation))
    for record in (layout.instance, layout.state, layout.key):
        yield repr(record)
    for name, entry in entries.items():
        yield name
        yield repr((entry.verbs, entry.integer, entry.arguments(layout)))


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
