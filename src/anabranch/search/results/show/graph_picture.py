"""The top of a graph as a picture: a board per node, shared nodes once, edges as wide as visited."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Collection, Sequence

from anabranch.draw.layers import layered
from anabranch.draw.picture import Picture
from anabranch.draw.svg import document, group
from anabranch.errors import UsageError
from anabranch.search.results.show.graph_cards import boards, card
from anabranch.search.results.show.graph_edges import Frame, curves, draw_edges, room_below
from anabranch.search.results.show.graph_labels import edge_labels, edge_rewards
from anabranch.search.results.show.graph_legend import MARGIN, legend
from anabranch.search.results.show.numbers import Spread
from anabranch.search.results.views import EdgeView, NodeView, ReadableGraph

ASIDE, BELOW = 34.0, 66.0  # room between nodes; the least between layers
PARALLEL = 8  # edges from one node to another; with more a picture is all names
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
    edges = [(node, edge) for node in nodes for edge in _shown_edges(node, shown)]
    kept = Counter(node.number for node, _ in edges)
    rewards, pictures, visits = edge_rewards(edges, game.players), boards(nodes), _visits(nodes, edges)
    values = [float(node.value[player]) for node in nodes if node.kind != "over"]
    paid = [float(reward) for reward in rewards[:, player] if reward]
    spread = Spread.of(game, player, [*values, *paid], total=_total(nodes, edges))
    labels = edge_labels(edges, rewards, player, spread)
    layout = layered(
        [node.number for node in nodes],
        [(node.number, edge.child) for node, edge in edges if edge.child is not None],
        wide=pictures.wide + ASIDE,
        labels=[label.width for label in labels],
        loops=game.cycles is not None,
    )
    frame = Frame(pictures.wide, pictures.high, room_below(layout, edges, BELOW))
    found = curves(edges, layout, frame)
    cards = []
    for at, node in enumerate(nodes):
        x, row = layout.places[node.number]
        hidden = len(node.edges) - kept[node.number]
        inside = card(node, at, pictures, spread, visits[node.number], hidden)
        corner = {"x": x - pictures.wide / 2, "y": frame.top(row)}
        cards.append(group(inside, **corner, class_="node", data_number=node.number, data_kind=node.kind))
    width = max(layout.width - ASIDE + 2 * MARGIN, 600.0)
    height = MARGIN + frame.bottom(layout.rows - 1) + 18
    words, below = legend(width, spread, nodes, found, rewards, len(graph))
    body = group(*draw_edges(found, labels), *cards, x=(width - layout.width) / 2, y=MARGIN)
    return Picture(document(width, height + below, body, group(words, y=height), fluid=True))


def _shown_edges(node: NodeView, shown: Collection[int]) -> list[EdgeView]:
    """Return the edges to nodes that are drawn; of many to one of them the most visited, in the node's order."""
    drawn: Counter[int] = Counter()
    kept = set()
    for at, edge in sorted(enumerate(node.edges), key=lambda pair: -pair[1].visits):
        if edge.child is not None and edge.child in shown and drawn[edge.child] < PARALLEL:
            drawn[edge.child] += 1
            kept.add(at)
    return [edge for at, edge in enumerate(node.edges) if at in kept]


def _visits(nodes: Sequence[NodeView], edges: Sequence[tuple[NodeView, EdgeView]]) -> dict[int, int]:
    """Return how often each node was visited; a finished game, which is evaluated once, by the edges drawn to it."""
    visits = {node.number: node.visits for node in nodes}
    into: Counter[int] = Counter()
    for _, edge in edges:
        if edge.child is not None:
            into[edge.child] += edge.visits
    return visits | {node.number: into[node.number] for node in nodes if node.kind == "over" and into[node.number]}


def _total(nodes: Sequence[NodeView], edges: Sequence[tuple[NodeView, EdgeView]]) -> float | None:
    """Return what two players are worth together, if it is the same wherever it can be seen: then they are opposite."""
    seen = [node.value for node in nodes if node.kind != "over"] + [edge.value for _, edge in edges if edge.visits]
    sums = [float(value.sum()) for value in seen] or [0.0]
    same = nodes[0].state.game.players == 2 and max(sums) - min(sums) < 1e-9
    return sums[0] if same else None


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
