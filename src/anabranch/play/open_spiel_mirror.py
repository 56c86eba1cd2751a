"""Follow a game on both boards: ours, whichever way its rules are written, and OpenSpiel's.

A game from the adapter (`open_spiel:NAME`) is OpenSpiel's own. Games with rules of our own have a twin there, listed
below; all of them number actions and outcomes as OpenSpiel does, which `tests/golden` compares on 10^5 random plies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anabranch.errors import UsageError
from anabranch.game.game import Game
from anabranch.game.state import State
from anabranch.games import load
from anabranch.games.open_spiel import OpenSpiel, Position
from anabranch.games.open_spiel_load import pyspiel_module

Move = int | tuple[int, ...]
FOR_EVER = 10**6  # moves after which OpenSpiel's Pig ends in a draw; ours does not
LONG = 1000  # OpenSpiel's own limit, which no game of Pig between players who want to win comes near
_PRIZES = ("ascending", "descending", "random")
_PAYS = {"win": "win_loss", "points": "total_points"}
SYMMETRIC = frozenset({"goofspiel"})  # all seats alike: relabelled seats give the same game


def twin_of(game: Game) -> Any:
    """Return OpenSpiel's game with the same rules and the same numbers for actions, outcomes and seats."""
    if isinstance(game, OpenSpiel):
        return game.spiel_game
    made: Any = game
    name, parameters = game.name, {}
    if name == "connect_four":
        parameters = {"rows": made.rows, "columns": made.columns, "x_in_row": made.line}
    elif name == "pig":
        parameters = {
            "winscore": made.target,
            "diceoutcomes": made.outcomes,
            "players": made.players,
            "horizon": FOR_EVER,
        }
    elif name == "goofspiel" and made.scheme in (0, 2):
        parameters = {
            "num_cards": made.cards,
            "points_order": _PRIZES[made.order],
            "players": made.players,
            "returns_type": "win_loss" if made.scheme == 0 else "total_points",
            "imp_info": False,
        }
    elif name not in ("tic_tac_toe", "othello"):
        raise UsageError(
            f"OpenSpiel has no game with the rules and numbers of {game}; its players play open_spiel:NAME, "
            f"tic_tac_toe, connect_four, othello, pig, and goofspiel with rewards 'win' or 'points'"
        )
    return pyspiel_module().load_game(name, parameters)


def ours_of(spiel: Any) -> Game:
    """Return the game to search for one of OpenSpiel's: the native twin where there is one, else the adapter."""
    name, given = spiel.get_type().short_name, dict(spiel.get_parameters())
    if name in ("tic_tac_toe", "othello"):
        return load(name)
    if name == "connect_four" and (given.get("rows", 6) + 1) * given.get("columns", 7) <= 63:
        return load(name, rows=given.get("rows", 6), columns=given.get("columns", 7), line=given.get("x_in_row", 4))
    if name == "pig" and given.get("horizon", LONG) >= LONG and not given.get("piglet", False):
        return load(
            name,
            target=given.get("winscore", 100),
            sides=given.get("diceoutcomes", 6),
            players=given.get("players", 2),
        )
    pays = {theirs: ours for ours, theirs in _PAYS.items()}.get(given.get("returns_type", "win_loss"))
    if name == "goofspiel" and pays and not given.get("imp_info", False) and given.get("num_turns", -1) == -1:
        return load(
            name,
            cards=given.get("num_cards", 13),
            prizes=given.get("points_order", "random"),
            players=given.get("players", 2),
            rewards=pays,
        )
    return load(f"open_spiel:{spiel}")


def their_state(spiel: Any, state: State, moves: Sequence[Move], start: State | None, first: int = 0) -> Any:
    """Return OpenSpiel's state for a state of ours, by playing the same moves there.

    `spiel` is the twin, or the twin with simultaneous choices made one after another (`convert_to_turn_based`). With
    `first`, seats are relabelled so that this one is number 0; only a game in SYMMETRIC stays the same game then.
    """
    turned = spiel.get_type().short_name == "turn_based_simultaneous_game"
    if isinstance(state.game, OpenSpiel) and not turned:
        return state.data.spiel.clone()
    if isinstance(state.game, OpenSpiel):
        return _replayed(spiel.new_initial_state(), _joint_moves(state.data), first)
    if start is None or start != start.game.start():
        raise UsageError(
            f"{state.game.name}: an OpenSpiel player follows a game from its first state, not from a position that is "
            f"given; it must be told the start and all moves since (a match does)"
        )
    return _replayed(spiel.new_initial_state(), moves, first)


def our_state(game: Game, spiel_state: Any) -> State:
    """Return our state for a state of OpenSpiel's, by playing the same moves here."""
    if isinstance(game, OpenSpiel):
        return State(game, Position(spiel_state.clone(), tuple(spiel_state.history())))
    state, history = game.start(), spiel_state.history()
    at = 0
    while at < len(history):
        count = 1 if isinstance(state.turn, int) else len(state.turn)
        state, _ = state.step(tuple(history[at : at + count]) if count > 1 else history[at])
        at += count
    return state


def _replayed(state: Any, moves: Sequence[Move], first: int) -> Any:
    for move in moves:
        if not isinstance(move, tuple):
            state.apply_action(move)
            continue
        seats = [*move[first:], *move[:first]]
        if state.is_simultaneous_node():
            state.apply_actions(seats)
        else:
            for action in seats:
                state.apply_action(action)
    return state


def _joint_moves(position: Position) -> list[Move]:
    """Return the moves behind a position of the adapter, with the choices that were made at once together."""
    state, history, at = position.spiel.get_game().new_initial_state(), position.history, 0
    moves: list[Move] = []
    while at < len(history):
        if state.is_simultaneous_node():
            joint = history[at : at + state.num_players()]
            state.apply_actions(joint)
            moves.append(joint)
            at += len(joint)
        else:
            state.apply_action(history[at])
            moves.append(history[at])
            at += 1
    return moves
