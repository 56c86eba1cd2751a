"""Oshi-Zumo by hand, by symmetry and by what is known of it; play against OpenSpiel's is in golden/."""

from __future__ import annotations

from itertools import pairwise

import pytest

import anabranch as ab
from anabranch.errors import UsageError
from anabranch.games.oshi_zumo import OshiZumo


def zumo(**options):
    return OshiZumo(**options).interpreted()


def test_the_higher_bid_pushes_and_both_pay():
    state = zumo(size=1, coins=5).start()
    state, rewards = state.step((3, 1))
    assert str(state) == "#..W#  2 and 4 coins"
    assert rewards.tolist() == [0, 0]
    state, _ = state.step((2, 2))
    assert str(state) == "#..W#  0 and 2 coins"
    assert list(state.legal(0)) == [0]  # nothing left to bid
    state, rewards = state.step((0, 1))
    assert str(state) == "#.W.#  0 and 1 coins"
    state, rewards = state.step((0, 1))
    assert state.over  # in the end it stands on player 0's half
    assert rewards.tolist() == [-1, 1]


def test_off_the_field_wins_at_once():
    state, rewards = zumo(size=0, coins=3).start().step((1, 2))
    assert str(state) == "W.#  2 and 1 coins"
    assert state.over
    assert rewards.tolist() == [-1, 1]


def test_who_has_less_than_the_least_bid_bids_all_of_it():
    state, _ = zumo(size=2, coins=5, min_bid=3).start().step((4, 3))
    assert [list(state.legal(seat)) for seat in range(2)] == [[1], [2]]


def test_alesia_pays_nobody_for_a_wrestler_on_the_field():
    for alesia, paid in ((False, [1, -1]), (True, [0, 0])):
        state = zumo(size=2, coins=5, alesia=alesia).start()
        for bids in ((2, 1), (2, 1), (1, 3)):
            state, rewards = state.step(bids)
        assert str(state) == "#...W.#  0 and 0 coins"
        assert state.over
        assert rewards.tolist() == paid


def test_a_horizon_ends_the_game():
    state = zumo(size=3, coins=4, min_bid=0, horizon=2).start()
    state, _ = state.step((1, 0))
    assert str(state) == "#....W..#  3 and 4 coins, bid 2 of 2"
    state, rewards = state.step((0, 0))
    assert state.over
    assert rewards.tolist() == [1, -1]


def test_bids_of_nothing_come_back_to_the_same_position_and_draw():
    game = zumo(size=1, coins=2, min_bid=0)
    assert game.cycles == 0.0
    assert game.start().step((0, 0))[0] == game.start()
    assert zumo(size=1, coins=2).cycles is None
    assert ab.check(game, seconds=1).ok


@pytest.mark.parametrize("size", [1, 2])
def test_equal_coins_are_worth_nothing_and_more_coins_never_hurt(size):
    """Theorem: the game is symmetric, so its value is 0; and a coin more can be left lying."""
    game = OshiZumo(size=size, coins=6)
    solution = ab.solve(game)
    assert solution.value[0] == pytest.approx(0.0, abs=1e-9)
    start = game.start()
    worth = [solution.value_of(start.step((1, bid))[0])[0] for bid in range(2, 7)]  # pushed back, at a growing price
    assert all(one <= other + 1e-9 for one, other in pairwise(worth))
    assert worth[-1] > 0.5


def test_on_one_cell_more_coins_win():
    """With one cell the higher bid wins at once: who has more coins bids them all."""
    game = OshiZumo(size=0, coins=4, min_bid=0, horizon=9)
    for coins, value in (((4, 3), 1.0), ((2, 3), -1.0), ((3, 3), 0.0)):
        state = game.start().replace(coins=coins)
        result = ab.search(state, simulations=3000)
        assert result.value[0] == pytest.approx(value, abs=0.25)


def test_wrong_options_are_named():
    with pytest.raises(UsageError, match="min_bid"):
        zumo(coins=3, min_bid=4)
    with pytest.raises(UsageError, match="horizon"):
        zumo(horizon=0)


def test_positions_are_read_as_they_are_printed():
    for game in (zumo(), zumo(size=1, coins=12, min_bid=0, horizon=30)):
        state = game.start()
        while not state.over:
            assert game.position(str(state)) == state
            state, _ = state.step((state.legal(0)[-1] // 2 or state.legal(0)[0], state.legal(1)[0]))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello", "write a position as it is printed"),
        ("#..W..#  3 and 4 coins", "7 cells"),
        ("#...W..W#  3 and 4 coins", "7 cells"),
        ("#...W...#  3 and 11 coins", "at most 10 coins"),
        ("#...W...#  3 and 4 coins, bid 3 of 9", "has no horizon"),
    ],
)
def test_impossible_positions_are_refused(text, message):
    with pytest.raises(UsageError, match=message):
        zumo().position(text)


def test_it_draws_itself():
    state, _ = zumo().start().step((3, 2))
    assert state.game.svg(state) != state.game.svg(zumo().start())
