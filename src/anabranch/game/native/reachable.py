"""The plain functions a verb reaches through globals, closures and modules, and copies of them made of compiled ones.

Nobody decorates helpers and nobody's module is changed: a copy of a function shares its code but has globals of its
own, in which other reachable functions are replaced by compiled ones, and modules they were read from (`lib.helper`) by
stand-ins that hold just what was read.
"""

from __future__ import annotations

import builtins
import dis
import enum
import linecache
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from anabranch.errors import CompileError, shortened
from anabranch.game.native.twins import TWINS

# Numba knows functions of these by themselves (or nobody does); they are left as they are.
_KNOWN = sys.stdlib_module_names - {"__main__"} | {"numpy", "numba"}
_QUIET = ("CACHE", "EXTENDED_ARG", "NOP")

MISSING = type("Missing", (), {"__repr__": lambda _: "missing"})()


@dataclass(frozen=True)
class Reference:
    """A name as code reads it, with the attributes read from it right away: `lib.helper` is ("lib", "helper")."""

    scope: str  # "global", "closure" or "local"
    path: tuple[str, ...]
    line: int


@lru_cache(maxsize=4096)
def references(code: CodeType) -> tuple[Reference, ...]:
    """Return every name that code reads, nested functions and comprehensions included."""
    found: list[Reference] = []
    path: list[str] = []
    scope, line = "", 0

    def finish() -> None:
        if path:
            found.append(Reference(scope, tuple(path), line))
            path.clear()

    for instruction in dis.get_instructions(code):
        name, argument = instruction.opname, instruction.argval
        if name in ("LOAD_ATTR", "LOAD_METHOD") and path:
            path.append(argument)
        elif name not in _QUIET:
            finish()
            if name == "LOAD_GLOBAL":
                scope, path = "global", [argument]
            elif name == "LOAD_DEREF":
                scope, path = "closure", [argument]
            elif "LOAD_FAST" in name:  # newer Pythons load two at once; the last is on top
                scope, path = "local", [argument[-1] if isinstance(argument, tuple) else argument]
            positions = instruction.positions
            line = (positions.lineno if positions else None) or code.co_firstlineno
    finish()
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found += [
                inner
                for inner in references(constant)
                if inner.scope == "global" or (inner.scope == "closure" and inner.path[0] in code.co_freevars)
            ]
    return tuple(found)


@dataclass(frozen=True)
class Use:
    """What a reference stands for: the value after the first `read` names of its path."""

    reference: Reference
    value: Any
    read: int


class Reachable:
    """All plain functions reachable from some, in the order they are met, and what each of them uses."""

    def __init__(self, functions: Iterable[FunctionType]) -> None:
        self.functions: list[FunctionType] = []
        self.uses: dict[FunctionType, list[Use]] = {}
        waiting = list(functions)
        while waiting:
            function = waiting.pop(0)
            if function not in self.uses:
                self.functions.append(function)
                self.uses[function] = list(_uses(function))
                waiting += [use.value for use in self.uses[function] if is_plain(use.value)]

    def copies(
        self, compiled: Callable[[FunctionType], Any], frozen: Callable[[Any], Any] = lambda value: value
    ) -> dict[FunctionType, Any]:
        """Return a compiled copy of every function; `compiled` is applied before the copies know of each other.

        `frozen` is applied to the values that the copies find under their names.
        """
        spaces = {function: dict[str, Any]() for function in self.functions}
        cells = {function: [CellType() for _ in function.__closure__ or ()] for function in self.functions}
        made = {}
        for function in self.functions:
            space, code = spaces[function], function.__code__
            space.update(__name__=function.__module__, __builtins__=__builtins__)
            copy = FunctionType(code, space, function.__name__, frozen(function.__defaults__), tuple(cells[function]))
            copy.__kwdefaults__ = {name: frozen(value) for name, value in (function.__kwdefaults__ or {}).items()}
            copy.__qualname__ = function.__qualname__
            made[function] = compiled(copy)
        for function in self.functions:
            names = {"global": spaces[function], "closure": dict[str, Any]()}
            for use in self.uses[function]:
                if use.value is not MISSING:
                    value = made[use.value] if is_plain(use.value) else frozen(use.value)
                    _place(names[use.reference.scope], use, value)
            for name, cell in zip(function.__code__.co_freevars, cells[function], strict=True):
                if name in names["closure"]:
                    cell.cell_contents = names["closure"][name]
        return made


def seen(use: Use) -> Any:
    """Return what a function gets to see: for `math.pi` the number, and for the name of a builtin that builtin."""
    value = use.value
    if value is MISSING and use.read == 1:
        value = getattr(builtins, use.reference.path[0], MISSING)
    for name in use.reference.path[use.read :]:
        if not isinstance(value, ModuleType):
            break
        value = getattr(value, name, MISSING)
    return value


def verb_function(game: Any, verb: str) -> FunctionType:
    """Return the function behind a verb."""
    function = getattr(type(game), verb)
    function = getattr(function, "py_func", function)
    if not isinstance(function, FunctionType):
        raise CompileError(f"{game.name}: {verb} is a {type(function).__name__}; a compiled verb is an ordinary method")
    return function


def where(function: FunctionType, line: int | None = None) -> str:
    """Return file:line of a function, or of a line in it together with that line."""
    if line is None:
        return f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}"
    linecache.checkcache(function.__code__.co_filename)
    text = linecache.getline(function.__code__.co_filename, line).strip()
    return f"{function.__code__.co_filename}:{line}" + (f", `{shortened(text)}`" if text else "")


def is_plain(value: Any) -> bool:
    """Whether a value is a function written in Python that Numba has to be given compiled."""
    return isinstance(value, FunctionType) and not is_known(value.__module__)


def is_known(module: str | None) -> bool:
    """Whether a module belongs to Python, NumPy or Numba."""
    return (module or "").partition(".")[0] in _KNOWN


def _is_space(value: Any) -> bool:
    """Whether attributes of a value are looked up now and put into a stand-in: a module or class of the user's."""
    if isinstance(value, ModuleType):
        return not is_known(value.__name__)
    kinds = (enum.Enum, BaseException, tuple)  # classes that Numba knows, or that only `raise` names
    return isinstance(value, type) and not issubclass(value, kinds) and not is_known(value.__module__)


def _uses(function: FunctionType) -> Iterator[Use]:
    """Yield what a function's names stand for right now; names nobody defined and builtins are MISSING."""
    code = function.__code__
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    for reference in references(code):
        name = reference.path[0]
        if reference.scope == "global":
            value = function.__globals__.get(name, MISSING)
        elif reference.scope == "closure" and name in cells:
            try:
                value = cells[name].cell_contents
            except ValueError:  # assigned later, or never
                value = MISSING
        else:
            continue
        read = 1
        while read < len(reference.path) and _is_space(value):
            value = getattr(value, reference.path[read], MISSING)
            read += 1
        if type(value).__module__.startswith("numba.") and not isinstance(value, np.ufunc):
            value = getattr(value, "py_func", value)  # a function the user gave to Numba already
        yield Use(reference, TWINS.get(value, value) if isinstance(value, FunctionType) else value, read)


def _place(names: dict[str, Any], use: Use, value: Any) -> None:
    """Put what was used under its name, inside stand-ins for the modules on the way."""
    *spaces, name = use.reference.path[: use.read]
    for space in spaces:
        inside = names.setdefault(space, ModuleType(space))
        if not isinstance(inside, ModuleType):
            return  # used as a value elsewhere in this function; Numba will say what it thinks of that
        names = vars(inside)
    names[name] = value
