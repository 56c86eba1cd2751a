"""A game in progress: where it stands, how it came there, and what every player has got."""

from __future__ import annotations

import numpy as np

from anabranch.errors import GameError
from anabranch.game.state import State
from anabranch.game.words import CHANCE
from anabranch.play.agent import Move


class PlayedGame:
    """Played move by move; the dice roll by themselves, from a seed, as soon as it is their turn."""

    def __init__(self, start: State, dice: int) -> None:
        self.start = start
        self.dice = dice
        self.state = start
        self.moves: list[Move] = []
        self.returns = np.zeros(start.game.players)
        self._weight = 1.0  # γ to the power of the decisions so far
        self._roll()

    def play(self, move: Move) -> None:
        """Play an action, or one action per acting player, and all dice that follow it."""
        self._step(move)
        self._weight *= self.start.game.discount
        self._roll()

    def _roll(self) -> None:
        rolls = 0
        while self.state.turn_bits == CHANCE:
            self._step(self.state.draw(self.dice, len(self.moves)))
            rolls += 1
            if rolls > 100_000:
                raise GameError(f"{self.start.game.name}: 100,000 rolls without a decision between them")

    def _step(self, move: Move) -> None:
        self.state, rewards = self.state.step(move)
        self.moves.append(move)
        self.returns += self._weight * rewards
