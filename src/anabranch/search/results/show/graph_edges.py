"""The edges of a drawn graph: curves through the slots that the layout gave them, as wide as visited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from anabranch.draw.layers import Layout, Way
from anabranch.draw.palette import FAINT, INK, SOFT
from anabranch.draw.svg import path, polygon
from anabranch.search.results.show.graph_labels import HIGH, Edges, Label
from anabranch.search.results.views import EdgeView, NodeView

OUTCOME = "#ab9cc0"  # neither the dark of what was chosen nor the pale of what was not
PORT = 14.0  # pixels between edges where they leave a card, if there is room
TURN = 5.0  # half of the width in which an edge turns round, behind its label
WIDEST = 8.0  # pixels that a most visited edge has more than one never visited
STEEP = 14.0  # how far an edge may go aside for every pixel it goes down
Point = tuple[float, float]
Stretch = tuple[Point, Point, Point, Point]  # a Bézier curve


@dataclass(frozen=True)
class Frame:
    """Sizes of a node's card, and the room between layers."""

    wide: float
    high: float
    below: float

    def top(self, row: int) -> float:
        """Return where a row begins: cards in even rows, labels in odd ones, in the middle between two layers."""
        layer = row // 2 * (self.high + self.below)
        return layer + self.high + (self.below - HIGH) / 2 if row % 2 else layer

    def bottom(self, row: int) -> float:
        """Return where a row ends."""
        return self.top(row) + (HIGH if row % 2 else self.high)


@dataclass(frozen=True)
class Curve:
    """One edge on its way: Bézier curves end to end, and the middle of its label."""

    node: NodeView
    edge: EdgeView
    stretches: Sequence[Stretch]
    label: Point
    back: bool


def room_below(layout: Layout, edges: Edges, least: float) -> float:
    """Return the room between layers with which no edge lies too flat."""
    far = 0.0
    for (node, edge), way in zip(edges, layout.ways, strict=True):
        assert edge.child is not None
        stops = [layout.places[node.number], *way.slots, layout.places[edge.child]]
        far = max(far, *(abs(one[0] - other[0]) for one, other in pairwise(stops)))
    return least + min(2 * far / STEEP, 2 * least)


def curves(edges: Edges, layout: Layout, frame: Frame) -> list[Curve]:
    """Return the ways of the edges."""
    ports = _ports(edges, layout, frame)
    found = []
    for at, ((node, edge), way) in enumerate(zip(edges, layout.ways, strict=True)):
        place = way.slots[way.label]
        label = place[0], frame.top(place[1]) + HIGH / 2
        found.append(Curve(node, edge, _stretches(ports[at, 0], way, ports[at, 1], frame), label, way.back))
    return found


def draw_edges(found: Sequence[Curve], labels: Sequence[Label]) -> list[str]:
    """Draw the curves, those most visited above the others, then their labels.

    The most visited choice of a decision is dark.
    """
    busiest = max((curve.edge.visits for curve in found), default=1) or 1
    lines = []
    for curve in sorted(found, key=lambda curve: curve.edge.visits):
        steps: list[str | float] = ["M", *curve.stretches[0][0]]
        for _, one, other, end in curve.stretches:
            steps += ["C", *one, *other, *end]
        colour, wide = stroke(curve), 1.2 + WIDEST * (curve.edge.visits / busiest) ** 0.5
        lines.append(
            path(
                *steps,
                stroke=colour,
                stroke_width=wide,
                stroke_dasharray="5 4" if curve.back else None,
                class_="edge",
                data_from=curve.node.number,
                data_to=curve.edge.child,
            )
        )
        if curve.back:
            lines.append(_arrow(curve.stretches[-1][-1], 3 + wide / 2, colour))
    words = [
        label.drawn(*curve.label, SOFT if stroke(curve) == FAINT else INK)
        for curve, label in zip(found, labels, strict=True)
    ]
    return [*lines, *words]


def stroke(curve: Curve) -> str:
    """Return the colour of an edge: nobody chose an outcome; of choices the most visited one stands out."""
    if curve.node.kind == "chance":
        return OUTCOME
    first = max(curve.node.edges, key=lambda edge: edge.visits)  # the first of equals
    return SOFT if curve.edge.action == first.action else FAINT


def _ports(edges: Edges, layout: Layout, frame: Frame) -> dict[tuple[int, int], Point]:
    """Return where each edge leaves its start (at, 0) and meets its end (at, 1): side by side along a card's side.

    They are in the order of the slots they lead to, so that they do not cross before those.
    """
    sides: dict[tuple[int, bool], list[tuple[float, int, int]]] = {}  # (node, bottom?) → slot, edge, end
    for at, ((node, edge), way) in enumerate(zip(edges, layout.ways, strict=True)):
        assert edge.child is not None
        ends = (layout.places[node.number], layout.places[edge.child])
        turn = (TURN if ends[0][0] <= ends[1][0] else -TURN) if ends[0][1] == ends[1][1] else 0.0
        for end, (number, slot) in enumerate(((node.number, way.slots[0]), (edge.child, way.slots[-1]))):
            aside = slot[0] + (2 * end - 1) * turn
            sides.setdefault((number, slot[1] > ends[end][1]), []).append((aside, at, end))
    ports = {}
    for (number, bottom), meeting in sides.items():
        x, row = layout.places[number]
        apart = min(PORT, (frame.wide - 24) / len(meeting))
        for place, (_, at, end) in enumerate(sorted(meeting)):
            across = x + apart * (place - (len(meeting) - 1) / 2)
            ports[at, end] = (across, frame.bottom(row) if bottom else frame.top(row))
    return ports


def _stretches(start: Point, way: Way, end: Point, frame: Frame) -> list[Stretch]:
    """Return a way as curves: straight through the rows it passes, bent between them."""
    if start[1] == end[1]:  # down, round behind the label, and up again
        x, row = way.slots[0]
        turn = TURN if start[0] <= end[0] else -TURN
        one, other = (x - turn, frame.top(row)), (x + turn, frame.top(row))
        low = frame.top(row) + 0.75 * HIGH  # a curve goes three quarters of the way to where it is bent
        return [_bent(start, one), (one, (one[0], low), (other[0], low), other), _bent(other, end)]
    down = start[1] < end[1]
    stops = [start]
    for x, row in way.slots:
        through = [(x, frame.top(row)), (x, frame.bottom(row))]
        stops += through if down else through[::-1]
    return [_bent(one, other) for one, other in pairwise([*stops, end])]


def _bent(one: Point, other: Point) -> Stretch:
    """Return a curve that begins and ends upright."""
    bend = (other[1] - one[1]) * 0.5
    return one, (one[0], one[1] + bend), (other[0], other[1] - bend), other


def _arrow(tip: Point, half: float, colour: str) -> str:
    """Draw the head of an edge that leads up, half of its width given."""
    x, y = tip
    return polygon([(x, y), (x - half, y + 2 * half), (x + half, y + 2 * half)], fill=colour)
