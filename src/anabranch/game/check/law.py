"""The table of laws: a name, the law in one sentence (its test's docstring), where it can be tested, and the test."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from anabranch.game.check.subject import Position, Row, Subject
from anabranch.game.words import CHANCE, OVER

KINDS = ("start", "decision", "chance", "over")


class Finding(NamedTuple):
    """What a test saw, and how much of the line shows it."""

    seen: str
    at: int | None = None  # so many moves of the line are enough; None: all of them
    row: Row | None = None  # one more move that is needed


Test = Callable[[Subject, Position], Iterator[Finding]]


@dataclass(frozen=True)
class Law:
    """One promise of a game. `test` yields what breaks it at a position and says nothing otherwise."""

    name: str
    sentence: str
    test: Test
    at: tuple[str, ...]  # kinds of position it is tested at
    applies: Callable[[Subject], bool]
    every_way: bool  # whether it looks at the way into a state too, so that a second way is a new case
    whole_line: bool  # whether one test at the end of a line covers all of it


LAWS: dict[str, Law] = {}


def law(
    name: str,
    *,
    at: tuple[str, ...] = KINDS,
    needs: tuple[str, ...] = (),
    applies: Callable[[Subject], bool] = lambda subject: True,
    every_way: bool = False,
    whole_line: bool = False,
) -> Callable[[Test], Test]:
    """Enter a test into the table; `needs` names the verbs without which there is nothing to test.

    The first paragraph of the test's docstring is the law as users read it.
    """

    def enter(test: Test) -> Test:
        def possible(subject: Subject) -> bool:
            return all(subject.game.has(verb) for verb in needs) and applies(subject)

        sentence = " ".join((inspect.getdoc(test) or "").partition("\n\n")[0].split()).rstrip(".")
        LAWS[name] = Law(name, sentence, test, at, possible, every_way or whole_line, whole_line)
        return test

    return enter


def kinds(subject: Subject, position: Position) -> tuple[str, ...]:
    """Return what kinds of position this one is."""
    turn = subject.turn(position)
    kind = "over" if turn == OVER else "chance" if turn == CHANCE else "decision"
    return (kind,) if position.parent else ("start", kind)
