"""Laws about how a game is seen: symmetries, observations, text and names."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from anabranch.game.check.answers import Snapshot
from anabranch.game.check.law import Finding, law
from anabranch.game.check.subject import Broken, Position, Row, Subject
from anabranch.game.group import gap_in, written_out
from anabranch.game.objects import ObjectGame
from anabranch.game.random import below
from anabranch.game.state import State
from anabranch.game.symmetry import Symmetry, image
from anabranch.game.words import CHANCE, IDLE, acting

LARGEST = 1000.0  # an observation feeds a network: beyond this something was not scaled
ALL_SYMMETRIES = 8  # lines up to this length are followed under every symmetry, longer ones under one
FAR = 200  # moves of a line that are followed
NAMES = 16  # how many new names are read back per state


@law("permutation", at=("start",), applies=lambda subject: bool(subject.symmetries))
def symmetries_are_permutations(subject: Subject, position: Position) -> Iterator[Finding]:
    """A symmetry's parts are permutations of actions, observation cells, players, outcomes; together they are a group.

    A group: two of them, one after the other, are a third that is listed too, or the identity, which need not be.
    """
    game = subject.game
    cells = math.prod(game.observation) if game.observation is not None else 0
    sizes = {"actions": game.actions, "cells": cells, "players": game.players, "outcomes": None}
    for number, symmetry in enumerate(subject.symmetries):
        for part, size in sizes.items():
            permutation = getattr(symmetry, part)
            if permutation is None:
                continue
            if sorted(permutation) != list(range(len(permutation) if size is None else size)):
                expected = "" if size is None else f" of 0 to {size - 1}"
                yield Finding(f"symmetry {number}: {part} is no permutation{expected}: {short(permutation)}")
                return
    gap = gap_in(written_out(game, subject.symmetries))
    if gap:
        yield Finding(gap)


@law(
    "symmetry",
    applies=lambda subject: bool(subject.symmetries) and subject.start_is_fixed and _sound(subject),
    whole_line=True,
)
def symmetries_keep_the_rules(subject: Subject, position: Position) -> Iterator[Finding]:
    """Relabelled by a symmetry, play from the start has relabelled turns, actions, chances, rewards, observations."""
    numbers = list(range(len(subject.symmetries)))
    if position.depth > ALL_SYMMETRIES:
        numbers = [below(subject.random(position, 9), len(numbers))]
    for number in numbers:
        mapping, here = subject.symmetries[number], subject.start(position.seed)
        for depth, original in enumerate(position.ancestors()[:FAR]):
            if subject.late():
                return
            if depth:
                here = subject.step(here, relabelled(mapping, original.row, subject.turn(original.parent or original)))
            difference = asymmetry(subject, mapping, original, here)
            if difference:
                yield Finding(f"symmetry {number}: {difference}", at=depth)
                return


def _sound(subject: Subject) -> bool:
    return not any(symmetries_are_permutations(subject, Position(0, None, subject.game.players)))


def relabelled(mapping: Symmetry, row: Row, turn: int) -> Row:
    """Return the image of a move."""
    if turn == CHANCE:
        return (image(mapping.outcomes, row[0]), *row[1:])
    after = [IDLE] * len(row)
    for seat, action in enumerate(row):
        if action != IDLE:
            after[image(mapping.players, seat)] = image(mapping.actions, action)
    return tuple(after)


def asymmetry(subject: Subject, mapping: Symmetry, original: Position, here: Position) -> str | None:
    """Return how `here` fails to be the image of `original`."""
    turn, turn_here = subject.turn(original), subject.turn(here)
    seats = sorted(image(mapping.players, seat) for seat in acting(turn))
    if seats != list(acting(turn_here)) or (not seats and turn != turn_here):
        return f"turn {turn} should become players {seats}, is {turn_here}"
    rewards = mapping.seats(np.array(original.rewards)).tolist()
    if any(abs(a - b) > 1e-9 for a, b in zip(rewards, here.rewards, strict=True)):
        return f"rewards {original.rewards} should become {rewards}, are {here.rewards}"
    for seat in acting(turn):
        other = image(mapping.players, seat)
        for what, ask in (("legal actions", _legal), ("choices", _choices)):
            expected = {frozenset(image(mapping.actions, a) for a in group) for group in ask(subject, original, seat)}
            if expected != set(map(frozenset, ask(subject, here, other))):
                return f"{what} of player {seat} do not become those of player {other} in the relabelled game"
    if turn == CHANCE and subject.game.has("chance"):
        mapped = {image(mapping.outcomes, outcome): p for outcome, p in subject.ask("chance", original)}
        chances = dict(subject.ask("chance", here))
        if mapped.keys() != chances.keys() or any(abs(p - chances[outcome]) > 1e-9 for outcome, p in mapped.items()):
            return f"chances should become {mapped}, are {chances}"
    if subject.game.has("observe"):
        for seat in range(subject.game.players):
            planes = subject.ask("observe", original, seat)
            other = image(mapping.players, seat)
            if not np.array_equal(mapping.observation(planes), subject.ask("observe", here, other)):
                return f"the observation of player {seat} does not become that of player {other} in the relabelled game"
    return None


def _legal(subject: Subject, position: Position, seat: int) -> list[list[int]]:
    return [[action] for action in subject.ask("legal", position, seat)]


def _choices(subject: Subject, position: Position, seat: int) -> list[list[int]]:
    groups: dict[int, list[int]] = {}
    for action in subject.ask("legal", position, seat):
        groups.setdefault(subject.ask("same", position, seat, action), []).append(action)
    return list(groups.values())


@law("observation", needs=("observe",))
def observations_fit(subject: Subject, position: Position) -> Iterator[Finding]:
    """`observe` gives finite float32 of the declared shape, at most 1000 in size."""
    for seat in range(subject.game.players):
        planes = subject.ask("observe", position, seat)
        shape = tuple(subject.game.observation or ())
        if planes.shape != shape or planes.dtype != np.float32:
            yield Finding(f"observe({seat}) gives {planes.dtype} of shape {planes.shape}, declared is {shape}")
        elif not np.isfinite(planes).all() or np.abs(planes).max(initial=0.0) > LARGEST:
            cell = np.unravel_index(int(np.argmax(np.nan_to_num(np.abs(planes), nan=np.inf))), planes.shape)
            yield Finding(f"observe({seat}) holds {planes[cell]} at {tuple(map(int, cell))}")


@law("text")
def text_draws(subject: Subject, position: Position) -> Iterator[Finding]:
    """`text` draws every state: a string, not empty, the same each time."""
    state = State(subject.game, position.data)
    before = Snapshot(position.data) if isinstance(subject.game, ObjectGame) else None
    first, second = (subject.guard("text", subject.game.text, state) for _ in range(2))
    if not isinstance(first, str) or not first.strip():
        yield Finding(f"text gives {first!r}")
    elif first != second:
        yield Finding(f"text gives {first!r}, then {second!r}")
    if before is not None and not before.holds(position.data):
        yield Finding(f"text changed the state from {before.text} to {position.data!r}")


@law("names", at=("decision", "chance"))
def names_are_read_back(subject: Subject, position: Position) -> Iterator[Finding]:
    """Legal actions have distinct names, and parse_action reads them back."""
    if subject.turn(position) == CHANCE:
        for outcome in subject.outcomes(position):
            name: Any = subject.guard("outcome_name", subject.game.outcome_name, outcome)
            if not isinstance(name, str) or not name:
                yield Finding(f"outcome {outcome} is called {name!r}")
    for ids in subject.legal(position):
        new = [action for action in ids if action not in subject.names]
        for action in new[:NAMES]:
            name = subject.guard("action_name", subject.game.action_name, action)
            if not isinstance(name, str) or not name:
                yield Finding(f"action {action} is called {name!r}")
                return
            try:
                back: Any = subject.guard("parse_action", subject.game.parse_action, name)
            except Broken as broken:
                yield Finding(f"action {action} is called {name!r}, and parse_action refuses that: {broken.seen}")
                return
            if back != action:
                yield Finding(f"action {action} is called {name!r}, which parse_action reads as {back}")
                return
            subject.names[action] = name
        names = [subject.guard("action_name", subject.game.action_name, action) for action in ids]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            yield Finding(f"two legal actions are called {twice!r}")


def short(value: Any) -> str:
    """Print, but not more than a line."""
    text = repr(value)
    return text if len(text) <= 80 else text[:80] + "…"
