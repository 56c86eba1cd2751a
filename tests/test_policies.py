"""Noise, forced visits, temperature, lower bounds, the regularised policy and playout caps, against theory."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

import anabranch as ab
from anabranch.errors import UsageError
from anabranch.game.random import MASK, Random, key_of
from anabranch.play.search_agent import sampled
from anabranch.search.maths import formulas, policies
from anabranch.search.settings.config import PlayoutCap, RootNoise

PUCT = ab.Puct()
weights_of_choices = st.lists(st.floats(1e-3, 1.0), min_size=2, max_size=9)


def drawn(alpha, size, count):
    random = Random(key_of((7, size)))
    return np.array([policies.dirichlet(alpha, size, random) for _ in range(count)])


# Dirichlet noise


@pytest.mark.parametrize("alpha", [1e-3, 0.03, 0.3, 1.0, 2.5, 100.0])
def test_dirichlet_has_the_mean_variance_and_covariance_of_theory(alpha):
    """Mean 1/n, variance (n − 1)/(n²(nα + 1)), covariance −1/(n²(nα + 1)), each within 5 standard errors."""
    size, count = 4, 2000
    draws = drawn(alpha, size, count)
    spread = (size - 1) / (size**2 * (size * alpha + 1))
    assert np.abs(draws.mean(axis=0) - 1 / size).max() < 5 * math.sqrt(spread / count)
    squares = (draws - 1 / size) ** 2
    assert np.all(np.abs(squares.mean(axis=0) - spread) < 5 * squares.std(axis=0) / math.sqrt(count))
    products = (draws[:, 0] - 1 / size) * (draws[:, 1] - 1 / size)
    assert abs(products.mean() + spread / (size - 1)) < 5 * products.std() / math.sqrt(count)


@pytest.mark.parametrize(("alpha", "size"), [(0.03, 5), (0.3, 3), (1.0, 2), (10.83 / 7, 7), (100.0, 4)])
def test_dirichlet_marginals_are_beta(alpha, size):
    """Every component of Dir(α, …, α) is Beta(α, (n − 1)·α): Kolmogorov and Smirnov do not object."""
    draws = drawn(alpha, size, 1500)
    for component in (0, size - 1):
        assert scipy.stats.kstest(draws[:, component], scipy.stats.beta(alpha, (size - 1) * alpha).cdf).pvalue > 0.01


def test_gamma_logarithms_have_their_distribution_even_where_the_number_is_no_double():
    """The logarithm of G(α) has density e^{αy − e^y}/Γ(α), which scipy calls loggamma; at α = .001 most G underflow."""
    for alpha in (1e-3, 0.5, 1.0, 3.0):
        random = Random(key_of((3,)))
        logarithms = [policies.log_gamma_draw(alpha, random) for _ in range(2000)]
        assert scipy.stats.kstest(logarithms, scipy.stats.loggamma(alpha).cdf).pvalue > 0.01


@pytest.mark.parametrize("alpha", [1e-9, 1e-3, 1.0, 100.0, 1e12])
def test_dirichlet_is_a_distribution_at_every_alpha(alpha):
    draws = drawn(alpha, 30, 100)
    assert np.isfinite(draws).all()
    assert (draws >= 0).all()
    np.testing.assert_allclose(draws.sum(axis=1), 1.0, atol=1e-14)
    assert policies.dirichlet(alpha, 1, Random(1)) == [1.0]
    if alpha == 1e-9:  # all on one choice
        assert (draws.max(axis=1) > 1 - 1e-9).all()
    if alpha == 1e12:
        assert np.abs(draws - 1 / 30).max() < 1e-6


@pytest.mark.parametrize("alpha", [0.0, -1.0, math.nan, math.inf])
def test_dirichlet_refuses_what_is_no_alpha(alpha):
    with pytest.raises(UsageError, match="alpha must be in"):
        policies.dirichlet(alpha, 3, Random(0))


def test_noise_keeps_its_share_of_the_prior():
    """(1 − x)·P + x·D is at least (1 − x)·P everywhere, sums to 1, and on average is (1 − x)·P + x/n."""
    prior = formulas.stored_prior([0.7, 0.2, 0.1])
    random = Random(5)
    noisy = np.array([policies.noised(prior, RootNoise(weight=0.25), random) for _ in range(500)])
    assert (noisy > 0.75 * np.array(prior) - 1e-6).all()
    np.testing.assert_allclose(noisy.sum(axis=1), 1.0, atol=1e-6)
    np.testing.assert_allclose(noisy.mean(axis=0), 0.75 * np.array(prior) + 0.25 / 3, atol=0.01)
    assert policies.noised(prior, RootNoise(weight=0.0), random) == prior
    assert noisy.tolist() == np.float32(noisy).tolist(), "as nodes store priors"


def test_alpha_is_given_or_total_shared_among_the_choices():
    prior = formulas.stored_prior([0.1] * 10)
    by_total = policies.noised(prior, RootNoise(total=3.0), Random(9))
    assert by_total == policies.noised(prior, RootNoise(alpha=0.3), Random(9))
    assert by_total != policies.noised(prior, RootNoise(alpha=0.5), Random(9))


# Forced playouts


def test_forced_visits_by_hand():
    """√(2·P·ΣN): of 200 visits a choice with prior .01 must have 2, one with prior .25 must have 10."""
    assert policies.forced_visits([0.01, 0.25, 0.0], 200.0, 2.0) == [2.0, 10.0, 0.0]


def test_pruning_by_hand():
    """PUCT without growth, c = 1 and ε = 0; S = 100, so the bonus is 10·P/(1 + n).

    a*: .5 + 10·.5/(1 + 79) = .5625. b, worth .1: .1 + 10·.2/(1 + n) < .5625 from n = 4 on (.5; at n = 3 .6), and as
    many as ⌈√(2·.2·100)⌉ = 7 of its 10 may go: 4 remain. c, worth .55: .55 + 3/(1 + n) is never below .5625 with its
    10, so it keeps all. d, worth −2, has one visit and is better off with none: 0 remain.
    """
    puct = ab.Puct(c_init=1.0, c_log=0.0, epsilon=0.0)
    visits = [79, 10, 10, 1]
    kept = policies.pruned_visits(visits, [0.5, 0.1, 0.55, -2.0], [0.5, 0.2, 0.3, 0.001], puct=puct, k=2.0)
    assert kept == [79, 4, 10, 0]


def test_a_choice_reduced_to_one_visit_is_dropped():
    """Worth −1.5: with one visit −1.5 + 10·.3/2 = 0 < .5625, with none 1.5: one would be left, and it goes too."""
    puct = ab.Puct(c_init=1.0, c_log=0.0, epsilon=0.0)
    values, prior = [0.5, -1.5], [0.5, 0.3]
    assert policies.pruned_visits([79, 21], values, prior, puct=puct, k=1000.0) == [79, 0]
    assert policies.pruned_visits([99, 1], values, prior, puct=puct, k=1000.0) == [99, 1], "PUCT wanted that one"


roots = st.lists(
    st.tuples(st.integers(0, 400), st.floats(-1.0, 1.0), st.floats(1e-3, 1.0)), min_size=2, max_size=8
).filter(lambda rows: any(n for n, _, _ in rows))


@given(rows=roots, k=st.floats(0.0, 20.0), more=st.floats(0.0, 20.0))
@settings(max_examples=200, deadline=None)
def test_laws_of_pruning(rows, k, more):
    """The most visited keeps all; nobody gains; k = 0 takes nothing; a larger k never leaves more.

    What is taken was forced at most, up to the last visit; and what is left scores below a* unless it kept everything.
    """
    visits, values, weights = (list(column) for column in zip(*rows, strict=True))
    prior = formulas.normalised(weights)
    kept = policies.pruned_visits(visits, values, prior, puct=PUCT, k=k)
    best = visits.index(max(visits))
    assert kept[best] == visits[best]
    assert all(0 <= left <= n for left, n in zip(kept, visits, strict=True))
    assert policies.pruned_visits(visits, values, prior, puct=PUCT, k=0.0) == visits
    fewer = policies.pruned_visits(visits, values, prior, puct=PUCT, k=k + more)
    assert all(a <= b for a, b in zip(fewer, kept, strict=True))
    forced = policies.forced_visits(prior, sum(visits), k)
    assert all(n - left <= math.ceil(f) + 1 for n, left, f in zip(visits, kept, forced, strict=True))
    c = formulas.puct_weight(sum(visits), c_init=1.25, c_log=1.0, c_base=19652.0, c_off=1.0)
    factor = c * math.sqrt(sum(visits) + 1.0)
    score = [x + factor * p / (1 + n) for x, p, n in zip(values, prior, kept, strict=True)]
    assert all(score[a] < score[best] for a, left in enumerate(kept) if a != best and 1 < left < visits[a]), (
        "a score that reaches the best keeps its visits"
    )


def test_pruning_undoes_forcing_on_a_bandit():
    """A bandit searched with forced playouts and pruned: the bad choices' targets are those of the search without."""
    values, prior = [0.5, 0.0, -0.5, -0.9], [0.25] * 4

    def searched(k):
        visits = [0] * 4
        for _ in range(600):
            total = sum(visits)
            scores = formulas.puct_scores(
                values, prior, visits, c=policies.puct_factor(total, PUCT) / math.sqrt(total + 1.0), epsilon=1.0
            )
            forced = policies.forced_visits(prior, total, k)
            short = [a for a in range(4) if visits[a] < forced[a]]
            visits[short[0] if short else formulas.argmax(scores)] += 1
        return visits

    free, forced = searched(0.0), searched(2.0)
    assert forced[3] == math.ceil(math.sqrt(2 * 0.25 * 600)) > free[3]
    kept = policies.pruned_visits(forced, values, prior, puct=PUCT, k=2.0)
    assert all(abs(ours - theirs) <= 1 for ours, theirs in zip(kept[1:], free[1:], strict=True))


