"""What stands on a table: cards, dice, heaps of stones, bars of points, tables of payoffs."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from anabranch.draw.palette import (
    EDGE,
    FAINT,
    INK,
    PAPER,
    PLAYERS,
    SOFT,
    WASH,
    blend,
    ink_on,
    player_colour,
    value_colour,
)
from anabranch.draw.svg import circle, document, group, polygon, printed, rect, text, text_width

GOLD = "#d8a31a"
PIPS = {  # where the spots of a die lie, in thirds of its side from the middle
    1: ((0, 0),),
    2: ((-1, -1), (1, 1)),
    3: ((-1, -1), (0, 0), (1, 1)),
    4: ((-1, -1), (1, -1), (-1, 1), (1, 1)),
    5: ((-1, -1), (1, -1), (0, 0), (-1, 1), (1, 1)),
    6: ((-1, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (1, 1)),
}


def card(x: float, y: float, width: float, face: int, colour: str, *, held: bool = True) -> str:
    """Draw a card with a number; one no longer held is an outline."""
    height = 1.4 * width
    rounded = {"rx": 0.14 * width}
    if not held:
        return rect(x, y, width, height, fill="none", stroke=FAINT, stroke_dasharray="3 3", **rounded)
    size = 0.5 * width
    number = text(x + width / 2, y + height / 2 + 0.36 * size, str(face), size=size, anchor="middle", fill=colour)
    return group(rect(x, y, width, height, fill=PAPER, stroke=colour, stroke_width=1.6, **rounded), number)


def card_table(
    names: Sequence[str],
    hands: Sequence[Collection[int]],
    points: Sequence[int],
    prize: int,
    to_come: Collection[int],
    cards: int,
) -> str:
    """Draw the prize on the table and the prizes to come, then each player's hand and points."""
    width = max(16.0, min(34.0, 520 / cards))
    step, row = width + 6, 1.4 * width + 16
    left = _after(names)
    parts = []
    players = [(name, player_colour(seat), hand) for seat, (name, hand) in enumerate(zip(names, hands, strict=True))]
    for number, (name, colour, held) in enumerate([("prizes", GOLD, to_come), *players]):
        y = 14 + number * row
        parts.append(
            text(14, y + 0.7 * width + 5, name, size=13, fill=SOFT if number == 0 else colour, font_weight=700)
        )
        for face in range(1, cards + 1):
            x = left + (face - 1) * step
            if number == 0 and face == prize:
                ground = rect(x, y, width, 1.4 * width, fill=GOLD, rx=0.14 * width)
                middle = (x + width / 2, y + 0.7 * width + 0.18 * width)
                parts += [ground, text(*middle, str(face), size=0.5 * width, anchor="middle", font_weight=700)]
            else:
                parts.append(card(x, y, width, face, colour, held=face in held))
        if number:
            where = (left + cards * step + 52, y + 0.7 * width + 6)
            parts.append(text(*where, str(points[number - 1]), size=17, anchor="end", font_weight=700))
    heading = text(left + cards * step + 52, 14 + 0.7 * width + 5, "points", size=12, anchor="end", fill=SOFT)
    return document(left + cards * step + 66, 14 + (len(hands) + 1) * row, *parts, heading, stones=PLAYERS)


def die(x: float, y: float, side: float, face: int | None, colour: str = INK) -> str:
    """Draw a die; without a face it is still rolling."""
    body = rect(x, y, side, side, fill=PAPER, stroke=colour, stroke_width=2, rx=0.2 * side)
    cx, cy = x + side / 2, y + side / 2
    if face not in PIPS:
        words = "?" if face is None else str(face)
        return group(body, text(cx, cy + 0.18 * side, words, size=0.5 * side, anchor="middle", fill=colour))
    pips = [circle(cx + 0.27 * side * across, cy + 0.27 * side * down, 0.09 * side) for across, down in PIPS[face]]
    return group(body, group(*pips, fill=colour))


def race(
    names: Sequence[str], scores: Sequence[int], pot: int, target: int, mover: int | None, *, rolling: bool
) -> str:
    """Draw points on the way to a target, with those the mover has at stake, and the die where it is thrown."""
    left, long, parts = _after(names), 260.0, []
    for seat, score in enumerate(scores):
        y, colour = 18 + seat * 34, player_colour(seat)
        stake = min(pot, target - score) if seat == mover else 0
        banked, risked = long * min(score, target) / target, long * stake / target
        words = f"{score} + {pot}" if seat == mover and pot else str(score)
        parts += [
            text(14, y + 13, names[seat], size=13, fill=colour, font_weight=700),
            rect(left, y, long, 18, fill=WASH, rx=4),
            rect(left, y, banked, 18, fill=colour, rx=4),
            rect(left + banked, y, risked, 18, fill=colour, opacity=0.35, rx=4),
            text(left + long + 62, y + 14, words, size=14, anchor="end", font_weight=700),
        ]
        if seat == mover:
            parts.append(die(left + long + 76, y - 3, 24, None, colour) if rolling else _arrow(left + long + 80, y + 9))
    goal = text(left + long, 18 + len(scores) * 34 + 8, f"target {target}", size=11, anchor="end", fill=SOFT)
    return document(left + long + 114, 34 + len(scores) * 34, *parts, goal, stones=PLAYERS)


