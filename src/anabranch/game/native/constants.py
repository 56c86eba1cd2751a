"""What the names in compiled functions stand for: described, so that every change is noticed, and kept from changing.

A constant is built into the code, so code is stale once it changes. `Constants` therefore follows every kind of value
that Numba can compile, down to its last byte, and refuses any other kind by name: what is not understood is never
ignored. Two kinds stay outside the code, which knows them by symbols that are bound when it is loaded: arrays too large
to be built in, and functions of C libraries. So no address of one process is ever kept for another.
"""

from __future__ import annotations

import ctypes
import enum
import hashlib
import sys
from _ctypes import CFuncPtr
from collections.abc import Iterator
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from anabranch.errors import CompileError
from anabranch.game.native.reachable import MISSING, Reachable, is_known, is_plain, seen, where
from anabranch.game.record import Cells

Part = str | bytes
Array = npt.NDArray[Any]

TABLE, FUNCTION = "anabranch_table_", "anabranch_function_"  # what symbols of things outside begin with
_ARRAYS = (np.ndarray, Cells, np.memmap)
_NUMBERS = (bool, int, float, complex, str, bytes)
_UFUNCS = {each for each in vars(np).values() if isinstance(each, np.ufunc)}
_ADVICE = "compiled verbs read numbers, strings, NumPy arrays and tuples of these"

_tables: WeakValueDictionary[str, Array] = WeakValueDictionary()  # by what is in them; all code shares one copy


