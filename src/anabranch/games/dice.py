"""Five dice as multisets: the 462 ways of holding at most five of them, and what keeping, rolling and adding do.

Multisets are numbered by how many dice they have, then in the order of their sorted faces: 0 is no die at all, 1 to 6
are single faces, 210 to 461 the 252 hands of five. A keep is a number, a roll is a number, and so is a hand.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations_with_replacement
from math import factorial, prod
from typing import Any

import numpy as np
import numpy.typing as npt

DICE, SIDES, MASKS = 5, 6, 32
FIRST = (0, 1, 7, 28, 84, 210, 462)  # the number of the first multiset of 0, 1, … dice; then how many there are
HANDS = FIRST[DICE]  # the number of the first hand
MULTISETS: tuple[tuple[int, ...], ...] = tuple(
    faces for size in range(DICE + 1) for faces in combinations_with_replacement(range(1, SIDES + 1), size)
)


@lru_cache(1)
def numbers() -> dict[tuple[int, ...], int]:
    """Return sorted faces → number."""
    return {faces: number for number, faces in enumerate(MULTISETS)}


def number_of(faces: Any) -> int:
    """Return the number of some dice, in any order."""
    return numbers()[tuple(sorted(faces))]


def _sizes() -> npt.NDArray[np.int64]:
    return np.array([len(faces) for faces in MULTISETS], np.int64)


def _added() -> npt.NDArray[np.int64]:
    """Return (multiset, face − 1) → the multiset with that face added; 0 for hands, which are full."""
    table = np.zeros((FIRST[-1], SIDES), np.int64)
    for number, faces in enumerate(MULTISETS[:HANDS]):
        table[number] = [number_of((*faces, face)) for face in range(1, SIDES + 1)]
    return table


def _chances() -> npt.NDArray[np.float64]:
    """Return the probability of each multiset as the roll of as many dice.

    p(h) = k! / Π h_i! · 6^−k,   h the number of dice that show each face, k = Σ h_i
    """
    counts = [[faces.count(face) for face in range(1, SIDES + 1)] for faces in MULTISETS]
    ways = [factorial(sum(h)) // prod(factorial(each) for each in h) for h in counts]
    return np.array([many / SIDES ** sum(h) for many, h in zip(ways, counts, strict=True)])


def _kept() -> npt.NDArray[np.int64]:
    """Return (hand, mask) → what is kept of its sorted dice: bit 4 − i keeps the i-th."""
    return np.array(
        [
            [number_of(face for i, face in enumerate(faces) if mask >> (DICE - 1 - i) & 1) for mask in range(MASKS)]
            for faces in MULTISETS[HANDS:]
        ],
        np.int64,
    )


def _first_masks(kept: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return (hand, mask) → the lowest mask that keeps the same faces."""
    return np.array([[row.index(keep) for keep in row] for row in kept.tolist()], np.int64)


def _joined() -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return where the row of each keep begins in a table, and the table: the hand that each roll completes it to."""
    starts = np.zeros(FIRST[-1], np.int64)
    table: list[int] = []
    for number, faces in enumerate(MULTISETS):
        starts[number] = len(table)
        size = DICE - len(faces)
        table += [number_of((*faces, *roll)) for roll in MULTISETS[FIRST[size] : FIRST[size + 1]]]
    return starts, np.array(table, np.int64)


def _narrow(table: npt.NDArray[np.int64], kind: Any = np.int16) -> npt.NDArray[Any]:
    assert np.array_equal(table.astype(kind), table)
    return table.astype(kind)


SIZES = _narrow(_sizes(), np.int8)
ADDED = _narrow(_added())
CHANCES = _chances()
KEPT = _narrow(_kept())
FIRST_MASKS = _narrow(_first_masks(KEPT.astype(np.int64)), np.int8)
JOIN_STARTS, JOINED = (_narrow(table) for table in _joined())
FACES = np.array([(*faces, *(0,) * (DICE - len(faces))) for faces in MULTISETS], np.int8)
STARTS = np.array(FIRST, np.int16)


def list_rolls(kept: int, outcomes: Any, chances: Any) -> int:
    """Write the rolls of the dice that are not kept, and their probabilities; return how many there are."""
    size = DICE - SIZES[kept]
    first = STARTS[size]
    count = STARTS[size + 1] - first
    for index in range(count):
        outcomes[index] = first + index
        chances[index] = CHANCES[first + index]
    return int(count)


def joined(kept: int, roll: int) -> int:
    """Return the hand that a roll of the other dice completes a keep to."""
    return int(JOINED[JOIN_STARTS[kept] + roll - STARTS[DICE - SIZES[kept]]])


def shown(number: int) -> str:
    """Return dice as text: [2] [5], and [ ] for those that are still to be rolled."""
    faces = MULTISETS[number]
    return " ".join([*(f"[{face}]" for face in faces), *("[ ]",) * (DICE - len(faces))])
