"""Gumbel (docs/model.md section 10): halving among sampled choices at the root, the improved policy everywhere else."""

from __future__ import annotations

from anabranch.search.maths import formulas
from anabranch.search.maths import gumbel as maths
from anabranch.search.maths.draws import Draws
from anabranch.search.maths.gumbel import Seen
from anabranch.search.maths.root_rule import RootRule
from anabranch.search.reference.nodes import Edge, Node, ReferenceGraph, Values
from anabranch.search.reference.select.marginals import marginals
from anabranch.search.reference.select.selector import Choice
from anabranch.search.reference.select.visits import visit_values
from anabranch.search.settings.config import Gumbel, VirtualLoss


class GumbelSelector:
    """Chooses by sequential halving at a root with a plan, else by the improved policy, which it reports."""

    most_acting = None

    def __init__(self, settings: Gumbel, virtual_loss: VirtualLoss, graph: ReferenceGraph) -> None:
        self.settings, self.virtual_loss, self.graph = settings, virtual_loss, graph

    def choose(self, node: Node, draws: Draws, rule: RootRule | None) -> Choice:
        """Let every acting player choose for itself."""
        return Choice(tuple(self._best(node, index, rule) for index in range(len(node.acting))))

    def learn(self, node: Node, edge: Edge, chances: tuple[float, ...]) -> None:
        """Nothing: visits are all there is to know."""

    def value(self, node: Node) -> Values:
        """Return the visit value."""
        return visit_values(node)

    def policy(self, node: Node, index: int, rule: RootRule | None) -> list[float]:
        """Return the improved policy, the prior before any visit."""
        seen = self._seen(node, index, in_flight=False)
        if not seen.order:
            return list(seen.prior)
        weights, _ = maths.improved_weights(seen, *self._gains(node, index, seen))
        return maths.improved_policy(seen, weights)

    def winner(self, node: Node, index: int, rule: RootRule) -> int | None:
        """Return the choice that a run of the root ends with, None where none was begun."""
        if not rule.plans:
            return None
        seen = self._seen(node, index, in_flight=False)
        return maths.winner(seen, self._gains(node, index, seen)[0], rule.plans[index])

    def _best(self, node: Node, index: int, rule: RootRule | None) -> int:
        if rule is not None and rule.plans:
            seen = self._seen(node, index, in_flight=True)  # a schedule counts them whatever they do elsewhere
            return maths.halving_choice(seen, self._gains(node, index, seen)[0], rule.plans[index])
        seen = self._seen(node, index, in_flight=self.virtual_loss.mode != "off")
        return maths.interior_choice(seen, *maths.improved_weights(seen, *self._gains(node, index, seen)))

    def _seen(self, node: Node, index: int, in_flight: bool) -> Seen:
        assert node.evaluation is not None
        sums = marginals(node, index, "D", node.priors)
        taken = dict.fromkeys(edge.move[index] for edge in node.edges.values())  # in the order first tried
        tried = [n + v if in_flight else n for n, v in zip(sums.visits, sums.in_flight, strict=True)]
        order = [choice for choice in taken if sums.visits[choice] > 0]
        return Seen(
            node.priors[index], sums.visits, tried, sums.values, order, node.evaluation.values[node.acting[index]]
        )

    def _gains(self, node: Node, index: int, seen: Seen) -> tuple[list[float], float]:
        """Return σ of every choice, completed where never visited, and σ of v_mix."""
        settings, player, mixed = self.settings, node.acting[index], maths.mixed_value(seen)
        factor = maths.gain_factor(seen, c_visit=settings.c_visit, c_scale=settings.c_scale)
        low, high = self._interval(node, player, seen, mixed)

        def gain(value: float) -> float:
            if settings.scale == "none":
                return factor * value
            scale = maths.to_node if settings.scale == "node" else formulas.to_unit
            return factor * scale(value, low, high)

        other = gain(mixed)
        gains = [gain(q) if n > 0 else other for q, n in zip(seen.values, seen.visits, strict=True)]
        return gains, other

    def _interval(self, node: Node, player: int, seen: Seen, mixed: float) -> tuple[float, float]:
        """Return what the scale maps onto [0, 1]."""
        if self.settings.scale == "node":
            return maths.node_interval(seen, mixed)
        if self.settings.scale == "graph":
            return self.graph.low[player], self.graph.high[player]
        lows, highs = node.state.bounds()
        return float(lows[player]), float(highs[player])
