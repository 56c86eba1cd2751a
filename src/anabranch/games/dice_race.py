"""A race of dice: pick a die, roll it, move on; a game of chance whose value has a formula."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

import anabranch as ab
from anabranch.draw.pieces import race
from anabranch.errors import UsageError, shown
from anabranch.game.parameters import listed, whole
from anabranch.game.pictures import player_names

PLACE = re.compile(r"player [0-9] ([0-9]{1,4})\b")
TEXT = re.compile(
    r" of (?P<target>[0-9]{1,4}): (?:over|player (?P<mover>[0-9]) (?:(?P<picks>to pick)|rolls d(?P<die>[0-9]{1,4})))"
)


class DiceRace(ab.CompiledGame):
    """The mover picks one of the dice, rolls it and moves on by what it shows; who reaches `target` first wins.

    The winner gets 1, the others −1/(P−1) each. One player alone pays 1 for every roll. Action = which die, outcome =
    face − 1. Dice are given by their numbers of sides.

    The largest die is always the best one, as it is likelier than any other to show more than any number. With s sides
    and a target n ≤ s the number M of rolls that it needs has P(M > m) = C(n − 1, m) / s^m: of the s^m rolls as many
    have a sum below n. So one player expects to pay (1 + 1/s)^(n − 1), and the first of two wins with probability
    Σ_m P(M = m) · P(M ≥ m).

    The record counts turns only to name the event of a roll, (player, its turns so far); they are not in the key. A
    player observes places as shares of the target, its own first; which die is rolled; whether the turn is its own.
    """

    title = "dice_race"

    def __init__(self, target: int = 6, dice: Sequence[int] = (4, 6), players: int = 2) -> None:
        sides = [
            whole("sides of a die", each, 2, 1000) for each in listed("dice", dice, "numbers of sides, e.g. [4, 6]")
        ]
        if not 1 <= len(sides) == len(set(sides)) <= 8:
            raise UsageError(f"dice are one to eight different numbers of sides, e.g. (4, 6), found {shown(dice)}")
        self.sides = np.array(sides, np.int16)
        self.target = whole("target", target, 1, 1000)
        self.players, self.actions = whole("players", players, 1, 10), len(self.sides)
        self.outcomes = self.largest = int(self.sides.max())
        self.rewards_along, self.zero_sum = self.players == 1, self.players == 2
        self.returns = (-float(target), -float(-(-target // self.largest))) if players == 1 else (-1.0, 1.0)
        self.observation = (players + self.actions + 1,)
        position = {
            "places": (np.int16, players),
            "mover": np.int8,
            "die": np.int8,
        }  # die: number + 1 while it is rolled
        self.state = ab.record(turns=np.int16, **position)
        self.key_record = ab.record(**position)

    def turn(self, state: Any) -> int:
        for seat in range(self.players):
            if state.places[seat] >= self.target:
                return ab.OVER
        return ab.CHANCE if state.die > 0 else ab.player(state.mover)

    def legal(self, state: Any, player: int, actions: Any) -> int:
        for die in range(self.actions):
            actions[die] = die
        return self.actions

    def chance(self, state: Any, outcomes: Any, chances: Any) -> int:
        sides = self.sides[state.die - 1]
        for face in range(sides):
            outcomes[face] = face
            chances[face] = 1.0 / sides
        return int(sides)

    def step(self, state: Any, actions: Any, rewards: Any) -> None:
        mover = state.mover
        if state.die == 0:
            state.die = actions[mover] + 1
            if self.players == 1:
                rewards[0] = -1.0
            return
        state.places[mover] = min(self.target, state.places[mover] + actions[0] + 1)
        state.die = 0
        state.turns += 1
        state.mover = (mover + 1) % self.players
        if state.places[mover] == self.target and self.players > 1:
            for seat in range(self.players):
                rewards[seat] = 1.0 if seat == mover else -1.0 / (self.players - 1)

    def key(self, state: Any, key: Any) -> None:
        ab.copy(key.places, state.places)
        key.mover = state.mover
        key.die = state.die

    def event(self, state: Any, event: Any) -> None:
        event[0] = state.mover
        event[1] = state.turns // self.players

    def bounds(self, state: Any, low: Any, high: Any) -> None:
        left, far = self.target, 0
        for seat in range(self.players):
            left = min(left, self.target - state.places[seat])
            far = max(far, self.target - state.places[seat])
        if left <= 0:
            return
        if self.players > 1:
            for seat in range(self.players):
                low[seat], high[seat] = -1.0 / (self.players - 1), 1.0
            return
        if state.die > 0:  # this roll is paid for
            low[0] = -float(left - 1)
            high[0] = -float((max(0, left - self.sides[state.die - 1]) + self.largest - 1) // self.largest)
        else:
            low[0] = -float(left)
            high[0] = -float((left + self.largest - 1) // self.largest)

    def observe(self, state: Any, player: int, planes: Any) -> None:
        for row in range(self.players):
            planes[row] = state.places[(player + row) % self.players] / self.target
        if state.die > 0:
            planes[self.players + state.die - 1] = 1.0
        planes[self.players + self.actions] = 1.0 if state.mover == player else 0.0

    def text(self, state: ab.State) -> str:
        places = ", ".join(f"player {seat} {place}" for seat, place in enumerate(state.places.tolist()))
        if state.over:
            return f"{places} of {self.target}: over"
        doing = f"rolls {self.action_name(state.die - 1)}" if state.die else "to pick a die"
        return f"{places} of {self.target}: player {state.mover} {doing}"

    def read(self, text: str) -> ab.State:
        """Read `player 0 3, player 1 0 of 6: player 1 rolls d6`; turns are counted from here."""
        found = TEXT.search(text)
        places = [int(place) for place in PLACE.findall(text.partition(" of ")[0])]
        if not found or len(places) != self.players or int(found["target"]) != self.target:
            raise UsageError(f"dice_race: write a position as it is printed, e.g.\n{self.start()}\nfound {shown(text)}")
        arrived = [seat for seat, place in enumerate(places) if place >= self.target]
        if len(arrived) != (found["mover"] is None) or max(places) > self.target:
            raise UsageError(
                f"dice_race: at {places} of {self.target} the game is {'' if arrived else 'not '}over, and nobody goes "
                f"beyond the target; correct one or the other"
            )
        mover = (arrived[0] + 1) % self.players if arrived else int(found["mover"])
        die = 0 if found["die"] is None else int(found["die"])
        if mover >= self.players or (die and die not in self.sides.tolist()):
            dice = ", ".join(self.action_name(number) for number in range(self.actions))
            raise UsageError(f"dice_race: there are {self.players} players, 0 first, and the dice {dice}")
        number = self.sides.tolist().index(die) + 1 if die else 0
        return self.start().replace(places=places, mover=mover, die=number, turns=mover)

    def svg(self, state: ab.State) -> str:
        """Draw how far everybody is."""
        mover = None if state.over else int(state.mover)
        return race(player_names(self), state.places.tolist(), 0, self.target, mover, rolling=bool(state.die))

    def action_name(self, action: int) -> str:
        return f"d{self.sides[action]}"

    def outcome_name(self, outcome: int) -> str:
        return str(outcome + 1)
