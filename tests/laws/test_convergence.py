"""Search values converge to the exact ones, over hundreds of random games (docs/model.md sections 3, 6 and 9)."""

from __future__ import annotations

import math

import numpy as np
import pytest

import anabranch as ab
from anabranch.games.random_game import RandomGame

# The default scale of games with rewards on the way stretches near ties to the whole interval and then takes its time
# (one of 120 games was .4 of its range off after 4,000 simulations); a fixed scale makes these bounds sharp.
STEADY = ab.SearchConfig(selector=ab.Puct(scale="range", c_init=1.25))


def small_game(seed, **options):
    """Return a random game with at most nine decisions."""
    return RandomGame(seed, layers=3, width=3, choices=3, **options).interpreted()


def assert_values_converge(games, late, config):
    """The error of the root value, as a share of the range of returns, shrinks like 1/√visits, and in every game."""
    early, errors = 50, []
    for game in games:
        reference, exact = ab.Reference(game.start(), ab.Uniform(), config), ab.solve(game).value
        width = (game.returns[1] - game.returns[0]) or 1.0
        errors.append([np.abs(reference.run(visits=visits).value - exact).max() / width for visits in (early, late)])
        reference.graph.check()
    before, after = np.mean(errors, axis=0)
    assert len(errors) == 200
    assert after < 1.3 * math.sqrt(early / late) * before
    assert after < 0.05
    assert np.max(errors, axis=0)[1] < 0.25


@pytest.mark.parametrize("players", [{"players": 1}, {"players": 2, "zero_sum": True}], ids=["one player", "zero sum"])
def test_values_converge(players):
    """One player maximises, two of a zero-sum game oppose each other, dice fall as they fall."""
    assert_values_converge([small_game(seed, **players) for seed in range(200)], 400, STEADY)


@pytest.mark.hard
def test_max_n_values_converge_where_no_choices_tie():
    """Of three players the value is unique where nobody is indifferent; games that nearly are converge too late."""
    games = (small_game(seed, players=3, tie_free=True) for seed in range(500))
    clear = [game for game in games if ab.solve(game).gap() > 0.08][:200]
    assert_values_converge(clear, 400, STEADY)


@pytest.mark.hard
@pytest.mark.parametrize(
    "chance",
    [
        ab.Chance(draw="sampled"),
        ab.Chance(exact_up_to=10),
        ab.Chance(exact_up_to=2, draw="sampled"),
        ab.Chance(draws=3),
        ab.Chance(widen=1.0, widen_power=0.5),
    ],
    ids=["sampled", "exact", "exact for coins", "draws", "widening"],
)
def test_values_converge_in_every_chance_mode(chance):
    games = [small_game(seed, players=1, chance=0.6) for seed in range(200)]
    assert_values_converge(games, 200, ab.SearchConfig(selector=STEADY.selector, chance=chance))


@pytest.mark.hard
@pytest.mark.parametrize("selector", [ab.RegretMatching(), ab.MatrixGame()], ids=["regret matching", "matrix"])
def test_simultaneous_values_converge_to_equilibrium(selector):
    """Regret matching+ and the matrix selector find the value of two-player zero-sum games with simultaneous moves."""
    games = [small_game(seed, zero_sum=True, simultaneous=0.6) for seed in range(200)]
    assert_values_converge(games, 200, ab.SearchConfig(simultaneous=selector))


@pytest.mark.parametrize("selector", [ab.RegretMatching(), ab.MatrixGame(), ab.Exp3(exploration=0.1)])
def test_average_strategy_is_unexploitable(selector):
    """Of [[2, −1], [−1, 1]] each plays its first choice two times in five; decoupled PUCT never learns that."""
    game = ab.games.load("matrix", payoffs=[[2, -1], [-1, 1]], compiled=False)
    result = ab.Reference(game.start(), ab.Uniform(), ab.SearchConfig(simultaneous=selector)).run(simulations=6000)
    assert result.policy[0, 0] == pytest.approx(0.4, abs=0.05)
    assert result.policy[1, 0] == pytest.approx(0.4, abs=0.05)
    if not isinstance(selector, ab.Exp3):  # its values are means of what was drawn, exploration included
        assert result.value[0] == pytest.approx(0.2, abs=0.02)
