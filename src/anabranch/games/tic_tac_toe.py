"""Tic-tac-toe: three in a row on a 3×3 board; a draw with best play."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import anabranch as ab
from anabranch.draw.boards import EMPTY, lines_of, marks_board
from anabranch.game.board import cell_name, column_names, draw_board, square_symmetries
from anabranch.game.board_text import check_said, placed_in_turn, read_board

# A set of cells is a number of nine bits, three to a row (hence octal); HAS_LINE tells which sets hold a line.
LINES = (0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124)
HAS_LINE = np.array([any(cells & line == line for line in LINES) for cells in range(512)])


class TicTacToe(ab.CompiledGame):
    """Three in a row on a 3×3 board; who completes a line first wins, a full board is a draw.

    Action = cell, row by row from the top left; names count ranks from the bottom, so 0 is a3 and 8 is c1.
    """

    title = "tic_tac_toe"
    zero_sum = True
    greedy = 2

    def __init__(self) -> None:
        self.players, self.actions = 2, 9
        self.observation = (2, 3, 3)  # the observer's stones, the other's
        self.state = ab.record(stones=(np.int16, 2), ply=np.int8, over=np.bool_)  # bit i of stones is cell i

    def turn(self, state: Any) -> int:
        return ab.OVER if state.over else ab.player(state.ply % 2)

    def legal(self, state: Any, player: int, actions: Any) -> int:
        taken, count = state.stones[0] | state.stones[1], 0
        for cell in range(9):  # written in any case and counted if free: nobody can foresee which cells are
            actions[count] = cell
            count += 1 - (taken >> cell & 1)
        return count

    def step(self, state: Any, actions: Any, rewards: Any) -> None:
        mover = state.ply % 2
        state.stones[mover] |= 1 << actions[mover]
        state.ply += 1
        if HAS_LINE[state.stones[mover]]:
            state.over = True
            rewards[mover], rewards[1 - mover] = 1.0, -1.0
        elif state.ply == 9:
            state.over = True

    def observe(self, state: Any, player: int, planes: Any) -> None:
        for side in range(2):
            stones = state.stones[(player + side) % 2]
            for cell in range(9):
                planes[side, cell // 3, cell % 3] = stones >> cell & 1

    def symmetries(self) -> Sequence[ab.Symmetry]:
        """Return the turns and flips of the board."""
        return square_symmetries(3, planes=2)

    def player_name(self, player: int) -> str:
        """Return the player's mark; x moves first."""
        return "xo"[player]

    def action_name(self, action: int) -> str:
        """Return the cell's name, a1 (bottom left) to c3."""
        return cell_name(action, 3, 3)

    def text(self, state: ab.State) -> str:
        """Draw the board; x moves first."""
        first, second = state.stones.tolist()
        marks = ["x" if first >> cell & 1 else "o" if second >> cell & 1 else "." for cell in range(9)]
        board = draw_board([marks[0:3], marks[3:6], marks[6:9]])
        return f"{board}\n" + ("over" if state.over else f"{'xo'[state.ply % 2]} to move")

    def read(self, text: str) -> ab.State:
        """Read a board; the marks decide who moves."""
        drawn = read_board(self, text, 3, 3)
        ply, won = placed_in_turn(self, drawn, 3)
        over = won or ply == 9
        check_said(self, drawn, None if over else ply % 2)
        marks = [seat for row in drawn.cells for seat in row]
        stones = [sum(1 << cell for cell in range(9) if marks[cell] == seat) for seat in range(2)]
        return self.start().replace(stones=stones, ply=ply, over=over)

    def svg(self, state: ab.State) -> str:
        """Draw the board with crosses and rings, and the line that won."""
        first, second = state.stones.tolist()
        seats = [0 if first >> cell & 1 else 1 if second >> cell & 1 else EMPTY for cell in range(9)]
        cells = [seats[0:3], seats[3:6], seats[6:9]]
        return marks_board(cells, column_names(3), lines_of(cells, 3))
