"""The top of a graph as a picture: a board per node, shared nodes once, edges as wide as visited."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence

from anabranch.draw.layers import layered
from anabranch.draw.palette import SOFT, ink_on
from anabranch.draw.picture import Picture
from anabranch.draw.svg import MONO, document, group, rect, text, text_width
from anabranch.errors import UsageError
from anabranch.game.pictures import board_picture
from anabranch.search.results.show.graph_edges import Frame, curves, draw_edges
from anabranch.search.results.show.graph_legend import MARGIN, legend, shape
from anabranch.search.results.show.node_text import node_texts
from anabranch.search.results.show.numbers import Spread, signed
from anabranch.search.results.views import EdgeView, NodeView, ReadableGraph

AREA = 76.0 * 76.0  # of a board
STRIP = 18.0  # below the board: value and visits
ASIDE, BELOW = 34.0, 74.0  # room between nodes, between layers
SMALL, PITCH = 11.0, 14.5  # letters of texts that stand for boards
WIDEST_TEXT = 190.0
MOST, WIDEST = (20, 16, 12, 9, 7, 5, 4, 3), 1600.0  # nodes to draw if nobody says how many: as many as fit a page


def graph_picture(graph: ReadableGraph, *, depth: int, most: int | None, player: int) -> Picture:
    """Draw the most visited nodes near the root and every edge between them; without `most`, as many as fit a page."""
    if depth < 0 or (most is not None and most < 1):
        raise UsageError(f"depth is at least 0 and most at least 1, found depth={depth!r}, most={most!r}")
    game = graph.node(0).state.game
    if not 0 <= player < game.players:
        raise UsageError(f"there is no player {player}; {game.name} has players 0 to {game.players - 1}")
    picture = _drawn(graph, chosen(graph, depth, MOST[0] if most is None else most), player)
    for fewer in MOST[1:] if most is None else ():
        if picture.width <= WIDEST:
            break
        picture = _drawn(graph, chosen(graph, depth, fewer), player)
    return picture


def _drawn(graph: ReadableGraph, nodes: Sequence[NodeView], player: int) -> Picture:
    """Draw some nodes, the first of which is the root."""
    game = nodes[0].state.game
    shown = {node.number for node in nodes}
    edges = [(node, edge) for node in nodes for edge in node.edges if edge.child in shown]
    links = [(node.number, edge.child) for node, edge in edges if edge.child is not None]
    layout = layered([node.number for node in nodes], links, loops=game.cycles is not None)
    wide, high, boards = _boards(nodes)
    frame = Frame(wide, high, ASIDE, BELOW)
    values, visits = _values(nodes, edges, player), _visits(nodes, edges)
    spread = Spread.of(game, player, [values[node.number] for node in nodes], opposite=_opposite(nodes, edges))
    across, down = frame.corner((layout.width, layout.layers))
    found, beyond = curves(edges, layout, frame, across - ASIDE)
    corners = {node.number: frame.corner(layout.places[node.number]) for node in nodes}
    lines, unnamed = draw_edges(found, [(*corner, wide, high) for corner in corners.values()])
    cards = []
    for node, board in zip(nodes, boards, strict=True):
        hidden = sum(edge.child not in shown for edge in node.edges)
        parts = [
            shape(node.kind, wide, high),
            board,
            *_strip(values[node.number], visits[node.number], wide, high, spread),
        ]
        if node.kind == "over":
            parts.append(text(wide / 2, high + 16, "over", size=10, anchor="middle", fill=SOFT))
        elif hidden:
            parts.append(text(wide - 2, high + 14, f"+{hidden}", size=10, anchor="end", fill=SOFT))
        x, y = corners[node.number]
        cards.append(group(*parts, x=x, y=y, class_="node", data_number=node.number, data_kind=node.kind))
    width = max(across - ASIDE + beyond + 2 * MARGIN, 600.0)
    left = (width - beyond - (across - ASIDE)) / 2
    height = MARGIN + down - BELOW + 30
    words, below = legend(width, spread, player, nodes, found, len(graph), unnamed)
    body = group(*lines, *cards, x=left, y=MARGIN)
    return Picture(document(width, height + below, body, group(words, y=height), fluid=True))


def _values(nodes: Sequence[NodeView], edges: Sequence[tuple[NodeView, EdgeView]], player: int) -> dict[int, float]:
    """Return what each node is worth to a player; a finished game, which has nothing to come, what led to it paid."""
    values = {node.number: float(node.value[player]) for node in nodes}
    over = {node.number for node in nodes if node.kind == "over"}
    for _, edge in sorted(edges, key=lambda pair: pair[1].visits):  # the most visited way in has the last word
        if edge.child is not None and edge.child in over:
            values[edge.child] = float(edge.value[player])
    return values


def _visits(nodes: Sequence[NodeView], edges: Sequence[tuple[NodeView, EdgeView]]) -> dict[int, int]:
    """Return how often each node was visited; a finished game, which is evaluated once, by the edges drawn to it."""
    visits = {node.number: node.visits for node in nodes}
    into: Counter[int] = Counter()
    for _, edge in edges:
        if edge.child is not None:
            into[edge.child] += edge.visits
    return visits | {node.number: into[node.number] for node in nodes if node.kind == "over" and into[node.number]}


def _opposite(nodes: Sequence[NodeView], edges: Sequence[tuple[NodeView, EdgeView]]) -> bool:
    """Whether what one of two players wins the other one loses, as far as it can be seen here."""
    seen = [node.value for node in nodes] + [edge.value for _, edge in edges if edge.visits]
    return all(len(value) == 2 and abs(float(value.sum())) < 1e-9 for value in seen)


def chosen(graph: ReadableGraph, depth: int, most: int) -> list[NodeView]:
    """Return the root and the most visited nodes that can be reached from it through such nodes, at most so deep."""
    found: dict[int, NodeView] = {}
    level = {0: 0}
    visits: Counter[int] = Counter()
    waiting = [(0, 0)]  # (−visits by the edges seen so far, number)
    while waiting and len(found) < most:
        _, number = heapq.heappop(waiting)
        if number in found:
            continue
        node = found[number] = graph.node(number)
        for edge in node.edges if level[number] < depth else []:
            if edge.child is not None and edge.child not in found:
                level[edge.child] = min(level.get(edge.child, depth), level[number] + 1)
                visits[edge.child] += edge.visits
                heapq.heappush(waiting, (-visits[edge.child], edge.child))
    return list(found.values())


def _boards(nodes: Sequence[NodeView]) -> tuple[float, float, list[str]]:
    """Return width and height of all cards, and what is drawn in each: the board or, where there is none, words."""
    states = [node.state for node in nodes]
    if states[0].game.svg(states[0]) is not None:
        pictures = [board_picture(state) for state in states]
        # Boards of any shape take about the same area.
        ratio = max(0.6, min(4.0, pictures[0].board[2] / pictures[0].board[3]))
        wide = max(76.0, (AREA * ratio) ** 0.5)
        tall = wide / ratio
        return wide + 8, tall + 8 + STRIP, [one.inside(4, 4, wide, tall, only_board=True) for one in pictures]
    texts = node_texts(states)
    widest = max(text_width(row, SMALL, mono=True) for lines in texts for row in lines)
    scale = min(1.0, WIDEST_TEXT / widest) if widest else 1.0
    wide = max(widest * scale + 16, 84.0)
    size, pitch = SMALL * scale, PITCH * scale
    tall = max(map(len, texts)) * pitch + 12
    cards = []
    for lines in texts:
        left = (wide - max(text_width(row, size, mono=True) for row in lines)) / 2
        top = 4 + (tall - len(lines) * pitch) / 2 + size
        rows = [
            text(left, top + at * pitch, row, size=size, font_family=MONO)
            for at, row in enumerate(lines)
            if row.strip()
        ]
        cards.append(group(*rows))
    return wide, tall + 8 + STRIP, cards


def _strip(value: float, visits: int, wide: float, high: float, spread: Spread) -> list[str]:
    """Draw a node's value and visits in the colour of the value."""
    colour = spread.colour(value)
    ink, base = ink_on(colour), high - 7
    return [
        rect(3, high - STRIP - 2, wide - 6, STRIP - 1, fill=colour, rx=4),
        text(8, base, signed(value, 2).replace("-", "−"), size=11, fill=ink, font_weight=700),
        text(wide - 8, base, _short(visits), size=11, anchor="end", fill=ink),
    ]


def _short(number: int) -> str:
    """Return a count in at most five characters."""
    for size, letter in ((10**9, "G"), (10**6, "M"), (10**4, "k")):
        if number >= size:
            unit = 1000 if letter == "k" else size
            return f"{number / unit:.3g}{letter}"
    return str(number)
