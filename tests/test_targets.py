"""What is learnt from a game: the cases of docs/model.md section 15, limits, and means."""

from __future__ import annotations

import numpy as np
import pytest

import anabranch as ab
from anabranch.evaluate.seats import to_mover
from anabranch.learn.records import Decision, GameRecord
from anabranch.learn.replay import Replay, window_size
from anabranch.learn.settings import Replay as ReplaySettings
from anabranch.learn.settings import Targets
from anabranch.learn.targets import n_step_returns, rows_of, two_hot, value_targets


def test_placements_two_steps_ahead():
    """Three players get (1, −.2, −1) two decisions after this one: γ² of it, and nothing is bootstrapped."""
    rewards = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, -0.2, -1.0]])
    roots = np.full((3, 3), 9.0)
    found = n_step_returns(rewards, roots, steps=5, discount=0.99, finished=True)
    np.testing.assert_allclose(found[0], 0.9801 * np.array([1.0, -0.2, -1.0]))


def test_a_bootstrap_by_another_players_view():
    """(.3, .6, .9) as player 3 sees it, two decisions ahead, is .9801·(.6, .9, .3) for player 1."""
    by_seat = np.array([0.6, 0.9, 0.3])  # player 3 says itself first, then players 1 and 2
    roots = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], by_seat, [5.0, 5.0, 5.0]])
    found = n_step_returns(np.zeros((4, 3)), roots, steps=2, discount=0.99, finished=True)
    np.testing.assert_allclose(to_mover(found[:1], [0])[0], 0.9801 * np.array([0.6, 0.9, 0.3]))


def test_rewards_on_the_way_and_a_bootstrap_by_hand():
    rewards, roots = np.array([[1.0], [2.0], [4.0], [8.0]]), np.array([[10.0], [20.0], [30.0], [40.0]])
    found = n_step_returns(rewards, roots, steps=2, discount=0.5, finished=True)
    assert found[:, 0].tolist() == [1 + 1 + 0.25 * 30, 2 + 2 + 0.25 * 40, 4 + 4, 8]


def test_returns_end_at_the_first_decision_whose_value_is_proven():
    """Its own target is its value, whatever was played from there on; those before it bootstrap from it."""
    rewards, roots = np.array([[1.0], [2.0], [4.0], [8.0]]), np.array([[10.0], [20.0], [30.0], [40.0]])
    proven = np.array([False, False, True, False])
    found = n_step_returns(rewards, roots, steps=None, discount=0.5, finished=True, proven=proven)
    assert found[:, 0].tolist() == [1 + 1 + 0.25 * 30, 2 + 15, 30, 8]
    found = n_step_returns(rewards, roots, steps=1, discount=0.5, finished=True, proven=proven)
    assert found[:, 0].tolist() == [1 + 10, 2 + 15, 30, 8]
    found = value_targets(rewards, roots, Targets(mix=0.7), discount=0.5, finished=True, proven=proven)
    assert found[2, 0] == 30


def test_a_game_that_was_cut_off_ends_with_its_last_value():
    """The last decision's own rewards are not known to be all; its root's value stands for them."""
    rewards, roots = np.array([[1.0], [0.0], [0.0]]), np.array([[0.5], [0.4], [0.3]])
    found = n_step_returns(rewards, roots, steps=None, discount=1.0, finished=False)
    assert found[:, 0].tolist() == [1.3, 0.3, 0.3]


@pytest.mark.parametrize(("mix", "expected"), [(1.0, 3.0), (0.0, 7.0), (0.25, 6.0)])
def test_mixing_returns_with_root_values(mix, expected):
    found = value_targets(np.array([[3.0]]), np.array([[7.0]]), Targets(mix=mix), discount=1.0, finished=True)
    assert found[0, 0] == expected


def test_two_hot_has_the_values_mean_and_two_neighbours():
    values = np.random.default_rng(0).uniform(-3, 5, (50, 2))
    made = two_hot(values, -3.0, 5.0, 17)
    atoms = np.linspace(-3.0, 5.0, 17)
    np.testing.assert_allclose(made @ atoms, values, atol=1e-5)
    np.testing.assert_allclose(made.sum(axis=-1), 1.0, atol=1e-6)
    assert (np.count_nonzero(made, axis=-1) <= 2).all()
    ends = two_hot(np.array([-9.0, 9.0, -3.0, 5.0]), -3.0, 5.0, 17)
    assert ends.argmax(axis=-1).tolist() == [0, 16, 0, 16]
    assert ends.max(axis=-1).tolist() == [1.0, 1.0, 1.0, 1.0]


def test_a_value_that_is_nan_has_weights_that_are():
    """And no index: the learner sees it in its loss, and returns to its last good weights."""
    found = two_hot(np.array([[np.nan, 0.5]]), -1.0, 1.0, 5)
    assert np.isnan(found[0, 0]).any()
    assert found[0, 1].tolist() == [0.0, 0.0, 0.0, 1.0, 0.0]


