"""Values and policies made of visits alone: those of PUCT and UCB1, and of others while they have learnt nothing."""

from __future__ import annotations

from anabranch.search.maths import formulas
from anabranch.search.maths.root_rule import RootRule
from anabranch.search.reference.nodes import Node, Values
from anabranch.search.reference.select.selector import priors_in_use


def visit_values(node: Node) -> Values:
    """Return the visit value of docs/model.md section 3 for every player."""
    return [visit_value(node, player) for player in range(node.state.game.players)]


def visit_value(node: Node, player: int) -> float:
    """Return (U + Σ N(e)·q(e)) / (1 + Σ N(e)), edges in creation order, U added last."""
    assert node.evaluation is not None
    total, visits = 0.0, 0
    for edge in node.edges.values():
        if edge.visits > 0:
            total += edge.visits * edge.value(player)
            visits += edge.visits
    return (total + node.evaluation.values[player]) / (1 + visits)


SUPPORT = 10  # a best choice has at least the most visited one's visits divided by this


def best_values(node: Node) -> Values:
    """Return (U + ΣN·q(b)) / (1 + ΣN), b the best choice of the one acting player: the largest q, the first of equals.

    Only choices with at least a tenth of the most visited one's visits count, so that luck is not taken for value.
    """
    assert node.evaluation is not None
    [mover] = node.acting
    most = max((edge.visits for edge in node.edges.values()), default=0)
    tried = [edge for edge in node.edges.values() if edge.visits > 0 and edge.visits * SUPPORT >= most]
    if not tried:
        return list(node.evaluation.values)
    best = max(tried, key=lambda edge: edge.value(mover))
    visits = node.edge_visits
    return [(visits * best.value(p) + u) / (1 + visits) for p, u in enumerate(node.evaluation.values)]


def choice_visits(node: Node, index: int) -> list[int]:
    """Return N_i(a) = Σ N(e) over edges with e_i = a, for the `index`-th acting player."""
    visits = [0] * len(node.choices[index])
    for edge in node.edges.values():
        visits[edge.move[index]] += edge.visits
    return visits


def visit_policy(node: Node, index: int, rule: RootRule | None) -> list[float]:
    """Return an acting player's visits as a policy, the prior in use before any."""
    if node.edge_visits == 0:
        return list(priors_in_use(node, rule)[index])
    return formulas.normalised([float(n) for n in choice_visits(node, index)])
