"""The formulas of the search, each a pure function under its equation (docs/model.md sections 2 to 9).

Sums run in index order from 0 and nothing is fused: the engine repeats every function here operation by operation,
so that the two agree visit for visit. Lists of Python floats, not arrays, keep that order plain to see.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from anabranch.search.settings.config import FirstPlay, Weights

Floats = Sequence[float]

PRIOR_FLOOR = 1e-6
GOLDEN_STEP = (math.sqrt(5.0) - 1.0) / 2.0


def total_of(numbers: Iterable[float]) -> float:
    """Add up in order, one rounding each (from Python 3.12 on `sum` compensates its errors; the engine does not)."""
    total = 0.0
    for number in numbers:
        total += number
    return total


def single(x: float) -> float:
    """Round to float32, the precision rewards and priors are stored in."""
    return float(np.float32(x))


def softmax(logits: Floats) -> list[float]:
    """Return exp(l) / Σ exp(l), with the largest logit moved to 0 first."""
    top = max(logits)
    weights = [math.exp(logit - top) for logit in logits]
    total = total_of(weights)
    return [weight / total for weight in weights]


def stored_prior(prior: Floats) -> list[float]:
    """Return a prior as nodes store it: in float32, nothing below a millionth of the mass, summing to 1.

    A choice with prior zero would never be tried, and convergence would fail.
    """
    rounded = [single(p) for p in prior]
    floor = PRIOR_FLOOR * total_of(rounded)
    raised = [max(p, floor) for p in rounded]
    total = total_of(raised)
    return [single(p / total) for p in raised]


def puct_weight(visits: float, *, c_init: float, c_log: float, c_base: float, c_off: float) -> float:
    """Return c = c_init + c_log · ln((S + c_off + c_base) / c_base): Silver et al. 2018."""
    return c_init + c_log * math.log((visits + c_off + c_base) / c_base)


def puct_scores(values: Floats, prior: Floats, visits: Floats, *, c: float, epsilon: float) -> list[float]:
    """Return the PUCT score of every choice; the search follows the largest.

        score(a) = x(a) + c · P(a) · √(S + ε) / (1 + N(a)),      S = Σ_b N(b)

    `visits` count those in flight too. With ε = 0, as the papers print it, the first choice ignores the prior.
    """
    factor = c * math.sqrt(total_of(visits) + epsilon)
    return [x + factor * p / (1.0 + n) for x, p, n in zip(values, prior, visits, strict=True)]


def ucb1_scores(values: Floats, visits: Floats, *, c: float) -> list[float]:
    """Return x(a) + c · √(ln S / N(a)); untried choices are infinite, so they come first. Auer et al. 2002."""
    total = total_of(visits)
    logarithm = math.log(total) if total > 0 else 0.0
    return [x + c * math.sqrt(logarithm / n) if n > 0 else math.inf for x, n in zip(values, visits, strict=True)]


def choice_value(
    first_play: float, scaled: float, visits: float, in_flight: float, *, w0: float, loss: float, lowest: float
) -> float:
    """Return what a choice counts as worth: its value, first-play value and virtual losses, each by its weight.

        x(a) = (w0 · f + N · s(q) + L · v · ℓ) / (w0 + N + L · v),      f where that is 0/0

    Where w0 and v are 0 it is s(q) itself, without a quotient that would only round it.
    """
    if w0 == 0.0 and (loss == 0.0 or in_flight == 0.0):
        return scaled if visits > 0 else first_play
    return (w0 * first_play + visits * scaled + loss * in_flight * lowest) / (w0 + visits + loss * in_flight)


def first_play(rule: FirstPlay, *, parent: float, tried: float, lowest: float) -> float:
    """Return what an untried choice is worth, in scaled units; `tried` is the prior mass of the choices with visits.

    Of settings that no search has settled, `auto` is read as for evaluators with priors.
    """
    if rule.kind == "parent":
        return parent
    if rule.kind == "parent_minus":
        return parent - rule.amount
    if rule.kind in ("reduced", "auto"):
        return parent - rule.amount * math.sqrt(tried)
    return rule.amount if rule.kind == "constant" else lowest


def reply_weight(weights: Weights, visits: int, replies: Iterable[tuple[float, int]]) -> float:
    """Return w(e), how much a joint choice weighs in the value of one player's part of it.

        D: N(e)      A: Π P_j(e_j)      B: Π N_j(e_j)      C: Π (P_j(e_j) + N_j(e_j))

    `visits` are N(e); `replies` are P_j(e_j) and N_j(e_j) of the other acting players, in seat order.
    """
    if weights == "D":
        return float(visits)
    weight = 1.0
    for prior, count in replies:
        weight *= prior if weights == "A" else float(count) if weights == "B" else prior + count
    return weight


def forced_visits(prior: float, total: float, k: float) -> float:
    """Return √(k · P(a) · ΣN), what a choice of the root that was tried gets at least: Wu 2019."""
    return math.sqrt(k * prior * total)


def first_forced(prior: Floats, visits: Sequence[int], k: float, passed: Sequence[bool]) -> int | None:
    """Return the first choice that was tried and has fewer visits than are forced, those in flight counted.

    Choices that are passed over are not forced.
    """
    total = sum(visits)
    for choice, (n, p, skip) in enumerate(zip(visits, prior, passed, strict=True)):
        if 0 < n < forced_visits(p, total, k) and not skip:
            return choice
    return None


def to_unit(value: float, low: float, high: float) -> float:
    """Map [low, high] onto [0, 1], linearly and without clipping; 0 where the interval is a point."""
    return (value - low) * (1.0 / (high - low)) if high > low else 0.0


def to_signed(value: float, low: float, high: float) -> float:
    """Map [low, high] onto [−1, 1], linearly and without clipping; 0 where the interval is a point."""
    return (value - low) * (2.0 / (high - low)) - 1.0 if high > low else 0.0


def argmax(scores: Floats) -> int:
    """Return the first index of the largest score."""
    best = 0
    for index in range(1, len(scores)):
        if scores[index] > scores[best]:
            best = index
    return best


def first_above(threshold: float, chances: Floats) -> int:
    """Return the first index whose cumulative probability exceeds the threshold, the last if none does."""
    total = 0.0
    for index, chance in enumerate(chances):
        total += chance
        if total > threshold:
            return index
    return len(chances) - 1


def spread_point(offset: float, draw: int) -> float:
    """Return frac(u0 + k·(√5 − 1)/2), the k-th point of a sequence that covers [0, 1) evenly."""
    point = offset + draw * GOLDEN_STEP
    return point - math.floor(point)


def with_exploration(strategy: Floats, exploration: float) -> list[float]:
    """Return (1 − x)·σ + x/|A|: play the strategy, now and then anything."""
    share = exploration / len(strategy)
    return [(1.0 - exploration) * p + share for p in strategy]


def normalised(weights: Floats) -> list[float]:
    """Return weights / Σ weights, uniform where it is 0: regrets as a strategy, summed strategies as their mean."""
    total = total_of(weights)
    if total > 0.0:
        return [weight / total for weight in weights]
    return [1.0 / len(weights)] * len(weights)


def regret_update(regrets: Floats, payoffs: Floats, strategy: Floats) -> list[float]:
    """Return R(a) ← max(0, R(a) + u(a) − Σ σ·u): regret matching+ (Tammelin 2014)."""
    mean = total_of(p * u for p, u in zip(strategy, payoffs, strict=True))
    return [max(0.0, regret + u - mean) for regret, u in zip(regrets, payoffs, strict=True)]


def exp3_strategy(gains: Floats, exploration: float) -> list[float]:
    """Return softmax(x · G / |A|), the exploration-free part of Exp3."""
    rate = exploration / len(gains)
    return softmax([rate * gain for gain in gains])
