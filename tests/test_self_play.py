"""Self-play: whole games that can be played again, the same for a seed whoever plays beside them."""

from __future__ import annotations

import dataclasses
from itertools import count

import numpy as np
import pytest
from tests.test_lanes import network

import anabranch as ab
from anabranch.errors import DataError, GameError, UsageError
from anabranch.learn.frozen_set import frozen_positions
from anabranch.learn.presets import preset
from anabranch.learn.records import GameRecord, seats_of
from anabranch.learn.replay import Replay
from anabranch.learn.selfplay import Worker, temperature
from anabranch.learn.settings import SelfPlay, Teacher, TrainConfig
from anabranch.search.settings.config import PlayoutCap


def settings(game: ab.Game, **changes) -> TrainConfig:
    made = preset(game)
    search = dataclasses.replace(made.search, cap=PlayoutCap(full=16, fast=4, chance=0.5))
    self_play = dataclasses.replace(made.self_play, **{"abreast": 4, **changes})
    return dataclasses.replace(made, search=search, self_play=self_play)


def answer(game: ab.Game):
    def function(observations):
        logits, _ = network(observations)
        many = np.resize(logits, (len(logits), game.actions)) if game.actions > 9 else logits[:, : game.actions]
        low, high = game.returns
        values = (low + high) / 2 + (high - low) / 4 * logits[:, :1] * np.ones((1, game.players))
        return many, values

    return ab.Network(function)


def played(game: ab.Game, numbers: int = 12, **changes) -> list[GameRecord]:
    found: list[GameRecord] = []
    with Worker(game, settings(game, **changes), answer(game), version=7) as worker:
        for ended in worker.play(iter(range(numbers))):
            found += ended
    return sorted(found, key=lambda record: record.id)


@pytest.mark.parametrize("name", ["tic_tac_toe", "goofspiel", "pig"])
def test_what_is_proven_is_learnt_as_such(name):
    """Values and policies of proven roots are exact by the oracle, and fast searches that prove theirs are recorded."""
    game = ab.games.load(name, **({"cards": 3} if name == "goofspiel" else {"target": 6} if name == "pig" else {}))
    made = settings(game)
    cap = PlayoutCap(full=64, fast=32, chance=0.2)
    made = dataclasses.replace(made, search=dataclasses.replace(made.search, cap=cap, proofs="on"))
    known = ab.solve(game)
    proven = 0
    with Worker(game, made, answer(game)) as worker:
        records = [record for ended in worker.play(iter(range(12))) for record in ended]
    for record in records:
        for decision, state in zip(record.decisions, record.states(game), strict=True):
            if not decision.proven:
                continue
            proven += 1
            assert decision.full
            np.testing.assert_allclose(decision.value, known.value_of(state), atol=1e-9)
            if len(seats_of(state)) == 1:
                assert set(decision.policy[0]) <= set(known.best_of(state)[seats_of(state)[0]])
    assert proven > 10, proven


def test_whoever_played_all_its_games_may_be_given_others():
    """The same games as a worker's that plays them all in one go; and games under way go on in the next call."""
    game = ab.games.load("tic_tac_toe")
    whole = played(game, 12)
    with Worker(game, settings(game), answer(game), version=7) as worker:
        found = [
            record for numbers in ((0, 4), (4, 12)) for ended in worker.play(iter(range(*numbers))) for record in ended
        ]
        rows = worker.rows
        assert list(worker.play(iter(()))) == []
        assert worker.rows == rows > 0
    assert sorted(found, key=lambda record: record.id) == whole
    with Worker(game, settings(game), answer(game), version=7) as worker:
        numbers = iter(range(12))
        found = next(ended for ended in worker.play(numbers) if ended)
        found += [record for ended in worker.play(numbers) for record in ended]
    assert sorted(found, key=lambda record: record.id) == whole


GAMES = ["tic_tac_toe", "pig", "goofspiel", "pyrat"]


@pytest.mark.parametrize("name", GAMES)
def test_a_record_can_be_played_again(name):
    """Its positions are decisions, its moves legal, its rewards those of the rules, its policies over choices."""
    game = ab.games.load(name)
    records = played(game, 6)
    assert [record.id for record in records] == list(range(6))
    for record in records:
        state = game.start(record.seed)
        for outcome in record.dice:
            state, _ = state.step(outcome)
        total = np.zeros(game.players)
        for at, decision in enumerate(record.decisions):
            assert isinstance(state.turn, tuple)
            for seat, policy in zip(state.turn, decision.policy, strict=False):
                assert set(policy) <= set(state.choices(seat))
                assert sum(policy.values()) == pytest.approx(1.0)
            assert bool(decision.policy) == decision.full
            assert (decision.visits > 0) == (at >= record.opened)
            state, rewards = state.step(list(decision.actions))
            for outcome in decision.dice:
                state, more = state.step(outcome)
                rewards = rewards + more
            np.testing.assert_allclose(rewards, decision.rewards)
            total += rewards
            assert decision.model == 7
        assert state.over == record.finished
        np.testing.assert_allclose(record.returns, total)


