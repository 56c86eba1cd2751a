"""What a thing is made of, as a hash: code by its source, weights by their numbers, settings by their values.

Two things of one hash answer alike, as far as can be told from what they are. Code that a user wrote counts by the file
it stands in, by the files of the user's own that this one imports, and by what was compiled of it, with its closures,
defaults and the global values it reads. Code of libraries counts by its name and their version, code of this one by its
name. What nobody can tell is a `DoubtError` that says why: code that was typed in, a connection, random numbers that
depend on what was drawn before.
"""

from __future__ import annotations

import dis
import enum
import functools
import hashlib
import importlib.util
import inspect
import logging
import random
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Set
from decimal import Decimal
from fractions import Fraction
from pathlib import Path, PurePath
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from anabranch.evaluate.sources import PACKAGE, DoubtError, below, installed, sources
from anabranch.game.compiled import CompiledGame
from anabranch.game.game import Game
from anabranch.game.load import FROM_FILE

DIGITS = 16  # of a hash, where people read it
GENERATED = "<string>"  # the file of functions that dataclasses and others write, for a module that has one

_PLAIN = (type(None), bool, int, float, complex, str, bytes, range, Decimal, Fraction, PurePath, np.dtype, np.ufunc)
_IRRELEVANT = (type(threading.Lock()), type(threading.RLock()), logging.Logger, threading.Event)
_DRAWS = (random.Random, np.random.Generator, np.random.RandomState)
Known = Callable[[Any], str | None]  # what is known of a thing otherwise


def contents(*things: Any, known: Known = lambda thing: None, skip: Set[str] = frozenset()) -> str:
    """Return a hash of what things are made of; `skip` names attributes of the things themselves that do not count."""
    reader = _Reader(known)
    try:
        for thing in things:
            reader.read(thing, skip=skip, top=True)
    except RecursionError:
        raise DoubtError("things inside others without end") from None
    return reader.digest.hexdigest()


def origin(thing: Any) -> str:
    """Return where people find the code of a function, class or object: `file.py:name` or `package.module:name`."""
    code = _code_of(thing)
    module = str(getattr(code, "__module__", None) or "")
    file = _file(code)
    where = file.name if file is not None and module.startswith((FROM_FILE, "__main__")) else module
    return f"{where or 'unknown'}:{getattr(code, '__qualname__', type(code).__qualname__)}"


def _code_of(thing: Any) -> Any:
    """Return the function or class that a thing's code is."""
    while isinstance(thing, (functools.partial, MethodType)):
        thing = thing.func if isinstance(thing, functools.partial) else thing.__func__
    thing = inspect.unwrap(thing) if callable(thing) and not isinstance(thing, type) else thing
    return thing if isinstance(thing, (type, FunctionType, BuiltinFunctionType)) else type(thing)


