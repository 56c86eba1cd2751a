"""What a function is known to fail by that Numba gives no line for: found in its syntax, only once it has failed."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import FunctionType

from anabranch.game.native.phrases import DICT

_SUSPECTS: tuple[tuple[tuple[type[ast.AST], ...], str], ...] = (
    ((ast.Dict, ast.DictComp), DICT),
    (
        (ast.Delete,),
        "`del` cannot be compiled: write the items that stay into a new list, or count how many are in use",
    ),
    ((ast.NamedExpr,), "`name := …` cannot be compiled here: assign in a line of its own"),
)


@dataclass(frozen=True)
class Suspect:
    """Something that cannot be compiled: where it stands, and what to write instead."""

    function: FunctionType
    line: int
    words: str


def first_suspect(functions: Iterable[FunctionType], *, only: str | None = None) -> Suspect | None:
    """Return the first suspect of some functions, or the first that is told in certain words."""
    for function in functions:
        for line, words in _found(function):
            if only in (None, words):
                return Suspect(function, line, words)
    return None


def last_line(function: FunctionType) -> int:
    """Return the last line of a function's code."""
    code = function.__code__
    return max((number for *_, number in code.co_lines() if number), default=code.co_firstlineno)


def _found(function: FunctionType) -> Iterator[tuple[int, str]]:
    first, last = function.__code__.co_firstlineno, last_line(function)
    for node in _nodes(function.__code__.co_filename):
        if first <= getattr(node, "lineno", 0) <= last:
            for kinds, words in _SUSPECTS:
                if isinstance(node, kinds):
                    yield node.lineno, words  # type: ignore[attr-defined]


@lru_cache(maxsize=64)
def _nodes(file: str) -> tuple[ast.AST, ...]:
    try:
        return tuple(ast.walk(ast.parse("".join(linecache.getlines(file)))))
    except (SyntaxError, ValueError, RecursionError):  # not the text that ran
        return ()
