"""Reanalysis: what games of the window teach is found again with newer weights, and nothing else changes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests import test_muzero_runs, test_training
from tests.laws.test_planned_self_play import Opinions, SeenRules
from tests.test_training import SAID, all_of

import anabranch as ab
from anabranch.cli import GOOD, main
from anabranch.learn import reanalysis
from anabranch.learn.loop import Training
from anabranch.learn.presets import preset
from anabranch.learn.reanalysis import NEVER, Reanalysis
from anabranch.learn.records import Decision, GameRecord, seats_of
from anabranch.learn.replay import RENEWED, Replay
from anabranch.learn.run_folder import RunFolder, examine
from anabranch.learn.selfplay import Worker
from anabranch.learn.settings import Targets, TrainConfig
from anabranch.learn.targets import steps_of
from anabranch.learn.thinking import Found
from anabranch.learn.train import train

GAME = ab.games.load("tic_tac_toe")
TINY = {"muzero": test_muzero_runs.tiny, "alphazero": test_training.tiny}
EXACT = ab.SearchConfig(
    selector=ab.Gumbel(noise=0.0, scale="range"),
    transposition=ab.Transposition(merge=False),
    cap=ab.PlayoutCap(full=24, fast=6, chance=0.5),
    proofs="off",
)


class Others(Opinions):
    """Opinions of a later day."""

    def evaluate(self, batch: ab.Batch) -> tuple[Any, Any]:
        logits, values = super().evaluate(batch)
        return -logits, values[:, ::-1].copy()


class Values(Opinions):
    """Opinions of values alone, for players who choose at once."""

    def evaluate(self, batch: ab.Batch) -> tuple[Any, Any]:
        return None, super().evaluate(batch)[1]


def settings(method: Any, *, share: float = 1.0, abreast: int = 5, **replayed: Any) -> TrainConfig:
    made = preset(GAME, "muzero")
    return replace(
        made,
        method=method,
        net=made.net if method == "muzero" else replace(made.net, architecture="mlp"),
        search=EXACT,
        self_play=replace(made.self_play, abreast=abreast, random_games=2, keep="nothing"),
        replay=replace(made.replay, reanalysed=share, symmetries=False, **replayed),
        targets=Targets(mix=0.5, steps=2),
    )


def window(config: TrainConfig, game: ab.Game = GAME) -> Reanalysis:
    unroll = 3 if config.method == "muzero" else 0
    return Reanalysis(game, config, Replay(game, config.replay, config.targets, unroll))


def played(config: TrainConfig, evaluator: Any, count: int, game: ab.Game = GAME) -> list[GameRecord]:
    with Worker(game, config, evaluator) as worker:
        found = [record for ended in worker.play(iter(range(count))) for record in ended]
    return sorted(found, key=lambda record: record.id)


def asked(method: str, evaluator: Any) -> Any:
    return SeenRules(GAME, evaluator) if method == "muzero" else evaluator


def taught_by(made: Reanalysis) -> dict[str, np.ndarray]:
    """What the window teaches, as it is."""
    replay = made.replay
    return {name: replay._columns[name][replay._first : replay._end].copy() for name in RENEWED if name in replay.names}


def search_all(made: Reanalysis, evaluator: Any, version: int) -> None:
    made.earn(10_000)
    while made.think(evaluator, version):
        pass


# What is found


def test_what_is_proven_is_not_searched_again():
    """No search betters it: exact values and the proof's policies stay, and cost nothing."""
    config = settings("alphazero")
    config = replace(config, search=replace(EXACT, proofs="on", cap=ab.PlayoutCap(full=60, fast=60, chance=1.0)))
    made = window(config)
    before = played(config, Opinions(), 12)
    proven = [decision for record in before for decision in record.decisions if decision.proven]
    assert len(proven) > 15
    for record in before:
        made.add(record)
    made.config = replace(made.config, search=replace(EXACT, proofs="off"))  # which would prove nothing
    search_all(made, Others(), 1)
    again = [kept.record for kept in made._games]
    assert [decision for record in again for decision in record.decisions if decision.proven] == proven
    assert made.count == sum(record.recorded for record in before) - len(proven)
    whole = replace(before[0], decisions=tuple(replace(each, proven=True) for each in before[0].decisions))
    assert made._oldest(whole) == NEVER


@pytest.mark.parametrize("method", ["muzero", "alphazero"])
def test_what_is_found_again_is_what_a_fresh_search_finds(method):
    """With the exact rules as its model muzero's too, visit for visit; also of moves that were random, there."""
    config = settings(method)
    made = window(config)
    before = played(config, asked(method, Opinions()), 6)
    for record in before:
        made.add(record)
    search_all(made, asked(method, Others()), 1)
    fresh = replace(EXACT, cap=None)
    again = [kept.record for kept in made._games]
    assert made.count == sum(len(record.decisions) if method == "muzero" else record.recorded for record in before)
    for old, new in zip([record for record in before if method == "muzero" or record.recorded], again, strict=True):
        for state, was, now in zip(old.states(GAME), old.decisions, new.decisions, strict=True):
            assert (was.actions, was.dice, was.rewards) == (now.actions, now.dice, now.rewards)
            if method == "alphazero" and not was.full:
                assert was == now
                continue
            found = ab.search(state, evaluator=Others(), simulations=24, config=fresh)
            assert (now.visits, now.full, now.model) == (24, True, 1)
            (policy,) = now.policy
            (seat,) = seats_of(state)
            shares = found.policy[seat]
            assert policy == {action: share for action, share in enumerate(shares) if share}
            assert now.value == tuple(found.value)


