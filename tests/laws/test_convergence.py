"""Search values converge to the exact ones, over hundreds of random games (docs/model.md sections 3, 6 and 9)."""

from __future__ import annotations

import math

import numpy as np
import pytest

import anabranch as ab
from anabranch.games.random_game import RandomGame
from anabranch.search.maths.matrix_game import equilibrium, exploitability
from anabranch.search.settings.config import SimultaneousSelector

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


LEARNING: dict[str, SimultaneousSelector] = {"regret matching+": ab.RegretMatching(), "matrix": ab.MatrixGame()}
TABLES = {
    "matching pennies": [[1.0, -1.0], [-1.0, 1.0]],
    "two fifths": [[2.0, -1.0], [-1.0, 1.0]],
    "biased rock paper scissors": [[0.0, -0.25, 0.5], [0.25, 0.0, -0.05], [-0.5, 0.05, 0.0]],
    **{f"5x5 number {seed}": np.random.default_rng(seed).uniform(-1.0, 1.0, (5, 5)).tolist() for seed in range(4)},
}


@pytest.mark.parametrize("name", LEARNING)
@pytest.mark.parametrize("table", TABLES)
def test_one_shot_games_are_solved(table, name):
    """Strategies leave at most 3 % of the range to be gained after 1,000 playouts, 0.5 % after 100,000; values too."""
    payoffs = TABLES[table]
    width, value = float(np.ptp(payoffs)), equilibrium(payoffs)[2]
    for playouts, bound in ((1_000, 0.03), (100_000, 0.005)):
        config = ab.SearchConfig(simultaneous=LEARNING[name])
        start = ab.games.load("matrix", payoffs=payoffs).start()
        found = ab.search(start, simulations=playouts, evaluator=ab.Uniform(), config=config)
        rows, columns = (found.policy[seat, : len(payoffs)].tolist() for seat in range(2))
        assert exploitability(payoffs, rows, columns) <= bound * width
        assert abs(float(found.value[0]) - value) <= bound * width


@pytest.mark.parametrize("name", LEARNING)
@pytest.mark.parametrize(
    ("rewards", "bids"), [("difference", ()), ("difference", (1, 0)), ("win", ()), ("win", (1, 0))]
)
def test_goofspiel_is_solved(rewards, bids, name):
    """Four cards, from the start and after bids (2, 1), 100,000 playouts: values within 0.01, exploitability 0.02."""
    start = ab.games.load("goofspiel", cards=4, rewards=rewards).start()
    if bids:
        start, _ = start.step(bids)
    found = ab.search(start, simulations=100_000, config=ab.SearchConfig(simultaneous=LEARNING[name]))
    assert abs(float(found.value[0] - ab.solve(start).value[0])) <= 0.01
    assert ab.exploitability(start, found).exploitability <= 0.02


@pytest.mark.parametrize("name", LEARNING)
@pytest.mark.parametrize("python", [(2, 2), (1, 2)])
def test_pyrat_is_solved(python, name):
    """Three by three, three cheese, eight turns, 1,000,000 playouts: the value within 0.01, exploitability 0.05."""
    board = {"width": 3, "height": 3, "cheese": [(1, 1), (0, 2), (2, 0)], "starts": ((0, 0), python), "max_turns": 8}
    start = ab.games.load("pyrat", **board, rewards="difference").start()
    found = ab.search(start, simulations=1_000_000, config=ab.SearchConfig(simultaneous=LEARNING[name]))
    assert abs(float(found.value[0] - ab.solve(start).value[0])) <= 0.01
    assert ab.exploitability(start, found).exploitability <= 0.05
