"""Score sheets with dice above them, and tiles with numbers."""

from __future__ import annotations

from collections.abc import Sequence

from anabranch.draw.palette import EDGE, FAINT, INK, PAPER, PLAYERS, SOFT, WASH, blend, ink_on, player_colour
from anabranch.draw.pieces import die
from anabranch.draw.svg import document, line, rect, text, text_width


def score_sheets(
    names: Sequence[str],
    categories: Sequence[str],
    sheets: Sequence[Sequence[int | None]],
    totals: Sequence[tuple[int, int]],
    goal: int,
    faces: Sequence[int | None],
    mover: int | None,
    note: str,
    *,
    rolling: bool,
) -> str:
    """Draw dice and, in a column per player, categories: a dash where one is marked, else a box.

    A box holds what the dice count there, −1 for nothing yet. `totals` are points above, towards `goal`, and in all.
    While dice are rolled those with a face are kept.
    """
    wide, row, left, top = 74.0, 19.0, 14.0, 62.0
    name_width = 12 + max(text_width(name, 12) for name in (*categories, "above", "total"))
    words = f"{note}, rolling" if rolling and faces else note
    width = 2 * left + max(name_width + wide * len(sheets), 42 * len(faces) + text_width(words, 12))
    colour = INK if mover is None else player_colour(mover)
    parts = [die(left + 42 * at, 12, 34, face, EDGE if face is None else colour) for at, face in enumerate(faces)]
    parts.append(text(width - left, 34, words, size=12, anchor="end", fill=SOFT))
    if len(sheets) > 1:
        parts += [
            text(
                left + name_width + (seat + 0.5) * wide,
                top + 12,
                name,
                size=12,
                anchor="middle",
                fill=player_colour(seat),
                font_weight=700,
            )
            for seat, name in enumerate(names)
        ]
        top += row
    labels = [*categories[:6], "above", *categories[6:], "total"]
    for place, label in enumerate(labels):
        y = top + place * row
        summed = label in ("above", "total") and place in (6, len(labels) - 1)
        parts.append(
            text(left, y + 13.5, label.replace("_", " "), size=12, fill=INK, font_weight=700 if summed else None)
        )
        for seat, sheet in enumerate(sheets):
            x = left + name_width + seat * wide
            middle = (x + wide / 2, y + 13.5)
            if summed:
                above, total = totals[seat]
                said = f"{above} of {goal}" if place == 6 else str(total)
                parts.append(text(*middle, said, size=12, anchor="middle", font_weight=700))
                continue
            count = sheet[place - (place > 6)]
            if count is None:
                parts.append(text(*middle, "–", size=12, anchor="middle", fill=SOFT))
                continue
            fill = blend(player_colour(seat), 0.15 + 0.5 * min(count, 50) / 50) if count > 0 else WASH
            parts.append(rect(x + 8, y + 1.5, wide - 16, row - 3, fill=fill, stroke=FAINT, rx=3))
            if count >= 0:
                parts.append(text(*middle, str(count), size=12, anchor="middle", fill=ink_on(fill)))
    rules = [line(left, top + at * row, width - left, top + at * row, stroke=FAINT) for at in (6, 7, len(labels) - 1)]
    return document(width, top + len(labels) * row + 12, *parts, *rules, stones=PLAYERS)


def tiles_board(cells: Sequence[Sequence[int]], note: str) -> str:
    """Draw a board of tiles with numbers, 0 for none; the larger the number, the stronger the colour."""
    rows, across, pitch = len(cells), len(cells[0]), 58.0
    largest = max(max(row) for row in cells).bit_length()
    parts = [rect(8, 8, across * pitch + 8, rows * pitch + 8, fill=FAINT, rx=8)]
    for r, values in enumerate(cells):
        for c, value in enumerate(values):
            x, y = 14 + c * pitch, 14 + r * pitch
            fill = blend(PLAYERS[1], value.bit_length() / max(largest, 11)) if value else WASH
            parts.append(rect(x, y, pitch - 4, pitch - 4, fill=fill, rx=6))
            if value:
                size = 20 if value < 1000 else 15 if value < 100_000 else 12
                middle = (x + pitch / 2 - 2, y + pitch / 2 - 2 + 0.36 * size)
                parts.append(text(*middle, str(value), size=size, anchor="middle", fill=ink_on(fill), font_weight=700))
    width = max(across * pitch + 24, text_width(note, 12) + 24)
    below = text(width / 2, rows * pitch + 36, note, size=12, anchor="middle", fill=SOFT)
    return document(width, rows * pitch + 46, *parts, below, stones=(PAPER,))
