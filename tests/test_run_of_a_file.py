"""Runs of a user's own file of rules: gone on with wherever it lies, and refused once it is another game."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.test_training import TINY

import anabranch as ab
from anabranch.cli import BAD_DATA, GOOD, USAGE, main
from anabranch.learn.presets import preset
from anabranch.learn.run_folder import RunFolder
from anabranch.learn.train import game_of, means_of_dice

RULES = '''
import numpy as np

import anabranch as ab


class Pick(ab.ObjectGame):
    """Two players take one to `most` of nine stones in turn; who takes the last one wins."""

    def __init__(self, most=2):
        self.players, self.actions, self.observation, self.most = 2, most, (10,), most

    def setup(self, random):
        return (9, 0)

    def turn(self, state):
        return ab.player(state[1]) if state[0] else ab.OVER

    def legal(self, state, player):
        return list(range(min(self.most, state[0])))

    def step(self, state, actions):
        left = state[0] - actions[state[1]] - 1
        gain = 0.0 if left else 1.0 if state[1] == 0 else -1.0
        return (left, 1 - state[1]), [gain, -gain]

    def observe(self, state, player):
        return np.eye(10)[state[0]]
'''
SMALL = (*TINY, "net.architecture=mlp", "net.width=8", "rating.models=0")
SETTINGS = [word for pair in SMALL for word in ("--set", pair)]

ALONE = [word for pair in (*SMALL, "learner.batch=8", "replay.least=8") for word in ("--set", pair)]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the file and a run of it, in which one stands."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pick.py").write_text(RULES)
    assert trained("pick.py:Pick", "--set", "most_steps=6", *SETTINGS) == GOOD
    return tmp_path


def trained(game: str, *words: str) -> int:
    return main(["train", game, "--run", "run", "--minutes", "60", *words])


def test_a_file_is_the_same_by_any_path(place, monkeypatch):
    for name in ("./pick.py:Pick", f"{place}/pick.py:Pick"):
        assert trained(name, "--set", "most_steps=6") == GOOD
    (place / "elsewhere").mkdir()
    monkeypatch.chdir(place / "elsewhere")
    assert main(["train", "../pick.py:Pick", "--run", "../run", "--minutes", "60"]) == GOOD


def test_a_run_of_another_game_says_both(place, capsys):
    (place / "other.py").write_text(RULES)
    for name, option, said in (
        ("other.py:Pick", (), "a run of pick.py:Pick(), not of other.py:Pick()"),
        ("pick.py:Pick", ("--option", "most=3"), "a run of pick.py:Pick(), not of pick.py:Pick(most=3)"),
        ("pick.py:Pick", ("--interpreted",), "a run of pick.py:Pick(), not of pick.py:Pick(), interpreted"),
    ):
        assert trained(name, *option) == USAGE
        assert said in capsys.readouterr().err


def test_a_run_is_looked_at_from_anywhere(place, monkeypatch, capsys):
    """Its file is looked for beside it, too."""
    (place / "elsewhere").mkdir()
    monkeypatch.chdir(place / "elsewhere")
    with RunFolder.look(Path("../run")) as run:
        assert game_of(run).name == "Pick"
    assert main(["stats", "../run"]) == GOOD
    assert "without the game" not in capsys.readouterr().err
    assert main(["fork", "../run", "../new"]) == GOOD
    assert main(["rate", "../run", "--games", "2", "--models", "1"]) == GOOD


def test_a_run_is_not_gone_on_with_when_its_values_would_mean_something_else(place, capsys):
    """Other returns: what a network says is scaled by them, so old weights and new ones would not mix."""
    changed = RULES.replace("most)\n", "most)\n", 1).replace(
        "self.most = 2, most, (10,), most", "self.most = 2, most, (10,), most\n        self.returns = (-5.0, 5.0)"
    )
    (place / "pick.py").write_text(changed)
    assert trained("pick.py:Pick", "--set", "most_steps=9") == USAGE
    said = capsys.readouterr().err
    assert "low -1.0, not -5.0, high 1.0, not 5.0" in said
    assert "the game has changed since the run in run began; begin one in another folder" in said


def test_every_checkpoint_says_how_full_batches_were(place):
    """Also the first one, made when another thinker has just begun, and the last one, when nobody plays any more."""
    assert trained("pick.py:Pick", "--set", "most_steps=17") == GOOD
    with RunFolder.look(place / "run") as run:
        rows = run.ledger.rows["metrics"]
    assert len(rows) > 2
    assert all(0.0 < row["fill"] <= 1.0 and set(row["idle"]) == {"learner", "self_play"} for row in rows)


@pytest.mark.parametrize("name", ["run", "run/models/000001.safetensors"])
def test_a_run_named_as_an_agent_is_answered_with_what_to_write(name, place, capsys):
    assert main(["match", "pick.py:Pick", name, "random"]) == USAGE
    assert "evaluator=run/models/000001.safetensors" in capsys.readouterr().err


def test_a_run_named_as_an_evaluator_is_answered_with_what_to_write(place, capsys):
    assert main(["analyze", "pick.py:Pick", "--evaluator", "run"]) == USAGE
    assert "evaluator=run/models/000001.safetensors" in capsys.readouterr().err


def test_the_end_says_how_to_play_and_how_to_measure(place, capsys):
    assert trained("pick.py:Pick", "--set", "most_steps=7") == GOOD
    told = capsys.readouterr().out.splitlines()
    (measure,) = [line.split() for line in told if line.startswith("  anabranch match")]
    assert measure[2] == "pick.py:Pick"
    assert main([*measure[1:], "--games", "2"]) == GOOD


def test_dice_that_are_learnt_as_their_mean_are_said():
    pig, connect_four = ab.games.load("pig"), ab.games.load("connect_four")
    assert "net.architecture = world_dice" in (means_of_dice(preset(pig, "muzero"), pig) or "")
    assert means_of_dice(preset(pig), pig) is None
    assert means_of_dice(preset(connect_four, "muzero"), connect_four) is None


def test_one_call_trains_from_python_and_goes_on(place):
    done = ab.train(
        "pick.py:Pick", "run-2", options={"most": 3}, settings=[*SMALL, "most_steps=3"], say=lambda words: None
    )
    assert (done.step, done.whole, done.players) == (3, True, 2)
    again = ab.train("pick.py:Pick", "run-2", options={"most": 3}, settings=["most_steps=5"], say=lambda words: None)
    assert again.step == 5
    with pytest.raises(ab.errors.UsageError, match=r"settings learner\.rte=1: unknown .* Did you mean 'rate'"):
        ab.train("pick.py:Pick", "run-3", settings=["learner.rte=1"])
    assert not Path("run-3").exists()


def test_the_doctor_has_one_line_for_good_files_and_one_for_each_that_is_damaged(place, capsys):
    assert trained("pick.py:Pick", "--set", "most_steps=30") == GOOD
    capsys.readouterr()
    assert main(["doctor", "run"]) == GOOD
    short = capsys.readouterr().out
    models = sorted(Path("run/models").iterdir())
    assert len(models) > 2
    assert f"{len(models)} files in models" in short
    assert models[0].name not in short
    with RunFolder.look(Path("run")) as run:
        played = sum(len(row["ids"]) for row in run.ledger.rows["shards"])
    assert f"with {played} games" in short
    assert main(["doctor", "run", "--all"]) == GOOD
    assert models[0].name in capsys.readouterr().out
    damaged = bytearray(models[1].read_bytes())
    damaged[-1] ^= 1
    models[1].write_bytes(damaged)
    assert main(["doctor", "run"]) == BAD_DATA
    told = capsys.readouterr().out
    assert f"models/{models[1].name}" in told
    assert f"{len(models) - 1} files in models" in told


def test_rating_says_when_all_games_were_played_before_and_how_more_are(place, capsys):
    words = ["rate", "run", "--models", "1", "--games"]
    assert main([*words, "4"]) == GOOD
    assert "already" not in capsys.readouterr().err
    assert main([*words, "4"]) == GOOD
    assert "has played 4 games against each already; --games 8 plays more" in capsys.readouterr().err
    assert main([*words, "8"]) == GOOD
    assert "already" not in capsys.readouterr().err


def test_who_plays_alone_beats_nobody_and_is_measured_by_regret(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["train", "yatzy", "--run", "run", "--set", "most_steps=2", "--minutes", "60", *ALONE]) == GOOD
    capsys.readouterr()
    assert main(["rate", "run"]) == GOOD
    told = capsys.readouterr().err
    assert "yatzy is a game for one player" in told
    assert "anabranch regret yatzy search:simulations=" in told