class _Reader:
    """Reads things into a hash, each once."""

    def __init__(self, known: Known) -> None:
        self.digest = hashlib.sha256()
        self._known = known
        self._open: dict[int, int] = {}  # things that are being read, by identity: how deep they are
        self._sources: dict[Path, list[tuple[str, str]]] = {}  # files that code stands in, each read once
        self._done: dict[int, tuple[Any, bytes]] = {}  # with the thing itself, so that its identity stays its own

    def _note(self, *parts: str | bytes) -> None:
        for part in parts:
            data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
            self.digest.update(len(data).to_bytes(8, "little") + data)

    def read(self, thing: Any, *, skip: Set[str] = frozenset(), top: bool = False) -> None:
        """Read one thing: a hash of its own, so that it does not matter who else holds it."""
        if isinstance(thing, _PLAIN):
            self._note(_name(type(thing)), str(thing) if isinstance(thing, PurePath) else _shown(thing))
        elif id(thing) in self._open:
            self._note("around", str(len(self._open) - self._open[id(thing)]))
        elif id(thing) in self._done:
            self._note(self._done[id(thing)][1])
        else:
            outer, self.digest = self.digest, hashlib.sha256()
            self._open[id(thing)] = len(self._open)
            try:
                said = None if top else self._known(thing)
                if said is None:
                    self._inside(thing, skip)
                else:
                    self._note("known", said)
                mark = self.digest.digest()
            finally:
                self.digest = outer
                del self._open[id(thing)]
            self._done[id(thing)] = (thing, mark)
            self._note(mark)

    def _inside(self, thing: Any, skip: Set[str]) -> None:
        if isinstance(thing, (np.ndarray, np.generic)):
            self._array(np.asarray(thing))
        elif isinstance(thing, enum.Enum):
            self._note("enum", _name(type(thing)), thing.name)
        elif isinstance(thing, ModuleType):
            self._imported(thing)
        elif isinstance(thing, type):
            self._class(thing)
        elif isinstance(thing, Game):
            self._game(thing)
        elif isinstance(thing, _IRRELEVANT):
            self._note("irrelevant")
        elif isinstance(thing, _DRAWS):
            raise DoubtError(f"{_name(type(thing))} gives numbers that depend on what was drawn before")
        elif _is_torch(thing, "Tensor"):
            self._tensor(thing)
        elif _is_torch(thing, "nn.Module"):
            self._module(thing, skip)
        else:
            self._callable(thing, skip)

    def _callable(self, thing: Any, skip: Set[str]) -> None:
        if isinstance(thing, FunctionType):
            self._function(thing)
        elif isinstance(thing, MethodType):
            self._note("method")
            self._all(thing.__func__, thing.__self__)
        elif _is_named(thing):
            self._library(thing)
        elif isinstance(thing, BuiltinFunctionType) and not isinstance(thing.__self__, (ModuleType, type(None))):
            self._note("method", thing.__name__)
            self.read(thing.__self__)
        elif isinstance(thing, functools.partial):
            self._note("partial")
            self._all(thing.func, thing.args, thing.keywords)
        elif isinstance(wrapped := getattr(thing, "__wrapped__", getattr(thing, "py_func", None)), FunctionType):
            self._note("wrapped", _name(type(thing)))  # by a cache, or by Numba
            self.read(wrapped)
        elif isinstance(thing, (property, staticmethod, classmethod, functools.cached_property)):
            self._note(_name(type(thing)))
            inside = (getattr(thing, name, None) for name in ("fget", "fset", "func", "__func__"))
            self._all(*(each for each in inside if each is not None))
        else:
            self._object(thing, skip)

    # Code

    def _function(self, function: FunctionType) -> None:
        self._note("function", function.__qualname__)
        if self._source(function):
            self._all(function.__defaults__, function.__kwdefaults__, *_cells(function))
            return
        self._code(function.__code__)
        self._all(function.__defaults__, function.__kwdefaults__, *_cells(function))
        for name in sorted(_globals_read(function.__code__)):
            if name in function.__globals__ and name != "__builtins__":
                self._note("global", name)
                try:
                    self.read(function.__globals__[name])
                except DoubtError as doubt:
                    raise DoubtError(f"{doubt} (the global {name} of {function.__qualname__})") from None

    def _class(self, kind: type) -> None:
        for each in kind.__mro__[:-1]:
            self._note("class", _name(each))
            if self._source(each):
                continue
            if issubclass(each, enum.Enum):
                self._mapping({name: member.value for name, member in each.__members__.items()})
                continue
            for name, value in sorted(vars(each).items()):
                if isinstance(value, FunctionType) or not (name.startswith("__") or _is_machinery(name, value)):
                    self._note("attribute", name)
                    self.read(value)

    def _source(self, thing: Any) -> bool:
        """Note where a function's or class's code comes from; return whether that is all there is to tell."""
        module, file = str(thing.__module__), _file(thing)
        if module.partition(".")[0] == "anabranch" and file is not None and below(file, (PACKAGE,)):
            self._note("anabranch", module)
            return True
        if file is None and module in sys.modules and _is_library(module):
            self._library(thing)
            return True
        if file is None or not file.is_file():
            raise DoubtError(f"{getattr(thing, '__qualname__', thing)} was typed in, and no file has its code")
        if installed(file):
            self._library(thing)
            return True
        self._note("file", file.name)
        self._files(file)
        return False

    def _files(self, file: Path) -> None:
        """Note a file and those that it imports."""
        if file not in self._sources:
            self._sources[file] = sources(file)
        for name, data in self._sources[file]:
            self._note(name, data)

    def _library(self, thing: Any) -> None:
        module = str(getattr(thing, "__module__", None) or "builtins")
        whole = sys.modules.get(module.partition(".")[0])
        name = getattr(thing, "__qualname__", None) or getattr(thing, "__name__", "")
        self._note("library", module, str(name), str(getattr(whole, "__version__", "")))

    def _imported(self, module: ModuleType) -> None:
        self._note("module", "" if module.__name__.startswith(FROM_FILE) else module.__name__)
        file = getattr(module, "__file__", None)
        if file is None or not file.endswith(".py"):
            return
        path = Path(file).resolve()
        if not installed(path) and not below(path, (PACKAGE,)):
            self._files(Path(file))

    def _code(self, code: CodeType) -> None:
        """What was compiled, which is what runs: the file may have been edited meanwhile."""
        counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        self._note("code", repr((counts, code.co_names, code.co_varnames, code.co_freevars)), code.co_code)
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self._code(constant)
            else:
                self.read(constant)

    # Data

    def _all(self, *things: Any) -> None:
        self._note(str(len(things)))
        for thing in things:
            self.read(thing)

    def _array(self, array: np.ndarray[Any, Any]) -> None:
        if array.dtype.hasobject:
            self._note("objects", repr(array.shape))
            self._all(*array.reshape(-1).tolist())
        else:
            self._note("array", repr((array.dtype.descr, array.shape)), np.ascontiguousarray(array).tobytes())

    def _tensor(self, tensor: Any) -> None:
        import torch

        plain = tensor.detach().cpu().contiguous()
        self._note("tensor", f"{plain.dtype} {tuple(plain.shape)}", plain.flatten().view(torch.uint8).numpy().tobytes())

    def _module(self, module: Any, skip: Set[str]) -> None:
        """A torch module: its class, its numbers, what it has inside, and what else it was given."""
        import torch

        if type(module).__name__ == "OptimizedModule" and hasattr(module, "_orig_mod"):  # compiled
            module = module._orig_mod
        own = vars(torch.nn.Module()).keys() - {"_forward_hooks", "_forward_pre_hooks"}
        self._class(type(module))
        inside = {name: getattr(module, name) for name in ("_parameters", "_buffers", "_modules")}
        given = {name: value for name, value in vars(module).items() if name not in own and name not in skip}
        self._mapping({**inside, **{name: value for name, value in given.items() if not _is_empty(name, value)}})

    def _game(self, game: Game) -> None:
        self._class(type(game))
        self._note("game", repr(game))
        if isinstance(game, CompiledGame):
            self._array(game.instance)

    def _mapping(self, given: Mapping[Any, Any]) -> None:
        self._note("mapping", str(len(given)))
        for key, value in given.items():
            self.read(key)
            self.read(value)

    def _object(self, thing: Any, skip: Set[str]) -> None:
        """Anything else: its class and all that it holds."""
        kind = type(thing)
        known = True
        self._note("object", _name(kind))
        if isinstance(thing, Mapping):
            self._mapping(thing)
        elif isinstance(thing, (list, tuple, deque)):
            self._all(*thing)
        elif isinstance(thing, (set, frozenset)):
            self._note(*sorted(contents(each, known=self._known) for each in thing))
        else:
            known = False
        state = dict(_state(thing))
        if not known and not _is_written(kind) and kind is not SimpleNamespace:
            raise DoubtError(f"a {_name(kind)}, which shows nothing of what it is")
        if kind.__module__ not in ("builtins", "collections"):
            self._class(kind)
        derived = {
            name
            for each in kind.__mro__
            for name, value in vars(each).items()
            if isinstance(value, functools.cached_property)
        }
        for name, value in state.items():
            if name not in skip and name not in derived:
                self._note("attribute", name)
                try:
                    self.read(value)
                except DoubtError as doubt:
                    raise DoubtError(f"{doubt} (the attribute {name} of a {kind.__qualname__})") from None


