"""Exact solutions of finite games by dynamic programming: what every search should converge to."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from anabranch.errors import CycleError, UsageError
from anabranch.game.compiled import CompiledGame
from anabranch.game.game import Game
from anabranch.game.state import State
from anabranch.search.exact.backup import iterate, play, smallest_gap, value_from
from anabranch.search.exact.finite import FiniteGame, components, describe_loop, explore
from anabranch.search.exact.native import solve_natively
from anabranch.search.exact.progress import Progress, Teller
from anabranch.search.settings.arguments import checked_state

Floats = npt.NDArray[np.float64]

NO_VALUE = {
    True: "declare self.cycles = 'bootstrap' if such loops end by chance, and it is solved by iteration",
    False: "a fixed value for repetitions depends on the path, so a state alone has no value",
}


def solve(
    start: State | Game,
    max_states: int = 1_000_000,
    tolerance: float = 1e-12,
    *,
    progress: Callable[[Progress], None] | None = None,
) -> Solution:
    """Solve everything that can follow a state (or a game's first state) and return the exact values.

        over       V = 0
        chance     V = Σ_o p(o)·(r(o) + V(child))
        decision   V = r + γ·V(child) of the choice best for the player to move (max^n); the first one if several are
        together   two players, constant sum: V of the equilibrium of the table r + γ·V

    For one player that is the maximum, for two with opposite payoffs minimax. With more players, or payoffs that are
    not opposite, another tie rule may have another value. States are merged by their key. Values are doubles; rewards
    are taken as the game gives them (a search rounds them to float32).

    A game whose `cycles` are "bootstrap" is iterated, loop by loop, until no value of the loop changes by more than
    `tolerance` in a sweep, from 0: the limit of longer and longer games. Other cycles are a CycleError.

    Compiled games are solved by the engine, others in Python, which for players who choose at once needs scipy.
    `progress` is called with a Progress ten times a second or so, and at the end.
    """
    state = start.start() if isinstance(start, Game) else checked_state(start)
    _check(max_states, tolerance, progress)
    compiled = isinstance(state.game, CompiledGame) and state.game.compiled
    return (solved_natively if compiled else solved_in_python)(state, max_states, tolerance, Teller(progress))


def solved_natively(start: State, max_states: int, tolerance: float, teller: Teller) -> Solution:
    """Return the solution of a compiled game, by the engine."""
    finite, loop = solve_natively(start, max_states, tolerance, teller)
    if loop:
        raise cycle_error(finite, loop)
    return Solution(finite, finite.values, finite.gap)


def solved_in_python(start: State, max_states: int, tolerance: float, teller: Teller) -> Solution:
    """Return the solution of any game; slow, and what the engine's is held against."""
    finite = explore(start, max_states, teller)
    game, positions, count = finite.game, finite.positions, len(finite)
    values, solved = np.zeros((count, game.players)), 0
    for component in components(positions):
        first = component[0]
        beat = partial(teller.beat, count, count, solved)
        if len(component) == 1 and first not in positions[first].children:
            values[first] = value_from(game, positions[first], values)
        elif game.cycles == "bootstrap":
            iterate(game, positions, component, values, tolerance, beat)
        else:
            raise cycle_error(finite, component)
        solved += len(component)
        beat()
    teller.tell(count, count, solved)
    return Solution(finite, values, partial(smallest_gap, game, positions, values))


def cycle_error(finite: FiniteGame, component: list[int]) -> CycleError:
    """Return what is said of states that follow each other where such loops have no value."""
    return CycleError(f"{describe_loop(finite, set(component))}\n{NO_VALUE[finite.game.cycles is None]}")


def _check(max_states: Any, tolerance: Any, progress: Any) -> None:
    if not isinstance(max_states, int) or isinstance(max_states, bool) or max_states < 1:
        raise UsageError(f"max_states must be a whole number, at least 1, found {max_states!r}")
    if not isinstance(tolerance, (int, float)) or not tolerance >= 0.0:
        raise UsageError(f"tolerance must be a number, at least 0, found {tolerance!r}")
    if progress is not None and not callable(progress):
        raise UsageError(f"progress must be a function of one ab.solve Progress, found {progress!r}")


class Solution:
    """The exact values and best play of every state that can follow the one that was solved."""

    def __init__(self, finite: FiniteGame, values: Floats, gap: Callable[[], float]) -> None:
        self.game = finite.game
        self._finite, self._values, self._gap = finite, values, gap

    @property
    def states(self) -> int:
        """How many different states there are, game-over ones included."""
        return len(self._finite)

    @property
    def value(self) -> Floats:
        """What the start is worth to each player."""
        return np.array(self._values[0])

    def __contains__(self, state: State) -> bool:
        return state.game == self.game and self._finite.number_of(state) is not None

    def value_of(self, state: State) -> Floats:
        """Return what a state is worth to each player from here on."""
        return np.array(self._values[self._find(state)])

    def policy_of(self, state: State) -> dict[int, Floats]:
        """Return each acting player's best strategy, as probabilities over action ids.

        Where one player moves, all mass is on the first best choice (`best_of` lists them all); where two choose at
        once, it is an equilibrium. The mass of a choice is on its representative id.
        """
        position = self._finite.position(self._find(state))
        policy = {}
        _, strategies = play(self.game, position, self._values)
        for seat, choices, strategy in zip(position.seats, position.choices, strategies, strict=True):
            policy[seat] = np.zeros(self.game.actions)
            policy[seat][list(choices)] = strategy
        return policy

    def action_values_of(self, state: State) -> dict[int, Floats]:
        """Return what each acting player's choices are worth to that player, others playing `policy_of`.

        One array per acting player over action ids; NaN where an id is not the representative of a legal choice.
        """
        position = self._finite.position(self._find(state))
        cells, strategies = play(self.game, position, self._values)
        answer = {}
        for axis, (seat, choices) in enumerate(zip(position.seats, position.choices, strict=True)):
            worth = cells[..., seat]
            for other in reversed(range(len(position.seats))):  # from the last axis on, so that earlier ones stay put
                if other != axis:
                    worth = np.tensordot(worth, strategies[other], axes=(other, 0))
            answer[seat] = np.full(self.game.actions, np.nan)
            answer[seat][list(choices)] = worth
        return answer

    def best_of(self, state: State, within: float = 1e-9) -> dict[int, list[int]]:
        """Return, per acting player, the action ids that lose nothing (at most `within`) against `policy_of`."""
        best = {}
        for seat, worth in self.action_values_of(state).items():
            groups = state.choices(seat)
            best[seat] = sorted(
                a for choice in groups if worth[choice] >= np.nanmax(worth) - within for a in groups[choice]
            )
        return best

    def gap(self) -> float:
        """Return the smallest difference between two choices of one player who moves alone; 0 means a tie somewhere.

        Infinite if nobody ever moves alone with two choices. A positive gap makes max^n values unique.
        """
        return self._gap()

    def _find(self, state: State) -> int:
        if state.game != self.game:
            raise UsageError(f"this is a solution of {self.game!r}, the state belongs to {state.game!r}")
        number = self._finite.number_of(state)
        if number is None:
            raise UsageError(f"this state cannot follow the one that was solved:\n{state}")
        return number

    def __repr__(self) -> str:
        return f"<Solution of {self.game!r}: {self.states} states, value {self.value.tolist()}>"
