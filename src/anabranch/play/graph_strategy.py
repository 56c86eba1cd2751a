"""The strategy that the graph of one search holds: at every node its own policy, elsewhere the prior."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from anabranch.errors import UsageError
from anabranch.evaluate.batch import Batch, Evaluation, Evaluator, evaluations, has_priors
from anabranch.game.game import Game
from anabranch.game.state import State
from anabranch.search.engine.graph import DECISION, Graph
from anabranch.search.engine.root import Root
from anabranch.search.maths.proofs import behind
from anabranch.search.reference.nodes import Kind, Node, ReferenceGraph
from anabranch.search.reference.proofs import Proofs
from anabranch.search.reference.search import Reference, prior_of
from anabranch.search.reference.select.averaging import average_policy
from anabranch.search.results.proof import EdgeProof, Proof, played_policy
from anabranch.search.results.result import Result
from anabranch.search.results.views import NodeView, ReadableGraph

Floats = npt.NDArray[np.float64]
NO_ROWS = 2**32 - 1
TOGETHER = 256  # states in a batch for the evaluator


def holds_graph(given: Any) -> bool:
    """Whether something is what a search left behind."""
    return isinstance(given, (Root, Reference, Result))


class GraphStrategy:
    """Average strategies where a selector keeps them, visits elsewhere; priors where nothing was visited.

    A proven node is not visited any more: it plays what its proof says, a best choice or secure strategies.
    States that are not in the graph get the evaluator's prior, and uniform strategies where there is none at hand: of
    a Result, which has no evaluator, or where the evaluator prefers nothing.
    """

    def __init__(self, searched: Root | Reference | Result, game: Game) -> None:
        if searched.state.game != game:
            raise UsageError(f"this is a search of {searched.state.game!r}, the game is {game!r}")
        self.game = game
        self._evaluator: Evaluator | None = None
        if isinstance(searched, Reference):
            self._evaluator = searched.evaluator
        elif isinstance(searched, Root):
            self._evaluator = searched.searcher.evaluator
        graph = searched.graph
        self._policies: _ReferencePolicies | _EnginePolicies = (
            _ReferencePolicies(graph) if isinstance(graph, ReferenceGraph) else _EnginePolicies(graph)
        )

    def __call__(self, states: Sequence[State]) -> list[dict[int, Any]]:
        made = [self._policies.of(state) for state in states]
        unknown = [number for number, policy in enumerate(made) if policy is None]
        for begin in range(0, len(unknown), TOGETHER):
            some = unknown[begin : begin + TOGETHER]
            for number, policy in zip(some, self._priors([states[number] for number in some]), strict=True):
                made[number] = policy
        return [policy for policy in made if policy is not None]

    def _priors(self, states: Sequence[State]) -> list[dict[int, dict[int, float]]]:
        nodes = [Node(state, 0) for state in states]
        blank = Evaluation(None, [0.0] * self.game.players)
        evaluated = [blank] * len(nodes)
        if self._evaluator is not None and has_priors(self._evaluator):
            evaluated = evaluations(self._evaluator, Batch(states, [0] * len(states), [0] * len(states)))
        return [
            _named(node.acting, node.choices, [prior_of(node, i, answer) for i in range(len(node.acting))])
            for node, answer in zip(nodes, evaluated, strict=True)
        ]


class _ReferencePolicies:
    """Policies of the reference's nodes."""

    def __init__(self, graph: ReferenceGraph) -> None:
        self._graph = graph
        self._nodes: dict[Any, int] = {}
        for number, node in enumerate(graph.nodes):
            if node.kind is Kind.DECISION and node.evaluation is not None:
                known = graph.nodes[self._nodes.setdefault(node.state.key, number)]
                if (node.proven, node.visits) > (known.proven, known.visits):  # in a tree a state may have several
                    self._nodes[node.state.key] = number

    def of(self, state: State) -> dict[int, dict[int, float]] | None:
        number = self._nodes.get(state.key)
        if number is None:
            return None
        node = self._graph.nodes[number]
        policies: list[Any] = [average_policy(node, i, None) for i in range(len(node.acting))]
        if node.proven:
            view, distance = self._graph.node(number), lambda child: self._graph.nodes[child].distance
            policies = _certain(self._graph, view, node.choices, policies, distance)
        return _named(node.acting, node.choices, policies)


