"""What verbs may not use, said in the game's words before Numba says it in its own."""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Mapping
from types import FunctionType, ModuleType
from typing import Any

from anabranch.errors import CompileError, suggestion
from anabranch.game.native.reachable import MISSING, Reachable, references, seen, where
from anabranch.game.native.unchecked import FUNCTIONS, refusal

_GENERATOR = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR

_TALK = ("breakpoint", "eval", "exec", "input", "open", "print")


def refuse(game: Any, verbs: Mapping[str, FunctionType], reachable: Reachable) -> None:
    """Raise CompileError for the first thing that cannot be compiled and has a better explanation than Numba's."""
    for verb, function in verbs.items():
        if function.__code__.co_flags & _GENERATOR:
            raise CompileError(f"{game.name}: {verb}, {where(function)}: a verb is no generator and no coroutine")
    for function in reachable.functions:
        if "__class__" in function.__code__.co_freevars:
            raise CompileError(
                f"{game.name}: {function.__qualname__}, {where(function)}: super() cannot be compiled; "
                f"name the class, e.g. Base.{function.__name__}(self, …)"
            )
        for use in reachable.uses[function]:
            path, place = use.reference.path, f"{function.__qualname__}, {where(function, use.reference.line)}"
            if _is_random(use.value) or (_is_numpy(use.value) and path[use.read : use.read + 1] == ("random",)):
                raise CompileError(
                    f"{game.name}: {place}: {'.'.join(path)} draws random numbers nobody can repeat; "
                    f"draw in `setup` or `draw` with ab.below(random, n) or ab.uniform(random)"
                )
            named = seen(use)
            for function_of_numpy, what in FUNCTIONS:
                if named is function_of_numpy:
                    raise CompileError(f"{game.name}: {place}: {refusal(what)}")
            if use.value is MISSING and use.read > 1:
                raise CompileError(
                    f"{game.name}: {place}: {'.'.join(path[: use.read - 1])} has no {path[use.read - 1]!r}"
                )
            if use.value is MISSING and not hasattr(builtins, path[0]):
                raise CompileError(f"{game.name}: {place}: the name {path[0]!r} is not defined")
            if use.value is MISSING and path[0] in _TALK:
                raise CompileError(f"{game.name}: {place}: {path[0]}() cannot be compiled; debug with compiled=False")


def _is_numpy(value: Any) -> bool:
    return isinstance(value, ModuleType) and value.__name__ == "numpy"


def _is_random(value: Any) -> bool:
    if isinstance(value, ModuleType):
        return value.__name__ in ("random", "secrets", "numpy.random")
    owner = getattr(value, "__self__", None)  # random.randint is a bound method of a hidden generator
    module = type(owner).__module__ if owner is not None and not isinstance(owner, ModuleType) else None
    return module in ("random", "numpy.random.mtrand") or getattr(value, "__module__", None) in ("random", "secrets")


def refuse_fields(game: Any, verb: str, function: FunctionType) -> None:
    """Raise CompileError for `self.x` or `state.x` where the record has no x, which the trial may have missed."""
    records = {"self": game.instance.dtype, "state": game.state, "key": game.key_record if verb == "key" else None}
    arguments = dict(zip(function.__code__.co_varnames, ("self", "state", "key"), strict=False))
    for reference in references(function.__code__):
        record = records.get(arguments.get(reference.path[0], ""))
        if reference.scope != "local" or record is None or len(reference.path) < 2:
            continue
        name, known = reference.path[1], record.names or ()
        if name in known:
            continue
        place = f"{game.name}: {verb}, {where(function, reference.line)}"
        if arguments[reference.path[0]] == "self" and hasattr(game, name):
            value = getattr(game, name)
            if callable(value):
                raise CompileError(
                    f"{place}: self.{name}() cannot be compiled; make it a module's function, called {name}(self, …)"
                )
            raise CompileError(
                f"{place}: self.{name} is a {type(value).__name__}; compiled verbs read numbers, NumPy arrays and "
                f"tuples of numbers, stored by __init__ under names without a leading underscore"
            )
        raise CompileError(f"{place}: {reference.path[0]} has no {name!r}.{suggestion(name, known)}")
