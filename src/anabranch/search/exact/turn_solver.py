"""Solitaire Yatzy and Yahtzee solved: what every start of a turn is worth, by dynamic programming over scorecards.

A turn begins with open categories, the upper total (0 to 63) and, under jokers, whether five alike were marked with 50.
From what follows each mark to what a turn is worth there are three rolls and two keeps:

    W_0(h) = max over open c of  points(h, c) + bonus + V(after marking c)
    E_k(m) = 1/6 · Σ_face E_k(m + face),    E_k(hand) = W_k(hand)
    W_k(h) = max over m ⊆ h of  E_{k−1}(m)
    V      = E_2(no dice)

over the 252 hands h and the 462 multisets m of at most five dice. The best keep within a hand is found die by die,
B(m) = max(E(m), B(m less a die)), and all 64 upper totals go side by side, which processors do four or eight at a time.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from anabranch.games import yatzy
from anabranch.games.dice import ADDED, FIRST, HANDS, MULTISETS, SIDES, number_of
from anabranch.games.scores import UPPER
from anabranch.games.yatzy import EXTRA, NO_JOKERS

if TYPE_CHECKING:
    from anabranch.games.yatzy import Yatzy

Floats = npt.NDArray[np.float64]
UPPERS = UPPER + 1
CHUNK = 32  # scorecards that a thread solves before it says so


@dataclass(frozen=True)
class TurnProgress:
    """How many scorecards are solved, of how many."""

    solved: int
    scorecards: int
    seconds: float

    def __str__(self) -> str:
        return f"{self.solved:,} of {self.scorecards:,} scorecards solved; {self.seconds:.1f} s"


def gains_of(game: Yatzy, opened: int, fifty: bool) -> npt.NDArray[np.int16]:
    """Return (hand, category) → points with those of jokers, without the bonus; −1 where a mark is not allowed."""
    gains = game.points.astype(np.int16)
    gains[:, [not opened >> category & 1 for category in range(game.categories)]] = -1
    for face in range(1, SIDES + 1 if game.jokers != NO_JOKERS else 1):
        hand = number_of((face,) * 5)
        if not yatzy.is_joker(opened, hand, game.five):
            continue
        for category in range(game.categories):
            if not yatzy.may_mark(opened, hand, category, game.five, game.jokers):
                gains[hand - HANDS, category] = -1
                continue
            if not opened >> (face - 1) & 1 and category >= 6:
                gains[hand - HANDS, category] = max(gains[hand - HANDS, category], game.joker_points[category])
            gains[hand - HANDS, category] += EXTRA if fifty else 0
    return gains


def solve_turns(
    game: Yatzy, *, threads: int | None = None, progress: Callable[[TurnProgress], None] | None = None
) -> Floats:
    """Return (fifty, open categories, upper total) → what a turn that begins so is worth, bonus and jokers included.

    Where the game leaves only some categories open, others are not solved, and NaN.
    """
    flags = 2 if game.jokers != NO_JOKERS else 1
    cards = [opened for opened in range(1, 1 << game.categories) if not opened & ~game.first_open]
    values = np.full((flags, 1 << game.categories, UPPERS), np.nan)
    values[:, 0] = 0.0
    kernel = _kernel()
    many = min(8, os.cpu_count() or 1) if threads is None else threads
    began, lock, solved = time.perf_counter(), threading.Lock(), [0]
    points, added, removed = game.points.astype(np.int16), ADDED.astype(np.int64), _removed()
    scratch = threading.local()

    def work(some: list[int]) -> None:
        if not hasattr(scratch, "worth"):
            scratch.worth, scratch.best = (np.zeros((FIRST[-1], UPPERS)) for _ in range(2))
        for opened in some:
            for flag in range(flags):
                if flag and opened >> game.five & 1:
                    continue  # nothing was marked there yet
                gains = points if flags == 1 else gains_of(game, opened, bool(flag))
                kernel(
                    values,
                    *(flag, opened, gains, points, game.five, game.bonus, added, removed),
                    *(scratch.worth, scratch.best),
                )
        with lock:
            solved[0] += len(some)
            if progress is not None:
                progress(TurnProgress(solved[0], len(cards), time.perf_counter() - began))

    by_count: dict[int, list[int]] = {}
    for opened in cards:
        by_count.setdefault(opened.bit_count(), []).append(opened)
    with ThreadPoolExecutor(max(1, many)) as pool:
        for count in sorted(by_count):
            level = by_count[count]
            list(pool.map(work, [level[at : at + CHUNK] for at in range(0, len(level), CHUNK)]))
    return values


def _removed() -> npt.NDArray[np.int64]:
    """Return (multiset, face − 1) → the multiset with one such die less, −1 where it has none."""
    table = np.full((FIRST[-1], SIDES), -1, np.int64)
    for number, faces in enumerate(MULTISETS):
        for face in set(faces):
            less = list(faces)
            less.remove(face)
            table[number, face - 1] = number_of(less)
    return table


@cache
def _kernel() -> Any:
    """Compile the solution of one scorecard; it holds no lock of Python while it runs."""
    import numba

    hands, multisets, sides, uppers, upper = HANDS, FIRST[-1], SIDES, UPPERS, UPPER

    def solve_card(values, flag, opened, gains, points, five, bonus, added, removed, worth, best):  # type: ignore[no-untyped-def]
        for number in range(hands, multisets):
            for u in range(uppers):
                worth[number, u] = -1.0
        for category in range(gains.shape[1]):
            if not opened >> category & 1:
                continue
            rest = opened ^ (1 << category)
            for number in range(hands, multisets):
                gain = gains[number - hands, category]
                if gain < 0:
                    continue
                after = values[1 if category == five and gain == 50 and values.shape[0] == 2 else flag, rest]
                row = worth[number]
                if category >= 6:
                    for u in range(uppers):
                        total = gain + after[u]
                        row[u] = total if total > row[u] else row[u]
                    continue
                above = points[number - hands, category]
                for u in range(uppers - above):
                    total = gain + after[u + above]
                    if u < upper and u + above == upper:
                        total += bonus
                    row[u] = total if total > row[u] else row[u]
                for u in range(uppers - above, uppers):
                    total = gain + after[upper] + (bonus if u < upper else 0)
                    row[u] = total if total > row[u] else row[u]
        for reroll in range(3):
            for number in range(hands - 1, -1, -1):
                for u in range(uppers):
                    total = 0.0
                    for face in range(sides):
                        total += worth[added[number, face], u]
                    worth[number, u] = total / sides
            if reroll == 2:
                break
            for number in range(multisets):
                for u in range(uppers):
                    best[number, u] = worth[number, u]
                for face in range(sides):
                    less = removed[number, face]
                    if less >= 0:
                        for u in range(uppers):
                            other = best[less, u]
                            best[number, u] = other if other > best[number, u] else best[number, u]
            for number in range(hands, multisets):
                for u in range(uppers):
                    worth[number, u] = best[number, u]
        for u in range(uppers):
            values[flag, opened, u] = worth[0, u]

    return numba.njit(nogil=True)(solve_card)
