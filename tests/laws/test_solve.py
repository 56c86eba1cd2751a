"""The engine's exact solutions against the solver in Python: the same states in the same order, the same values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.faults import Round
from tests.lies import Duel

import anabranch as ab
from anabranch.games.random_game import RandomGame
from anabranch.search.exact.progress import Teller
from anabranch.search.exact.solve import solved_in_python


def in_python(start: ab.State, tolerance: float = 1e-12) -> ab.Solution:
    return solved_in_python(start, 1_000_000, tolerance, Teller(None))


def assert_same(start: ab.State, *, mixed: bool = False, tolerance: float = 1e-12) -> None:
    """Compare everything; values to the last bit unless strategies mix."""
    ours, theirs = ab.solve(start, tolerance=tolerance), in_python(start, tolerance)
    found, listed = ours._finite, theirs._finite
    assert ours.states == theirs.states
    for number in range(ours.states):
        state, position, expected = found.state(number), found.position(number), listed.position(number)
        assert state == listed.state(number)
        assert (position.seats, position.choices) == (expected.seats, expected.choices)
        assert position.children == expected.children
        assert np.array_equal(position.chances, expected.chances)
        assert np.array_equal(position.rewards, expected.rewards)
        assert state in ours
        assert ours.value_of(state).tolist() == ours._values[number].tolist()
    if mixed:
        assert np.abs(ours._values - theirs._values).max() <= 1e-12
        return
    assert np.array_equal(ours._values, theirs._values)
    assert ours.gap() == theirs.gap()
    for number in range(0, ours.states, max(1, ours.states // 50)):
        state = found.state(number)
        assert ours.best_of(state) == theirs.best_of(state)
        for mine, other in ((ours.policy_of, theirs.policy_of), (ours.action_values_of, theirs.action_values_of)):
            np.testing.assert_equal(mine(state), other(state))


PLANS: list[dict[str, Any]] = [
    {"players": 3},
    {"players": 2, "discount": 0.9, "chance": 0.5},
    {"players": 3, "chance_after_chance": 0.5},
    {"players": 2, "merge": False},
    {"players": 2, "loops": 0.3, "discount": 0.75},
    {"players": 3, "loops": 0.3, "rewards_along": False, "chance": 0.6, "chance_after_chance": 0.5},
]
MIXED: list[dict[str, Any]] = [
    {"zero_sum": True, "simultaneous": 0.5},
    {"zero_sum": True, "simultaneous": 0.5, "discount": 0.9, "chance": 0.4},
    {"zero_sum": True, "simultaneous": 0.5, "loops": 0.3, "discount": 0.75},
]


@pytest.mark.parametrize("options", PLANS, ids=str)
def test_random_games_are_solved_as_in_python_to_the_last_bit(options):
    for seed in range(12):
        assert_same(RandomGame(seed, **options).start())


@pytest.mark.parametrize("options", MIXED, ids=str)
def test_random_games_with_tables_are_solved_as_in_python(options):
    for seed in range(8):
        assert_same(RandomGame(seed, **options).start(), mixed=True)


@pytest.mark.parametrize(
    ("name", "options", "mixed"),
    [
        ("tic_tac_toe", {}, False),
        ("pig", {"target": 9}, False),
        ("goofspiel", {"cards": 4}, True),
        ("pyrat", {"width": 3, "height": 2, "cheese": [(1, 1), (2, 0)], "max_turns": 4, "rewards": "difference"}, True),
    ],
)
def test_games_are_solved_as_in_python(name, options, mixed):
    assert_same(ab.games.load(name, **options).start(), mixed=mixed)


@pytest.mark.parametrize("game", [Round(), Duel()], ids=repr)
def test_games_with_keys_and_ids_that_do_the_same_are_solved_as_in_python(game):
    assert_same(game.start(), mixed=True)