# Where code comes from


def _file(thing: Any) -> Path | None:
    """Return the file that a function or class was written in, None if there is none."""
    code = getattr(thing, "__code__", None)
    module = sys.modules.get(str(getattr(thing, "__module__", None)))
    name = getattr(module, "__file__", None)
    if isinstance(code, CodeType):
        name = name if code.co_filename == GENERATED else code.co_filename
    else:
        inside = getattr(thing, "__dict__", {})  # functions of C have none
        functions = [value for value in inside.values() if isinstance(value, FunctionType)]
        files = {function.__code__.co_filename for function in functions} - {GENERATED}
        if files and name not in files and not any(Path(file).is_file() for file in files):
            name = None  # typed into a module that has a file
    if not name or name.startswith("<"):
        return None
    path = Path(name)
    if path.suffix == ".pyc":
        path = Path(importlib.util.source_from_cache(name)) if "__pycache__" in path.parts else path
    return path.resolve() if path.is_file() else None


def _is_library(module: str) -> bool:
    """Whether a module without source belongs to a library: one that is built in, or made of native code."""
    found = sys.modules[module]
    file = getattr(found, "__file__", None)
    if file is None:
        return module.partition(".")[0] in {*sys.stdlib_module_names, *sys.builtin_module_names} - {"__main__"}
    path = Path(file).resolve()
    return installed(path) or below(path, (PACKAGE,))


