"""Oshi-Zumo, the pushing sumo: both bid coins at once, and the higher bid pushes the wrestler."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

import anabranch as ab
from anabranch.draw.pieces import ring
from anabranch.errors import UsageError, shown
from anabranch.game.parameters import flag, whole
from anabranch.game.pictures import player_names

# As `text` writes it.
TEXT = re.compile(
    r"(?P<field>[#.W]{3,2003}) +(?P<first>[0-9]{1,5}) and (?P<second>[0-9]{1,5}) coins"
    r"(?:, bid (?P<bid>[0-9]{1,5}) of (?P<horizon>[0-9]{1,5}))?"
)


class OshiZumo(ab.CompiledGame):
    """Both bid some of their coins at once; the higher bid pushes the wrestler a cell towards the other's end.

    The field has 2·size + 1 cells, and the wrestler starts in the middle. Bids are paid, whoever wins; equal bids push
    nobody. A bid is at least `min_bid`, or all that is left if that is less. The game ends when the wrestler is pushed
    off the field, when no coins are left, or after `horizon` bids. Then the wrestler has lost on whose half it is, or
    nobody if it is in the middle; with `alesia` only a wrestler off the field decides. Action = bid; +1 to the winner,
    −1 to the loser.

    Without a horizon, where both may bid nothing, a position can come back: that is a draw (`cycles`). These are the
    rules of OpenSpiel's `oshi_zumo`, which always has a horizon.

    A player observes the wrestler's place, its own coins and the other's, each as a row of zeros with a one, and last
    the share of bids left; from its own end, so that a swap of the seats changes nothing.
    """

    title = "oshi_zumo"
    zero_sum = True

    def __init__(
        self, size: int = 3, coins: int = 10, min_bid: int = 1, horizon: int | None = None, alesia: bool = False
    ) -> None:
        self.size = whole("size", size, 0, 1000)
        self.coins = whole("coins", coins, 1, 10_000)
        self.min_bid = whole("min_bid", min_bid, 0, coins)
        self.horizon = 0 if horizon is None else whole("horizon", horizon, 1, 30_000)  # 0: none
        self.alesia = flag("alesia", alesia)
        self.players, self.actions = 2, coins + 1
        if self.min_bid == 0 and horizon is None:
            self.cycles = 0.0
        self.observation = (2 * size + 1 + 2 * (coins + 1) + 1,)
        self.state = ab.record(
            coins=(np.int16, 2),
            place=np.int16,  # of the wrestler, from the middle; pushed by player 0 it grows
            bids=np.int16,  # so far; not counted without a horizon
        )

    def setup(self, state: Any, random: Any) -> None:
        state.coins[0] = state.coins[1] = self.coins

    def turn(self, state: Any) -> int:
        return ab.OVER if is_over(state, self.size, self.horizon) else 3

    def legal(self, state: Any, player: int, actions: Any) -> int:
        coins = state.coins[player]
        least = min(self.min_bid, coins)
        for bid in range(least, coins + 1):
            actions[bid - least] = bid
        return int(coins - least + 1)

    def step(self, state: Any, actions: Any, rewards: Any) -> None:
        for seat in range(2):
            state.coins[seat] -= actions[seat]
        state.place += sign(actions[0] - actions[1])
        if self.horizon > 0:
            state.bids += 1
        if is_over(state, self.size, self.horizon) and (not self.alesia or abs(state.place) > self.size):
            rewards[0] = sign(state.place)
            rewards[1] = -sign(state.place)

    def observe(self, state: Any, player: int, planes: Any) -> None:
        place = state.place if player == 0 else -state.place
        if abs(place) <= self.size:
            planes[self.size + place] = 1.0
        after = 2 * self.size + 1
        planes[after + state.coins[player]] = 1.0
        planes[after + self.coins + 1 + state.coins[1 - player]] = 1.0
        if self.horizon > 0:
            planes[after + 2 * (self.coins + 1)] = (self.horizon - state.bids) / self.horizon

    def symmetries(self) -> Sequence[ab.Symmetry]:
        """The players may swap seats; observations, made from one's own end, stay."""
        return [ab.Symmetry(players=(1, 0))]

    def text(self, state: ab.State) -> str:
        cells = ["."] * (2 * self.size + 3)
        cells[0] = cells[-1] = "#"
        cells[self.size + 1 + int(state.place)] = "W"
        first, second = state.coins.tolist()
        counted = f", bid {state.bids + 1} of {self.horizon}" if self.horizon and not state.over else ""
        return f"{''.join(cells)}  {first} and {second} coins{counted}"

    def read(self, text: str) -> ab.State:
        """Read the field, the coins and, with a horizon, the number of the bid as they are printed."""
        found = TEXT.fullmatch(text.strip())
        if not found:
            raise UsageError(f"oshi_zumo: write a position as it is printed, e.g. {self.start()}; found {shown(text)}")
        field, coins = found["field"], [int(found[name]) for name in ("first", "second")]
        if len(field) != 2 * self.size + 3 or field.count("W") != 1 or "#" in field[1:-1]:
            raise UsageError(
                f"oshi_zumo: the field has {2 * self.size + 1} cells between two #, with one W, found {shown(field)}"
            )
        if max(coins) > self.coins:
            raise UsageError(f"oshi_zumo: a player has at most {self.coins} coins, found {coins}")
        if found["bid"] is None:
            return self.start().replace(coins=coins, place=field.index("W") - self.size - 1)
        bid = int(found["bid"])
        if int(found["horizon"]) != self.horizon or not 1 <= bid <= self.horizon:
            has = f"ends after {self.horizon} bids" if self.horizon else "has no horizon"
            raise UsageError(f"oshi_zumo: this game {has}, found bid {bid} of {found['horizon']}")
        return self.start().replace(coins=coins, place=field.index("W") - self.size - 1, bids=bid - 1)

    def svg(self, state: ab.State) -> str:
        """Draw the field, the wrestler and the coins at both ends."""
        return ring(player_names(self), state.coins.tolist(), int(state.place), self.size)


def is_over(state: Any, size: int, horizon: int) -> bool:
    """Whether the wrestler is off the field, the coins are gone, or the bids are up."""
    return (
        abs(state.place) > size
        or (state.coins[0] == 0 and state.coins[1] == 0)
        or (horizon > 0 and state.bids >= horizon)
    )


def sign(number: int) -> int:
    """Return −1, 0 or 1."""
    return 1 if number > 0 else -1 if number < 0 else 0
