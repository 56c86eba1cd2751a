"""The loop: from rules to a network that plays better, the same for a seed, and gone on with after any stop."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
from tests.disk import Disk
from tests.sources import ROOT
from tests.system_calls import game as made_up
from tests.test_environment import EndlessGame

import anabranch as ab
from anabranch.cli import GOOD, INTERRUPTED, USAGE, main
from anabranch.errors import DataError, UsageError
from anabranch.learn import checkpoint, loop, patience
from anabranch.learn.game_of_run import described
from anabranch.learn.learner import Learner, new_learner, new_net
from anabranch.learn.loop import Training
from anabranch.learn.players import InProcess
from anabranch.learn.presets import preset, takes_turns
from anabranch.learn.rating import chosen_models
from anabranch.learn.records import Decision, GameRecord, beyond_returns
from anabranch.learn.run_folder import RunFolder, examine
from anabranch.learn.settings import TrainConfig
from anabranch.learn.statistics import calibration
from anabranch.learn.status import Status
from anabranch.learn.stopping import Stopping
from anabranch.learn.train import Changes, train
from anabranch.nets.files import read
from anabranch.nets.shape import shape_of
from anabranch.search.settings.mapping import from_pairs

GAME = ab.games.load("tic_tac_toe")
SAID = described("tic_tac_toe", {})
TINY = (
    "self_play.abreast=8", "search.cap.full=8", "search.cap.fast=4", "search.cap.chance=0.5", "replay.least=40",
    "replay.shard=8", "learner.batch=16", "learner.reuse=4", "export.every=5", "export.checkpoints=2", "net.channels=4",
    "net.blocks=1", "net.hidden=8", "rating.positions=20", "rating.simulations=8", "rating.games=4", "rating.models=2",
    "rating.anchors=random search:simulations=8", "teacher.positions=0", "teacher.full=40", "teacher.fast=10",
    "workers=0",
)  # fmt: skip


def tiny(*more: str) -> TrainConfig:
    return from_pairs([*TINY, *more], base=preset(ab.games.load("tic_tac_toe")))


METHODS = ("alphazero", "muzero")


def tiny_of(method: str) -> Callable[..., TrainConfig]:
    """What makes the settings of a small run by a method."""
    if method == "muzero":
        from tests.test_muzero_runs import tiny as small

        return small
    return tiny


def all_of(folder: Path) -> tuple[list[GameRecord], dict[str, Any]]:
    """The games and the weights of a run, in full."""
    with RunFolder.open(folder) as run:
        games = [record for row in run.ledger.rows["shards"] for record in run.games(row)]
        state = run.newest_state()
        assert state is not None
        tensors = safetensors.torch.load(state[2])  # the file's own words come in any order
        return games, {name: tensor.tolist() for name, tensor in tensors.items()}


def test_a_seed_decides_games_and_weights(tmp_path):
    for name in ("one", "same"):
        train(tmp_path / name, SAID, tiny("most_steps=25", "rating.models=0"))
    train(tmp_path / "other", SAID, tiny("most_steps=25", "rating.models=0", "seed=1"))
    assert all_of(tmp_path / "one") == all_of(tmp_path / "same")
    assert all_of(tmp_path / "one") != all_of(tmp_path / "other")


@pytest.mark.hard
def test_a_seed_decides_games_and_weights_after_1000_steps(tmp_path):
    """In two processes, whose hashes of words differ too."""
    program = (
        "import sys; from pathlib import Path; from tests.test_training import SAID, tiny, train;"
        "train(Path(sys.argv[1]), SAID, tiny('most_steps=1000', 'rating.models=0'), minutes=600)"
    )
    for name in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": name}
        subprocess.run([sys.executable, "-c", program, str(tmp_path / name)], cwd=ROOT, env=environment, check=True)
    games, weights = all_of(tmp_path / "1")
    assert len(games) > 1000
    assert weights["step"] == 1000
    assert (games, weights) == all_of(tmp_path / "2")


def test_a_run_ends_with_models_scores_ratings_and_no_damage(tmp_path):
    said: list[str] = []
    shown: list[str] = []
    done = train(
        tmp_path / "run",
        SAID,
        tiny("most_steps=25"),
        say=said.append,
        progress=lambda status: shown.append(str(status)),
    )
    assert not any("rating" in words for words in said)  # they stay on the screen
    assert any(words.startswith("rating model") for words in shown)
    assert any("measuring the checkpoint on 20 positions" in words for words in shown)
    assert done.whole
    assert done.step == 25
    assert done.score is not None
    assert done.score["positions"] == 20
    assert done.rated is not None
    agents = {each.agent: each for each in done.rated.rated}
    assert set(agents) == {"random", "search:simulations=8", "model 2", "model 3"}
    assert agents["random"].rating == 0.0
    assert not [wrong for _, wrong in examine(tmp_path / "run") if wrong]
    with RunFolder.open(tmp_path / "run") as run:
        assert run.ledger.rows["models"][-1]["step"] == 25
        assert len(run.ledger.rows["metrics"]) == len(run.ledger.rows["models"])


@pytest.mark.parametrize("workers", [0, 1])
def test_a_teacher_plays_first_and_the_network_goes_on(workers, tmp_path):
    """Its searches have more visits; once its positions are there, and learnt from, the network's games follow."""
    config = tiny("teacher.positions=120", "most_steps=60", "rating.models=0", f"workers={workers}")
    train(tmp_path / "run", SAID, config)
    with RunFolder.open(tmp_path / "run") as run:
        decisions = [d for row in run.ledger.rows["shards"] for record in run.games(row) for d in record.decisions]
    searched = [(d.model, d.full, d.visits) for d in decisions if d.visits]
    assert {visits >= 40 for model, full, visits in searched if full and not model} == {True}
    assert sum(full for model, full, _ in searched if not model) >= 120
    by_network = [visits for model, full, visits in searched if full and model]
    assert by_network
    assert min(by_network) < 40


