"""Regret matching+ (docs/model.md section 9): play what one regrets not having played, report the average."""

from __future__ import annotations

from anabranch.search.maths import formulas
from anabranch.search.maths.draws import Draws
from anabranch.search.maths.root_rule import RootRule
from anabranch.search.reference.nodes import Edge, Node, Values
from anabranch.search.reference.select.averaging import (
    Strategies,
    add_to_sums,
    average_policy,
    average_strategies,
    cell_values,
    drawn_choice,
    has_average,
    payoff,
    visited_edges,
    visited_mean,
)
from anabranch.search.reference.select.selector import Choice, Unplanned
from anabranch.search.reference.select.visits import visit_values
from anabranch.search.settings.config import RegretMatching


class RegretMatchingSelector(Unplanned):
    """Draws from the positive regrets, with exploration."""

    most_acting = None

    def __init__(self, settings: RegretMatching) -> None:
        self.settings = settings

    def choose(self, node: Node, draws: Draws, rule: RootRule | None) -> Choice:
        """Draw every acting player's choice from its current strategy."""
        return drawn_choice(node, current(node), self.settings.exploration, draws)

    def learn(self, node: Node, edge: Edge, chances: tuple[float, ...]) -> None:
        """Update all regrets from fresh cells, all players from the old strategies; sum these up by N(n)."""
        old = current(node)
        payoffs = expected_payoffs(node, old, self.settings.view)
        for i in range(len(node.acting)):
            node.regrets[i] = formulas.regret_update(node.regrets[i], payoffs[i], old[i])
        add_to_sums(node, old, node.visits)

    def value(self, node: Node) -> Values:
        """Return the value of the average strategies over all cells, without U's visit; or the visit value.

            Q_i = Σ_e ρ(e)·q_i(e) + (1 − Σ_e ρ(e))·U_i

        over visited cells, edges in creation order, U's part added last: that of the cells nobody visited.
        """
        if self.settings.value == "visits" or not has_average(node):
            return visit_values(node)
        assert node.evaluation is not None
        values, mass = visited_mean(node, average_strategies(node))
        return [total + (1.0 - mass) * u for total, u in zip(values, node.evaluation.values, strict=True)]

    def policy(self, node: Node, index: int, rule: RootRule | None) -> list[float]:
        """Return the average strategy."""
        return average_policy(node, index, rule)


def current(node: Node) -> Strategies:
    """Return σ_i = R_i / Σ R_i, uniform where nothing is regretted."""
    return [formulas.normalised(regrets) for regrets in node.regrets]


def expected_payoffs(node: Node, played: Strategies, view: str) -> list[list[float]]:
    """Return u_i(a) = Σ_b σ_{−i}(b)·u_i(a, b) for every acting player and choice, at the cost of the edges.

        u_i(a) = Σ_e ρ_i(e)·u_i(e) + (1 − Σ_e ρ_i(e))·u_i(U),      ρ_i(e) = Π_{j≠i} σ_j(e_j)

    over the visited edges with e_i = a, in creation order from 0, products over j in seat order from 1; the part of U,
    which stands for all cells nobody visited, is added last.
    """
    sums = [[0.0] * len(ids) for ids in node.choices]
    masses = [[0.0] * len(ids) for ids in node.choices]
    for edge in visited_edges(node):
        values = cell_values(node, edge)
        for i, choice in enumerate(edge.move):
            reach = 1.0
            for j, other in enumerate(edge.move):
                if j != i:
                    reach *= played[j][other]
            sums[i][choice] += reach * payoff(node, i, values, view)
            masses[i][choice] += reach
    unseen = [payoff(node, i, cell_values(node, None), view) for i in range(len(node.acting))]
    return [
        [total + (1.0 - mass) * u for total, mass in zip(totals, reached, strict=True)]
        for totals, reached, u in zip(sums, masses, unseen, strict=True)
    ]
