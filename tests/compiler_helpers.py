"""Helpers in another file, as users keep them: plain functions, constants, nothing decorated; and games that fail.

The games are here because pytest rewrites every `assert` of a test file, in verbs too.
"""

import numpy as np

import anabranch as ab

FACTOR = 3
TABLE = np.array([2, 3, 5, 7], np.int64)


def scale(number):
    return number * FACTOR + TABLE[1]


def factorial(number):
    return 1 if number <= 0 else number * factorial(number - 1)


def is_even(number):
    return True if number == 0 else is_odd(number - 1)


def is_odd(number):
    return False if number == 0 else is_even(number - 1)


class Rules:
    START = 5

    @staticmethod
    def follow(number):
        return number + 1


class Small(ab.CompiledGame):
    """One player, four actions, a hundred plies: the least a game can be; others change a verb."""

    def __init__(self):
        self.players, self.actions = 1, 4
        self.state = ab.record(ply=np.int64)

    def turn(self, state):
        return ab.OVER if state.ply == 100 else ab.player(0)

    def legal(self, state, player, actions):
        for action in range(4):
            actions[action] = action
        return 4

    def step(self, state, actions, rewards):
        state.ply += 1


LATE = 20  # a ply that the trial before compiling does not reach


class OwnError(Exception):
    """An exception Numba could neither make nor pickle."""

    def __init__(self, ply, state):
        super().__init__(f"own error at {ply}")


TROUBLES = ("value", "own", "key", "assert", "index", "zero", "overrun", "helper")


class Trouble(Small):
    """Goes wrong late, in the way it was told to; all instances share one compilation."""

    def __init__(self, trouble):
        super().__init__()
        self.trouble = TROUBLES.index(trouble)

    def legal(self, state, player, actions):
        for action in range(5 if self.trouble == 6 and state.ply == LATE + 1 else 4):
            actions[action] = action  # five do not fit
        return 4

    def step(self, state, actions, rewards):
        if state.ply == LATE:
            if self.trouble == 0:
                raise ValueError(f"ply {state.ply} of {self.trouble}")
            if self.trouble == 1:
                raise OwnError(state.ply, state)
            if self.trouble == 2:
                raise KeyError("no such key")
            assert self.trouble != 3, f"not {self.trouble}"
            if self.trouble == 4:
                rewards[state.ply] = 1.0
            if self.trouble == 5:
                state.ply //= state.ply - LATE
            if self.trouble == 7:
                fail(state.ply)
        state.ply += 1


def fail(ply):
    raise RuntimeError("from a helper, ply " + str(ply))