@pytest.mark.parametrize("name", GAMES)
def test_a_game_does_not_depend_on_who_plays_beside_it(name):
    game = ab.games.load(name)
    assert played(game, 7, abreast=1) == played(game, 7, abreast=5)


@pytest.mark.parametrize("entries", [3, 10_000])
def test_a_cache_changes_no_game(entries):
    """Of any size: what is kept is what was answered."""
    game = ab.games.load("tic_tac_toe")
    asked: list[int] = []

    def counted() -> ab.Network:
        plain = answer(game).function

        def function(observations):
            asked.append(len(observations))
            return plain(observations)

        return ab.Network(function)

    def all_of(cache: int) -> tuple[list[GameRecord], int]:
        asked.clear()
        with Worker(game, settings(game, cache=cache), counted(), version=7) as worker:
            found = [record for batch in worker.play(iter(range(24))) for record in batch]
        return found, sum(asked)

    plain, rows = all_of(0)
    kept, fewer = all_of(entries)
    assert plain == kept
    assert fewer < rows


def test_games_are_replaced_as_they_end_and_numbers_run_out():
    game = ab.games.load("tic_tac_toe")
    with Worker(game, settings(game), answer(game)) as worker:
        ended = [record.id for batch in worker.play(iter(range(23))) for record in batch]
    assert sorted(ended) == list(range(23))


def test_weights_are_changed_without_losing_games():
    game = ab.games.load("tic_tac_toe")
    records: list[GameRecord] = []
    with Worker(game, settings(game), answer(game), version=1) as worker:
        batches = worker.play(count())
        for _ in range(30):
            records += next(batches)
        worker.use(answer(game), 2)
        while len(records) < 12:
            records += next(batches)
    models = [[decision.model for decision in record.decisions] for record in records]
    assert any(len(set(versions)) == 2 for versions in models)
    assert all(versions == sorted(versions) for versions in models)


def test_full_searches_come_at_the_chance_of_the_cap():
    game = ab.games.load("tic_tac_toe")
    records = played(game, 60, openings=0.0)
    searched = [decision for record in records for decision in record.decisions]
    share = sum(decision.full for decision in searched) / len(searched)
    assert abs(share - 0.5) < 4 * (0.25 / len(searched)) ** 0.5
    assert all(decision.visits >= (16 if decision.full else 4) for decision in searched)


@pytest.mark.parametrize("name", ["tic_tac_toe", "goofspiel"])
def test_caps_and_noise_follow_the_seed_of_the_run(name):
    """Of two runs that differ in their seed alone, not even the searches' own draws are the same."""
    game = ab.games.load(name)
    plain = settings(game, openings=0.0, temperature=0.0, late_temperature=0.0)
    full = []
    for seed in (0, 1, 0):
        with Worker(game, dataclasses.replace(plain, seed=seed), answer(game)) as worker:
            found = [record for ended in worker.play(iter(range(8))) for record in ended]
        found.sort(key=lambda record: record.id)
        full.append([[decision.full for decision in record.decisions[:3]] for record in found])
    assert full[0] == full[2]
    assert full[0] != full[1]


def test_openings_are_random_moves_that_do_not_end_the_game():
    game = ab.games.load("tic_tac_toe")
    records = played(game, 40, openings=1.0, opening_plies=6)
    assert {record.opened for record in records} == set(range(1, 7))
    assert all(len(record.decisions) > record.opened for record in records)
    assert all(record.opened == 0 for record in played(game, 10, openings=0.0))
    assert all(record.opened == 0 for record in played(game, 10, openings=1.0, opening_plies=0))


def test_a_game_that_is_too_long_is_cut_off():
    game = ab.games.load("tic_tac_toe")
    records = played(game, 6, longest=3, openings=0.0)
    assert all(len(record.decisions) == 3 and not record.finished for record in records)


def test_temperature_falls_by_halves():
    settings = SelfPlay(temperature=1.0, late_temperature=0.2, half_life=10)
    assert [temperature(n, settings) for n in (0, 10, 20)] == pytest.approx([1.0, 0.6, 0.4])
    assert temperature(10_000, settings) == pytest.approx(0.2)


