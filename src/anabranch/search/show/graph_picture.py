"""The top of a graph as a picture: a board per node, shared nodes once, edges as wide as visited."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from anabranch.draw.layers import Layout, layered
from anabranch.draw.palette import EDGE, FAINT, INK, PAPER, SOFT, ink_on
from anabranch.draw.picture import Picture, text_picture
from anabranch.draw.svg import document, group, line, path, polygon, rect, shortened, text, text_width
from anabranch.errors import UsageError
from anabranch.game.pictures import board_picture
from anabranch.game.state import State
from anabranch.search.show.lines import move_name
from anabranch.search.show.numbers import Scale, count, signed
from anabranch.search.views import EdgeView, NodeView, ReadableGraph

AREA = 76.0 * 76.0  # of a board
STRIP = 18.0  # below the board: value and visits
ASIDE, BELOW = 34.0, 74.0  # room between nodes, between layers
MARGIN, LEGEND = 28.0, 62.0
SHAPES = {"decision": "decision", "chance": "chance", "over": "game over"}


@dataclass(frozen=True)
class Frame:
    """Sizes of a node's card; they follow the shape of the root's board."""

    wide: float
    board: float  # height of the box the board is drawn in

    @classmethod
    def of(cls, picture: Picture) -> Frame:
        """Take boards of any shape with about the same area."""
        ratio = max(0.6, min(4.0, picture.board[2] / picture.board[3]))
        wide = max(76.0, (AREA * ratio) ** 0.5)
        return cls(wide + 8, wide / ratio)

    @property
    def high(self) -> float:
        """Height of the card."""
        return self.board + 8 + STRIP

    def corner(self, place: tuple[float, int]) -> tuple[float, float]:
        """Return where the card of a place in the layout begins."""
        return place[0] * (self.wide + ASIDE), place[1] * (self.high + BELOW)


def graph_picture(graph: ReadableGraph, *, depth: int, most: int, player: int) -> Picture:
    """Draw the most visited nodes near the root and every edge between them."""
    if depth < 0 or most < 1:
        raise UsageError(f"depth is at least 0 and most at least 1, found depth={depth!r}, most={most!r}")
    nodes = chosen(graph, depth, most)
    game = nodes[0].state.game
    if not 0 <= player < game.players:
        raise UsageError(f"there is no player {player}; {game.name} has players 0 to {game.players - 1}")
    shown = {node.number for node in nodes}
    edges = [(node, edge) for node in nodes for edge in node.edges if edge.child in shown]
    links = [(node.number, edge.child) for node, edge in edges if edge.child is not None]
    layout = layered([node.number for node in nodes], links, loops=game.cycles is not None)
    frame = Frame.of(_thumbnail(nodes[0].state))
    values = _values(nodes, edges, player)
    scale = Scale.of(game, values.values())
    drawn = [_edge(node, edge, at, edges, layout, frame) for at, (node, edge) in enumerate(edges)]
    cards = [_card(node, values[node.number], shown, layout, frame, scale, player) for node in nodes]
    across, down = frame.corner((layout.width, layout.layers))
    aside = 40.0 if layout.back else 0.0  # edges that lead up run at the right
    width = max(across - ASIDE + 2 * MARGIN + aside, 600.0)
    left = (width - aside - (across - ASIDE)) / 2
    height = MARGIN + down - BELOW + 26
    body = group(*(curve for curve, _ in drawn), *(label for _, label in drawn), *cards, x=left, y=MARGIN)
    legend = group(*_legend(width, scale, player, nodes, len(graph)), y=height)
    return Picture(document(width, height + LEGEND, body, legend))


def _values(nodes: Sequence[NodeView], edges: Sequence[tuple[NodeView, EdgeView]], player: int) -> dict[int, float]:
    """Return what each node is worth to a player; a finished game, which has nothing to come, what led to it paid."""
    values = {node.number: float(node.value[player]) for node in nodes}
    over = {node.number for node in nodes if node.kind == "over"}
    for _, edge in sorted(edges, key=lambda pair: pair[1].visits):  # the most visited way in has the last word
        if edge.child is not None and edge.child in over:
            values[edge.child] = float(edge.value[player])
    return values


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


def _edge(
    node: NodeView, edge: EdgeView, at: int, edges: Sequence[tuple[NodeView, EdgeView]], layout: Layout, frame: Frame
) -> tuple[str, str]:
    """Return an edge's curve and its label."""
    assert edge.child is not None
    link = (node.number, edge.child)
    busiest = max(other.visits for _, other in edges) or 1
    width = 1.2 + 8 * (edge.visits / busiest) ** 0.5
    first = edge.visits == max(other.visits for other in node.edges)
    wide, high = frame.wide, frame.high
    x1, y1 = frame.corner(layout.places[node.number])
    x2, y2 = frame.corner(layout.places[edge.child])
    start, end = (x1 + wide / 2, y1 + high), (x2 + wide / 2, y2)
    # Several edges between the same two nodes bow apart.
    twins = [where for where, (other, way) in enumerate(edges) if (other.number, way.child) == link]
    bow = 26.0 * (twins.index(at) - (len(twins) - 1) / 2)
    if link in layout.back:
        side = max(x1, x2) + wide + 24 + abs(bow)
        begin, finish = (x1 + wide, y1 + high / 2 + 8), (x2 + wide, y2 + high / 2 - 8)
        steps: list[str | float] = ["M", *begin, "C", side + 10, begin[1], side + 10, finish[1], *finish]
        middle = ((begin[0] + 6 * (side + 10) + finish[0]) / 8, (begin[1] + finish[1]) / 2)
    else:
        corners = [frame.corner(way) for way in layout.ways[link]]
        points = [start, *((x + wide / 2, y + high / 2) for x, y in corners), end]
        steps = ["M", *start]
        for (ax, ay), (bx, by) in pairwise(points):
            bend = (by - ay) * 0.45
            steps += ["C", ax + bow, ay + bend, bx + bow, by - bend, bx, by]
        # On the last stretch, nearer to the child: edges from one parent have parted there.
        (ax, ay), (bx, by) = points[-2:]
        t = 0.5 + 0.12 * ((at % 3) - 1)
        s = 1 - t
        bend = (by - ay) * 0.45
        middle = (
            s**3 * ax + 3 * s * s * t * (ax + bow) + 3 * s * t * t * (bx + bow) + t**3 * bx,
            s**3 * ay + 3 * s * s * t * (ay + bend) + 3 * s * t * t * (by - bend) + t**3 * by,
        )
    curve = path(
        *steps,
        stroke=SOFT if first else FAINT,
        stroke_width=width,
        stroke_dasharray="5 4" if link in layout.back else None,
        stroke_linecap="round",
        class_="edge",
        data_from=link[0],
        data_to=link[1],
    )
    name = shortened(move_name(node.state, edge.action), 18)
    across = text_width(name, 11) + 8
    pill = rect(middle[0] - across / 2, middle[1] - 8, across, 16, fill=PAPER, opacity=0.88, rx=5)
    words = text(middle[0], middle[1] + 4, name, size=11, anchor="middle", fill=INK if first else SOFT)
    return curve, group(pill, words)


