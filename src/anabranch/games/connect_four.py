"""Connect four: columns fill from the bottom; four in a row win."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import anabranch as ab
from anabranch.draw.boards import EMPTY, holes_board, lines_of
from anabranch.errors import GameError
from anabranch.game.board import column_name, column_names, draw_board
from anabranch.game.board_text import check_said, placed_in_turn, read_board
from anabranch.game.parameters import whole


class ConnectFour(ab.CompiledGame):
    """Drop a stone into a column; `line` in a row (across, up or diagonally) win, a full board is a draw.

    Action = column, from the left; they are called a, b, c, …

    A player's stones are the bits of one integer: column by column, each column from the bottom up with one bit left
    free above it. The free bit stays 0, so that shifting the board never carries a line over an edge:

         6 13 20 27 34 41 48      always empty
         5 12 19 26 33 40 47      top row of the 6×7 board
         …
         0  7 14 21 28 35 42      bottom row
    """

    title = "connect_four"
    zero_sum = True

    def __init__(self, rows: int = 6, columns: int = 7, line: int = 4) -> None:
        self.rows = whole("rows", rows, 1)
        self.columns = whole("columns", columns, 1)
        self.line = whole("line", line, 1, max(rows, columns))
        self.stride = rows + 1  # bits per column
        if self.stride * columns > 63:
            raise GameError(
                f"connect_four: (rows + 1) · columns must be at most 63 for the board to fit one integer, "
                f"found ({rows} + 1) · {columns} = {self.stride * columns}; take fewer rows or columns"
            )
        self.players, self.actions = 2, columns
        self.observation = (2, rows, columns)  # the observer's stones, the other's; row 0 is the top
        self.shifts = line_shifts(self.stride, line)
        self.steps = np.array((1, rows, self.stride, self.stride + 1), np.int64)  # to the next cell of a line
        self.column = (1 << rows) - 1
        self.floors = sum(1 << column * self.stride for column in range(columns))
        self.board = self.floors * self.column
        self.state = ab.record(stones=(np.int64, 2), ply=np.int8, over=np.bool_)

    def turn(self, state: Any) -> int:
        return ab.OVER if state.over else ab.player(state.ply & 1)

    def legal(self, state: Any, player: int, actions: Any) -> int:
        # Row 0 now holds each column's top cell.
        tops = (state.stones[0] | state.stones[1]) >> (self.rows - 1)
        count = 0
        for column in range(self.columns):
            if tops >> (column * self.stride) & 1 == 0:
                actions[count] = column
                count += 1
        return count

    def step(self, state: Any, actions: Any, rewards: Any) -> None:
        mover = state.ply & 1
        floor = actions[mover] * self.stride
        taken = state.stones[0] | state.stones[1]
        # Adding 1 at the floor of a column carries through its stones into the lowest empty cell.
        column = ((1 << self.stride) - 1) << floor
        stones = state.stones[mover] | ((taken + (1 << floor)) & column)
        state.stones[mover] = stones
        state.ply += 1
        if has_line(stones, self.shifts):
            state.over = True
            rewards[mover], rewards[1 - mover] = 1.0, -1.0
        elif state.ply == self.rows * self.columns:
            state.over = True

    def rollout_action(self, state: Any, player: int, random: Any) -> int:
        """Win if possible, else stop the other from winning, else drop anywhere."""
        # Adding 1 at every floor carries through each column's stones into its lowest empty cell.
        open_cells = ((state.stones[0] | state.stones[1]) + self.floors) & self.board
        cells = completions(state.stones[player], self.steps, self.line) & open_cells
        if cells == 0:
            cells = completions(state.stones[1 - player], self.steps, self.line) & open_cells
        if cells == 0:
            cells = open_cells
        count = 0
        for column in range(self.columns):
            count += (cells >> (column * self.stride)) & self.column != 0
        skip = ab.below(random, count) if count > 1 else 0
        for column in range(self.columns):
            if (cells >> (column * self.stride)) & self.column != 0:
                if skip == 0:
                    return column
                skip -= 1
        return ab.IDLE

    def observe(self, state: Any, player: int, planes: Any) -> None:
        for side in range(2):
            stones = state.stones[(player + side) & 1]
            for column in range(self.columns):
                for row in range(self.rows):
                    planes[side, self.rows - 1 - row, column] = stones >> (column * self.stride + row) & 1

    def symmetries(self) -> Sequence[ab.Symmetry]:
        """Return the mirror image, left for right."""
        mirror = np.arange(self.rows * self.columns).reshape(self.rows, self.columns)[:, ::-1]
        return (ab.Symmetry(actions=tuple(range(self.columns))[::-1], cells=ab.board_cells(mirror, planes=2)),)

    def player_name(self, player: int) -> str:
        """Return the player's mark; x moves first."""
        return "xo"[player]

    def action_name(self, action: int) -> str:
        """Return the column's letter."""
        return column_name(action)

    def text(self, state: ab.State) -> str:
        """Draw the board; x moves first."""
        first, second = state.stones.tolist()
        lines = []
        for row in reversed(range(self.rows)):
            cells = [column * self.stride + row for column in range(self.columns)]
            lines.append(["x" if first >> cell & 1 else "o" if second >> cell & 1 else "." for cell in cells])
        board = draw_board(lines, ranks=False)
        return f"{board}\n" + ("over" if state.over else f"{'xo'[state.ply & 1]} to move")

    def read(self, text: str) -> ab.State:
        """Read a board; the stones decide who moves. Not asked is in which order columns were filled."""
        drawn = read_board(self, text, self.rows, self.columns)
        ply, won = placed_in_turn(self, drawn, self.line, falling=True)
        over = won or ply == self.rows * self.columns
        check_said(self, drawn, None if over else ply % 2)
        stones = [0, 0]
        for row, seats in enumerate(reversed(drawn.cells)):
            for column, seat in enumerate(seats):
                if seat != EMPTY:
                    stones[seat] |= 1 << column * self.stride + row
        return self.start().replace(stones=stones, ply=ply, over=over)

    def svg(self, state: ab.State) -> str:
        """Draw the board, and the line that won."""
        first, second = state.stones.tolist()
        cells = []
        for row in reversed(range(self.rows)):
            bits = [column * self.stride + row for column in range(self.columns)]
            cells.append([0 if first >> bit & 1 else 1 if second >> bit & 1 else EMPTY for bit in bits])
        return holes_board(cells, column_names(self.columns), lines_of(cells, self.line))


