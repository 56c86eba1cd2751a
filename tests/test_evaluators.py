"""Evaluators: what they may answer, and what the ones without a network do."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import anabranch as ab
from anabranch.errors import EvaluatorError, EvaluatorWarning, UsageError
from anabranch.evaluate.batch import Batch, as_evaluator, evaluations
from anabranch.evaluate.range import limits

ROWS = 3


def batch_of(game: ab.Game, rows: int = ROWS) -> Batch:
    """Return the first decision states along the first legal line of play."""
    state = game.start()
    states: list[ab.State] = []
    while len(states) < rows:
        if isinstance(state.turn, tuple):
            states.append(state)
            state, _ = state.step([state.legal(seat)[0] for seat in state.turn])
        else:
            state, _ = state.step(state.outcomes()[0][0])
    return Batch(states, [state.node_key for state in states])


@pytest.fixture
def alternating() -> Batch:
    return batch_of(ab.games.load("tic_tac_toe", compiled=False))


@pytest.fixture
def joint() -> Batch:
    return batch_of(ab.games.load("goofspiel", cards=4, compiled=False), rows=2)


class Says:
    """An evaluator that gives a prepared answer."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def evaluate(self, batch: Batch) -> Any:
        return self.answer


def changed(shape, where, value):
    array = np.zeros(shape)
    array[where] = value
    return array


# What may be answered


def test_one_row_of_logits_per_state_or_per_player(alternating):
    """[B, A] and [B, P, A] say the same where one player acts: its own row counts."""
    game = alternating.states[0].game
    flat = np.arange(ROWS * game.actions, dtype=float).reshape(ROWS, game.actions)
    spread = np.full((ROWS, game.players, game.actions), 99.0)
    for row, mover in enumerate(alternating.movers):
        spread[row, mover] = flat[row]
    values = np.arange(2.0 * ROWS).reshape(ROWS, 2)
    for logits in (flat, spread):
        for row, evaluation in enumerate(evaluations(Says((logits, values)), alternating)):
            assert evaluation.logits is not None
            assert [line.tolist() for line in evaluation.logits] == [flat[row].tolist()]
            assert evaluation.values == values[row].tolist()


def test_players_who_choose_at_once_need_a_row_each(joint):
    """A flat row cannot say whose it is."""
    values = np.zeros((2, 2))
    logits = np.arange(16.0).reshape(2, 2, 4)
    for row, evaluation in enumerate(evaluations(Says((logits, values)), joint)):
        assert evaluation.logits is not None
        assert [line.tolist() for line in evaluation.logits] == logits[row].tolist()
    with pytest.raises(EvaluatorError, match=r"logits have shape \(2, 4\), expected \(2, 2, 4\)"):
        evaluations(Says((np.zeros((2, 4)), values)), joint)


def test_none_for_logits_is_uniform(alternating):
    for evaluation in evaluations(Says((None, np.zeros((ROWS, 2)))), alternating):
        assert evaluation.logits is None


def test_lists_integers_and_single_precision_are_numbers(alternating):
    for values in ([[1, 0]] * ROWS, np.zeros((ROWS, 2), np.int8), np.zeros((ROWS, 2), np.float32)):
        assert len(evaluations(Says((np.zeros((ROWS, 9), np.float32), values)), alternating)) == ROWS


def test_minus_infinity_may_mask_what_is_illegal_and_nothing_else(alternating):
    """Cell 0 is taken in row 1."""
    values = np.zeros((ROWS, 2))
    assert 0 not in alternating.states[1].legal()
    assert len(evaluations(Says((changed((ROWS, 9), (1, 0), -np.inf), values)), alternating)) == ROWS
    with pytest.raises(EvaluatorError, match="row 1, index 5"):
        evaluations(Says((changed((ROWS, 9), (1, 5), -np.inf), values)), alternating)
    for bad in (np.nan, np.inf):  # these are slips wherever they stand
        with pytest.raises(EvaluatorError, match="row 1, index 0"):
            evaluations(Says((changed((ROWS, 9), (1, 0), bad), values)), alternating)


