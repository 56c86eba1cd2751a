"""Who wins connect four from a position, exactly: alpha-beta over boards as integers, compiled.

Only win, draw or loss is asked for, which takes a fraction of the time that the distance to the end would. From ply
12 on a position takes seconds at most; the empty board takes hours. Boards are those of `connect_four.py`, in which a
position is told by the mover's stones and all stones (Tromp's encoding adds the two for a key). Positions that were
searched are remembered in a table of fixed size, the newest in each place, told apart by their whole key.
"""

from __future__ import annotations

import functools
from types import FunctionType
from typing import Any

import numpy as np
import numpy.typing as npt

from anabranch.errors import UsageError
from anabranch.game.state import State
from anabranch.games.connect_four import ConnectFour

ROWS, COLUMNS, STRIDE = 6, 7, 7
FLOORS = sum(1 << column * STRIDE for column in range(COLUMNS))
CELLS = FLOORS * ((1 << ROWS) - 1)
ORDER = (3, 2, 4, 1, 5, 0, 6)  # the middle lies in most lines
PLACES = 4_194_301  # of the table, 40 MB; a prime, since keys that differ in high bits alone must not meet
LOWER, UPPER, EXACT = 1, 2, 3  # what a remembered value is


def winning_cells(stones: int, taken: int) -> int:
    """Return the empty cells that would complete four in a row for these stones, whether they can be played yet or not.

    For each direction d the three others of a line may lie on either side: with p = stones shifted by d and 2d, cells
    next to three in a row, and those in the gap of 2 + 1.
    """
    found = (stones << 1) & (stones << 2) & (stones << 3)  # upwards there is only one side
    for step in (STRIDE, STRIDE - 1, STRIDE + 1):
        two = (stones << step) & (stones << 2 * step)
        found |= two & (stones << 3 * step)
        found |= two & (stones >> step)
        two = (stones >> step) & (stones >> 2 * step)
        found |= two & (stones >> 3 * step)
        found |= two & (stones << step)
    return found & CELLS & ~taken


def negamax(
    mine: int,
    taken: int,
    alpha: int,
    beta: int,
    keys: npt.NDArray[np.int64],
    values: npt.NDArray[np.int8],
) -> int:
    """Return 1, 0 or −1 for the mover, who cannot win at once: exact inside (alpha, beta), else a bound.

    Moves that let the other win at once are left out; if none is left the game is lost. A reply that must be made is
    the only move.
    """
    theirs = mine ^ taken
    open_cells = (taken + FLOORS) & CELLS
    threats = winning_cells(theirs, taken)
    forced = threats & open_cells
    if forced:
        if forced & (forced - 1):
            return -1
        open_cells = forced
    open_cells &= ~(threats >> 1)  # below a cell where the other would win
    if open_cells == 0:
        return -1 if taken != CELLS and ((taken + FLOORS) & CELLS) != 0 else 0
    key = mine + taken
    place = key % PLACES
    if keys[place] == key:
        kind, value = values[place, 0], values[place, 1]
        if kind == EXACT or (kind == LOWER and value >= beta) or (kind == UPPER and value <= alpha):
            return int(value)
    best, low = -1, alpha
    for column in ORDER:
        cell = open_cells & (((1 << ROWS) - 1) << column * STRIDE)
        if cell == 0:
            continue
        following = taken | cell
        value = 0 if following == CELLS else -negamax(theirs, following, -beta, -low, keys, values)
        if value > best:
            best = value
        if best > low:
            low = best
        if low >= beta:
            break
    keys[place] = key
    values[place, 0] = LOWER if best >= beta else UPPER if best <= alpha else EXACT
    values[place, 1] = best
    return best


class Solver:
    """Exact values of 6×7 connect four; what was searched is remembered for the next position."""

    def __init__(self) -> None:
        self._keys = np.full(PLACES, -1, np.int64)
        self._values = np.zeros((PLACES, 2), np.int8)
        self._search: Any = _compiled()

    def value(self, state: State) -> int:
        """Return 1, 0 or −1: what best play brings to the player to move; of a game that is over, who got what."""
        stones, ply = _board(state)
        mine, taken = int(stones[ply & 1]), int(stones[0] | stones[1])
        if state.over:
            return 0 if taken == CELLS and not _has_four(int(stones[1 - (ply & 1)])) else -1
        if winning_cells(mine, taken) & ((taken + FLOORS) & CELLS):
            return 1
        return int(self._search(mine, taken, -1, 1, self._keys, self._values))

    def values(self, state: State) -> dict[int, int]:
        """Return what each legal move is worth to the player to move."""
        return {action: -self.value(state.step(action)[0]) for action in state.legal()}

    def best(self, state: State) -> frozenset[int]:
        """Return the moves that keep the value of a position."""
        found = self.values(state)
        return frozenset(action for action, value in found.items() if value == max(found.values()))


def _board(state: State) -> tuple[npt.NDArray[np.int64], int]:
    game = state.game
    if not isinstance(game, ConnectFour) or (game.rows, game.columns, game.line) != (ROWS, COLUMNS, 4):
        raise UsageError(f"this solver is for connect four on 6 by 7 cells with lines of 4, found {game!r}")
    return np.asarray(state.stones, np.int64), int(state.ply)


def _has_four(stones: int) -> bool:
    for step in (1, STRIDE, STRIDE - 1, STRIDE + 1):
        two = stones & (stones >> step)
        if two & (two >> 2 * step):
            return True
    return False


@functools.cache
def _compiled() -> Any:
    """Return `negamax` compiled, once a process: a copy with compiled globals, so that the module stays as it is."""
    import numba

    whole = numba.types.int64
    namespace = dict(negamax.__globals__)
    copy = numba.njit(FunctionType(negamax.__code__, namespace, "negamax"))
    namespace |= {"winning_cells": numba.njit(winning_cells), "negamax": copy}
    copy.compile((whole,) * 4 + (numba.types.Array(whole, 1, "C"), numba.types.Array(numba.types.int8, 2, "C")))
    return copy
