"""Ratings: exact where they can be worked out, and intervals that hold what they promise."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import pytest

from anabranch.learn.plackett_luce import ELO, PRIOR, Outcome, orders, ratings


def by_name(outcomes, anchor="a"):
    return {each.agent: each for each in ratings(outcomes, anchor)}


def test_two_players_have_the_logarithm_of_their_odds():
    """30 wins of 40 and the prior's draw: the strength is ln((30 + ½)/(10 + ½))."""
    games = [Outcome(("b", "a"), (1.0, 0.0) if n < 30 else (0.0, 1.0), n) for n in range(40)]
    found = by_name(games)
    assert found["b"].rating == pytest.approx(ELO * math.log((30 + PRIOR / 2) / (10 + PRIOR / 2)))
    assert found["a"].rating == found["a"].error == 0.0


def test_400_points_are_odds_of_ten():
    games = [Outcome(("b", "a"), (1.0, 0.0) if n % 11 else (0.0, 1.0), n) for n in range(11_000)]
    assert by_name(games)["b"].rating == pytest.approx(400, abs=1)


def test_who_sits_where_and_the_order_of_games_do_not_matter():
    draws = np.random.default_rng(0)
    games = [
        Outcome(tuple(draws.permutation(["a", "b", "c"])), tuple(draws.permutation([1.0, 0.0, -1.0])), n)
        for n in range(60)
    ]
    turned = [Outcome(game.agents[::-1], game.returns[::-1], game.pair) for game in reversed(games)]
    for name, each in by_name(games).items():
        assert by_name(turned)[name].rating == pytest.approx(each.rating, abs=1e-6)
        assert by_name(turned)[name].error == pytest.approx(each.error, abs=1e-6)


def test_shared_places_count_for_every_order():
    assert orders((1.0, 0.0, 0.0)) == [(0, 1, 2), (0, 2, 1)]
    assert len(orders((0.0, 0.0, 0.0))) == 6
    assert orders((-1.0, 1.0, 0.0)) == [(1, 2, 0)]
    drawn = [Outcome(("b", "a"), (0.0, 0.0), n) for n in range(20)]
    assert by_name(drawn)["b"].rating == pytest.approx(0.0, abs=1e-9)


def test_who_won_everything_has_a_finite_rating_and_a_wide_interval():
    games = [Outcome(("b", "a"), (1.0, 0.0), n) for n in range(20)]
    found = by_name(games)["b"]
    assert 400 < found.rating < 1000
    assert found.error > 200


def test_games_of_a_pair_that_always_agree_count_as_one():
    """The same results twice, as pairs: intervals as wide as for one game each, not narrower by √2."""
    draws = np.random.default_rng(1)
    results = [(1.0, 0.0) if draws.random() < 0.6 else (0.0, 1.0) for _ in range(400)]
    once = by_name([Outcome(("b", "a"), result, n) for n, result in enumerate(results)])
    twice = by_name([Outcome(("b", "a"), result, n) for n, result in enumerate(results) for _ in range(2)])
    assert twice["b"].error == pytest.approx(once["b"].error, rel=0.02)


TRUE = {"a": 0.0, "b": 0.6, "c": 1.2, "d": -0.5, "e": 2.0}
MET = [("b", "a"), ("c", "a"), ("c", "b"), ("d", "a"), ("e", "b"), ("e", "c"), ("d", "b")]


def simulated(draws, pairs: int, drawn: float, alike: float) -> list[Outcome]:
    """Matches whose expected scores are Bradley-Terry's, with draws, and pairs whose games depend on each other."""
    games = []
    for first, second in MET:
        expected = 1.0 / (1.0 + math.exp(TRUE[second] - TRUE[first]))
        share = min(drawn, 2 * expected, 2 * (1 - expected))
        for pair in range(pairs):
            shared = draws.random()
            for _ in range(2):
                luck = shared if draws.random() < alike else draws.random()
                score = 1.0 if luck < expected - share / 2 else 0.5 if luck < expected + share / 2 else 0.0
                games.append(Outcome((first, second), (score, 1.0 - score), (first, second, pair)))
    return games


