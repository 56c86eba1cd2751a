"""Strategies in one form, whatever they were given as: states in, probabilities of every acting player out.

A kind of strategy is a function of many states at once, so that an agent that searches can search them abreast.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from anabranch.errors import UsageError, shown
from anabranch.game.game import Game
from anabranch.game.state import State
from anabranch.play.agent import Turn, check_agents, name_of
from anabranch.play.graph_strategy import GraphStrategy, holds_graph
from anabranch.play.names import agent_by_name
from anabranch.play.search_agent import SearchAgent
from anabranch.search.exact.response import View
from anabranch.search.exact.solve import Solution
from anabranch.search.maths.policies import tempered
from anabranch.search.results.move_rules import move_policy

Floats = npt.NDArray[np.float64]
Policies: TypeAlias = list[dict[int, Any]]  # per state: acting player → probabilities over action ids
Strategy: TypeAlias = Callable[[Sequence[State]], Policies]

SUM = 1e-6  # how far from 1 probabilities may add up
WANTED = (
    "a strategy is a function or mapping from a state to {player: probabilities over action ids}, an ab.Solution, an "
    "agent or its name, what a search left (ab.Result, ab.Root, ab.Reference), or a list of those, one per seat"
)


def as_strategy(given: Any, game: Game, *, seed: int = 0) -> Strategy:
    """Return a strategy for all seats of a game; agents choose with the random numbers of `seed`."""
    if isinstance(given, (list, tuple)):
        if len(given) != game.players:
            raise UsageError(f"{game.name} has {game.players} seats, found {len(given)} strategies; give one per seat")
        return _by_seat([as_strategy(one, game, seed=seed) for one in given])
    if isinstance(given, str):
        given = agent_by_name(given, game)
    if isinstance(given, type):
        raise UsageError(f"{given.__name__} is a class; a strategy is one of its instances: {given.__name__}(…)")
    if isinstance(given, Solution):
        return lambda states: [given.policy_of(state) for state in states]
    if holds_graph(given):
        return GraphStrategy(given, game)
    if callable(getattr(given, "choose", None)):
        check_agents([given], game)
        return _of_agent(given, seed)
    if isinstance(given, Mapping):
        return lambda states: [_looked_up(given, state) for state in states]
    if callable(given):
        return lambda states: [given(state) for state in states]
    raise UsageError(f"{WANTED}; found {shown(given)}")


def checked_view(view: Any, game: Game) -> View:
    """Return what players maximise; None is the difference for two, their own returns for more."""
    if view not in (None, "difference", "own"):
        raise UsageError(f"view is 'difference' or 'own', found {view!r}")
    if view == "difference" and game.players != 2:
        raise UsageError(f"the view 'difference' is for two players, {game.name} has {game.players}; use view='own'")
    chosen: View = view or ("difference" if game.players == 2 else "own")
    return chosen


def checked_policy(policy: Any, state: State, seat: int, choices: Sequence[int]) -> Floats:
    """Return one player's probabilities over its choices; ids that do the same are added up."""
    who = f"the strategy of {state.game.player_name(seat)}"
    if not isinstance(policy, Mapping):
        raise UsageError(f"{WANTED}; for a state it gave {shown(policy)}\n{state}")
    if seat not in policy:
        if len(choices) == 1:
            return np.ones(1)
        raise UsageError(f"{who} is missing in this state; the strategy has players {sorted(policy)}\n{state}")
    chances = _row(policy[seat], state.game.actions, who, state)
    groups = state.choices(seat)
    strategy = np.array([sum(chances[action] for action in groups[choice]) for choice in choices])
    total = float(chances.sum())
    if not (np.isfinite(chances).all() and (chances >= 0.0).all() and abs(total - 1.0) <= SUM):
        raise UsageError(f"{who} must be probabilities that add up to 1, found {chances.tolist()}\n{state}")
    if abs(float(strategy.sum()) - total) > SUM:
        legal = state.legal(seat)
        illegal = [action for action in np.flatnonzero(chances).tolist() if action not in legal]
        raise UsageError(f"{who} plays {illegal}, but legal are {legal}\n{state}")
    return np.asarray(strategy / strategy.sum())


