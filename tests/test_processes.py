"""Processes that play: they may die at any moment, and every game counts once."""

from __future__ import annotations

import dataclasses
import io
import json
import math
import os
import signal
import threading
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from tests.killed import Killings
from tests.test_training import SAID, tiny

import anabranch as ab
from anabranch.errors import AnabranchError, DataError, GameError
from anabranch.evaluate.native import Rollout
from anabranch.learn.game_of_run import described
from anabranch.learn.learner import new_net
from anabranch.learn.messages import GAMES, NEWS, NUMBERS, SETUP, WEIGHTS, receive, send
from anabranch.learn.processes import Processes
from anabranch.learn.records import read_shard
from anabranch.learn.run_folder import RunFolder, examine
from anabranch.learn.train import train, workers_of
from anabranch.learn.worker import Playing, read_weights, weights_message
from anabranch.nets.shape import shape_of
from anabranch.search.settings.mapping import to_mapping


def test_messages_come_back_and_torn_ones_do_not():
    stream = io.BytesIO()
    send(stream, SETUP, b"words")
    send(stream, GAMES, b"")
    whole = stream.getvalue()
    stream.seek(0)
    assert [receive(stream), receive(stream), receive(stream)] == [(SETUP, b"words"), (GAMES, b""), None]
    for cut in range(len(whole) - len(b"G") - 8):
        torn = io.BytesIO(whole[:cut])
        found = receive(torn)
        assert found is None or found == (SETUP, b"words")
    with pytest.raises(DataError, match="is none"):
        receive(io.BytesIO(b"?" + bytes(8)))
    with pytest.raises(DataError, match="is none"):
        receive(io.BytesIO(NUMBERS + b"\xff" * 8))


def test_weights_arrive_as_they_were_sent():
    import numpy as np

    game = ab.games.load("tic_tac_toe")
    sent = ab.Torch(new_net(tiny().net, shape_of(game), 3))
    found, version = read_weights(weights_message(sent, 17), game)
    seen = np.random.default_rng(0).normal(size=(5, 2, 3, 3)).astype(np.float32)
    assert version == 17
    for there, here in zip(sent.run(seen), found.run(seen), strict=True):
        np.testing.assert_array_equal(there, here)


def test_a_process_that_dies_is_replaced_and_its_games_are_played():
    game, config = ab.games.load("tic_tac_toe"), tiny("workers=1")
    said: list[str] = []
    ids: list[int] = []
    players = Processes(SAID, config, ab.Torch(new_net(config.net, shape_of(game), 0)), 0, count(), said.append)
    try:
        while len(ids) < 4:
            ids += [record.id for record in players.games()]
        first = players.processes[0].child.pid
        os.kill(first, signal.SIGKILL)
        while len(ids) < 40:
            ids += [record.id for record in players.games()]
        assert players.processes[0].child.pid != first
        assert players.rows > 0
        assert 0 < players.fill <= 1
    finally:
        players.close()
    assert len(set(ids)) == len(ids)
    assert set(range(12)) <= set(ids)
    assert any("another one takes over its games" in words for words in said)


def test_ctrl_c_in_a_terminal_is_for_the_learner_alone():
    """It goes to the whole group; a process that is still importing would end with a traceback on the screen."""
    config = tiny("workers=1")
    players = Processes(SAID, config, Rollout(), 0, count())
    try:
        child = players.processes[0].child.pid
        assert os.getpgid(child) == child != os.getpgrp()
    finally:
        players.close()


def test_games_that_are_kept_for_a_moment_are_sent_when_numbers_run_out(monkeypatch):
    """Whoever hands out numbers does so for games that come back: by hand, one game at a time and three numbers."""
    monkeypatch.setattr("anabranch.learn.worker.TURN", math.inf)
    (theirs, ours), (answers, out) = os.pipe(), os.pipe()
    with (
        open(theirs, "rb") as heard, open(out, "wb") as said, open(ours, "wb") as given, open(answers, "rb") as told
    ):  # fmt: skip
        playing = Playing(heard, said)
        thread = threading.Thread(target=playing.run)
        thread.start()
        config = tiny("self_play.abreast=1", "self_play.random_games=0")
        send(given, SETUP, json.dumps({"game": SAID, "config": to_mapping(config)}).encode())
        send(given, WEIGHTS, weights_message(Rollout(), 0))
        sent = []
        for numbers in ([0, 1, 2], [3]):
            send(given, NUMBERS, json.dumps(numbers).encode())
            (first, news), (second, games) = receive(told) or (b"", b""), receive(told) or (b"", b"")
            assert (first, second) == (NEWS, GAMES)
            assert json.loads(news)["rows"] > 0
            sent.append([record.id for record in read_shard(games)])
        given.close()
        thread.join(30)
        assert not thread.is_alive()
    assert sent == [[0, 1], [2]]


