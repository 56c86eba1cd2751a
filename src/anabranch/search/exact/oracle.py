"""Oracles: who knows what every state of a game is worth, which choice is best, and what another one costs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from anabranch.errors import IllegalActionError, UsageError, shown
from anabranch.game.game import Game
from anabranch.game.state import State
from anabranch.game.words import acting
from anabranch.search.exact.solve import Solution, solve

Floats = npt.NDArray[np.float64]
EQUAL = 1e-9  # values nearer than this are the same: sums of the same numbers in another order


class Oracle(ABC):
    """Exact values of a game. What is left to ask is answered for the player who moves."""

    def __init__(self, game: Game) -> None:
        self.game = game

    @abstractmethod
    def values(self, state: State) -> Floats:
        """Return what a state is worth to each player from here on, at chance states too."""

    @abstractmethod
    def action_values(self, state: State) -> dict[int, float]:
        """Return what each choice of the player who moves is worth to it, by the id that stands for the choice."""

    def values_of(self, states: Sequence[State]) -> Floats:
        """Return what many states are worth, one row each."""
        return np.array([self.values(state) for state in states]).reshape(len(states), self.game.players)

    def best_of(self, states: Sequence[State]) -> list[int]:
        """Return the best choice in each of many states."""
        return [self.best(state) for state in states]

    def is_quick(self, state: State) -> bool:
        """Whether a state is answered at once, where an oracle must search for its answers."""
        del state
        return True

    def value(self, state: State) -> float:
        """Return what a state is worth to the player who moves; at chance states and at the end, to the first one."""
        return float(self.values(state)[(acting(state.turn_bits) or (0,))[0]])

    def best(self, state: State) -> int:
        """Return the id of the best choice, the lowest of those that are equally good."""
        return self.best_actions(state)[0]

    def best_actions(self, state: State, within: float = EQUAL) -> list[int]:
        """Return all ids that lose nothing, or at most `within`."""
        worth = self.action_values(state)
        most = max(worth.values())
        groups = state.choices(self.mover(state))
        return sorted(action for choice in groups if worth[choice] >= most - within for action in groups[choice])

    def regret(self, state: State, action: int) -> float:
        """Return what an action costs the player who moves: how much less it is worth than the best one; never < 0."""
        seat = self.mover(state)
        if action not in state.legal(seat):
            raise IllegalActionError(f"action {action} is not legal; legal: {state.legal(seat)}\n{state}")
        worth = self.action_values(state)
        return max(worth.values()) - worth[self.game.rules.same(state.data, seat, action)]

    def mover(self, state: State) -> int:
        """Return who moves; there must be one."""
        if state.game != self.game:
            raise UsageError(f"this is an oracle of {self.game!r}, the state belongs to {state.game!r}")
        seats = acting(state.turn_bits)
        if len(seats) != 1:
            raise UsageError(f"an oracle is asked about choices where one player moves, not about\n{state}")
        return seats[0]


class SolvedOracle(Oracle):
    """All states that can follow one, by `ab.solve`."""

    def __init__(self, solution: Solution) -> None:
        super().__init__(solution.game)
        self.solution = solution

    def values(self, state: State) -> Floats:
        return self.solution.value_of(state)

    def action_values(self, state: State) -> dict[int, float]:
        seat = self.mover(state)
        worth = self.solution.action_values_of(state)[seat]
        return {choice: float(worth[choice]) for choice in state.choices(seat)}

    def __repr__(self) -> str:
        return f"<oracle of {self.game}: {self.solution.states:,} states>"


def oracle(
    game: Game | State | str,
    *,
    max_states: int = 1_000_000,
    progress: Callable[[Any], None] | None = None,
    threads: int | None = None,
    goal: str | None = None,
) -> Oracle:
    """Return the oracle of a game, or of all that can follow a state.

    Yatzy and Yahtzee for points have a solver of their own, whose values are kept in the cache folder; `goal="points"`
    takes it for two who play to win, too, as players who mind their points alone. So have connect four on 6 by 7 cells,
    from ply 4 on, and Othello's endings, from 18 empty cells on, both for win, draw or loss; positions before that are
    refused when they are asked about. Other games are solved by `ab.solve`, up to `max_states`. `progress` is called
    now and then with something that prints what it has come to.
    """
    if isinstance(game, str):
        from anabranch.games import load

        game = load(game)
    if not isinstance(game, (Game, State)):
        raise UsageError(f"an oracle is of a game, its name or a state, found {shown(game)}")
    if goal not in (None, "points"):
        raise UsageError(f"goal is 'points' or nothing, found {shown(goal)}")
    rules = game.game if isinstance(game, State) else game
    own = own_oracle(rules, threads=threads, progress=progress, goal=goal)
    if own is not None:
        return own
    if goal is not None:
        raise UsageError(f"{rules.name} has no oracle with a goal of its own; leave goal out")
    return SolvedOracle(solve(game, max_states, progress=progress))


def own_oracle(
    game: Game,
    *,
    progress: Callable[[Any], None] | None = None,
    threads: int | None = None,
    goal: str | None = None,
) -> Oracle | None:
    """Return the oracle that was written for a family of games; None for games that only `ab.solve` may know."""
    from anabranch.games.othello import Othello
    from anabranch.search.exact.connect_four_oracle import ConnectFourOracle, is_known
    from anabranch.search.exact.othello_oracle import OthelloOracle
    from anabranch.search.exact.turn_oracle import TurnOracle, counts_points

    if counts_points(game, goal):
        return TurnOracle(game, threads=threads, progress=progress, goal=goal)
    if goal is None and is_known(game):
        return ConnectFourOracle(game)
    if goal is None and isinstance(game, Othello):
        return OthelloOracle(game)
    return None
