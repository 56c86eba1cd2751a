"""A sheet as a picture: the board at the left, tables with bars at the right, the fan of a chance root between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from anabranch.draw.palette import EDGE, FAINT, INK, SOFT, WASH, ink_on, player_colour
from anabranch.draw.picture import Picture
from anabranch.draw.svg import circle, document, group, line, path, printed, rect, text, text_width
from anabranch.game.pictures import board_picture
from anabranch.search.results.show.result_sheet import result_sheet
from anabranch.search.results.show.sheet import Cell, Legend, Sheet, Table, above

if TYPE_CHECKING:
    from anabranch.search.results.result import Result

SIZE = 13  # of the letters
BAR = 64.0
LINE, ROW = 17.0, 25.0  # height of a second line in a cell, and of a row
BOARD = 300.0  # the widest a board is drawn
FAN = 120.0
APART = 16.0  # room before a group of columns
MARGIN = 18.0


def result_picture(result: Result) -> Picture:
    """Draw a result as a card."""
    return sheet_picture(result_sheet(result), board_picture(result.state))


def sheet_picture(sheet: Sheet, board: Picture) -> Picture:
    """Draw a sheet beside a board."""
    scale = min(1.0, BOARD / board.width, BOARD / board.height)
    wide, tall = board.width * scale, board.height * scale
    left = MARGIN + wide + (FAN if sheet.fan else 22)
    parts = [
        text(MARGIN, 32, sheet.heading, size=17, font_weight=700),
        text(MARGIN, 53, sheet.summary, size=SIZE, fill=SOFT),
    ]
    right = MARGIN + max(text_width(sheet.heading, 18), text_width(sheet.summary, SIZE))
    chips, end = _chips(sheet.values, board.stones, MARGIN, 66)
    parts += chips
    right = max(right, end)
    y, first_row = 104.0, 104.0
    for number, table in enumerate(sheet.tables):
        drawn, width, height, heads = _table(table)
        parts.append(group(*drawn, x=left, y=y))
        right = max(right, left + width)
        first_row = y + heads if number == 0 else first_row
        y += height + 14
    if sheet.line:
        parts += [text(left, y + 8, "line", size=SIZE, fill=SOFT), text(left + 34, y + 8, sheet.line, size=SIZE)]
        right = max(right, left + 34 + text_width(sheet.line, SIZE))
        y += 24
    if sheet.dice:
        parts += [text(left, y + 8, "dice", size=SIZE, fill=SOFT), text(left + 34, y + 8, sheet.dice, size=SIZE)]
        right = max(right, left + 34 + text_width(sheet.dice, SIZE))
        y += 24
    bottom = max(y, 104 + tall)
    top = 104.0
    if sheet.fan:
        rows = first_row + ROW * len(sheet.fan)
        top = max(104.0, (first_row + rows - tall) / 2)
        parts += _fan(sheet.fan, MARGIN + wide + 4, top + tall / 2, left - 8, first_row)
        bottom = max(bottom, top + tall)
    parts.append(board.inside(MARGIN, top, wide, tall))
    if sheet.legend:
        drawn, end = _legend(sheet.legend, MARGIN, bottom + 20)
        parts += drawn
        right = max(right, end)
        bottom += 30
    for note in sheet.notes:
        parts.append(text(MARGIN, bottom + 10, note, size=12, fill=SOFT))
        right = max(right, MARGIN + text_width(note, 12))
        bottom += 18
    return Picture(document(right + MARGIN, bottom + MARGIN - 4, *parts, fluid=True))


def _chips(values: Sequence[tuple[str, Cell]], stones: Sequence[str], x: float, y: float) -> tuple[list[str], float]:
    """Draw what the root is worth to each player; return the shapes and where they end.

    Where a player's stones have another colour than its values, one of them stands beside its name.
    """
    parts = []
    for seat, (whom, cell) in enumerate(values):
        words = f"{whom}  {printed(cell.lines[0])}"
        stone = stones[seat] if seat < len(stones) and stones[seat] != player_colour(seat) else None
        before = 24 if stone else 7
        width = before + text_width(words, SIZE) + 7
        fill = cell.colour or WASH
        parts.append(rect(x, y, width, 22, fill=fill, rx=11))
        if stone:
            parts.append(circle(x + 13, y + 11, 6, fill=stone, stroke=EDGE, stroke_width=1.2))
        middle = x + (before + width - 7) / 2
        parts.append(text(middle, y + 15.5, words, size=SIZE, anchor="middle", fill=ink_on(fill)))
        x += width + 8
    return parts, x


def _legend(legend: Legend, x: float, y: float) -> tuple[list[str], float]:
    """Draw each player's colours between the ends of the scale, and words; return the shapes and where they end."""
    low, high = printed(legend.low), printed(legend.high)
    parts = [text(x, y, low, size=11, fill=SOFT)]
    x += text_width(low, 11) + 5
    for ramp in legend.ramps:
        shades = [rect(4 * at, y - 9, 4, 10, fill=colour) for at, colour in enumerate(ramp)]
        parts.append(group(*shades, x=round(x), shape_rendering="crispEdges"))
        x += 4 * len(ramp) + 4
    parts.append(text(x + 1, y, high, size=11, fill=SOFT))
    x += text_width(high, 11) + 14
    parts.append(text(x, y, legend.words, size=11, fill=SOFT))
    return parts, x + text_width(legend.words, 11)