def coverage(repeats: int, pairs: int, drawn: float, alike: float, seed: int = 0) -> float:
    draws = np.random.default_rng(seed)
    return covered(simulated(draws, pairs, drawn, alike) for _ in range(repeats))


def covered(tables: Iterable[list[Outcome]]) -> float:
    """Return how many of all intervals hold the true strength."""
    found = [each for games in tables for each in ratings(games, "a") if each.agent != "a"]
    return sum(abs(each.rating - ELO * TRUE[each.agent]) <= each.error for each in found) / len(found)


def test_intervals_cover_the_truth():
    """200 simulated tables: within four standard errors of 95 % (four agents of one table are not independent)."""
    assert abs(coverage(80, 20, 0.3, 0.5) - 0.95) < 4 * (0.95 * 0.05 / 80) ** 0.5


@pytest.mark.hard
@pytest.mark.parametrize(("pairs", "drawn", "alike"), [(20, 0.0, 0.0), (20, 0.3, 0.0), (20, 0.3, 0.8), (60, 0.3, 0.5)])
def test_intervals_cover_95_percent(pairs, drawn, alike):
    assert 0.93 <= coverage(1500, pairs, drawn, alike) <= 0.97


TABLES = [("a", "b", "c"), ("a", "c", "d"), ("b", "d", "e"), ("a", "b", "e"), ("c", "d", "e")]


def drawn_places(draws, agents: tuple[str, ...]) -> list[str]:
    """Return agents by their places, drawn one after the other: each with odds exp(strength) among those left."""
    left, places = list(agents), []
    while left:
        odds = np.exp([TRUE[name] for name in left])
        places.append(left.pop(draws.choice(len(left), p=odds / odds.sum())))
    return places


def simulated_by_three(draws, groups: int, alike: float) -> list[Outcome]:
    """Tables of three in groups of three games, of which the later ones may repeat the first."""
    games = []
    for agents in TABLES:
        for group in range(groups):
            first = drawn_places(draws, agents)
            for _ in range(3):
                places = first if draws.random() < alike else drawn_places(draws, agents)
                returns = tuple(1.0 - places.index(name) for name in agents)
                games.append(Outcome(agents, returns, (*agents, group)))
    return games


def test_intervals_cover_the_truth_at_tables_of_three():
    draws = np.random.default_rng(0)
    found = covered(simulated_by_three(draws, 10, 0.5) for _ in range(40))
    assert abs(found - 0.95) < 4 * (0.95 * 0.05 / 40) ** 0.5


@pytest.mark.hard
@pytest.mark.parametrize(("groups", "alike"), [(12, 0.0), (12, 0.5), (30, 0.8)])
def test_intervals_cover_95_percent_at_tables_of_three(groups, alike):
    draws = np.random.default_rng(5)
    assert 0.93 <= covered(simulated_by_three(draws, groups, alike) for _ in range(1000)) <= 0.97


def test_three_players_are_rated_by_their_places():
    """Places drawn by Plackett-Luce itself: strengths come back within their intervals' reach."""
    draws, strengths = np.random.default_rng(3), {"a": 0.0, "b": 0.8, "c": -0.4}
    games = []
    for number in range(600):
        left, places = dict(strengths), []
        while left:
            odds = np.exp(list(left.values()))
            places.append(list(left)[draws.choice(len(left), p=odds / odds.sum())])
            left.pop(places[-1])
        returns = tuple(1.0 - places.index(name) for name in "abc")
        games.append(Outcome(("a", "b", "c"), returns, number))
    found = by_name(games)
    for name, strength in strengths.items():
        assert abs(found[name].rating - ELO * strength) <= 1.5 * found[name].error + 1e-9
    assert found["b"].error < 40
