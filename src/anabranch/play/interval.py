"""How far a score can be trusted: a 95 % interval for the mean of pair scores.

The games of a pair share their opening and dice, so they are correlated, and what is independent is pairs: each counts
as one observation x in [0, 1], the mean score of its games. A mean ± t·s/√n interval fails near 0 and 1 (a side that
won all games so far would get an interval of no width), so Wilson's interval is used, with the variance that was seen:

    all μ with (m − μ)² ≤ t² · φ · μ(1 − μ) / n,     φ = s² / (m(1 − m)), in [1/n, 1]

m and s² are the mean and variance of the n pair scores, t is Student's quantile with n − 1 degrees of freedom, and φ is
the variance as a share of the largest one that numbers in [0, 1] with this mean can have; where all pairs were won or
all lost, φ = 1. With φ = 1 and the normal quantile this is Wilson 1927.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist, fmean

CONFIDENCE = 0.95


def interval(scores: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return (low, high) for the mean that independent scores in [0, 1] were drawn around."""
    n = len(scores)
    if n < 2:
        return 0.0, 1.0
    mean = fmean(scores)
    largest = mean * (1.0 - mean)
    variance = math.fsum((x - mean) ** 2 for x in scores) / (n - 1)
    share = min(1.0, max(1.0 / n, variance / largest)) if largest > 0.0 else 1.0
    width = student_quantile(0.5 + confidence / 2.0, n - 1) ** 2 * share / n
    middle = (mean + width / 2.0) / (1.0 + width)
    reach = math.sqrt(width * largest + width * width / 4.0) / (1.0 + width)
    return max(0.0, min(mean, middle - reach)), min(1.0, max(mean, middle + reach))  # rounding must not exclude it


def student_quantile(p: float, freedom: int) -> float:
    """Return t with P(T ≤ t) = p for Student's distribution with so many degrees of freedom.

    One and two are closed; from three on an expansion around the normal quantile (Abramowitz and Stegun 26.7.5), within
    0.5 % of the exact one at three degrees and ever closer after.
    """
    if freedom == 1:
        return math.tan(math.pi * (p - 0.5))
    if freedom == 2:
        return (2.0 * p - 1.0) * math.sqrt(2.0 / (4.0 * p * (1.0 - p)))
    z, v = NormalDist().inv_cdf(p), float(freedom)
    terms = (
        z,
        (z**3 + z) / 4.0,
        (5.0 * z**5 + 16.0 * z**3 + 3.0 * z) / 96.0,
        (3.0 * z**7 + 19.0 * z**5 + 17.0 * z**3 - 15.0 * z) / 384.0,
        (79.0 * z**9 + 776.0 * z**7 + 1482.0 * z**5 - 1920.0 * z**3 - 945.0 * z) / 92160.0,
    )
    return sum(term / v**power for power, term in enumerate(terms))
