"""The engine's graph as users see it: columns as NumPy views, nodes and edges one at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from anabranch import _native
from anabranch.errors import UsageError
from anabranch.game.game import Game
from anabranch.game.state import State
from anabranch.search.engine.failure import reported
from anabranch.search.results.proof import EdgeProof, Proof, played_choice, played_policy
from anabranch.search.results.result import Result, choices
from anabranch.search.results.views import EdgeView, NodeView, paid

if TYPE_CHECKING:
    from anabranch.draw.picture import Picture
    from anabranch.search.settings.config import SearchConfig

Floats = npt.NDArray[np.float64]
NO_CHILD = 2**32 - 1
DECISION = 2  # of kind
SKIP, SHARED, FROZEN = 1 << 29, 1 << 30, 1 << 31  # of edge_flags, whose other bits number a row of rewards


class Graph:
    """All nodes of one root; number 0 is the root."""

    def __init__(self, native: Any, root: State) -> None:
        self._search = native
        self._root_number = int(native.root_number)
        self._root = root
        self._columns: tuple[tuple[int, int], dict[str, npt.NDArray[Any]]] | None = None  # and when they were read

    @property
    def game(self) -> Game:
        """The game it is a graph of."""
        return self._root.game

    @property
    def moved_on(self) -> bool:
        """Whether the root has moved on since, and this graph with it."""
        return bool(self._search.root_number != self._root_number)

    @property
    def native(self) -> Any:
        """The engine's search, unless its root has moved on."""
        if self.moved_on:
            raise UsageError("this graph is gone: its root has moved on since; root.graph is the one that there is now")
        return self._search

    def __len__(self) -> int:
        return int(self.native.nodes)

    @property
    def bytes(self) -> int:
        """Memory the graph holds."""
        return int(self.native.bytes)

    @property
    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """Nodes and edges as arrays. A later search goes on writing to the nodes', or leaves them behind.

        Nodes are in the order they were made, and shown without a copy. Edges follow one another node by node:
        `edge_parent` has them, node n those from `edges[n]` on, `edge_count[n]` of them. Read anew after a search.
        """
        now = (int(self.native.nodes), int(self.native.root_visits))
        if self._columns is None or self._columns[0] != now:
            self._columns = now, self._views()
        return self._columns[1]

    def _views(self) -> dict[str, npt.NDArray[Any]]:
        """Return the columns as they are now."""
        columns: dict[str, Any] = _native.columns(self.native)
        for view in columns.values():
            view.flags.writeable = False
        return columns

    def node(self, number: int) -> NodeView:
        """Return a node by its number."""
        if not isinstance(number, (int, np.integer)) or not 0 <= number < len(self):
            raise UsageError(f"there is no node {number!r}; the graph has {len(self)}, numbered from 0")
        kind, visits, value, evaluation, exact, intervals, proven = _native.node(self.native, number)
        edges = [
            EdgeView(
                row[0][0] if len(row[0]) == 1 else tuple(row[0]),
                row[1],
                np.array(row[3]),
                row[2],
                row[4],
                paid(row[5]),
            )
            for row in self._edges(number)
        ]
        return NodeView(
            number=number,
            kind=kind,
            state=State(self._root.game, self.native.state(number)),
            visits=visits,
            value=np.array(value),
            edges=edges,
            evaluation=tuple(evaluation),
            exact=exact,
            interval=np.array(intervals).reshape(-1, 2) if intervals else None,
            proven=proven,
        )

    def _edges(self, number: int) -> list[tuple[list[int], int, int | None, list[float], float, list[float]]]:
        rows: list[tuple[list[int], int, int | None, list[float], float, list[float]]]
        rows = reported(self._root, _native.edges, self.native, number)
        return rows

    def children(self, number: int) -> list[int]:
        """Return the numbers of a node's children, in the order they were found."""
        return [edge.child for edge in self.node(number).edges if edge.child is not None]

    @property
    def limited(self) -> bool:
        """Whether the limit of nodes or bytes kept positions out of the graph."""
        column = self._views()
        # Edges of chance nodes are also frozen by widening; at decisions nothing but a limit does it.
        frozen = (column["edge_flags"] & FROZEN) != 0
        return bool((column["kind"][column["edge_parent"][frozen]] == DECISION).any())

    def picture(self, *, depth: int = 3, most: int | None = None, player: int = 0) -> Picture:
        """Draw the top of the graph: at most so many moves deep, the most visited nodes, `most` or as many as fit.

        A position that several lines reach is drawn once, with all the edges into it. Edges are as wide as visited;
        nodes have the colour of their value to `player`.
        """
        from anabranch.search.results.show.graph_picture import graph_picture

        return graph_picture(self, depth=depth, most=most, player=player)

    def _repr_svg_(self) -> str:
        return self.picture().svg

    def check(self) -> None:
        """Assert the invariants of docs/model.md section 2; tests call it after every search."""
        column, size = self._views(), len(self)
        kind, visits = column["kind"], column["visits"]
        values = column["value"].reshape(size, -1)
        assert np.isfinite(values).all(), "values are finite"
        assert (visits[kind == 0] == 1).all(), "over nodes have one visit"
        owner, edge_visits, child = column["edge_parent"], column["edge_visits"], column["edge_child"]
        flags = column["edge_flags"]
        frozen = (flags & FROZEN) != 0
        linked = child != NO_CHILD
        assert (linked | frozen).all(), "an edge has a child or is frozen"
        if self._root.game.cycles is None:  # else a child given to a frozen edge may have ended the path unvisited
            assert (linked != frozen).all(), "a frozen edge has no child"
        assert (visits[child[linked & (edge_visits > 0)]] > 0).all(), "an edge with visits has an evaluated child"
        total = np.bincount(owner, weights=edge_visits, minlength=size).astype(np.int64)
        decided = (kind == DECISION) & (visits > 0)
        assert (visits[decided] == 1 + total[decided]).all(), "N(n) = 1 + Σ N(e)"
        seen = np.zeros(size, bool)
        seen[0] = True
        wave = np.array([0])
        while len(wave):
            below = np.unique(child[np.isin(owner, wave) & linked])
            wave = below[~seen[below]]
            seen[wave] = True
        assert seen.all(), "every node is reachable from the root"
        parents = np.bincount(child[linked], minlength=size)
        shared = (flags & SHARED) != 0
        lonely = linked & ~shared
        assert (parents[child[lonely]] == 1).all(), "an edge not marked as shared is its child's only one"
        if self._root.game.cycles is None:
            self._assert_acyclic(owner[linked], child[linked], size)

    @staticmethod
    def _assert_acyclic(owner: npt.NDArray[Any], child: npt.NDArray[Any], size: int) -> None:
        """Remove nodes without parents until none is left (Kahn 1962); a cycle would remain."""
        order = np.argsort(owner, kind="stable")
        owner, child = owner[order], child[order]
        first = np.searchsorted(owner, np.arange(size + 1))
        parents = np.bincount(child, minlength=size)
        free = list(np.flatnonzero(parents == 0))
        removed = 0
        while free:
            node = free.pop()
            removed += 1
            for below in child[first[node] : first[node + 1]]:
                parents[below] -= 1
                if parents[below] == 0:
                    free.append(below)
        assert removed == size, "no cycles unless the game declares them"

    def result(
        self, simulations: int, seconds: float, config: SearchConfig | None = None, *, full: bool = True
    ) -> Result:
        """Read a result off the root; `config` are the settings it was searched with, `full` whether no cap cut it."""
        found = reported(self._root, _native.summary, self.native)
        (chances, prior, q, target), visits, value, nodes, rolled, chosen = found
        proof = None if config is None or config.proofs == "off" else self._proof()
        played = chances if proof is None else played_policy(chances, visits, q, self._root, proof)
        winner = tuple(chosen[chosen >= 0].tolist()) or None
        if proof is not None:
            winner = played_choice(winner, played, q, self._root, proof)
        first = choices(self._root, played, winner)
        fan = []
        if rolled:
            fan = [(int(e.action), e.probability, e.visits, e.value) for e in self.node(0).edges]  # type: ignore[arg-type]
            fan.sort(key=lambda row: row[0])
        return Result.made(
            state=self._root,
            policy=played,
            visits=visits,
            q=q,
            prior=prior,
            value=value,
            outcomes=fan,
            line=reported(self._root, _native.principal_variation, self.native, first),
            nodes=nodes,
            simulations=simulations,
            seconds=seconds,
            graph=self,
            config=config,
            pruned=target,
            full=full,
            chosen=winner,
            proof=proof,
            searched=chances,
        )

    def _proof(self) -> Proof | None:
        """Return what is certain of the root; None where no more is than at first."""
        told = reported(self._root, _native.root_proof, self.native)
        if told is None:
            return None
        proven, distance, interval, first, width, rows = told
        ends, begun = np.array([interval, first]).reshape(2, -1, 2)
        known = np.array([row[1] for row in rows]).reshape(len(rows), len(ends), 2)  # none: certain before a choice
        edges = [
            EdgeProof(actions[0] if len(actions) == 1 else tuple(actions), interval, done, int(steps))
            for (actions, _, done, steps), interval in zip(rows, known, strict=True)
        ]
        return Proof(ends, proven, int(distance), begun, edges, width)
