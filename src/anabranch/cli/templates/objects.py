"""Pins: knock down one pin or two neighbours in turn; who takes the last one wins."""

from collections.abc import Sequence
from typing import NamedTuple

import anabranch as ab


class Row(NamedTuple):
    """A state: anything immutable that can be hashed and compared."""

    pins: str  # "|" stands, "." has fallen
    mover: int


class Pins(ab.ObjectGame):
    """A row of pins; an action below `pins` takes one, the others take two neighbours."""

    title = "pins"

    def __init__(self, pins: int = 7) -> None:
        self.pins, self.observation = pins, (pins,)
        self.players, self.actions, self.zero_sum = 2, 2 * pins - 1, True
        # self.returns = (-1.0, 1.0)  # the least and the most a player can get in all

    def setup(self, random: ab.Random) -> Row:
        return Row("|" * self.pins, 0)

    def turn(self, state: Row) -> int:
        return ab.player(state.mover) if "|" in state.pins else ab.OVER

    def legal(self, state: Row, player: int) -> list[int]:
        one = [pin for pin in range(self.pins) if state.pins[pin] == "|"]
        return one + [self.pins + pin for pin in one if pin + 1 in one]

    def step(self, state: Row, actions: Sequence[int]) -> tuple[Row, list[float]]:
        action = actions[state.mover]
        pin, width = (action, 1) if action < self.pins else (action - self.pins, 2)
        after = Row(state.pins[:pin] + "." * width + state.pins[pin + width :], 1 - state.mover)
        won = 0.0 if "|" in after.pins else 1.0
        return after, [won, -won] if state.mover == 0 else [-won, won]

    def observe(self, state: Row, player: int) -> list[float]:
        return [float(pin == "|") for pin in state.pins]

    def text(self, state: ab.State) -> str:
        return str(state.pins)

    def action_name(self, action: int) -> str:
        return f"{action + 1}" if action < self.pins else f"{action - self.pins + 1}-{action - self.pins + 2}"