class Steps(ab.ObjectGame):
    """One player walks to the end; what may be changed about the rules are arguments."""

    def __init__(self, length: int = 4, pays: float = 1.0, sees: float = 0.0) -> None:
        self.players, self.actions, self.observation = 1, 2, (1,)
        self.length, self.pays, self.sees = length, pays, sees

    def setup(self, random):
        return 0

    def turn(self, state):
        return ab.OVER if state >= self.length else ab.player(0)

    def legal(self, state, player):
        return [0, 1] if state < 2 else [0]

    def step(self, state, actions):
        return state + 1, [self.pays if state + 1 == self.length else 0.0]

    def observe(self, state, player):
        return [self.sees if state == 2 else state]


@pytest.mark.parametrize("changed", [{"length": 3}, {"length": 5}, {"pays": 0.5}])
def test_games_of_other_rules_are_not_learnt_from(changed):
    """Rules that were edited while a run rested: what was recorded does not come out again."""
    record = played(Steps(), 1, openings=0.0)[0]
    assert len(list(record.states(Steps()))) == 4
    with pytest.raises(DataError, match="is not what it was when it was recorded"):
        list(record.states(Steps(**changed)))


@pytest.mark.parametrize("sees", [float("nan"), float("inf")])
def test_what_cannot_be_learnt_from_is_the_games_fault_and_named(sees):
    """Rollouts look at no observations, so a teacher's games reach the replay; the learner would spin on them."""
    record = played(Steps(), 1, openings=0.0)[0]
    record = dataclasses.replace(
        record,
        decisions=tuple(dataclasses.replace(each, full=True, policy=({0: 1.0},)) for each in record.decisions),
    )
    game = Steps(sees=sees)
    replay = Replay(game, preset(game).replay, preset(game).targets)
    with pytest.raises(GameError, match="not finite, to player 0 after 2 decisions of game 0"):
        replay.add(record)
    assert replay.total == 0


class Stuck(Steps):
    """Whoever moves third has no legal action."""

    def legal(self, state, player):
        return [] if state == 2 else super().legal(state, player)


def test_rules_that_leave_somebody_nothing_to_do_are_named_where_moves_are_random():
    for changes in ({"openings": 1.0, "opening_plies": 9}, {"random_games": 1}):
        with pytest.raises(GameError, match="acting player 0 has no legal action in\n2"):
            played(Stuck(), 9, **changes)
    with pytest.raises(GameError, match="acting player 0 has no legal action in\n2"):
        frozen_positions(Stuck(), 4)


# A teacher that follows the rollout policy


def followed(game: ab.Game, rollouts: int, games: int = 8, chance: float = 1.0) -> list[GameRecord]:
    teacher = Teacher(plays="policy", positions=1, full=rollouts, chance=chance)
    config = dataclasses.replace(settings(game, openings=0.0), teacher=teacher)
    found: list[GameRecord] = []
    with Worker(game, config, ab.Rollout()) as worker:
        for ended in worker.play(iter(range(games))):
            found += ended
    return found


def test_a_teacher_by_policy_plays_what_rollouts_play():
    """Its moves are the rollout policy's, which are the policies to learn; a last mark is worth what it scores."""
    game = ab.games.load("yatzy", categories="chance,yatzy")
    records = followed(game, rollouts=2)
    assert len(records) == 8
    for record in records:
        for decision, state in zip(record.decisions, record.states(game), strict=True):
            action = game.rules.rollout_action(state.data, 0, ab.Random(0))
            assert decision.actions == (action,)
            assert decision.policy == ({action: 1.0},)
        assert record.decisions[-1].value == record.decisions[-1].rewards


def test_a_teacher_by_policy_values_states_by_what_the_policy_gets():
    """Chance alone, three rolls: what rollouts of first hands get is on average what chance is worth by the rules."""
    game = ab.games.load("yatzy", categories="chance")
    values = [record.decisions[0].value[0] for record in followed(game, rollouts=50, games=300)]
    assert np.mean(values) == pytest.approx(23.333333, abs=0.35)  # three standard errors of a first hand's worth


def test_a_teacher_by_policy_records_a_share_of_its_moves():
    records = followed(ab.games.load("yatzy", categories="chance,yatzy"), rollouts=1, games=60, chance=0.25)
    shares = [decision.full for record in records for decision in record.decisions]
    assert 0.15 < np.mean(shares) < 0.35
    assert all(bool(decision.policy) == decision.full for record in records for decision in record.decisions)


def test_a_teacher_by_policy_needs_one():
    with pytest.raises(UsageError, match="rollout_action"):
        followed(ab.games.load("tic_tac_toe"), rollouts=1)
