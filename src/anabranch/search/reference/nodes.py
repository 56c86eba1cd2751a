"""The reference's graph: plain nodes and edges that hold exactly what docs/model.md section 2 says they hold."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from anabranch.errors import GameError, UsageError
from anabranch.game.game import Game
from anabranch.game.state import State
from anabranch.game.words import CHANCE, OVER, acting
from anabranch.search.results.views import Action, EdgeView, NodeView, paid

if TYPE_CHECKING:
    from anabranch.draw.picture import Picture
    from anabranch.evaluate.batch import Evaluation

Values = list[float]  # one component per player, in seat order
Move = tuple[int, ...]  # the choice index of each acting player, or the index of an outcome


class Kind(Enum):
    """What a state asks for."""

    OVER = "over"
    CHANCE = "chance"
    DECISION = "decision"


class Edge:
    """A joint choice or an outcome that was taken at least once: N(e), r(e), d(e), and a child or a frozen value."""

    __slots__ = (
        "chance",
        "child",
        "discount",
        "frozen",
        "in_flight",
        "move",
        "repeats",
        "repetition",
        "reward",
        "skip",
        "visits",
    )

    def __init__(self, move: Move, reward: Values, discount: float, chance: float, repetition: float) -> None:
        self.move = move
        self.reward = reward
        self.discount = discount
        self.chance = chance  # p(o); 1 on decision edges
        self.visits = 0
        self.in_flight = 0
        self.child: Node | None = None
        self.frozen: Values | None = None  # r + d·U, until a visit to a known child is backed up
        self.repeats = 0  # C(e): visits ended by a repetition worth `repetition`
        self.repetition = repetition
        self.skip = False  # nothing to learn behind it: its child is proven, or another choice certainly better

    def count(self) -> None:
        """Count a visit that is backed up; one that leads to a known child ends what was frozen before that child."""
        self.visits += 1
        if self.child is not None and self.child.visits > 0:
            self.frozen = None

    def value(self, player: int) -> float:
        """Return q(e) = r + d·Q(child), or the frozen value; repetitions count as what the game says they are worth."""
        if self.frozen is not None:
            return self.frozen[player]
        assert self.child is not None
        known = self.reward[player] + self.discount * self.child.mean[player]
        if self.repeats == 0:
            return known
        repeated = self.reward[player] + self.discount * self.repetition
        return ((self.visits - self.repeats) * known + self.repeats * repeated) / self.visits


class Node:
    """One state: its kind, the evaluation U and prior, the search's value Q, and the edges taken."""

    __slots__ = (
        "acting",
        "choices",
        "completed",
        "current",
        "distance",
        "edges",
        "evaluation",
        "exact",
        "ids",
        "intervals",
        "key",
        "kind",
        "limits",
        "mean",
        "outcomes",
        "parents",
        "passing",
        "pending",
        "priors",
        "proven",
        "regrets",
        "solved_at",
        "state",
        "sums",
        "tight",
    )

    def __init__(self, state: State, key: int) -> None:
        turn = state.turn_bits
        self.state = state
        self.key = key
        self.kind = {OVER: Kind.OVER, CHANCE: Kind.CHANCE}.get(turn, Kind.DECISION)
        self.acting = acting(turn)
        self.ids = [state.choices(seat) for seat in self.acting]  # representative → the ids that do the same
        self.choices = [list(groups) for groups in self.ids]
        if not all(self.choices):
            raise GameError(f"{state.game.name}: an acting player has no legal action in\n{state}")
        listed = self.kind is Kind.CHANCE and state.game.has("chance")
        self.outcomes = state.outcomes() if listed else []  # empty where chance can only be drawn
        self.edges: dict[Move, Edge] = {}  # in creation order
        self.parents: dict[Node, None] = {}  # in linking order, each once; empty where the graph keeps none
        self.evaluation: Evaluation | None = None  # U and the prior as the evaluator gave them
        self.pending = False  # asked about, but not answered yet
        self.passing = 0  # visits in flight that walk through
        self.priors: list[list[float]] = []
        self.mean: Values = [0.0] * state.game.players  # Q
        self.completed = 0  # visits of a chance node
        self.exact = False
        # Proofs (proofs.py): what is certain of the values, at first and now; empty where proofs are off.
        self.limits: list[tuple[float, float]] = []
        self.intervals: list[tuple[float, float]] = []
        self.tight = False  # whether more is certain than at first
        self.proven = False  # whether the intervals are points
        self.distance = 0  # proven: steps to the end
        # What averaging selectors keep, one list per acting player: R or G, S, and the strategy last solved.
        self.regrets = [[0.0] * len(ids) for ids in self.choices]
        self.sums = [[0.0] * len(ids) for ids in self.choices]
        self.current: list[list[float]] = []
        self.solved_at = 1

    @property
    def edge_visits(self) -> int:
        """Σ N(e)."""
        return sum(edge.visits for edge in self.edges.values())

    @property
    def visits(self) -> int:
        """N(n): 1 + Σ N(e) once evaluated; completed visits of a chance node; 1 where the game is over."""
        if self.kind is Kind.OVER:
            return 1
        if self.kind is Kind.CHANCE:
            return self.completed
        return 0 if self.evaluation is None else 1 + self.edge_visits

    @property
    def in_flight(self) -> int:
        """v(n): visits that N(n) will count once they are backed up."""
        return self.passing + self.pending

    @property
    def edges_in_flight(self) -> int:
        """Σ v(e)."""
        return sum(edge.in_flight for edge in self.edges.values())

    def seen_intervals(self) -> npt.NDArray[np.float64]:
        """Return what is certain of every player's value [P, 2]; where players are opposed, player 0's turned round."""
        players = self.state.game.players
        if len(self.intervals) == players:
            return np.array(self.intervals)
        low, high = self.intervals[0]
        return np.array([(low, high), (0.0 - high, 0.0 - low)])

    def remember_proof(self) -> tuple[Any, ...]:
        """Return what reconsidering may change, for `restore_proof`."""
        skipped = [(edge, edge.skip) for edge in self.edges.values()]
        return self.intervals, self.tight, self.proven, self.distance, skipped

    def restore_proof(self, known: tuple[Any, ...]) -> None:
        """Bring back what `remember_proof` returned."""
        self.intervals, self.tight, self.proven, self.distance, skipped = known
        for edge, skip in skipped:
            edge.skip = skip

    def remember(self) -> tuple[Any, ...]:
        """Return what a backup may change beside the value, for `restore`; marks in flight may be another wave's."""
        edges = [(edge, edge.visits, edge.repeats, edge.frozen) for edge in self.edges.values()]
        averages = [list(row) for row in self.regrets], [list(row) for row in self.sums], self.current, self.solved_at
        return edges, self.completed, averages

    def restore(self, known: tuple[Any, ...]) -> None:
        """Bring back what `remember` returned."""
        edges, self.completed, averages = known
        for edge, visits, repeats, frozen in edges:
            edge.visits, edge.repeats, edge.frozen = visits, repeats, frozen
        self.regrets, self.sums, self.current, self.solved_at = averages

    def move_of(self, action: Any) -> Move:
        """Return the move an action stands for: by any of the ids that do the same, or by the outcome."""
        given = [int(action)] if isinstance(action, (int, np.integer)) else [int(each) for each in action]
        if self.kind is Kind.CHANCE:
            listed = [outcome for outcome, _ in self.outcomes]
            return (listed.index(given[0]) if listed else given[0],)
        if len(given) > len(self.acting):  # one per player, also those who are idle
            given = [given[seat] for seat in self.acting]
        return tuple(
            next(at for at, ids in enumerate(groups.values()) if choice in ids)
            for groups, choice in zip(self.ids, given, strict=True)
        )

    def action_of(self, move: Move) -> Action:
        """Return what State.step takes for a move: an id, an id per acting player, or an outcome."""
        if self.kind is Kind.CHANCE:
            return self.outcomes[move[0]][0] if self.outcomes else move[0]
        ids = tuple(ids[choice] for ids, choice in zip(self.choices, move, strict=True))
        return ids[0] if len(ids) == 1 else ids

    def children(self) -> Iterator[Node]:
        """The nodes below, one per edge that has one."""
        return (edge.child for edge in self.edges.values() if edge.child is not None)