# Small things


def _name(kind: type) -> str:
    """Return what a class is called; a folder it was loaded from does not matter."""
    module = "" if kind.__module__.startswith(FROM_FILE) else kind.__module__
    return f"{module}.{kind.__qualname__}"


def _shown(value: Any) -> str:
    return hex(value) if type(value) is int else repr(value)  # of any size


def _cells(function: FunctionType) -> list[Any]:
    """Return what a function has from around it; a name that is not bound yet is None."""
    found = []
    for cell in function.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:
            found.append(None)
    return found


def _globals_read(code: CodeType) -> set[str]:
    """Return the global names that code reads, functions inside of it included."""
    names = {step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _globals_read(constant)
    return names


def _state(thing: Any) -> Iterator[tuple[str, Any]]:
    """Yield the attributes that an object has for itself."""
    yield from getattr(thing, "__dict__", {}).items()
    for kind in type(thing).__mro__:
        slots = vars(kind).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(thing, name):
                yield name, getattr(thing, name)


def _is_written(kind: type) -> bool:
    """Whether a class is one of Python, whose objects show all they hold; others may hide something."""
    return any(isinstance(value, FunctionType) for each in kind.__mro__[:-1] for value in vars(each).values())


def _is_machinery(name: str, value: Any) -> bool:
    """Whether an attribute of a class is Python's own: slots, fields of named tuples, registers of abstract classes."""
    return name == "_abc_impl" or (inspect.isdatadescriptor(value) and not isinstance(value, property))


def _is_named(thing: Any) -> bool:
    """Whether something is a function of a library, to be found there under its name."""
    module, name = getattr(thing, "__module__", None), getattr(thing, "__name__", None)
    if not callable(thing) or not isinstance(module, str) or not isinstance(name, str) or module not in sys.modules:
        return False
    return getattr(sys.modules[module], name, None) is thing and _is_library(module)


def _is_torch(thing: Any, name: str) -> bool:
    """Whether something is torch's; whoever has such a thing has imported it."""
    found: Any = sys.modules.get("torch")
    for part in name.split("."):
        found = getattr(found, part, None)
    return isinstance(found, type) and isinstance(thing, found)


def _is_empty(name: str, value: Any) -> bool:
    return name.startswith("_forward") and not value