def _card(
    node: NodeView, value: float, shown: set[int], layout: Layout, frame: Frame, scale: Scale, player: int
) -> str:
    """Draw a node: the board, and a strip with its value and visits."""
    x, y = frame.corner(layout.places[node.number])
    wide, high = frame.wide, frame.high
    colour = scale.colour(value, player)
    ink, base = ink_on(colour), high - 7
    parts = [
        _shape(node.kind, wide, high),
        _thumbnail(node.state).inside(4, 4, wide - 8, frame.board, only_board=True),
        rect(3, high - STRIP - 2, wide - 6, STRIP - 1, fill=colour, rx=4),
        text(8, base, signed(value, 2).replace("-", "−"), size=11, fill=ink, font_weight=700),
        text(wide - 8, base, _short(node.visits), size=11, anchor="end", fill=ink),
    ]
    hidden = sum(edge.child not in shown for edge in node.edges)
    if hidden:
        parts.append(text(wide - 2, high + 14, f"+{hidden}", size=10, anchor="end", fill=SOFT))
    return group(*parts, x=x, y=y, class_="node", data_number=node.number, data_kind=node.kind)


def _shape(kind: str, wide: float, high: float) -> str:
    """Draw an outline: rounded for decisions, pointed at the sides for chance, doubled for finished games."""
    if kind == "chance":
        tip = min(11.0, wide / 4)
        corners = [(0.0, 0.0), (wide, 0.0), (wide + tip, high / 2), (wide, high), (0.0, high), (-tip, high / 2)]
        return polygon(corners, fill=PAPER, stroke=SOFT, stroke_width=1.5, stroke_linejoin="round")
    if kind == "over":
        outer = rect(-3, -3, wide + 6, high + 6, fill=PAPER, stroke=INK, stroke_width=1.3)
        return outer + rect(0, 0, wide, high, fill=PAPER, stroke=INK, stroke_width=1.3)
    return rect(0, 0, wide, high, fill=PAPER, stroke=EDGE, stroke_width=1.5, rx=min(8.0, high / 3))


