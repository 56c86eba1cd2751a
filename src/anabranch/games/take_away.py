"""Take-away: take stones from a heap in turn; who takes the last one wins."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

import anabranch as ab
from anabranch.draw.pieces import heap
from anabranch.errors import UsageError
from anabranch.game.parameters import whole

EXAMPLE = "9 left, player 1 to move"
LEFT = re.compile(r"(?P<stones>[0-9]{1,10}) left, player (?:(?P<mover>[01]) to move|(?P<winner>[01]) has won)")
DIGITS = 31  # the same for every heap, so that all heaps share one compilation


class TakeAway(ab.CompiledGame):
    """Take 1 to `most` of the stones in turn; who takes the last one wins.

    Action a takes a + 1 stones. The player to move loses exactly when most + 1 divides the stones left: whatever k is
    taken from such a heap, the reply most + 1 − k leaves another one.
    """

    title = "take_away"
    zero_sum = True

    def __init__(self, stones: int = 21, most: int = 3) -> None:
        self.stones = whole("stones", stones, 1, 2**DIGITS - 1)
        self.players, self.actions = 2, whole("most", most, 1, 2**31 - 1)
        self.observation = (DIGITS,)  # the stones left in binary, lowest digit first
        self.state = ab.record(stones=np.int32, mover=np.int8)

    def setup(self, state: Any, random: Any) -> None:
        state.stones = self.stones

    def turn(self, state: Any) -> int:
        return ab.OVER if state.stones == 0 else ab.player(state.mover)

    def legal(self, state: Any, player: int, actions: Any) -> int:
        count: int = min(self.actions, state.stones)
        for action in range(count):
            actions[action] = action
        return count

    def step(self, state: Any, actions: Any, rewards: Any) -> None:
        mover = state.mover
        state.stones -= actions[mover] + 1
        state.mover = 1 - mover
        if state.stones == 0:
            rewards[mover], rewards[1 - mover] = 1.0, -1.0

    def observe(self, state: Any, player: int, planes: Any) -> None:
        for digit in range(DIGITS):
            planes[digit] = state.stones >> digit & 1

    def action_name(self, action: int) -> str:
        """Return how many stones are taken."""
        return str(action + 1)

    def text(self, state: ab.State) -> str:
        """Draw the heap, up to sixty stones of it."""
        heap = "o" * min(state.stones, 60) + "…" * (state.stones > 60)
        turn = f"player {1 - state.mover} has won" if state.over else f"player {state.mover} to move"
        return f"{heap}\n{state.stones} left, {turn}"

    def read(self, text: str) -> ab.State:
        """Read `9 left, player 1 to move`, with the heap above it or not."""
        found = LEFT.search(text.lower())
        if not found:
            raise UsageError(f"take_away: write how many stones are left and who moves, e.g. {EXAMPLE}")
        stones, winner = int(found["stones"]), found["winner"]
        if stones > 2**DIGITS - 1:
            raise UsageError(f"take_away: {found[0]!r}: there are at most {2**DIGITS - 1:,} stones")
        if (stones == 0) != (winner is not None):
            raise UsageError(f"take_away: {found[0]!r} is no position; somebody has won when 0 are left, and only then")
        return self.start().replace(stones=stones, mover=1 - int(winner) if winner else int(found["mover"]))

    def svg(self, state: ab.State) -> str:
        """Draw the heap."""
        return heap(int(state.stones))
