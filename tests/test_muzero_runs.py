"""Training by muzero is the loop that there is: seeds, resumption, processes, agents, reports and refusals."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.test_training import SAID, TINY, all_of

import anabranch as ab
from anabranch.cli import GOOD, USAGE, main
from anabranch.errors import UsageError
from anabranch.learn.fork import fork
from anabranch.learn.game_of_run import described
from anabranch.learn.imagination import WORDS
from anabranch.learn.loop import Training
from anabranch.learn.players import InProcess
from anabranch.learn.presets import preset
from anabranch.learn.processes import Processes
from anabranch.learn.records import Decision, GameRecord
from anabranch.learn.run_folder import RunFolder, examine
from anabranch.learn.selfplay import Worker
from anabranch.learn.settings import Targets, TrainConfig
from anabranch.learn.stopping import Stopping
from anabranch.learn.targets import steps_of
from anabranch.learn.train import train
from anabranch.play.agent import Turn
from anabranch.play.names import agent_by_name
from anabranch.play.plan_agent import PlanAgent
from anabranch.search.settings.mapping import from_pairs

GAME = ab.games.load("tic_tac_toe")
SMALL = (*TINY, "net.width=16", "net.latent=8", "net.layers=1", "self_play.random_games=20", "replay.held_out=4")


def tiny(*more: str, game: ab.Game = GAME) -> TrainConfig:
    return from_pairs([*SMALL, *more], base=preset(game, "muzero"))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of 25 steps."""
    folder = tmp_path_factory.mktemp("muzero") / "run"
    done = train(folder, SAID, tiny("most_steps=25"))
    return folder, done


def newest(folder: Path) -> str:
    return str(sorted((folder / "models").glob("*.safetensors"))[-1])


def test_a_run_ends_with_models_scores_ratings_and_no_damage(run):
    folder, done = run
    assert (done.whole, done.step, done.method) == (True, 25, "muzero")
    assert done.score["positions"] == 20
    assert {"random", "model 3"} <= {each.agent for each in done.rated.rated}
    assert not [wrong for _, wrong in examine(folder) if wrong]


def test_what_the_model_imagines_is_compared_with_games_it_has_not_learnt_from(run):
    folder, _ = run
    with RunFolder.open(folder) as opened:
        errors = opened.ledger.rows["metrics"][-1]["model"]
        losses = opened.ledger.rows["metrics"][-1]["losses"]
    assert set(errors) == set(WORDS)
    assert all(len(each) == 5 for each in errors.values())
    assert set(losses["more"]) == {"reward", "end", "legal", "mover"}


def test_stats_and_report_show_it(run, tmp_path, capsys):
    folder, done = run
    page = tmp_path / "report.html"
    assert main(["stats", str(folder), "--report", str(page)]) == GOOD
    shown = capsys.readouterr().out
    assert "reward 1" in shown
    assert f" {done.positions} positions to learn from" in shown
    assert WORDS["missed"] in page.read_text(encoding="utf-8")


def test_a_seed_decides_games_and_weights(run, tmp_path):
    folder, _ = run
    train(tmp_path / "same", SAID, tiny("most_steps=25", "rating.models=0"))
    train(tmp_path / "other", SAID, tiny("most_steps=25", "rating.models=0", "seed=1"))
    assert all_of(folder) == all_of(tmp_path / "same")
    assert all_of(folder) != all_of(tmp_path / "other")


def test_a_run_goes_on_with_its_learner_and_its_games(run, tmp_path):
    del run
    for steps in (10, 60):
        done = train(tmp_path / "run", SAID, tiny(f"most_steps={steps}", "rating.models=0"))
    assert done.step == 60
    games, _ = all_of(tmp_path / "run")
    numbers = [record.id for record in games]
    assert len(set(numbers)) == len(numbers)
    assert set(range(20)) <= set(numbers)
    first = [record for record in games if record.id < 20]
    assert all(record.opened == len(record.decisions) for record in first)


def test_a_fork_begins_with_the_weights(run, tmp_path):
    folder, _ = run
    row = fork(folder, tmp_path / "other")
    assert row["step"] == 0
    done = train(tmp_path / "other", SAID, tiny("most_steps=3"))
    assert done.step == 3


def test_other_processes_play_the_same_games():
    config = tiny("workers=1", "self_play.random_games=5")
    evaluator = ab.Torch(ab.nets.make("world_mlp", GAME, width=16, latent=8, layers=1, seed=3))
    players = Processes(SAID, config, evaluator, 0, count())
    try:
        found: dict[int, Any] = {}
        while not set(range(12)) <= set(found):
            found |= {record.id: record for record in players.games()}
    finally:
        players.close()
    with Worker(GAME, config, evaluator) as worker:
        here = {record.id: record for ended in worker.play(iter(range(12))) for record in ended}
    for number in range(12):
        assert [d.actions for d in found[number].decisions] == [d.actions for d in here[number].decisions]
        assert [d.visits for d in found[number].decisions] == [d.visits for d in here[number].decisions]


def test_a_file_plays_by_its_name(run, capsys):
    """As a model that is planned in, and as a network that is searched with by the rules."""
    folder, _ = run
    for agent in (f"plan:model={newest(folder)},simulations=8", f"search:evaluator={newest(folder)},simulations=8"):
        assert main(["match", "tic_tac_toe", agent, "random", "--games", "4", "--json"]) == GOOD
        assert json.loads(capsys.readouterr().out)


