"""The principal variation: the line of play a search expects, along the edges visited most.

One home for it: the reference's results and the lines shown beside every choice follow it here, over nodes of their own
kind. The engine walks its own columns by the same rule.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Protocol, TypeVar


class Visited(Protocol):
    """An edge, whoever's it is."""

    @property
    def visits(self) -> int: ...


Node = TypeVar("Node", bound=Hashable)
Edge = TypeVar("Edge", bound=Visited)


def principal_variation(
    node: Node | None, edges_of: Callable[[Node], Iterable[Edge]], child_of: Callable[[Edge], Node | None]
) -> Iterator[tuple[Node, Edge]]:
    """Follow the most visited edge (the first of equals) until nothing was visited or the line repeats itself."""
    seen: set[Node] = set()
    while node is not None and node not in seen:
        seen.add(node)
        edge = max(edges_of(node), key=lambda edge: edge.visits, default=None)
        if edge is None or edge.visits == 0:
            return
        yield node, edge
        node = child_of(edge)