# What may not


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_refused_with_row_and_state(alternating, bad):
    with pytest.raises(EvaluatorError) as caught:
        evaluations(Says((np.zeros((ROWS, 9)), changed((ROWS, 2), (2, 1), bad))), alternating)
    assert "values are not finite: row 2, index 1" in str(caught.value)
    assert str(alternating.states[2]) in str(caught.value)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_logits_that_are_not_finite_are_refused_with_row_player_and_state(joint, bad):
    with pytest.raises(EvaluatorError) as caught:
        evaluations(Says((changed((2, 2, 4), (1, 1, 2), bad), np.zeros((2, 2)))), joint)
    assert "logits of player 1 are not finite: row 1, index 2" in str(caught.value)
    assert str(joint.states[1]) in str(caught.value)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "found NoneType"),
        (np.zeros((ROWS, 2)), "found ndarray"),
        ((np.zeros((ROWS, 9)),), "found tuple"),
        ((np.zeros((ROWS, 9)), np.zeros((ROWS, 2)), 0), "found tuple"),
        ((None, np.zeros(ROWS)), r"values have shape \(3,\), expected \(3, 2\)"),
        ((None, np.zeros((ROWS, 1))), r"expected \(3, 2\)"),
        ((None, np.zeros((ROWS - 1, 2))), r"expected \(3, 2\)"),
        ((np.zeros((ROWS, 8)), np.zeros((ROWS, 2))), r"logits have shape \(3, 8\), expected \(3, 9\) or \(3, 2, 9\)"),
        ((np.zeros(9), np.zeros((ROWS, 2))), r"logits have shape \(9,\)"),
        ((None, [["a", "b"]] * ROWS), "values have type"),
        ((None, np.zeros((ROWS, 2), complex)), "complex128"),
        ((None, np.zeros((ROWS, 2), bool)), "bool"),
        ((None, None), "values have type object"),
        ((None, [[0.0, 0.0], [0.0]]), "values are no array"),
    ],
)
def test_an_answer_of_another_kind_is_refused(alternating, answer, message):
    with pytest.raises(EvaluatorError, match=message):
        evaluations(Says(answer), alternating)


def test_a_function_of_observations_is_told_how_it_becomes_an_evaluator(alternating):
    with pytest.raises(TypeError, match=r"ab\.Network\(function\)"):
        ab.search(alternating.states[0], simulations=3, evaluator=lambda seen: (None, seen[:, 0].sum(axis=1)))


def test_only_evaluators_evaluate():
    assert as_evaluator(ab.Uniform()) == ab.Uniform()
    function = as_evaluator(lambda batch: (None, np.ones((len(batch), 2))))
    assert function.evaluate(batch_of(ab.games.load("tic_tac_toe", compiled=False)))[1].shape == (ROWS, 2)
    with pytest.raises(UsageError, match="found int"):
        as_evaluator(3)
    with pytest.raises(UsageError, match=r"found the class Rollout; make one: Rollout\(\)"):
        as_evaluator(ab.Rollout)


def test_an_evaluator_that_fails_leaves_the_search_as_it_was():
    """The same search goes on as if the failing call had never been: its visits are those of a search without it."""

    class Sulks:
        def __init__(self, failing: int | None) -> None:
            self.calls, self.failing = 0, failing

        def evaluate(self, batch: Batch) -> Any:
            self.calls += 1
            if self.calls == self.failing:
                return None, np.full((len(batch), 2), np.nan)
            return ab.Hashing().evaluate(batch)

    state = ab.games.load("tic_tac_toe", compiled=False).start()
    good = ab.Reference(state, Sulks(None))
    expected = good.run(visits=60)
    for failing in (1, 2, 17):
        reference = ab.Reference(state, Sulks(failing))
        with pytest.raises(EvaluatorError, match="row 0"):
            reference.run(visits=60)
        result = reference.run(visits=60)
        assert result.visits.tolist() == expected.visits.tolist()
        assert result.value.tolist() == expected.value.tolist()


# Batches


def test_a_batch_says_who_moves_and_what_is_legal(alternating):
    assert alternating.seats == [(0,), (1,), (0,)]
    assert alternating.movers.tolist() == [0, 1, 0]
    assert not alternating.joint
    assert alternating.legal.shape == (ROWS, 9)
    assert alternating.legal.sum(axis=1).tolist() == [9, 8, 7]
    assert alternating.observations.shape == (ROWS, 2, 3, 3)
    # From the mover's seat: in row 1 the stone on the board is the other's, in row 2 the first of two is one's own.
    assert alternating.observations[1].sum(axis=(1, 2)).tolist() == [0, 1]
    assert alternating.observations[2].sum(axis=(1, 2)).tolist() == [1, 1]


