"""Where the random numbers of a match come from: each is a function of what it is for, never of when it is drawn.

So a game is the same however many are played abreast, on however many threads, and after an interruption. The games of
one pair share them all: start, opening, dice, and what an agent draws at a given move in a given seat. Two agents that
play alike therefore score exactly one half, and a match with its agents swapped has exactly the mirrored score.
"""

from __future__ import annotations

from enum import IntEnum

from anabranch.game.random import key_of


class Purpose(IntEnum):
    """What a seed is for; different purposes never share numbers."""

    START = 1  # a random set-up
    OPENING = 2  # the random moves a pair begins with
    DICE = 3  # chance, as the played games see it
    CHOICE = 4  # an agent's own draws at one move
    GAME = 5  # an agent's own draws throughout a game, where it keeps what it found


def seed_for(seed: int, purpose: Purpose, pair: int, *more: int) -> int:
    """Return 52 bits: small enough to be exact in any JSON reader, enough never to meet."""
    return key_of((seed, purpose, pair, *more)) >> 12
