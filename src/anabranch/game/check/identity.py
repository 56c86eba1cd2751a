"""Laws about which states are the same: equality, keys, cycles, seeds."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from anabranch.game.check.answers import alike, show
from anabranch.game.check.law import Finding, law
from anabranch.game.check.subject import Position, Row, Subject, compact, contents
from anabranch.game.compiled import CompiledGame
from anabranch.game.objects import ObjectGame
from anabranch.game.random import Random, below
from anabranch.game.words import CHANCE, OVER, acting

KEYS = 50_000  # how many keys are remembered
FUTURE = 12  # how many moves two states with equal keys are followed
FAR = 5000  # positions of one game among which a return is looked for
FEW_HUNDRED = 200  # moves of the games that are played twice
RECENT = 64  # moves that are played a second time
MOVES = 16  # how many moves are compared at each of them


@law("equality")
def same_way_same_state(subject: Subject, position: Position) -> Iterator[Finding]:
    """The same moves lead to equal states with equal hashes; a record has one form only."""
    line = position.ancestors()[-RECENT - 1 :]  # a long game is not played again from its start
    first = line[0] if line[0].parent else subject.start(position.seed)
    again = subject.replay(first, [after.row for after in line[1:]])
    try:
        numbers = hash(position.data), hash(again.data)
    except TypeError as error:
        yield Finding(f"a state cannot be hashed: {error}")
        return
    if not alike(again.data, position.data):
        yield Finding(f"the same moves lead to {show(subject, position.data)}, then to {show(subject, again.data)}")
    elif numbers[0] != numbers[1]:
        yield Finding(f"equal states hash to {numbers[0]} and {numbers[1]}: {show(subject, position.data)}")
    if isinstance(subject.game, CompiledGame):
        record = np.frombuffer(position.data, subject.game.state)
        for name, (kind, *_) in (subject.game.state.fields or {}).items():
            if kind.base == np.bool_ and record[name].view(np.uint8).max() > 1:
                yield Finding(f"the field {name!r} of truth values holds bytes other than 0 and 1")


@law("key", applies=lambda subject: subject.game.has("key") or isinstance(subject.game, ObjectGame), every_way=True)
def equal_keys_equal_futures(subject: Subject, position: Position) -> Iterator[Finding]:
    """Equal keys (or equal state objects) have equal futures: turn, legal, choices, chances, rewards, next keys."""
    key = subject.ask("key", position)
    try:
        other = subject.by_key.get(key)
    except TypeError as error:
        yield Finding(f"a key cannot be hashed: {error}")
        return
    if other is None:
        if len(subject.by_key) < KEYS:
            subject.by_key[key] = position
    elif repr(other.data) != repr(position.data):
        difference = different_futures(subject, other, position)
        if difference:
            there = [compact(row) for row in other.line()]
            yield Finding(f"this state counts as equal to the one after {there} (seed {other.seed}), but {difference}")


def different_futures(subject: Subject, first: Position, second: Position) -> str | None:
    """Return how two states differ that should be one node, following one random line; None if they agree."""
    moves: list[int | Row] = []
    for _ in range(FUTURE):
        if subject.late():
            return None
        later = f", after {moves} from each" if moves else ""
        views = [prospects(subject, position) for position in (first, second)]
        for name in views[0]:
            if views[0][name] != views[1].get(name):
                return f"{name} there {views[0][name]}, here {views[1].get(name)}{later}"
        rows = subject.rows(first, MOVES)
        if not rows:
            return None
        for row in rows:
            one, other = subject.step(first, row), subject.step(second, row)
            if one.rewards != other.rewards:
                return f"{compact(row)} pays {one.rewards} there, {other.rewards} here{later}"
            if not alike(*(subject.ask("key", after) for after in (one, other))):
                return f"{compact(row)} leads to states with different keys{later}"
        row = rows[below(subject.random(second, 6), len(rows))]
        first, second = subject.step(first, row), subject.step(second, row)
        moves.append(compact(row))
        if repr(first.data) == repr(second.data):
            return None
    return None


def prospects(subject: Subject, position: Position) -> dict[str, Any]:
    """Return what can be said of a state without its key."""
    turn = subject.turn(position)
    said: dict[str, Any] = {"turn is": turn}
    for seat in acting(turn):
        legal = subject.ask("legal", position, seat)
        said[f"player {seat}'s legal actions are"] = legal
        if subject.game.has("same"):
            said[f"player {seat}'s choices are"] = [subject.ask("same", position, seat, action) for action in legal]
    if turn == CHANCE and subject.game.has("chance"):
        said["chances are"] = sorted(subject.ask("chance", position))
    return said


@law("cycles", applies=lambda subject: subject.game.cycles is None, whole_line=True)
def states_do_not_return(subject: Subject, position: Position) -> Iterator[Finding]:
    """No state comes back within one game, unless the game declares `cycles`."""
    before: dict[Any, int] = {}
    for number, earlier in enumerate(position.ancestors()[:FAR]):
        first = before.setdefault(subject.ask("key", earlier), number)
        if subject.late():
            return
        if first < number:
            yield Finding(f"the state after {first} moves comes back after {number}; self.cycles is None", at=number)
            return


@law("termination", applies=lambda subject: subject.game.cycles is None, whole_line=True)
def games_end(subject: Subject, position: Position) -> Iterator[Finding]:
    """Random games end, after 100,000 moves at the latest, unless the game declares `cycles`."""
    if position.depth >= subject.patience and subject.turn(position) != OVER:
        yield Finding(f"a random game from here was still going on after {position.depth:,} moves", at=0)


@law("seeds", at=("start",))
def seeds_decide(subject: Subject, position: Position) -> Iterator[Finding]:
    """Equal seeds give equal starts and equal games; equal arguments make equal games."""
    for seed in range(position.seed, position.seed + 4):
        first, second = subject.start(seed), subject.start(seed)
        if not alike(first.data, second.data):
            yield Finding(f"start(seed={seed}) gave {first.data!r}, then {second.data!r}")
    lines = []
    for _ in range(2):
        go_on = partial(_not_late, subject)
        last, _ = subject.play(subject.start(position.seed), Random(position.path), FEW_HUNDRED, go_on)
        lines.append(last.line())
    if any(one != other for one, other in zip(*lines, strict=False)):
        yield Finding("two random games from the same random numbers differ")
    arguments, options = subject.game._arguments
    twin = subject.guard("__init__", lambda: type(subject.game)(*arguments, compiled=False, **dict(options)))  # type: ignore[call-arg]
    mine, its = subject.made_with, contents(twin)
    for name in sorted((mine.keys() | its.keys()) - {"compiled"}):
        if mine.get(name) != its.get(name):
            yield Finding(f"made a second time with the same arguments, the game has another self.{name}")
    if not alike(Subject(twin).start(position.seed).data, position.data):
        yield Finding("made a second time with the same arguments, the game starts differently")


def _not_late(subject: Subject, depth: int) -> bool:
    return not subject.late()
