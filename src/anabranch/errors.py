"""Every exception of the library; each says what happened, where, and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class AnabranchError(Exception):
    """Root of everything the library raises on purpose."""


class UsageError(AnabranchError, ValueError):
    """A call, flag, config key or name that cannot be right, whatever the data."""


class UnknownNameError(UsageError, KeyError):
    """A name nobody knows; the message offers the nearest one that exists."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        known = sorted(known)
        super().__init__(f"unknown {what} {name!r}.{suggestion(name, known)}")

    def __str__(self) -> str:  # KeyError would show the repr of its argument
        return str(self.args[0])


class GameError(AnabranchError):
    """The rules of a game broke a promise: a lie, a size that does not fit, nonsense returned."""


class IllegalActionError(GameError, ValueError):
    """An action that is not legal in the state it was given to; the state is unchanged."""


class CompileError(GameError):
    """A verb that runs interpreted but cannot be compiled; the message names the verb and the cause."""


class MismatchError(GameError):
    """Compiled and interpreted play disagree: the compiled call failed where the same source, interpreted, did not."""


class CycleError(GameError):
    """A game that declared no cycles came back to a state of the same playout; the message prints the loop."""


class CheckFailedError(GameError):
    """`check` found violations; the message lists them."""


class EvaluatorError(AnabranchError):
    """An evaluator returned something that is not (logits, values) for the rows it was asked."""


class MissingExtraError(AnabranchError, ImportError):
    """An optional dependency is not installed; the message names the extra that brings it."""

    def __init__(self, module: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {module}; install it with: pip install 'anabranch[{extra}]'")


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return ' Did you mean …?' with the nearest known names, or the list of them all."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=2, cutoff=0.5)
    if near:
        return " Did you mean " + " or ".join(repr(word) for word in near) + "?"
    return " Known: " + ", ".join(known) + "." if known else ""