def test_a_taught_run_goes_on_without_its_teacher(tmp_path, monkeypatch):
    config = tiny("teacher.positions=120", "most_steps=60", "rating.models=0")
    train(tmp_path / "run", SAID, config)

    def begun(game, config, evaluator, *more):
        assert not isinstance(evaluator, ab.Rollout)
        return InProcess(game, config, evaluator, *more)

    with RunFolder.open(tmp_path / "run") as run:
        training = Training(run, GAME, dataclasses.replace(config, most_steps=62))
        training.train(lambda *given: begun(GAME, config, *given), Stopping())
        assert training.learner.step == 62


def test_the_learner_never_runs_ahead_of_its_credit(tmp_path):
    config, game = tiny("most_steps=30"), ab.games.load("tic_tac_toe")
    with RunFolder.create(tmp_path / "run", SAID, config) as run, Stopping() as stop:
        training = Training(run, game, config)
        shown: list[tuple[int, int]] = []
        real = training.learner.learn

        def learn(rows):
            shown.append((training.learner.step, training.replay.total))
            return real(rows)

        training.learner.learn = learn  # type: ignore[method-assign]
        training.train(lambda *given: InProcess(game, config, *given), stop)
    assert len(shown) == 30
    for step, rows in shown:
        assert rows >= config.replay.least
        assert (step + 1) * config.learner.batch <= config.learner.reuse * rows


def test_a_run_goes_on_with_its_learner_and_its_games(tmp_path):
    first = train(tmp_path / "run", SAID, tiny("most_steps=12", "rating.models=0"))
    with RunFolder.open(tmp_path / "run") as run:
        games, config = len(run.ids), run.config
        again = Training(run, ab.games.load("tic_tac_toe"), config)
        assert again.credit == 0  # until the window is read
        again.catch_up()
        assert again.learner.step == 12
        assert again.replay.total == first.positions
        state = run.newest_state()
        assert state is not None
        assert again.learner.restores == 0
        moments = [value["exp_avg"].abs().sum() for value in again.learner.optimiser.state.values()]
        assert all(float(moment) > 0 for moment in moments)
    said: list[str] = []
    at_its_end = train(tmp_path / "run", SAID, tiny("most_steps=12", "rating.models=0"), say=said.append)
    assert (at_its_end.positions, at_its_end.step) == (first.positions, 12)
    assert said == ["the run has made its 12 steps; most_steps is how many there may be"]
    second = train(tmp_path / "run", SAID, tiny("most_steps=20", "rating.models=0"))
    assert second.step == 20
    assert second.games > games
    assert second.seconds > first.seconds
    with RunFolder.open(tmp_path / "run") as run:
        found = [record.id for row in run.ledger.rows["shards"] for record in run.games(row)]
        assert len(found) == len(set(found)) == second.games


def test_games_played_while_a_window_is_read_come_after_it(tmp_path):
    """A shard a turn: the order in the replay is that of the commits, and nothing is learnt before all is there."""
    config = tiny("most_steps=12", "rating.models=0", "rating.positions=0")
    train(tmp_path / "run", SAID, config)
    more = dataclasses.replace(config, most_steps=20)
    game = ab.games.load("tic_tac_toe")
    with RunFolder.open(tmp_path / "run") as run, Stopping() as stop:
        training = Training(run, game, more)
        taken: list[int] = []
        real, steps = training.take_in, [0]

        def take_in(record):
            taken.append(record.id)
            real(record)

        def learn(rows):
            steps[0] += 1
            assert not training._unread
            return learner_learn(rows)

        training.take_in, learner_learn = take_in, training.learner.learn  # type: ignore[method-assign]
        training.learner.learn = learn  # type: ignore[method-assign]
        assert len(training._unread) == len(run.ledger.rows["shards"]) > 1
        training.train(lambda *given: InProcess(game, more, *given), stop)
        assert taken == [number for row in run.ledger.rows["shards"] for number in row["ids"]]
    assert steps[0] == 8


def test_other_settings_or_games_do_not_go_on_with_a_run(tmp_path):
    train(tmp_path / "run", SAID, tiny("most_steps=3", "rating.models=0"))
    with pytest.raises(UsageError, match=r"other settings \(learner\.rate\).* --run FOLDER.* fork"):
        train(tmp_path / "run", SAID, tiny("most_steps=3", "rating.models=0", "learner.rate=0.1"))
    with pytest.raises(UsageError, match="a run by alphazero, not by muzero; go on with --method alphazero"):
        train(tmp_path / "run", SAID, preset(GAME, "muzero"))
    with pytest.raises(UsageError, match="a run of tic_tac_toe"):
        train(tmp_path / "run", described("connect_four", {}))


@pytest.mark.parametrize("method", METHODS)
def test_only_what_is_said_is_compared_with_the_settings_of_a_run(method, tmp_path):
    """A run's own settings need not be said again, nor the same ones be left out; free ones may be changed."""
    folder = tmp_path / "run"

    def going_on(*pairs: str, of: Any = None) -> int:
        return train(folder, SAID, Changes(lambda run: from_pairs(list(pairs), base=run), of)).step

    assert going_on(*TINY, "net.width=8", "net.latent=8", "most_steps=3", "rating.models=0", of=method) == 3
    assert going_on("most_steps=4", of=method) == 4
    assert going_on("most_steps=5", "learner.batch=16") == 5
    assert train(folder, SAID, minutes=1e-6).step == 5
    with pytest.raises(UsageError, match=r"other settings \(learner\.batch\); leave them out"):
        going_on("most_steps=6", "learner.batch=32", of=method)
    other = METHODS[METHODS.index(method) - 1]
    with pytest.raises(UsageError, match=f"a run by {method}, not by {other}; go on with --method {method}"):
        going_on(of=other)


