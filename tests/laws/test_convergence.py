"""Search values converge to the exact ones, over hundreds of random games (MODEL sections 3, 6 and 9)."""

from __future__ import annotations

import numpy as np
import pytest

import anabranch as ab
from anabranch.games.random_game import RandomGame

SMALL = {"layers": 3, "width": 3, "choices": 3, "compiled": False}
# The default scale of games with rewards on the way stretches near ties to the whole interval and then takes its time
# (one of 120 games was .4 of its range off after 4,000 simulations); a fixed scale makes these bounds sharp.
STEADY = ab.SearchConfig(selector=ab.Puct(scale="range"))


def errors(games, simulations, config=None, evaluator=None):
    """Return the largest error of the root value of every game, as a share of its range of returns."""
    found = []
    for game in games:
        result = ab.Reference(game.start(), evaluator or ab.Uniform(), config).run(simulations=simulations)
        result.graph.check()
        width = (game.returns[1] - game.returns[0]) or 1.0
        found.append(float(np.abs(result.value - ab.solve(game).value).max()) / width)
    return np.array(found)


@pytest.mark.parametrize("part", range(2))
@pytest.mark.parametrize("players", [{"players": 1}, {"players": 2, "zero_sum": True}], ids=["one player", "zero sum"])
def test_values_converge(players, part):
    """One player maximises, two of a zero-sum game oppose each other, dice fall as they fall."""
    games = [RandomGame(seed=seed, **players, **SMALL) for seed in range(60 * part, 60 * part + 60)]
    early, late = errors(games, 250, STEADY), errors(games, 1000, STEADY)
    assert late.mean() < 0.03
    assert late.max() < 0.12
    assert late.mean() < 0.7 * early.mean()


def test_max_n_values_converge_where_no_choices_tie():
    """Of three players the value is unique where nobody is indifferent; games that nearly are converge too late."""
    games = (RandomGame(seed=seed, players=3, tie_free=True, **SMALL) for seed in range(500))
    clear = [game for game in games if ab.solve(game).gap() > 0.08][:100]
    assert len(clear) == 100
    early, late = errors(clear, 200, STEADY), errors(clear, 800, STEADY)
    assert late.mean() < 0.05
    assert late.mean() < 0.7 * early.mean()


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
    games = [RandomGame(seed=seed, players=1, **{**SMALL, "chance": 0.6}) for seed in range(40)]
    found = errors(games, 800, ab.SearchConfig(selector=STEADY.selector, chance=chance))
    assert found.mean() < 0.04
    assert found.max() < 0.15


@pytest.mark.parametrize("selector", [ab.RegretMatching(), ab.MatrixGame()], ids=["regret matching", "matrix"])
def test_simultaneous_values_converge_to_equilibrium(selector):
    """Regret matching+ and the matrix selector find the value of two-player zero-sum games with simultaneous moves."""
    games = [RandomGame(seed=seed, zero_sum=True, **{**SMALL, "simultaneous": 0.6}) for seed in range(100)]
    found = errors(games, 400, ab.SearchConfig(simultaneous=selector))
    assert found.mean() < 0.02
    assert found.max() < 0.09


@pytest.mark.parametrize("selector", [ab.RegretMatching(), ab.MatrixGame(), ab.Exp3(exploration=0.1)])
def test_average_strategy_is_unexploitable(selector):
    """Of [[2, −1], [−1, 1]] each plays its first choice two times in five; decoupled PUCT never learns that."""
    game = ab.games.load("matrix", payoffs=[[2, -1], [-1, 1]], compiled=False)
    result = ab.Reference(game.start(), ab.Uniform(), ab.SearchConfig(simultaneous=selector)).run(simulations=6000)
    assert result.policy[0, 0] == pytest.approx(0.4, abs=0.05)
    assert result.policy[1, 0] == pytest.approx(0.4, abs=0.05)
    if not isinstance(selector, ab.Exp3):  # its values are means of what was drawn, exploration included
        assert result.value[0] == pytest.approx(0.2, abs=0.02)
