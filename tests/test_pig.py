"""Pig: rules by hand and a value from the literature; tests/golden compares it with OpenSpiel."""

from __future__ import annotations

from collections import deque

import pytest

import anabranch as ab
from anabranch.errors import UsageError
from anabranch.games.pig import HOLD, ROLL, Pig


def pig(*arguments, **options):
    """Make the game interpreted: every number of faces and players is a compilation of its own."""
    return Pig(*arguments, **options).interpreted()


def play(state, *moves):
    for move in moves:
        state, rewards = state.step(move)
    return state, rewards.tolist()


def face(number):
    return number - 1


def test_rolling_adds_and_holding_banks():
    state, _ = play(pig(20).start(), ROLL, face(6), ROLL, face(3))
    assert (state.pot, state.scores.tolist(), state.turn) == (9, [0, 0], (0,))
    state, rewards = play(state, HOLD)
    assert (state.pot, state.scores.tolist(), state.turn) == (0, [9, 0], (1,))
    assert rewards == [0, 0]


def test_a_one_loses_the_turn_but_not_what_is_banked():
    state, _ = play(pig(20).start(), ROLL, face(6), HOLD, ROLL, face(2), ROLL, face(1))
    assert (state.pot, state.scores.tolist(), state.turn) == (0, [6, 0], (0,))


def test_with_enough_on_the_table_only_holding_is_legal_and_it_wins():
    state, _ = play(pig(10).start(), ROLL, face(6), ROLL, face(4))
    assert state.legal() == [HOLD]
    state, rewards = play(state, HOLD)
    assert state.over
    assert rewards == [1, -1]
    _, rewards = play(pig(5, players=3).start(), HOLD, ROLL, face(5), HOLD)
    assert rewards == [-0.5, 1, -0.5]


def test_chances_are_even():
    state, _ = pig(sides=8).start().step(ROLL)
    assert state.turn == ab.CHANCE
    assert state.outcomes() == [(outcome, 1 / 8) for outcome in range(8)]


def test_the_game_comes_back_to_its_start():
    start = pig().start()
    again, _ = play(start, ROLL, face(1), ROLL, face(1))
    assert again.key == start.key
    assert again != start  # the record still knows that two turns were played


def test_dice_belong_to_player_turn_and_roll():
    """Two matches with one seed see the same dice at the same event, however the other player fared before."""
    game = pig(100)
    quick, _ = play(game.start(), HOLD, ROLL)
    slow, _ = play(game.start(), ROLL, face(4), ROLL, face(3), HOLD, ROLL)
    assert game.rules.event(quick.data) == game.rules.event(slow.data) == (1, 0, 1, 0)
    assert [quick.draw(seed) for seed in range(50)] == [slow.draw(seed) for seed in range(50)]
    later, _ = play(game.start(), HOLD, HOLD, HOLD, ROLL)
    assert [quick.draw(seed) for seed in range(50)] != [later.draw(seed) for seed in range(50)]


def test_value_of_the_coin_game():
    """Neller and Presser 2004 solve Piglet, a coin for a die and two heads to win: the first player wins with 4/7.

    A die with two faces scores 2 or loses, so the target 4 is two heads. Their table, by (own, other, turn) in heads:
    (0,0,0) 4/7, (0,0,1) 5/7, (0,1,0) 2/5, (0,1,1) 3/5, (1,0,0) 4/5, (1,1,0) 2/3.
    """
    values = win_chances(pig(target=4, sides=2))
    table = {(0, 0, 0): 4 / 7, (0, 0, 1): 5 / 7, (0, 1, 0): 2 / 5, (0, 1, 1): 3 / 5, (1, 0, 0): 4 / 5, (1, 1, 0): 2 / 3}
    for (own, other, pot), chance in table.items():
        assert values[2 * own, 2 * other, 2 * pot] == pytest.approx(chance, abs=1e-6)


def win_chances(game):
    """Return (own score, other's, pot) → the mover's chance to win, by value iteration over all states."""
    start = game.start()
    states, fresh = {start.key: start}, deque([start])
    following: dict[bytes, list[tuple[bytes, float]]] = {}
    while fresh:
        state = fresh.popleft()
        moves = [outcome for outcome, _ in state.outcomes()] if state.turn == ab.CHANCE else state.legal()
        following[state.key] = []
        for move in moves:
            after, rewards = state.step(move)
            following[state.key].append((after.key, float(rewards[0])))
            if after.key not in states:
                states[after.key] = after
                if not after.over:
                    fresh.append(after)
    value = dict.fromkeys(states, 0.0)  # player 0's expected reward
    for _ in range(200):
        for key, edges in following.items():
            options = [reward + value[after] for after, reward in edges]
            turn = states[key].turn
            value[key] = (
                sum(options) / len(options) if turn == ab.CHANCE else max(options) if turn == (0,) else min(options)
            )
    return {
        (*(int(x) for x in state.scores), state.pot): (1 + value[key]) / 2
        for key, state in states.items()
        if state.turn == (0,)
    }


def test_observation_text_and_names():
    state, _ = play(pig(20).start(), ROLL, face(5), HOLD, ROLL, face(4))
    assert state.observe(1).tolist() == pytest.approx([0, 0.25, 0.2, 1])
    assert state.observe(0).tolist() == pytest.approx([0.25, 0, 0.2, 0])
    assert str(state) == "player 0 5, player 1 0 of 20: player 1 to roll or hold with 4 on the table"
    assert [state.game.action_name(action) for action in (ROLL, HOLD)] == ["roll", "hold"]
    assert state.game.outcome_name(0) == "1"


def test_sizes_are_checked():
    with pytest.raises(UsageError, match="sides"):
        pig(sides=1)
    with pytest.raises(UsageError, match="target"):
        pig(target=0)
