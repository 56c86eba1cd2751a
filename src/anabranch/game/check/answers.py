"""Laws about verbs as functions: they answer, answer alike, change nothing, and compiled play answers the same."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from anabranch.game.check.law import Finding, law
from anabranch.game.check.subject import Broken, Position, Row, Subject, contents
from anabranch.game.compiled import CompiledGame
from anabranch.game.game import Rules
from anabranch.game.random import Random, fold
from anabranch.game.record import RecordView
from anabranch.game.words import CHANCE, acting

DRAWING = ("draw", "rollout_action")  # verbs that are given random numbers
SOME = 6  # how many actions, and how many moves, a question about each is put for


class Question(NamedTuple):
    """A verb and what it is asked beside the state; last a key, for verbs that make their random numbers from it."""

    verb: str
    arguments: tuple[Any, ...] = ()

    def put(self, subject: Subject, position: Position, rules: Rules | None = None) -> Any:
        """Ask it of the game as it is played, or of other rules."""
        if self.verb not in DRAWING:
            return subject.ask(self.verb, position, *self.arguments, rules=rules)
        *before, key = self.arguments
        random = Random(key)
        return subject.ask(self.verb, position, *before, random, rules=rules), random.word

    @property
    def row(self) -> Row | None:
        """The move, where the question is what it leads to."""
        return self.arguments[0] if self.verb == "step" else None

    def __str__(self) -> str:
        told = self.arguments[:-1] if self.verb in DRAWING else self.arguments
        return f"{self.verb}({', '.join(map(str, told))})" if told or self.verb not in DRAWING else self.verb


def questions(subject: Subject, position: Position) -> Iterator[Question]:
    """Yield everything a search may ask about a state, as far as there is time."""
    for question in _questions(subject, position):
        if subject.late():
            return
        yield question


def _questions(subject: Subject, position: Position) -> Iterator[Question]:
    game, turn = subject.game, subject.turn(position)
    yield Question("turn")
    for seat in acting(turn):
        yield Question("legal", (seat,))
        if game.has("same"):
            for action in subject.ask("legal", position, seat)[:SOME]:
                yield Question("same", (seat, action))
        if game.has("rollout_action"):
            yield Question("rollout_action", (seat, fold(position.path, 5 + seat)))
    if game.has("heuristic") and acting(turn):
        yield Question("heuristic")
    if turn == CHANCE:
        if game.has("chance") or not game.has("draw"):
            yield Question("chance")
        yield Question("draw", (fold(position.path, 4),))
        if game.has("event"):
            yield Question("event")
    for verb in ("key", "bounds"):
        if game.has(verb):
            yield Question(verb)
    if game.has("observe"):
        for seat in range(game.players):
            yield Question("observe", (seat,))
    for row in subject.rows(position, SOME):
        yield Question("step", (row,))


def alike(first: Any, second: Any) -> bool:
    """Whether two answers are the same to the last bit."""
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        return first.shape == second.shape and first.dtype == second.dtype and first.tobytes() == second.tobytes()
    if type(first) is type(second) and isinstance(first, (list, tuple)):
        return len(first) == len(second) and all(map(alike, first, second))
    if isinstance(first, float) and isinstance(second, float):
        return first.hex() == second.hex()
    return bool(first == second)


@law("turn")
def turn_is_valid(subject: Subject, position: Position) -> Iterator[Finding]:
    """`turn` gives ab.OVER, ab.CHANCE or a set of existing players."""
    turn = subject.turn(position)  # nonsense is refused where it is asked
    if not CHANCE <= turn < 1 << subject.game.players:
        yield Finding(f"turn is {turn}")


@law("answers")
def verbs_answer(subject: Subject, position: Position) -> Iterator[Finding]:
    """Every verb answers on every reachable state; none raises."""
    for question in questions(subject, position):
        question.put(subject, position)
    yield from ()


@law("function")
def verbs_are_functions(subject: Subject, position: Position) -> Iterator[Finding]:
    """Verbs are functions of the state: asked twice, they answer the same."""
    for question in questions(subject, position):
        first, second = (question.put(subject, position) for _ in range(2))
        if not alike(first, second):
            yield Finding(f"{question} answered first {show(subject, first)}, then {show(subject, second)}")


@law("state")
def verbs_leave_the_state(subject: Subject, position: Position) -> Iterator[Finding]:
    """Only `setup` and `step` change a state; in a game of objects `step` returns another one."""
    for question in questions(subject, position):
        if subject.plain is not None:
            if question.verb != "step":
                question.put(subject, position, subject.plain)
                if bytes(subject.plain.shown) != position.data:
                    yield Finding(f"{question} changed the state to {subject.plain.shown!r}")
        else:
            before = Snapshot(position.data)
            question.put(subject, position)
            if not before.holds(position.data):
                yield Finding(f"{question} changed the state from {before.text} to {position.data!r}")


class Snapshot:
    """What a state object looked like: its text, hash and, where it can be copied, a copy to compare with."""

    def __init__(self, data: Any) -> None:
        self.text, self.number = repr(data), hash(data)
        try:
            self.twin = copy.deepcopy(data)
            self.comparable = bool(self.twin == data)
        except Exception:
            self.comparable = False

    def holds(self, data: Any) -> bool:
        same = repr(data) == self.text and hash(data) == self.number
        return same and (not self.comparable or bool(self.twin == data))


@law("self")
def verbs_leave_the_game(subject: Subject, position: Position) -> Iterator[Finding]:
    """Verbs leave the game itself unchanged (names that begin with an underscore are its own business)."""
    rules: Any = subject.plain or subject.rules
    asked = list(questions(subject, position))
    before = contents(rules.game)
    for question in asked:
        question.put(subject, position, rules)
    if contents(rules.game) == before:
        return
    for question in asked:  # once more, to say which it was
        before = contents(rules.game)
        question.put(subject, position, rules)
        after = contents(rules.game)
        for name in sorted(before.keys() | after.keys()):
            if before.get(name) != after.get(name):
                yield Finding(f"{question} changed self.{name}", row=question.row)


def is_compiled(subject: Subject) -> bool:
    """Whether there are two ways to run the verbs."""
    return isinstance(subject.game, CompiledGame) and subject.game.compiled


@law("compiled", applies=is_compiled)
def compiled_is_interpreted(subject: Subject, position: Position) -> Iterator[Finding]:
    """Compiled and interpreted verbs answer the same, byte for byte."""
    assert subject.plain is not None
    if position.parent is None:
        for key in (fold(position.path, word) for word in range(4)):
            first, second = (rules.setup(Random(key)) for rules in (subject.rules, subject.plain))
            if first != second:
                yield Finding(f"setup: compiled {show(subject, first)}, interpreted {show(subject, second)}")
    for question in questions(subject, position):
        compiled: Any = question.put(subject, position)
        try:
            plain: Any = question.put(subject, position, subject.plain)
        except Broken as broken:
            plain = f"an error: {broken.seen}"
        if not alike(compiled, plain):
            yield Finding(
                f"{question}: compiled {show(subject, compiled)}, interpreted {show(subject, plain)}", row=question.row
            )


def show(subject: Subject, answer: Any) -> str:
    """Print an answer; record bytes as their fields."""
    if (
        isinstance(answer, bytes)
        and isinstance(subject.game, CompiledGame)
        and len(answer) == subject.game.state.itemsize
    ):
        return repr(RecordView(subject.game.state, bytearray(answer)))
    if isinstance(answer, tuple) and answer and isinstance(answer[0], bytes):
        return f"({', '.join(show(subject, part) for part in answer)})"
    text = repr(answer)
    return text if len(text) <= 200 else text[:200] + "…"
