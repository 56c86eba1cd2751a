"""Who wins connect four from a position, exactly: alpha-beta over boards as integers, compiled.

Only win, draw or loss is asked for, which takes a fraction of the time that the distance to the end would. All moves
of a position take tenths of a second from ply 12 on, seconds from ply 8 on, most of a minute at ply 4; the empty board
takes far longer. Boards are those of `games/connect_four.py`, in which a position is told by the mover's stones and
all stones (Tromp's encoding adds the two for a key). Positions that were searched are remembered in a table of fixed
size, the newest in each place, told apart by their whole key.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from anabranch.errors import TooManyStatesError, UsageError
from anabranch.game.game import Game
from anabranch.game.state import State
from anabranch.games.connect_four import ConnectFour
from anabranch.search.exact.compile import compiled
from anabranch.search.exact.oracle import Floats, Oracle

ROWS, COLUMNS, STRIDE, LINE = 6, 7, 7, 4
FLOORS = sum(1 << column * STRIDE for column in range(COLUMNS))
CELLS = FLOORS * ((1 << ROWS) - 1)
ORDER = (3, 2, 4, 1, 5, 0, 6)  # the middle lies in most lines
PLACES = 4_194_301  # of the table, 40 MB; a prime, since keys that differ in high bits alone must not meet
LOWER, UPPER, EXACT = 1, 2, 3  # what a remembered value is
QUICK = 14  # ply from which on a position takes hundredths of a second
EARLIEST = 4  # ply of a position that is answered; before, one takes minutes


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


def ordered(mine: int, taken: int, open_cells: int, moves: npt.NDArray[np.int64]) -> int:
    """Write the open cells down, those first that make most threats, and return how many there are."""
    count = 0
    for column in ORDER:
        cell = open_cells & (((1 << ROWS) - 1) << column * STRIDE)
        if cell == 0:
            continue
        threats, left = 0, winning_cells(mine | cell, taken | cell)
        while left:
            left &= left - 1
            threats += 1
        at = count
        while at > 0 and moves[at - 1, 1] < threats:
            moves[at, 0], moves[at, 1] = moves[at - 1, 0], moves[at - 1, 1]
            at -= 1
        moves[at, 0], moves[at, 1] = cell, threats
        count += 1
    return count


def negamax(
    mine: int,
    taken: int,
    alpha: int,
    beta: int,
    keys: npt.NDArray[np.int64],
    values: npt.NDArray[np.int8],
    moves: npt.NDArray[np.int64],
) -> int:
    """Return 1, 0 or −1 for the mover, who cannot win at once: exact inside (alpha, beta), else a bound.

    Moves that let the other win at once are left out; if none is left the game is lost. A reply that must be made is
    the only move. `moves` has a row of room for every ply that may follow.
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
    for number in range(ordered(mine, taken, open_cells, moves[0])):
        following = taken | moves[0, number, 0]
        value = 0 if following == CELLS else -negamax(theirs, following, -beta, -low, keys, values, moves[1:])
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


def is_known(game: Game) -> bool:
    """Whether a game is the connect four that is solved here: 6 rows, 7 columns, lines of four."""
    return isinstance(game, ConnectFour) and (game.rows, game.columns, game.line) == (ROWS, COLUMNS, LINE)


class ConnectFourOracle(Oracle):
    """Win, draw or loss of 6×7 connect four; what was searched is remembered for the next position.

    `earliest` is the first ply that it answers at: those who can wait for minutes, or hours, may ask from 0 on.
    """

    def __init__(self, game: Game, *, earliest: int = EARLIEST) -> None:
        if not is_known(game):
            raise UsageError(f"this oracle is of connect four on 6 by 7 cells with lines of 4, found {game!r}")
        super().__init__(game)
        self.earliest = earliest
        self._keys = np.full(PLACES, -1, np.int64)
        self._values = np.zeros((PLACES, 2), np.int8)
        self._moves = np.zeros((ROWS * COLUMNS + 1, COLUMNS, 2), np.int64)
        self._search: Any = _compiled()

    def values(self, state: State) -> Floats:
        self._check(state)
        if state.over:
            return np.zeros(2)
        worth = self._value(state)
        return np.array([worth, -worth] if state.ply & 1 == 0 else [-worth, worth], np.float64)

    def action_values(self, state: State) -> dict[int, float]:
        self.mover(state)
        self._check(state)
        found = {}
        for action in state.legal():
            after, rewards = state.step(action)
            found[action] = float(rewards[state.ply & 1]) if after.over else float(-self._value(after))
        return found

    def is_quick(self, state: State) -> bool:
        return bool(state.over or state.ply >= QUICK)

    def _value(self, state: State) -> int:
        """Return 1, 0 or −1: what best play brings to the player to move in a game that is not over."""
        stones = np.asarray(state.stones, np.int64)
        mine, taken = int(stones[state.ply & 1]), int(stones[0] | stones[1])
        if winning_cells(mine, taken) & ((taken + FLOORS) & CELLS):
            return 1
        return int(self._search(mine, taken, -1, 1, self._keys, self._values, self._moves))

    def _check(self, state: State) -> None:
        if state.game != self.game:
            raise UsageError(f"this is an oracle of {self.game!r}, the state belongs to {state.game!r}")
        if state.ply < self.earliest and not state.over:
            raise TooManyStatesError(
                f"connect four after {state.ply} moves takes too long to solve, minutes or more",
                f"Ask about positions from ply {self.earliest} on",
            )

    def __repr__(self) -> str:
        return f"<oracle of {self.game}: from ply {self.earliest} on>"


@functools.cache
def _compiled() -> Any:
    """Return `negamax` compiled, once a process."""
    from numba import types

    whole = types.int64
    arrays = (types.Array(kind, axes, "C") for kind, axes in ((whole, 1), (types.int8, 2), (whole, 3)))
    return compiled(negamax, (winning_cells, ordered), (*(whole,) * 4, *arrays))
