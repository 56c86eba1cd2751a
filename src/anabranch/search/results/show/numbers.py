"""Numbers as results show them: counts, shares, values and the colours of values."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from anabranch.draw.palette import SOFT, blend, player_colour
from anabranch.game.game import Game
from anabranch.search.results.show.sheet import Cell

UNKNOWN = "–"


@dataclass(frozen=True)
class Scale:
    """The range that colours stand for."""

    low: float
    high: float
    players: int

    @classmethod
    def of(cls, game: Game, values: Iterable[float]) -> Scale:
        """Take what the game declares or, where rewards come along the way and far less is left, what was seen."""
        if not game.rewards_along:
            return cls(float(game.returns[0]), float(game.returns[1]), game.players)
        seen = [value for value in values if math.isfinite(value)]
        return cls(min(seen, default=0.0), max(seen, default=0.0), game.players)

    def position(self, value: float) -> float:
        """Return where a value lies: −1 for the low end, +1 for the high end, NaN where there is none."""
        if not math.isfinite(value) or self.high <= self.low:
            return 0.0 if math.isfinite(value) else math.nan
        return 2 * (value - self.low) / (self.high - self.low) - 1

    def colour(self, value: float, seat: int) -> str:
        """Return the colour of a player's value: the player's own, the stronger the better for it."""
        place = self.position(value)
        return blend(player_colour(seat), 0.0 if math.isnan(place) else 0.9 * (place + 1) / 2)


@dataclass(frozen=True)
class Spread:
    """The colours of one player's values in a graph: its own for good ones, pale between, another for bad ones."""

    low: float
    high: float
    good: str
    bad: str

    @classmethod
    def of(cls, game: Game, player: int, values: Iterable[float], *, opposite: bool) -> Spread:
        """Take 0 as the middle where players are opposite, else the middle of the values drawn.

        Where players are opposite and only the end pays, the ends are what the game declares.
        """
        seen = [value for value in values if math.isfinite(value)] or [0.0]
        low, high = min(seen), max(seen)
        if opposite:
            declared = () if game.rewards_along else game.returns
            reach = max(abs(float(value)) for value in (low, high, *declared))
            low, high = -reach, reach
        rival = player_colour(1 - player) if game.players <= 2 else SOFT
        return cls(low, high, player_colour(player), rival)

    def colour(self, value: float) -> str:
        """Return the colour of a value; one nobody knows is pale."""
        reach = (self.high - self.low) / 2
        if not math.isfinite(value) or reach <= 0:
            return blend(self.good, 0.0)
        share = (value - (self.low + self.high) / 2) / reach
        # A power below 1 lets small leads be seen.
        return blend(self.good if share > 0 else self.bad, min(1.0, abs(share)) ** 0.8)


def count(number: int) -> str:
    """Return a whole number with separators."""
    return f"{number:,}"


def percent(share: float) -> str:
    """Return a share as a percentage with one digit after the point."""
    return f"{100 * share:.1f}%" if math.isfinite(share) else UNKNOWN


def signed(value: float, digits: int = 3) -> str:
    """Return a value with its sign; large ones with fewer digits."""
    if not math.isfinite(value):
        return UNKNOWN
    digits = digits if abs(value) < 100 else 1
    rounded = round(value, digits) + 0.0  # no −0
    return f"{rounded:+.{digits}f}" if rounded else f"{0:.{digits}f}"


def value_cell(value: float, seat: int, scale: Scale) -> Cell:
    """Return a value with its colour; one nobody knows is a dash without."""
    known = math.isfinite(value)
    return Cell((signed(value),), colour=scale.colour(value, seat) if known else None, number=True)