def test_first_play_by_hand():
    """Below a parent worth .5 where a quarter of the prior was tried: .5 − .2·√.25 = .4, and so on."""
    worth = {
        ab.FirstPlay.reduced(0.2): 0.4,
        ab.FirstPlay.parent_minus(0.1): 0.4,
        ab.FirstPlay.parent(): 0.5,
        ab.FirstPlay.constant(0.3): 0.3,
        ab.FirstPlay.lowest(): -1.0,
    }
    for rule, expected in worth.items():
        assert formulas.first_play(rule, parent=0.5, tried=0.25, lowest=-1.0) == pytest.approx(expected), rule


# Temperature


@given(weights=weights_of_choices, temperature=st.floats(1e-300, 1e300))
@settings(max_examples=100, deadline=None)
def test_laws_of_temperature(weights, temperature):
    """A distribution in the order of the given one; T = 1 changes nothing; T → 0 the largest, T → ∞ all alike."""
    policy = formulas.normalised(weights)
    found = policies.tempered(policy, temperature)
    assert math.isclose(sum(found), 1.0, abs_tol=1e-12)
    order = sorted(range(len(policy)), key=policy.__getitem__)
    assert all(found[a] <= found[b] for a, b in itertools.pairwise(order))
    np.testing.assert_allclose(policies.tempered(policy, 1.0), policy, rtol=1e-12)
    assert policies.tempered(policy, 0.0).index(1.0) == policy.index(max(policy))
    np.testing.assert_allclose(policies.tempered(policy, 1e300), [1 / len(policy)] * len(policy))


