"""What the reference found at its root, as a result: policies, marginals and the principal variation."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from anabranch.game.state import State
from anabranch.search.maths.principal_variation import principal_variation
from anabranch.search.reference.nodes import Edge, Kind, Node
from anabranch.search.reference.proofs import Proofs
from anabranch.search.reference.select.marginals import marginals
from anabranch.search.reference.select.selector import priors_in_use
from anabranch.search.reference.walk import Walker
from anabranch.search.results.proof import EdgeProof, Proof, played_choice, played_policy
from anabranch.search.results.result import Floats, Result, as_action, choices, used
from anabranch.search.results.views import Action
from anabranch.search.settings.config import SearchConfig


class Searched(Protocol):
    """What a result is read off: a reference."""

    @property
    def walker(self) -> Walker: ...
    @property
    def state(self) -> State: ...
    @property
    def config(self) -> SearchConfig: ...
    @property
    def explores(self) -> bool: ...


def read_result(searched: Searched, simulations: int, seconds: float) -> Result:
    """Read a result off the root of a graph."""
    walker, graph = searched.walker, searched.walker.graph
    root, game = graph.nodes[0], graph.game
    shape = (game.players, game.actions)
    chances, visits, prior = np.zeros(shape), np.zeros(shape, np.int64), np.zeros(shape)
    q = np.full(shape, np.nan)
    chosen: list[int] = []
    for index, (seat, ids) in enumerate(zip(root.acting, root.choices, strict=True)):
        if root.evaluation is None:
            break
        priors = priors_in_use(root, walker.rule)
        seen = marginals(root, index, "D", priors)
        chances[seat, ids] = walker.selector_at(root).policy(root, index, walker.rule)
        prior[seat, ids] = priors[index]
        choice = walker.selector_at(root).winner(root, index, walker.rule)
        chosen += [] if choice is None else [ids[choice]]
        visits[seat, ids] = seen.visits
        q[seat, ids] = [value if n > 0 else np.nan for value, n in zip(seen.values, seen.visits, strict=True)]
    fan = [_outcome(root, edge, game.players) for edge in root.edges.values()] if root.kind is Kind.CHANCE else []
    proof, winner = read_proof(root, walker.proofs), tuple(chosen) or None
    played = chances
    if proof is not None:
        played = played_policy(chances, visits, q, searched.state, proof)
        winner = played_choice(winner, played, q, searched.state, proof)
    return Result(
        state=searched.state,
        policy=played,
        visits=visits,
        q=q,
        prior=prior,
        value=np.array(root.mean),
        outcomes=sorted(fan, key=lambda row: row[0]),
        line=_line(root, as_action(choices(searched.state, played, winner))),
        nodes=len(graph.nodes),
        simulations=simulations,
        seconds=seconds,
        graph=graph,
        config=used(searched.config, searched.explores),
        full=searched.explores,
        chosen=winner,
        proof=proof,
        searched=chances,
    )


def read_proof(root: Node, proofs: Proofs) -> Proof | None:
    """Return what is certain of a root; None where no more is than at first."""
    if not proofs.on or root.kind is Kind.OVER or not (root.tight or any(edge.skip for edge in root.edges.values())):
        return None
    players = range(root.state.game.players)
    edges = []
    for edge in root.edges.values():
        if proofs.knows(root, edge) and edge.child is not None:
            kept = [proofs.of_edge(edge, player) for player in range(proofs.terms.kept)]
            interval = np.array([proofs.seen_by(kept, player) for player in players])
            edges.append(EdgeProof(root.action_of(edge.move), interval, edge.child.proven, edge.child.distance))
    first = np.array([proofs.seen_by(root.limits, player) for player in players])
    return Proof(root.seen_intervals(), root.proven, root.distance, first, edges, proofs.terms.width)


def _outcome(node: Node, edge: Edge, players: int) -> tuple[int, float, int, Floats]:
    outcome, p = node.outcomes[edge.move[0]] if node.outcomes else (edge.move[0], math.nan)
    return outcome, p, edge.visits, np.array([edge.value(player) for player in range(players)])


def _line(root: Node, action: Action | None) -> list[Action]:
    """Return the line that is expected: what is played, or the most visited outcome, then the most visited edges."""
    first = [edge for edge in root.edges.values() if action is None or root.action_of(edge.move) == action]
    line = principal_variation(root, lambda at: first if at is root else at.edges.values(), lambda edge: edge.child)
    found = [node.action_of(edge.move) for node, edge in line]
    if not found and action is not None and any(edge.visits > 0 for edge in root.edges.values()):
        return [action]  # players never chose it together
    return found