def _row(given: Any, actions: int, who: str, state: State) -> Floats:
    """Return probabilities over all action ids, from an array of them or a mapping from id to probability."""
    row = np.zeros(actions)
    try:
        if isinstance(given, Mapping):
            for action, chance in given.items():
                row[action] = chance
        else:
            row[:] = np.asarray(given, np.float64).reshape(actions)
    except (TypeError, ValueError, IndexError):
        raise UsageError(
            f"{who} is an array of {actions} probabilities, one per action id, or a mapping from ids to them; found "
            f"{shown(given)}\n{state}"
        ) from None
    return row


def _by_seat(strategies: Sequence[Strategy]) -> Strategy:
    def together(states: Sequence[State]) -> Policies:
        made: Policies = [{} for _ in states]
        for seat, strategy in enumerate(strategies):
            asked = [number for number, state in enumerate(states) if seat in _seats(state)]
            for number, policy in zip(asked, strategy([states[number] for number in asked]), strict=True):
                if isinstance(policy, Mapping) and seat in policy:
                    made[number][seat] = policy[seat]
        return made

    return together


def _looked_up(mapping: Mapping[Any, Any], state: State) -> Any:
    try:
        return mapping[state]
    except KeyError:
        raise UsageError(f"the strategy does not have this state, which can be reached:\n{state}") from None


def _of_agent(agent: Any, seed: int) -> Strategy:
    """Return an agent's strategy: with which probability it chooses what."""
    chances = _chances_of(agent)

    def strategy(states: Sequence[State]) -> Policies:
        turns = [Turn(state, seat, seed) for state in states for seat in _seats(state)]
        given = iter(chances(turns))
        return [{seat: next(given) for seat in _seats(state)} for state in states]

    return strategy


def _chances_of(agent: Any) -> Callable[[Sequence[Turn]], Sequence[Any]]:
    """Return the function that tells with which probabilities an agent chooses at turns."""
    told = getattr(agent, "probabilities", None)
    if callable(told):
        answer: Callable[[Sequence[Turn]], Sequence[Any]] = told
        return answer
    if isinstance(agent, SearchAgent):
        if agent.keep != "nothing":
            raise UsageError(
                f"{agent.name} keeps what it found (keep={agent.keep!r}), so it chooses by the game so far; "
                "a strategy chooses by the state alone. Use keep='nothing'"
            )
        if agent.budget["seconds"] is not None:
            raise UsageError(f"{agent.name} searches for a time and finds something else every time; give simulations")
        return lambda turns: _searched(agent, turns)
    raise UsageError(
        f"nothing says with which probabilities {name_of(agent)} chooses; give it a method probabilities(turns), which "
        "returns one array over action ids per turn"
    )


def _searched(agent: SearchAgent, turns: Sequence[Turn]) -> list[Floats]:
    """Return what an agent draws its choices from after searching; states where several choose are searched once."""
    found: dict[Any, Turn] = {}
    for turn in turns:
        found.setdefault(turn.state.key, turn)
    results = dict(zip(found, agent.afresh(list(found.values())), strict=True))
    return [_drawn_from(agent, turn, results[turn.state.key]) for turn in turns]


def _drawn_from(agent: SearchAgent, turn: Turn, result: Any) -> Floats:
    alone = turn.state.turn == (turn.seat,)
    chances = move_policy(result, turn.seat, agent.rule if alone else "visits")
    return np.array(tempered(chances.tolist(), agent.temperature if alone else agent.mixing(result)))


def _seats(state: State) -> tuple[int, ...]:
    turn = state.turn
    return turn if isinstance(turn, tuple) else ()
