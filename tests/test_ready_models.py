"""Networks that come with the package: each is what its log says, plays legal games and beats random play."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
import torch

import anabranch as ab
from anabranch.cli import BAD_DATA, GOOD, USAGE, main
from anabranch.errors import DataError, UsageError
from anabranch.evaluate import ready
from anabranch.evaluate.load import load
from anabranch.evaluate.ready import Best, ReadyModel, ready_model, ready_models
from anabranch.learn.game_of_run import load_game
from anabranch.learn.settings import TrainConfig
from anabranch.nets.files import read, written
from anabranch.nets.plain import plain
from anabranch.play.solitaire import solitaire
from anabranch.search.settings.mapping import from_toml

MOST = 5 * 2**20  # bytes of all of them


def trained(kind: str, game: ab.Game, **sizes: int) -> tuple[bytes, torch.nn.Module]:
    """A network whose batch norms have seen something."""
    net = ab.nets.make(kind, game, seed=3, **sizes)
    net.train()
    draws = torch.Generator().manual_seed(1)
    for _ in range(3):
        net(torch.randn((32, *net.shape.observation), generator=draws))
    return written(net), net.eval()


@pytest.mark.parametrize(
    ("kind", "name", "sizes"),
    [
        ("tower", "connect_four", {"channels": 8, "blocks": 2, "head": 3, "hidden": 5}),
        ("tower", "pig", {"channels": 8, "blocks": 1}),  # a board of one cell
        ("tower", "tic_tac_toe", {"channels": 4, "blocks": 1, "bins": 7}),
        ("mlp", "pyrat", {"width": 16, "layers": 3}),
        ("mlp", "yatzy", {"width": 8, "layers": 1, "bins": 64}),
    ],
)
def test_networks_without_torch_answer_as_with_it(kind, name, sizes):
    game = ab.games.load(name, compiled=False)
    data, net = trained(kind, game, **sizes)
    shape, network = plain("a file", data)
    assert shape == net.shape
    for rows in (1, 5, 150):
        seen = np.random.default_rng(rows).normal(size=(rows, *shape.observation)).astype(np.float32)
        with torch.inference_mode():
            expected = [part.numpy() for part in net(torch.from_numpy(seen))]
        for found, wanted in zip(network(seen), expected, strict=True):
            assert found.dtype == np.float32
            np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=2e-5 * max(1.0, float(np.abs(wanted).max())))


def test_files_without_torch_are_believed_only_if_they_are_whole():
    data, _ = trained("mlp", ab.games.load("tic_tac_toe"), width=4)
    for damaged in (b"", data[:-1], data[:-3] + bytes([data[-3] ^ 1]) + data[-2:], b"\xff" * 8 + data[8:]):
        with pytest.raises(DataError, match=r"damaged|no network"):
            plain("a file", damaged)


# Those of the package


@pytest.fixture(params=ready_models(), ids=lambda model: model.name)
def model(request) -> ReadyModel:
    found: ReadyModel = request.param
    return found


def test_ready_models_are_what_their_logs_say(model):
    game = load_game(model.log.game)
    data = model.weights()
    net = read(model.name, data, game)  # with its checksum, for this very game
    seen = ab.random_positions(game, 8, seed=1).observations
    with torch.inference_mode():
        expected = net(torch.from_numpy(seen))[0].numpy()
    np.testing.assert_allclose(plain(model.name, data)[1](seen)[0], expected, rtol=1e-3, atol=1e-3)
    assert ready_model(game) == model
    settings = from_toml(model.folder / ready.SETTINGS, base=TrainConfig(search=ab.SearchConfig()))
    assert {name: getattr(settings.net, name) for name in net.sizes} == net.sizes
    assert model.log.course[-1]["step"] == model.log.run["steps"]
    assert model.log.against[0].opponent == "random"
    assert model.log.against[0].low > 1 / game.players if game.players > 1 else model.log.against[0].low > 0


def test_ready_models_beat_random(model):
    game = load_game(model.log.game)
    agents = ["best:simulations=16", *["random"] * (max(2, game.players) - 1)]
    if game.players > 1:
        assert ab.match(game, *agents, games=20).score > 1.2 / game.players
        return
    means = [solitaire(game, agent, 4).mean() for agent in agents]
    assert means[0] > means[1]


def test_all_models_together_are_small():
    assert sum(path.stat().st_size for path in ready.MODELS.rglob("*") if path.is_file()) <= MOST


# Their names


@pytest.fixture
def tic_tac_toe() -> ab.Game:
    return ab.games.load("tic_tac_toe")


def test_best_is_known_by_its_hash(tic_tac_toe):
    agent = ab.SearchAgent(simulations=8, evaluator="best")
    agent.check(tic_tac_toe)
    model = ready_model(tic_tac_toe)
    assert model is not None
    assert agent.name == f"search:simulations=8,evaluator=best:sha256={model.log.sha256[:16]}"
    again = ab.match(tic_tac_toe, agent.name, "random", games=2)
    assert again.agents[0] == agent.name
    with pytest.raises(DataError, match="another network"):
        load("best:sha256=0000", tic_tac_toe)


def test_best_has_the_settings_it_was_measured_with_unless_told_otherwise(tic_tac_toe):
    from anabranch.play.names import agent_by_name

    model = ready_model(tic_tac_toe)
    assert model is not None
    usual = agent_by_name("best", tic_tac_toe)
    assert isinstance(usual, ab.SearchAgent)
    assert f"simulations={usual.budget['simulations']}" in model.log.agent
    fewer = agent_by_name("best:simulations=3,c=2", tic_tac_toe)
    assert isinstance(fewer, ab.SearchAgent)
    assert fewer.budget["simulations"] == 3
    timed = agent_by_name("best:seconds=0.1", tic_tac_toe)
    assert isinstance(timed, ab.SearchAgent)
    assert timed.budget == {"simulations": None, "visits": None, "seconds": 0.1}
    with pytest.raises(UsageError, match="which is not known here"):
        agent_by_name("best")


def test_a_game_without_a_model_says_which_there_are():
    small = ab.games.load("connect_four", rows=4, compiled=False)
    with pytest.raises(UsageError, match=r"no ready model of connect_four\(rows=4\).*tic_tac_toe\(\)"):
        Best().check(small)
    assert main(["match", "goofspiel", "best", "random", "--games", "2"]) == USAGE


@pytest.mark.parametrize("given", [{"rows": 6}, {"columns": 7, "rows": 6}, {"line": 4}])
def test_a_game_is_known_by_its_parameters_and_not_by_how_they_were_given(given):
    usual = ready_model(ab.games.load("connect_four", compiled=False))
    found = ready_model(ab.games.load("connect_four", compiled=False, **given))
    assert found is not None
    assert found == usual


def test_parameters_are_named_in_order_and_left_out_where_they_are_as_usual():
    from anabranch.games.connect_four import ConnectFour

    texts = {ConnectFour(6, 9, compiled=False).written_out, ConnectFour(columns=9, compiled=False).written_out}  # type: ignore[call-arg]
    assert texts == {"connect_four(columns=9)"}
    assert ConnectFour(columns=8, rows=5, compiled=False).written_out == "connect_four(rows=5, columns=8)"  # type: ignore[call-arg]


def test_a_users_game_of_the_same_name_has_no_model():
    from anabranch.games.tic_tac_toe import TicTacToe

    class Mine(TicTacToe):
        title = "tic_tac_toe"

    assert repr(Mine(compiled=False)) == "tic_tac_toe()"  # type: ignore[call-arg]
    assert ready_model(Mine(compiled=False)) is None  # type: ignore[call-arg]


def test_damaged_models_are_refused(tmp_path, monkeypatch, tic_tac_toe):
    shutil.copytree(ready.MODELS / "tic_tac_toe", tmp_path / "tic_tac_toe")
    monkeypatch.setattr(ready, "MODELS", tmp_path)
    file = tmp_path / "tic_tac_toe" / ready.WEIGHTS
    data = file.read_bytes()
    file.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(DataError, match="damaged"):
        load("best", tic_tac_toe)
    (tmp_path / "tic_tac_toe" / ready.LOG).write_text("{}")
    assert main(["analyze", "tic_tac_toe", "--simulations", "3"]) == BAD_DATA


# Commands


def test_analyze_counts_simulations_with_the_ready_model_and_seconds_with_rollouts(capsys):
    used = []
    for budget in (["--simulations", "8"], ["--seconds", "0.05"], ["--simulations", "8", "--evaluator", "rollout"]):
        assert main(["analyze", "tic_tac_toe", *budget, "--json"]) == GOOD
        used.append(json.loads(capsys.readouterr().out)["evaluator"])
    assert used[0].startswith("best:sha256=")
    assert used[1:] == ["rollout", "rollout"]
    assert main(["analyze", "tic_tac_toe", "--simulations", "8"]) == GOOD
    assert "evaluated by best:sha256=" in capsys.readouterr().out


def test_play_is_against_the_ready_model_where_there_is_one(capsys, monkeypatch):
    import io

    for game, words in (("tic_tac_toe", "evaluator=best:sha256="), ("pig", "search:simulations=2000")):
        monkeypatch.setattr("sys.stdin", io.StringIO("quit\n"))
        main(["play", game, "--seed", "1"])
        assert words in capsys.readouterr().out
