"""The formulas of the search, each by a limit, a symmetry, a theorem or a case done by hand: never by itself again."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.search.maths import formulas

numbers = st.floats(-10, 10, allow_subnormal=False)
lists = st.lists(numbers, min_size=1, max_size=8)
weights = st.lists(st.floats(0, 10, allow_subnormal=False), min_size=1, max_size=8)
shares = st.floats(0.01, 1.0)


def same(one, other):
    return one == pytest.approx(other, abs=1e-12)


# Sums and priors


def test_sums_round_once_per_number():
    """Ten tenths added in order miss 1 by one bit, which a compensated sum would hide."""
    assert formulas.total_of([0.1] * 10) == 0.9999999999999999
    assert formulas.total_of([1e16, 1.0, -1e16]) == 0.0
    assert formulas.total_of([]) == 0.0


def test_single_is_single_precision():
    """0.1 has 24 significant bits in single precision: 13421773 / 2^27."""
    assert formulas.single(0.1) == 13421773 / 2**27
    assert formulas.single(0.5) == 0.5


@given(lists, numbers)
def test_softmax_is_a_distribution_that_ignores_a_shift(logits, shift):
    chances = formulas.softmax(logits)
    assert sum(chances) == pytest.approx(1.0)
    assert min(chances) > 0.0
    assert same(formulas.softmax([logit + shift for logit in logits]), chances)


def test_softmax_by_hand():
    assert same(formulas.softmax([math.log(1), math.log(2), math.log(5)]), [1 / 8, 2 / 8, 5 / 8])
    assert formulas.softmax([-math.inf, 1000.0]) == [0.0, 1.0]  # no overflow, masked ids get nothing


@given(weights.filter(lambda given: sum(given) > 0.1))
def test_stored_priors_sum_to_one_and_leave_nothing_out(given_weights):
    stored = formulas.stored_prior([weight / sum(given_weights) for weight in given_weights])
    assert sum(stored) == pytest.approx(1.0, abs=1e-6)
    assert min(stored) >= 0.999 * formulas.PRIOR_FLOOR
    assert all(p == float(np.float32(p)) for p in stored)


def test_the_floor_of_priors_by_hand():
    """A certain choice beside three impossible ones keeps 1 / (1 + 3·10⁻⁶), they get a millionth of that each."""
    stored = formulas.stored_prior([0.0, 1.0, 0.0, 0.0])
    assert stored[1] == pytest.approx(1 / 1.000003, rel=1e-7)
    assert stored[0] == stored[2] == stored[3] == pytest.approx(1e-6 / 1.000003, rel=1e-6)
    assert formulas.stored_prior([0.25, 0.75]) == [0.25, 0.75]  # nothing to raise, nothing changes


# PUCT and UCB1


def test_the_weight_of_the_bonus_starts_at_c_init_and_grows_by_one_per_e_fold():
    settings = {"c_init": 1.25, "c_log": 1.0, "c_base": 19652.0, "c_off": 1.0}
    assert formulas.puct_weight(0, **settings) == pytest.approx(1.25, abs=1e-4)
    assert formulas.puct_weight(19652.0 * (math.e - 1) - 1, **settings) == pytest.approx(2.25, abs=1e-12)
    assert formulas.puct_weight(10**9, **{**settings, "c_log": 0.0}) == 1.25


def test_puct_by_hand():
    """Nine visits in all, c = 2, ε = 0: bonuses are 2·P·3/(1 + N)."""
    scores = formulas.puct_scores([0.5, -1.0, 0.0], [0.5, 0.25, 0.25], [5, 4, 0], c=2.0, epsilon=0.0)
    assert same(scores, [0.5 + 0.5, -1.0 + 0.3, 0.0 + 1.5])


def test_without_epsilon_the_first_choice_ignores_the_prior_and_with_it_does_not():
    assert formulas.puct_scores([0.0, 0.0], [0.1, 0.9], [0, 0], c=1.0, epsilon=0.0) == [0.0, 0.0]
    assert formulas.puct_scores([0.0, 0.0], [0.1, 0.9], [0, 0], c=1.0, epsilon=1.0) == [0.1, 0.9]


def test_puct_visits_follow_the_prior_where_values_are_equal():
    """With equal values the choice with the largest P/(1 + N) is next, so visits stay within one of n·P."""
    prior, visits = [0.5, 0.3, 0.2], [0, 0, 0]
    for _ in range(1000):
        visits[formulas.argmax(formulas.puct_scores([0.0] * 3, prior, visits, c=1.0, epsilon=1.0))] += 1
    assert all(abs(n - 1000 * p) <= 1.5 for n, p in zip(visits, prior, strict=True))


def test_ucb1_tries_everything_first_then_adds_its_bonus():
    assert formulas.ucb1_scores([0.9, 0.0], [3, 0], c=1.0)[1] == math.inf
    assert formulas.ucb1_scores([0.0, 0.0], [0, 0], c=1.0) == [math.inf, math.inf]
    # S = e³ visits, of which one choice has 3: the bonus is c·√(3/3).
    assert same(formulas.ucb1_scores([0.25, 0.0], [3, math.exp(3) - 3], c=2.0)[0], 2.25)
    assert formulas.ucb1_scores([0.25], [1], c=2.0) == [0.25]  # ln 1 = 0


def test_ucb1_regret_is_logarithmic():
    """Without noise the scores balance: the worse of two choices, Δ below, has ln n / (Δ + √(ln n / n))² visits."""
    for n in (100, 1000, 5000):
        visits = [0, 0]
        for _ in range(n):
            visits[formulas.argmax(formulas.ucb1_scores([0.0, -0.5], visits, c=1.0))] += 1
        logarithm = math.log(n)
        assert visits[1] == pytest.approx(logarithm / (0.5 + math.sqrt(logarithm / visits[0])) ** 2, abs=1.0)


# What a choice counts as worth


def test_a_choice_is_worth_its_value_once_tried_and_its_first_play_value_before():
    plain = {"w0": 0.0, "loss": 1.0, "lowest": -1.0}
    assert formulas.choice_value(0.3, 0.7, 5, 0, **plain) == 0.7
    assert formulas.choice_value(0.3, 0.7, 0, 0, **plain) == 0.3


def test_visits_in_flight_count_as_losses():
    """Three visits worth 1 and one in flight that counts as −1 are worth (3 − 1)/4; an untried one in flight −1."""
    assert formulas.choice_value(0.0, 1.0, 3, 1, w0=0.0, loss=1.0, lowest=-1.0) == 0.5
    assert formulas.choice_value(0.9, 0.0, 0, 2, w0=0.0, loss=1.0, lowest=-1.0) == -1.0


def test_visits_in_flight_that_only_count_leave_the_value():
    assert formulas.choice_value(0.0, 1.0, 3, 7, w0=0.0, loss=0.0, lowest=-1.0) == 1.0
    assert formulas.choice_value(0.25, 0.0, 0, 7, w0=0.0, loss=0.0, lowest=-1.0) == 0.25


def test_first_play_weighs_like_visits():
    """One visit's weight of first play 0 beside three visits worth 1 gives 3/4; with a loss in flight (3 − 1)/5."""
    assert formulas.choice_value(0.0, 1.0, 3, 0, w0=1.0, loss=1.0, lowest=-1.0) == 0.75
    assert same(formulas.choice_value(0.0, 1.0, 3, 1, w0=1.0, loss=1.0, lowest=-1.0), 0.4)
    assert formulas.choice_value(0.3, 0.0, 0, 0, w0=1.0, loss=1.0, lowest=-1.0) == 0.3


