"""Games that misbehave on demand: they raise at a given call or in a given state, or answer nonsense there."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import anabranch as ab

VERBS = ("turn", "legal", "step", "chance", "draw", "same", "key", "bounds")
NEVER = -1


class Round(ab.CompiledGame):
    """Three rounds: a prize of 1 or 2 is drawn, both bid 0, 1 or 2 (2 counts as 1) at once, one may double the lead.

    In the state where `rounds` are played, and `lead` is the lead, the verb `verb` tells the lie `lie`: 0 raises, the
    others depend on the verb. Compiled rules can keep no count of their calls, so the state says when.
    """

    def __init__(self, verb: str = "", lie: int = 0, rounds: int = 1, lead: int = 0) -> None:
        self.verb = VERBS.index(verb) if verb else NEVER
        self.lie, self.rounds, self.lead = lie, rounds, lead
        self.bulk = np.zeros(32, np.int64)  # too large to be built into rollouts: all instances share a compilation
        self.players, self.actions, self.outcomes = 2, 3, 2
        self.returns, self.rewards_along = (-8.0, 8.0), True
        self.state = ab.record(lead=np.int16, round=np.int8, prize=np.int8, phase=np.int8, last=np.int8)
        self.key_record = ab.record(lead=np.int16, round=np.int8, prize=np.int8, phase=np.int8)

    def turn(self, state: Any) -> int:
        if self.verb == 0 and state.round == self.rounds and state.lead == self.lead:
            if self.lie == 0:
                raise ValueError("turn is out of order")
            return 4 if self.lie == 1 else -2
        if state.round == 3:
            return ab.OVER
        if state.phase == 0:
            return ab.CHANCE
        return ab.player(0) + ab.player(1) if state.phase == 1 else ab.player(state.round % 2)

    def legal(self, state: Any, player: int, actions: Any) -> int:
        if self.verb == 1 and state.round == self.rounds and state.lead == self.lead:
            if self.lie == 0:
                raise ValueError("legal is out of order")
            actions[0], actions[1], actions[2] = 1, 0, 2
            if self.lie == 1:
                return 0
            if self.lie == 2:
                return 2  # not ascending
            if self.lie == 3:
                return -1
            if self.lie == 4:
                return 9  # more than there is room for
            actions[0] = 3
            return 1
        count = 3 if state.phase == 1 else 2
        for action in range(count):
            actions[action] = action
        return count

    def step(self, state: Any, actions: Any, rewards: Any) -> None:
        if self.verb == 2 and state.round == self.rounds and state.lead == self.lead:
            if self.lie == 0:
                raise ValueError("step is out of order")
            rewards[0] = math.nan if self.lie == 1 else math.inf if self.lie == 2 else 1e300
            return
        if state.phase == 0:
            state.prize = actions[0]
            state.phase = 1
        elif state.phase == 1:
            state.lead += (min(actions[0], 1) - min(actions[1], 1)) * state.prize
            state.last = actions[0]
            state.phase = 2
            rewards[0] = 0.125 * state.prize
        else:
            if actions[state.round % 2] == 1:
                state.lead *= 2
            state.phase = 0
            state.round += 1
            if state.round == 3:
                rewards[0] = max(-6.0, min(6.0, state.lead))
                rewards[1] = -rewards[0]

    def chance(self, state: Any, outcomes: Any, chances: Any) -> int:
        outcomes[0], outcomes[1] = 1, 2
        chances[0], chances[1] = 0.75, 0.25
        if self.verb == 3 and state.round == self.rounds and state.lead == self.lead:
            if self.lie == 0:
                raise ValueError("chance is out of order")
            if self.lie == 1:
                chances[0] = 0.65
            elif self.lie == 2:
                chances[0], chances[1] = 1.0, 0.0
            elif self.lie == 3:
                chances[1] = math.nan
            elif self.lie == 4:
                return 0
            elif self.lie == 5:
                return 7
            else:
                outcomes[1] = 1
        return 2

    def draw(self, state: Any, random: Any) -> int:
        if self.verb == 4 and state.round == self.rounds and state.lead == self.lead:
            if self.lie == 0:
                raise ValueError("draw is out of order")
            return 2**40
        return 2 if ab.below(random, 4) == 3 else 1

    def same(self, state: Any, player: int, action: int) -> int:
        if self.verb == 5 and state.round == self.rounds and state.lead == self.lead:
            if self.lie == 0:
                raise ValueError("same is out of order")
            return 3 if self.lie == 1 else -1
        return min(action, 1)

    def key(self, state: Any, key: Any) -> None:
        if self.verb == 6 and state.round == self.rounds and state.lead == self.lead:
            raise ValueError("key is out of order")
        key.lead, key.round, key.prize, key.phase = state.lead, state.round, state.prize, state.phase

    def bounds(self, state: Any, low: Any, high: Any) -> None:
        for seat in range(2):
            low[seat], high[seat] = -8.0, 8.0
        if self.verb == 7 and state.round == self.rounds and state.lead == self.lead:
            if self.lie == 0:
                raise ValueError("bounds is out of order")
            low[0] = math.nan if self.lie == 1 else -math.inf


LIES = {"turn": 2, "legal": 5, "step": 3, "chance": 6, "draw": 1, "same": 2, "key": 0, "bounds": 2}


class Trouble:
    """Counts calls of one verb and raises at the k-th; the exception raised is kept."""

    def __init__(self) -> None:
        self.verb, self.at, self.calls, self.armed = "", 0, 0, False
        self.kind: type[BaseException] = ValueError
        self.raised: list[BaseException] = []

    def arm(self, verb: str, at: int, kind: type[BaseException] = ValueError) -> None:
        self.verb, self.at, self.calls, self.kind, self.armed = verb, at, 0, kind, True
        self.raised = []

    def disarm(self) -> None:
        self.armed = False

    def __call__(self, verb: str) -> None:
        if self.armed and verb == self.verb:
            self.calls += 1
            if self.calls == self.at:
                error = self.kind(f"{verb} failed at call {self.at}")
                self.raised.append(error)
                raise error


class Rounds(ab.ObjectGame):
    """The same rounds on tuples, whose verbs raise when `trouble` says so."""

    def __init__(self, trouble: Trouble) -> None:
        self.trouble = trouble
        self.players, self.actions, self.outcomes = 2, 3, 2
        self.returns, self.rewards_along = (-8.0, 8.0), True

    def setup(self, random: ab.Random) -> Any:
        return (0, 0, 0, 0, 0)  # lead, round, prize, phase, last

    def turn(self, state: Any) -> int:
        self.trouble("turn")
        _, played, _, phase, _ = state
        if played == 3:
            return ab.OVER
        return ab.CHANCE if phase == 0 else 3 if phase == 1 else ab.player(played % 2)

    def legal(self, state: Any, player: int) -> list[int]:
        self.trouble("legal")
        return [0, 1, 2] if state[3] == 1 else [0, 1]

    def step(self, state: Any, actions: Any) -> Any:
        self.trouble("step")
        lead, played, prize, phase, last = state
        if phase == 0:
            return (lead, played, actions[0], 1, last), (0.0, 0.0)
        if phase == 1:
            lead += (min(actions[0], 1) - min(actions[1], 1)) * prize
            return (lead, played, prize, 2, actions[0]), (0.125 * prize, 0.0)
        lead *= 2 if actions[played % 2] == 1 else 1
        paid = max(-6.0, min(6.0, lead)) if played == 2 else 0.0
        return (lead, played + 1, prize, 0, last), (paid, -paid)

    def chance(self, state: Any) -> Any:
        self.trouble("chance")
        return ((1, 0.75), (2, 0.25))

    def draw(self, state: Any, random: ab.Random) -> int:
        self.trouble("draw")
        return 2 if ab.below(random, 4) == 3 else 1

    def same(self, state: Any, player: int, action: int) -> int:
        self.trouble("same")
        return min(action, 1)

    def key(self, state: Any) -> Any:
        self.trouble("key")
        return state[:4]

    def bounds(self, state: Any) -> Any:
        self.trouble("bounds")
        return (-8.0, -8.0), (8.0, 8.0)