def ring(names: Sequence[str], coins: Sequence[int], place: int, size: int) -> str:
    """Draw a row of 2·size + 1 cells with a wrestler so far right of the middle, and the coins at both ends."""
    cell = max(10.0, min(34.0, 520 / (2 * size + 1)))
    left, y = _after(names) + 8, 14.0
    parts = [rect(left + at * cell, y, cell, cell, fill=PAPER, stroke=SOFT) for at in range(2 * size + 1)]
    parts.append(circle(left + (size + place + 0.5) * cell, y + 0.5 * cell, 0.36 * cell, fill=GOLD))
    ends = ((14.0, "start"), (left + (2 * size + 1) * cell + left - 14, "end"))
    for seat, (x, anchor) in enumerate(ends):
        for down, words in ((0.5 * cell + 5, names[seat]), (cell + 22, f"{coins[seat]} coins")):
            parts.append(text(x, y + down, words, size=13, anchor=anchor, fill=player_colour(seat), font_weight=700))
    return document(2 * left + (2 * size + 1) * cell, cell + 50, *parts, stones=PLAYERS)


def heap(stones: int, *, across: int = 10, most: int = 120) -> str:
    """Draw a heap in rows, and how many there are."""
    shown, pitch = min(stones, most), 26.0
    discs = [circle(14 + (n % across + 0.5) * pitch, 14 + (n // across + 0.5) * pitch, 10) for n in range(shown)]
    rows = max(1, -(-shown // across))
    words = f"{stones:,} left" + (f", {shown} of them shown" if shown < stones else "")
    width = 28 + max(pitch * across, text_width(words, 13))
    label = text(width / 2, 14 + rows * pitch + 20, words, size=13, anchor="middle", fill=SOFT)
    return document(width, 14 + rows * pitch + 32, group(*discs, fill=EDGE, stroke=SOFT, stroke_width=1.2), label)


def payoff_table(
    rows: Sequence[str], columns: Sequence[str], payoffs: Sequence[Sequence[tuple[float, float]]], heading: str
) -> str:
    """Draw what a choice of row and column pays player 0 and player 1.

    Where they are opposite a cell has the colour of the player it is good for; else each half that of its player, the
    stronger the better.
    """
    size, tall = 13, 34.0
    cells = [[[printed(f"{part:g}") for part in pair] for pair in row] for row in payoffs]
    numbers = max(text_width(words, size) for row in cells for pair in row for words in pair)
    wide = max(2 * numbers + 30, *(text_width(name, size) + 22 for name in columns))
    left = 26 + max(text_width(name, size) for name in rows)
    every = [pair for row in payoffs for pair in row]
    sums = [first + second for first, second in every]
    opposite = max(sums) - min(sums) < 1e-9

    def fill(pair: tuple[float, float], seat: int) -> str:
        low, high = (end(one[seat] for one in every) for end in (min, max))
        share = 0.5 if high == low else (pair[seat] - low) / (high - low)
        if opposite:
            return value_colour(0.75 * (2 * share - 1) * (1 - 2 * seat))
        return blend(player_colour(seat), 0.75 * share)

    parts = [
        text(left + (at + 0.5) * wide, 30, name, size=size, anchor="middle", fill=player_colour(1), font_weight=700)
        for at, name in enumerate(columns)
    ]
    for number, name in enumerate(rows):
        y = 42 + number * tall
        middle = y + tall / 2 + 4.5
        parts.append(text(left - 10, middle, name, size=size, anchor="end", fill=player_colour(0), font_weight=700))
        for at, pair in enumerate(payoffs[number]):
            for seat, words in enumerate(cells[number][at]):
                colour, half = fill(pair, seat), wide / 2 - 1
                x = left + at * wide + 1 + seat * half
                parts.append(rect(x, y + 1, half, tall - 2, fill=colour))
                parts.append(text(x + half / 2, middle, words, size=size, anchor="middle", fill=ink_on(colour)))
    width = max(left + len(columns) * wide + 14, text_width(heading, 12) + 28)
    height = 42 + len(rows) * tall
    below = text(width / 2, height + 19, heading, size=12, anchor="middle", fill=SOFT)
    return document(width, height + 30, *parts, below, stones=PLAYERS)


def _after(names: Sequence[str]) -> float:
    """Return where the room beside players' names begins."""
    return max(84.0, *(28 + text_width(name, 13, bold=True) for name in names))


def _arrow(x: float, y: float) -> str:
    return polygon([(x, y), (x + 10, y - 6), (x + 10, y + 6)], fill=SOFT)
