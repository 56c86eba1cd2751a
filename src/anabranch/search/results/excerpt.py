"""What of a graph goes with a result to another process: the root, its moves and the lines that are shown.

The graph itself lives in the memory of the engine, or has as many objects as nodes: it stays where it was searched.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from anabranch import _native
from anabranch.errors import UsageError
from anabranch.search.engine.graph import Graph
from anabranch.search.maths.principal_variation import principal_variation
from anabranch.search.results.show.result_sheet import LONGEST_LINE
from anabranch.search.results.views import EdgeView, NodeView

if TYPE_CHECKING:
    from anabranch.search.results.chance import ChanceCounts

Floats = npt.NDArray[np.float64]
STAYED = "the graph of this result stayed in the process that searched it"
REST = "what came along is its root, the moves tried there and the lines of play that are shown"
ADVICE = "Read the graph before the result is sent"


@dataclass(frozen=True, repr=False)
class Excerpt:
    """A graph of which only some nodes are known, under the numbers they had."""

    moved_on: bool  # before the result was packed: then no node is known
    size: int
    bytes: int | None
    limited: bool
    views: dict[int, NodeView]
    spread: Floats  # of every edge of the root [edges, P]
    low: Floats  # the range of q(e), for the scale `graph` [P]
    high: Floats
    chance: ChanceCounts

    def __len__(self) -> int:
        if self.moved_on:
            raise UsageError("this graph is gone: its root had moved on before the result was sent")
        return self.size

    def __repr__(self) -> str:
        if self.moved_on:
            return "<Excerpt of a graph whose root had moved on>"
        return f"<Excerpt of a graph: {len(self.views):,} of {self.size:,} nodes>"

    def node(self, number: int) -> NodeView:
        """Return a node by its number, if it is the root or on a line that is shown."""
        if number in self.views:
            return self.views[number]
        if 0 <= number < len(self):
            raise UsageError(f"{STAYED}, and node {number} with it; {REST}. {ADVICE}")
        raise UsageError(f"there is no node {number}; the graph had {self.size}")

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__") or not hasattr(Graph, name):  # what pickle and copy ask for, and misspellings
            raise AttributeError(f"an excerpt of a graph has no {name!r}")
        raise UsageError(f"{STAYED}, so there is no graph.{name}; {REST}. {ADVICE}")


def excerpt(graph: Any, action: Any = None, *, in_transition: bool = False) -> Excerpt:
    """Take what is shown of a graph, as it is now, where an action was found best."""
    from anabranch.search.results.chance import ChanceCounts, chance_counts
    from anabranch.search.results.moments import variances

    if isinstance(graph, Excerpt):
        return graph
    native = isinstance(graph, Graph)
    if native and graph.moved_on:
        return Excerpt(True, 0, None, False, {}, np.zeros((0, 0)), np.zeros(0), np.zeros(0), ChanceCounts(()))
    views: dict[int, NodeView] = {0: graph.node(0)}

    def edges_of(number: int) -> list[EdgeView]:
        if number not in views:
            views[number] = graph.node(number)
        return views[number].edges

    shown = [edge.child for edge in views[0].edges]
    for edge in views[0].edges:
        if edge.action == action and edge.child is not None and graph.node(edge.child).kind == "chance":
            shown += [after.child for after in edges_of(edge.child)]  # the fan below the chosen action
    for start in shown:
        for length, _ in enumerate(principal_variation(start, edges_of, lambda edge: edge.child), 1):
            if length == LONGEST_LINE:  # one more than is shown, which tells whether there is more
                break
    low, high = _native.value_range(graph.native) if native else np.array([graph.low, graph.high])
    held = graph.bytes if native else None
    counts = chance_counts(graph, in_transition=in_transition)
    return Excerpt(False, len(graph), held, graph.limited, views, variances(graph)[1], low, high, counts)
