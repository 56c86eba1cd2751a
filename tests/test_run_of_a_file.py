"""Runs of a user's own file of rules: gone on with wherever it lies, and refused once it is another game."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.test_training import TINY

import anabranch as ab
from anabranch.cli import BAD_DATA, GOOD, USAGE, main
from anabranch.cli.options import option_of, read_options
from anabranch.errors import AnabranchError, UnknownNameError
from anabranch.evaluate.load import load
from anabranch.learn.game_of_run import described, game_of, name_here, rules_of, same_game
from anabranch.learn.presets import preset
from anabranch.learn.run_folder import RunFolder
from anabranch.learn.train import means_of_dice
from anabranch.play.names import agent_by_name

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

ALONE = [
    word for pair in (*SMALL, "learner.batch=8", "replay.least=8", "rating.positions=0") for word in ("--set", pair)
]


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


def test_rules_of_the_same_name_elsewhere_are_others(place, monkeypatch, capsys):
    """What lies in the current folder by chance is neither rated nor trained on."""
    (place / "elsewhere").mkdir()
    (place / "elsewhere" / "pick.py").write_text(RULES.replace("9", "8"))
    monkeypatch.chdir(place / "elsewhere")
    with RunFolder.look(Path("../run")) as run:
        assert game_of(run).start().data == (9, 0)
    assert main(["train", "pick.py:Pick", "--run", "../run", "--minutes", "60"]) == USAGE
    said = f"a run of pick.py:Pick() (rules in {place}/pick.py), not of pick.py:Pick()"
    assert said in capsys.readouterr().err


def test_a_run_knows_its_file_from_any_folder_and_so_does_a_fork(place, monkeypatch):
    words = ["--set", "most_steps=3", *SETTINGS, "--minutes", "60"]
    (place / "runs" / "deep").mkdir(parents=True)
    (place / "forks").mkdir()
    assert main(["train", "pick.py:Pick", "--run", "runs/deep/x", *words]) == GOOD
    assert main(["fork", "runs/deep/x", "forks/y"]) == GOOD
    for folder in ("runs/deep/x", "forks/y"):
        monkeypatch.chdir(place / folder)
        with RunFolder.look(Path()) as run:
            assert game_of(run).name == "Pick"
            assert name_here(run) == f"{'../' * len(Path(folder).parts)}pick.py:Pick"
            assert same_game(described(f"{place}/pick.py:Pick", {}), run)
        monkeypatch.chdir(place)
        assert main(["train", "pick.py:Pick", "--run", folder, "--set", "most_steps=4", "--minutes", "60"]) == GOOD


def test_a_run_that_is_moved_along_with_its_file_goes_on_with_the_copy(place, monkeypatch):
    shutil.copytree(place, place.parent / "copy")
    monkeypatch.chdir(place.parent / "copy")
    with RunFolder.look(Path("run")) as run:
        assert rules_of(run) == (place.parent / "copy" / "pick.py").resolve()
    assert trained("pick.py:Pick", "--set", "most_steps=7") == GOOD
    shutil.move(place.parent / "copy" / "run", place.parent / "alone")
    with RunFolder.look(place.parent / "alone") as run:
        assert rules_of(run) == place / "pick.py"


def test_a_file_that_is_gone_is_named(place, capsys):
    (place / "rules").mkdir()
    shutil.move("pick.py", "rules/pick.py")
    assert trained("rules/pick.py:Pick") == USAGE
    assert f"(rules in {place}/pick.py, which is gone), not of rules/pick.py:Pick()" in capsys.readouterr().err


def test_a_run_of_another_game_says_both(place, capsys):
    (place / "other.py").write_text(RULES)
    for name, option, said in (
        ("other.py:Pick", (), "not of other.py:Pick()"),
        ("pick.py:Pick", ("--option", "most=3"), "not of pick.py:Pick(most=3)"),
        ("pick.py:Pick", ("--interpreted",), "not of pick.py:Pick(), interpreted"),
    ):
        assert trained(name, *option) == USAGE
        told = capsys.readouterr().err
        assert "a run of pick.py:Pick() (rules in" in told
        assert said in told


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


def test_a_learner_alone_knows_which_game_it_is_for(place, capsys):
    """Its weights may be of the same sizes as those of the game as it is now."""
    for model in Path("run/models").iterdir():
        model.write_bytes(b"damaged")
    (place / "pick.py").write_text(RULES.replace("(10,), most", "(10,), most\n        self.returns = (-5.0, 5.0)"))
    assert trained("pick.py:Pick", "--set", "most_steps=9") == BAD_DATA
    said = capsys.readouterr().err
    assert "low -1.0, not -5.0, high 1.0, not 5.0: the game has changed" in said


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
    assert main([*words, "9"]) == GOOD  # one that is missing is played as a pair


def test_who_plays_alone_beats_nobody_and_is_measured_by_regret(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["train", "yatzy", "--run", "run", "--set", "most_steps=2", "--minutes", "60", *ALONE]) == GOOD
    capsys.readouterr()
    assert main(["rate", "run"]) == GOOD
    told = capsys.readouterr().err
    assert "yatzy is a game for one player" in told
    assert "anabranch regret yatzy search:simulations=" in told


def test_options_are_remembered_as_they_are_sent_to_processes(place):
    (place / "sized.py").write_text(RULES.replace("most=2", "sizes=(2, 2)").replace(", most", ", sizes[0]"))
    for steps in (1, 2):
        done = ab.train(
            "sized.py:Pick",
            "run-4",
            options={"sizes": (2, 2)},
            settings=[*SMALL, f"most_steps={steps}"],
            say=lambda words: None,
        )
    assert done.step == 2


@pytest.mark.parametrize(
    ("game", "given", "said"),
    [
        ("pick.py:Pick", {"method": "muzer"}, "Did you mean 'muzero'"),
        ("pick.py:Pick", {"options": {"most": np.int64(2)}}, "option most=np.int64(2) cannot be remembered"),
        ("pick.py:Pick", {"options": {"compiled": False}}, "interpreted=True"),
        ("pick.py:Pick", {"settings": "most_steps=1"}, "settings are a list of words"),
        ("pick.py:Pick", {"settings": {"most_steps": 1}}, "settings are a list of words"),
        ("pick.py:Pick", {"minutes": "3"}, "minutes must be a number, found '3'"),
        ("__main__:Pick", {}, "put it into a file, or workers=0"),
        (ab.games.load("tic_tac_toe"), {}, "a run remembers its game by name"),
    ],
)
def test_what_cannot_be_trained_is_refused_before_anything_is_written(game, given, said, place):
    with pytest.raises(AnabranchError, match=re.escape(said)):
        ab.train(game, "run-5", **given)
    assert not Path("run-5").exists()


def test_processes_that_play_find_modules_where_this_one_does(place, monkeypatch):
    """A script's own folder is on its path, and not on theirs."""
    (place / "scripts").mkdir()
    shutil.copy("pick.py", "scripts/picking.py")
    monkeypatch.syspath_prepend(str(place / "scripts"))
    settings = [word for word in SMALL if word != "workers=0"]
    done = ab.train("picking:Pick", "run-6", settings=[*settings, "most_steps=2"], workers=1, say=lambda words: None)
    assert done.whole


def test_ratings_that_are_interrupted_lose_nothing(place, monkeypatch):
    def interrupted(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr("anabranch.learn.rating.rate", interrupted)
    done = ab.train("pick.py:Pick", "run", settings=["most_steps=7"], say=lambda words: None)
    assert (done.whole, done.rated, done.step) == (False, None, 7)


@pytest.mark.parametrize("value", ["word", "5", "[1", '"', True, None, 3, 2.5, [1, "a"], {"a": 1}])
def test_options_are_said_as_they_are_read(value):
    assert read_options((option_of("key", value),)) == {"key": value}


def test_long_and_empty_names_are_unknown_ones(place, monkeypatch):
    for name in ("x" * 300, "x" * 5000):
        with pytest.raises(UnknownNameError):
            agent_by_name(name)
        with pytest.raises(UnknownNameError):
            load(name)
    monkeypatch.chdir(place / "run")
    with pytest.raises(UnknownNameError):
        agent_by_name("")
