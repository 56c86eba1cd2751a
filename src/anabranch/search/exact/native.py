"""Compiled games solved by the engine: states and values stay in its memory, and are looked up there."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from anabranch import _native
from anabranch.game.game import Game
from anabranch.game.state import State
from anabranch.search.engine.failure import reported
from anabranch.search.engine.native import NO_LIMIT, native_rules
from anabranch.search.exact.backup import SWEEPS, play, unsettled
from anabranch.search.exact.finite import Position, position_of, too_many_states
from anabranch.search.exact.progress import Teller

Floats = npt.NDArray[np.float64]


class NativeGame:
    """A FiniteGame in the engine's memory."""

    def __init__(self, start: State, max_states: int, tolerance: float) -> None:
        self._asked = start, max_states, tolerance
        self.native = reported(start, _native.FiniteGame, native_rules(start.game), start.data, doing="solving")

    @property
    def game(self) -> Game:
        return self._asked[0].game

    @property
    def values(self) -> Floats:
        """[state, player], read only."""
        return self.native.values

    def __len__(self) -> int:
        return self.native.states

    def number_of(self, state: State) -> int | None:
        return self.native.find(state.key)

    def state(self, number: int) -> State:
        return State(self.game, self.native.state(number))

    def position(self, number: int) -> Position:
        position = position_of(self.state(number))
        position.children, position.rewards = self.native.edges(number)
        return position

    def gap(self) -> float:
        return self.native.gap()

    def __reduce__(self) -> tuple[Any, ...]:
        return _solved_again, self._asked


def explore_natively(start: State, max_states: int, tolerance: float, teller: Teller) -> NativeGame:
    """Find every state that can follow; none has its value yet."""
    finite = NativeGame(start, max_states, tolerance)
    native = finite.native
    if not reported(start, native.explore, min(max_states, NO_LIMIT), teller.tell, doing="solving"):
        raise too_many_states(start.game, max_states, native.expanded, native.bytes // native.states)
    return finite


def solve_natively(start: State, max_states: int, tolerance: float, teller: Teller) -> tuple[NativeGame, list[int]]:
    """Return every state with its value; or states that follow each other, where such loops have no value."""
    finite = explore_natively(start, max_states, tolerance, teller)
    game, native = start.game, finite.native
    iterated = game.cycles == "bootstrap"
    ended, where = native.solve(game.discount, iterated, tolerance, SWEEPS, teller.tell)
    if ended == "loop":
        return finite, where
    if ended == "unsettled":
        raise unsettled(game, len(where))
    if ended == "not_opposed":
        play(game, finite.position(where[0]), finite.values)  # which says so
    assert ended == "solved", ended
    teller.tell(len(finite), len(finite), len(finite))
    return finite, []


def _solved_again(start: State, max_states: int, tolerance: float) -> NativeGame:
    """Unpickle: a solution travels as what was asked, and is found again in less time than it takes to send."""
    return solve_natively(start, max_states, tolerance, Teller(None))[0]
