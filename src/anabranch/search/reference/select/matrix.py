"""The matrix selector (docs/model.md section 9): solve the table of cells, again whenever N has grown."""

from __future__ import annotations

from anabranch.search.maths import formulas
from anabranch.search.maths.draws import Draws
from anabranch.search.maths.matrix_game import equilibrium
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
    visited_mean,
)
from anabranch.search.reference.select.selector import Choice, Unplanned
from anabranch.search.reference.select.visits import visit_values
from anabranch.search.settings.config import MatrixGame


class MatrixSelector(Unplanned):
    """Draws from the equilibrium last found, with exploration; its tables have two players."""

    most_acting = 2

    def __init__(self, settings: MatrixGame) -> None:
        self.settings = settings

    def choose(self, node: Node, draws: Draws, rule: RootRule | None) -> Choice:
        """Draw both players' choices from the strategies last solved, uniform before."""
        played = node.current or [formulas.normalised([0.0] * len(ids)) for ids in node.choices]
        return drawn_choice(node, played, self.settings.exploration, draws)

    def learn(self, node: Node, edge: Edge, chances: tuple[float, ...]) -> None:
        """Solve the table again where N has grown enough, and sum the solution up by N(n)."""
        grown = node.visits - node.solved_at
        if not node.current or grown >= max(1.0, self.settings.growth * node.solved_at):
            node.current = solved(node)
            node.solved_at = node.visits
            add_to_sums(node, node.current, node.visits)

    def value(self, node: Node) -> Values:
        """Return the value of the average strategies over visited cells, renormalised, with U's visit; or visits'.

            Q_i = (ΣN·q̄_i + U_i) / (1 + ΣN),      q̄_i = Σ_e ρ(e)·q_i(e) / Σ_e ρ(e)

        Where the strategies' support was never visited, what was visited speaks.
        """
        if self.settings.value == "visits" or not has_average(node):
            return visit_values(node)
        assert node.evaluation is not None
        values, mass = visited_mean(node, average_strategies(node))
        if mass == 0.0:
            return visit_values(node)
        visits = node.edge_visits
        return [
            (visits * (total / mass) + u) / (1 + visits)
            for total, u in zip(values, node.evaluation.values, strict=True)
        ]

    def policy(self, node: Node, index: int, rule: RootRule | None) -> list[float]:
        """Return the average of the solutions; never the last alone, which fails off the path."""
        return average_policy(node, index, rule)


def solved(node: Node) -> Strategies:
    """Return an equilibrium of the zero-sum view of all cells, U where nothing was visited."""
    rows, columns = (range(len(ids)) for ids in node.choices)
    table = [[payoff(node, 0, cell_values(node, node.edges.get((a, b))), "difference") for b in columns] for a in rows]
    mine, theirs, _ = equilibrium(table)
    return [list(mine), list(theirs)]
