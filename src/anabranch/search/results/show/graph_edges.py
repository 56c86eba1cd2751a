"""The edges of a drawn graph: curves between cards, and names on them where they hide neither names nor cards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import hypot

from anabranch.draw.layers import Layout
from anabranch.draw.palette import FAINT, INK, PAPER, SOFT
from anabranch.draw.svg import group, path, rect, shortened, text, text_width
from anabranch.search.results.show.lines import move_name
from anabranch.search.results.views import EdgeView, NodeView

OUTCOME = "#ab9cc0"  # neither the dark of what was chosen nor the pale of what was not
LONGEST_NAME = 22
HIDDEN = 0.15  # the share of a name that others may hide before it is left out
CELL = 50.0  # pixels: about a name
CARD, NAME = -1, -2  # what may be hidden
STEPS = 24  # points a curve is measured at
Point = tuple[float, float]
Box = tuple[float, float, float, float]  # x, y, width, height


@dataclass(frozen=True)
class Frame:
    """Sizes of a node's card and the room around it."""

    wide: float
    high: float
    aside: float
    below: float

    def corner(self, place: tuple[float, int]) -> Point:
        """Return where the card of a place in the layout begins."""
        return place[0] * (self.wide + self.aside), place[1] * (self.high + self.below)


class Grid:
    """Boxes found by where they are, so that names in large graphs need not be compared with everything."""

    def __init__(self) -> None:
        self._cells: dict[tuple[int, int], list[tuple[Box, int]]] = {}

    def add(self, box: Box, what: int) -> None:
        """Keep a box and a number that says what it is."""
        for cell in self._covered(box):
            self._cells.setdefault(cell, []).append((box, what))

    def near(self, box: Box) -> set[tuple[Box, int]]:
        """Return what may touch a box."""
        return {kept for cell in self._covered(box) for kept in self._cells.get(cell, ())}

    def _covered(self, box: Box) -> Iterator[tuple[int, int]]:
        x, y, wide, high = box
        for column in range(int(x // CELL), int((x + wide) // CELL) + 1):
            for row in range(int(y // CELL), int((y + high) // CELL) + 1):
                yield column, row


@dataclass(frozen=True)
class Curve:
    """One edge on its way: Bézier curves end to end, and the points it is measured at."""

    node: NodeView
    edge: EdgeView
    stretches: Sequence[tuple[Point, Point, Point, Point]]
    back: bool

    @property
    def points(self) -> list[Point]:
        """Points from start to end, the same number on each stretch."""
        return [_on(stretch, (step + 0.5) / STEPS) for stretch in self.stretches for step in range(STEPS)]


def curves(
    edges: Sequence[tuple[NodeView, EdgeView]], layout: Layout, frame: Frame, edge_of_cards: float
) -> tuple[list[Curve], float]:
    """Return the edges' ways, and how far those that lead up reach beyond the cards."""
    found, reach = [], edge_of_cards
    for at, (node, edge) in enumerate(edges):
        assert edge.child is not None
        link = (node.number, edge.child)
        wide, high = frame.wide, frame.high
        x1, y1 = frame.corner(layout.places[node.number])
        x2, y2 = frame.corner(layout.places[edge.child])
        # Several edges between the same two nodes bow apart.
        twins = [where for where, (other, way) in enumerate(edges) if (other.number, way.child) == link]
        bow = 34.0 * (twins.index(at) - (len(twins) - 1) / 2)
        if link in layout.back:
            side = max(x1, x2) + wide + 34 + abs(bow)
            begin, finish = (x1 + wide, y1 + high / 2 + 8), (x2 + wide, y2 + high / 2 - 8)
            found.append(Curve(node, edge, [(begin, (side, begin[1]), (side, finish[1]), finish)], back=True))
            reach = max(reach, side)
            continue
        # Through layers on the way straight down, between the cards there.
        passed = [(x + wide / 2, y + end) for x, y in map(frame.corner, layout.ways[link]) for end in (0.0, high)]
        ends = [(x1 + wide / 2, y1 + high), *passed, (x2 + wide / 2, y2)]
        stretches = []
        for (ax, ay), (bx, by) in pairwise(ends):
            bend, long = (by - ay) * 0.45, hypot(bx - ax, by - ay)
            right, down = bow * (by - ay) / long, bow * (ax - bx) / long
            stretches.append(
                ((ax, ay), (ax + right, ay + bend + down), (bx + right, by - bend + down), (bx, by)),
            )
        found.append(Curve(node, edge, stretches, back=False))
    return found, reach - edge_of_cards


def draw_edges(found: Sequence[Curve], cards: Sequence[Box]) -> tuple[list[str], int]:
    """Draw curves as wide as visited, then the names there is room for; return how many there was none for.

    The most visited choice of a decision is dark.
    """
    busiest = max((curve.edge.visits for curve in found), default=1) or 1
    lines, names = [], []
    points = [curve.points for curve in found]
    beside, hidden = Grid(), Grid()
    for at, way in enumerate(points):
        for x, y in way:
            beside.add((x, y, 0.0, 0.0), at)
    for card in cards:
        hidden.add(card, CARD)
    for at in sorted(range(len(found)), key=lambda at: found[at].edge.visits):
        curve, colour = found[at], stroke(found[at])
        steps: list[str | float] = ["M", *curve.stretches[0][0]]
        for _, one, other, end in curve.stretches:
            steps += ["C", *one, *other, *end]
        lines.append(
            path(
                *steps,
                stroke=colour,
                stroke_width=1.2 + 8 * (curve.edge.visits / busiest) ** 0.5,
                stroke_dasharray="5 4" if curve.back else None,
                stroke_linecap="round",
                class_="edge",
                data_from=curve.node.number,
                data_to=curve.edge.child,
            )
        )
    # Names find their places from the most visited edge on.
    for at in sorted(range(len(found)), key=lambda at: -found[at].edge.visits):
        curve = found[at]
        name = shortened(move_name(curve.node.state, curve.edge.action), LONGEST_NAME)
        across = text_width(name, 11) + 8
        x, y = _free(points[at], across, at, beside, hidden)
        place = (x - across / 2, y - 8, across, 16.0)
        if sum(_overlap(place, other) for other, what in hidden.near(place) if what == NAME) > HIDDEN * across * 16:
            continue  # two names on top of each other say less than one
        hidden.add(place, NAME)
        pill = rect(*place, fill=PAPER, opacity=0.88, rx=5)
        ink = SOFT if stroke(curve) == FAINT else INK
        names.append(group(pill, text(x, y + 4, name, size=11, anchor="middle", fill=ink)))
    return [*lines, *names], len(found) - len(names)


def stroke(curve: Curve) -> str:
    """Return the colour of an edge: nobody chose an outcome; of choices the most visited one stands out."""
    if curve.node.kind == "chance":
        return OUTCOME
    first = max(curve.node.edges, key=lambda edge: edge.visits)  # the first of equals
    return SOFT if curve.edge.action == first.action else FAINT


def _free(way: Sequence[Point], across: float, at: int, beside: Grid, hidden: Grid) -> Point:
    """Return where on its way the name of edge `at`, so many pixels across, hides least."""

    def cost(step: int) -> float:
        x, y = way[step]
        box = (x - across / 2 - 2, y - 10, across + 4, 20.0)
        on_curves = sum(edge != at and _inside(place, box) for place, edge in beside.near(box))
        covered = sum((3 if what == CARD else 1) * _overlap(box, place) for place, what in hidden.near(box))
        return 10 * covered + 12 * on_curves + 40 * abs((step % STEPS + 0.5) / STEPS - 0.5)

    return way[min(range(len(way)), key=cost)]


def _inside(place: Box, box: Box) -> bool:
    return box[0] < place[0] < box[0] + box[2] and box[1] < place[1] < box[1] + box[3]


def _overlap(one: Box, other: Box) -> float:
    across = min(one[0] + one[2], other[0] + other[2]) - max(one[0], other[0])
    down = min(one[1] + one[3], other[1] + other[3]) - max(one[1], other[1])
    return max(0.0, across) * max(0.0, down)


def _on(stretch: tuple[Point, Point, Point, Point], t: float) -> Point:
    """Return a point of a Bézier curve."""
    s = 1 - t
    shares = (s**3, 3 * s * s * t, 3 * s * t * t, t**3)
    x, y = (sum(share * point[axis] for share, point in zip(shares, stretch, strict=True)) for axis in (0, 1))
    return x, y
