"""What is made of a root's numbers: noise on its prior, forced visits and their pruning, and policies to play by.

Pure functions under their equations (docs/model.md section 8), over the choices of one acting player; none knows a
graph. As in `formulas`, sums run in index order over Python floats. `move_rules` reads their arguments off a result.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from anabranch.errors import UsageError
from anabranch.game.random import Random, uniform, unit
from anabranch.search.maths import formulas
from anabranch.search.maths.formulas import Floats

if TYPE_CHECKING:
    from anabranch.search.settings.config import PlayoutCap, Puct, RootNoise

LEAST_ALPHA, LARGEST_ALPHA = 1e-9, 1e12


# Noise on the root's prior


def normal(random: Random) -> float:
    """Return a standard normal number: Marsaglia's polar method (1964), of whose two numbers one is used."""
    while True:
        x, y = 2.0 * uniform(random) - 1.0, 2.0 * uniform(random) - 1.0
        square = x * x + y * y
        if 0.0 < square < 1.0:
            return x * math.sqrt(-2.0 * math.log(square) / square)


def log_gamma_draw(alpha: float, random: Random) -> float:
    """Return the logarithm of a Gamma(α, 1) number: Marsaglia and Tsang 2000.

        G(α) = d·v,  v = (1 + x/√(9d))³,  d = α − 1/3,  x normal, accepted where ln u < x²/2 + d·(1 − v + ln v)
        G(α) = G(α + 1)·u^(1/α)      for α < 1

    In logarithms, because at α = .001 every third number is too small for a double.
    """
    boost = 0.0
    if alpha < 1.0:
        boost = math.log(1.0 - uniform(random)) / alpha  # 1 − u is in (0, 1], so this is finite
        alpha += 1.0
    d = alpha - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal(random)
        root = 1.0 + c * x
        if root <= 0.0:
            continue
        v = root * root * root
        logarithm = math.log(v)
        if math.log(1.0 - uniform(random)) < 0.5 * x * x + d * (1.0 - v + logarithm):
            return math.log(d) + logarithm + boost


def dirichlet(alpha: float, size: int, random: Random) -> list[float]:
    """Return a draw from the symmetric Dirichlet distribution: independent Gamma(α) numbers over their sum."""
    if not LEAST_ALPHA <= alpha <= LARGEST_ALPHA:
        raise UsageError(f"alpha must be in [{LEAST_ALPHA:g}, {LARGEST_ALPHA:g}], found {alpha!r}")
    return formulas.softmax([log_gamma_draw(alpha, random) for _ in range(size)])


def noised(prior: Floats, noise: RootNoise, random: Random) -> list[float]:
    """Return (1 − x)·P + x·Dir(α) as nodes store priors; α is given, or `total` shared among the choices."""
    alpha = noise.total / len(prior) if noise.alpha is None else noise.alpha
    drawn = dirichlet(alpha, len(prior), random)
    return formulas.stored_prior(
        [(1.0 - noise.weight) * p + noise.weight * d for p, d in zip(prior, drawn, strict=True)]
    )


# Forced playouts


def forced_visits(prior: Floats, total: float, k: float) -> list[float]:
    """Return √(k·P(a)·ΣN): a choice with fewer visits is visited next, whatever its score. Wu 2019, section 3.2."""
    return [formulas.forced_visits(p, total, k) for p in prior]


def pruned_visits(visits: Sequence[int], values: Floats, prior: Floats, *, puct: Puct, k: float) -> list[int]:
    """Return the visits PUCT would have made by itself, for targets: Wu 2019, section 3.2.

    `values` are x(a), scaled as the selector sees them; those of unvisited choices are not read. With S = ΣN and the
    most visited choice a* held as they are, every other choice keeps the fewest visits n(a) with

        n(a) ≥ N(a) − ⌈√(k·P(a)·S)⌉      and      x(a) + c·P(a)·√(S + ε) / (1 + n(a)) < score(a*)

    or all of them where its score reaches that of a* anyway. A choice is forced while N < √(k·P·S), so the square root
    rounded up is the most that can have been forced. Those reduced to a single visit lose it too: it was only ever
    forced, and a target should not teach it.
    """
    total = float(sum(visits))
    best = formulas.argmax([float(n) for n in visits])
    factor = puct_factor(total, puct)
    limit = values[best] + factor * prior[best] / (1.0 + visits[best])
    kept = list(visits)
    for choice, forced in enumerate(forced_visits(prior, total, k)):
        if choice == best or visits[choice] == 0:
            continue
        x, bonus = values[choice], factor * prior[choice]
        # The score falls as visits grow, in floating point too, so the fewest are found by halving.
        low, high = max(0, visits[choice] - math.ceil(forced)), visits[choice]
        while low < high:
            middle = (low + high) // 2
            if x + bonus / (1.0 + middle) < limit:
                high = middle
            else:
                low = middle + 1
        kept[choice] = 0 if low == 1 < visits[choice] else low
    return kept


