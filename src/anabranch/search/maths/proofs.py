"""Proofs: intervals that contain exact values, and how one of a node follows from those of its children.

docs/model.md section 14 has the rules and says why they are sound. Intervals are of one player's value. Where there is
one player, or two of whom one gets what the other pays (`opposed`), only player 0's is kept, and a player who minimises
it is player 1; elsewhere (`free`) every player has one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from anabranch.game.game import Game
from anabranch.search.maths.matrix_game import equilibrium

Interval: TypeAlias = tuple[float, float]
Mode: TypeAlias = Literal["opposed", "free"]

CLOSED = 1e-12  # of the declared range: an interval no wider is a point
APART = 1e-9  # of the declared range: choices no further apart may be a tie, where players are not opposed


class Terms(NamedTuple):
    """What a game says of its returns, as proofs read it."""

    mode: Mode
    kept: int  # of how many players intervals are kept
    returns: Interval  # the remaining return of any state, where the game has no `bounds`
    also: Interval  # what `bounds` need not contain: repetitions, lines without an end
    width: float  # an interval no wider is a point
    apart: float  # choices no further apart may tie
    repeats: bool  # whether a repetition is worth a number of its own


def terms_of(game: Game) -> Terms:
    """Return how intervals of a game are kept, and where they begin.

    Declared returns bound a remaining return only where nothing is paid on the way and nothing is discounted.
    """
    low, high = (float(end) for end in game.returns)
    repeats = isinstance(game.cycles, (int, float))
    opposed = game.players == 1 or (game.players == 2 and bool(game.zero_sum) and not (repeats and game.cycles != 0))
    known = not game.rewards_along and game.discount == 1.0
    also = (math.inf, -math.inf)  # nothing
    if game.cycles is not None:
        worth = 0.0 if game.cycles == "bootstrap" else float(game.cycles)
        also = (worth, worth)
    returns = (low, high) if known else (-math.inf, math.inf)
    return Terms(
        mode="opposed" if opposed else "free",
        kept=1 if opposed else game.players,
        returns=(min(returns[0], also[0]), max(returns[1], also[1])),
        also=also,
        width=CLOSED * (high - low),
        apart=APART * (high - low),
        repeats=repeats,
    )


def behind(reward: float, discount: float, child: Interval) -> Interval:
    """Return r + d·[lo, hi]; r where nothing behind it counts, however unknown."""
    if discount == 0.0:
        return reward, reward
    return reward + discount * child[0], reward + discount * child[1]


def within(found: Interval, bounds: Interval) -> Interval:
    """Return what is left of an interval within bounds; its nearest end where they do not meet, by rounding."""
    (low, high), (least, most) = found, bounds
    return min(max(low, least), high), max(min(high, most), low)


def best_of(choices: Sequence[Interval], *, maximises: bool) -> Interval:
    """Return the interval of the best choice: the largest of both ends for who maximises, else the smallest."""
    low, high = choices[0]
    for other_low, other_high in choices[1:]:
        low = max(low, other_low) if maximises else min(low, other_low)
        high = max(high, other_high) if maximises else min(high, other_high)
    return low, high


def passed_over(choice: Interval, best: Interval, *, maximises: bool) -> bool:
    """Whether a choice cannot be worth more to who chooses than what is certain of the best."""
    return choice[1] <= best[0] if maximises else choice[0] >= best[1]


def hull(intervals: Sequence[Interval]) -> Interval:
    """Return the smallest interval that contains all."""
    low, high = intervals[0]
    for other_low, other_high in intervals[1:]:
        low, high = min(low, other_low), max(high, other_high)
    return low, high


def expectation(known: Sequence[tuple[float, Interval]], rest: float | None, bounds: Interval) -> Interval:
    """Return Σ p·[lo, hi] over known outcomes; `rest` is the chance of all others, which are within bounds.

    None: there are no others.
    """
    low, high = 0.0, 0.0
    for p, (least, most) in known:
        if p > 0.0:
            low, high = low + p * least, high + p * most
    if rest is None:
        return low, high
    left = max(rest, 0.0)
    return (
        low + left * bounds[0] if math.isfinite(bounds[0]) else bounds[0],
        high + left * bounds[1] if math.isfinite(bounds[1]) else bounds[1],
    )


def in_pure_strategies(table: Sequence[Sequence[Interval]]) -> Interval:
    """Return [max_a min_b lo, min_b max_a hi]: what each of two players who choose at once can be sure of."""
    low, high = -math.inf, math.inf
    for row in table:
        worst = row[0][0]
        for cell in row[1:]:
            worst = min(worst, cell[0])
        low = max(low, worst)
    for column in range(len(table[0])):
        worst = table[0][column][1]
        for row in table[1:]:
            worst = max(worst, row[column][1])
        high = min(high, worst)
    return low, high


def in_equilibrium(table: Sequence[Sequence[Interval]]) -> Interval:
    """Return the value of a table all of whose cells are points."""
    value = equilibrium([[low for low, _ in row] for row in table])[2]
    return value, value
