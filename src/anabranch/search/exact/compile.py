"""Searches of solvers, compiled: copies with compiled helpers, so that the modules they stand in stay as they are."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any


def compiled(search: Callable[..., Any], helpers: tuple[Callable[..., Any], ...], signature: tuple[Any, ...]) -> Any:
    """Return a function compiled for the types of a signature; it may call itself and its helpers by their names.

    Helpers stand in the order in which they need each other; names of modules must not mean different things.
    """
    import numba

    namespace: dict[str, Any] = {}
    for each in (*helpers, search):
        assert isinstance(each, FunctionType)
        namespace |= each.__globals__
    for each in (*helpers, search):
        assert isinstance(each, FunctionType)
        namespace[each.__name__] = numba.njit(FunctionType(each.__code__, namespace, each.__name__, each.__defaults__))
    made = namespace[search.__name__]
    made.compile(signature)
    return made
