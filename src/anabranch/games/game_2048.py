"""2048: slide tiles, equal ones merge, and after every move a new one appears."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

import anabranch as ab
from anabranch.draw.sheets import tiles_board
from anabranch.errors import UsageError, shown
from anabranch.game.parameters import whole

UP, RIGHT, DOWN, LEFT = 0, 1, 2, 3
NAMES = ("up", "right", "down", "left")
STEPS = ((-1, 0), (0, 1), (1, 0), (0, -1))  # row, column
LAST_LINE = re.compile(r"score ([0-9]{1,7})(?:, (?:(to move|over)|([12]) (?:tile|tiles) to come))?")


class Game2048(ab.CompiledGame):
    """Slide all tiles to one side; two equal ones that meet merge, and the sum is what you score; then a tile appears.

    Each tile merges at most once in a move, those nearest to the side first. A move must change something; who cannot
    move has lost, which costs nothing but the points to come. The new tile is a 4 with chance `fours`, else a 2, on any
    empty cell alike; the game begins with two of them. With a `target` the game also ends when a tile reaches it.

    Actions: up 0, right 1, down 2, left 3. Outcome = 2 · cell, + 1 for a 4; cells are numbered by rows from the top.
    Cells hold exponents, 0 for none. Score and moves are kept for people and for the names of played tiles; no future
    depends on them and they are not in the key. An observation has one plane per tile: 2, 4, 8, and so on.
    """

    title = "2048"

    def __init__(
        self, rows: int = 4, columns: int | None = None, fours: float = 0.1, target: int | None = None
    ) -> None:
        self.rows = whole("rows", rows, 1, 4)
        self.columns = whole("columns", rows if columns is None else columns, 1, 4)
        if isinstance(fours, bool) or not isinstance(fours, (int, float)) or not 0.0 <= fours <= 1.0:
            raise UsageError(f"fours is the chance of a 4, from 0 to 1, found {shown(fours)}")
        self.fours = float(fours)
        self.cells = self.rows * self.columns
        if self.cells < 2:
            raise UsageError("2048: one cell is no board; rows · columns must be at least 2")
        largest = self.cells + 1
        if target is not None and whole("target", target) not in [1 << exponent for exponent in range(3, largest + 1)]:
            raise UsageError(f"target is a tile from 8 to {1 << largest}, the largest that fits, found {shown(target)}")
        self.goal = 0 if target is None else int(target).bit_length() - 1
        self.players, self.actions, self.outcomes = 1, 4, 2 * self.cells
        self.rewards_along = True
        self.most = most_potential(self.cells, self.goal)
        self.returns = (0.0, float(self.most))
        self.planes = largest
        self.observation = (largest, self.rows, self.columns)
        position = {"board": (np.int8, self.cells), "spawns": np.int8}  # spawns: tiles to appear before the next move
        self.state = ab.record(score=np.int32, moves=np.int32, **position)
        self.key_record = ab.record(**position)

    def setup(self, state: Any, random: Any) -> None:
        state.spawns = 2

    def turn(self, state: Any) -> int:
        if self.goal > 0 and holds(state.board, self.cells, self.goal):
            return ab.OVER
        if state.spawns > 0:
            return ab.CHANCE
        for action in range(4):
            if can_slide(state.board, self.rows, self.columns, action):
                return ab.player(0)
        return ab.OVER

    def legal(self, state: Any, player: int, actions: Any) -> int:
        count = 0
        for action in range(4):
            if can_slide(state.board, self.rows, self.columns, action):
                actions[count] = action
                count += 1
        return count

    def chance(self, state: Any, outcomes: Any, chances: Any) -> int:
        empty = empties(state.board, self.cells)
        count = 0
        for cell in range(self.cells):
            if state.board[cell] == 0:
                for kind in range(2):
                    share = self.fours if kind == 1 else 1.0 - self.fours
                    if share > 0.0:
                        outcomes[count] = 2 * cell + kind
                        chances[count] = share / empty
                        count += 1
        return count

    def draw(self, state: Any, random: Any) -> int:
        place = ab.below(random, empties(state.board, self.cells))
        kind = 1 if ab.uniform(random) < self.fours else 0
        cell = 0
        while place > 0 or state.board[cell] != 0:
            if state.board[cell] == 0:
                place -= 1
            cell += 1
        return 2 * cell + kind

    def step(self, state: Any, actions: Any, rewards: Any) -> None:
        if state.spawns > 0:
            state.board[actions[0] // 2] = 1 + actions[0] % 2
            state.spawns -= 1
            return
        gained = slide(state.board, self.rows, self.columns, actions[0])
        state.score += gained
        state.moves += 1
        state.spawns = 1
        rewards[0] = gained

    def key(self, state: Any, key: Any) -> None:
        ab.copy(key.board, state.board)
        key.spawns = state.spawns

    def event(self, state: Any, event: Any) -> None:
        event[0] = state.moves
        event[1] = state.spawns

    def bounds(self, state: Any, low: Any, high: Any) -> None:
        over = self.goal > 0 and holds(state.board, self.cells, self.goal)
        if not over and state.spawns == 0:
            over = True
            for action in range(4):
                if can_slide(state.board, self.rows, self.columns, action):
                    over = False
        if not over:
            high[0] = self.most - potential(state.board, self.cells)

    def observe(self, state: Any, player: int, planes: Any) -> None:
        for cell in range(self.cells):
            if state.board[cell] > 0:
                planes[state.board[cell] - 1, cell // self.columns, cell % self.columns] = 1.0

    def symmetries(self) -> Sequence[ab.Symmetry]:
        """Turns and reflections of the board."""
        found = []
        for across, flip_rows, flip_columns in product((False, True), repeat=3):
            if (across and self.rows != self.columns) or not (across or flip_rows or flip_columns):
                continue

            def image(row: int, column: int, *, across: bool = across, signs: Any = (flip_rows, flip_columns)) -> Any:
                row, column = (column, row) if across else (row, column)
                return -row if signs[0] else row, -column if signs[1] else column

            grid = np.zeros((self.rows, self.columns), np.int64)
            for row, column in product(range(self.rows), range(self.columns)):
                down, right = image(row, column)
                grid[row, column] = (down + (self.rows - 1) * flip_rows) * self.columns + (
                    right + (self.columns - 1) * flip_columns
                )
            found.append(
                ab.Symmetry(
                    actions=tuple(STEPS.index(image(*step)) for step in STEPS),
                    cells=ab.board_cells(grid, self.planes),
                    outcomes=tuple(int(2 * cell + kind) for cell in grid.reshape(-1) for kind in range(2)),
                )
            )
        return found

    def text(self, state: ab.State) -> str:
        wide = max(4, *(len(str(tile)) for row in self._tiles(state) for tile in row))
        rows = ["  ".join((str(tile) if tile else ".").rjust(wide) for tile in row) for row in self._tiles(state)]
        return "\n".join([*rows, self._note(state)])

    def _tiles(self, state: ab.State) -> list[list[int]]:
        tiles = [1 << int(exponent) if exponent else 0 for exponent in state.board]
        return [tiles[row * self.columns : (row + 1) * self.columns] for row in range(self.rows)]

    def _note(self, state: ab.State) -> str:
        what = "over" if state.over else "to move" if not state.spawns else f"{state.spawns} to come"
        many = what.replace(" to", " tiles to" if state.spawns > 1 else " tile to") if state.spawns else what
        return f"score {state.score}, {many}"

    def read(self, text: str) -> ab.State:
        """Read rows of tiles, `.` for empty cells, and a last line such as `score 24, to move` if you like."""
        lines = [line.split() for line in text.replace("/", "\n").strip().splitlines()]
        last = LAST_LINE.fullmatch(" ".join(lines[-1])) if lines else None
        rows = lines[:-1] if last else lines
        if len(rows) != self.rows or any(len(row) != self.columns for row in rows):
            raise UsageError(
                f"2048: write {self.rows} rows of {self.columns} tiles, `.` for empty cells, and if you like a last "
                f"line such as {self._note(self.start())!r}; found {shown(text)}"
            )
        known = {".": 0, **{str(1 << exponent): exponent for exponent in range(1, self.cells + 2)}}
        for word in (word for row in rows for word in row):
            if word not in known:
                raise UsageError(f"2048: {shown(word)} is no tile here; tiles are 2 to {1 << self.cells + 1}, and `.`")
        board = [known[word] for row in rows for word in row]
        spawns = int(last[3] or 0) if last else 0
        if spawns > board.count(0):
            raise UsageError(f"2048: {spawns} tiles cannot appear on {board.count(0)} empty cells")
        state = self.start().replace(board=board, spawns=spawns, score=int(last[1]) if last else 0)
        if last and last[2] and state.over != (last[2] == "over"):
            raise UsageError(f"2048: on this board the game is {'' if state.over else 'not '}over; correct one of them")
        return state

    def svg(self, state: ab.State) -> str:
        """Draw the tiles."""
        return tiles_board(self._tiles(state), self._note(state))

    def action_name(self, action: int) -> str:
        return NAMES[action]

    def outcome_name(self, outcome: int) -> str:
        cell = outcome // 2
        return f"{2 << outcome % 2}@{'abcd'[cell % self.columns]}{self.rows - cell // self.columns}"


def holds(board: Any, cells: int, exponent: int) -> bool:
    """Whether some tile is that large."""
    largest = 0
    for cell in range(cells):
        largest = max(largest, board[cell])
    return largest >= exponent


def empties(board: Any, cells: int) -> int:
    """Return how many cells are empty."""
    count = 0
    for cell in range(cells):
        if board[cell] == 0:
            count += 1
    return count


def first_cell(rows: int, columns: int, action: int, number: int) -> int:
    """Return the cell at the side that tiles slide to, of the number-th line."""
    if action == UP:
        return number
    if action == DOWN:
        return (rows - 1) * columns + number
    return number * columns if action == LEFT else number * columns + columns - 1


def stride(columns: int, action: int) -> int:
    """Return how far apart cells of a line are, away from the side."""
    return columns if action == UP else -columns if action == DOWN else 1 if action == LEFT else -1


def can_slide(board: Any, rows: int, columns: int, action: int) -> bool:
    """Whether a tile has an empty cell or its equal before it."""
    across = action in (LEFT, RIGHT)
    length, apart = columns if across else rows, stride(columns, action)
    for number in range(rows if across else columns):
        at = first_cell(rows, columns, action, number)
        ahead = board[at]
        for _ in range(1, length):
            at += apart
            here = board[at]
            if here != 0 and (ahead == 0 or ahead == here):
                return True
            ahead = here
    return False


def slide(board: Any, rows: int, columns: int, action: int) -> int:
    """Slide all tiles and return the sum of those that were made by merging."""
    across = action in (LEFT, RIGHT)
    length, apart, gained = columns if across else rows, stride(columns, action), 0
    for number in range(rows if across else columns):
        first = first_cell(rows, columns, action, number)
        filled, waiting = first, 0  # the next cell to be filled; the tile before it, if it may still merge
        for place in range(length):
            at = first + place * apart
            tile = board[at]
            if tile == 0:
                continue
            board[at] = 0
            if tile == waiting:
                board[filled - apart] = tile + 1
                gained += 1 << (tile + 1)
                waiting = 0
            else:
                board[filled] = tile
                filled += apart
                waiting = tile
    return gained


def potential(board: Any, cells: int) -> int:
    """Return Σ (e − 1) · 2^e over tiles 2^e: every merge adds to it what it scores, a new 2 nothing, a new 4 four."""
    total = 0
    for cell in range(cells):
        if board[cell] > 1:
            total += (board[cell] - 1) << board[cell]
    return total


def most_potential(cells: int, goal: int) -> int:
    """Return the largest potential there can be: a chain 4, 8, …, 2^(cells + 1), or the goal among halves of it.

    A tile of 2^e needs e − 1 cells to be made on, as a 4 may appear at once.
    """
    chain = sum((exponent - 1) << exponent for exponent in range(2, cells + 2))
    if goal == 0:
        return chain
    return min(chain, ((goal - 1) << goal) + (cells - 1) * ((goal - 2) << (goal - 1)))