def test_a_batch_of_joint_states_has_a_row_per_player(joint):
    game = joint.states[0].game
    assert joint.joint
    assert joint.legal.shape == (2, 2, 4)
    assert joint.legal.sum(axis=2).tolist() == [[4, 4], [3, 3]]
    assert game.observation is not None
    assert joint.observations.shape == (2, 2, *game.observation)


# Evaluators without a network


def test_uniform_says_the_same_of_everything(alternating):
    logits, values = ab.Uniform(0.25).evaluate(alternating)
    assert logits is None
    assert values.tolist() == [[0.25, 0.25]] * ROWS


def test_rollouts_average_what_random_play_collects():
    """Pennies at random: mean 1/4 of [[2, −1], [−1, 1]], variance 27/16; the other seat gets the opposite."""
    batch = batch_of(ab.games.load("matrix", payoffs="biased", compiled=False), rows=1)
    logits, values = ab.Rollout(count=4000).evaluate(batch)
    assert logits is None
    assert values[0, 0] == pytest.approx(0.25, abs=4 * (27 / 16 / 4000) ** 0.5)
    assert values[0, 1] == -values[0, 0]


def test_rollouts_win_tic_tac_toe_as_often_as_counting_says():
    """Of random games the first player wins 58.49 % and the second 28.81 %."""
    start = ab.games.load("tic_tac_toe", compiled=False).start()
    known: dict[Any, float] = {}

    def mean(state: ab.State) -> float:
        if state.key not in known:
            steps = [state.step(action) for action in state.legal()]
            known[state.key] = sum(float(r[0]) + (0 if s.over else mean(s)) for s, r in steps) / len(steps)
        return known[state.key]

    assert mean(start) == pytest.approx(0.5849 - 0.2881, abs=1e-4)
    _, values = ab.Rollout(count=800).evaluate(Batch([start], [start.node_key]))
    assert values[0, 0] == pytest.approx(mean(start), abs=4 * 0.9 / 800**0.5)


def test_rollouts_discount_decisions_and_not_dice():
    """Chance, decision, decision with rewards 1 each and γ = ½: 1 + 1 + ½."""

    class Steps(ab.ObjectGame):
        def __init__(self):
            self.players, self.actions, self.discount, self.returns = 1, 1, 0.5, (0.0, 3.0)

        def setup(self, random):
            return 0

        def turn(self, state):
            return ab.CHANCE if state == 0 else ab.OVER if state == 3 else ab.player(0)

        def legal(self, state, player):
            return [0]

        def chance(self, state):
            return [(0, 1.0)]

        def step(self, state, actions):
            return state + 1, [1.0]

    batch = Batch([Steps().start()], [0])
    assert ab.Rollout().evaluate(batch)[1].tolist() == [[2.5]]
    assert ab.Rollout(max_depth=2).evaluate(batch)[1].tolist() == [[2.0]]  # what would follow adds nothing


def test_rollouts_choose_among_choices_not_ids():
    """Three of four ids do the same thing; a random player takes it half the time, not three quarters."""

    class Doors(ab.ObjectGame):
        def __init__(self):
            self.players, self.actions, self.returns = 1, 4, (0.0, 1.0)

        def setup(self, random):
            return 0

        def turn(self, state):
            return ab.player(0) if state == 0 else ab.OVER

        def legal(self, state, player):
            return [0, 1, 2, 3]

        def same(self, state, player, action):
            return min(action, 1)

        def step(self, state, actions):
            return 1, [float(actions[0] > 0)]

    _, values = ab.Rollout(count=2000).evaluate(Batch([Doors().start()], [0]))
    assert values[0, 0] == pytest.approx(0.5, abs=0.05)