# Rows and samples


def record() -> GameRecord:
    """The upper row for player 0: 0, then 3, 1, 4, 2."""
    policies = [{0: 0.5, 4: 0.5}, {3: 1.0}, {1: 0.25, 2: 0.75}, {4: 1.0}, {2: 1.0}]
    decisions = [
        Decision(
            actions=(action,),
            dice=(),
            rewards=(1.0, -1.0) if action == 2 else (0.0, 0.0),
            value=(0.2, -0.2),
            policy=(policies[turn],) if turn != 1 else (),
            visits=8,
            full=turn != 1,
        )
        for turn, action in enumerate((0, 3, 1, 4, 2))
    ]
    return GameRecord(0, 0, (), tuple(decisions))


def test_rows_show_what_the_player_saw_and_what_the_search_found():
    game = ab.games.load("tic_tac_toe")
    rows = rows_of(record(), game, Targets(mix=1.0))
    assert rows is not None
    assert rows.seats.tolist() == [0, 0, 1, 0]
    assert rows.values.tolist() == [[1.0, -1.0]] * 4
    state = game.start()
    for action in (0, 3):
        state, _ = state.step(action)
    np.testing.assert_array_equal(rows.observations[1], state.observe(0))
    assert rows.policy[1].tolist() == [0, 0.25, 0.75, 0, 0, 0, 0, 0, 0]
    assert rows.legal[1].tolist() == [False, True, True, False, True, True, True, True, True]


def test_samples_are_images_of_rows_under_symmetries():
    """Every row of a sample is one that `ab.augment` gives for a row of the game, values from the mover's seat on."""
    game = ab.games.load("tic_tac_toe")
    replay = Replay(game, ReplaySettings(), Targets(mix=0.5))
    replay.add(record())
    rows = rows_of(record(), game, Targets(mix=0.5))
    assert rows is not None
    images = set()
    for at in range(len(rows)):
        for image in ab.augment(game, rows.observations[at], rows.policy[at], rows.values[at], int(rows.seats[at])):
            values = to_mover(image.values[None], [image.player])[0].astype(np.float32)
            images.add((image.observation.tobytes(), image.policy.tobytes(), values.tobytes()))
    sample = replay.sample(500, seed=1, step=2)
    found = {
        (sample["observations"][row].tobytes(), sample["policy"][row].tobytes(), sample["values"][row].tobytes())
        for row in range(500)
    }
    assert found == images
    assert (sample["policy"][~sample["legal"]] == 0).all()


def test_a_sample_follows_from_its_seed_and_step():
    game = ab.games.load("tic_tac_toe")
    replay = Replay(game, ReplaySettings(), Targets())
    replay.add(record())
    one, same, other = (replay.sample(64, seed, step) for seed, step in ((1, 2), (1, 2), (1, 3)))
    assert all((one[name] == same[name]).all() for name in one)
    assert (one["policy"] != other["policy"]).any()


def test_the_window_grows_slower_than_the_data_and_drops_the_oldest():
    settings = ReplaySettings(window=100, growth=0.75)
    assert [window_size(n, settings) for n in (50, 100, 1600)] == [50, 100, 800]
    game = ab.games.load("tic_tac_toe")
    replay = Replay(game, ReplaySettings(window=20, growth=0.0), Targets())
    for _ in range(40):
        replay.add(record())
    assert len(replay) == 20
    assert replay.total == 160


def test_observations_that_are_no_small_numbers_stay_as_they_are():
    game = ab.games.load("tic_tac_toe")
    replay = Replay(game, ReplaySettings(symmetries=False), Targets())
    replay.add(record())
    rows = rows_of(record(), game, Targets())
    assert rows is not None
    odd = rows.observations + np.float32(0.5)
    replay._append({**vars(rows), "observations": odd})
    seen = {each.tobytes() for each in replay.sample(400, 0, 0)["observations"]}
    assert seen == {each.tobytes() for each in np.concatenate([rows.observations, odd])}


def test_both_players_who_choose_at_once_give_a_row():
    game = ab.games.load("goofspiel")
    state = game.start()
    assert state.turn == (0, 1)
    first = state.legal(0)[0], state.legal(1)[1]
    decision = Decision(
        actions=first,
        dice=(),
        rewards=(0.0, 0.0),
        value=(0.5, -0.5),
        policy=({first[0]: 1.0}, {first[1]: 1.0}),
        full=True,
    )
    rows = rows_of(GameRecord(0, 0, (), (decision,), finished=False), game, Targets(mix=0.0))
    assert rows is not None
    assert rows.seats.tolist() == [0, 1]
    np.testing.assert_array_equal(rows.observations[1], state.observe(1))
    assert rows.policy.argmax(axis=1).tolist() == list(first)
