"""Pins: knock down one pin or two neighbours in turn; who takes the last one wins."""

from typing import Any

import numpy as np

import anabranch as ab


class Pins(ab.CompiledGame):
    """A row of pins; an action below `pins` takes one, the others take two neighbours."""

    title = "pins"

    def __init__(self, pins: int = 7) -> None:
        self.pins, self.observation = pins, (pins,)
        self.players, self.actions, self.zero_sum = 2, 2 * pins - 1, True
        # self.returns = (-1.0, 1.0)  # the least and the most a player can get in all
        self.state = ab.record(fallen=(np.int8, pins), left=np.int8, mover=np.int8)

    def setup(self, state: Any, random: Any) -> None:
        state.left = self.pins

    def turn(self, state: Any) -> int:
        return ab.player(state.mover) if state.left else ab.OVER

    def legal(self, state: Any, player: int, actions: Any) -> int:
        count = 0
        for action in range(self.actions):
            pin, width = (action, 1) if action < self.pins else (action - self.pins, 2)
            if not state.fallen[pin] and not state.fallen[pin + width - 1]:
                actions[count], count = action, count + 1
        return count

    def step(self, state: Any, actions: Any, rewards: Any) -> None:
        mover, action = state.mover, actions[state.mover]
        pin, width = (action, 1) if action < self.pins else (action - self.pins, 2)
        state.fallen[pin], state.fallen[pin + width - 1] = 1, 1
        state.left, state.mover = state.left - width, 1 - mover
        if state.left == 0:
            rewards[mover], rewards[1 - mover] = 1.0, -1.0

    def observe(self, state: Any, player: int, planes: Any) -> None:
        planes[:] = 1 - state.fallen

    def text(self, state: ab.State) -> str:
        return "".join("." if fallen else "|" for fallen in state.fallen)

    def action_name(self, action: int) -> str:
        return f"{action + 1}" if action < self.pins else f"{action - self.pins + 1}-{action - self.pins + 2}"