def test_rollouts_depend_on_seed_and_state_alone():
    """The same state draws the same numbers in any batch; another seed draws others."""
    game = ab.games.load("connect_four", compiled=False)
    one = game.start()
    other = one.step(3)[0]
    rollout = ab.Rollout(count=8)

    def values(states, seed=0):
        return rollout.evaluate(Batch(states, [state.node_key for state in states], [seed] * len(states)))[1].tolist()

    assert values([one, other]) == values([one]) + values([other])
    assert values([other, one]) == values([other]) + values([one])
    assert len({values([one], seed)[0][0] for seed in range(8)}) > 2


@pytest.mark.parametrize("wrong", [{"count": 0}, {"max_depth": 0}])
def test_a_rollout_plays(wrong):
    with pytest.raises(UsageError, match="from 1 to"):
        ab.Rollout(**wrong)


def test_hashed_evaluations_lie_in_range_and_tell_states_apart(alternating):
    logits, values = ab.Hashing().evaluate(alternating)
    assert logits.shape == (ROWS, 2, 9)
    assert -2.0 <= logits.min() <= logits.max() < 2.0
    assert -1.0 <= values.min() <= values.max() < 1.0
    assert len(np.unique(logits)) == logits.size
    assert len(np.unique(values)) == values.size
    assert not np.array_equal(ab.Hashing(seed=1).evaluate(alternating)[1], values)


def test_hashed_evaluations_are_the_same_in_every_process():
    program = (
        "import anabranch as ab; from anabranch.evaluate.batch import Batch; "
        "state = ab.games.load('tic_tac_toe', compiled=False).start().step(4)[0]; "
        "logits, values = ab.Hashing(seed=7).evaluate(Batch([state], [state.node_key])); "
        "print(logits.tobytes().hex(), values.tobytes().hex())"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    state = ab.games.load("tic_tac_toe", compiled=False).start().step(4)[0]
    logits, values = ab.Hashing(seed=7).evaluate(Batch([state], [state.node_key]))
    assert said == [logits.tobytes().hex(), values.tobytes().hex()]


# Values outside of what a game declares


def says(value):
    return lambda batch: (None, np.full((len(batch), batch.game.players), value))


@pytest.mark.parametrize("depth", [1, 2])
def test_values_outside_the_returns_are_told_once_per_searcher(depth):
    game = ab.games.load("tic_tac_toe")
    searcher = ab.Searcher(game, says(1.5), ab.SearchConfig(depth=depth), threads=1)
    roots = [searcher.root(game.start()) for _ in range(2)]
    with pytest.warns(EvaluatorWarning, match=r"says 1\.5 for player 0, and tic_tac_toe .* from -1 to 1") as told:
        searcher.run(roots, simulations=20)
    assert len(told) == 1
    searcher.run(roots, simulations=20)
    with pytest.warns(EvaluatorWarning, match=r"says -2 for player 0"):
        ab.Reference(game.start(), says(-2.0)).run(simulations=20)


@pytest.mark.parametrize("value", [-1.0, 1.0, 1.0 + 1e-7])
def test_values_within_the_returns_are_not_told(value):
    """The ends count as within, and so does what single precision makes of them. Warnings are errors here."""
    game = ab.games.load("tic_tac_toe")
    searcher = ab.Searcher(game, says(value), threads=1)
    searcher.run(searcher.root(game.start()), simulations=20)
    ab.Reference(game.start(), says(value)).run(simulations=5)


def test_what_is_left_may_be_more_than_the_total_where_rewards_come_along():
    game = ab.games.load("pyrat")
    assert game.rewards_along
    assert game.returns[0] == 0.0
    assert limits([game]) == pytest.approx((-game.returns[1], game.returns[1]), rel=1e-5)


def test_a_warning_that_is_an_error_leaves_the_batch_asked():
    game = ab.games.load("tic_tac_toe")
    told, plain = (ab.Searcher(game, ab.Asked(), threads=1) for _ in range(2))
    roots = [searcher.root(game.start()) for searcher in (told, plain)]
    for searcher, root in zip((told, plain), roots, strict=True):
        batch = searcher.ask(root, simulations=10)
        while batch is not None:
            if searcher is told and not searcher.warned:
                with pytest.raises(EvaluatorWarning):
                    searcher.tell(*says(1.5)(batch))
            searcher.tell(*says(0.5)(batch))
            batch = searcher.ask()
    assert roots[0].result.visits.tolist() == roots[1].result.visits.tolist()
    assert roots[0].simulations == 10
