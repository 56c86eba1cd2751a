"""What verbs may not use, said in the game's words before Numba says it in its own."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import FunctionType, ModuleType
from typing import Any

from anabranch.errors import CompileError, suggestion
from anabranch.game.native.reachable import Reachable, references

_GENERATOR = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def refuse(game: Any, verbs: Mapping[str, FunctionType], reachable: Reachable) -> None:
    """Raise CompileError for the first thing that cannot be compiled and has a better explanation than Numba's."""
    for verb, function in verbs.items():
        _refuse_generator(game, verb, function)
        _refuse_attributes(game, verb, function)
    for function in reachable.functions:
        for use in reachable.uses[function]:
            place = f"{game.name}: {function.__qualname__}, {where(function, use.reference.line)}"
            written = ".".join(use.reference.path)
            if _is_random(use.value) or (
                use.read < len(use.reference.path) and written.startswith(("np.random", "numpy.random"))
            ):
                raise CompileError(
                    f"{place}: {written} draws random numbers nobody can repeat; "
                    f"draw in `setup` or `draw` with ab.below(random, n) or ab.uniform(random)"
                )
            if use.reference.path[0] == "__class__":
                raise CompileError(f"{place}: super() cannot be compiled; name the class: Base.step(self, …)")


def where(function: FunctionType, line: int | None = None) -> str:
    """Return file:line of a function, or of a line in it."""
    return f"{function.__code__.co_filename}:{line or function.__code__.co_firstlineno}"


def _is_random(value: Any) -> bool:
    if isinstance(value, ModuleType):
        return value.__name__ in ("random", "secrets", "numpy.random")
    owner = getattr(value, "__self__", None)  # random.randint is a bound method of a hidden generator
    module = type(owner).__module__ if owner is not None and not isinstance(owner, ModuleType) else None
    return module in ("random", "numpy.random.mtrand") or getattr(value, "__module__", None) in ("random", "secrets")


def _refuse_generator(game: Any, verb: str, function: FunctionType) -> None:
    if function.__code__.co_flags & _GENERATOR:
        raise CompileError(
            f"{game.name}: {verb}, {where(function)}: a verb is a plain function, no generator or coroutine"
        )


def _refuse_attributes(game: Any, verb: str, function: FunctionType) -> None:
    """Refuse `self.x` where the instance's record has no x."""
    stored = game.instance.dtype.names or ()
    self_name = function.__code__.co_varnames[0]
    for reference in references(function.__code__):
        if reference.scope != "local" or reference.path[0] != self_name or len(reference.path) < 2:
            continue
        name = reference.path[1]
        if name in stored:
            continue
        place = f"{game.name}: {verb}, {where(function, reference.line)}"
        value = getattr(game, name, None)
        if callable(value):
            raise CompileError(
                f"{place}: self.{name}() cannot be compiled; make it a module's function, called {name}(self, …)"
            )
        if hasattr(game, name):
            raise CompileError(
                f"{place}: self.{name} is a {type(value).__name__}; compiled verbs read numbers, NumPy arrays and "
                f"tuples of numbers, stored by __init__ under names without a leading underscore"
            )
        raise CompileError(f"{place}: self has no {name!r}.{suggestion(name, stored)}")
