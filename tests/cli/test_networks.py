"""Networks' files as evaluators of commands: found, compared with the game, and answered with words where they fail."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from tests.cli.test_interrupt import interrupted

import anabranch as ab
from anabranch.cli import BAD_DATA, GOOD, INTERRUPTED, USAGE, main
from anabranch.cli.stdio.protocol import Search
from anabranch.cli.stdio.work import Worker
from anabranch.errors import DataError, MissingExtraError, UsageError
from anabranch.evaluate import onnx

FILES = ("net.safetensors", "net.onnx")
WAVES = ("--set", "width=8", "--set", "noise=RootNoise")


def linear() -> bytes:
    """Return an ONNX file for connect four, one layer written by hand: exporting one takes seconds."""
    random, nodes = np.random.default_rng(0), [helper.make_node("Flatten", ["observations"], ["flat"])]
    outputs, weights = [], []
    for name, size in (("logits", 7), ("values", 2)):
        weights.append(numpy_helper.from_array(random.normal(0, 0.1, (84, size)).astype(np.float32), f"{name}_weight"))
        nodes.append(helper.make_node("MatMul", ["flat", f"{name}_weight"], [name]))
        outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", size]))
    seen = helper.make_tensor_value_info("observations", TensorProto.FLOAT, ["batch", 2, 6, 7])
    graph = helper.make_graph(nodes, "linear", [seen], outputs, weights)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    return bytes(made.SerializeToString())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with networks for connect four in two kinds of files, and an evaluator in Python."""
    made, game = tmp_path_factory.mktemp("networks"), ab.games.load("connect_four")
    net = ab.nets.make("mlp", game, width=8, layers=1)
    ab.nets.save(made / "net.safetensors", net)
    (made / "net.onnx").write_bytes(linear())
    (made / "evaluate.py").write_text(
        "import anabranch as ab\n\n\ndef evaluate(batch):\n    return ab.Hashing().evaluate(batch)\n"
    )
    (made / "search.toml").write_text("width = 8\n\n[noise]\nweight = 0.25\n")
    return made


@pytest.fixture(autouse=True)
def inside(folder, monkeypatch):
    monkeypatch.chdir(folder)


@pytest.mark.parametrize("name", [*FILES, "evaluate.py:evaluate"])
def test_analyze_asks_a_file_in_waves(name, capsys):
    """Settings by flags or from TOML: what the command finds is what the library finds."""
    config = ab.SearchConfig(width=8, noise=ab.RootNoise())
    state = ab.games.load("connect_four").start()
    found = ab.search(state, simulations=100, evaluator=name, config=config)
    for settings in (WAVES, ("--config", "search.toml")):
        assert (
            main(["analyze", "connect_four", "--simulations", "100", "--evaluator", name, *settings, "--json"]) == GOOD
        )
        said = json.loads(capsys.readouterr().out)
        assert [row["visits"] for row in said["players"]["0"]] == found.visits[0].tolist()


