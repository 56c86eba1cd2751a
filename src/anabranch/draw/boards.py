"""Boards of cells with stones on them, the same for every game on a grid."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from anabranch.draw.palette import FAINT, PAPER, PLAYERS, SOFT, WASH, ink_on, player_colour
from anabranch.draw.svg import circle, document, group, line, path, rect, text

EMPTY = -1
Cells = Sequence[Sequence[int]]  # rows from the top: the seat whose stone lies there, or EMPTY
Place = tuple[int, int]  # row, column

FELT, FELT_LINES = "#4c8b6b", "#3a7156"
WOOD, WOOD_LINES = "#eed9ad", "#a88a55"
DISCS = (("#1c2329", "#05080b"), ("#ffffff", "#6b7580"))  # black and white: fill, and a rim that is seen on any ground
PANEL = "#d5dde5"
WIN = "#f6e3a1"


def marks_board(cells: Cells, columns: Sequence[str], bright: Collection[Place] = ()) -> str:
    """Draw crosses for player 0 and rings for player 1 between the lines of a grid; `bright` cells made a line."""
    rows, across, pitch = len(cells), len(cells[0]), 44.0
    glow = [rect(c * pitch + 1, r * pitch + 1, pitch - 2, pitch - 2, fill=WIN, rx=4) for r, c in sorted(bright)]
    rules = [line(c * pitch, 3, c * pitch, rows * pitch - 3) for c in range(1, across)]
    rules += [line(3, r * pitch, across * pitch - 3, r * pitch) for r in range(1, rows)]
    grid = group(*rules, stroke=FAINT, stroke_width=2, stroke_linecap="round")

    def mark(seat: int, x: float, y: float) -> str:
        if seat == 1:
            return circle(x, y, 11.5, fill="none", stroke=player_colour(1), stroke_width=5)
        d = 10.5
        cross = ("M", x - d, y - d, "L", x + d, y + d, "M", x + d, y - d, "L", x - d, y + d)
        return path(*cross, stroke=player_colour(0), stroke_width=5, stroke_linecap="round")

    return _framed(cells, columns, pitch, [*glow, grid, *_each(cells, pitch, mark)])


def holes_board(cells: Cells, columns: Sequence[str], bright: Collection[Place] = ()) -> str:
    """Draw a panel with a hole for every cell, as stones fall behind it; `bright` stones made a line."""
    rows, across, pitch = len(cells), len(cells[0]), 40.0
    panel = rect(-4, -4, across * pitch + 8, rows * pitch + 8, fill=PANEL, rx=10)
    holes = [
        circle(c * pitch + 20, r * pitch + 20, 15.5) for r in range(rows) for c in range(across) if cells[r][c] == EMPTY
    ]
    stones = _stones(cells, pitch, bright, tuple((colour, None) for colour in PLAYERS))
    return _framed(cells, columns, pitch, [panel, group(*holes, fill=PAPER), *stones], ranks=False, margin=4)


def points_board(
    cells: Cells, columns: Sequence[str], bright: Collection[Place] = (), *, black_and_white: bool = False
) -> str:
    """Draw stones on the crossings of lines, as Go and Gomoku are played; `bright` ones are marked.

    Stones have the players' colours or, if black and white, lie on wood.
    """
    rows, across = len(cells), len(cells[0])
    pitch = max(20.0, min(40.0, 420 / across))
    half = pitch / 2
    ground = rect(0, 0, across * pitch, rows * pitch, fill=WOOD if black_and_white else WASH, rx=4)
    rules = [line(half, r * pitch + half, across * pitch - half, r * pitch + half) for r in range(rows)]
    rules += [line(c * pitch + half, half, c * pitch + half, rows * pitch - half) for c in range(across)]
    lines = group(*rules, stroke=WOOD_LINES if black_and_white else FAINT, stroke_width=1.2)
    discs = DISCS if black_and_white else tuple((colour, None) for colour in PLAYERS)
    shown = [ground, lines, *_stones(cells, pitch, bright, discs)]
    return _framed(cells, columns, pitch, shown, stones=[fill for fill, _ in discs])


def felt_board(cells: Cells, columns: Sequence[str], dots: Collection[Place], counts: tuple[int, int]) -> str:
    """Draw dark and light discs on green felt; `dots` say where the next may go, `counts` what stands below."""
    rows, across, pitch = len(cells), len(cells[0]), 40.0
    ground = rect(0, 0, across * pitch, rows * pitch, fill=FELT, rx=3)
    rules = [line(c * pitch, 0, c * pitch, rows * pitch) for c in range(1, across)]
    rules += [line(0, r * pitch, across * pitch, r * pitch) for r in range(1, rows)]
    hints = [circle(c * pitch + 20, r * pitch + 20, 4) for r, c in sorted(dots)]

    def disc(seat: int, x: float, y: float) -> str:
        fill, rim = DISCS[seat % 2]
        return circle(x, y, 15.5, fill=fill, stroke=rim, stroke_width=1.5)

    parts = [ground, group(*rules, stroke=FELT_LINES, stroke_width=1.2), group(*hints, fill=FELT_LINES)]
    middle, base = across * pitch / 2, rows * pitch + 40
    for seat, side in enumerate((-1, 1)):
        fill, rim = DISCS[seat]
        parts.append(circle(middle + 14 * side, base, 7, fill=fill, stroke=rim, stroke_width=1.2))
        anchor = "end" if side < 0 else None
        parts.append(text(middle + 27 * side, base + 5, str(counts[seat]), anchor=anchor, font_weight=700))
    shown, stones = [*parts, *_each(cells, pitch, disc)], [fill for fill, _ in DISCS]
    return _framed(cells, columns, pitch, shown, below=26, stones=stones)


def lines_of(cells: Cells, length: int) -> set[Place]:
    """Return the cells of every unbroken line of at least `length` stones of one player."""
    found: set[Place] = set()
    rows, across = len(cells), len(cells[0])
    for row in range(rows):
        for column in range(across):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                run = [(row + step * down, column + step * right) for step in range(length)]
                inside = run[-1][0] < rows and 0 <= run[-1][1] < across
                if inside and cells[row][column] != EMPTY and len({cells[r][c] for r, c in run}) == 1:
                    found.update(run)
    return found


def _stones(
    cells: Cells, pitch: float, bright: Collection[Place], discs: Sequence[tuple[str, str | None]]
) -> list[str]:
    """Draw each player's disc, given by fill and rim, on the cells that have one; bright ones with a ring inside."""
    radius = 0.39 * pitch

    def disc(seat: int, x: float, y: float) -> str:
        fill, rim = discs[seat % len(discs)]
        return circle(x, y, radius, fill=fill, stroke=rim, stroke_width=rim and 1.4)

    rings = []
    for row, column in sorted(bright):
        fill, rim = discs[cells[row][column] % len(discs)]
        colour = PAPER if rim is None else ink_on(fill)
        rings.append(circle((column + 0.5) * pitch, (row + 0.5) * pitch, 0.6 * radius, stroke=colour))
    shown = _each(cells, pitch, disc)
    return [*shown, group(*rings, fill="none", stroke_width=0.2 * radius)] if rings else shown