@given(st.floats(-1, 1), st.floats(-1, 1), st.integers(0, 50), st.integers(0, 50), st.floats(0, 3))
def test_a_choice_is_worth_something_between_its_parts(first, value, visits, in_flight, w0):
    worth = formulas.choice_value(first, value, visits, in_flight, w0=w0, loss=1.0, lowest=-1.0)
    assert min(first, value, -1.0) - 1e-12 <= worth <= max(first, value) + 1e-12


# Scales


@given(numbers, numbers)
def test_scales_map_ends_to_ends(low, high):
    low, high = min(low, high), max(low, high) + 0.5
    assert same([formulas.to_unit(x, low, high) for x in (low, (low + high) / 2, high)], [0.0, 0.5, 1.0])
    assert same([formulas.to_signed(x, low, high) for x in (low, (low + high) / 2, high)], [-1.0, 0.0, 1.0])


def test_scales_do_not_clip_and_give_nothing_where_the_interval_is_a_point():
    assert formulas.to_unit(3.0, 0.0, 2.0) == 1.5
    assert formulas.to_signed(3.0, 0.0, 2.0) == 2.0
    assert formulas.to_unit(3.0, 1.0, 1.0) == formulas.to_signed(3.0, 1.0, 1.0) == 0.0
    assert formulas.to_unit(3.0, math.inf, -math.inf) == 0.0  # nothing seen yet


# Choosing and drawing


def test_the_first_of_equals_wins():
    assert formulas.argmax([1.0, 3.0, 3.0, 2.0]) == 1
    assert formulas.argmax([-math.inf]) == 0


def test_draws_at_the_edges():
    """The cumulative probability must exceed the threshold; rounding never leaves a draw without an outcome."""
    halves = [0.5, 0.5]
    assert [formulas.first_above(x, halves) for x in (0.0, 0.5 - 2**-53, 0.5, 1 - 2**-53)] == [0, 0, 1, 1]
    assert formulas.first_above(0.0, [0.0, 1.0]) == 1  # what is impossible is not drawn
    tenths = [0.1] * 10  # their sum is below 1 − 2⁻⁵⁴
    assert formulas.first_above(1 - 2**-53, tenths) == 9
    assert formulas.first_above(0.9, [0.3]) == 0