@pytest.mark.parametrize("name", FILES)
def test_match_and_play_take_a_file(name, capsys, monkeypatch):
    """For agents that search and name no evaluator; they are then called by the file and its hash."""
    words = ["match", "connect_four", "search:simulations=8,keep=graph", "search:simulations=8,evaluator=uniform"]
    assert main([*words, "--evaluator", name, "--games", "2", "--json"]) == GOOD
    first, second = json.loads(capsys.readouterr().out)["agents"]
    assert first.startswith(f"search:simulations=8,evaluator={name}:sha256=")
    assert second == "search:simulations=8,evaluator=uniform"
    monkeypatch.setattr("sys.stdin", io.StringIO("d\nhint\nquit\n"))
    assert main(["play", "connect_four", "--agent", "search:simulations=8", "--evaluator", name]) == GOOD
    said = capsys.readouterr().out
    assert f"against {first.replace(',keep=graph', '')}." in said
    assert "the search prefers" in said


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (
            ["analyze", "tic_tac_toe", "--evaluator", "net.onnx"],
            BAD_DATA,
            "net.onnx takes observations of shape (2, 6, 7)",
        ),
        (
            ["analyze", "tic_tac_toe", "--evaluator", "net.safetensors"],
            BAD_DATA,
            "is a network for connect_four, not for",
        ),
        (["match", "tic_tac_toe", "search", "random", "--evaluator", "net.onnx"], BAD_DATA, "(2, 6, 7)"),
        (["match", "tic_tac_toe", "search:evaluator=net.safetensors", "random"], BAD_DATA, "was made for connect_four"),
        (["play", "tic_tac_toe", "--evaluator", "net.onnx"], BAD_DATA, "tic_tac_toe has (2, 3, 3)"),
        (["analyze", "connect_four", "--evaluator", "nut.onnx"], USAGE, "there is no file nut.onnx"),
        (["match", "connect_four", "search:evaluator=nut.safetensors", "random"], USAGE, "no file nut.safetensors"),
        (["match", "connect_four", "random", "random", "--evaluator", "net.onnx"], USAGE, "no agent takes it"),
        (["play", "connect_four", "--agent", "random", "--evaluator", "net.onnx"], USAGE, "no agent takes it"),
        (["analyze", "connect_four", "--evaluator", "net.onnx:thread=2"], USAGE, "Did you mean 'threads' or 'share'?"),
        (["analyze", "connect_four", "--evaluator", "evaluate.py"], USAGE, "which evaluator of evaluate.py?"),
        (["analyze", "connect_four", "--set", "width=0"], USAGE, "width must be at least 1"),
        (["analyze", "connect_four", "--set", "widht=8"], USAGE, "Did you mean 'width'?"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_used_is_told(words, code, said, capsys):
    assert main(words) == code
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("words", [["analyze", "connect_four"], ["match", "connect_four", "search", "random"]])
def test_a_missing_extra_is_named(words, capsys, monkeypatch):
    def missing(*_):
        raise MissingExtraError("onnxruntime", "fast", "an ONNX file")

    monkeypatch.setattr(onnx, "session", missing)
    assert main([*words, "--evaluator", "net.onnx"]) == BAD_DATA
    assert "pip install 'anabranch[fast]'" in capsys.readouterr().err


def test_stdio_reads_a_file_again_when_it_was_written_again(folder):
    worker = Worker()

    def search(game="connect_four", name="other.safetensors"):
        asked = Search(id=1, game=game, simulations=40, evaluator=name, config={"width": 8})
        return worker.search(asked, lambda: False, lambda report: None, lambda: None)["players"]["0"]

    game = ab.games.load("connect_four")
    for seed in (1, 2):
        ab.nets.save("other.safetensors", ab.nets.make("mlp", game, width=8 * seed, seed=seed))
        config = ab.SearchConfig(width=8)
        found = ab.search(game.start(), simulations=40, evaluator="other.safetensors", config=config)
        assert [row["visits"] for row in search()] == found.visits[0].tolist()
    for name in FILES:
        search(name=name)
        with pytest.raises(DataError, match="tic_tac_toe"):  # kept, and compared all the same
            search("tic_tac_toe", name)
    with pytest.raises(UsageError, match=r"there is no file gone\.onnx"):
        search(name="gone.onnx")


@pytest.mark.parametrize("settings", [("--set", "width=16"), ("--set", "width=16", "--set", "depth=3")])
def test_ctrl_c_ends_a_search_in_waves_and_shows_what_was_found(settings, folder):
    words = ["analyze", "connect_four", "--simulations", "2000000", "--evaluator", "net.onnx", "--json"]
    out, err, code = interrupted(folder, *words, *settings)
    assert code == INTERRUPTED, err
    said = json.loads(out)
    assert said["interrupted"] is True
    assert said["simulations"] % 16 == 0  # whole waves
    assert sum(row["visits"] for row in said["players"]["0"]) == said["simulations"]
