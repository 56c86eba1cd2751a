"""What one acting player sees of a node's joint choices: its own, summed over what the others did."""

from __future__ import annotations

from dataclasses import dataclass

from anabranch.search.maths import formulas
from anabranch.search.maths.root_rule import Priors
from anabranch.search.reference.nodes import Node
from anabranch.search.reference.select.visits import choice_visits
from anabranch.search.settings.config import Weights


@dataclass(frozen=True)
class Marginals:
    """N_i(a), v_i(a) and q_i(a) (0 where never visited) of one acting player's choices."""

    visits: list[int]
    in_flight: list[int]
    values: list[float]


def marginals(node: Node, index: int, weights: Weights, priors: Priors) -> Marginals:
    """Sum joint edges into the choices of the `index`-th acting player.

        N_i(a) = Σ N(e),   v_i(a) = Σ v(e),   q_i(a) = Σ w(e)·q_i(e) / Σ w(e)      over edges with e_i = a

    With one acting player q(a) = q(e), without the quotient. Where Σ w = 0, replies weigh by visits. `priors` are those
    in use.
    """
    player, size = node.acting[index], len(node.choices[index])
    visits, in_flight, values = choice_visits(node, index), [0] * size, [0.0] * size
    for edge in node.edges.values():
        in_flight[edge.move[index]] += edge.in_flight
    if len(node.acting) == 1:
        for edge in node.edges.values():
            if edge.visits > 0:
                values[edge.move[0]] = edge.value(player)
        return Marginals(visits, in_flight, values)
    totals, by_visits, visit_totals = [0.0] * size, [0.0] * size, [0.0] * size
    others = [j for j in range(len(node.acting)) if j != index]
    other_visits = {j: choice_visits(node, j) for j in others}
    for edge in node.edges.values():
        if edge.visits == 0:
            continue
        choice, q = edge.move[index], edge.value(player)
        replies = [(priors[j][edge.move[j]], other_visits[j][edge.move[j]]) for j in others]
        weight = formulas.reply_weight(weights, edge.visits, replies)
        values[choice] += weight * q
        totals[choice] += weight
        by_visits[choice] += edge.visits * q
        visit_totals[choice] += edge.visits
    for choice in range(size):
        if totals[choice] > 0.0:
            values[choice] /= totals[choice]
        elif visit_totals[choice] > 0.0:
            values[choice] = by_visits[choice] / visit_totals[choice]
    return Marginals(visits, in_flight, values)
