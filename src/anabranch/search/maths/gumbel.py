"""The formulas of the Gumbel search (docs/model.md section 10; Danihelka et al. 2022), over one player's choices.

As in `formulas`, sums run in a fixed order over Python floats and the engine repeats them operation by operation. The
visited choices come in the order in which they were first tried, which is that of a node's edges.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from anabranch.game.random import Random, uniform
from anabranch.search.maths import formulas
from anabranch.search.maths.formulas import Floats

LEAST = 2.0**-54  # stands for a uniform number of 0, so that every draw is finite
NARROWEST = 1e-8  # the least width of the interval that the scale `node` divides by


# Sequential halving


@dataclass(frozen=True)
class Phase:
    """A stretch of the schedule: from simulation `start` on, `width` choices with `base` visits each are visited."""

    start: int
    width: int
    base: int


def halving(considered: int, simulations: int) -> list[Phase]:
    """Return the phases of sequential halving (Karnin, Koren and Somekh 2013) over so many choices.

        k = m;   repeat:  extra = max(1, ⌊T / (⌈log2 m⌉·k)⌋);  visit the first k extra times;  k ← max(2, ⌊k/2⌋)

    For one choice: one phase. All choices that a phase visits have equal visits when it begins.
    """
    if considered <= 1:
        return [Phase(0, 1, 0)]
    rounds = (considered - 1).bit_length()
    start, width, base = 0, considered, 0
    phases: list[Phase] = []
    while start < simulations or not phases:
        phases.append(Phase(start, width, base))
        extra = max(1, simulations // (rounds * width))
        start, base, width = start + extra * width, base + extra, max(2, width // 2)
    return phases


def scheduled(phases: Sequence[Phase], simulation: int) -> int:
    """Return schedule[t], the visits that the choice taken by simulation t (0 for the first) has before it."""
    phase = next(phase for phase in reversed(phases) if phase.start <= simulation)
    return phase.base + (simulation - phase.start) // phase.width


# The root


def gumbel_noise(size: int, random: Random) -> list[float]:
    """Return draws from the Gumbel distribution, g = −ln(−ln u)."""
    return [-math.log(-math.log(max(uniform(random), LEAST))) for _ in range(size)]


@dataclass(frozen=True)
class Plan:
    """What an acting player of a root does in one run."""

    scores: Floats  # g + ln P, by choice
    considered: Sequence[bool]
    before: Sequence[int]  # N₀, the visits when the run began
    phases: Sequence[Phase]


def plan(noise: Floats, prior: Floats, before: Sequence[int], simulations: int, considered: int, weight: float) -> Plan:
    """Return the plan of a run: the m choices with the largest g + ln P are considered, the first of equals."""
    scores = [weight * g + math.log(p) for g, p in zip(noise, prior, strict=True)]
    most = min(considered, len(prior))
    best = set(sorted(range(len(scores)), key=lambda choice: -scores[choice])[:most])  # stable: the first of equals
    return Plan(scores, [choice in best for choice in range(len(scores))], list(before), halving(most, simulations))


# Completed values


@dataclass(frozen=True)
class Seen:
    """A player's choices at a node: P, N, N + v, q where visited; `order` are the visited in the order first tried."""

    prior: Floats
    visits: Sequence[int]
    tried: Sequence[int]
    values: Floats
    order: Sequence[int]
    evaluation: float  # U

    @property
    def all_visited(self) -> bool:
        """Whether no choice needs a completed value."""
        return len(self.order) == len(self.prior)


def visited_mass(seen: Seen) -> float:
    """Return Σ P over the visited choices."""
    return formulas.total_of(seen.prior[choice] for choice in seen.order)


def mixed_value(seen: Seen) -> float:
    """Return v_mix, what a choice never visited counts as worth; U where nothing was visited.

    v_mix = ( ΣN·( Σ_vis P·q / Σ_vis P ) + U ) / ( 1 + ΣN )
    """
    if not seen.order:
        return seen.evaluation
    weighted = formulas.total_of(seen.prior[choice] * seen.values[choice] for choice in seen.order)
    total = float(sum(seen.visits))
    return (total * (weighted / visited_mass(seen)) + seen.evaluation) / (1.0 + total)


