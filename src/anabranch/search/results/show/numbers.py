"""Numbers as results show them: counts, shares, values and the colours of values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from anabranch.draw.palette import blend, player_colour
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
    """The colours of one player's values in a graph: the better, the stronger its own.

    Where two players are opposite, values below the middle have the other one's colour.
    """

    low: float
    high: float
    player: int
    rival: int | None

    @classmethod
    def of(cls, game: Game, player: int, values: Iterable[float], *, total: float | None) -> Spread:
        """Take the values drawn, or around the middle all the game may pay where players are opposite.

        They are if they are worth the same `total` together everywhere. What the game declares counts where only the
        end pays.
        """
        seen = [value for value in values if math.isfinite(value)]
        low, high = min(seen, default=0.0), max(seen, default=0.0)
        if total is None:
            return cls(low, high, player, None)
        declared = () if game.rewards_along else game.returns
        reach = max(abs(float(value) - total / 2) for value in (low, high, *declared))
        return cls(total / 2 - reach, total / 2 + reach, player, 1 - player)

    def colour(self, value: float) -> str:
        """Return the colour of a value; one nobody knows is pale."""
        good, reach = player_colour(self.player), (self.high - self.low) / 2
        if not math.isfinite(value):
            return blend(good, 0.0)
        share = 0.0 if reach <= 0 else max(-1.0, min(1.0, (value - (self.low + self.high) / 2) / reach))
        if self.rival is None:
            return blend(good, 0.9 * (share + 1) / 2)
        # A power below 1 lets small leads be seen.
        return blend(good if share > 0 else player_colour(self.rival), abs(share) ** 0.8)


def count(number: int) -> str:
    """Return a whole number with separators."""
    return f"{number:,}"


def plural(number: int, noun: str) -> str:
    """Return a count of things."""
    return f"{count(number)} {noun}" + ("" if number == 1 else "s")


def rest_of(noun: str, left: Sequence[object], visits: Sequence[int]) -> str:
    """Say how many rows were left out and how often they were visited."""
    return f"and {plural(len(left), 'more ' + noun)} with {plural(sum(visits), 'visit')} together" if left else ""


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


def reward(value: float) -> str:
    """Return what a move pays, with its sign; two digits after the point, or the first that is not zero."""
    if not value:
        return "0"
    return f"{value:+.1g}" if abs(value) < 0.005 else f"{value:+.2f}".rstrip("0").rstrip(".")


def value_cell(value: float, seat: int, scale: Scale) -> Cell:
    """Return a value with its colour; one nobody knows is a dash without."""
    known = math.isfinite(value)
    return Cell((signed(value),), colour=scale.colour(value, seat) if known else None, number=True)
