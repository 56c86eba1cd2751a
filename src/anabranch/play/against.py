"""A game against players who are known: their choices are chance, and one player is left."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from anabranch.errors import UsageError
from anabranch.evaluate.batch import Batch, Evaluator
from anabranch.game.objects import ObjectGame
from anabranch.game.random import Random
from anabranch.game.state import State
from anabranch.game.words import CHANCE, OVER, acting, as_row, player
from anabranch.play.strategies import Strategy, checked_policy
from anabranch.search.exact.response import View

Floats = npt.NDArray[np.float64]
Data = tuple[Any, int | None]  # the inner game's state, and what the seat has chosen where others choose with it
WAIT = 0


class Against(ObjectGame):
    """What one seat of a game faces when the strategy of all others is known.

    Where only others act, chance draws their choices; where they choose together with the seat, it chooses first and
    chance draws theirs without looking. One decision stays one decision, so that a discount γ counts the same: with
    one, the seat waits, its only choice, where others act alone; and what is paid after others chose, one decision
    late, is paid divided by γ. Its player 0 is the seat and gets what the seat gets; in the view "difference", half of
    what it gets more than the other.
    """

    title = "against"

    def __init__(self, start: State, strategy: Strategy, seat: int, view: View = "own") -> None:
        game = start.game
        if game.has("draw") and not game.has("chance"):
            raise UsageError(f"{game.name} only draws from its chances; a best response needs their list, `chance`")
        if game.discount == 0.0:
            raise UsageError(f"{game.name} has a discount of 0: nothing that follows a choice is worth anything")
        self.start_state, self.strategy, self.seat, self.view = start, strategy, seat, view
        self.inner = game
        self.players, self.actions = 1, game.actions
        low, high = game.returns
        reach = (high - low) / 2.0
        self.returns = (low, high) if view == "own" else (-reach, reach)
        self.rewards_along, self.discount, self.cycles = game.rewards_along, game.discount, game.cycles
        self._known: dict[Any, list[tuple[tuple[int, ...], float]]] = {}

    def setup(self, random: Random) -> Data:
        return self.start_state.data, None

    def turn(self, state: Data) -> int:
        data, chosen = state
        turn = self.inner.rules.turn(data)
        if turn in (OVER, CHANCE) or chosen is not None:
            return OVER if turn == OVER else CHANCE
        return player(0) if self.seat in acting(turn) or self.discount != 1.0 else CHANCE

    def legal(self, state: Data, player: int) -> list[int]:
        seats = acting(self.inner.rules.turn(state[0]))
        return self.inner.rules.legal(state[0], self.seat) if self.seat in seats else [WAIT]

    def same(self, state: Data, player: int, action: int) -> int:
        seats = acting(self.inner.rules.turn(state[0]))
        return self.inner.rules.same(state[0], self.seat, action) if self.seat in seats else action

    def chance(self, state: Data) -> list[tuple[int, float]]:
        if self.inner.rules.turn(state[0]) == CHANCE:
            return self.inner.rules.chance(state[0])
        return [(number, chance) for number, (_, chance) in enumerate(self.replies(state[0]))]

    def step(self, state: Data, actions: Sequence[int]) -> tuple[Data, list[float]]:
        data, chosen = state
        seats = acting(self.inner.rules.turn(data))
        if not seats:  # the inner game's dice
            return self._stepped(data, as_row(self.inner.players, (0,), actions), 1.0)
        if chosen is None and self.turn(state) != CHANCE and seats != (self.seat,):
            return (data, int(actions[0])), [0.0]
        others = tuple(seat for seat in seats if seat != self.seat)
        replies = self.replies(data)[actions[0]][0] if others else ()
        mine = (actions[0] if chosen is None else chosen,) if self.seat in seats else ()
        row = as_row(self.inner.players, (*others, *(self.seat,) * len(mine)), (*replies, *mine))
        return self._stepped(data, row, 1.0 if chosen is None else self.discount)

    def key(self, state: Data) -> Any:
        return self.inner.rules.key(state[0]), state[1]

    def replies(self, data: Any) -> list[tuple[tuple[int, ...], float]]:
        """Return what the others may choose together in a state, with its probability; asked once for each state."""
        state = State(self.inner, data)
        key = state.key
        if key not in self._known:
            others = [seat for seat in acting(state.turn_bits) if seat != self.seat]
            [policy] = self.strategy([state])
            choices = [list(state.choices(seat)) for seat in others]
            chances = [checked_policy(policy, state, seat, ids) for seat, ids in zip(others, choices, strict=True)]
            joint = [
                (ids, math.prod(float(chances[axis][choices[axis].index(action)]) for axis, action in enumerate(ids)))
                for ids in itertools.product(*choices)
            ]
            possible = [(ids, chance) for ids, chance in joint if chance > 0.0]
            total = math.fsum(chance for _, chance in possible)
            self._known[key] = [(ids, chance / total) for ids, chance in possible]
        return self._known[key]

    def worth(self, values: Sequence[float] | Floats) -> float:
        """Return what the inner game's values are worth to the seat."""
        own = float(values[self.seat])
        return own if self.view == "own" else 0.5 * (own - float(values[1 - self.seat]))

    def text(self, state: State) -> str:
        return self.inner.text(State(self.inner, state.data[0]))

    def move_name(self, state: State, player: int, action: int) -> str:
        inner = State(self.inner, state.data[0])
        waits = self.seat not in acting(inner.turn_bits)
        return "wait" if waits else self.inner.move_name(inner, self.seat, action)

    def _stepped(self, data: Any, row: Sequence[int], late: float) -> tuple[Data, list[float]]:
        following, rewards = self.inner.rules.step(data, row)
        return (following, None), [self.worth(rewards) / late]


class BoundedAgainst(Against):
    """The same for a game that knows bounds of what is left."""

    def bounds(self, state: Data) -> tuple[list[float], list[float]]:
        low, high = self.inner.rules.bounds(state[0])
        late = 1.0 if state[1] is None else self.discount
        if self.view == "own":
            return [low[self.seat] / late], [high[self.seat] / late]
        other = 1 - self.seat
        return [0.5 * (low[self.seat] - high[other]) / late], [0.5 * (high[self.seat] - low[other]) / late]


def against(start: State, strategy: Strategy, seat: int, view: View) -> Against:
    """Return the game that a seat faces."""
    kind = BoundedAgainst if start.game.has("bounds") else Against
    made: Against = kind(start, strategy, seat, view)
    return made


@dataclass(frozen=True)
class InnerEvaluator:
    """Evaluates positions of a game against known players by an evaluator of the game itself.

    Rollouts that played on against a player who searches would search at every step; those of the game itself do not.
    """

    evaluator: Evaluator

    def evaluate(self, batch: Batch) -> tuple[Floats | None, Floats]:
        """Return the inner game's logits of the seat, and what its values are worth to it."""
        game = batch.game
        assert isinstance(game, Against)
        inner = Batch([State(game.inner, state.data[0]) for state in batch.states], batch.keys, batch.seeds)
        logits, values = self.evaluator.evaluate(inner)
        worth = np.array([[game.worth(row)] for row in np.asarray(values, np.float64)])
        if logits is None:
            return None, worth
        rows = np.asarray(logits)
        return (rows[:, game.seat] if rows.ndim == 3 else rows), worth