@given(weights.filter(lambda given: sum(given) > 0.1), st.floats(0, 1, exclude_max=True))
def test_a_draw_lands_in_its_own_interval(given_weights, threshold):
    chances = formulas.normalised(given_weights)
    drawn = formulas.first_above(threshold, chances)
    assert formulas.total_of(chances[:drawn]) <= threshold
    assert formulas.total_of(chances[: drawn + 1]) > threshold or drawn == len(chances) - 1


@pytest.mark.parametrize("offset", [0.0, 0.25, 0.999])
@pytest.mark.parametrize("count", [1, 10, 100, 1000])
def test_spread_points_cover_evenly(offset, count):
    """Three-distance theorem: n multiples of an irrational leave gaps of at most three lengths.

    For the golden ratio φ the largest is at most φ³/√5 = 1.894 times the mean, 1/n. So an interval holds its share of
    the points to within 1.5, where the count of 1000 independent points would be off by 16.
    """
    points = sorted(formulas.spread_point(offset, draw) for draw in range(1, count + 1))
    assert 0.0 <= points[0] <= points[-1] < 1.0
    gaps = np.diff([*points, points[0] + 1.0])
    assert len({round(gap, 9) for gap in gaps}) <= 3
    assert gaps.max() <= 1.895 / count
    for end in np.linspace(0.05, 1.0, 20):
        assert abs(np.searchsorted(points, end) - end * count) <= 1.5


def test_each_spread_point_alone_is_uniform():
    """Over uniform offsets the k-th point is uniform for every k, so each draw has the right distribution."""
    offsets = (np.arange(1000) + 0.5) / 1000
    for draw in (1, 7, 12345):
        points = sorted(formulas.spread_point(offset, draw) for offset in offsets)
        assert np.abs(points - offsets).max() < 0.0011


# Averaging selectors


@given(weights, shares)
def test_exploration_leaves_a_distribution_in_which_nothing_is_impossible(given_weights, exploration):
    strategy = formulas.normalised(given_weights)
    played = formulas.with_exploration(strategy, exploration)
    assert sum(played) == pytest.approx(1.0)
    assert min(played) >= exploration / len(strategy) - 1e-12
    assert same(formulas.with_exploration(strategy, 1.0), [1 / len(strategy)] * len(strategy))


def test_normalising_nothing_is_uniform():
    assert formulas.normalised([0.0, 0.0, 0.0, 0.0]) == [0.25] * 4
    assert formulas.normalised([3.0, 1.0]) == [0.75, 0.25]


@given(st.lists(st.tuples(numbers, st.floats(0, 10)), min_size=1, max_size=6))
def test_regrets_before_clipping_cancel_under_the_strategy(rows):
    """Σ σ(a)·(u(a) − Σσu) = 0: no strategy regrets itself. With large regrets nothing is clipped."""
    payoffs, regrets = [u for u, _ in rows], [1000.0 + r for _, r in rows]
    strategy = formulas.normalised(regrets)
    updated = formulas.regret_update(regrets, payoffs, strategy)
    change = [after - before for after, before in zip(updated, regrets, strict=True)]
    assert sum(p * c for p, c in zip(strategy, change, strict=True)) == pytest.approx(0.0, abs=1e-9)


def test_regrets_never_fall_below_zero():
    assert formulas.regret_update([0.0, 0.5], [-2.0, 2.0], [0.5, 0.5]) == [0.0, 2.5]


def test_regret_matching_plus_solves_a_matrix_game():
    """Of [[2, −1], [−1, 1]] both play their first choice with 2/5; averages find it (Tammelin 2014)."""
    table = [[2.0, -1.0], [-1.0, 1.0]]
    regrets, sums = [[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]
    for t in range(1, 2001):
        rows, columns = (formulas.normalised(r) for r in regrets)
        mine = [sum(table[a][b] * columns[b] for b in range(2)) for a in range(2)]
        theirs = [-sum(table[a][b] * rows[a] for a in range(2)) for b in range(2)]
        regrets = [formulas.regret_update(regrets[0], mine, rows), formulas.regret_update(regrets[1], theirs, columns)]
        sums = [[s + t * p for s, p in zip(sums[i], (rows, columns)[i], strict=True)] for i in range(2)]
    assert formulas.normalised(sums[0])[0] == pytest.approx(0.4, abs=0.02)
    assert formulas.normalised(sums[1])[0] == pytest.approx(0.4, abs=0.02)


@given(lists, shares, numbers)
def test_exp3_likes_what_gained_and_ignores_what_all_gained(gains, exploration, shift):
    strategy = formulas.exp3_strategy(gains, exploration)
    assert formulas.argmax(strategy) in [i for i, p in enumerate(strategy) if p == max(strategy)]
    assert strategy[formulas.argmax(gains)] == max(strategy)
    assert same(formulas.exp3_strategy([gain + shift for gain in gains], exploration), strategy)


def test_exp3_by_hand():
    """Two choices, x = 1/2, gains 4·ln 3 apart: the better one is three times as likely."""
    assert same(formulas.exp3_strategy([4 * math.log(3), 0.0], 0.5), [0.75, 0.25])
    assert formulas.exp3_strategy([0.0] * 5, 0.3) == [0.2] * 5