def test_a_name_makes_the_same_agent_again(run, monkeypatch):
    folder, _ = run
    monkeypatch.chdir(folder / "models")
    agent = agent_by_name(f"plan:model={Path(newest(folder)).name},simulations=8,selector.considered=4")
    again = agent_by_name(agent.name)
    assert again.name == agent.name
    assert "simulations=8" in agent.name
    assert "selector.considered=4" in agent.name
    state, _ = GAME.start().step(4)
    turns = [Turn(state, 1, seed=seed) for seed in range(3)]
    assert agent.choose(turns) == again.choose(turns)


def test_a_temperature_draws(run):
    folder, _ = run
    turns = [Turn(GAME.start(), 0, seed=seed) for seed in range(40)]
    assert len(set(PlanAgent(newest(folder), simulations=4, temperature=5.0).choose(turns))) > 3
    assert len(set(PlanAgent(newest(folder), simulations=4).choose(turns))) == 1


def test_three_players_train_and_play(tmp_path):
    options = {"players": 3, "size": 4, "line": 3}
    game = ab.games.load("n_in_a_row", **options)
    config = tiny("most_steps=6", "rating.models=1", "rating.positions=0", "rating.games=6", game=game)
    config = from_pairs(["rating.anchors=random"], base=config)
    done = train(tmp_path / "run", described("n_in_a_row", options), config)
    assert {each.agent for each in done.rated.rated} == {"random", "model 1"}


def test_the_command_takes_a_method(tmp_path, capsys):
    pairs = [word for pair in (*SMALL, "most_steps=4", "rating.models=0") for word in ("--set", pair)]
    command = ["train", "tic_tac_toe", "--method", "muzero", "--run", str(tmp_path / "run"), *pairs]
    assert main(command) == GOOD
    assert "plan:model=" in capsys.readouterr().out
    assert main(["train", "tic_tac_toe", "--run", str(tmp_path / "run")]) == GOOD  # goes on as it was begun


# What is refused


def test_methods_need_networks_of_their_own():
    with pytest.raises(UsageError, match="world_mlp, world_tower or world_dice"):
        TrainConfig(method="muzero")
    with pytest.raises(UsageError, match=r"alphazero needs net\.architecture mlp or tower"):
        tiny("method=alphazero")
    with pytest.raises(UsageError, match=r"export.evaluator"):
        tiny("export.evaluator=int8")


def test_players_who_choose_at_once_are_refused_before_a_run_is_made(tmp_path):
    with pytest.raises(UsageError, match="choose at once"):
        train(tmp_path / "run", described("goofspiel", {}), preset(ab.games.load("goofspiel"), "muzero"))
    assert not (tmp_path / "run").exists()


def test_players_who_choose_at_once_later_in_a_game_are_refused_when_it_is_learnt_from():
    game = ab.games.load("goofspiel", cards=4)
    first = game.start().legal(0)[0], game.start().legal(1)[0]
    with pytest.raises(UsageError, match="goofspiel: players choose at once"):
        steps_of(GameRecord(0, 0, (), (Decision(first, (), (0.0, 0.0), (0.0, 0.0)),)), game, Targets())


def test_a_run_whose_first_game_is_held_out_waits_for_another(tmp_path):
    pairs = ("replay.least=1", "replay.shard=1", "learner.batch=2", "self_play.abreast=1", "most_steps=2")
    done = train(tmp_path / "run", SAID, tiny(*pairs, "rating.models=0", "rating.positions=0"))
    assert (done.step, done.games) == (2, 2)


def test_a_network_that_does_not_know_the_rules_cannot_be_planned_in(tmp_path):
    path = ab.nets.save(tmp_path / "net.safetensors", ab.nets.make("mlp", GAME))
    with pytest.raises(UsageError, match="does not say where actions lead"):
        ab.match(GAME, f"plan:model={path}", "random", games=2)
    assert main(["match", "tic_tac_toe", "plan:simulations=4", "random", "--games", "2"]) == USAGE


# Weights that are lost


HEADS = ("policy", "value", "legal", "reward", "end", "mover")


def test_a_head_that_says_nan_brings_the_last_good_weights_back_and_it_is_said(tmp_path):
    """One head after another, by a number of its own weights; the run ends as it should, and no weight stays lost."""
    config = tiny("most_steps=25", "rating.models=0", "rating.positions=0")
    said: list[str] = []
    with RunFolder.create(tmp_path / "run", SAID, config, said.append) as opened, Stopping() as stop:
        training = Training(opened, GAME, config)
        real = training.learner.learn
        ruined: list[str] = []

        def learn(rows: Any) -> Any:
            if training.learner.step >= 10 and len(ruined) < len(HEADS):
                name = HEADS[len(ruined)]
                ruined.append(name)
                weights = [each for key, each in training.learner.net.named_parameters() if name in key.split(".")]
                with torch.no_grad():
                    weights[-1].view(-1)[0] = float("nan")
                before = training.learner.restores
                assert real(rows) is None
                assert training.learner.restores == before + 1
                return None
            return real(rows)

        training.learner.learn = learn  # type: ignore[method-assign]
        assert training.train(lambda *given: InProcess(GAME, config, *given), stop)
        assert tuple(ruined) == HEADS
        for name, tensor in training.learner.state().items():
            assert bool(torch.isfinite(tensor).all()), name
    assert any("back to the last good weights" in words for words in said)
