"""Boards that people type, read: rows of marks with or without blanks and labels, and a line that says who moves."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, NoReturn

from anabranch.draw.boards import EMPTY, Place, lines_of
from anabranch.errors import UsageError, shortened, shown
from anabranch.game.board import cell_name, column_names
from anabranch.game.game import Game

FREE = ".-_"  # what stands for an empty cell
MARKS = ("xb", "ow", "#")  # seat → what stands for its stones; capitals will do too
COLOURS = {"black": 0, "white": 1}  # what a player may be called beside its marks and its name
_SAYS = re.compile(r"\b(move|play|over|passed|leads|wins)\b")  # lines that are no rows
_TO_MOVE = re.compile(r"(player \d+|\w+|#)(?: \([xo]\))? to (?:move|play)\b")  # black (x) to move


class Drawn(NamedTuple):
    """A board as it was typed."""

    cells: list[list[int]]  # rows from the top: the seat whose stone lies there, or EMPTY
    mover: int | None  # the seat that is to move, where a line says so
    over: bool  # whether a line says that the game is over
    said: str  # all such lines, in small letters

    @property
    def counts(self) -> dict[int, int]:
        """How many stones each seat has, of those that have any."""
        stones = [seat for row in self.cells for seat in row if seat != EMPTY]
        return {seat: stones.count(seat) for seat in set(stones)}


def read_board(game: Game, text: str, rows: int, columns: int) -> Drawn:
    """Return what a text shows: rows from the top, each on a line or all on one with `/` between them.

    Blanks and `|` between cells, ranks at either end of a row and the letters of the columns may be there or not.
    """
    letters = "".join(column_names(columns))
    drawn, said = list[str](), list[str]()
    for line in re.split(r"[\n/]", text.lower()):
        squeezed = re.sub(r"[\s|]", "", line)
        if _SAYS.search(line):
            said.append(line.strip())
        elif squeezed and squeezed != letters:
            drawn.append(line)
    if len(drawn) != rows:
        refuse(
            game, f"the board has {rows} rows, found {len(drawn)}; write them from the top, all {columns} cells of each"
        )
    cells = [_read_row(game, line, row, rows, columns) for row, line in enumerate(drawn)]
    return Drawn(cells, _mover(game, "\n".join(said)), any("over" in line for line in said), "\n".join(said))


def placed_in_turn(game: Game, drawn: Drawn, line: int, *, falling: bool = False) -> tuple[int, bool]:
    """Return how many stones lie on a board, and whether somebody has won by `line` in a row.

    Stones that players who take turns cannot have placed are refused; with `falling` so are stones with nothing under
    them.
    """
    ply = _ply(game, drawn)
    if falling:
        _check_support(game, drawn.cells)
    return ply, _check_lines(game, drawn.cells, ply, line, falling=falling)


def check_said(game: Game, drawn: Drawn, mover: int | None) -> None:
    """Refuse a text whose words say another player is to move than is, None for nobody."""
    if mover is None and drawn.mover is not None:
        refuse(game, f"the text says {_called(game, drawn.mover)} to move, but the game is over; leave that out")
    if mover is not None and drawn.over:
        refuse(game, f"the text says that the game is over, but {_called(game, mover)} can move; leave that out")
    if mover is not None and drawn.mover not in (None, mover):
        refuse(
            game,
            f"the text says {_called(game, drawn.mover)} to move, but by the stones it is {_called(game, mover)}'s turn"
            f"; correct the stones, or leave that out",
        )


def refuse(game: Game, words: str) -> NoReturn:
    """Say why a text is no position of a game."""
    raise UsageError(f"{game.name}: {words}")


def place(row: int, column: int, rows: int, columns: int) -> str:
    """Name a cell by where it was typed and by what it is called."""
    return f"row {row + 1} from the top, column {column + 1} ({cell_name(row * columns + column, rows, columns)})"


def _read_row(game: Game, line: str, row: int, rows: int, columns: int) -> list[int]:
    """Return the seats on one row."""
    for label in re.findall(r"^\s*[0-9]+|[0-9]+\s*$", line):
        if label.strip() != str(rows - row):
            refuse(
                game,
                f"row {row + 1} from the top is labelled {shortened(label.strip())}; ranks count from the bottom, so "
                f"it is {rows - row}. Turn the board round, or leave the labels out",
            )
    marks = re.sub(r"^\s*[0-9]+|[0-9]+\s*$|[\s|]", "", line)
    if len(marks) != columns:
        refuse(
            game,
            f"row {row + 1} from the top has {len(marks)} cells, the board has {columns} columns: "
            f"{shown(line.strip())}",
        )
    seats = []
    for column, mark in enumerate(marks):
        seat = next((seat for seat, known in enumerate(MARKS[: game.players]) if mark in known), EMPTY)
        if seat == EMPTY and mark not in FREE:
            known = ", ".join(f"{letters[0]} for {_called(game, s)}" for s, letters in enumerate(MARKS[: game.players]))
            refuse(game, f"{place(row, column, rows, columns)}: {mark!r} is no mark; write {known} and . for empty")
        seats.append(seat)
    return seats


def _called(game: Game, seat: int | None) -> str:
    assert seat is not None
    return game.player_name(seat)


def _mover(game: Game, said: str) -> int | None:
    found = _TO_MOVE.search(said)
    if found is None:
        return None
    names = {letter: seat for seat, letters in enumerate(MARKS) for letter in letters} | COLOURS
    names |= {form.lower(): seat for seat in range(game.players) for form in (_called(game, seat), f"player {seat}")}
    seat = names.get(found[1], game.players)
    if seat >= game.players:
        players = ", ".join(_called(game, seat) for seat in range(game.players))
        refuse(game, f"{shortened(found[0])!r}: nobody is called {shortened(found[1])!r}; the players are {players}")
    return seat


def _ply(game: Game, drawn: Drawn) -> int:
    """Return how many stones were placed; players take turns, so their numbers differ by one at most."""
    players = game.players
    counts = [drawn.counts.get(seat, 0) for seat in range(players)]
    ply = sum(counts)
    if counts != [(ply + players - 1 - seat) // players for seat in range(players)]:
        told = " and ".join(f"{count} of {_called(game, seat)}" for seat, count in enumerate(counts))
        refuse(
            game,
            f"there are {told}; {_called(game, 0)} begins and they take turns, so each has as many stones as the next "
            f"player or one more. Add or remove some",
        )
    return ply


def _check_support(game: Game, cells: Sequence[Sequence[int]]) -> None:
    rows, columns = len(cells), len(cells[0])
    for row in range(rows - 1):
        for column in range(columns):
            if cells[row][column] != EMPTY and cells[row + 1][column] == EMPTY:
                refuse(
                    game,
                    f"{place(row, column, rows, columns)}: this stone has nothing under it; stones fall to the bottom, "
                    f"so fill the cell below it or move it down",
                )


def _check_lines(game: Game, cells: Sequence[Sequence[int]], ply: int, line: int, *, falling: bool) -> bool:
    """Return whether somebody has a line; refuse lines that the last stone cannot have made."""
    bright = lines_of(cells, line)
    if not bright:
        return False
    rows, columns = len(cells), len(cells[0])
    first = {cells[row][column]: (row, column) for row, column in sorted(bright, reverse=True)}
    told = {seat: f"{_called(game, seat)} at {place(*where, rows, columns)}" for seat, where in sorted(first.items())}
    if len(first) > 1:
        refuse(game, f"{' and '.join(told.values())} both have {line} in a row; the first such line ended the game")
    (owner,) = first
    last = (ply - 1) % game.players
    if owner != last:
        refuse(
            game,
            f"{told[owner]} has {line} in a row, which ended the game, but by the stones {_called(game, last)} moved "
            f"after that; remove one of its stones",
        )
    ends = {(r, c) for r, c in bright if not falling or r == 0 or cells[r - 1][c] == EMPTY}
    if not any(_breaks(cells, end, line) for end in ends):
        refuse(game, f"{told[owner]} has more lines of {line} than one last stone can have made; remove some")
    return True


def _breaks(cells: Sequence[Sequence[int]], end: Place, line: int) -> bool:
    """Whether no line is left without one of the stones."""
    without = [list(row) for row in cells]
    without[end[0]][end[1]] = EMPTY
    return not lines_of(without, line)
