"""N in a row for two or three players, on boards up to 100×100."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

import anabranch as ab
from anabranch.draw.boards import EMPTY, lines_of, points_board
from anabranch.errors import UsageError
from anabranch.game.board import cell_name, column_names, draw_board, square_symmetries
from anabranch.game.board_text import check_said, placed_in_turn, read_board, refuse
from anabranch.game.parameters import one_of, whole

#: name → (size of the board, length of a line)
PRESETS = {"small": (9, 4), "medium": (15, 5), "large": (30, 6), "huge": (50, 7), "giant": (100, 8)}
WINDOW = 21  # the most of a side that a network sees, and that one move can choose from
PLANES = 8  # half of them where the window is the whole board
PLACEMENT = np.array([1.0, -0.2, -1.0])  # to the first, second and third of three players
WINDOW_TEXT = re.compile(r"rows ([0-9]{1,3}) to [0-9]{1,3}, columns ([0-9]{1,3}) to [0-9]{1,3} of")  # as printed
DIRECTIONS = np.array([[0, 1], [1, 0], [1, 1], [1, -1]], np.int64)


class NInARow(ab.CompiledGame):
    """Players place stones in turn; `line` or more in a row wins, in any of the four directions.

    A full board ends the game. Ranking of three players: the winner first; the others, or all on a full board, by
    their chain profiles: the numbers of maximal runs of each length over the four directions (a lone stone is a run
    of 1 in each), compared from the longest down, more is better; the lower seat goes first if all are equal.

    Rewards, on the last move: "placement" pays +1, −0.2, −1 to first, second and third, and with two players +1 to
    the winner, −1 to the loser, 0 on a full board; "win" pays 1 to a mover who makes a line and nothing else.

    Moves are made in a window of 21×21, or the whole board if that is smaller. It is centred on the middle (rounded
    down) of the box around all stones, the board's centre at first, and kept on the board. Action = row · side +
    column in the window, with side = min(size, 21), from the top left. A window without an empty cell ends the game
    like a full board.

    Sizes: `NInARow(15, 5)`, or `NInARow(preset=…)`: small 9/4, medium 15/5, large 30/6, huge 50/7, giant 100/8.

    A player observes planes of the window's size: its stones in the window, the next player's, the previous player's
    (none with two players), empty cells; and where the board is larger than the window the same four for the whole
    board scaled to that size, each number the share of its area.
    """

    title = "n_in_a_row"
    greedy = 2

    def __init__(
        self,
        size: int | None = None,
        line: int | None = None,
        players: int = 3,
        rewards: str = "placement",
        *,
        preset: str | None = None,
    ) -> None:
        if preset is not None and (size is not None or line is not None):
            raise UsageError("n_in_a_row: give a preset, or size and line, not both")
        one_of("reward scheme of n_in_a_row", rewards, ("placement", "win"))
        usual_size, usual_line = PRESETS[one_of("n_in_a_row preset", "small" if preset is None else preset, PRESETS)]
        self.size = whole("size", usual_size if size is None else size, 1, 100)
        self.line = whole("line", usual_line if line is None else line, 1, self.size)
        self.players = whole("players", players, 2, 3)
        self.side = min(self.size, WINDOW)
        self.actions = self.side * self.side
        self.placement = rewards == "placement"
        self.returns = (-1.0 if self.placement else 0.0, 1.0)
        self.zero_sum = self.placement and self.players == 2
        self.observation = (PLANES if self.size > WINDOW else PLANES // 2, self.side, self.side)
        self.state = ab.record(
            board=(np.int8, self.size * self.size),  # row by row: 0 empty, else seat + 1
            runs=(
                np.int16,
                (self.players, self.line),
            ),  # [seat, l − 1]: maximal runs of length l, the last of l or more
            ply=np.int16,
            rows=(np.int8, 2),  # first and last row of the box around all stones
            columns=(np.int8, 2),
            over=np.bool_,
        )

    def setup(self, state: Any, random: Any) -> None:
        for end in range(2):
            state.rows[end] = self.size // 2
            state.columns[end] = self.size // 2

    def turn(self, state: Any) -> int:
        return ab.OVER if state.over else ab.player(state.ply % self.players)

    def legal(self, state: Any, player: int, actions: Any) -> int:
        size, side, cells = self.size, self.side, state.board
        first = origin(state.rows, size, side) * size + origin(state.columns, size, side)
        count = 0
        for row in range(side):
            for column in range(side):
                # Written in any case but counted only if legal: that spares a branch nobody can predict.
                actions[count] = row * side + column
                count += cells[first + row * size + column] == 0
        return count

    def step(self, state: Any, actions: Any, rewards: Any) -> None:
        mover = state.ply % self.players
        action = actions[mover]
        row = origin(state.rows, self.size, self.side) + action // self.side
        column = origin(state.columns, self.size, self.side) + action % self.side
        cells = state.board
        cells[row * self.size + column] = mover + 1
        widen(state.rows, row, state.ply)
        widen(state.columns, column, state.ply)
        state.ply += 1

        won = False
        for direction in range(4):
            down, right = DIRECTIONS[direction, 0], DIRECTIONS[direction, 1]
            before = run_from(cells, self.size, row, column, -down, -right)
            after = run_from(cells, self.size, row, column, down, right)
            # The new stone joins the runs on both sides of it into one.
            length = min(before + 1 + after, self.line)
            if before > 0:
                state.runs[mover, before - 1] -= 1
            if after > 0:
                state.runs[mover, after - 1] -= 1
            state.runs[mover, length - 1] += 1
            won = won or length == self.line
        if won:
            state.over = True
            if not self.placement:
                rewards[mover] = 1.0
            elif self.players == 2:
                rewards[mover], rewards[1 - mover] = 1.0, -1.0
            else:
                pay_places(state.runs, mover, rewards)
        elif is_full(state, self.size, self.side):
            state.over = True
            if self.placement and self.players == 3:
                pay_places(state.runs, -1, rewards)

    def observe(self, state: Any, player: int, planes: Any) -> None:
        size, side, players = self.size, self.side, self.players
        top, left = origin(state.rows, size, side), origin(state.columns, size, side)
        for row in range(side):
            for column in range(side):
                mark = state.board[(top + row) * size + left + column]
                planes[3 if mark == 0 else (mark - 1 - player) % players, row, column] = 1.0
        if size > side:
            pool(state, size, side, player, players, planes)

    def symmetries(self) -> Sequence[ab.Symmetry]:
        """The seven turns and flips of a board that fits the window; on others the window's rounding breaks them."""
        return () if self.size > WINDOW else square_symmetries(self.size, PLANES // 2)

    def text(self, state: ab.State) -> str:
        top, left = origin(state.rows, self.size, self.side), origin(state.columns, self.size, self.side)
        board = state.board.reshape(self.size, self.size)[top : top + self.side, left : left + self.side]
        lines = [[".xo#"[mark] for mark in row] for row in board.tolist()]
        heading = "over" if state.over else f"{'xo#'[state.ply % self.players]} to move"
        if self.side < self.size:
            heading += f"; rows {top} to {top + self.side - 1}, columns {left} to {left + self.side - 1} of {self.size}"
        return draw_board(lines) + "\n" + heading

    def read(self, text: str) -> ab.State:
        """Read a board; the stones decide who moves.

        Of boards larger than the window all rows may be typed, or the window as it is printed, which says where it
        lies: then there are no stones outside.
        """
        window = WINDOW_TEXT.search(text)
        side, top, left = (self.side, int(window[1]), int(window[2])) if window else (self.size, 0, 0)
        if max(top, left) > self.size - side:
            refuse(self, f"{window and window[0]!r} reaches beyond the board; its window of {side} rows must be on it")
        drawn = read_board(self, text, side, side)
        ply, won = placed_in_turn(self, drawn, self.line)
        board = np.zeros((self.size, self.size), np.int8)
        board[top : top + side, left : left + side] = np.array(drawn.cells) - EMPTY
        stones = np.argwhere(board)
        middle = [[self.size // 2, self.size // 2]]
        rows, columns = np.array([stones.min(0), stones.max(0)] if ply else middle * 2).T.tolist()
        state = self.start().replace(
            board=board.reshape(-1),
            runs=count_runs(board, self.players, self.line),
            ply=ply,
            rows=rows,
            columns=columns,
        )
        if window and (origin(rows, self.size, side), origin(columns, self.size, side)) != (top, left):
            refuse(
                self,
                f"the window of these stones is not at {window[0]!r}, so there are stones outside it that the text "
                f"does not show; write all {self.size} rows of the board",
            )
        over = won or is_full(state, self.size, self.side)
        check_said(self, drawn, None if over else ply % self.players)
        return state.replace(over=over)

    def svg(self, state: ab.State) -> str:
        """Draw the board (of large ones the window in which stones may be placed), and the line that won."""
        top, left = origin(state.rows, self.size, self.side), origin(state.columns, self.size, self.side)
        board = state.board.reshape(self.size, self.size)[top : top + self.side, left : left + self.side]
        cells = (board - 1).tolist()  # an empty cell, 0, becomes EMPTY
        return points_board(cells, column_names(self.side), lines_of(cells, self.line))

    def player_name(self, player: int) -> str:
        """Return the player's mark; x moves first."""
        return "xo#"[player]

    def action_name(self, action: int) -> str:
        """Return the cell's name as `text` shows it; on large boards that is a cell of the window."""
        return cell_name(action, self.side, self.side)


def origin(ends: Any, size: int, side: int) -> int:
    """Return where the window begins along one axis, given the first and last stone on it."""
    first = (ends[0] + ends[1]) // 2 - side // 2
    if first < 0:
        return 0
    return int(first) if first < size - side else size - side


def count_runs(board: Any, players: int, line: int) -> list[list[int]]:
    """Return the chain profiles of a board: [seat][l − 1] maximal runs of length l, the last of l or more."""
    runs = [[0] * line for _ in range(players)]
    cells, size = board.reshape(-1), len(board)
    for row, column in np.argwhere(board).tolist():
        for down, right in DIRECTIONS.tolist():
            before = (row - down, column - right)
            begins = not (0 <= before[0] < size and 0 <= before[1] < size) or board[before] != board[row, column]
            if begins:
                length = min(1 + run_from(cells, size, row, column, down, right), line)
                runs[board[row, column] - 1][length - 1] += 1
    return runs


def widen(ends: Any, place: int, ply: int) -> None:
    """Let the box around the stones reach a new one."""
    if ply == 0 or place < ends[0]:
        ends[0] = place
    if ply == 0 or place > ends[1]:
        ends[1] = place


def run_from(cells: Any, size: int, row: int, column: int, down: int, right: int) -> int:
    """Return how many stones like the one at a cell follow it without a gap in a direction."""
    mark, length = cells[row * size + column], 0
    row += down
    column += right
    while 0 <= row < size and 0 <= column < size and cells[row * size + column] == mark:
        length += 1
        row += down
        column += right
    return length


def is_full(state: Any, size: int, side: int) -> bool:
    """Whether the window has no empty cell left; it takes as many stones as it has cells."""
    if state.ply < side * side:
        return False
    top, left = origin(state.rows, size, side), origin(state.columns, size, side)
    for row in range(top, top + side):
        for column in range(left, left + side):
            if state.board[row * size + column] == 0:
                return False
    return True


def pay_places(runs: Any, winner: int, rewards: Any) -> None:
    """Rank three players, the winner (-1 if there is none) first, and pay each its place."""
    for seat in range(3):
        place = 0
        for other in range(3):
            if other != seat and seat != winner and (other == winner or ranks_before(runs, other, seat)):
                place += 1
        rewards[seat] = PLACEMENT[place]


def ranks_before(runs: Any, one: int, other: int) -> bool:
    """Whether one player's chain profile beats another's."""
    for length in range(runs.shape[1] - 1, -1, -1):
        if runs[one, length] != runs[other, length]:
            return bool(runs[one, length] > runs[other, length])
    return one < other


def pool(state: Any, size: int, side: int, player: int, players: int, planes: Any) -> None:
    """Write the whole board scaled to the window's size: for each kind of cell, the share of the area it covers.

    With sizes in units of 1/side of a board's cell everything is whole: scaled cell i covers [i·S, (i+1)·S), cell r
    of the board covers [side·r, side·(r+1)), at most two of them along an axis. Stones are spread out one by one; what
    they leave is empty.
    """
    board = state.board
    for y in range(state.rows[0], state.rows[1] + 1):
        for x in range(state.columns[0], state.columns[1] + 1):
            mark = board[y * size + x]
            if mark == 0:
                continue
            plane = 4 + (mark - 1 - player) % players
            for row in range(y * side // size, ((y + 1) * side - 1) // size + 1):
                height = min((row + 1) * size, (y + 1) * side) - max(row * size, y * side)
                for column in range(x * side // size, ((x + 1) * side - 1) // size + 1):
                    width = min((column + 1) * size, (x + 1) * side) - max(column * size, x * side)
                    planes[plane, row, column] += height * width
    whole_area = size * size
    for row in range(side):
        for column in range(side):
            taken = 0.0
            for plane in range(4, 7):
                taken += planes[plane, row, column]
                planes[plane, row, column] /= whole_area
            planes[7, row, column] = (whole_area - taken) / whole_area
