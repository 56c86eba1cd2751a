"""Actors of a Ray cluster that play: the same worker, which may die at any moment, and every game counts once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.sources import ROOT
from tests.test_muzero_runs import tiny as tiny_muzero
from tests.test_training import SAID, tiny

import anabranch as ab
from anabranch.errors import AnabranchError
from anabranch.learn import cluster
from anabranch.learn.cluster import Cluster, connected
from anabranch.learn.learner import new_net
from anabranch.learn.run_folder import RunFolder, examine
from anabranch.learn.train import train
from anabranch.nets.shape import shape_of


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    """A cluster on this machine, one for all tests."""
    found, _ = connected("local")
    yield found
    found.shutdown()


def evaluator(seed: int = 0) -> ab.Torch:
    config = tiny()
    return ab.Torch(new_net(config.net, shape_of(ab.games.load("tic_tac_toe")), seed))


def process_of(ray: Any, actor: cluster.Actor) -> int:
    found: int = ray.get(actor.handle.__ray_call__.remote(lambda player: os.getpid()))
    return found


def test_an_actor_that_dies_plays_its_games_again(ray: Any):
    said: list[str] = []
    ids: list[int] = []
    players = Cluster(SAID, tiny("workers=1", "ray=local"), evaluator(), 0, count(), said.append)
    try:
        while len(ids) < 4:
            ids += [record.id for record in players.games()]
        first = process_of(ray, players.actors[0])
        os.kill(first, signal.SIGKILL)
        players.use(evaluator(1), 7)
        versions: set[int] = set()
        while len(ids) < 40:
            found = players.games()
            ids += [record.id for record in found]
            versions |= {decision.model for record in found for decision in record.decisions}
        assert process_of(ray, players.actors[0]) != first
        assert players.deaths == 1
        assert players.puts == 2  # once a version
        assert 7 in versions
        assert players.rows > 0
        assert 0 < players.fill <= 1
        assert 0 <= players.idle < 1
    finally:
        players.close()
    assert len(set(ids)) == len(ids)
    assert set(range(12)) <= set(ids)  # those of the dead one, too
    assert any("gets its games once more" in words for words in said)


def test_actors_that_never_play_end_a_run_with_an_error(ray: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cluster, "PATIENCE", 2.0)
    players = Cluster({**SAID, "name": "no_such_game"}, tiny("workers=1"), evaluator(), 0, count())

    def wait() -> None:
        while True:
            players.games()

    try:
        with pytest.raises(AnabranchError, match="no game has come for 2 s, in which actors died"):
            wait()
    finally:
        players.close()


@pytest.mark.parametrize("method", ["alphazero", "muzero"])
def test_a_run_with_actors_learns_and_commits_each_game_once(ray: Any, tmp_path: Path, method: str):
    settings = {"alphazero": tiny, "muzero": tiny_muzero}[method]("most_steps=30", "rating.models=0")
    done = train(tmp_path / "run", SAID, settings, workers=1, ray="local")
    assert (done.method, done.step) == (method, 30)
    with RunFolder.open(tmp_path / "run") as run:
        found = [record.id for row in run.ledger.rows["shards"] for record in run.games(row)]
        assert len(set(found)) == len(found) == done.games
        assert run.ledger.rows["metrics"][0]["idle"]["self_play"] < 1
    assert not [wrong for _, wrong in examine(tmp_path / "run") if wrong]


def test_a_cluster_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch):
    import ray

    def init(**given: object) -> None:
        raise ConnectionError("nobody answers")

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", init)
    with pytest.raises(AnabranchError, match=r"there is no Ray cluster at 'auto': nobody answers; `ray start --head`"):
        connected("auto")


@pytest.mark.hard
@pytest.mark.parametrize("method", ["alphazero", "muzero"])
def test_two_nodes_train_to_perfection_while_actors_are_killed_every_ten_seconds(tmp_path: Path, method: str):
    done = subprocess.run(
        [sys.executable, "-m", "tests.two_nodes", str(tmp_path / "run"), "--minutes", "3", "--method", method],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    facts = json.loads(done.stdout.splitlines()[-1])
    assert facts["killed"] >= 10
    assert facts["once"]
    assert not facts["damaged"]
    assert facts["losses"]["25"] == 0