@pytest.mark.parametrize("method", ["muzero", "alphazero"])
def test_the_same_weights_find_the_same(method):
    config = settings(method)
    config = replace(config, self_play=replace(config.self_play, openings=0.0, random_games=0))
    config = replace(config, search=replace(EXACT, cap=ab.PlayoutCap(full=24, fast=24, chance=1.0)))
    made = window(config)
    for record in played(config, asked(method, Opinions()), 6):
        made.add(record)
    before = taught_by(made)
    search_all(made, asked(method, Opinions()), 1)
    assert made.count > 30
    for name, column in taught_by(made).items():
        assert (column == before[name]).all(), name


@pytest.mark.parametrize("name", ["goofspiel", "pig"])
def test_choices_at_once_and_dice(name):
    options = {"cards": 4} if name == "goofspiel" else {"target": 20}
    game = ab.games.load(name, **options)
    base = preset(game)
    config = replace(
        base,
        self_play=replace(base.self_play, abreast=8),
        search=replace(base.search, cap=ab.PlayoutCap(full=12, fast=4, chance=0.5)),
        replay=replace(base.replay, reanalysed=1.0),
    )
    made = window(config, game)
    for record in played(config, Values(), 8, game):
        made.add(record)
    search_all(made, Values(), 1)
    full = [decision for kept in made._games for decision in kept.record.decisions if decision.full]
    assert made.count == len(full) > 4
    assert all(decision.model == 1 for decision in full)
    assert all(abs(sum(policy.values()) - 1.0) < 1e-6 for decision in full for policy in decision.policy)


# Which positions, and how many


def test_only_newer_weights_replace_what_was_found():
    config = settings("muzero")
    made = window(config)
    first, *others = played(config, asked("muzero", Opinions()), 4)[2:]
    half = len(first.decisions) // 2
    mixed = [replace(each, model=7 if t >= half else 3) for t, each in enumerate(first.decisions)]
    made.add(replace(first, decisions=tuple(mixed)))
    for record in others:
        made.add(replace(record, decisions=tuple(replace(each, model=7) for each in record.decisions)))
    before = taught_by(made)
    search_all(made, asked("muzero", Others()), 3)
    assert made.count == 0
    search_all(made, asked("muzero", Others()), 7)
    assert made.count == half
    after = taught_by(made)
    assert (after["policy"][half:] == before["policy"][half:]).all()
    assert (after["policy"][:half] != before["policy"][:half]).any(axis=1).all()
    assert [decision.model for decision in made._games[0].record.decisions] == [7] * len(first.decisions)


def test_positions_of_the_oldest_weights_come_first_and_are_counted():
    config = settings("muzero", share=0.5, abreast=9)
    made = window(config)
    records = played(config, asked("muzero", Opinions()), 8)[2:]
    models = [5, 2, 4, 1, 5, 2]
    for model, record in zip(models, records, strict=True):
        made.add(replace(record, decisions=tuple(replace(each, model=model) for each in record.decisions)))
    order = []
    model = asked("muzero", Others())
    made.earn(16)
    assert not made.think(model, 6)  # 8 are owed, 9 are searched at once
    for _ in range(3):
        made.earn(200)
        waiting = {kept.first for kept in made._games if kept.oldest < 6}
        made.abreast = 1
        assert made.think(model, 6)
        (chosen,) = waiting - {kept.first for kept in made._games if kept.oldest < 6}
        order.append([kept.first for kept in made._games].index(chosen))
    assert order == [3, 1, 5]
    assert made.count == sum(len(records[number].decisions) for number in order)


# By hand


class Says:
    """Who thinks, and finds a value at the first position, a tenth more at the next, and so on."""

    def __init__(self, value: float, playing: Any) -> None:
        self.value, self.lanes = value, list(range(len(playing)))

    def go_on(self) -> list[int]:
        return self.lanes

    def found(self, lanes: list[int]) -> list[Found]:
        policy = [[0.0] * 9, [0.0] * 9]
        policy[0][8] = policy[1][8] = 1.0
        values = [self.value + 0.1 * lane for lane in lanes]
        return [Found(policy, policy, [value, -value], 4, True) for value in values]

    def think(self, played: Any, begun: Any) -> None:
        assert not begun

    def close(self) -> None: ...


