"""UCB1 (docs/model.md section 4), for search without priors: untried choices first, then value plus √(ln S / N)."""

from __future__ import annotations

from anabranch.search.maths import formulas
from anabranch.search.maths.draws import Draws
from anabranch.search.maths.root_rule import RootRule
from anabranch.search.reference.nodes import Edge, Node, ReferenceGraph, Values
from anabranch.search.reference.proofs import Proofs
from anabranch.search.reference.select.decoupled import Decoupled, Seen
from anabranch.search.reference.select.selector import Choice, Unplanned
from anabranch.search.reference.select.visits import visit_policy, visit_values
from anabranch.search.settings.config import Ucb1, VirtualLoss


class Ucb1Selector(Unplanned):
    """Chooses by UCB1, reports visits."""

    most_acting = None

    def __init__(self, settings: Ucb1, virtual_loss: VirtualLoss, graph: ReferenceGraph, proofs: Proofs) -> None:
        self.settings = settings
        self._players = Decoupled(settings, virtual_loss, graph, proofs, self._scores)

    def _scores(self, seen: Seen) -> list[float]:
        return formulas.ucb1_scores(seen.values, seen.tried, c=self.settings.c)

    def choose(self, node: Node, draws: Draws, rule: RootRule | None) -> Choice:
        """Let every acting player follow its largest score."""
        return self._players.choose(node, draws, rule)

    def learn(self, node: Node, edge: Edge, chances: tuple[float, ...]) -> None:
        """Nothing: visits are all there is to know."""

    def value(self, node: Node) -> Values:
        """Return the visit value."""
        return visit_values(node)

    def policy(self, node: Node, index: int, rule: RootRule | None) -> list[float]:
        """Return visits as a policy."""
        return visit_policy(node, index, rule)
