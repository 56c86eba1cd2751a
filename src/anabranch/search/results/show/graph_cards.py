"""The nodes of a drawn graph: cards with who moves above the board, value and visits below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anabranch.draw.palette import EDGE, INK, PAPER, PLAYERS, SOFT, WASH, ink_on, player_colour
from anabranch.draw.svg import MONO, circle, group, polygon, printed, rect, shortened, text, text_width
from anabranch.game.pictures import board_picture, player_name
from anabranch.search.results.show.node_text import node_texts
from anabranch.search.results.show.numbers import Spread, signed
from anabranch.search.results.views import NodeView

AREA = 76.0 * 76.0  # of a board
HEAD = 18.0  # above the board: who moves
STRIP = 18.0  # below it: value and visits
SMALL, PITCH = 11.0, 14.5  # letters of texts that stand for boards
WIDEST_TEXT = 190.0
NARROWEST = 94.0  # of a card, so that it can say who moves
MOST_DOTS = 6  # players who choose at once


@dataclass(frozen=True)
class Boards:
    """What is drawn in the cards: width and height of all of them, each one's board, the colours of stones."""

    wide: float
    high: float
    drawn: Sequence[str]
    stones: Sequence[str]


def boards(nodes: Sequence[NodeView]) -> Boards:
    """Draw the boards or, where there are none, words."""
    states = [node.state for node in nodes]
    if states[0].game.svg(states[0]) is not None:
        pictures = [board_picture(state) for state in states]
        # Boards of any shape take about the same area.
        ratio = max(0.6, min(4.0, pictures[0].board[2] / pictures[0].board[3]))
        wide = max(NARROWEST - 8, (AREA * ratio) ** 0.5)
        tall = wide / ratio
        shown = [one.inside(4, HEAD, wide, tall, only_board=True) for one in pictures]
        return Boards(wide + 8, HEAD + tall + 4 + STRIP, shown, pictures[0].stones)
    texts = node_texts(states)
    widest = max(text_width(row, SMALL, mono=True) for lines in texts for row in lines)
    scale = min(1.0, WIDEST_TEXT / widest) if widest else 1.0
    wide = max(widest * scale + 16, NARROWEST)
    size, pitch = SMALL * scale, PITCH * scale
    tall = max(map(len, texts)) * pitch + 8
    cards = []
    for lines in texts:
        left = (wide - max(text_width(row, size, mono=True) for row in lines)) / 2
        top = HEAD - 3 + (tall - len(lines) * pitch) / 2 + size
        rows = [
            text(left, top + at * pitch, row, size=size, font_family=MONO)
            for at, row in enumerate(lines)
            if row.strip()
        ]
        cards.append(group(*rows))
    return Boards(wide, HEAD + tall + 4 + STRIP, cards, ())


def card(node: NodeView, at: int, shown: Boards, spread: Spread, visits: int, hidden: int) -> str:
    """Draw a node at the origin, with the board numbered `at` and how many of its edges are `hidden`."""
    return "".join(
        [
            shape(node.kind, shown.wide, shown.high),
            *_head(node, shown, hidden),
            shown.drawn[at],
            *_strip(node, visits, shown, spread),
        ]
    )


def shape(kind: str, wide: float, high: float) -> str:
    """Draw an outline: rounded for decisions, pointed at the sides for chance, doubled for finished games."""
    if kind == "chance":
        tip = min(11.0, wide / 4)
        corners = [(0.0, 0.0), (wide, 0.0), (wide + tip, high / 2), (wide, high), (0.0, high), (-tip, high / 2)]
        return polygon(corners, fill=PAPER, stroke=SOFT, stroke_width=1.5, stroke_linejoin="round", class_="shape")
    if kind == "over":
        outer = rect(-3, -3, wide + 6, high + 6, fill=PAPER, stroke=INK, stroke_width=1.3, class_="shape")
        return outer + rect(0, 0, wide, high, fill=PAPER, stroke=INK, stroke_width=1.3)
    return rect(0, 0, wide, high, fill=PAPER, stroke=EDGE, stroke_width=1.5, rx=min(8.0, high / 3), class_="shape")


def _head(node: NodeView, shown: Boards, hidden: int) -> list[str]:
    """Draw who moves, each with a dot like its stones, and at the right how many edges are not drawn."""
    turn, game = node.state.turn, node.state.game
    seats = turn if isinstance(turn, tuple) else ()
    parts, x = [], 8.0
    for seat in seats[:MOST_DOTS]:
        colour = shown.stones[seat % len(shown.stones)] if shown.stones else player_colour(seat)
        rim = None if colour in PLAYERS else SOFT
        parts.append(circle(x + 3.5, 9.5, 3.5, fill=colour, stroke=rim))
        x += 10
    room = shown.wide - x - 8
    if hidden:
        more = f"+{hidden}"
        parts.append(text(shown.wide - 7, 13, more, size=10, anchor="end", fill=SOFT))
        room -= text_width(more, 10) + 3
    if len(seats) == 1:
        words, ink = player_name(game, seats[0]), player_colour(seats[0])
    else:
        words, ink = {0: node.kind, 2: "both"}.get(len(seats), "at once"), SOFT
    while words and text_width(words, 10, bold=True) > room:
        words = shortened(words, len(words) - 1) if len(words) > 1 else ""
    return [*parts, text(x + 1, 13, words, size=10, fill=ink, font_weight=700)] if words else parts


def _strip(node: NodeView, visits: int, shown: Boards, spread: Spread) -> list[str]:
    """Draw a node's value and visits in the colour of the value; a finished game has nothing to come and no colour."""
    value = float(node.value[spread.player])
    colour = WASH if node.kind == "over" else spread.colour(value)
    ink, base = ink_on(colour), shown.high - 7
    return [
        rect(3, shown.high - STRIP - 2, shown.wide - 6, STRIP - 1, fill=colour, rx=4),
        text(
            8,
            base,
            ("= " if node.proven and node.kind != "over" else "") + printed(signed(value, 2)),
            size=11,
            fill=ink,
            font_weight=700,
        ),
        text(shown.wide - 8, base, _short(visits), size=11, anchor="end", fill=ink),
    ]


def _short(number: int) -> str:
    """Return a count in at most five characters."""
    for size, letter in ((10**9, "G"), (10**6, "M"), (10**4, "k")):
        if number >= size:
            unit = 1000 if letter == "k" else size
            return f"{number / unit:.3g}{letter}"
    return str(number)