def test_temperature_by_hand():
    """T = ½ squares: (1, 2, 1)/4 becomes (1, 4, 1)/6. What is 0 stays 0 even where T is infinite."""
    np.testing.assert_allclose(policies.tempered([0.25, 0.5, 0.25], 0.5), [1 / 6, 4 / 6, 1 / 6])
    assert policies.tempered([0.5, 0.0, 0.5], math.inf) == [0.5, 0.0, 0.5]
    assert policies.tempered([0.4, 0.4, 0.2], 0.0) == [1.0, 0.0, 0.0]
    np.testing.assert_allclose(policies.tempered([1e-200, 1e-202], 0.01), [1.0, 1e-200], rtol=1e-12)  # no underflow
    assert policies.tempered([0.4, 0.4, 0.2], 5e-324) == [0.5, 0.5, 0.0]
    for wrong in (-1.0, math.nan):
        with pytest.raises(UsageError, match="temperature"):
            policies.tempered([1.0], wrong)


def test_agents_draw_from_the_tempered_policy():
    """Frequencies of drawn moves pass a chi-squared test, and what has no probability is never drawn."""
    chances, random = [0.1, 0.0, 0.6, 0.3, 0.0], Random(11)
    counts = np.bincount([sampled(chances, 2.0, random) for _ in range(3000)], minlength=5)
    assert counts[[1, 4]].tolist() == [0, 0]
    expected = 3000 * np.array(policies.tempered(chances, 2.0))
    assert scipy.stats.chisquare(counts[[0, 2, 3]], expected[[0, 2, 3]]).pvalue > 0.01