class Constants:
    """What the functions of a unit read besides their arguments: as parts of a fingerprint, and as copies for code."""

    def __init__(self, game: str, reachable: Reachable) -> None:
        self.parts: list[Part] = []
        self._functions: dict[int, Any] = {}  # of C libraries, by address
        self._arrays: dict[str, Array] = {}  # by symbol
        self._symbols: dict[int, str] = {}  # of arrays, by identity
        self._inside: list[int] = []  # lists and the like that are being described
        numbers = {function: number for number, function in enumerate(reachable.functions)}
        for function in reachable.functions:
            self.parts += ("function", *self._code(function.__code__))
            line, what = None, "a default"
            try:
                self.parts += self._value(function.__defaults__)
                self.parts += self._value(function.__kwdefaults__)
                for use in reachable.uses[function]:
                    path = use.reference.path
                    line, what = use.reference.line, ".".join(path)
                    self.parts.append(repr((use.reference.scope, path, use.read)))
                    if is_plain(use.value):
                        self.parts.append(f"function {numbers[use.value]}")
                    else:
                        self.parts += self._value(seen(use))
            except _UnknownError as error:
                place = f"{game}: {function.__qualname__}, {where(function, line)}"
                raise CompileError(f"{place}: {what} {error}") from None

    @property
    def addresses(self) -> tuple[int, ...]:
        """The functions of C libraries, which in this process live here and in the next one elsewhere."""
        return tuple(self._functions)

    def frozen(self, value: Any) -> Any:
        """Return a value as code may have it: arrays as read-only copies that lie in one piece."""
        if isinstance(value, np.ndarray):
            return self._table(self._symbol(value))
        if isinstance(value, tuple) and any(isinstance(item, (tuple, np.ndarray)) for item in value):
            return tuple.__new__(type(value), [self.frozen(item) for item in value])
        return value

    def names(self) -> dict[int, str | None]:
        """Return the symbols to put for addresses in code; None for an address that it does without."""
        names: dict[int, str | None] = {
            address: f"{FUNCTION}{number}" for number, address in enumerate(self._functions)
        }
        for symbol in self._arrays:
            table = _tables.get(symbol)
            if table is not None:
                names[table.ctypes.data] = symbol
                names[id(table)] = None  # Numba keeps arrays alive by it; ours are kept by whoever keeps the code
        return names

    def find(self, symbol: str) -> tuple[int, Any] | None:
        """Return where a thing outside the code lives in this process, and what keeps it there."""
        if symbol in self._arrays:
            table = self._table(symbol)
            return table.ctypes.data, table
        for number, (address, function) in enumerate(self._functions.items()):
            if symbol == f"{FUNCTION}{number}":
                return address, function
        return None

    def _symbol(self, array: Array) -> str:
        """Return the symbol of an array that was described."""
        return self._symbols[id(array)]

    def _table(self, symbol: str) -> Array:
        """Return the copy that code reads of an array; nobody else can write to it."""
        table = _tables.get(symbol)
        if table is None:
            table = np.array(self._arrays[symbol], order="C", copy=True, subok=False)
            table.flags.writeable = False
            _tables[symbol] = table
        return table

    # Descriptions. Each begins with the type, so that 1, 1.0 and True differ.

    def _value(self, value: Any) -> Iterator[Part]:
        kind = type(value)
        yield f"{kind.__module__}.{kind.__qualname__}"
        if isinstance(value, (np.ndarray, np.generic, np.dtype)):
            yield from self._numpy(value)
        elif isinstance(value, enum.Enum):
            yield value.name
            yield from self._value(value.value)
        elif isinstance(value, _NUMBERS):
            base = next(base for base in _NUMBERS if isinstance(value, base))
            yield base.__repr__(value)  # a subclass may show itself otherwise
        elif value is None or value is Ellipsis or value is MISSING:
            pass
        elif isinstance(value, slice):
            yield from self._value((value.start, value.stop, value.step))
        elif isinstance(value, range):
            yield repr(value)
        elif isinstance(value, CodeType):
            yield from self._code(value)
        elif isinstance(value, (tuple, list, set, frozenset, dict)):
            yield from self._container(value)
        elif isinstance(value, ModuleType):
            raise _UnknownError("is a module used as a value; name what you need of it, e.g. module.NUMBER")
        elif isinstance(value, type):
            yield from self._type(value)
        else:
            yield from self._callable(value)

    def _numpy(self, value: Any) -> Iterator[Part]:
        if isinstance(value, np.dtype):
            yield repr(value)
            return
        if isinstance(value, np.ndarray) and type(value) not in _ARRAYS:
            raise _UnknownError(f"is of type {_name(type(value))}; make it an ordinary array with np.asarray(…)")
        if value.dtype.names:  # code could write to fields of a record, and these are constant
            raise _UnknownError("holds records; use an array for each field, or a named tuple")
        if value.dtype.hasobject:
            raise _UnknownError(f"holds Python objects (dtype {value.dtype}); {_ADVICE}")
        data = np.ascontiguousarray(value).reshape(-1)
        digest = hashlib.sha256(repr((value.dtype, value.shape)).encode())
        digest.update(data.view(np.uint8).data if data.nbytes else b"")
        symbol = TABLE + digest.hexdigest()
        yield symbol
        if isinstance(value, np.ndarray):
            self._arrays[symbol] = value
            self._symbols[id(value)] = symbol

    def _container(self, value: Any) -> Iterator[Part]:
        if isinstance(value, tuple) and type(value) is not tuple:
            if not hasattr(value, "_fields"):
                raise _UnknownError(f"is of type {_name(type(value))}; make it an ordinary tuple with tuple(…)")
            yield from self._value(type(value))
        if id(value) in self._inside:
            raise _UnknownError("contains itself; " + _ADVICE)
        self._inside.append(id(value))
        yield str(len(value))
        items = value.items() if isinstance(value, dict) else value
        if isinstance(value, (set, frozenset)):
            yield from sorted(repr(list(self._value(item))) for item in value)
        else:
            for item in items:
                yield from self._value(item)
        self._inside.pop()

    def _type(self, value: type) -> Iterator[Part]:
        yield f"{value.__module__}.{value.__qualname__}"
        if isinstance(value, enum.EnumType):
            members: dict[str, enum.Enum] = dict(value.__members__)  # other names of a member included
            for name, member in members.items():
                yield name
                yield from self._value(member.value)
        elif issubclass(value, tuple) and hasattr(value, "_fields"):
            yield repr(value._fields)
            yield from self._value(getattr(value, "_field_defaults", {}))
        elif not issubclass(value, BaseException) and not is_known(value.__module__):
            raise _UnknownError(
                f"is a class; compiled verbs make no objects of {value.__name__}: use numbers, tuples or named tuples"
            )

    def _callable(self, value: Any) -> Iterator[Part]:
        """Describe what is known by its name, and functions of C libraries; refuse all the rest."""
        if isinstance(value, CFuncPtr):
            address = ctypes.cast(value, ctypes.c_void_p).value
            if not address:
                raise _UnknownError("is a C function without an address")
            self._functions.setdefault(address, value)
            types = (*(value.argtypes or ()), value.restype)
            yield repr([_name(kind) if isinstance(kind, type) else repr(kind) for kind in types])
            yield f"{value._flags_} {list(self._functions).index(address)}"
        elif isinstance(value, np.ufunc) and value in _UFUNCS:
            yield repr(value)
        elif _is_by_name(value):
            yield f"{getattr(value, '__module__', '')}.{value.__qualname__}"
        elif _is_numba_type(value):
            yield str(value)
        else:
            raise _UnknownError(_advice(value))

    def _code(self, code: CodeType) -> Iterator[Part]:
        yield code.co_code
        yield code.co_exceptiontable
        counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        yield repr((counts, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars))
        for constant in code.co_consts:
            yield from self._value(constant)


