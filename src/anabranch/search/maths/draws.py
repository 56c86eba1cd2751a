"""The random numbers of one search: a draw is a function of what it is for, never of when it is made."""

from __future__ import annotations

from enum import IntEnum
from functools import cached_property

from anabranch.game.random import fold, key_of, unit


class Purpose(IntEnum):
    """What a draw is for; different purposes never share numbers."""

    SELECT = 1  # a player's choice at a simultaneous node
    TIES = 2  # which of equal scores
    CHANCE = 3  # an outcome, drawn independently
    SPREAD = 4  # where a chance node's spread starts
    LEAK = 5  # whether a playout walks on where it should stop
    FREEZE = 6  # the walk from a frozen outcome to a state that can be evaluated
    EVALUATE = 7  # an evaluator's own numbers, e.g. rollouts
    NOISE = 8  # on the root's priors
    CAP = 9  # whether a move gets a full search
    GUMBEL = 10  # noise by which the root's choices are sampled


class Draws:
    """Random numbers for one root: seed, stream (index of the root or game), and root number (advances so far)."""

    def __init__(self, seed: int, stream: int = 0, root_number: int = 0) -> None:
        self.root = key_of((seed, stream, root_number))
        self._game = seed, stream

    @cached_property
    def graph(self) -> int:
        """The key of what must survive an advance."""
        return key_of((*self._game, 0))

    def key(self, purpose: Purpose, player: int, node_key: int, count: int) -> int:
        """Return 64 random bits for one draw."""
        return fold(fold(fold(fold(self.root, purpose), player), node_key), count)

    def uniform(self, purpose: Purpose, player: int, node_key: int, count: int) -> float:
        """Return a double in [0, 1) for one draw."""
        return unit(self.key(purpose, player, node_key, count))

    def offset(self, node_key: int) -> float:
        """Return u0, where the spread of a chance node starts; it stays with the node when the root moves on."""
        return unit(fold(fold(self.graph, Purpose.SPREAD), node_key))

    def evaluation(self) -> int:
        """Return the key an evaluator mixes with a node's key for numbers of its own."""
        return fold(self.root, Purpose.EVALUATE)