@pytest.mark.parametrize("method", METHODS)
def test_weights_that_are_lost_come_back_and_the_run_goes_on(method, tmp_path):
    """A step whose sample is ruined: the last good weights return, it is said, and training ends as it should."""
    config, game = tiny_of(method)("most_steps=25"), ab.games.load("tic_tac_toe")
    said: list[str] = []
    with RunFolder.create(tmp_path / "run", SAID, config, said.append) as run, Stopping() as stop:
        training = Training(run, game, config)
        real, calls = training.replay.sample, [0]

        def sample(*given):
            calls[0] += 1
            rows = real(*given)
            if calls[0] == 14:
                rows["values"][0] = float("nan")
            return rows

        training.replay.sample = sample  # type: ignore[method-assign]
        assert training.train(lambda *given: InProcess(game, config, *given), stop)
        assert training.learner.restores == 1
        assert all(bool(torch.isfinite(tensor).all()) for tensor in training.learner.net.state_dict().values())
    assert any("back to the last good weights" in words for words in said)


def test_weights_that_are_lost_again_and_again_see_another_sample_each_time():
    """Otherwise the sample that ruined them would be drawn for ever."""
    config = tiny()
    learner = Learner(new_net(config.net, shape_of(GAME), 0), config.learner)
    for _ in range(3):
        learner.restore()
    assert learner.restores == 3