class ReferenceGraph:
    """All nodes of one search, found by state."""

    def __init__(self, game: Game, *, keeps_parents: bool = False) -> None:
        self.game = game
        self.keeps_parents = keeps_parents
        self.nodes: list[Node] = []
        self.index: dict[object, Node] = {}
        self._numbers: dict[Node, int] = {}
        self.holder: int | None = None  # the thread that searches it now
        # The range of q(e) seen at any refresh, per player: the scale `graph`.
        self.low = [float("inf")] * game.players
        self.high = [float("-inf")] * game.players

    def check_readable(self) -> None:
        """Refuse to be read beside another thread's run, as the engine's graph does."""
        if self.holder not in (None, threading.get_ident()):
            raise UsageError(
                "this root is being searched by another thread, and its graph changes meanwhile; wait for the run to "
                "end, or search with ab.Analysis and read between its slices"
            )

    def __len__(self) -> int:
        self.check_readable()
        return len(self.nodes)

    @property
    def root_visits(self) -> int:
        """Σ N over the root's edges, or the completed visits of a root that is chance."""
        root = self.nodes[0]
        return root.completed if root.kind is Kind.CHANCE else root.edge_visits

    def node(self, number: int) -> NodeView:
        """Return a node by its number, as the engine's graph does."""
        if not 0 <= number < len(self):
            raise UsageError(f"there is no node {number}; the graph has {len(self)}")
        node, players = self.nodes[number], range(self.game.players)
        for known in self.nodes[len(self._numbers) :]:
            self._numbers[known] = len(self._numbers)
        edges = [
            EdgeView(
                node.action_of(edge.move),
                edge.visits,
                np.array([edge.value(player) for player in players]),
                None if edge.child is None else self._numbers[edge.child],
                edge.chance,
                paid(edge.reward),
            )
            for edge in node.edges.values()
        ]
        evaluated = [0.0] * self.game.players if node.evaluation is None else node.evaluation.values
        return NodeView(
            *(number, node.kind.value, node.state, node.visits, np.array(node.mean), edges, tuple(evaluated)),
            exact=node.exact,
            interval=node.seen_intervals() if node.intervals else None,
            proven=node.proven,
        )

    @property
    def limited(self) -> bool:
        """Whether the limit of nodes or bytes kept positions out of the graph."""
        self.check_readable()
        decisions = (node for node in self.nodes if node.kind is Kind.DECISION)
        return any(edge.child is None for node in decisions for edge in node.edges.values())

    def picture(self, *, depth: int = 3, most: int | None = None, player: int = 0) -> Picture:
        """Draw the top of the graph, as the engine's graph does."""
        from anabranch.search.results.show.graph_picture import graph_picture

        return graph_picture(self, depth=depth, most=most, player=player)

    def _repr_svg_(self) -> str:
        return self.picture().svg

    def check(self) -> None:
        """Assert the invariants of docs/model.md section 2; tests call it after every search."""
        self.check_readable()
        for node in self.nodes:
            for edge in node.edges.values():
                assert edge.in_flight == 0, "nothing is in flight after a run"
                if edge.visits > 0:
                    known = edge.child.visits > 0 if edge.child is not None else edge.frozen is not None
                    assert known, "an edge with visits has an evaluated child or is frozen"
                if self.game.cycles is None:  # else a child given to a frozen edge may have ended the path unvisited
                    assert edge.frozen is None or edge.child is None, "a frozen edge has no child"
                assert 0 <= edge.repeats <= edge.visits, "repetitions are visits"
            for prior in node.priors:
                assert abs(sum(prior) - 1.0) < 1e-5, "priors sum to 1"
            if node.outcomes:
                assert abs(sum(p for _, p in node.outcomes) - 1.0) < 1e-5, "probabilities sum to 1"
            assert all(value == value and abs(value) < float("inf") for value in node.mean), "values are finite"
            assert node.in_flight == 0, "nothing is in flight after a run"
        assert len(self.below(self.nodes[0])) == len(self.nodes), "every node is reachable from the root"
        above = {(parent, node) for node in self.nodes for parent in node.parents}
        links = {(node, child) for node in self.nodes for child in node.children()}
        assert above == (links if self.keeps_parents else set()), "parents are nodes with an edge to a node, if kept"
        if self.game.cycles is None:
            self._assert_acyclic()

    def below(self, root: Node) -> list[Node]:
        """Return a node and all that can be reached from it, breadth first, edges in the order they were made."""
        found = {root: None}
        waiting = deque(found)
        while waiting:
            for child in waiting.popleft().children():
                if child not in found:
                    found[child] = None
                    waiting.append(child)
        return list(found)

    def take(self, old: ReferenceGraph, root: Node, *, merge: bool, private: bool) -> None:
        """Hold what is below a node of another graph, that node first; `private`: nobody finds dice by their state."""
        self.nodes = old.below(root)
        found = self.nodes if merge else []
        self.index = {node.state.key: node for node in found if not (private and node.kind is Kind.CHANCE)}
        self.low, self.high = old.low, old.high
        if self.keeps_parents:
            for node in self.nodes:
                node.parents = {}
            for node in self.nodes:
                for child in node.children():
                    child.parents[node] = None

    def _assert_acyclic(self) -> None:
        """Remove nodes without parents until none is left (Kahn 1962); a cycle would remain."""
        parents = dict.fromkeys(self.nodes, 0)
        for node in self.nodes:
            for child in node.children():
                parents[child] += 1
        free = [node for node, count in parents.items() if count == 0]
        removed = 0
        while free:
            removed += 1
            for child in free.pop().children():
                parents[child] -= 1
                if parents[child] == 0:
                    free.append(child)
        assert removed == len(self.nodes), "no cycles unless the game declares them"
