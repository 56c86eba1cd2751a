"""Othello: enclose the other's discs to turn them; most discs win."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import anabranch as ab
from anabranch.draw.boards import EMPTY, felt_board
from anabranch.errors import UsageError
from anabranch.game.board import cell_name, column_names, draw_board, square_symmetries
from anabranch.game.board_text import check_said, place, read_board, refuse
from anabranch.game.parameters import is_whole

# Boards are sets of cells in all 64 bits, so every operand is uint64: beside a signed one, native code turns to floats.
ZERO, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)

# 2 is a primitive root of the prime 67, so 2^0 … 2^63 leave different remainders: CELL_OF[2^i mod 67] = i.
PRIME = np.uint64(67)
CELL_OF = np.zeros(67, np.int64)
CELL_OF[[2**cell % 67 for cell in range(64)]] = range(64)


class Othello(ab.CompiledGame):
    """Place a disc so that lines of the other's discs lie enclosed between it and your own; they turn to your colour.

    Action = cell, row by row from the top left; size² is the pass, legal only if nothing else is. The game ends when
    neither player can place a disc; more discs win. On 8×8 the first player starts on (3, 4) and (4, 3), counted from
    the top left. Names count ranks from the bottom, as on all our boards (0 is a8); Othello books count from the top.
    """

    title = "othello"
    zero_sum = True

    def __init__(self, size: int = 8) -> None:
        if not is_whole(size) or size not in (4, 6, 8):
            raise UsageError(f"othello: size must be 4, 6 or 8, found {size!r}")
        self.size, self.cells = size, size * size
        self.players, self.actions = 2, size * size + 1
        self.observation = (2, size, size)  # the observer's discs, the other's
        self.fates = {"ownership": (size, size), "margin": ()}
        # The four lines through a cell: how far apart neighbours are, and which cells an enclosed run may pass. A run
        # that moves sideways never passes a side column, hence none crosses an edge.
        everywhere = 2**self.cells - 1
        inside = sum(1 << cell for cell in range(self.cells) if 0 < cell % size < size - 1)
        self.everywhere = np.uint64(everywhere)
        self.distances = np.array([1, size - 1, size, size + 1], np.uint64)
        self.passable = np.array([inside, inside, everywhere, inside], np.uint64)
        # `moves` is where the mover may place: it follows from the rest, and `step` has to know it anyway.
        self.state = ab.record(discs=(np.uint64, 2), moves=np.uint64, mover=np.int8, over=np.bool_)

    def setup(self, state: Any, random: Any) -> None:
        centre = self.size * self.size // 2 + self.size // 2  # the lower right of the four middle cells
        state.discs[0] = (ONE << np.uint64(centre - self.size)) | (ONE << np.uint64(centre - 1))
        state.discs[1] = (ONE << np.uint64(centre)) | (ONE << np.uint64(centre - self.size - 1))
        state.moves = placements(state.discs[0], state.discs[1], self.everywhere, self.distances, self.passable)

    def turn(self, state: Any) -> int:
        return ab.OVER if state.over else ab.player(state.mover)

    def legal(self, state: Any, player: int, actions: Any) -> int:
        moves, count = state.moves, 0
        if moves == ZERO:
            actions[0] = self.cells
            return 1
        while moves != ZERO:
            actions[count] = first_cell(moves)
            moves &= moves - ONE
            count += 1
        return count

    def step(self, state: Any, actions: Any, rewards: Any) -> None:
        mover = state.mover
        own, other = state.discs[mover], state.discs[1 - mover]
        if actions[mover] != self.cells:
            placed = ONE << np.uint64(actions[mover])
            turned = enclosed(placed, own, other, self.distances, self.passable)
            own, other = own | placed | turned, other ^ turned
            state.discs[mover], state.discs[1 - mover] = own, other
        state.moves = placements(other, own, self.everywhere, self.distances, self.passable)
        state.mover = 1 - mover
        if state.moves == ZERO and placements(own, other, self.everywhere, self.distances, self.passable) == ZERO:
            state.over = True
            state.mover = 0  # nobody's turn: the same final board is the same state whoever placed last
            lead = count_cells(own) - count_cells(other)
            if lead != 0:
                rewards[mover] = 1.0 if lead > 0 else -1.0
                rewards[1 - mover] = -rewards[mover]

    def observe(self, state: Any, player: int, planes: Any) -> None:
        for side in range(2):
            discs = state.discs[(player + side) % 2]
            while discs != ZERO:
                cell = first_cell(discs)
                planes[side, cell // self.size, cell % self.size] = 1.0
                discs &= discs - ONE

    def fate(self, states: Sequence[ab.State], player: int) -> Mapping[str, Any]:
        """Tell whose disc lies on each cell at the end, and the lead as a share of all cells."""
        mine, theirs = states[-1].observe(player)
        return {"ownership": mine - theirs, "margin": (mine - theirs).mean()}

    def symmetries(self) -> Sequence[ab.Symmetry]:
        """Return the turns and flips that keep the start: the half turn and the flips over both diagonals."""
        centre = self.size * self.size // 2 + self.size // 2
        first = {centre - self.size, centre - 1}
        turns = square_symmetries(self.size, planes=2, other_actions=1)
        return [turn for turn in turns if turn.actions and {turn.actions[cell] for cell in first} == first]

    def player_name(self, player: int) -> str:
        """Return the colour; the first player's discs are dark."""
        return ("black", "white")[player]

    def action_name(self, action: int) -> str:
        """Return the cell's name, a1 at the bottom left, or "pass"."""
        return "pass" if action == self.cells else cell_name(action, self.size, self.size)

    def text(self, state: ab.State) -> str:
        """Draw the board; x is black, who moves first."""
        first, second = state.discs.tolist()
        marks = ["x" if first >> cell & 1 else "o" if second >> cell & 1 else "." for cell in range(self.cells)]
        board = draw_board([marks[row : row + self.size] for row in range(0, self.cells, self.size)])
        score = f"{first.bit_count()} : {second.bit_count()}"
        return f"{board}\n{score}, " + ("over" if state.over else f"{('black (x)', 'white (o)')[state.mover]} to move")

    def read(self, text: str) -> ab.State:
        """Read a board and a line that says who moves; passes leave no trace on the board."""
        drawn = read_board(self, text, self.size, self.size)
        middle = (self.size // 2 - 1, self.size // 2)
        for row, column in ((row, column) for row in middle for column in middle):
            if drawn.cells[row][column] == EMPTY:
                where = place(row, column, self.size, self.size)
                refuse(self, f"{where} is empty; the four cells in the middle always have discs. Put one there")
        marks = [seat for row in drawn.cells for seat in row]
        discs = [np.uint64(sum(1 << c for c in range(self.cells) if marks[c] == seat)) for seat in range(2)]
        moves = [
            placements(discs[seat], discs[1 - seat], self.everywhere, self.distances, self.passable)
            for seat in range(2)
        ]
        if not any(moves):
            check_said(self, drawn, None)
            return self.start().replace(discs=discs, moves=0, mover=0, over=True)
        if drawn.mover is None or drawn.over:
            refuse(self, "who moves? Add a line that says so, e.g. black to move")
        return self.start().replace(discs=discs, moves=moves[drawn.mover], mover=drawn.mover, over=False)

    def svg(self, state: ab.State) -> str:
        """Draw the board; the first player's discs are dark, dots are legal moves."""
        first, second = state.discs.tolist()
        seats = [0 if first >> cell & 1 else 1 if second >> cell & 1 else EMPTY for cell in range(self.cells)]
        cells = [seats[row : row + self.size] for row in range(0, self.cells, self.size)]
        legal = [divmod(cell, self.size) for cell in range(self.cells) if int(state.moves) >> cell & 1]
        return felt_board(cells, column_names(self.size), legal, (first.bit_count(), second.bit_count()))


def placements(own: Any, other: Any, everywhere: Any, distances: Any, passable: Any) -> Any:
    """Return the empty cells where a disc of `own` encloses discs of `other`."""
    found = ZERO
    for line in range(4):
        distance, through = distances[line], other & passable[line]
        found |= (run_up(own, through, distance) << distance) | (run_down(own, through, distance) >> distance)
    return found & everywhere & ~(own | other)


def enclosed(placed: Any, own: Any, other: Any, distances: Any, passable: Any) -> Any:
    """Return the discs of `other` that lie between the disc just placed and discs of `own`."""
    turned = ZERO
    for line in range(4):
        distance, through = distances[line], other & passable[line]
        up, down = run_up(placed, through, distance), run_down(placed, through, distance)
        if own & (up << distance) != ZERO:
            turned |= up
        if own & (down >> distance) != ZERO:
            turned |= down
    return turned


def run_up(start: Any, through: Any, distance: Any) -> Any:
    """Return the unbroken runs of `through`, six cells at most, that begin one `distance` above the cells of `start`.

    Runs of 1, 2, 4 and 6 in four steps (the prefix of Kogge and Stone 1973): after two single steps `through` is
    narrowed to cells whose lower neighbour is passable too, so that each further step may take two.
    """
    run = through & (start << distance)
    run |= through & (run << distance)
    through &= through << distance
    run |= through & (run << TWO * distance)
    run |= through & (run << TWO * distance)
    return run


def run_down(start: Any, through: Any, distance: Any) -> Any:
    """Return the same as `run_up` in the opposite direction."""
    run = through & (start >> distance)
    run |= through & (run >> distance)
    through &= through >> distance
    run |= through & (run >> TWO * distance)
    run |= through & (run >> TWO * distance)
    return run


def first_cell(cells: Any) -> int:
    """Return the lowest cell of a set that is not empty."""
    return int(CELL_OF[(cells & ~(cells - ONE)) % PRIME])


def count_cells(cells: Any) -> int:
    """Return how many cells a set holds."""
    count = 0
    while cells != ZERO:
        cells &= cells - ONE
        count += 1
    return count