def _table(table: Table) -> tuple[list[str], float, float, float]:
    """Draw a table at the origin; return the shapes, width, height, and where its first row begins."""
    widths: list[float] = []
    bars: list[float] = []
    for at, column in enumerate(table.columns):
        inside = [text_width(words, SIZE) for row in table.rows for words in _lines(row[at])]
        bar = BAR + 8 if any(row[at].share is not None for row in above(table)) else 0.0
        bars.append(bar)
        widths.append(max(text_width(column.title, SIZE), *inside, 24.0) + bar + 14 + APART * column.apart)
    ends = [sum(widths[: at + 1]) for at in range(len(widths))]
    parts, y = [], 0.0
    if table.title:
        parts.append(text(4, 11, table.title, size=12, fill=SOFT))
        y = 20.0
    for column, width, end, bar in zip(table.columns, widths, ends, bars, strict=True):
        colour = SOFT if column.seat is None else player_colour(column.seat)
        x, anchor = (end - 7 - bar, "end") if column.right else (end - width + 4, None)
        parts.append(text(x, y + 14, column.title, size=12, anchor=anchor, fill=colour, font_weight=700))
    y += 21
    parts.append(line(0, y, ends[-1], y, stroke=FAINT))
    y += 3
    begins = y
    for number, row in enumerate(table.rows):
        if number in table.rules:
            parts.append(line(0, y + 3, ends[-1], y + 3, stroke=FAINT))
            y += 7
        high = ROW + LINE * (max(len(cell.lines) for cell in row) - 1)
        for cell, column, width, end in zip(row, table.columns, widths, ends, strict=True):
            inner = width - APART * column.apart
            parts += _cell(cell, end - inner, y, inner, high, right=column.right, bars=number < len(above(table)))
        y += high
    if table.rest:
        parts.append(text(4, y + 16, table.rest, size=12, fill=SOFT))
        y += 22
    width = max(ends[-1], text_width(table.title, 12), text_width(table.rest, 12))
    return parts, width, y, begins


def _cell(cell: Cell, x: float, y: float, width: float, high: float, *, right: bool, bars: bool) -> list[str]:
    parts = []
    if cell.colour:
        parts.append(rect(x + 1.5, y + 1.5, width - 3, high - 3, fill=cell.colour, rx=4))
    fill = ink_on(cell.colour) if cell.colour else INK
    weight = 700 if cell.strong else None
    end = x + width - 7
    if cell.share is not None and bars:
        end -= BAR + 8
        parts.append(rect(end + 8, y + high / 2 - 4.5, BAR, 9, fill=WASH, rx=3))
        parts.append(rect(end + 8, y + high / 2 - 4.5, BAR * max(0.0, min(1.0, cell.share)), 9, fill=EDGE, rx=3))
    place, anchor = (end, "end") if right else (x + 4, None)
    first = y + (high - LINE * (len(cell.lines) - 1)) / 2 + 4.5
    for number, words in enumerate(_lines(cell)):
        if words:
            size = SIZE if number == 0 else 11.5
            at = first + LINE * number
            parts.append(text(place, at, words, size=size, anchor=anchor, fill=fill, font_weight=weight))
    return parts


def _lines(cell: Cell) -> tuple[str, ...]:
    """Return what stands in a cell, as it is printed."""
    return tuple(map(printed, cell.lines)) if cell.number else cell.lines


def _fan(fan: Sequence[tuple[float, str]], x: float, y: float, end: float, first_row: float) -> list[str]:
    """Draw a curve from the board to each outcome, as wide as it is likely, in the colour of what follows."""
    parts = []
    likeliest = max((chance for chance, _ in fan), default=1.0) or 1.0
    for number, (chance, colour) in enumerate(fan):
        target, width = first_row + (number + 0.5) * ROW, 2 + 12 * chance / likeliest
        half = (end - x) / 2
        curve = ("M", x, y, "C", x + half, y, end - half, target, end, target)
        parts.append(path(*curve, stroke=INK, stroke_width=width + 1.6, opacity=0.25))
        parts.append(path(*curve, stroke=colour, stroke_width=width))
    return parts
