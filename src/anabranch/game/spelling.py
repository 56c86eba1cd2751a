"""Names in a game that look like a verb or a setting with a letter wrong: nobody would ever call or read them."""

from __future__ import annotations

import difflib
import dis
from collections.abc import Iterator
from functools import cache
from types import CodeType, FunctionType
from typing import Any

from anabranch.game.words import VERBS

SETTINGS = (
    "players",
    "actions",
    "outcomes",
    "returns",
    "rewards_along",
    "zero_sum",
    "discount",
    "observation",
    "cycles",
    "key_record",
)
NEAR = 0.8  # how alike two names are, 2·(letters in common) / (letters of both), before one is taken for the other


def misspelt(game: Any, base: type) -> str | None:
    """Return what is wrong with the first suspicious name that the game's own classes and `__init__` set, or None.

    A helper or a table of the game's own may well have such a name, so only what no method of the game reads is
    suspected, and only of meaning something that the game does not have.
    """
    classes = [kind for kind in type(game).__mro__ if issubclass(kind, base) and not _ours(kind)]
    members = {name: value for kind in reversed(classes) for name, value in vars(kind).items()}
    methods = {name for name, value in members.items() if isinstance(value, FunctionType)}
    for given, known, kind in (
        (methods, VERBS, "verb"),
        ({*members, *vars(game)} - methods, SETTINGS, "setting"),
    ):
        missing = tuple(name for name in known if name not in members and name not in vars(game))
        for name in sorted(given):
            meant = None if name.startswith("_") or name in known else _nearest(name, missing)
            if meant and not any(name in _read(code) for code in _codes(members)):
                return f"{name!r} is no {kind} and nothing reads it; did you mean {meant!r}? (Else begin it with _.)"
    return None


def _ours(kind: type) -> bool:
    return kind.__module__.startswith("anabranch.game.")


@cache
def _nearest(name: str, missing: tuple[str, ...]) -> str | None:
    # With the same first letter: `rounds` is no slip for `bounds`.
    likely = [word for word in missing if word[0] == name[0].lower()]
    return next(iter(difflib.get_close_matches(name.lower(), likely, n=1, cutoff=NEAR)), None)


def _codes(members: dict[str, Any]) -> Iterator[CodeType]:
    for member in members.values():
        for part in (member, getattr(member, "fget", None), getattr(member, "__func__", None)):
            if isinstance(part, FunctionType):
                yield part.__code__


@cache
def _read(code: CodeType) -> frozenset[str]:
    """Return the attributes that code, or code inside it, looks up."""
    names = {
        step.argval for step in dis.get_instructions(code) if step.opname.startswith("LOAD_") and "ATTR" in step.opname
    }
    names |= {step.argval for step in dis.get_instructions(code) if step.opname == "LOAD_METHOD"}
    inner = [_read(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return frozenset(names).union(*inner)
