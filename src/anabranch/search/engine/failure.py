"""What went wrong in a game while it was searched: the user's own exception, with the line of play that led there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn, TypeVar

import numpy as np

from anabranch import _native
from anabranch.errors import CycleError, GameError, MismatchError, UsageError
from anabranch.evaluate.native import checked_rollout_action
from anabranch.game.game import Game
from anabranch.game.random import Random
from anabranch.game.state import State
from anabranch.search.settings.config import MatrixGame

Answer = TypeVar("Answer")


def reported(root: State, call: Callable[..., Answer], *arguments: Any, doing: str = "searching") -> Answer:
    """Call the engine; where a verb of the game fails in it, raise what the verb raised."""
    failure = None
    try:
        answer = call(*arguments)
    except _native.SearchFailed as failed:
        failure = failed.args[0]
    if failure is not None:  # raised outside of the handler: our exception is no context of the user's
        raise_failure(failure, root, doing)
    return answer


def endless(game: Game) -> str:
    """Return what is said of dice that lead to dice for ever."""
    return (
        f"{game.name}: a line of play came to 100,000 states without an end or a decision to evaluate; dice that lead "
        f"to dice for ever?"
    )


def too_many_players(game: Game, selector: object, most: int, acting: int, state: object) -> str:
    """Return what is said where more players choose at once than a selector knows."""
    return (
        f"{game.name}: ab.{type(selector).__name__} selects for at most {most} players at once, and {acting} act here; "
        f"use ab.RegretMatching. The state:\n{state}"
    )


def raise_failure(failure: dict[str, Any], root: State, doing: str = "searching") -> NoReturn:
    """Raise what an engine's report tells of; the exception gets a note with the line of play."""
    game, state = root.game, failure["state"]
    line = spelled(failure["line"])
    note = f"while {doing} {game.name}; actions from the root: {line}"
    if failure["cause"] == "cycle":
        raise CycleError(
            f"{game.name} came back to a state of the same line of play, but declares no cycles. Set self.cycles = "
            f"'bootstrap' or a number in __init__, or put what differs into the state. Actions from the root: {line}"
        )
    if failure["cause"] == "endless":
        raise CycleError(endless(game))
    if failure["cause"] == "too_many_players":
        here = State(game, state)
        acting = here.turn
        assert isinstance(acting, tuple)
        raise UsageError(too_many_players(game, MatrixGame(), 2, len(acting), here))
    if failure["cause"] == "too_many_choices":
        raise GameError(f"{game.name}: the joint choices of the acting players do not fit into 32 bits; {note}")
    try:
        if failure["exception"] is not None:
            raise failure["exception"]
        _repeat(game, failure, state)
    except BaseException as error:
        error.add_note(note)
        raise
    raise MismatchError(
        f"{game.name}: {failure['verb']} failed inside the engine, but not when it was called again on the same state; "
        f"rules must be functions of their state alone. {note}"
    )


def spelled(line: Iterable[Sequence[int]]) -> str:
    """Write a line of play: an id per move, a tuple where players moved at once."""
    moves = [str(row[0]) if len(row) == 1 else str(tuple(row)) for row in line]
    return " ".join(moves) or "none, at the root"


def _repeat(game: Game, failure: dict[str, Any], state: Any) -> None:
    """Call the verb that failed once more, interpreted if it was compiled, so that it raises here."""
    rules, verb = game.rules, failure["verb"]
    if verb == "step":
        rules.step(state, failure["actions"])
    elif verb == "legal":
        if not rules.legal(state, failure["player"]):
            raise GameError(
                f"{game.name}: acting player {failure['player']} has no legal action in\n{State(game, state)}"
            )
    elif verb == "same":
        stands = rules.same(state, failure["player"], failure["action"])
        if not 0 <= stands < game.actions:
            raise GameError(f"{game.name}: same returned {stands}, but ids are below {game.actions}")
    elif verb == "draw":
        rules.draw(state, Random(failure["random"]))
    elif verb == "rollout_action":
        checked_rollout_action(State(game, state), failure["player"], Random(failure["random"]))
    elif verb == "bounds":
        low, high = rules.bounds(state)
        if not np.isfinite([low, high]).all():
            raise GameError(f"{game.name}: bounds must be finite, found {low}, {high}")
    else:
        getattr(rules, verb)(state)
