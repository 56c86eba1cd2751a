"""Exp3 (docs/model.md section 9): exponential weights on payoffs divided by the probabilities they were drawn with."""

from __future__ import annotations

from anabranch.search.maths import formulas
from anabranch.search.maths.draws import Draws
from anabranch.search.maths.root_rule import RootRule
from anabranch.search.reference.nodes import Edge, Node, Values
from anabranch.search.reference.select.averaging import Strategies, add_to_sums, average_policy, drawn_choice
from anabranch.search.reference.select.selector import Choice, Unplanned
from anabranch.search.reference.select.visits import visit_values
from anabranch.search.settings.config import Exp3


class Exp3Selector(Unplanned):
    """Draws from a softmax of gains, with exploration; values are those of visits."""

    most_acting = None

    def __init__(self, settings: Exp3) -> None:
        self.settings = settings

    def choose(self, node: Node, draws: Draws, rule: RootRule | None) -> Choice:
        """Draw every acting player's choice from p = (1 − x)·softmax(x·G/|A|) + x/|A|."""
        return drawn_choice(node, self._current(node), self.settings.exploration, draws)

    def learn(self, node: Node, edge: Edge, chances: tuple[float, ...]) -> None:
        """Add y / p(a) to the gain of what was played, y in [0, 1], and sum up the exploration-free part.

        p is what the choice was drawn from, kept with the path: in a wave the gains may have moved on since.
        """
        old = self._current(node)
        lows, highs = node.state.bounds()
        for i, (player, choice) in enumerate(zip(node.acting, edge.move, strict=True)):
            scaled = formulas.to_unit(edge.value(player), float(lows[player]), float(highs[player]))
            node.regrets[i][choice] += scaled / chances[i]
        add_to_sums(node, old, 1)

    def value(self, node: Node) -> Values:
        """Return the visit value."""
        return visit_values(node)

    def policy(self, node: Node, index: int, rule: RootRule | None) -> list[float]:
        """Return the average of the exploration-free parts."""
        return average_policy(node, index, rule)

    def _current(self, node: Node) -> Strategies:
        return [formulas.exp3_strategy(gains, self.settings.exploration) for gains in node.regrets]
