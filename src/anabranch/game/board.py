"""How boards are named, drawn and turned, the same for every game on a grid.

Cells are numbered row by row from the top left, as a drawing is read: cell = row · columns + column. People call them
by a letter for the column and a rank counted from the bottom, as in chess and Go: on 3×3 cell 0 is a3, cell 8 is c1.
Observations keep row 0 at the top.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from anabranch.game.symmetry import Symmetry, board_cells


def column_name(column: int) -> str:
    """Return a column's letters: a to z, then aa, ab, … as spreadsheets count."""
    name = ""
    while column >= 0:
        column, letter = divmod(column, 26)
        name = chr(ord("a") + letter) + name
        column -= 1
    return name


def column_names(columns: int) -> list[str]:
    """Return the letters of all columns, from the left."""
    return [column_name(column) for column in range(columns)]


def cell_name(cell: int, rows: int, columns: int) -> str:
    """Return what people call a cell: column letters and the rank from the bottom, e.g. "b2"."""
    row, column = divmod(cell, columns)
    return f"{column_name(column)}{rows - row}"


def draw_board(lines: Sequence[Sequence[str]], *, ranks: bool = True) -> str:
    """Draw a board given its cells' characters, top line first; letters below and, if wanted, ranks at the left."""
    letters = column_names(len(lines[0]))
    width = max(len(name) for name in letters)
    margin = len(str(len(lines)))
    drawn = [
        [f"{len(lines) - row:>{margin}}"] * ranks + [f"{mark:>{width}}" for mark in line]
        for row, line in enumerate(lines)
    ]
    drawn.append([" " * margin] * ranks + [f"{name:>{width}}" for name in letters])
    return "\n".join(" ".join(line) for line in drawn)


def square_maps(size: int) -> list[npt.NDArray[np.int64]]:
    """Return where each cell goes under the seven turns and flips of a square other than the identity."""
    cells = np.arange(size * size).reshape(size, size)
    images = [np.rot90(board, quarter) for board in (cells, cells.T) for quarter in range(4)]
    # An image says which cell came here; its inverse says where each cell went.
    return [np.argsort(image, axis=None) for image in images[1:]]


def square_symmetries(size: int, planes: int, other_actions: int = 0) -> tuple[Symmetry, ...]:
    """Return the seven turns and flips where actions are the cells, then `other_actions` that stay (a pass)."""
    stays = tuple(range(size * size, size * size + other_actions))
    return tuple(
        Symmetry(actions=(*grid.tolist(), *stays), cells=board_cells(grid, planes)) for grid in square_maps(size)
    )