def _each(cells: Cells, pitch: float, draw: Callable[[int, float, float], str]) -> list[str]:
    """Draw every stone at the middle of its cell."""
    return [
        draw(seat, (column + 0.5) * pitch, (row + 0.5) * pitch)
        for row, seats in enumerate(cells)
        for column, seat in enumerate(seats)
        if seat != EMPTY
    ]


def _framed(
    cells: Cells,
    columns: Sequence[str],
    pitch: float,
    parts: Sequence[str],
    *,
    ranks: bool = True,
    margin: float = 0,
    below: float = 0,
    stones: Sequence[str] = PLAYERS,
) -> str:
    """Put names of columns below a board and ranks at its left, and leave room `below` them."""
    rows, across = len(cells), len(cells[0])
    left, top = (24.0 if ranks else 12.0), 12.0 + margin
    width, height = across * pitch, rows * pitch
    size = 11 if pitch >= 24 else 9
    names = [
        text((column + 0.5) * pitch, height + margin + 15, name, size=size, anchor="middle", fill=SOFT)
        for column, name in enumerate(columns)
    ]
    if ranks:
        names += [
            text(-7, (row + 0.5) * pitch + 4, str(rows - row), size=size, anchor="end", fill=SOFT)
            for row in range(rows)
        ]
    right = 24.0 if ranks else left  # as much as at the left, so that the board stands in the middle
    left += margin
    edge = margin + 3
    return document(
        left + width + right + margin,
        top + height + margin + 24 + below,
        group(*parts, *names, x=left, y=top),
        board=(left - edge, top - edge, width + 2 * edge, height + 2 * edge),
        stones=stones,
    )
