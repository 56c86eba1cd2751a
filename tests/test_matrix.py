"""Matrix games: what tables mean, for any number of players and rounds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import anabranch as ab
from anabranch.errors import UnknownNameError, UsageError
from anabranch.games.matrix import PRESETS, Matrix


def matrix(*arguments, **options):
    """Make the game interpreted: every shape of table is a compilation of its own."""
    return Matrix(*arguments, **options).interpreted()


def payoffs_by_play(game):
    """Return the table as play shows it."""
    state = game.start()
    table = np.zeros(game.payoffs.shape)
    for joint in np.ndindex(*table.shape[:-1]):
        after, rewards = state.step(joint)
        assert after.over == (game.rounds == 1)
        table[joint] = rewards
    return table


def test_a_matrix_pays_the_row_player_what_the_column_player_loses():
    rows = np.array([[3.0, -1.0, 0.5], [0.0, 2.0, -4.0]])
    game = matrix(rows)
    table = payoffs_by_play(game)
    assert np.array_equal(table[..., 0], rows)
    assert np.array_equal(table[..., 1], -rows)
    assert (game.start().legal(0), game.start().legal(1)) == ([0, 1], [0, 1, 2])
    assert game.returns == (-4, 4)


@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 4), (3, 2, 2, 2)])
def test_a_table_pays_every_player_its_own(shape):
    table = np.random.default_rng(0).normal(size=(*shape, len(shape)))
    game = Matrix(table)
    assert (game.players, game.actions) == (len(shape), max(shape))
    assert [game.start().legal(seat)[-1] + 1 for seat in range(game.players)] == list(shape)
    assert np.array_equal(payoffs_by_play(game), table)


def test_presets():
    assert set(PRESETS) == {"matching_pennies", "rock_paper_scissors", "prisoners_dilemma", "biased", "odd_one_out"}
    pennies = payoffs_by_play(matrix("matching_pennies"))
    assert pennies[..., 0].tolist() == [[1, -1], [-1, 1]]
    assert payoffs_by_play(matrix("biased"))[..., 0].tolist() == [[2, -1], [-1, 1]]
    roshambo = payoffs_by_play(matrix("rock_paper_scissors"))[..., 0]
    assert np.array_equal(roshambo, -roshambo.T)  # no hand is better than another against itself …
    assert (roshambo.sum(axis=0) == 0).all()  # … and each beats as many as beat it
    dilemma = payoffs_by_play(matrix("prisoners_dilemma"))
    (reward, sucker), (temptation, punishment) = dilemma[..., 0]
    assert temptation > reward > punishment > sucker
    assert 2 * reward > temptation + sucker


def test_rounds_repeat_the_game_and_add_up():
    game = matrix("prisoners_dilemma", rounds=3)
    assert game.rewards_along
    state, total = game.start(), np.zeros(2)
    for left, joint in zip((3, 2, 1), ((0, 0), (0, 1), (1, 1)), strict=True):
        low, high = state.bounds()
        assert (low.tolist(), high.tolist()) == ([0, 0], [5 * left, 5 * left])
        assert state.observe(0).tolist() == pytest.approx([left / 3])
        assert not state.over
        state, rewards = state.step(joint)
        total += rewards
    assert state.over
    assert total.tolist() == [4, 9]
    assert game.returns == (0, 15)
    assert [row.distinct for row in ab.perft(game.start(), 5)] == [1, 1, 1]


def test_bounds_are_each_players_own():
    low, high = matrix([[(3, 0), (1, 7)]], rounds=2).start().bounds()
    assert (low.tolist(), high.tolist()) == ([2, 0], [6, 14])


def test_symmetries_leave_the_table_alone():
    """Pennies: both turn their coins. Roshambo: rotations, seats kept or swapped. Dilemma: seats swapped."""
    pennies, roshambo, dilemma = (
        {(s.actions, s.players) for s in matrix(name).symmetries()}
        for name in ("matching_pennies", "rock_paper_scissors", "prisoners_dilemma")
    )
    assert pennies == {((1, 0), (0, 1))}
    turns = [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    assert roshambo == {(turn, seats) for turn in turns for seats in ((0, 1), (1, 0))} - {((0, 1, 2), (0, 1))}
    assert dilemma == {((0, 1), (1, 0))}
    assert matrix([[1.0, 2.0], [3.0, 5.0]]).symmetries() == []
    assert matrix([[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]).symmetries() == []  # a swap of columns 1 and 2 would move row 1


def test_tables_may_be_lists_and_games_compare_by_them():
    game = matrix([[1, 2], [3, 4]])
    assert game == matrix(np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert hash(game) == hash(matrix(((1, 2), (3, 4))))
    assert game != matrix([[1, 2], [3, 5]])
    assert game.start() != matrix([[1, 2], [3, 5]]).start()


def test_text_and_names():
    assert str(matrix("biased").start()).splitlines() == [
        "        first  second",
        " first  2, -2   -1, 1",
        "second  -1, 1   1, -1",
        "round 1 of 1: all choose at once",
    ]
    assert matrix("rock_paper_scissors").action_name(1) == "paper"
    assert matrix([[1, 2], [3, 4]]).action_name(1) == "1"
    assert "all choose" in str(matrix(np.zeros((2, 2, 2, 3))).start())


@pytest.mark.parametrize(
    "payoffs", [[[1, 2], [3]], np.zeros((2, 2, 3)), [1, 2], np.zeros((0, 2)), [[np.nan, 1.0]], [["a", "b"]]]
)
def test_what_is_no_table_is_refused(payoffs):
    with pytest.raises(UsageError, match="payoffs"):
        matrix(payoffs)


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(UnknownNameError, match="prisoners_dilemma"):
        matrix("prisoner_dilemma")


def test_odd_one_out_is_fair_to_three():
    """By hand: who differs from both others takes 1 from each; against two who toss coins both sides are worth 0."""
    table = Matrix("odd_one_out").payoffs
    assert table.shape == (2, 2, 2, 3)
    for joint in itertools.product(range(2), repeat=3):
        odd = [seat for seat in range(3) if joint.count(joint[seat]) == 1]
        paid = [2 if [seat] == odd else -1 if odd else 0 for seat in range(3)]
        assert table[joint].tolist() == paid
    assert np.einsum("abcp,b,c->ap", table, [0.5, 0.5], [0.5, 0.5])[:, 0].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("rounds", [1, 3])
def test_three_who_choose_at_once_are_searched(rounds):
    """The engine equals the reference with three acting players, rewards sum to zero, and so do values."""
    state = Matrix("odd_one_out", rounds=rounds).start()
    for selector in (ab.Puct(), ab.Ucb1()):
        config = ab.SearchConfig(simultaneous=selector)
        found = ab.search(state, simulations=400, evaluator=ab.Uniform(), config=config)
        expected = ab.Reference(state, ab.Uniform(), config).run(simulations=400)
        assert found.visits.tolist() == expected.visits.tolist()
        assert found.value.sum() == pytest.approx(0.0, abs=1e-9)
    assert len(state.game.symmetries()) == 11  # all orders of the seats, with the sides swapped or not, but for nothing
