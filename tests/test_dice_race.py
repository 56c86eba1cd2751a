"""The dice race: its value by formula, and by counting."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import comb

import pytest
from tests.test_position import random_states

import anabranch as ab
from anabranch.errors import UsageError
from anabranch.games.dice_race import DiceRace


def needs_more(target, sides, rolls):
    """P(M > m) = C(n − 1, m) / s^m for n ≤ s."""
    return Fraction(comb(target - 1, rolls), sides**rolls)


def first_wins(target, sides):
    chances = [needs_more(target, sides, rolls) for rolls in range(target + 1)]
    return sum((chances[m - 1] - chances[m]) * chances[m - 1] for m in range(1, target + 1))


@pytest.mark.parametrize(("target", "dice"), [(1, (6,)), (4, (4,)), (6, (4, 6)), (5, (8, 3, 2)), (10, (10, 6))])
def test_two_players_by_formula(target, dice):
    exact = ab.solve(DiceRace(target, dice).interpreted())
    assert exact.value.tolist() == pytest.approx(
        [2 * first_wins(target, max(dice)) - 1, 1 - 2 * first_wins(target, max(dice))]
    )


@pytest.mark.parametrize(("target", "dice"), [(1, (6,)), (6, (4, 6)), (8, (8, 3))])
def test_one_player_by_formula(target, dice):
    exact = ab.solve(DiceRace(target, dice, players=1).interpreted())
    assert exact.value[0] == pytest.approx(-((1 + 1 / max(dice)) ** (target - 1)))


def test_beyond_the_formula_by_counting():
    """A target of more than the sides, by recursion over who is how far; the largest die is best everywhere."""

    @cache
    def wins(own, other):
        total = Fraction(0)
        for face in range(1, 7):
            total += 1 if own - face <= 0 else 1 - wins(other, own - face)
        return total / 6

    game = DiceRace(15, (4, 6)).interpreted()
    exact = ab.solve(game)
    assert exact.value[0] == pytest.approx(float(2 * wins(15, 15) - 1))
    assert exact.best_of(game.start())[0] == [1]


def test_text_and_events():
    game = DiceRace(12, (4, 6), players=3).interpreted()
    for state in random_states(game, 3):
        assert game.position(str(state)).key == state.key
    state, _ = game.start().step(1)
    assert game.rules.event(state.data) == (0, 0, 0, 0)
    assert str(state) == "player 0 0, player 1 0, player 2 0 of 12: player 0 rolls d6"
    for text in ("hello", "player 0 0, player 1 0, player 2 0 of 12: player 0 rolls d8"):
        with pytest.raises(UsageError):
            game.position(text)
    with pytest.raises(UsageError, match="different numbers of sides"):
        DiceRace(dice=(6, 6))
