"""PUCT (docs/model.md section 4): value plus a bonus for what the prior likes and few visits tried."""

from __future__ import annotations

from anabranch.search.maths import formulas
from anabranch.search.maths.draws import Draws
from anabranch.search.maths.root_rule import RootRule
from anabranch.search.reference.nodes import Edge, Node, ReferenceGraph, Values
from anabranch.search.reference.proofs import Proofs
from anabranch.search.reference.select.decoupled import Decoupled, Seen
from anabranch.search.reference.select.selector import Choice, Unplanned
from anabranch.search.reference.select.visits import visit_policy, visit_values
from anabranch.search.settings.config import Puct, VirtualLoss


class PuctSelector(Unplanned):
    """Chooses by PUCT, reports visits."""

    most_acting = None

    def __init__(self, settings: Puct, virtual_loss: VirtualLoss, graph: ReferenceGraph, proofs: Proofs) -> None:
        self.settings = settings
        self._players = Decoupled(settings, virtual_loss, graph, proofs, self._scores)

    def _scores(self, seen: Seen) -> list[float]:
        rule = self.settings
        c = formulas.puct_weight(
            sum(seen.tried), c_init=rule.weight, c_log=rule.c_log, c_base=rule.c_base, c_off=rule.c_off
        )
        return formulas.puct_scores(seen.values, seen.prior, seen.tried, c=c, epsilon=rule.epsilon)

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
