"""Which nodes beside a path are recomputed, and in which order (docs/model.md section 14); nothing here recurses.

A playout refreshes the nodes it walked. Others whose children changed stay stale until somebody visits them, which is
sound, or are refreshed as `SearchConfig.refresh` says. The orders are part of the model: the engine repeats them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from anabranch.search.reference.nodes import Node
from anabranch.search.reference.wave import Step


def leaves_of(steps: Sequence[Step]) -> list[Node]:
    """Return the evaluated nodes (N > 0) that a visit ended at, when it is backed up: in order of its edges, once each.

    One, or none, where the last edge walked leads to a node: evaluated, over, known well enough to end there, or one of
    the path, where a cycle came back. None where that edge is frozen. At a chance node opened by this visit, the
    children of all outcomes, or of those drawn.
    """
    node, edges, _ = steps[-1]
    ends = edges or node.edges.values()  # all outcomes were enumerated, and none drawn
    return list(dict.fromkeys(edge.child for edge in ends if edge.child is not None and edge.child.visits > 0))


def ancestors(starts: Iterable[Node]) -> list[Node]:
    """Return nodes and all their ancestors, children before parents where there are no cycles; each once.

    The reverse postorder of a depth-first walk up the parents, which come in the order they were linked, from one start
    after the other.
    """
    return _postorder(starts, lambda node: iter(node.parents))[::-1]


def children_first(root: Node) -> list[Node]:
    """Return all nodes below a root, children before parents where there are no cycles; each once.

    The postorder of a depth-first walk, edges in creation order.
    """
    return _postorder([root], Node.children)


def _postorder(starts: Iterable[Node], following: Callable[[Node], Iterator[Node]]) -> list[Node]:
    order: list[Node] = []
    entered: set[Node] = set()
    for start in starts:
        if start in entered:
            continue
        entered.add(start)
        path = [(start, following(start))]
        while path:
            node, left = path[-1]
            onward = next((other for other in left if other not in entered), None)
            if onward is None:
                order.append(node)
                path.pop()
            else:
                entered.add(onward)
                path.append((onward, following(onward)))
    return order
