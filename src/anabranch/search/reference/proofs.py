"""Proofs in the reference: what is certain of a node, which choices are not worth another visit (docs/model.md, 14).

A node is *reconsidered* now and then, and when a child is proven: pure functions of the children as they are.
"""

from __future__ import annotations

from anabranch.game.game import Game
from anabranch.search.maths import formulas, proofs
from anabranch.search.maths.proofs import Interval
from anabranch.search.reference.nodes import Edge, Kind, Node


class Proofs:
    """Keeps the intervals of a graph's nodes; where it is off, nothing is ever certain."""

    def __init__(self, game: Game, on: bool) -> None:
        self.on, self.game = on, game
        self.terms = proofs.terms_of(game)

    def begin(self, node: Node) -> None:
        """Give a new node the intervals it has before anything is known: what the game says of its remaining return."""
        if not self.on:
            return
        node.limits = self._limits(node)
        node.intervals = list(node.limits)
        node.proven = self._is_point(node)
        node.tight = node.proven

    def _limits(self, node: Node) -> list[Interval]:
        terms, kept = self.terms, self.terms.kept
        if node.kind is Kind.OVER:
            return [(0.0, 0.0)] * kept
        if not self.game.has("bounds"):
            return [terms.returns] * kept
        lows, highs = self.game.rules.bounds(node.state.data)
        return [
            (min(float(low), terms.also[0]), max(float(high), terms.also[1]))
            for low, high in zip(lows[:kept], highs[:kept], strict=True)
        ]

    def _is_point(self, node: Node) -> bool:
        return all(high - low <= self.terms.width for low, high in node.intervals)

    # What edges say

    @staticmethod
    def knows(node: Node, edge: Edge) -> bool:
        """Whether an edge leads to a child that counts: visited and backed up, or enumerated; not frozen."""
        return edge.child is not None and edge.frozen is None and (edge.visits > 0 or node.exact)

    def of_edge(self, edge: Edge, player: int) -> Interval:
        """Return what is certain of q(e); where repetitions are worth a number, only a child's proven value counts."""
        assert edge.child is not None
        child = edge.child
        interval = child.intervals[player] if child.proven or not self.terms.repeats else child.limits[player]
        return proofs.behind(edge.reward[player], edge.discount, interval)

    def teaches(self, node: Node, edges: list[Edge]) -> bool:
        """Whether to reconsider a node after a visit over these edges, just counted.

        At once if the visit opened several outcomes or the child is newly proven; for all else once in as many visits
        as there are edges, so that a visit looks at one of them on average.
        """
        if not self.on or node.proven:
            return False
        if len(edges) != 1:
            return True
        (edge,) = edges
        closed = self.knows(node, edge) and edge.child is not None and edge.child.proven
        return (closed and not edge.skip) or node.visits % len(node.edges) == 0

    def _tells(self, node: Node, edge: Edge) -> bool:
        """Whether an edge says more than the node's limits do."""
        return [self.of_edge(edge, player) for player in range(self.terms.kept)] != node.limits

    # Reconsidering

    def reconsider(self, node: Node) -> None:
        """Compute a node's intervals from its children's, and which edges are done with; what is proven stays so."""
        if not self.on or node.proven or node.visits == 0 or not node.edges:
            return
        known = [edge for edge in node.edges.values() if self.knows(node, edge)]
        if node.kind is Kind.CHANCE and not node.outcomes:
            return
        if not any(self._tells(node, edge) for edge in known):
            return  # more than the limits is certain of no choice
        for edge in node.edges.values():
            edge.skip = False
        found = self._found(node, known)
        node.intervals = [proofs.within(each, bounds) for each, bounds in zip(found, node.limits, strict=True)]
        node.tight = node.intervals != node.limits
        node.proven = self._is_point(node)
        if node.proven:
            node.tight = True
            node.distance = self._distance(node, known)

    def _found(self, node: Node, known: list[Edge]) -> list[Interval]:
        players = range(self.terms.kept)
        if node.kind is Kind.CHANCE:
            complete = len(known) == len(node.outcomes)
            mass = formulas.total_of(edge.chance for edge in known)
            rest = None if complete else formulas.total_of(p for _, p in node.outcomes) - mass
            self._skip_closed(known, complete)
            return [
                proofs.expectation([(edge.chance, self.of_edge(edge, p)) for edge in known], rest, node.limits[p])
                for p in players
            ]
        if len(node.acting) == 1:
            return self._of_choices(node, known)
        cells = 1
        for ids in node.choices:
            cells *= len(ids)
        self._skip_closed(known, complete=False)
        if self.terms.mode == "free":
            rest_of_table = [node.limits] if len(known) < cells else []
            return [
                proofs.hull([*(limits[p] for limits in rest_of_table), *(self.of_edge(edge, p) for edge in known)])
                for p in players
            ]
        table = self._table(node)
        if len(known) == cells and all(edge.child is not None and edge.child.proven for edge in known):
            return [proofs.in_equilibrium(table)]
        return [proofs.in_pure_strategies(table)]

    @staticmethod
    def _skip_closed(known: list[Edge], complete: bool) -> None:
        for edge in known:
            edge.skip = edge.child is not None and edge.child.proven
        if complete and all(edge.skip for edge in known):
            for edge in known:
                edge.skip = False

    def _table(self, node: Node) -> list[list[Interval]]:
        """Return player 0's intervals of all cells where two players choose at once."""
        rows, columns = (range(len(ids)) for ids in node.choices)
        table = [[node.limits[0] for _ in columns] for _ in rows]
        for edge in node.edges.values():
            if self.knows(node, edge):
                table[edge.move[0]][edge.move[1]] = self.of_edge(edge, 0)
        return table

    def _of_choices(self, node: Node, known: list[Edge]) -> list[Interval]:
        """Return the intervals of a node where one player chooses, and skip choices that are closed or worse."""
        untried = len(known) < len(node.choices[0])
        [mover] = node.acting
        terms = self.terms
        own = 0 if terms.mode == "opposed" else mover
        maximises = terms.mode == "free" or mover == 0
        mine = [self.of_edge(edge, own) for edge in known]
        best = proofs.best_of([*([node.limits[own]] if untried else []), *mine], maximises=maximises)
        if terms.mode == "opposed":
            worse = [proofs.passed_over(interval, best, maximises=maximises) for interval in mine]
        else:
            worse = [interval[1] < best[0] - terms.apart for interval in mine]  # what ties may be taken
        for edge, is_worse in zip(known, worse, strict=True):
            edge.skip = is_worse or (edge.child is not None and edge.child.proven)
        if not untried and all(edge.skip for edge in known):
            for edge in known:
                edge.skip = False
        if terms.mode == "opposed":
            return [best]
        chosen = [edge for edge, is_worse in zip(known, worse, strict=True) if not is_worse]
        found = []
        for player in range(terms.kept):
            candidates = [self.of_edge(edge, player) for edge in chosen]
            if untried:
                candidates.insert(0, node.limits[player])
            found.append(best if player == own else proofs.hull(candidates))
        return found

    def _distance(self, node: Node, known: list[Edge]) -> int:
        """Return in how many steps the game ends: winners hurry, others take their time; of proven children."""
        ends = [edge for edge in known if edge.child is not None and edge.child.proven]
        if len(node.acting) != 1:
            return 1 + max((edge.child.distance for edge in ends if edge.child is not None), default=0)
        [mover] = node.acting
        own = 0 if self.terms.mode == "opposed" else mover
        maximises = self.terms.mode == "free" or mover == 0
        low, high = node.intervals[own]
        worth = low if maximises else -high
        best = [
            edge.child.distance
            for edge in ends
            if edge.child is not None and self._as_good(self.of_edge(edge, own), worth, maximises=maximises)
        ]
        if not best:
            return 1
        return 1 + (min(best) if worth > 0.0 else max(best))

    def _as_good(self, interval: Interval, worth: float, *, maximises: bool) -> bool:
        return (interval[0] if maximises else -interval[1]) >= worth - self.terms.width

    # What follows

    def clip(self, node: Node) -> None:
        """Bring Q into the interval, where one is known that is tighter than at first."""
        if node.tight:
            seen = [self.seen_by(node.intervals, player) for player in range(len(node.mean))]
            node.mean = [min(max(value, low), high) for value, (low, high) in zip(node.mean, seen, strict=True)]

    def seen_by(self, intervals: list[Interval], player: int) -> Interval:
        """Return a player's interval: where players are opposed, player 1's is player 0's turned round."""
        if self.terms.mode == "free" or player == 0:
            return intervals[player]
        low, high = intervals[0]
        return 0.0 - high, 0.0 - low  # never −0

    def passed(self, node: Node, index: int) -> list[bool]:
        """Return which choices of the `index`-th acting player are not worth another visit; never all of them.

        Those reconsidering found closed or worse, of one who acts alone. Where several choose at once, none: visits are
        the policy there, and one that mixes needs them.
        """
        passed = [False] * len(node.choices[index])
        if len(node.acting) == 1:
            for edge in node.edges.values():
                passed[edge.move[0]] = edge.skip
        return passed


def open_point(point: float, chances: list[float], skipped: list[bool]) -> tuple[float, list[float]]:
    """Return where a draw falls among the outcomes that are not proven, and their chances, 0 for the others.

    As it is where nothing is proven, or everything.
    """
    left = [0.0 if skip else p for p, skip in zip(chances, skipped, strict=True)]
    total = formulas.total_of(left)
    if not any(skipped) or total <= 0.0:
        return point, chances
    return point * total, left
