"""Who wins an ending of Othello, exactly: alpha-beta over boards as integers, compiled.

Only win, draw or loss is asked for. Moves that leave the other the fewest placements come first, which makes most of
the speed; near the end, where little is left to be gained by it, moves come as they are.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from anabranch.errors import TooManyStatesError, UsageError
from anabranch.game.game import Game
from anabranch.game.state import State
from anabranch.games.othello import (
    ONE,
    ZERO,
    Othello,
    count_cells,
    enclosed,
    placements,
    run_down,
    run_up,
)
from anabranch.search.exact.compile import compiled
from anabranch.search.exact.oracle import Floats, Oracle

MOST_EMPTY = 18  # cells of a position that is answered
QUICK = 12  # of one that takes milliseconds
UNSORTED = 4  # empty cells from which on moves come as they are


def sorted_moves(own: Any, other: Any, moves: Any, everywhere: Any, distances: Any, passable: Any, room: Any) -> int:
    """Write boards after each move down, the fewest replies first, and return how many there are.

    A row is the other's discs, the mover's, and where the other may place: a board as the other sees it.
    """
    empty = count_cells(everywhere & ~(own | other))
    count = 0
    while moves != ZERO:
        placed = moves & ~(moves - ONE)
        moves &= moves - ONE
        turned = enclosed(placed, own, other, distances, passable)
        after, left = own | placed | turned, other ^ turned
        replies = placements(left, after, everywhere, distances, passable)
        at = count
        if empty > UNSORTED:
            few = count_cells(replies)
            while at > 0 and count_cells(room[at - 1, 2]) > few:
                for part in range(3):
                    room[at, part] = room[at - 1, part]
                at -= 1
        room[at, 0], room[at, 1], room[at, 2] = left, after, replies
        count += 1
    return count


def ending(
    own: Any, other: Any, moves: Any, alpha: int, beta: int, everywhere: Any, distances: Any, passable: Any, room: Any
) -> int:
    """Return 1, 0 or −1 for the mover, who may place at `moves`: exact inside (alpha, beta), else a bound."""
    if moves == ZERO:
        replies = placements(other, own, everywhere, distances, passable)
        if replies == ZERO:
            lead = count_cells(own) - count_cells(other)
            return 1 if lead > 0 else -1 if lead < 0 else 0
        return -ending(other, own, replies, -beta, -alpha, everywhere, distances, passable, room)
    best = -1
    here = room[0]
    for number in range(sorted_moves(own, other, moves, everywhere, distances, passable, here)):
        value = -ending(
            here[number, 0], here[number, 1], here[number, 2], -beta, -alpha, everywhere, distances, passable, room[1:]
        )
        best = max(best, value)
        alpha = max(alpha, best)
        if alpha >= beta:
            break
    return best


class OthelloOracle(Oracle):
    """Win, draw or loss of Othello's endings: positions with at most 18 empty cells."""

    def __init__(self, game: Game) -> None:
        if not isinstance(game, Othello):
            raise UsageError(f"this oracle is of Othello, found {game!r}")
        super().__init__(game)
        self.rules: Othello = game
        self._room = np.zeros((MOST_EMPTY + 1, game.cells, 3), np.uint64)
        self._search: Any = _compiled()

    def values(self, state: State) -> Floats:
        self._check(state)
        if state.over:
            return np.zeros(2)
        worth = self._value(state)
        return np.array([worth, -worth] if state.mover == 0 else [-worth, worth], np.float64)

    def action_values(self, state: State) -> dict[int, float]:
        seat = self.mover(state)
        self._check(state)
        found = {}
        for action in state.legal():
            after, rewards = state.step(action)
            found[action] = float(rewards[seat]) if after.over else float(-self._value(after))
        return found

    def is_quick(self, state: State) -> bool:
        return bool(state.over or self._empty(state) <= QUICK)

    def _empty(self, state: State) -> int:
        return self.rules.cells - sum(int(discs).bit_count() for discs in state.discs)

    def _value(self, state: State) -> int:
        """Return 1, 0 or −1: what best play brings to the player to move in a game that is not over."""
        discs: npt.NDArray[np.uint64] = np.asarray(state.discs, np.uint64)
        game, seat = self.rules, int(state.mover)
        return int(
            self._search(
                discs[seat],
                discs[1 - seat],
                np.uint64(state.moves),
                -1,
                1,
                game.everywhere,
                np.asarray(game.distances),
                np.asarray(game.passable),
                self._room,
            )
        )

    def _check(self, state: State) -> None:
        if state.game != self.game:
            raise UsageError(f"this is an oracle of {self.game!r}, the state belongs to {state.game!r}")
        empty = self._empty(state)
        if empty > MOST_EMPTY and not state.over:
            raise TooManyStatesError(
                f"an Othello position with {empty} empty cells takes too long to solve",
                f"Ask about positions with at most {MOST_EMPTY}",
            )

    def __repr__(self) -> str:
        return f"<oracle of {self.game}: at most {MOST_EMPTY} empty cells>"


@functools.cache
def _compiled() -> Any:
    """Return `ending` compiled, once a process."""
    from numba import types

    cells, whole = types.uint64, types.int64
    signature = (cells, cells, cells, whole, whole, cells, *(types.Array(cells, axes, "C") for axes in (1, 1, 3)))
    return compiled(ending, (run_up, run_down, placements, enclosed, count_cells, sorted_moves), signature)
