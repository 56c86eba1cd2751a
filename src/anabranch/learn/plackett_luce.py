"""Ratings from games: Plackett-Luce strengths, Bradley-Terry's for two players, with intervals that hold.

Of players with strengths θ the first place goes to i with probability e^θ_i / Σ_j e^θ_j, the second in the same way
among the others, and so on (Luce 1959, Plackett 1975). Where some share a place, every order of them counts for its
share; for two players a draw is half a win for either.

The games of one pair share their opening and dice and are not independent; pairs are. So the variance is the sandwich
A⁻¹·B·A⁻¹ (White 1982, Liang and Zeger 1986): A the curvature of the log-likelihood, B the sum over pairs of the squares
of their gradients. One drawn game more, of everybody against the anchor, keeps strengths finite for those who won or
lost everything, and their intervals wide, as Agresti and Coull (1998) do for shares.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anabranch.play.interval import CONFIDENCE, student_quantile
from anabranch.play.record import EQUAL

Floats = npt.NDArray[np.float64]
ELO = 400.0 / math.log(10.0)  # points of a strength
PRIOR = 1.0  # drawn games against the anchor
STEPS, CLOSE = 100, 1e-10


@dataclass(frozen=True)
class Outcome:
    """One game: who played, in seat order, what they got, and the pair it belongs to."""

    agents: tuple[str, ...]
    returns: tuple[float, ...]
    pair: Hashable


@dataclass(frozen=True)
class Rated:
    """An agent's rating in Elo points above the anchor, and how far either way its 95 % interval reaches."""

    agent: str
    rating: float
    error: float
    games: int


def ratings(outcomes: Sequence[Outcome], anchor: str, confidence: float = CONFIDENCE) -> list[Rated]:
    """Return the rating of everybody who played, the strongest first; the anchor has 0, exactly."""
    names = sorted({agent for game in outcomes for agent in game.agents} | {anchor})
    place = {name: index for index, name in enumerate(names)}
    stages = _Stages(outcomes, place, anchor)
    strengths = stages.fitted(place[anchor])
    spread, pairs = stages.variances(strengths, place[anchor])
    counts = {name: sum(game.agents.count(name) > 0 for game in outcomes) for name in names}
    reach = student_quantile(0.5 + confidence / 2.0, max(1, pairs - 1))
    made = [
        Rated(name, ELO * strengths[index], ELO * reach * math.sqrt(spread[index]), counts[name])
        for name, index in place.items()
    ]
    return sorted(made, key=lambda each: -each.rating)


def orders(returns: Sequence[float]) -> list[tuple[int, ...]]:
    """Return all orders of players from best to worst: one, or as many as places that are shared allow."""
    ranked = sorted(range(len(returns)), key=lambda player: -returns[player])
    groups: list[list[int]] = []
    for player in ranked:
        if groups and abs(returns[groups[-1][-1]] - returns[player]) <= EQUAL:
            groups[-1].append(player)
        else:
            groups.append([player])
    mixed = itertools.product(*(itertools.permutations(group) for group in groups))
    return [tuple(itertools.chain(*parts)) for parts in mixed]


class _Stages:
    """Games as choices: somebody was first among those who were left, with a weight."""

    def __init__(self, outcomes: Sequence[Outcome], place: dict[str, int], anchor: str) -> None:
        self.count = len(place)
        rows: list[tuple[int, list[int], float, int]] = []
        clusters: dict[Hashable, int] = {}
        for game in outcomes:
            cluster = clusters.setdefault(game.pair, len(clusters))
            players = [place[agent] for agent in game.agents]
            self._add(rows, players, orders(game.returns), 1.0, cluster)
        self.pairs = len(clusters)
        for name, index in place.items():
            if name != anchor:
                cluster = clusters.setdefault(("prior", name), len(clusters))
                self._add(rows, [index, place[anchor]], [(0, 1), (1, 0)], PRIOR, cluster)
        width = max(len(members) for _, members, _, _ in rows)
        self.members = np.array([members + [-1] * (width - len(members)) for _, members, _, _ in rows])
        self.first = np.array([first for first, _, _, _ in rows])
        self.weight = np.array([weight for _, _, weight, _ in rows])
        self.cluster = np.array([cluster for _, _, _, cluster in rows])
        self.clusters = len(clusters)

    @staticmethod
    def _add(
        rows: list[tuple[int, list[int], float, int]],
        players: list[int],
        ways: list[tuple[int, ...]],
        weight: float,
        cluster: int,
    ) -> None:
        for order in ways:
            ranked = [players[seat] for seat in order]
            rows += [(ranked[at], ranked[at:], weight / len(ways), cluster) for at in range(len(ranked) - 1)]

    def _chances(self, strengths: Floats) -> Floats:
        """Return who would have been chosen at each stage, `[stages, members]`."""
        own = np.where(self.members >= 0, strengths[self.members], -np.inf)
        odds = np.exp(own - own.max(axis=1, keepdims=True))
        chances: Floats = odds / odds.sum(axis=1, keepdims=True)
        return chances

    def _slopes(self, chances: Floats) -> Floats:
        """Return the gradient of each stage, `[stages, agents]`: e_first − chances, weighed."""
        made = np.zeros((len(self.first), self.count))
        rows = np.arange(len(self.first))
        for column in range(self.members.shape[1]):
            there = self.members[:, column] >= 0
            np.subtract.at(made, (rows[there], self.members[there, column]), chances[there, column])
        made[rows, self.first] += 1.0
        weighed: Floats = made * self.weight[:, None]
        return weighed

    def _curvature(self, chances: Floats) -> Floats:
        """Return minus the second derivatives of the log-likelihood: Σ weight·(diag p − p·pᵀ)."""
        spread = np.zeros((len(self.first), self.count))
        rows = np.arange(len(self.first))
        for column in range(self.members.shape[1]):
            there = self.members[:, column] >= 0
            np.add.at(spread, (rows[there], self.members[there, column]), chances[there, column])
        weighed = spread * self.weight[:, None]
        found: Floats = np.diag(weighed.sum(axis=0)) - weighed.T @ spread
        return found

    def fitted(self, anchor: int) -> Floats:
        """Return the strengths of largest likelihood, by Newton's steps, halved where they do not help."""
        strengths, free = np.zeros(self.count), np.arange(self.count) != anchor
        if not free.any():
            return strengths
        for _ in range(STEPS):
            chances = self._chances(strengths)
            slope = self._slopes(chances).sum(axis=0)[free]
            step = np.linalg.solve(self._curvature(chances)[np.ix_(free, free)], slope)
            step *= min(1.0, 2.0 / max(1e-12, np.abs(step).max()))
            strengths[free] += step
            if np.abs(step).max() < CLOSE:
                break
        return strengths

    def variances(self, strengths: Floats, anchor: int) -> tuple[Floats, int]:
        """Return the variance of each strength by the sandwich, and how many pairs it rests on."""
        free = np.arange(self.count) != anchor
        found = np.zeros(self.count)
        if not free.any():
            return found, self.pairs
        chances = self._chances(strengths)
        bread = np.linalg.inv(self._curvature(chances)[np.ix_(free, free)])
        slopes = np.zeros((self.clusters, self.count))
        np.add.at(slopes, self.cluster, self._slopes(chances))
        inner = slopes[:, free].T @ slopes[:, free]
        found[free] = np.diag(bread @ inner @ bread) * self.pairs / max(1, self.pairs - 1)
        return found, self.pairs
