"""What a network must know of a game: the sizes of its questions and answers, and the range of its values."""

from __future__ import annotations

import math
from dataclasses import dataclass

from anabranch.errors import UsageError
from anabranch.game.game import Game
from anabranch.game.words import no_observations

MOST_NUMBERS = 2**24  # in one observation
MOST_ACTIONS = 2**24
MOST_AXES = 8


@dataclass(frozen=True)
class Shape:
    """The shape of an observation, how many actions and players there are, and what a value can be."""

    game: str
    observation: tuple[int, ...]
    actions: int
    players: int
    low: float
    high: float
    bounded: bool  # whether what is left to win always lies between low and high: nothing is paid on the way

    def __post_init__(self) -> None:
        numbers = math.prod(self.observation)
        if len(self.observation) > MOST_AXES or min(self.observation, default=1) < 1 or numbers > MOST_NUMBERS:
            raise UsageError(
                f"{self.game}: an observation of shape {self.observation} is no network's: at most {MOST_AXES} axes "
                f"and {MOST_NUMBERS:,} numbers"
            )
        if not (1 <= self.actions <= MOST_ACTIONS and 1 <= self.players <= 62):
            raise UsageError(
                f"{self.game}: a network has 1 to {MOST_ACTIONS:,} actions and 1 to 62 players, "
                f"found {self.actions} and {self.players}"
            )
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low <= self.high):
            raise UsageError(f"{self.game}: values must have a finite range, found {self.low} to {self.high}")

    @property
    def numbers(self) -> int:
        """How many numbers an observation has."""
        return math.prod(self.observation)

    @property
    def board(self) -> tuple[int, int, int]:
        """The observation as channels, rows and columns.

        A list of numbers is a board of one cell; [C, L] is a board of one row; axes after the third join the columns.
        """
        channels, rows, *columns = (*self.observation, 1, 1) if len(self.observation) < 2 else self.observation
        return (channels, rows, math.prod(columns)) if columns else (channels, 1, rows)


def shape_of(game: Game) -> Shape:
    """Return what a network must know of a game."""
    if not game.has("observe") or game.observation is None:
        raise UsageError(no_observations(game.name))
    low, high = (float(end) for end in game.returns)
    observation = tuple(int(size) for size in game.observation)
    return Shape(game.name, observation, int(game.actions), int(game.players), low, high, not game.rewards_along)
