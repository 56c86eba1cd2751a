"""Moves as people write them: read one at a state, play a list of them, and name what was played."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from anabranch.errors import IllegalActionError, UnknownNameError, UsageError, shortened, shown
from anabranch.game.players import together
from anabranch.game.state import State
from anabranch.game.words import CHANCE, OVER, acting

Move: TypeAlias = int | tuple[int, ...]  # what State.step takes
Written: TypeAlias = str | int | Sequence[str | int]


def read_move(state: State, written: Written) -> Move:
    """Return the move a text means here: the name of an action or an outcome, or `a,b` where players choose at once.

    Numbers are ids, and a list has one entry per acting player. What is no move here is an error that names those that
    are.
    """
    if state.turn_bits == OVER:
        raise IllegalActionError(f"{_shown(written)} cannot be played: the game is over\n{state}")
    if state.turn_bits == CHANCE:
        return _outcome(state, written)
    seats = acting(state.turn_bits)
    if len(seats) == 1:
        alone = written if isinstance(written, (str, int)) else written[0] if len(written) == 1 else None
        if alone is None:
            raise UsageError(f"{_shown(written)} is several actions, and {state.game.player_name(seats[0])} acts alone")
        return _action(state, seats[0], alone)
    entries = [part.strip() for part in written.split(",")] if isinstance(written, str) else written
    if isinstance(entries, int) or len(entries) != len(seats):
        example = ",".join(action_name(state, seat, state.legal(seat)[0]) for seat in seats)
        several = "; several moves are separate words" if isinstance(written, str) and " " in written.strip() else ""
        raise UsageError(
            f"{_shown(written)} is not one action each of {together(state.game, seats)}; write e.g. {example}{several}"
        )
    return tuple(_action(state, seat, entry) for seat, entry in zip(seats, entries, strict=True))


def play_moves(state: State, moves: Iterable[Written]) -> State:
    """Return the state after some moves; errors say which of them is wrong."""
    for number, written in enumerate(moves, start=1):
        try:
            state = state.step(read_move(state, written))[0]
        except UnknownNameError as error:
            raise error.placed(f"move {number}") from None
        except (UsageError, IllegalActionError) as error:
            raise type(error)(f"move {number}: {error}") from None
    return state


def move_name(state: State, move: Move) -> str:
    """Return what people call a move made at a state; `read_move` reads it back."""
    if state.turn_bits == CHANCE:
        assert isinstance(move, int)
        return state.game.outcome_name(move)
    actions = move if isinstance(move, tuple) else (move,)
    seats = acting(state.turn_bits)
    return ",".join(action_name(state, seat, action) for seat, action in zip(seats, actions, strict=True))


def action_name(state: State, seat: int, action: int) -> str:
    """Return what people call a legal action of a player at a state."""
    return state.game.move_name(state, seat, action)


def read_action(state: State, seat: int, text: str) -> int | None:
    """Return the legal action of a player that a text names, or None.

    It is read as the game prints it here, as it prints it anywhere, in any case if that is clear, or as it reads it.
    """
    game, legal = state.game, state.legal(seat)
    here = {action: action_name(state, seat, action) for action in legal}
    anywhere = {action: game.action_name(action) for action in legal}
    for same in (str, str.lower):
        for names in (here, anywhere):
            found = [action for action, name in names.items() if same(name) == same(text)]
            if len(found) == 1:
                return found[0]
    try:
        action = game.parse_action(text)
    except UsageError:
        return None
    return action if action in legal else None


def line_names(state: State, line: Iterable[Move]) -> list[str]:
    """Return the names of the moves of a line that begins at a state."""
    names = []
    for move in line:
        names.append(move_name(state, move))
        state = state.step(move)[0]
    return names


def possible_moves(state: State) -> list[list[str]]:
    """Return the names of what can happen at a state: a list per acting player, or one of outcomes."""
    if state.turn_bits == CHANCE:
        return [[state.game.outcome_name(outcome) for outcome, _ in _listed(state)]]
    return [[action_name(state, seat, a) for a in state.legal(seat)] for seat in acting(state.turn_bits)]


def _action(state: State, seat: int, written: str | int) -> int:
    game, legal = state.game, state.legal(seat)
    action = written if isinstance(written, int) else read_action(state, seat, written)
    if action in legal:
        assert action is not None
        return action
    names = [action_name(state, seat, action) for action in legal]
    if isinstance(written, str):
        try:
            game.parse_action(written)
        except UsageError:
            words = written.replace(",", " ").split()
            if len(words) > 1 and read_action(state, seat, words[0]) is not None:
                apart = shortened(" ".join(words))
                raise UsageError(
                    f"{_shown(written)} looks like several moves; write them as separate words: {apart}"
                ) from None
            raise UnknownNameError("action", written, names) from None
    who = game.player_name(seat)
    raise IllegalActionError(f"{_shown(written)} is not legal for {who}; legal: {', '.join(names)}\n{state}")


def _outcome(state: State, written: Written) -> int:
    game = state.game
    if not isinstance(written, (str, int)):
        written = written[0] if len(written) == 1 else ",".join(map(str, written))
    if isinstance(written, int):
        return written  # State.step evaluates it
    names = {game.outcome_name(outcome): outcome for outcome, _ in _listed(state)}
    if written in names:
        return names[written]
    if not game.has("chance") and written.isdecimal():  # only `draw` knows the outcomes
        return int(written)
    raise UnknownNameError("outcome", written, names)


def _listed(state: State) -> list[tuple[int, float]]:
    return state.outcomes() if state.game.has("chance") else []


def _shown(written: Written) -> str:
    return shown(written if isinstance(written, (str, int)) else list(written))
