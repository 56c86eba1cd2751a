"""A maze seen from above: walls, mud, cheese, and two animals."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from anabranch.draw.palette import INK, PAPER, PLAYERS, SOFT, WASH, player_colour
from anabranch.draw.svg import circle, document, group, line, path, polygon, rect, text, text_width

Cell = tuple[int, int]  # (x, y), y upwards
Passage = tuple[Cell, Cell]

MUD = "#b08d5b"
CHEESE, RIND = "#f4c542", "#c9971c"


def maze_board(
    width: int,
    height: int,
    *,
    walls: Collection[Passage],
    mud: Mapping[Passage, int],
    cheese: Collection[Cell],
    places: Sequence[Cell],
    labels: Sequence[str],
    note: str,
) -> str:
    """Draw a maze; `places` are the rat's and the python's, `labels` what is said about each below the board."""
    pitch = max(22.0, min(44.0, 500 / width))
    left, top = 14.0, 14.0
    across, down = width * pitch, height * pitch

    def middle(cell: Cell) -> tuple[float, float]:
        return (cell[0] + 0.5) * pitch, (height - cell[1] - 0.5) * pitch

    def border(passage: Passage, reach: float) -> tuple[float, float, float, float]:
        """Return the ends of the line between two neighbouring cells, `reach` of a cell long."""
        (x, y), (u, v) = middle(passage[0]), middle(passage[1])
        half = reach * pitch / 2
        mx, my = (x + u) / 2, (y + v) / 2
        return (mx, my - half, mx, my + half) if y == v else (mx - half, my, mx + half, my)

    ground = rect(0, 0, across, down, fill=WASH, rx=3)
    rules = [line(x * pitch, 0, x * pitch, down) for x in range(1, width)]
    rules += [line(0, y * pitch, across, y * pitch) for y in range(1, height)]
    parts = [ground, group(*rules, stroke=PAPER, stroke_width=1.5)]
    muddy = [line(*border(passage, 0.72)) for passage in mud]
    parts.append(group(*muddy, stroke=MUD, stroke_width=0.2 * pitch, stroke_linecap="round"))
    for passage, depth in mud.items():
        x1, y1, x2, y2 = border(passage, 0.72)
        size, x, y = 0.25 * pitch, (x1 + x2) / 2, (y1 + y2) / 2
        parts.append(circle(x, y, 0.17 * pitch, fill=MUD))
        parts.append(text(x, y + 0.36 * size, str(depth), size=size, anchor="middle", fill=PAPER, font_weight=700))
    barred = [line(*border(passage, 1.0)) for passage in walls]
    parts.append(group(*barred, stroke=INK, stroke_width=0.09 * pitch, stroke_linecap="round"))
    parts.append(rect(0, 0, across, down, fill="none", stroke=INK, stroke_width=0.09 * pitch, rx=3))
    parts += [_wedge(*middle(cell), 0.25 * pitch) for cell in cheese]
    together = places[0] == places[1]
    for seat, (cell, animal) in enumerate(zip(places, (_rat, _python), strict=True)):
        x, y = middle(cell)
        aside = (0.2 if seat else -0.2) * pitch * together
        parts.append(animal(x + aside, y, (0.25 if together else 0.33) * pitch, player_colour(seat)))
    beside = across > sum(text_width(words, 13) for words in (*labels, note)) + 40
    base = down + (24 if beside else 42)
    words = [
        text(0, down + 24, labels[0], size=13, fill=player_colour(0), font_weight=700),
        text(across, down + 24, labels[1], size=13, anchor="end", fill=player_colour(1), font_weight=700),
        text(across / 2, base, note, size=12, anchor="middle", fill=SOFT),
    ]
    return document(
        across + 2 * left,
        base + top + 12,
        group(*parts, *words, x=left, y=top),
        board=(left - 4, top - 4, across + 8, down + 8),
        stones=PLAYERS,
    )


def _wedge(x: float, y: float, r: float) -> str:
    """Draw a piece of cheese."""
    corners = [(x - r, y + 0.5 * r), (x + r, y - 0.7 * r), (x + r, y + 0.8 * r), (x - r, y + 0.8 * r)]
    holes = [circle(x + 0.45 * r, y + 0.25 * r, 0.2 * r), circle(x - 0.2 * r, y + 0.45 * r, 0.13 * r)]
    wedge = polygon(corners, fill=CHEESE, stroke=RIND, stroke_width=0.16 * r, stroke_linejoin="round")
    return group(wedge, group(*holes, fill=RIND))


def _rat(x: float, y: float, r: float, colour: str) -> str:
    """Draw a rat's head from the front."""
    ears = [circle(x + side * 0.68 * r, y - 0.62 * r, 0.4 * r) for side in (-1, 1)]
    inner = [circle(x + side * 0.68 * r, y - 0.62 * r, 0.19 * r) for side in (-1, 1)]
    eyes = [circle(x + side * 0.3 * r, y + 0.02 * r, 0.12 * r) for side in (-1, 1)]
    face = circle(x, y + 0.12 * r, 0.78 * r)
    nose = circle(x, y + 0.5 * r, 0.15 * r)
    head = group(*ears, face, fill=colour, stroke=PAPER, stroke_width=0.14 * r)
    return group(head, group(*inner, *eyes, nose, fill=PAPER))


def _python(x: float, y: float, r: float, colour: str) -> str:
    """Draw a snake in three bends, its head at the upper right."""
    bends = (
        *("M", x - 0.85 * r, y + 0.75 * r, "C", x + 1.5 * r, y + 1.0 * r, x + 1.0 * r, y + 0.05 * r, x, y + 0.05 * r),
        *("C", x - 1.2 * r, y + 0.05 * r, x - 1.0 * r, y - 0.85 * r, x + 0.45 * r, y - 0.6 * r),
    )
    rim = path(*bends, stroke=PAPER, stroke_width=0.62 * r, stroke_linecap="round")
    body = path(*bends, stroke=colour, stroke_width=0.42 * r, stroke_linecap="round")
    head = circle(x + 0.52 * r, y - 0.58 * r, 0.36 * r, fill=colour)
    eye = circle(x + 0.6 * r, y - 0.66 * r, 0.11 * r, fill=PAPER)
    return group(rim, body, head, eye)