def test_a_gate_that_tests_keeps_what_is_not_better_out(tmp_path, monkeypatch):
    """Each candidate has a row with its verdict, and self-play's weights change with those promoted and no others."""
    used: list[int] = []
    real = InProcess.use

    def use(self, evaluator, version):
        used.append(version)
        real(self, evaluator, version)

    monkeypatch.setattr(InProcess, "use", use)
    train(tmp_path / "run", SAID, tiny("most_steps=15", "rating.models=0", "export.gate=test", "export.gate_pairs=4"))
    with RunFolder.open(tmp_path / "run") as run:
        gates = run.ledger.rows["gates"]
    steps = [row["step"] for row in gates]
    assert [step // 5 for step in steps] == [1, 2, 3]  # one candidate for every five steps
    assert used == [row["step"] for row in gates if row["verdict"] == "promoted"]
    assert all(1 <= row["pairs"] <= 4 for row in gates)


@pytest.mark.parametrize("game", ["pig", "goofspiel", "take_away"])
def test_games_with_dice_and_at_once_train_too(game, tmp_path):
    from anabranch.search.settings.mapping import from_pairs

    pairs = [pair for pair in TINY if not pair.startswith("net.")]
    config = from_pairs([*pairs, "most_steps=6", "rating.models=0", "net.width=8"], base=preset(ab.games.load(game)))
    done = train(tmp_path / "run", described(game, {}), config)
    assert done.step == 6


# The command


def flags(folder: Path, *more: str) -> list[str]:
    return ["train", "tic_tac_toe", "--run", str(folder), *(word for pair in TINY for word in ("--set", pair)), *more]


def test_the_command_trains_and_says_how_to_play(tmp_path, capsys):
    assert main(flags(tmp_path / "run", "--set", "most_steps=12")) == GOOD
    said = capsys.readouterr().out
    assert "12 steps" in said
    assert "± " in said
    assert "anabranch play tic_tac_toe --agent search:simulations=200,evaluator=" in said
    assert main(["doctor", str(tmp_path / "run")]) == GOOD
    assert "all is well" in capsys.readouterr().out


def test_a_misspelt_setting_is_named_with_the_nearest_one_and_its_line(tmp_path, capsys):
    assert main(flags(tmp_path / "run", "--set", "learner.bach=3")) == USAGE
    assert "batch" in capsys.readouterr().err
    file = tmp_path / "train.toml"
    file.write_text("minutes = 1\n\n[self_play]\nabraest = 3\n")
    assert main(["train", "tic_tac_toe", "--run", str(tmp_path / "run"), "--config", str(file)]) == USAGE
    said = capsys.readouterr().err
    assert "train.toml:4" in said
    assert "abreast" in said
    assert not (tmp_path / "run").exists()


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_saves_and_says_how_to_go_on(tmp_path):
    program = "import sys; from anabranch.cli import main; sys.exit(main())"
    words = [*flags(tmp_path / "run"), "--minutes", "5"]
    process = subprocess.Popen(
        [sys.executable, "-c", program, *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not list((tmp_path / "run" / "models").glob("*.safetensors")) and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == INTERRUPTED, said
    assert "To go on:\nanabranch train tic_tac_toe --run" in said
    with RunFolder.open(tmp_path / "run") as run:
        newest = run.newest_state()
        assert newest is not None
        assert run.ids


def resumed(folder: Path, config: TrainConfig) -> tuple[object, list[str]]:
    """What a process that goes on with a run begins with, and what it says about the run's files."""
    said: list[str] = []
    with RunFolder.open(folder, said.append) as run:
        training = Training(run, ab.games.load("tic_tac_toe"), run.config)
        training.catch_up()
        weights = {name: tensor.tolist() for name, tensor in training.learner.state().items()}
        rows = training.replay.sample(64, 0, 0)
        return (weights, sorted(run.ids), {name: rows[name].tolist() for name in rows}, run.game), said


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("flips", [pytest.param(12, id="12"), pytest.param(1000, id="1000", marks=pytest.mark.hard)])
def test_no_flipped_bit_of_a_run_goes_unnoticed(flips, method, tmp_path, capsys):
    """One bit of a file of any kind: `doctor` names the file, and going on with the run says so or is no different."""
    import random
    import shutil

    config = tiny_of(method)("most_steps=25", "rating.models=1")
    train(tmp_path / "run", SAID, config)
    expected, said = resumed(tmp_path / "run", config)
    assert not said
    kinds: dict[str, list[Path]] = {}
    for path in sorted((tmp_path / "run").rglob("*")):
        if path.is_file() and path.name != "run.lock":  # which is empty
            kinds.setdefault(f"{path.parent.name}/*" if path.parent.name != "run" else path.name, []).append(path)
    assert sorted(kinds) == ["models/*", "replay/*", "run.sqlite", "run.sqlite.copy", "run.toml", "states/*"]
    draws, copy = random.Random(flips), tmp_path / "copy"
    named: dict[str, int] = dict.fromkeys(kinds, 0)
    for flip in range(flips):
        kind = sorted(kinds)[flip % len(kinds)]
        path = draws.choice(kinds[kind])
        shutil.copytree(tmp_path / "run", copy)
        data = bytearray(path.read_bytes())
        place = draws.randrange(8 * len(data))
        data[place // 8] ^= 1 << place % 8
        (copy / path.relative_to(tmp_path / "run")).write_bytes(data)
        found = [name for name, wrong in examine(copy) if wrong]
        named[kind] += bool(found)
        if found:
            assert any(path.name in name for name in found)
        else:  # bytes of the database that hold nothing
            assert kind in ("run.sqlite", "run.sqlite.copy")
        try:
            begun, said = resumed(copy, config)
        except DataError as error:
            said = [str(error)]
        assert said or begun == expected, path
        assert said or kind != "run.toml"
        shutil.rmtree(copy)
    with capsys.disabled():
        if flips > 100:
            print(f"\nof {flips} flips doctor named {sum(named.values())}: {named}")
    assert all(named[kind] == len(range(sorted(kinds).index(kind), flips, len(kinds))) for kind in kinds if "/" in kind)


def test_a_full_disk_pauses_a_run_and_it_goes_on_when_there_is_room(tmp_path, monkeypatch):
    """From the k-th operation on there is no room, wherever that falls: said, waited for, and nothing is missing."""
    monkeypatch.setattr(patience, "PAUSE", 0.02)
    monkeypatch.setattr(patience, "LOOK", 0.01)
    config, game = tiny("most_steps=11", "rating.models=0", "rating.positions=0"), ab.games.load("tic_tac_toe")
    paused = []
    for first in (5, 41):
        said: list[str] = []
        with RunFolder.create(tmp_path / f"run{first}", SAID, config, said.append) as run, Stopping() as stop:
            training = Training(run, game, config)
            with Disk(first, "ENOSPC for ever").used() as disk:

                def wait(seconds: float, disk: Disk = disk, said: list[str] = said) -> None:
                    if len(said) > 2:
                        disk.plan, disk.full = {}, False  # there is room again

                monkeypatch.setattr("anabranch.learn.patience.time.sleep", wait)
                assert training.train(lambda *given: InProcess(game, config, *given), stop)
            monkeypatch.undo()
            monkeypatch.setattr(patience, "PAUSE", 0.02)
            assert training.learner.step == 11
            found = [record.id for row in run.ledger.rows["shards"] for record in run.games(row)]
            assert len(found) == len(set(found)) == len(run.ids)
        assert not [wrong for _, wrong in examine(tmp_path / f"run{first}") if wrong]
        assert all("trying again every" in words and "make room" in words for words in said)
        paused.append(len(said))
    assert min(paused) >= 3


def test_ctrl_c_ends_a_run_that_waits_for_room(tmp_path, monkeypatch):
    config, game = tiny("most_steps=11", "rating.positions=0"), ab.games.load("tic_tac_toe")
    said: list[str] = []
    monkeypatch.setattr("anabranch.game.native.cache._warned", True)  # games compiled only now find no room either
    with RunFolder.create(tmp_path / "run", SAID, config, said.append) as run, Stopping() as stop:
        training = Training(run, game, config)
        with Disk(5, "ENOSPC for ever").used():
            monkeypatch.setattr(
                "anabranch.learn.patience.time.sleep", lambda seconds: os.kill(os.getpid(), signal.SIGINT)
            )
            assert not training.train(lambda *given: InProcess(game, config, *given), stop)
    assert "paused" in said[0]
    assert "8 games and 0 steps are lost" in said[-1]


def test_a_second_ctrl_c_leaves_what_was_committed_and_writes_no_more(tmp_path):
    config, game = tiny("export.checkpoints=1000"), ab.games.load("tic_tac_toe")
    with RunFolder.create(tmp_path / "run", SAID, config) as run, Stopping() as stop:
        training = Training(run, game, config)

        def play(*given):
            source = InProcess(game, config, *given)
            real, calls = source.games, [0]

            def games():
                calls[0] += 1
                if calls[0] == 200:
                    os.kill(os.getpid(), signal.SIGINT)
                    os.kill(os.getpid(), signal.SIGINT)
                return real()

            source.games = games  # type: ignore[method-assign]
            return source

        with pytest.raises(KeyboardInterrupt):
            training.train(play, stop)
        assert training.learner.step > 0
        assert not run.ledger.rows["models"]


@pytest.mark.parametrize("where", ["anabranch.learn.rating.rate", "anabranch.learn.train.load_game"])
def test_ctrl_c_while_a_run_is_set_up_or_rated_says_how_to_go_on(where, tmp_path, monkeypatch, capsys):
    def interrupted(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(where, interrupted)
    pairs = [word for pair in (*TINY, "most_steps=5") for word in ("--set", pair)]
    words = ["train", "tic_tac_toe", "--run", str(tmp_path / "run"), *pairs]
    monkeypatch.setattr("sys.argv", ["anabranch", *words])
    assert main(words) == INTERRUPTED
    assert f"To go on:\n{shlex.join(['anabranch', *words])}\n" in capsys.readouterr().err
    monkeypatch.undo()
    if where.endswith("rate"):
        assert not [wrong for _, wrong in examine(tmp_path / "run") if wrong]


def test_ctrl_c_cuts_a_test_of_a_candidate_short(tmp_path, monkeypatch):
    """A gate may play for minutes; Ctrl-C ends it, the candidate stays unused, and the learner is saved."""

    def admits(*given, **more):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)
        raise AssertionError("it was not cut short")

    monkeypatch.setattr(loop, "admits", admits)
    config, game = tiny(), ab.games.load("tic_tac_toe")
    with RunFolder.create(tmp_path / "run", SAID, config) as run, Stopping() as stop:
        training = Training(run, game, config)
        assert not training.train(lambda *given: InProcess(game, config, *given), stop)
        newest = run.newest_state()
        assert newest is not None
        assert newest[0]["step"] == training.learner.step
        assert newest[0]["score"] is None


def test_a_second_ctrl_c_does_not_wait():
    with Stopping() as stop:
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.asked
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    with Stopping() as stop, pytest.raises(KeyboardInterrupt), stop.interruptibly():
        os.kill(os.getpid(), signal.SIGINT)
    found: list[bool] = []
    thread = threading.Thread(target=lambda: found.append(Stopping().__enter__().asked))
    thread.start()
    thread.join()
    assert found == [False]


def test_presets_are_read_back_from_their_own_toml(tmp_path):
    from anabranch.learn.presets import PRESETS
    from anabranch.learn.toml import to_toml
    from anabranch.search.settings.config import SearchConfig
    from anabranch.search.settings.mapping import from_toml, to_mapping

    for name in [*PRESETS, "goofspiel", "take_away", "oshi_zumo", "go"]:
        made = preset(ab.games.load(name))
        (tmp_path / "run.toml").write_text(to_toml(to_mapping(made), "settings"))
        read = from_toml(tmp_path / "run.toml", base=TrainConfig(search=SearchConfig()))
        assert read == made, name
    plain = dataclasses.replace(made, search=SearchConfig())
    (tmp_path / "run.toml").write_text(to_toml(to_mapping(plain), "settings"))
    assert from_toml(tmp_path / "run.toml", base=TrainConfig(search=SearchConfig())) == plain


@pytest.mark.parametrize("anchors", ["", "random nobody"])
def test_anchors_are_known_before_a_run_begins(anchors, tmp_path):
    """Not when it is rated, at its end."""
    with pytest.raises(UsageError, match=r"name an agent|unknown agent 'nobody'"):
        train(tmp_path / "run", SAID, tiny(f"rating.anchors={anchors}"))
    assert not (tmp_path / "run").exists()


def test_settings_out_of_range_are_refused():
    with pytest.raises(UsageError, match="learner: batch must be at least 2"):
        tiny("learner.batch=1")
    with pytest.raises(UsageError, match=r"gate.*always"):
        tiny("export.gate=never")


# Looking at runs, and beginning others with them


def test_a_fork_begins_with_the_weights_of_the_other_run(tmp_path, capsys):
    train(tmp_path / "run", SAID, tiny("most_steps=12", "rating.models=0"))
    assert main(["fork", str(tmp_path / "run"), str(tmp_path / "new"), "--set", "learner.rate=0.01"]) == GOOD
    assert "anabranch train tic_tac_toe --run" in capsys.readouterr().out
    weights = []
    for name in ("run", "new"):
        with RunFolder.open(tmp_path / name) as run:
            newest = run.newest_state()
            assert newest is not None
            assert newest[1] is not None
            weights.append({key: tensor.tolist() for key, tensor in safetensors.torch.load(newest[1]).items()})
            assert run.config.learner.rate == (0.01 if name == "new" else 4e-3)
    assert weights[0] == weights[1]
    said: list[str] = []
    done = train(tmp_path / "new", SAID, minutes=0.0, say=said.append)
    assert (done.step, done.games) == (0, 0)
    assert "had its 0 min" in said[0]
    capsys.readouterr()
    assert main(["stats", str(tmp_path / "new")]) == GOOD
    assert "no game was committed yet" in capsys.readouterr().out
    assert main(["fork", str(tmp_path / "run"), str(tmp_path / "other"), "--set", "net.channels=8"]) == USAGE
    assert main(["fork", str(tmp_path / "run"), str(tmp_path / "other"), "--model", "99"]) == USAGE


def test_figures_and_the_page_of_a_run(tmp_path, capsys):
    train(tmp_path / "run", SAID, tiny("most_steps=12"))
    assert main(["stats", str(tmp_path / "run"), "--json"]) == GOOD
    facts = json.loads(capsys.readouterr().out)
    with RunFolder.open(tmp_path / "run") as run:
        records = [record for row in run.ledger.rows["shards"] for record in run.games(row)]
    assert facts["games"] == len(records)
    assert facts["positions"] == sum(record.recorded for record in records)
    assert facts["mean_returns"][0] == pytest.approx(sum(record.returns[0] for record in records) / len(records))
    assert 0.0 < facts["entropy"] < 2.3
    assert main(["stats", str(tmp_path / "run"), "--report", str(tmp_path / "page.html")]) == GOOD
    page = (tmp_path / "page.html").read_text()
    assert page.count("<svg") == 5
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "model 2" in page
    assert main(["stats", str(tmp_path / "run"), "--plots", str(tmp_path / "plots")]) == GOOD
    plots = {path.stem: path.read_bytes() for path in (tmp_path / "plots").iterdir()}
    assert len(plots) == page.count("<svg")
    assert all(data.startswith(b"\x89PNG") for data in plots.values())


def test_values_are_compared_with_what_came_after_them():
    """2 are paid at once and 4 at the end: a root that says 4 + .5·0 first and 4 then is never off."""
    steps = [Decision((0,), (), (2.0,), (4.0,), visits=8), Decision((0,), (), (4.0,), (4.0,), visits=8)]
    record = GameRecord(0, 0, (), tuple(steps))
    assert calibration([record], 0.5) == 0.0
    assert calibration([record], 1.0) == 1.0
    unsearched = dataclasses.replace(steps[0], visits=0)
    assert calibration([dataclasses.replace(record, decisions=(unsearched, steps[1]))], 1.0) == 0.0
    assert calibration([dataclasses.replace(record, finished=False)], 1.0) == calibration([], 1.0) == 0.0


def test_figures_of_a_run_can_be_had_without_its_game(tmp_path, capsys):
    """The file of its rules has gone, or its name begins at another folder."""
    with RunFolder.create(tmp_path / "run", described("gone.py:Gone", {}), tiny("self_play.decided=0.9")) as run:
        run.commit_games([made_up(0), made_up(1)], 2)
    assert main(["stats", str(tmp_path / "run")]) == GOOD
    told = capsys.readouterr()
    assert "gone.py:Gone: 2 games" in told.out
    assert "there is no file gone.py" in told.err
    assert "decided games are not counted" in told.err


def test_tensorboard_reads_the_figures_of_every_checkpoint(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    train(tmp_path / "run", SAID, tiny("most_steps=12", "rating.models=0"))
    with RunFolder.open(tmp_path / "run") as run:
        course = run.ledger.rows["metrics"]
    for _ in range(2):  # written again, it holds the same and not twice as much
        assert main(["stats", str(tmp_path / "run"), "--tensorboard", str(tmp_path / "events")]) == GOOD
    read = EventAccumulator(str(tmp_path / "events"))
    read.Reload()
    assert [(each.step, each.wall_time, each.value) for each in read.Scalars("positions")] == [
        (row["step"], row["seconds"], row["positions"]) for row in course
    ]
    losses = [pytest.approx(row["losses"]["policy"]) for row in course if row["losses"]]
    assert [each.value for each in read.Scalars("losses/policy")] == losses
    assert "step" not in read.Tags()["scalars"]


def test_a_run_that_somebody_is_at_work_on_can_be_looked_at(tmp_path, capsys):
    train(tmp_path / "run", SAID, tiny("most_steps=6", "rating.models=0"))
    with RunFolder.open(tmp_path / "run") as run:
        assert main(["stats", str(tmp_path / "run"), "--json"]) == GOOD
        assert json.loads(capsys.readouterr().out)["games"] == len(run.ids)
        assert main(["doctor", str(tmp_path / "run")]) == GOOD


def test_ratings_are_none_of_the_minutes_of_a_run(tmp_path, monkeypatch):
    monkeypatch.setattr("anabranch.learn.rating.rate", lambda *given: time.sleep(0.5))
    done = train(tmp_path / "run", SAID, tiny("most_steps=3", "rating.positions=0"))
    with RunFolder.open(tmp_path / "run") as run:
        assert done.seconds - run.ledger.rows["metrics"][-1]["seconds"] < 0.5


def test_what_cannot_be_trained_is_told_before_torch_is_imported():
    code = (
        "import sys; from pathlib import Path; from anabranch.learn.train import Changes, train\n"
        "from anabranch.learn.game_of_run import described\n"
        "try: train(Path('nowhere'), described(sys.argv[1], {}))\n"
        "except Exception as error: print(type(error).__name__, 'torch' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code, "conect_four"], capture_output=True, text=True, check=True)
    assert found.stdout == "UnknownNameError False\n"


def test_ratings_are_played_once_and_kept(tmp_path, capsys):
    train(tmp_path / "run", SAID, tiny("most_steps=12", "rating.models=1"))
    with RunFolder.open(tmp_path / "run") as run:
        before = run.ledger.rows["ratings"]
    assert main(["rate", str(tmp_path / "run"), "--models", "1", "--json"]) == GOOD
    agents = {each["agent"] for each in json.loads(capsys.readouterr().out)["ratings"]}
    assert agents == {"random", "search:simulations=8", "model 2"}
    with RunFolder.open(tmp_path / "run") as run:
        assert run.ledger.rows["ratings"] == before
    assert main(["rate", str(tmp_path / "run"), "--models", "1", "--simulations", "4"]) == GOOD
    with RunFolder.open(tmp_path / "run") as run:
        assert len(run.ledger.rows["ratings"]) == 2 * len(before)  # others' figures are not mixed in


def test_more_rated_games_are_played_on_top_of_those_there_are(tmp_path):
    train(tmp_path / "run", SAID, tiny("most_steps=12", "rating.models=1"))
    with RunFolder.open(tmp_path / "run") as run:
        before = run.ledger.rows["ratings"]
    games = len(before[0]["games"])
    for _ in range(2):  # the second time nothing is missing
        assert main(["rate", str(tmp_path / "run"), "--models", "1", "--games", str(2 * games)]) == GOOD
        with RunFolder.open(tmp_path / "run") as run:
            after = run.ledger.rows["ratings"]
        assert after[: len(before)] == before
        assert [len(row["games"]) for row in after] == [games] * 2 * len(before)


def test_what_is_refused_leaves_nothing_behind(tmp_path):
    with pytest.raises(UsageError, match="minutes must be at least 0"):
        train(tmp_path / "run", SAID, minutes=-1.0)
    with pytest.raises(UsageError, match="is not the folder of a run"):
        examine(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_run_that_has_not_begun_to_play_says_so():
    """Processes take seconds to start; zeros in every column look like a run that hangs."""
    status = Status(3.0, 1.0, 0, 0, 0, 0, 0.0, 0.0, 0.0, {"learner": 1.0, "self_play": 0.0}, 57.0, None, None, None)
    assert str(status).startswith("0.1 of 1 min, 57 s left, nothing is played yet")
    assert "1 games" in str(dataclasses.replace(status, games=1))


def test_a_run_whose_learner_states_are_damaged_goes_on_from_its_newest_weights(tmp_path):
    """Then without those too: learning begins anew from the games, and either is said."""
    folder, config = tmp_path / "run", tiny("most_steps=25", "rating.models=0")
    train(folder, SAID, config)
    for path in (folder / "states").iterdir():
        path.write_bytes(path.read_bytes() + b"more")
    said: list[str] = []
    with RunFolder.open(folder, said.append) as run:
        newest = run.ledger.rows["models"][-1]
        training = Training(run, GAME, run.config)
        weights = read(newest["file"], run.read(newest["file"], newest["sha256"]), GAME).state_dict()
    assert training.learner.step == newest["step"] == 25
    assert all((training.learner.average.state_dict()[name] == tensor).all() for name, tensor in weights.items())
    assert said[-2].endswith("no state of the learner is left")
    assert said[-1] == f"going on from the weights in {newest['file']}, step 25; the optimiser begins anew"
    done = train(folder, SAID, replace(config, most_steps=27))
    assert done.step == 27
    for part in ("states", "models"):
        for path in (folder / part).iterdir():
            path.write_bytes(b"")
    with RunFolder.open(folder, said.append) as run:
        assert Training(run, GAME, run.config).learner.step == 0
    assert said[-1] == "nor is any model: learning begins anew, from the games that are there"


def test_a_run_whose_models_are_gone_goes_on_from_what_its_learner_kept(tmp_path):
    """The learner has the weights too, and the optimiser's moments: nothing is lost but files to play with."""
    folder, config = tmp_path / "run", tiny("most_steps=25", "rating.models=0")
    train(folder, SAID, config)
    with RunFolder.open(folder) as run:
        before = Training(run, GAME, run.config).learner
    shutil.rmtree(folder / "models")
    said: list[str] = []
    with RunFolder.open(folder, said.append) as run:
        after = Training(run, GAME, run.config).learner
    assert after.step == 25
    assert all((after.state()[name] == tensor).all() for name, tensor in before.state().items())
    assert said[-1] == "no checkpoint is whole, but the learner of one is: going on from states/000003.safetensors"
    assert train(folder, SAID, replace(config, most_steps=27)).step == 27


def test_damaged_models_are_not_rated(tmp_path):
    """They are named, and whole ones are rated; a run that went on without them ends as others do."""
    folder, config = tmp_path / "run", tiny("most_steps=25", "rating.games=2")
    train(folder, SAID, replace(config, rating=replace(config.rating, models=0)))
    newest = folder / "models" / "000003.safetensors"
    newest.write_bytes(newest.read_bytes()[:-1])
    said: list[str] = []
    with RunFolder.open(folder, said.append) as run:
        assert chosen_models(run, 3) == [1, 2]
        assert chosen_models(run, 1) == [2]
        assert chosen_models(run, 0) == []
    assert len(said) == 1
    assert "000003.safetensors is damaged" in said[0]


def test_moments_that_begin_anew_are_corrected_as_such_after_a_checkpoint_too():
    """AdamW divides moments by 1 − β^n, n of their own updates and not of the run's steps."""
    config = tiny()
    rows = {
        "observations": np.random.default_rng(0).random((32, *shape_of(GAME).observation), np.float32),
        "policy": np.full((32, 9), 1 / 9, np.float32),
        "legal": np.ones((32, 9), bool),
        "values": np.zeros((32, 2), np.float32),
    }
    learners = []
    for resumed in (False, True):
        learner = new_learner(GAME, config)
        learner.begin_with(new_learner(GAME, replace(config, seed=5)).net, step=1000)
        for _ in range(3):
            assert learner.learn(rows) is not None
        if resumed:
            kept = checkpoint.written(learner)
            learner = new_learner(GAME, config)
            checkpoint.read(kept, "states/1.safetensors", learner)
        assert learner.learn(rows) is not None
        learners.append(learner)
    assert [each.step for each in learners] == [1004, 1004]
    for name, tensor in learners[0].net.state_dict().items():
        assert torch.allclose(tensor.float(), learners[1].net.state_dict()[name].float(), atol=1e-6), name


def test_states_of_older_versions_are_read(tmp_path):
    """They do not say when moments began: with the run."""
    learner = new_learner(GAME, tiny())
    tensors = {name: tensor.contiguous() for name, tensor in learner.state().items() if name != "begun"}
    tensors["step"] = torch.tensor(7)
    checkpoint.read(safetensors.torch.save(tensors), "states/1.safetensors", learner)
    assert (learner.step, learner.begun) == (7, 0)


def test_nobody_plays_with_weights_that_have_learnt_nothing_after_a_teacher(tmp_path):
    """Games that are not read yet, or too few to learn from, are no reason to end the teacher's time."""
    config = tiny("most_steps=8", "rating.models=0", "teacher.positions=20", "replay.least=60")
    first: list[int] = []
    export = Training.export

    def exported(self, source):
        before = self._exports
        export(self, source)
        if self._exports > before and not first:
            first.append(self.learner.step)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Training, "export", exported)
        train(tmp_path / "run", SAID, config)
    assert first[0] > 0


@pytest.mark.parametrize(
    "words",
    [
        ["--method", "muzero", "--set", "net.architecture=world_mlp"],
        ["--set", "search.selector=Gumbel", "--set", "search.selector.considered=4"],
        ["--config", "selector.toml", "--set", "search.selector=Gumbel"],
    ],
)
def test_the_same_words_go_on_with_the_run_they_began(words, tmp_path, monkeypatch):
    """Also words that no preset takes alone, or that another one has replaced."""
    monkeypatch.chdir(tmp_path)
    Path("selector.toml").write_text("[search.selector]\nc_init = 2.0\n")
    command = ["train", "tic_tac_toe", "--run", "run", "--minutes", "0", "--workers", "0", *words]
    assert main(command) == GOOD
    assert main(command) == GOOD
    if "--config" not in words:
        assert main(["train", "tic_tac_toe", "--run", "run", "--minutes", "0", *words[-2:]]) == GOOD


class Bid(ab.ObjectGame):
    """A die says what two players bid for at once; `turns` rounds of somebody alone may come before that."""

    def __init__(self, turns: int = 0, prize: float = 1.0):
        self.players, self.actions, self.outcomes, self.observation = 2, 2, 2, (2,)
        self.turns, self.prize = turns, prize

    def setup(self, random):
        return (0, -1)  # rounds that are over, and what there is to win

    def turn(self, state):
        rounds, worth = state
        if rounds > self.turns:
            return ab.OVER
        return ab.CHANCE if worth < 0 else ab.player(0) if rounds < self.turns else ab.player(0) + ab.player(1)

    def chance(self, state):
        return [(0, 0.5), (1, 0.5)]

    def legal(self, state, player):
        return [0, 1]

    def step(self, state, actions):
        rounds, worth = state
        if worth < 0:
            return (rounds, actions[0]), [0.0, 0.0]
        gain = self.prize * (actions[0] - actions[1]) if rounds == self.turns else 0.0
        return (rounds + 1, -1), [gain, -gain]

    def observe(self, state, player):
        return [float(number) for number in state]


@pytest.mark.parametrize("turns", [0, 3])
def test_players_who_choose_at_once_are_found_behind_dice_and_turns(turns, tmp_path, monkeypatch):
    game = Bid(turns)
    assert not takes_turns(game)
    assert preset(game).search.simultaneous == ab.RegretMatching()
    for name in ("tic_tac_toe", "pig", "yatzy"):
        assert takes_turns(ab.games.load(name))
    monkeypatch.setattr("anabranch.learn.train.load_game", lambda said: game)
    with pytest.raises(UsageError, match="players choose at once"):
        train(tmp_path / "run", SAID, preset(game, "muzero"))
    assert not (tmp_path / "run").exists()


def test_a_game_that_pays_more_than_it_declares_is_named_once(tmp_path, monkeypatch):
    game = Bid(prize=50.0)
    monkeypatch.setattr("anabranch.learn.train.load_game", lambda said: game)
    said: list[str] = []
    config = from_pairs([*TINY, "most_steps=2", "rating.models=0", "rating.positions=0"], base=preset(game))
    train(tmp_path / "run", {"name": "bid", "options": {}, "compiled": False}, config, say=said.append)
    told = [words for words in said if "self.returns" in words]
    assert len(told) == 1
    assert re.search(
        r"Bid: player [01] got -?50 in game \d+, but self.returns is \(-1, 1\), .* begin another run", told[0]
    )


class Ante(ab.ObjectGame):
    """A die pays 5 or 6 before anybody decides; then one more may be taken."""

    def __init__(self, highest: float):
        self.players, self.actions, self.outcomes, self.observation = 1, 2, 2, (1,)
        self.returns = (5.0, highest)
        self.rewards_along = True

    def setup(self, random):
        return 0

    def turn(self, state):
        return (ab.CHANCE, ab.player(0), ab.OVER)[state]

    def chance(self, state):
        return [(0, 0.5), (1, 0.5)]

    def legal(self, state, player):
        return [0, 1]

    def step(self, state, actions):
        return state + 1, [actions[0] + (5.0 if state == 0 else 0.0)]


@pytest.mark.parametrize(("highest", "told"), [(7.0, False), (6.5, True)])
def test_what_the_first_dice_pay_counts_among_the_declared_returns(highest, told):
    decision = Decision((1,), (), (1.0,), (0.0,))
    found = beyond_returns(GameRecord(0, 0, (1,), (decision,), 0, True), Ante(highest))
    assert (found is not None) == told


def test_stats_do_without_a_game_whose_file_is_being_edited(tmp_path, capsys):
    """Whatever goes wrong as it is loaded: it is said, and the rest is shown."""
    path = tmp_path / "mine.py"
    path.write_text((ROOT / "examples" / "games" / "shut_the_box.py").read_text())
    said = described(f"{path}:ShutTheBox", {})
    settings = preset(ab.games.load(said["name"]))
    train(tmp_path / "run", said, from_pairs([*TINY, "most_steps=2", "rating.models=0"], base=settings))
    for broken in ("class Mine(:\n", "import nothing_of_this_name\n", "1 / 0\n"):
        path.write_text(broken)
        capsys.readouterr()
        assert main(["stats", str(tmp_path / "run")]) == GOOD
        told = capsys.readouterr()
        assert "without the game" in told.out + told.err


def test_what_is_within_the_declared_returns_is_not_told():
    """Discounted, rounded, or of a game that was cut off."""
    one = Decision((0,), (), (1.0,), (0.0,))
    game = EndlessGame(discount=0.5)  # returns 0 to 5
    for decisions, finished, told in (
        ((one,) * 5, True, False),
        ((one,) * 50, True, False),
        ((replace(one, rewards=(6.0,)),), True, True),
        ((replace(one, rewards=(6.0,)),), False, False),
        ((replace(one, rewards=(5.0001,)),), True, False),
        ((replace(one, rewards=(4.0,)), replace(one, rewards=(2.1,))), True, True),
        ((replace(one, rewards=(4.0,)), replace(one, rewards=(1.9,))), True, False),
    ):
        found = beyond_returns(GameRecord(0, 0, (), decisions, 0, finished), game)
        assert (found is not None) == told
