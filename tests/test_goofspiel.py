"""Goofspiel: counts and values by theorem and by hand; tests/golden compares it with OpenSpiel."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from scipy.optimize import linprog

import anabranch as ab
from anabranch.errors import UnknownNameError, UsageError
from anabranch.games.goofspiel import Goofspiel


def goofspiel(*arguments, **options):
    """Make the game interpreted: many sizes are tried, and every size is a compilation of its own."""
    return Goofspiel(*arguments, **options).interpreted()


def equilibrium_value(state):
    """Return what player 0 gets in a zero-sum game, by backward induction; every table is a linear program."""
    if state.over:
        return 0.0
    if state.turn == ab.CHANCE:
        return sum(p * equilibrium_value(state.step(outcome)[0]) for outcome, p in state.outcomes())
    table = []
    for one in state.legal(0):
        after = [state.step((one, two)) for two in state.legal(1)]
        table.append([rewards[0] + equilibrium_value(following) for following, rewards in after])
    # max v with Σ_a x_a·table[a, b] ≥ v for every b
    payoffs = np.array(table)
    rows, columns = payoffs.shape
    answer = linprog(
        [0.0] * rows + [-1.0],
        A_ub=np.hstack([-payoffs.T, np.ones((columns, 1))]),
        b_ub=np.zeros(columns),
        A_eq=[[1.0] * rows + [0.0]],
        b_eq=[1.0],
        bounds=[(0, None)] * rows + [(None, None)],
    )
    assert answer.fun is not None
    return -answer.fun


@pytest.mark.parametrize("prizes", ["ascending", "descending"])
@pytest.mark.parametrize("players", [2, 3])
def test_every_round_multiplies_the_lines_by_the_cards_left(prizes, players):
    """Theorem: after d bids of n cards there are (n!/(n−d)!)^P lines; the last card plays itself."""
    cards = 6 - players
    rows = ab.perft(goofspiel(cards, prizes, players).start(), 10)
    assert [row.sequences for row in rows] == [math.perm(cards, depth) ** players for depth in range(1, cards)]
    assert rows[-1].over == rows[-1].sequences


def test_random_prizes_multiply_the_lines_too():
    rows = ab.perft(goofspiel(3, "random").start(), 10)
    assert [row.sequences for row in rows] == [3, 27, 54, 216]


def test_points_are_part_of_a_state_only_where_they_decide():
    """Both lines leave {1, 2} in both hands: one gave a prize to each player, the other none to anybody."""
    for rewards, one_node in (("win", False), ("difference", True), ("points", True)):
        game = goofspiel(4, "descending", rewards=rewards)
        split, tied = _after(game, (3, 2), (2, 3)), _after(game, (3, 3), (2, 2))
        assert split.hands.tolist() == tied.hands.tolist()
        assert (split.points.tolist(), tied.points.tolist()) == ([4, 3], [0, 0])
        assert (split.key == tied.key) == one_node


def _after(game, *moves):
    state = game.start()
    for move in moves:
        state, _ = state.step(move)
    return state


def test_only_the_lead_counts_for_winning():
    """Theorem: adding the same points to every player changes no winner, so such states share a key."""
    game = goofspiel(4, "random")
    state = _after(game, 0, (1, 2))
    ahead = ab.State(game, game.replace(state.data, points=[3, 4]))
    assert state.points.tolist() == [0, 1]
    assert state.key == ahead.key
    assert np.array_equal(state.observe(0), ahead.observe(0))


@pytest.mark.parametrize("prizes", ["ascending", "descending", "random"])
@pytest.mark.parametrize("rewards", ["win", "difference"])
@pytest.mark.parametrize("cards", [1, 2, 3])
def test_a_symmetric_game_is_worth_nothing(cards, prizes, rewards):
    """Theorem: a symmetric two-player zero-sum game has value 0."""
    assert equilibrium_value(goofspiel(cards, prizes, rewards=rewards).start()) == pytest.approx(0, abs=1e-9)


def test_values_by_hand_of_two_cards():
    """Two cards, prize 2 first: unequal bids give the 2 to one and the 1 to the other, equal bids give nothing."""
    state = goofspiel(2, "descending", rewards="points").start()
    returns = {(a, b): state.step((a, b))[1].tolist() for a in (0, 1) for b in (0, 1)}
    assert returns == {(0, 0): [0, 0], (1, 1): [0, 0], (1, 0): [2, 1], (0, 1): [1, 2]}
    state = goofspiel(2, "ascending", rewards="difference").start()
    assert state.step((1, 0))[1].tolist() == [-1, 1]  # wins the 1, loses the 2
    state = goofspiel(2, "ascending", rewards="win").start()
    assert state.step((1, 0))[1].tolist() == [-1, 1]


def test_values_by_hand_of_three_cards():
    """After 3 against 2 for the prize 3, hands are {1, 2} and {1, 3}, prizes 2 and 1; points differ by 3.

    Player 0's further gain, rows 1 and 2 against columns 1 and 3: [[−1, −1], [1, −2]]. Column 3 is best against both
    rows, then row 1: −1. So the first step is worth 3 − 1 = 2, and it wins whatever follows.
    """
    game = goofspiel(3, "descending", rewards="difference")
    state, rewards = game.start().step((2, 1))
    assert rewards.tolist() == [3, -3]
    table = [[float(state.step((a, b))[1][0]) for b in (0, 2)] for a in (0, 1)]
    assert table == [[-1, -1], [1, -2]]
    assert equilibrium_value(state) == pytest.approx(-1)
    won, _ = goofspiel(3, "descending", rewards="win").start().step((2, 1))
    assert all(won.step((a, b))[1].tolist() == [1, -1] for a in (0, 1) for b in (0, 2))


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("prizes", ["ascending", "descending", "random"])
def test_schemes_agree_on_one_line_of_play(players, prizes):
    """Difference = own points less the mean of the others'; winning = having the most. All within the bounds."""
    dice = random.Random(players)
    for _ in range(10):
        states = {name: goofspiel(5, prizes, players, name).start() for name in ("points", "difference", "win")}
        totals = {name: np.zeros(players) for name in states}
        path = []
        while not states["points"].over:
            state = states["points"]
            if state.turn == ab.CHANCE:
                move = dice.choice([outcome for outcome, _ in state.outcomes()])
            else:
                move = [dice.choice(state.legal(seat)) for seat in range(players)]
            for name, before in states.items():
                low, high = before.bounds()
                states[name], rewards = before.step(move)
                totals[name] += rewards
                path.append((name, low, high, totals[name].copy() - rewards))
        points = totals["points"]
        assert states["points"].points.tolist() == points.tolist()
        assert totals["difference"] == pytest.approx(points - (points.sum() - points) / (players - 1))
        assert totals["win"].sum() == pytest.approx(0)
        leaders = points == points.max()
        assert ((totals["win"] > 0) == (leaders & (not leaders.all()))).all()
        for name, low, high, so_far in path:
            assert (low <= totals[name] - so_far + 1e-9).all()
            assert (totals[name] - so_far <= high + 1e-9).all()


def test_observation_begins_with_oneself():
    state, _ = goofspiel(3, "descending").start().step((2, 0))
    assert state.observe(0)[:2].tolist() == [[1, 1, 0], [0, 1, 1]]
    assert state.observe(1)[:2].tolist() == [[0, 1, 1], [1, 1, 0]]
    assert state.observe(0)[2:4].tolist() == [[1, 0, 0], [0, 1, 0]]  # prize 1 to come, 2 on the table
    assert state.observe(1)[4:].tolist() == [[0, 0, 0], [0.5, 0.5, 0.5]]  # 3 of 6 points ahead


def test_text_and_names():
    state, _ = goofspiel(3, "random").start().step(1)
    assert str(state).splitlines() == [
        "player 0: 1 2 3  0 points",
        "player 1: 1 2 3  0 points",
        "prize 2; to come 1 3",
    ]
    assert state.game.action_name(0) == "1"
    assert state.game.outcome_name(1) == "prize 2"


def test_unknown_options_are_named():
    with pytest.raises(UnknownNameError, match="descending"):
        goofspiel(prizes="decending")
    with pytest.raises(UnknownNameError, match="difference"):
        goofspiel(rewards="diff")
    with pytest.raises(UsageError):
        goofspiel(cards=0)
