"""Laws about what can be played: legal actions, steps, and choices that do the same thing."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from anabranch.game.check.answers import alike, show
from anabranch.game.check.law import Finding, law
from anabranch.game.check.subject import Position, Row, Subject
from anabranch.game.random import below
from anabranch.game.words import OVER, acting, as_row

REPLIES = 16  # how many replies of the others a choice is compared against


@law("start", at=("start",))
def games_begin(subject: Subject, position: Position) -> Iterator[Finding]:
    """A game does not begin over."""
    if subject.turn(position) != OVER:
        return
    if any(subject.turn(subject.start(position.seed + later)) != OVER for later in range(1, 8)):
        return  # a drawn start may happen to be an end
    hint = "" if subject.game.has("setup") else "; without a setup verb the first state is all zeros"
    yield Finding(f"the start state is over: turn returned 0 = ab.OVER; a mover is ab.player(i){hint}")


@law("legal", at=("decision",))
def legal_lists_are_sound(subject: Subject, position: Position) -> Iterator[Finding]:
    """`legal` gives every acting player at least one id, strictly ascending from 0 up, below `actions`."""
    for seat in acting(subject.turn(position)):
        ids = subject.ask("legal", position, seat)
        if not ids:
            yield Finding(f"player {seat} is to act and has no legal action")
        elif ids[0] < 0 or ids[-1] >= subject.game.actions or any(a >= b for a, b in itertools.pairwise(ids)):
            yield Finding(f"player {seat} has the legal actions {ids}, with {subject.game.actions} actions declared")


@law("rollout", at=("decision",), needs=("rollout_action",))
def rollouts_choose(subject: Subject, position: Position) -> Iterator[Finding]:
    """`rollout_action` names one of the player's choices."""
    for seat in acting(subject.turn(position)):
        choices = subject.ask("legal", position, seat)
        if subject.game.has("same"):
            choices = [action for action in choices if subject.ask("same", position, seat, action) == action]
        action = subject.ask("rollout_action", position, seat, subject.random(position, 9 + seat))
        if action not in choices:
            yield Finding(f"rollout_action gives player {seat} the action {action}; the choices are {choices}")


@law("step", at=("decision", "chance"))
def steps_repeat(subject: Subject, position: Position) -> Iterator[Finding]:
    """Every legal move can be played, and played again it gives the same state and rewards."""
    for row in subject.rows(position):
        if subject.late():
            return
        first, second = (subject.step(position, row) for _ in range(2))
        if not alike(first.data, second.data):
            yield Finding(f"the move gave {show(subject, first.data)}, then {show(subject, second.data)}", row=row)
        if not alike(first.rewards, second.rewards):
            yield Finding(f"the move gave rewards {first.rewards}, then {second.rewards}", row=row)


@law("same", at=("decision",), needs=("same",))
def choices_do_the_same(subject: Subject, position: Position) -> Iterator[Finding]:
    """`same` names a legal id that names itself; ids of one choice pay the same and lead to the same next key."""
    for seat in acting(subject.turn(position)):
        ids = subject.ask("legal", position, seat)
        for action in ids:
            chosen = subject.ask("same", position, seat, action)
            if chosen not in ids:
                yield Finding(f"same({seat}, {action}) is {chosen}, which is not legal for player {seat}")
            elif subject.ask("same", position, seat, chosen) != chosen:
                yield Finding(f"same({seat}, {action}) is {chosen}, but {chosen} does not represent itself")
            elif chosen != action:
                for row in replies(subject, position, seat):
                    if subject.late():
                        return
                    one, other = (_with(row, seat, a) for a in (action, chosen))
                    first, second = subject.step(position, one), subject.step(position, other)
                    if first.rewards != second.rewards:
                        seen = f"actions {action} and {chosen} of player {seat} are one choice, but"
                        yield Finding(f"{seen} give rewards {first.rewards} and {second.rewards}", row=one)
                    elif not alike(*(subject.ask("key", after) for after in (first, second))):
                        seen = f"actions {action} and {chosen} of player {seat} are one choice, but"
                        yield Finding(
                            f"{seen} lead to {show(subject, first.data)} and {show(subject, second.data)}", row=one
                        )


def replies(subject: Subject, position: Position, seat: int) -> list[Row]:
    """Return moves of the others, all of them or a sample, with `seat` left idle."""
    others = [s for s in acting(subject.turn(position)) if s != seat]
    lists = [subject.ask("legal", position, other) for other in others]
    if math.prod(map(len, lists)) <= REPLIES:
        choices = list(itertools.product(*lists))
    else:
        random = subject.random(position, 5)
        choices = [tuple(ids[below(random, len(ids))] for ids in lists) for _ in range(REPLIES)]
    return [tuple(as_row(subject.game.players, others, choice)) for choice in choices]


def _with(row: Row, seat: int, action: int) -> Row:
    return (*row[:seat], action, *row[seat + 1 :])
