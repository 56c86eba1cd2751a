"""How widely the values met below a node scatter: the second moment of docs/model.md section 8, about the mean.

    decision   M(n) = (Σ N(e)·m(e) + U) / (1 + Σ N(e)),   V(n) = (Σ N(e)·(V(e) + (m(e) − M)²) + (U − M)²) / (1 + Σ N(e))
    chance     likewise without U, weighted as Q is: by n(o), or by p(o) where all outcomes were enumerated
    edge       m(e) = r + d·M(child), V(e) = d²·V(child); u and 0 where frozen, since one evaluation tells no variance

With M2(n) = (U² + Σ N(e)·E[(r + dX)²]) / (1 + ΣN) this is M2 − M², by the law of total variance; written so, nothing
cancels and nothing is below 0. M is Q wherever Q is up to date; it is computed anew because a node off the last paths
may be stale, and a variance about a mean that is not the mean would be too large. Computed when asked for; the engine
does the same in `cpp/anabranch/moments.hpp`, operation by operation.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from anabranch import _native
from anabranch.search.engine.graph import Graph
from anabranch.search.reference.nodes import Edge, Kind, Node, ReferenceGraph
from anabranch.search.results.excerpt import Excerpt

Floats = npt.NDArray[np.float64]
Spread = tuple[float, float]  # mean and variance, to one player


def root_variances(graph: Graph | ReferenceGraph | Excerpt) -> Floats:
    """Return the variance of the values over every edge of the root [edges, P]."""
    return graph.spread if isinstance(graph, Excerpt) else variances(graph)[1]


def variances(graph: Graph | ReferenceGraph) -> tuple[Floats, Floats]:
    """Return the variance of the values below every node [nodes, P], and over every edge of the root [edges, P]."""
    if isinstance(graph, Graph):
        return _native.variances(graph.native)
    players = range(graph.game.players)
    found = _below(graph.nodes[0], len(players))
    nodes = [[found[node][player][1] for player in players] for node in graph.nodes]
    edges = [[edge_spread(edge, found, player)[1] for player in players] for edge in graph.nodes[0].edges.values()]
    return np.array(nodes).reshape(-1, len(players)), np.array(edges).reshape(-1, len(players))


def _below(root: Node, players: int) -> dict[Node, list[Spread]]:
    """Measure all nodes, children first.

    Where a cycle leads back into a node in progress, that one counts as certain, and worth its Q.
    """
    found: dict[Node, list[Spread]] = {}
    path: list[tuple[Node, Iterator[Node]]] = []
    entered: Node | None = root
    while entered or path:
        if entered:
            found[entered] = [(mean, 0.0) for mean in entered.mean]
            path.append((entered, entered.children()))
        node, left = path[-1]
        entered = next((child for child in left if child not in found), None)
        if entered is None:
            if node.kind is not Kind.OVER and node.visits > 0:
                found[node] = [node_spread(node, found, player) for player in range(players)]
            path.pop()
    return found


def edge_spread(edge: Edge, found: dict[Node, list[Spread]], player: int) -> Spread:
    """Return m(e) and V(e); visits ended by a repetition are worth one number, all others scatter about another."""
    if edge.frozen is not None:
        return edge.value(player), 0.0
    assert edge.child is not None
    mean, variance = found[edge.child][player]
    known, below = edge.reward[player] + edge.discount * mean, edge.discount * edge.discount * variance
    if edge.repeats == 0:
        return known, below
    repeated, others = edge.reward[player] + edge.discount * edge.repetition, edge.visits - edge.repeats
    mean = (others * known + edge.repeats * repeated) / edge.visits
    off, further_off = known - mean, repeated - mean
    return mean, (others * (below + off * off) + edge.repeats * (further_off * further_off)) / edge.visits


def node_spread(node: Node, found: dict[Node, list[Spread]], player: int) -> Spread:
    """Return M(n) and V(n), from children already measured."""
    weighed = [(edge.chance if node.exact else float(edge.visits), edge) for edge in node.edges.values()]
    spreads = [(weight, *edge_spread(edge, found, player)) for weight, edge in weighed if weight > 0.0]
    mean, variance, weights = 0.0, 0.0, 0.0
    for weight, value, _ in spreads:
        mean += weight * value
        weights += weight
    decision = node.kind is Kind.DECISION
    evaluated = node.evaluation.values[player] if node.evaluation is not None else 0.0
    mean = (mean + evaluated) / (1.0 + weights) if decision else mean / weights
    for weight, value, below in spreads:
        variance += weight * (below + (value - mean) * (value - mean))
    if decision:
        return mean, (variance + (evaluated - mean) * (evaluated - mean)) / (1.0 + weights)
    return mean, variance / weights