NIM = """
import os
import anabranch as ab

class Nim(ab.ObjectGame):
    zero_sum = True
    def __init__(self, how):
        self.players, self.actions, self.observation, self.how = 2, 3, (2,), how
    def setup(self, random):
        return 9, 0
    def turn(self, state):
        return ab.OVER if state[0] == 0 else ab.player(state[1])
    def legal(self, state, player):
        return range(min(3, state[0]))
    def step(self, state, actions):
        left, mover = state[0] - 1 - actions[state[1]], state[1]
        if left == 0 and self.how == "raises":
            raise RuntimeError("nobody may win")
        if self.how == "ends":
            os._exit(9)
        return (left, 1 - mover), [0.0, 0.0] if left else [1.0 - 2.0 * mover, 2.0 * mover - 1.0]
    def observe(self, state, player):
        return [state[0], state[1] == player]
"""


@pytest.mark.parametrize(("how", "kind", "words"), [
    ("raises", GameError, r"the game raised RuntimeError: nobody may win \(.*nim.py:18, in step\)"),
    ("ends", AnabranchError, "2 processes in a row ended before their first game, the last with code 9"),
])  # fmt: skip
def test_rules_that_fail_in_a_process_end_the_run(how, kind, words, tmp_path, monkeypatch):
    """The next process would meet the same: what was raised is raised here, with where; silent ends are counted."""
    monkeypatch.setattr("anabranch.learn.processes.MOST_DEATHS", 1)
    (tmp_path / "nim.py").write_text(NIM)
    said = described(f"{tmp_path / 'nim.py'}:Nim", {"how": how})
    config = dataclasses.replace(tiny(), workers=1)
    players = Processes(said, config, Rollout(), 0, count())

    def wait() -> None:
        while True:
            players.games()

    try:
        with pytest.raises(kind, match=words) as raised:
            wait()
    finally:
        players.close()
    assert how == "ends" or "Traceback" in raised.value.__notes__[0]


def test_a_run_with_processes_learns_and_commits_each_game_once(tmp_path: Path):
    done = train(tmp_path / "run", SAID, tiny("most_steps=60", "rating.models=0"), workers=1)
    assert done.step == 60
    with RunFolder.open(tmp_path / "run") as run:
        found = [record for row in run.ledger.rows["shards"] for record in run.games(row)]
        assert len({record.id for record in found}) == len(found) == done.games
        assert max(decision.model for record in found for decision in record.decisions) >= 5  # newer weights came over


# Killed


@pytest.mark.parametrize("method", ["alphazero", "muzero"])
def test_a_kill_of_either_kind_of_process_loses_and_doubles_nothing(method: str, tmp_path: Path):
    """Kill -9 of one that plays, then of the one that learns: promises are kept, and nobody is left behind."""
    killings = Killings(tmp_path / "run", 1, method)
    for workers in (0, 1):
        killings.kill_once(workers)
    assert killings.killed == {"learner": 2, "worker": 1}
    assert killings.games
    assert not killings.orphans
    assert not [wrong for _, wrong in examine(tmp_path / "run") if wrong]


@pytest.mark.hard
@pytest.mark.parametrize("method", ["alphazero", "muzero"])
def test_kills_at_40_random_moments_lose_and_double_nothing(
    method: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    killings = Killings(tmp_path / "run", method=method)
    while min(killings.killed.values()) < 40:
        killings.kill_once(workers=1)
    for _ in range(10):
        killings.kill_once(workers=0)
    assert len(killings.games) > 500
    assert killings.models > 5
    assert not killings.orphans
    assert not [wrong for _, wrong in examine(tmp_path / "run") if wrong]
    with capsys.disabled():
        times = sorted(killings.until_ready)
        print(f"\n{killings.killed} killed; {len(killings.games)} games and {killings.models} models were promised")
        print(f"first batch {times[0]:.1f} to {times[-1]:.1f} s after the start, median {times[len(times) // 2]:.1f}")


def test_how_many_processes_play_follows_from_the_cores_unless_it_is_said():
    left_open = replace(tiny(), workers=None)
    assert [workers_of(left_open, cores) for cores in (1, 2, 3, 4, 64)] == [0, 2, 2, 3, 4]
    assert workers_of(replace(left_open, ray="local"), 64) == 1
    for said in (0, 7):
        assert workers_of(replace(tiny(), workers=said), 2) == said


def test_a_run_that_leaves_it_open_goes_on_with_the_cores_there_are(tmp_path, monkeypatch):
    """Begun on two cores, gone on with on one: games are neither lost nor played twice."""
    for cores, steps in ((2, 20), (1, 40)):
        monkeypatch.setattr("anabranch.learn.train.cores", lambda cores=cores: cores)
        config = replace(tiny(f"most_steps={steps}", "rating.models=0"), workers=None)
        assert train(tmp_path / "run", SAID, config).step == steps
    with RunFolder.open(tmp_path / "run") as run:
        assert run.config.workers is None
        played = [record.id for row in run.ledger.rows["shards"] for record in run.games(row)]
    assert len(played) == len(set(played))