class _UnknownError(Exception):
    """A kind of value nobody here understands; says what it is and what to do."""


def _is_by_name(value: Any) -> bool:
    """Whether a function belongs to Python, NumPy or Numba, whose versions are known: its name says it all."""
    if isinstance(value, BuiltinFunctionType):
        owner = value.__self__
        return (owner is None or isinstance(owner, ModuleType)) and is_known(value.__module__)
    if isinstance(value, (MethodDescriptorType, WrapperDescriptorType)):
        return is_known(value.__objclass__.__module__)
    name = getattr(value, "__module__", None) or ""
    if isinstance(value, FunctionType) and name.partition(".")[0] == "numba":
        return value.__name__ in ("literally", "literal_unroll")  # the others go around its checks, or out of the rules
    return (isinstance(value, FunctionType) or type(value).__module__ == "numpy") and is_known(name)


def _is_numba_type(value: Any) -> bool:
    """Whether a value is one of Numba's types of numbers, as in `numba.int8(x)`."""
    types = sys.modules.get("numba.core.types")
    return types is not None and isinstance(value, (types.Number, types.Boolean))


def _name(kind: type) -> str:
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _advice(value: Any) -> str:
    """Say what a value is that cannot be followed, and what to use instead."""
    kind, module = f"of type {_name(type(value))}", type(value).__module__
    if is_plain(value) or is_plain(getattr(value, "py_func", None)):
        return "holds a function; call functions by their names"
    if module.startswith("numba.np.ufunc"):
        return "is made by @vectorize or @guvectorize, which compile it apart; call the plain function, in a loop"
    if isinstance(value, FunctionType) and value.__module__.partition(".")[0] == "numba":
        return "is a part of Numba that goes around its checks; use plain Python and NumPy"
    if module.startswith("numba."):
        return f"is {kind}, which Numba compiles apart; use the plain function without a decorator, or an array"
    if isinstance(value, np.ufunc):
        return "is a ufunc that is not NumPy's own; call a plain function, in a loop"
    if isinstance(value, MethodType) or (isinstance(value, BuiltinFunctionType) and value.__self__ is not None):
        return f"is a method of a {_name(type(value.__self__))}; make it a function of the module"
    if hasattr(value, "__wrapped__"):
        return f"is {kind}, around a function; call the function itself"
    if callable(value):
        return f"is {kind}; call a plain function of the module instead"
    return f"is {kind}; {_ADVICE}"
