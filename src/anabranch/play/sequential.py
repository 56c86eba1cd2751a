"""A test on pairs that may stop at any time: two bets, each of which a wrong verdict would have to win.

Pair scores x in [0, 1] come one after the other. Against "the mean is at most m0" (the first agent is no better) one
unit is bet on every pair, and against "the mean is at least m1" another:

    K0 ← K0·(1 + a·(x − m0)),      K1 ← K1·(1 − b·(x − m1)),      K0 = K1 = 1 at first

where the stakes a, b ≥ 0 are fixed before x is seen and leave both factors positive. If the mean of every pair, given
those before it, is at most m0, then K0 is a supermartingale that begins at 1, and it ever reaches 1/α with probability
α at most (Ville 1939); likewise K1 and β. So

    K0 ≥ 1/α: promoted, wrong with probability at most α;      K1 ≥ 1/β: not promoted, wrong with probability at most β

whatever the distribution of scores is, and however often one looks: draws, pairs that are correlated within, more than
two players. Nothing is estimated that could be wrong; the variance only decides how large the stakes are:

    a = min(1, δ/(s² + δ²)),  b the same,      δ = m1 − m0,  s² = (¼ + Σ (x − m)²)/(1 + n),  m = (½ + Σ x)/(1 + n)

of the pairs before, which is near the stake that lets K0 grow fastest where the mean is m1 (Kelly 1956; Waudby-Smith
and Ramdas 2023 on betting). For large n both bets are Wald's sequential test of m0 against m1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from anabranch.errors import UsageError

Verdict = Literal["promoted", "not promoted", "undecided"]
LARGEST_STAKE = 1.0  # factors stay above 1 − 1·max(m0, 1 − m1) > 0


@dataclass(frozen=True)
class Rates:
    """What is tested, and how often it may be wrong."""

    equal: float = 0.5  # m0: a mean score at which nobody shall be promoted
    better: float = 0.55  # m1: one at which everybody shall be
    wrongly_promoted: float = 0.05  # α
    wrongly_refused: float = 0.2  # β

    def __post_init__(self) -> None:
        for name in ("equal", "better", "wrongly_promoted", "wrongly_refused"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.0 < value < 1.0:
                raise UsageError(f"{name} must be a number between 0 and 1, found {value!r}")
        if not self.equal < self.better:
            raise UsageError(f"better must be above equal, found {self.better!r} and {self.equal!r}")


@dataclass
class Bets:
    """Both bets so far; `add` pairs until there is a verdict."""

    rates: Rates = field(default_factory=Rates)
    pairs: int = 0
    better: float = 0.0  # ln K0: of the bet that the first agent is better
    worse: float = 0.0  # ln K1: of the bet that it is not good enough
    _sum: float = 0.0
    _squares: float = 0.0

    @property
    def stake(self) -> float:
        """What is bet on the next pair, of all there is: near what makes the bet grow fastest at `better`."""
        mean = (0.5 + self._sum) / (1.0 + self.pairs)
        squares = self._squares - 2.0 * mean * self._sum + self.pairs * mean * mean  # Σ (x − m)²
        variance = (0.25 + max(0.0, squares)) / (1.0 + self.pairs)
        gap = self.rates.better - self.rates.equal
        return min(LARGEST_STAKE, gap / (variance + gap * gap))

    def add(self, score: float) -> Verdict:
        """Take in the mean score of the next pair and return what is known now."""
        assert 0.0 <= score <= 1.0
        stake = self.stake
        self.better += math.log1p(stake * (score - self.rates.equal))
        self.worse += math.log1p(-stake * (score - self.rates.better))
        self.pairs += 1
        self._sum += score
        self._squares += score * score
        return self.verdict

    @property
    def verdict(self) -> Verdict:
        """What is known: the first bet that won."""
        if self.better >= -math.log(self.rates.wrongly_promoted):
            return "promoted"
        return "not promoted" if self.worse >= -math.log(self.rates.wrongly_refused) else "undecided"


def decide(scores: Iterable[float], rates: Rates | None = None) -> Bets:
    """Add pair scores until there is a verdict, or no more of them."""
    bets = Bets(rates or Rates())
    for score in scores:
        if bets.add(score) != "undecided":
            break
    return bets
