"""What the reference found at its root, read off its graph as a result: policies, marginals and the expected line."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from anabranch.game.state import State
from anabranch.search.reference.nodes import Edge, Kind, Node, ReferenceGraph
from anabranch.search.reference.selectors import marginals, policy
from anabranch.search.results.result import Floats, Result, used
from anabranch.search.results.views import Action
from anabranch.search.settings.config import SearchConfig


class Searched(Protocol):
    """What a result is read off: a reference."""

    @property
    def graph(self) -> ReferenceGraph: ...
    @property
    def state(self) -> State: ...
    @property
    def config(self) -> SearchConfig: ...
    @property
    def explores(self) -> bool: ...


def read_result(searched: Searched, simulations: int, seconds: float) -> Result:
    """Read a result off the root of a graph."""
    graph, config = searched.graph, searched.config
    root, game = graph.nodes[0], graph.game
    shape = (game.players, game.actions)
    chances, visits, prior = np.zeros(shape), np.zeros(shape, np.int64), np.zeros(shape)
    q = np.full(shape, np.nan)
    for index, (seat, ids) in enumerate(zip(root.acting, root.choices, strict=True)):
        if root.evaluation is None:
            break
        seen = marginals(root, index, "D")
        chances[seat, ids] = policy(root, index, config)
        prior[seat, ids] = root.priors[index]
        visits[seat, ids] = seen.visits
        q[seat, ids] = [value if n > 0 else np.nan for value, n in zip(seen.values, seen.visits, strict=True)]
    fan = [_outcome(root, edge, game.players) for edge in root.edges.values()] if root.kind is Kind.CHANCE else []
    return Result(
        state=searched.state,
        policy=chances,
        visits=visits,
        q=q,
        prior=prior,
        value=np.array(root.mean),
        outcomes=sorted(fan, key=lambda row: row[0]),
        line=_line(root),
        nodes=len(graph.nodes),
        simulations=simulations,
        seconds=seconds,
        graph=graph,
        config=used(config, searched.explores),
    )


def _outcome(node: Node, edge: Edge, players: int) -> tuple[int, float, int, Floats]:
    outcome, p = node.outcomes[edge.move[0]] if node.outcomes else (edge.move[0], math.nan)
    return outcome, p, edge.visits, np.array([edge.value(player) for player in range(players)])


def _line(node: Node | None) -> list[Action]:
    """Follow the most visited edge (the first of equals) until nothing was visited or the line repeats itself."""
    line: list[Action] = []
    seen: set[Node] = set()
    while node is not None and node not in seen:
        seen.add(node)
        edge = max(node.edges.values(), key=lambda e: e.visits, default=None)
        if edge is None or edge.visits == 0:
            break
        line.append(node.action_of(edge.move))
        node = edge.child
    return line