def _thumbnail(state: State) -> Picture:
    """Return the board or, if the game cannot draw it, the first lines of its text."""
    if state.game.svg(state) is not None:
        return board_picture(state)
    lines = [shortened(row, 14) for row in str(state).splitlines()[:6]]
    return text_picture("\n".join(lines))


def _short(number: int) -> str:
    """Return a count in at most five characters."""
    for size, letter in ((10**9, "G"), (10**6, "M"), (10**4, "k")):
        if number >= size:
            unit = 1000 if letter == "k" else size
            return f"{number / unit:.3g}{letter}"
    return str(number)


def _legend(width: float, scale: Scale, player: int, nodes: Sequence[NodeView], total: int) -> list[str]:
    """Explain colours, widths and shapes, and say how much of the graph is drawn."""
    x, steps, shown = MARGIN, 40, {node.number for node in nodes}
    parts = [line(MARGIN, 0, width - MARGIN, 0, stroke=FAINT)]
    low, high = signed(scale.low, 2).replace("-", "−"), signed(scale.high, 2).replace("-", "−")
    words = f"value to player {player}"
    parts.append(text(x, 22, words, size=11, fill=SOFT))
    x += text_width(words, 11) + 8
    parts.append(text(x, 22, low, size=11))
    x += text_width(low, 11) + 5
    values = [scale.low + (scale.high - scale.low) * (step + 0.5) / steps for step in range(steps)]
    shades = [rect(3 * step, 12, 3, 12, fill=scale.colour(value, player)) for step, value in enumerate(values)]
    parts.append(group(*shades, x=round(x), shape_rendering="crispEdges"))
    x += 3 * steps + 5
    parts.append(text(x, 22, high, size=11))
    x += text_width(high, 11) + 22
    hints = ["wider: more visits"]
    if any(edge.child not in shown for node in nodes for edge in node.edges):
        hints.append("+3: children not drawn")
    for words in hints:
        parts.append(text(x, 22, words, size=11, fill=SOFT))
        x += text_width(words, 11) + 18
    x = MARGIN
    for kind, name in SHAPES.items():
        if any(node.kind == kind for node in nodes):
            parts.append(group(_shape(kind, 12, 12), x=x + 5, y=36))
            parts.append(text(x + 26, 46, name, size=11, fill=SOFT))
            x += 26 + text_width(name, 11) + 16
    drawn = f"{count(len(nodes))} of {count(total)} nodes"
    parts.append(text(width - MARGIN, 46, drawn, size=11, anchor="end", fill=SOFT))
    return parts