def puct_factor(visits: float, puct: Puct) -> float:
    """Return c·√(S + ε), by which PUCT multiplies P(a) / (1 + N(a))."""
    c = formulas.puct_weight(visits, c_init=puct.weight, c_log=puct.c_log, c_base=puct.c_base, c_off=puct.c_off)
    return c * math.sqrt(visits + puct.epsilon)


# Policies


def tempered(policy: Floats, temperature: float) -> list[float]:
    """Return p^(1/T) / Σ p^(1/T); at T = 0 the first of the largest has all.

    Every p is divided by the largest first, lest a small T underflow. What has no probability gets none at any T.
    """
    if not temperature >= 0.0:
        raise UsageError(f"a temperature is at least 0, found {temperature!r}")
    if temperature == 0.0:
        best = formulas.argmax(policy)
        return [1.0 if index == best else 0.0 for index in range(len(policy))]
    most, power = max(policy), 1.0 / temperature
    return formulas.normalised([(p / most) ** power if p > 0.0 else 0.0 for p in policy])


def lower_bounds(values: Floats, variances: Floats, visits: Floats, z: float) -> list[float]:
    """Return q(a) − z·√(var(a) / N(a)), −∞ where nothing was visited."""
    return [
        q - z * math.sqrt(variance / n) if n > 0 else -math.inf
        for q, variance, n in zip(values, variances, visits, strict=True)
    ]


def most_secure(bounds: Floats, visits: Floats, *, share: float, least: float) -> int:
    """Return the choice with the largest lower bound among those visited often enough for one, the first of equals.

    Enough is `share` of the most visited choice's visits and at least `least`; the most visited itself always is. A
    choice seen once has shown no variance, which is not the same as having none.
    """
    best = formulas.argmax(visits)
    enough = max(least, share * visits[best])
    for choice, bound in enumerate(bounds):
        if visits[choice] >= enough and bound > bounds[best]:
            best = choice
    return best


def promoted(visits: Floats, choice: int) -> list[float]:
    """Return visits as a policy in which a choice counts as visited once more than any other, if it is not so yet."""
    most = max((n for other, n in enumerate(visits) if other != choice), default=0.0)
    raised = [max(n, most + 1.0) if index == choice else n for index, n in enumerate(visits)]
    return formulas.normalised(raised)


def regularisation(visits: float, choices: int, puct: Puct) -> float:
    """Return λ = c·√(S + ε) / (|A| + S), the weight of the prior that PUCT acts by after S visits.

    PUCT follows argmax x(a) + λ·P(a)/π̂(a) for π̂ = (1 + N) / (|A| + S), its visits smoothed: Grill et al. 2020, whose
    square root has no ε.
    """
    return puct_factor(visits, puct) / (choices + visits)


def regularised(values: Floats, prior: Floats, weight: float) -> list[float]:
    """Return argmax over π of Σ π·x − λ·KL(P‖π), the policy that PUCT's visits approach: Grill et al. 2020.

        π(a) = λ·P(a) / (α − x(a)),      α such that Σ π = 1,      max(x + λ·P) ≤ α ≤ max(x) + λ

    `weight` is λ. It is solved for s = (α − max x) / λ, so that nothing cancels where λ is small: Σ P / (s + h) falls
    and is convex, h = (max x − x) / λ, and Newton's steps from the lower end rise to the root without passing it.
    At λ = 0 the best choices share everything by their priors; every prior must be positive, as stored ones are.
    """
    if not (weight >= 0.0 and all(p > 0.0 for p in prior)):
        raise UsageError(f"the prior's weight must be at least 0 and every prior positive, found {weight!r}, {prior!r}")
    top = max(values)
    if weight == 0.0:
        return formulas.normalised([p if x == top else 0.0 for x, p in zip(values, prior, strict=True)])
    gaps = [(top - x) / weight for x in values]
    total = formulas.total_of(prior)
    shares = [p / total for p in prior]
    at = max(p - gap for p, gap in zip(shares, gaps, strict=True))
    while True:
        excess = formulas.total_of(p / (at + gap) for p, gap in zip(shares, gaps, strict=True)) - 1.0
        slope = formulas.total_of(p / ((at + gap) * (at + gap)) for p, gap in zip(shares, gaps, strict=True))
        following = at + excess / slope
        if not following > at:  # rounding ends the rise within a few units in the last place
            break
        at = following
    return formulas.normalised([p / (at + gap) for p, gap in zip(shares, gaps, strict=True)])


# Playout cap


def capped(cap: PlayoutCap, word: int) -> tuple[int, bool]:
    """Return how many simulations a turn gets, and whether it is searched in full, from 64 random bits: Wu 2019.

    Turns searched in full make targets; the others only play on. `unit(word) < chance` has that chance exactly.
    """
    full = unit(word) < cap.chance
    return (cap.full if full else cap.fast), full
