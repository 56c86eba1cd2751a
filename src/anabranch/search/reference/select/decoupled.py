"""What PUCT and UCB1 share: each player chooses alone, by a score over its own choices (docs/model.md section 4)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from anabranch.search.maths import formulas
from anabranch.search.maths.draws import Draws, Purpose
from anabranch.search.maths.root_rule import RootRule
from anabranch.search.maths.scale import value_scale
from anabranch.search.reference.nodes import Node, ReferenceGraph
from anabranch.search.reference.proofs import Proofs
from anabranch.search.reference.select.marginals import marginals
from anabranch.search.reference.select.selector import Choice, priors_in_use
from anabranch.search.settings.config import Puct, Ucb1, VirtualLoss


@dataclass(frozen=True)
class Seen:
    """An acting player's choices as a score reads them: x(a), P(a), and N(a) + v(a)."""

    values: list[float]
    prior: Sequence[float]
    tried: list[int]


Scores = Callable[[Seen], list[float]]


class Decoupled:
    """Lets every acting player choose for itself; `scores` tells one rule from another."""

    def __init__(
        self, settings: Puct | Ucb1, virtual_loss: VirtualLoss, graph: ReferenceGraph, proofs: Proofs, scores: Scores
    ) -> None:
        self.settings, self.virtual_loss, self.graph, self.proofs = settings, virtual_loss, graph, proofs
        self.scores = scores

    def choose(self, node: Node, draws: Draws, rule: RootRule | None) -> Choice:
        """Return the best choice of every acting player, or one that the root must visit first."""
        return Choice(tuple(self._best(node, index, draws, rule) for index in range(len(node.acting))))

    def _best(self, node: Node, index: int, draws: Draws, rule: RootRule | None) -> int:
        seen = self._seen(node, index, rule)
        passed = self.proofs.passed(node, index)
        forced = None if rule is None else formulas.first_forced(seen.prior, seen.tried, rule.forced, passed)
        if forced is not None:
            return forced
        scores = [-math.inf if skip else score for score, skip in zip(self.scores(seen), passed, strict=True)]
        if self.settings.ties == "first" or (self.settings.ties == "auto" and len(node.acting) == 1):
            return formulas.argmax(scores)
        top = max(scores)
        best = [choice for choice, score in enumerate(scores) if score == top]
        point = draws.uniform(Purpose.TIES, node.acting[index], node.key, node.visits + node.in_flight)
        return best[int(point * len(best))]

    def _seen(self, node: Node, index: int, rule: RootRule | None) -> Seen:
        """Return what a player sees: values scaled, untried choices at their first-play value, losses in flight."""
        settings, player, priors = self.settings, node.acting[index], priors_in_use(node, rule)
        sums = marginals(node, index, settings.weights, priors)
        mode, graph = self.virtual_loss.mode, self.graph
        in_flight = [0] * len(sums.in_flight) if mode == "off" else sums.in_flight
        known = [q for q, n in zip(sums.values, sums.visits, strict=True) if n > 0]
        mass = formulas.total_of(p for p, n in zip(priors[index], sums.visits, strict=True) if n > 0)
        scale = value_scale(
            *(settings.scale, node.state, player, [*known, node.mean[player]]),
            lambda: (graph.low[player], graph.high[player]),
        )
        parent, lowest = scale(node.mean[player]), scale.lowest
        first = formulas.first_play(settings.first_play, parent=parent, tried=mass, lowest=lowest)
        loss = 1.0 if mode == "loss" else 0.0
        values = [
            formulas.choice_value(first, scale(q), n, v, w0=settings.w0, loss=loss, lowest=lowest)
            for q, n, v in zip(sums.values, sums.visits, in_flight, strict=True)
        ]
        return Seen(values, priors[index], [n + v for n, v in zip(sums.visits, in_flight, strict=True)])