class _EnginePolicies:
    """Policies of the engine's nodes, read off its columns."""

    def __init__(self, graph: Graph) -> None:
        self._graph, self._columns = graph, graph.columns
        visits = self._columns["visits"]
        self._numbers: dict[Any, int] = {}
        for number in np.flatnonzero((self._columns["kind"] == DECISION) & (visits > 0)).tolist():
            key = State(graph.game, graph.native.state(number)).key
            known = self._numbers.setdefault(key, number)
            if (self._is_proven(number), visits[number]) > (self._is_proven(known), visits[known]):
                self._numbers[key] = number

    def of(self, state: State) -> dict[int, dict[int, float]] | None:
        number = self._numbers.get(state.key)
        if number is None:
            return None
        seats = state.turn
        assert isinstance(seats, tuple)
        choices = [list(state.choices(seat)) for seat in seats]
        node = self._graph.node(number)
        policies = self._policies(node, choices)
        if node.proven:
            proofs = self._columns["proof"]
            policies = _certain(self._graph, node, choices, policies, lambda child: int(proofs[child].reshape(-1)[-1]))
        return _named(seats, choices, policies)

    def _is_proven(self, number: int) -> bool:
        return "proof" in self._columns and self._graph.node(number).proven

    def _policies(self, node: NodeView, choices: Sequence[Sequence[int]]) -> list[Floats]:
        sums, priors = self._rows(node.number, "sums", choices), self._rows(node.number, "priors", choices)
        made = []
        for index, ids in enumerate(choices):
            weights = np.zeros(len(ids))
            for edge in node.edges:
                action = edge.action if isinstance(edge.action, tuple) else (edge.action,)
                weights[ids.index(action[index])] += edge.visits
            if sums is not None and weights.any() and sums[index].any():
                weights = sums[index]
            elif not weights.any():
                weights = np.ones(len(ids)) if priors is None else priors[index]
            made.append(weights / weights.sum())
        return made

    def _rows(self, number: int, name: str, choices: Sequence[Sequence[int]]) -> list[Floats] | None:
        """Return a node's rows of a column, one array per acting player; None where it has none."""
        first = int(self._columns["rows"][number])
        if first == NO_ROWS or name not in self._columns:
            return None
        ends = np.cumsum([len(ids) for ids in choices])
        rows = self._columns[name][first : first + int(ends[-1])].astype(np.float64).reshape(-1)
        return list(np.split(rows, ends[:-1]))


def _certain(
    graph: ReadableGraph,
    node: NodeView,
    choices: Sequence[Sequence[int]],
    policies: Sequence[Any],
    distance: Callable[[int], int],
) -> list[Floats]:
    """Return what a proven node plays, by the proofs of its children, in place of what it played so far."""
    state, seats = node.state, node.state.turn
    assert isinstance(seats, tuple)
    assert node.interval is not None
    proofs, blank, players = Proofs(state.game, on=True), Node(state, 0), range(state.game.players)
    proofs.begin(blank)
    edges = []
    for edge in node.edges:
        child = None if edge.child is None or edge.visits == 0 else graph.node(edge.child)
        if child is None or child.interval is None or (proofs.terms.repeats and not child.proven):
            continue
        ends = [behind(edge.reward[p], state.game.discount, tuple(child.interval[p])) for p in players]
        edges.append(EdgeProof(edge.action, np.array(ends), child.proven, distance(child.number)))
    first = np.array([proofs.seen_by(blank.limits, player) for player in players])
    proof = Proof(node.interval, proven=True, distance=0, first=first, edges=edges, width=proofs.terms.width)
    shape = (state.game.players, state.game.actions)
    policy, visits = np.zeros(shape), np.zeros(shape, np.int64)
    for index, (seat, ids) in enumerate(zip(seats, choices, strict=True)):
        policy[seat, list(ids)] = policies[index]
        for edge in node.edges:
            action = edge.action if isinstance(edge.action, tuple) else (edge.action,)
            visits[seat, action[index]] += edge.visits
    played = played_policy(policy, visits, np.full(shape, np.nan), state, proof)
    return [played[seat, list(ids)] for seat, ids in zip(seats, choices, strict=True)]


def _named(
    seats: Sequence[int], choices: Sequence[Sequence[int]], policies: Sequence[Sequence[float] | Floats]
) -> dict[int, dict[int, float]]:
    """Return policies over choices as {player: {action id: probability}}, which add up to 1 as doubles do."""
    named = {}
    for seat, ids, policy in zip(seats, choices, policies, strict=True):
        total = float(np.sum(policy))
        named[seat] = {action: float(p) / total for action, p in zip(ids, policy, strict=True)}
    return named