# Lower bounds


def test_lower_bounds_by_hand():
    """.5 − 2·√(.25/100) = .4; .6 − 2·√(.25/4) = .1; nothing visited, nothing known."""
    bounds = policies.lower_bounds([0.5, 0.6, 0.9], [0.25, 0.25, 0.0], [100, 4, 0], 2.0)
    assert bounds == pytest.approx([0.4, 0.1, -math.inf])


def test_the_most_secure_choice_needs_visits():
    bounds, visits = [0.1, 0.3, 0.9, 0.3], [100.0, 20.0, 5.0, 30.0]
    assert policies.most_secure(bounds, visits, share=0.1, least=3.0) == 1, "the first of equals"
    assert policies.most_secure(bounds, visits, share=0.25, least=3.0) == 3
    assert policies.most_secure(bounds, visits, share=0.0, least=3.0) == 2
    assert policies.most_secure(bounds, visits, share=0.0, least=6.0) == 1
    assert policies.most_secure(bounds, visits, share=1.0, least=1000.0) == 0, "the most visited is left"


def test_a_promoted_choice_comes_first_and_others_keep_their_proportions():
    assert policies.promoted([4.0, 2.0, 1.0], 1) == [4 / 10, 5 / 10, 1 / 10]
    assert policies.promoted([3.0, 3.0], 1) == [3 / 7, 4 / 7], "ahead of its equal, too"
    assert policies.promoted([4.0, 2.0], 0) == [4 / 6, 2 / 6]
    assert policies.promoted([4.0], 0) == [1.0]


# The regularised policy


@given(
    rows=st.lists(st.tuples(st.floats(-1.0, 1.0), st.floats(1e-6, 1.0)), min_size=1, max_size=12),
    exponent=st.floats(-12.0, 6.0),
)
@settings(max_examples=300, deadline=None)
def test_the_regularised_policy_meets_its_optimality_conditions(rows, exponent):
    """Karush, Kuhn and Tucker: x(a) + λ·P(a)/π(a) is one number for all a, within [max(x + λP), max x + λ]; Σπ = 1."""
    values, weights = (list(column) for column in zip(*rows, strict=True))
    prior, weight = formulas.normalised(weights), 10.0**exponent
    found = policies.regularised(values, prior, weight)
    assert abs(math.fsum(found) - 1.0) < 1e-12
    multipliers = [x + weight * p / chance for x, p, chance in zip(values, prior, found, strict=True)]
    tolerance = 1e-12 * max(1.0, weight)
    assert max(multipliers) - min(multipliers) < tolerance
    assert max(x + weight * p for x, p in zip(values, prior, strict=True)) < multipliers[0] + tolerance
    assert multipliers[0] < max(values) + weight + tolerance


def test_no_other_policy_has_a_larger_objective():
    """Σ π·x − λ·KL(P‖π) at the solution beats a thousand policies drawn around it and anywhere."""
    values, prior, weight = [0.3, -0.2, 0.5, 0.1], [0.4, 0.3, 0.1, 0.2], 0.2

    def objective(policy):
        return sum(p * x - weight * mass * math.log(mass / p) for p, x, mass in zip(policy, values, prior, strict=True))

    found = policies.regularised(values, prior, weight)
    dice = np.random.default_rng(0)
    others = [*dice.dirichlet([1.0] * 4, 500), *(dice.dirichlet(300 * np.array(found)) for _ in range(500))]
    assert objective(found) > max(objective(other) for other in others)


def test_the_regularised_policy_in_its_limits():
    values, prior = [0.3, 0.5, 0.5, -1.0], [0.1, 0.2, 0.3, 0.4]
    for weight in (1e8, 1e300, math.inf):
        np.testing.assert_allclose(policies.regularised(values, prior, weight), prior, rtol=1e-7)
    for weight in (1e-9, 1e-300, 5e-324, 0.0):  # the best share by their priors
        np.testing.assert_allclose(policies.regularised(values, prior, weight), [0.0, 0.4, 0.6, 0.0], atol=1e-7)
    assert policies.regularised([0.7], [1.0], 0.3) == [1.0]
    np.testing.assert_allclose(policies.regularised([0.5] * 4, prior, 0.1), prior, rtol=1e-15)
    for wrong in (([0.1], -1.0), ([0.1], math.nan), ([0.0], 1.0)):
        with pytest.raises(UsageError, match="positive"):
            policies.regularised([0.5], *wrong)