def node_interval(seen: Seen, mixed: float) -> tuple[float, float]:
    """Return the least and the largest completed value of a node's choices."""
    values = [seen.values[choice] for choice in seen.order]
    if not seen.all_visited:
        values.append(mixed)
    return min(values), max(values)


def to_node(value: float, low: float, high: float) -> float:
    """Return (q − min) / max(max − min, 1e-8): the published scale."""
    return (value - low) / max(high - low, NARROWEST)


def gain_factor(seen: Seen, *, c_visit: float, c_scale: float) -> float:
    """Return (c_visit + max N)·c_scale, by which σ multiplies scaled values."""
    return (c_visit + float(max(seen.visits))) * c_scale


# Policies


def improved_weights(seen: Seen, gains: Floats, mixed_gain: float) -> tuple[list[float], float]:
    """Return exp(σ(a) − max σ) of every choice, and Z with π'(a) = P(a)·exp(σ(a) − max σ) / Z.

    `gains` are σ of the visited choices, `mixed_gain` is that of all others. π' = softmax(ln P + σ); what was never
    visited shares one σ, so its part of Z is the rest of the prior's mass times one number.

        Z = Σ_vis P·exp(σ − max σ) + (1 − Σ_vis P)·exp(σ_mix − max σ)
    """
    top = max([gains[choice] for choice in seen.order] + ([] if seen.all_visited else [mixed_gain]))
    unvisited = 0.0 if seen.all_visited else math.exp(mixed_gain - top)
    weights = [math.exp(gains[choice] - top) if n > 0 else unvisited for choice, n in enumerate(seen.visits)]
    total = formulas.total_of(seen.prior[choice] * weights[choice] for choice in seen.order)
    if not seen.all_visited:
        total += (1.0 - visited_mass(seen)) * unvisited
    return weights, total


def interior_choice(seen: Seen, weights: Floats, total: float) -> int:
    """Return argmax π'(a) − (N(a) + v(a)) / (1 + S), the first of equals.

    Of the choices never tried only that with the largest prior, the first of equals, can be taken: they share one
    completed value.
    """
    untried = [choice for choice, n in enumerate(seen.tried) if n == 0]
    newest = max(untried, key=lambda choice: seen.prior[choice], default=None)
    everywhere = 1.0 + float(sum(seen.tried))
    best, best_score = 0, -math.inf
    for choice, n in enumerate(seen.tried):
        if n == 0 and choice != newest:
            continue
        score = seen.prior[choice] * weights[choice] / total - n / everywhere
        if score > best_score:
            best, best_score = choice, score
    return best


def improved_policy(seen: Seen, weights: Floats) -> list[float]:
    """Return π' = softmax(ln P + σ), the policy to play and to learn from."""
    return formulas.normalised([p * weight for p, weight in zip(seen.prior, weights, strict=True)])


def halving_choice(seen: Seen, gains: Floats, made: Plan) -> int:
    """Return argmax g + ln P + σ(q) among the considered choices with n(a) + v(a) = schedule[t], the first of equals.

    t counts the simulations of the run so far, those in flight too.
    """
    counts = [n - before for n, before in zip(seen.tried, made.before, strict=True)]
    wanted = scheduled(made.phases, sum(counts))
    return _best([c and n == wanted for c, n in zip(made.considered, counts, strict=True)], gains, made)


def winner(seen: Seen, gains: Floats, made: Plan) -> int:
    """Return what a run ends with: the largest such score among the considered choices most visited in it."""
    counts = [n - before for n, before in zip(seen.visits, made.before, strict=True)]
    most = max(n for c, n in zip(made.considered, counts, strict=True) if c)
    return _best([c and n == most for c, n in zip(made.considered, counts, strict=True)], gains, made)


def _best(among: Sequence[bool], gains: Floats, made: Plan) -> int:
    best, best_score = -1, -math.inf
    for choice, possible in enumerate(among):
        if possible and (best < 0 or made.scores[choice] + gains[choice] > best_score):
            best, best_score = choice, made.scores[choice] + gains[choice]
    assert best >= 0, "as many choices have the count that the schedule says as it needs"
    return best
