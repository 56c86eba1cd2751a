"""What five dice score: the categories of Yatzy and Yahtzee, and what a turn is worth that aims at one of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from anabranch.games.dice import ADDED, DICE, FIRST, HANDS, KEPT, MULTISETS, SIDES

UPPER = 63  # the upper total that earns the bonus
Faces = tuple[int, ...]
Scoring = Callable[[Faces], int]


def _face(face: int) -> Scoring:
    return lambda dice: face * dice.count(face)


def _alike(count: int) -> Scoring:
    """Return `count` times the highest face that lies so often."""
    return lambda dice: count * max((face for face, many in Counter(dice).items() if many >= count), default=0)


def _two_pairs(dice: Faces) -> int:
    pairs = [face for face, many in Counter(dice).items() if many >= 2]
    return 2 * sum(pairs) if len(pairs) == 2 else 0


def _if(test: Callable[[Faces], bool], points: int | None = None) -> Scoring:
    """Return the points, the sum of all dice if they are not given, where the test holds."""
    return lambda dice: (sum(dice) if points is None else points) if test(dice) else 0


def _counts(*wanted: int) -> Callable[[Faces], bool]:
    return lambda dice: sorted(Counter(dice).values()) == sorted(wanted)


def _most(count: int) -> Callable[[Faces], bool]:
    return lambda dice: max(Counter(dice).values()) >= count


def _run(*runs: range) -> Callable[[Faces], bool]:
    return lambda dice: any(set(run) <= set(dice) for run in runs)


FACES: Mapping[str, Scoring] = {
    name: _face(face) for face, name in enumerate(("ones", "twos", "threes", "fours", "fives", "sixes"), 1)
}
YATZY: Mapping[str, Scoring] = {
    **FACES,
    "pair": _alike(2),
    "two_pairs": _two_pairs,
    "three_alike": _alike(3),
    "four_alike": _alike(4),
    "small_straight": _if(_run(range(1, 6)), 15),
    "large_straight": _if(_run(range(2, 7)), 20),
    "house": _if(_counts(2, 3)),
    "chance": sum,
    "yatzy": _if(_counts(DICE), 50),
}
YAHTZEE: Mapping[str, Scoring] = {
    **FACES,
    "three_alike": _if(_most(3)),
    "four_alike": _if(_most(4)),
    "full_house": _if(_counts(2, 3), 25),
    "small_straight": _if(_run(range(1, 5), range(2, 6), range(3, 7)), 30),
    "large_straight": _if(_run(range(1, 6), range(2, 7)), 40),
    "yahtzee": _if(_counts(DICE), 50),
    "chance": sum,
}
JOKERS = {"full_house": 25, "small_straight": 30, "large_straight": 40}  # what five alike may count there as a joker


def points_table(scoring: Mapping[str, Scoring]) -> npt.NDArray[np.int8]:
    """Return (hand, category) → points."""
    return np.array([[score(dice) for score in scoring.values()] for dice in MULTISETS[HANDS:]], np.int8)


def extremes(points: npt.NDArray[np.int8]) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
    """Return (multiset, category) → the fewest and the most points after rolling the dice that are missing."""
    least, most = (np.zeros((FIRST[-1], points.shape[1]), np.int8) for _ in range(2))
    least[HANDS:] = most[HANDS:] = points
    for number in reversed(range(HANDS)):
        least[number] = least[ADDED[number]].min(axis=0)
        most[number] = most[ADDED[number]].max(axis=0)
    return least, most


def expected(hands: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return what every multiset is worth before the missing dice are rolled, from what the hands are worth.

        E(m) = 1/6 · Σ_face E(m + face),   E(hand) as given

    Further axes of `hands` go along.
    """
    worth = np.zeros((FIRST[-1], *hands.shape[1:]))
    worth[HANDS:] = hands
    for size in reversed(range(DICE)):
        some = slice(FIRST[size], FIRST[size + 1])
        worth[some] = worth[ADDED[some]].sum(axis=1) / SIDES
    return worth


def aims(points: npt.NDArray[Any]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int8], npt.NDArray[np.float64]]:
    """Return what each category is worth to a player who wants that one alone.

    Three tables: (rerolls left, category, hand) → expected points; (rerolls left − 1, category, hand) → the mask to
    keep; category → expected points at the start of a turn.
    """
    worth, masks = [np.asarray(points, np.float64)], []
    for _ in range(2):
        kept = expected(worth[-1])[KEPT]  # hand, mask, category
        masks.append(kept.argmax(axis=1).astype(np.int8))
        worth.append(kept.max(axis=1))
    start = expected(worth[-1])[0]
    return np.array([w.T for w in worth]), np.array([m.T for m in masks]), start


@lru_cache(8)
def _category_sums(most: tuple[int, ...]) -> npt.NDArray[np.int16]:
    return np.array(
        [sum(points for bit, points in enumerate(most) if mask >> bit & 1) for mask in range(1 << len(most))], np.int16
    )


def category_sums(most: Any) -> npt.NDArray[np.int16]:
    """Return set of categories, as bits → the sum of what each gives at most."""
    return _category_sums(tuple(int(points) for points in most))