def line_shifts(stride: int, line: int) -> Any:
    """Return, for each of the four directions, the shifts that leave a bit exactly where a line of stones begins.

    Let S_k be the cells where k stones in a row begin, d the distance between neighbours. S_1 is the stones and

        S_{k+j} = S_k & (S_k >> j·d)    for 0 ≤ j ≤ k,

    so doubling k and then filling up to `line` takes ⌈log₂ line⌉ steps. Shifts are capped at 63, which empties the
    board as any longer one would (native code leaves those undefined).
    """
    steps = []
    length = 1
    while length < line:
        longer = min(2 * length, line)
        steps.append(longer - length)
        length = longer
    directions = (1, stride - 1, stride, stride + 1)  # up, falling diagonal, across, rising diagonal
    return np.array([[min(step * distance, 63) for step in steps or [0]] for distance in directions], np.int64)


def completions(stones: int, steps: Any, line: int) -> int:
    """Return the cells, empty or not, with which stones would make a line.

    In each direction a cell does so that has i stones next to it on one side and line − 1 − i on the other.
    """
    cells = 0
    for direction in range(len(steps)):
        step = steps[direction]
        before = -1  # where i stones lie just below, for i = 0
        for i in range(line):
            both = before
            for j in range(1, line - i):
                both &= stones >> min(j * step, 63)
            cells |= both
            before &= stones << min((i + 1) * step, 63)
    return cells


def has_line(stones: int, shifts: Any) -> bool:
    """Whether a set of stones holds a line; `shifts` as `line_shifts` gives them."""
    for direction in range(shifts.shape[0]):
        begins = stones
        for step in range(shifts.shape[1]):
            begins &= begins >> shifts[direction, step]
        if begins != 0:
            return True
    return False