def test_a_bootstrap_is_the_new_value_of_its_root(monkeypatch):
    """1-step returns of five moves, the last of which wins; roots are found to be worth .5, .6, .7, .8 and .9.

    The first move was random. What follows it is not what a player who searches gets: its root's own value is learnt.
    """
    paid = [(0.0, 0.0)] * 4 + [(1.0, -1.0)]
    decisions = tuple(
        Decision((action,), (), reward, (0.25, -0.25), ({action: 1.0},), 4, full=True)
        if number
        else Decision((action,), (), reward, (0.0, 0.0))
        for number, (action, reward) in enumerate(zip((0, 3, 1, 4, 2), paid, strict=True))
    )
    config = replace(settings("muzero"), targets=Targets(mix=1.0, steps=1))
    made = window(config)
    made.add(GameRecord(0, 0, (), decisions, opened=1))
    before = taught_by(made)
    assert before["values"][1:, 0].tolist() == [0.25, 0.25, 0.25, 1.0]
    assert before["valued"].tolist() == before["searched"].tolist() == [False, True, True, True, True]
    monkeypatch.setattr(reanalysis, "thinker", lambda game, config, evaluator, playing: Says(0.5, playing))
    search_all(made, None, 1)
    after = taught_by(made)
    assert after["values"][:, 0].tolist() == pytest.approx([0.5, 0.7, 0.8, 0.9, 1.0])
    assert after["valued"].all()
    assert after["searched"].all()
    assert (after["policy"].argmax(axis=1) == 8).all()


def test_the_window_says_what_its_games_say(monkeypatch):
    """Also of games that came in while others left it, and that were found again several times."""
    config = settings("muzero", abreast=40, window=700, growth=0.0)
    config = replace(config, self_play=replace(config.self_play, random_games=400))
    made = window(config)
    for number, record in enumerate(played(config, Opinions(), 400)):
        made.add(record)
        value = number / 400
        monkeypatch.setattr(reanalysis, "thinker", lambda game, config, evaluator, playing: Says(value, playing))  # noqa: B023
        made.earn(2 * number)
        made.think(None, number // 30)
    assert made.count > 2_000
    replay = made.replay
    assert len(replay) == 700
    assert replay._moved > 0  # what had left was overwritten
    assert replay.numbers.start <= made._games[0].first < replay.numbers.start + 9
    assert sum(len(kept.record.decisions) for kept in made._games) == replay.numbers.stop - made._games[0].first
    for kept in made._games:
        rows = steps_of(kept.record, GAME, config.targets)
        assert rows is not None
        place = kept.first - replay._moved
        for name in replay.names:
            assert (replay._columns[name][place : place + len(rows)] == getattr(rows, name)).all(), name


# Runs


@pytest.fixture(scope="module", params=["muzero", "alphazero"])
def run(request, tmp_path_factory):
    """A run of 25 steps in which positions are searched again."""
    folder = tmp_path_factory.mktemp("reanalysed") / "run"
    shown: list[str] = []
    config = TINY[request.param]("most_steps=25", "rating.models=0", "replay.reanalysed=0.5")
    train(folder, SAID, config, progress=lambda status: shown.append(str(status)))
    return request.param, folder, shown


def counted(folder: Any) -> list[int]:
    with RunFolder.open(folder) as opened:
        return [row["reanalysed"] for row in opened.ledger.rows["metrics"]]


def test_a_run_counts_and_says_what_was_searched_again(run, capsys):
    _, folder, shown = run
    done = counted(folder)[-1]
    assert 50 < done <= 0.5 * 25 * 16
    assert any(f", {done} reanalysed, " in words for words in shown)
    assert main(["stats", str(folder)]) == GOOD
    assert "reanalysed" in capsys.readouterr().out


def test_a_seed_decides_games_and_weights(run, tmp_path):
    method, folder, _ = run
    pairs = ("most_steps=25", "rating.models=0")
    train(tmp_path / "same", SAID, TINY[method](*pairs, "replay.reanalysed=0.5"))
    assert all_of(folder) == all_of(tmp_path / "same")
    train(tmp_path / "without", SAID, TINY[method](*pairs))
    assert all_of(folder) != all_of(tmp_path / "without")


def test_a_share_of_nothing_is_as_if_it_were_not_there(tmp_path, monkeypatch):
    pairs = ("most_steps=25", "rating.models=0")
    train(tmp_path / "with", SAID, TINY["muzero"](*pairs))
    monkeypatch.setattr(Training, "reanalyse", lambda self: None)
    monkeypatch.setattr(Reanalysis, "add", lambda self, record: self.replay.add(record))
    train(tmp_path / "without", SAID, TINY["muzero"](*pairs))
    assert all_of(tmp_path / "with") == all_of(tmp_path / "without")
    assert counted(tmp_path / "with")[-1] == 0


def test_a_run_goes_on_and_its_games_stay_as_they_were_played(run, tmp_path):
    method, _, _ = run
    for steps in (30, 45):  # the second count begins where the first ended
        config = TINY[method](f"most_steps={steps}", "rating.models=0", "replay.reanalysed=0.5")
        done = train(tmp_path / "run", SAID, config)
    assert done.step == 45
    assert sorted(counted(tmp_path / "run")) == counted(tmp_path / "run")
    assert counted(tmp_path / "run")[-1] > 0.25 * 45 * 16
    assert not [wrong for _, wrong in examine(tmp_path / "run") if wrong]
    games, _ = all_of(tmp_path / "run")
    for record in games:
        assert not any(decision.visits for decision in record.decisions[: record.opened])
