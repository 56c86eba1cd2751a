"""Tic-tac-toe: three in a row on a 3×3 board; a draw with best play."""

from __future__ import annotations

from typing import Any

import numpy as np

import anabranch as ab

LINES = np.array([0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124], np.int64)


class TicTacToe(ab.CompiledGame):
    """Three in a row on a 3×3 board."""

    title = "tic_tac_toe"

    def __init__(self) -> None:
        self.players, self.actions = 2, 9
        self.observation = (2, 3, 3)
        self.state = ab.record(stones=(np.int16, 2), ply=np.int8, over=np.bool_)

    def turn(self, state: Any) -> int:
        return ab.OVER if state.over else ab.player(state.ply % 2)

    def legal(self, state: Any, player: int, actions: Any) -> int:
        taken, count = state.stones[0] | state.stones[1], 0
        for cell in range(9):
            if not taken >> cell & 1:
                actions[count] = cell
                count += 1
        return count

    def step(self, state: Any, actions: Any, rewards: Any) -> None:
        mover = state.ply % 2
        state.stones[mover] |= 1 << actions[mover]
        state.ply += 1
        if has_line(state.stones[mover]):
            state.over = True
            rewards[mover], rewards[1 - mover] = 1.0, -1.0
        elif state.ply == 9:
            state.over = True

    def observe(self, state: Any, player: int, planes: Any) -> None:
        for cell in range(9):
            for side in range(2):
                if state.stones[(player + side) % 2] >> cell & 1:
                    planes[side, cell // 3, cell % 3] = 1.0


def has_line(stones: int) -> bool:
    """Whether a set of cells (as bits) holds a full line."""
    for line in LINES:
        if stones & line == line:
            return True
    return False
