"""How much of a graph is dice: chance nodes, their visits, the outcomes they met, by how many outcomes they list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from anabranch import _native
from anabranch.search.engine.graph import Graph
from anabranch.search.reference.nodes import Kind, ReferenceGraph
from anabranch.search.results.excerpt import Excerpt

Row = tuple[int, int, int, int, int, int]  # of a ChanceCount


@dataclass(frozen=True)
class ChanceCount:
    """The chance nodes of a graph that have so many outcomes."""

    outcomes: int | None  # None where the game can only draw and does not list them
    nodes: int
    enumerated: int  # of these nodes: all their outcomes were made at once, and their values are expectations
    visits: int
    stored: int  # outcomes that have a node
    frozen: int  # outcomes that keep a value evaluated once, over the limit of widening or of the graph


@dataclass(frozen=True)
class ChanceCounts:
    """The chance nodes of a graph, those with few outcomes first; where dice roll inside transitions, their fans."""

    rows: tuple[ChanceCount, ...]
    in_transition: bool = False

    @property
    def nodes(self) -> int:
        """How many there are."""
        return sum(row.nodes for row in self.rows)

    @property
    def enumerated(self) -> int:
        """How many of them were enumerated."""
        return sum(row.enumerated for row in self.rows)

    @property
    def visits(self) -> int:
        """How often they were visited."""
        return sum(row.visits for row in self.rows)

    @property
    def stored(self) -> int:
        """How many of their outcomes have a node."""
        return sum(row.stored for row in self.rows)

    @property
    def frozen(self) -> int:
        """How many of their outcomes are frozen."""
        return sum(row.frozen for row in self.rows)

    def facts(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        names = ("nodes", "enumerated", "visits", "stored", "frozen", "in_transition")
        return {**{name: getattr(self, name) for name in names}, "by_outcomes": [asdict(row) for row in self.rows]}

    def __str__(self) -> str:
        if not self.rows:
            return "no dice"
        parts = [f"{self.visits:,} visits"]
        if self.enumerated < self.nodes:
            parts += [f"{self.stored:,} outcomes stored"]
        if self.frozen:
            parts += [f"{self.frozen:,} frozen"]
        if self.in_transition:
            return f"dice inside {self.nodes:,} transitions: {', '.join(parts)}"
        if self.enumerated:
            parts.insert(0, f"{'all' if self.enumerated == self.nodes else format(self.enumerated, ',')} enumerated")
        sizes = [("?" if row.outcomes is None else f"{row.outcomes}", f"{row.nodes:,}") for row in self.rows]
        if len(sizes) == 1:
            return f"{self.nodes:,} chance nodes of {sizes[0][0]} outcomes: {', '.join(parts)}"
        listed = ", ".join(f"{nodes} of {outcomes}" for outcomes, nodes in sizes[:4])
        more = ", …" if len(sizes) > 4 else ""
        return f"{self.nodes:,} chance nodes ({listed}{more} outcomes): {', '.join(parts)}"


def chance_counts(graph: Graph | ReferenceGraph | Excerpt, *, in_transition: bool) -> ChanceCounts:
    """Count the chance nodes of a graph as it is now."""
    if isinstance(graph, Excerpt):
        return graph.chance
    rows = _native.chance_counts(graph.native) if isinstance(graph, Graph) else _reference_rows(graph)
    return ChanceCounts(tuple(ChanceCount(row[0] or None, *row[1:]) for row in rows), in_transition)


def _reference_rows(graph: ReferenceGraph) -> Sequence[Row]:
    counts: dict[int, Counter[str]] = {}
    for node in graph.nodes:
        if node.kind is Kind.CHANCE:
            of = counts.setdefault(len(node.outcomes), Counter())
            linked = sum(edge.child is not None for edge in node.edges.values())
            of.update(nodes=1, enumerated=node.exact, visits=node.visits, stored=linked)
            of.update(frozen=len(node.edges) - linked)
    return [
        (outcomes, of["nodes"], of["enumerated"], of["visits"], of["stored"], of["frozen"])
        for outcomes, of in sorted(counts.items())
    ]