def test_two_choices_solved_by_hand():
    """λ = 1, P = ½ each, x = 0 and ½: ½/α + ½/(α − ½) = 1 has α = (3 + √5)/4, and π = ½/α, ½/(α − ½)."""
    alpha = (3 + math.sqrt(5)) / 4
    found = policies.regularised([0.0, 0.5], [0.5, 0.5], 1.0)
    np.testing.assert_allclose(found, [0.5 / alpha, 0.5 / (alpha - 0.5)], rtol=1e-15)


@given(rows=roots)
@settings(max_examples=50, deadline=None)
def test_puct_scores_are_values_plus_the_weighed_ratio_of_prior_and_visits(rows):
    """Grill et al. 2020: PUCT's score is x + λ·P/π̂ with π̂ = (1 + N)/(|A| + S), which defines λ."""
    visits, values, weights = (list(column) for column in zip(*rows, strict=True))
    prior, total = formulas.normalised(weights), sum(visits)
    c = formulas.puct_weight(total, c_init=1.25, c_log=1.0, c_base=19652.0, c_off=1.0)
    weight = policies.regularisation(total, len(rows), PUCT)
    ratios = [p * (len(rows) + total) / (1 + n) for p, n in zip(prior, visits, strict=True)]
    scores = [x + weight * ratio for x, ratio in zip(values, ratios, strict=True)]
    np.testing.assert_allclose(scores, formulas.puct_scores(values, prior, visits, c=c, epsilon=1.0), rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_visits_of_puct_approach_the_regularised_policy(seed):
    """On a bandit with known values, smoothed visits stay a few visits from the solution, and so converge to it."""
    dice = np.random.default_rng(seed)
    size = int(dice.integers(2, 7))
    values, prior = dice.uniform(-1, 1, size).tolist(), dice.dirichlet([1.0] * size).tolist()
    visits = [0] * size
    for total in range(4000):
        factor = policies.puct_factor(total, PUCT)
        visits[formulas.argmax([x + factor * p / (1 + n) for x, p, n in zip(values, prior, visits, strict=True)])] += 1
        if total + 1 in (250, 1000, 4000):
            weight = policies.regularisation(total + 1, size, PUCT)
            smoothed = (1 + np.array(visits)) / (size + total + 1)
            off = np.abs(smoothed - policies.regularised(values, prior, weight)).max()
            assert off < 2 * size / (total + 1)


def test_noisy_values_lead_puct_to_the_regularised_policy_too():
    """Payoffs of 0 and 1 by chance: after 3000 tries visits are close to the policy solved from what was seen."""
    chances, prior, random = [0.3, 0.6, 0.5], [0.5, 0.2, 0.3], Random(4)
    sums, visits = [0.0] * 3, [0] * 3
    puct = ab.Puct(c_init=5.0)
    for total in range(3000):
        values = [s / n if n else 0.5 for s, n in zip(sums, visits, strict=True)]
        factor = policies.puct_factor(total, puct)
        choice = formulas.argmax([x + factor * p / (1 + n) for x, p, n in zip(values, prior, visits, strict=True)])
        visits[choice] += 1
        sums[choice] += ab.uniform(random) < chances[choice]
    values = [s / n for s, n in zip(sums, visits, strict=True)]
    expected = policies.regularised(values, prior, policies.regularisation(3000.0, 3, puct))
    assert np.abs(np.array(visits) / 3000 - expected).max() < 0.05
    assert np.abs(np.array(visits) / 3000 - prior).max() > 0.3, "which the prior is not"


# Playout cap


def test_a_playout_cap_searches_the_asked_share_in_full():
    cap, random = PlayoutCap(full=600, fast=100, chance=0.25), Random(8)
    drawn_caps = [policies.capped(cap, random.next()) for _ in range(2000)]
    assert set(drawn_caps) == {(600, True), (100, False)}
    assert scipy.stats.binomtest(sum(full for _, full in drawn_caps), 2000, 0.25).pvalue > 0.01
    assert policies.capped(cap, 0) == (600, True)
    assert policies.capped(cap, MASK) == (100, False)
    assert policies.capped(PlayoutCap(full=6, fast=1, chance=1.0), MASK) == (6, True)
    assert policies.capped(PlayoutCap(full=6, fast=1, chance=0.0), 0) == (1, False)
