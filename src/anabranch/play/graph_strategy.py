"""The strategy that the graph of one search holds: at every node its own policy, elsewhere the prior."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from anabranch.errors import UsageError
from anabranch.evaluate.batch import Batch, Evaluation, Evaluator, evaluations, has_priors
from anabranch.game.game import Game
from anabranch.game.state import State
from anabranch.search.engine.graph import DECISION, Graph
from anabranch.search.engine.root import Root
from anabranch.search.reference.nodes import Kind, Node, ReferenceGraph
from anabranch.search.reference.search import Reference, prior_of
from anabranch.search.reference.select.averaging import average_policy
from anabranch.search.results.result import Result
from anabranch.search.results.views import NodeView

Floats = npt.NDArray[np.float64]
NO_ROWS = 2**32 - 1
TOGETHER = 256  # states in a batch for the evaluator


def holds_graph(given: Any) -> bool:
    """Whether something is what a search left behind."""
    return isinstance(given, (Root, Reference, Result))


class GraphStrategy:
    """Average strategies where a selector keeps them, visits elsewhere; priors where nothing was visited.

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
        self._nodes: dict[Any, Node] = {}
        for node in graph.nodes:
            if node.kind is Kind.DECISION and node.evaluation is not None:
                known = self._nodes.setdefault(node.state.key, node)
                if node.visits > known.visits:  # in a tree a state may have several
                    self._nodes[node.state.key] = node

    def of(self, state: State) -> dict[int, dict[int, float]] | None:
        node = self._nodes.get(state.key)
        if node is None:
            return None
        return _named(node.acting, node.choices, [average_policy(node, i, None) for i in range(len(node.acting))])


class _EnginePolicies:
    """Policies of the engine's nodes, read off its columns."""

    def __init__(self, graph: Graph) -> None:
        self._graph, self._columns = graph, graph.columns
        visits = self._columns["visits"]
        self._numbers: dict[Any, int] = {}
        for number in np.flatnonzero((self._columns["kind"] == DECISION) & (visits > 0)).tolist():
            key = State(graph.game, graph.native.state(number)).key
            known = self._numbers.setdefault(key, number)
            if visits[number] > visits[known]:
                self._numbers[key] = number

    def of(self, state: State) -> dict[int, dict[int, float]] | None:
        number = self._numbers.get(state.key)
        if number is None:
            return None
        seats = state.turn
        assert isinstance(seats, tuple)
        choices = [list(state.choices(seat)) for seat in seats]
        return _named(seats, choices, self._policies(self._graph.node(number), choices))

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


def _named(
    seats: Sequence[int], choices: Sequence[Sequence[int]], policies: Sequence[Sequence[float] | Floats]
) -> dict[int, dict[int, float]]:
    """Return policies over choices as {player: {action id: probability}}, which add up to 1 as doubles do."""
    named = {}
    for seat, ids, policy in zip(seats, choices, policies, strict=True):
        total = float(np.sum(policy))
        named[seat] = {action: float(p) / total for action, p in zip(ids, policy, strict=True)}
    return named
