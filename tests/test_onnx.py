"""Networks as ONNX files: exported, run, damaged, and in eight bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper

import anabranch as ab
from anabranch.errors import AccuracyError, DataError, EvaluatorError, UnknownNameError, UsageError
from anabranch.evaluate.batch import Batch, evaluations
from anabranch.evaluate.load import load
from anabranch.evaluate.quantise import log_softmax
from anabranch.evaluate.seal import LENGTH, check_seal, sealed
from anabranch.play.names import agent_by_name

ANYTHING = ab.Bound(policy_kl_mean=9, policy_kl_max=9, value_error_mean=9, value_error_max=9, top1=0)


@pytest.fixture(scope="module")
def tower(tmp_path_factory) -> tuple[torch.nn.Module, Path]:
    """A small tower for connect four that has learnt a little: who owns the middle column, and to play in it."""
    game = ab.games.load("connect_four")
    net = ab.nets.make("tower", game, channels=8, blocks=1, head=2, hidden=16)
    positions = ab.random_positions(game, 128)
    seen, legal = torch.from_numpy(positions.observations), positions.legal
    middle = torch.tanh((seen[:, 0, :, 3] - seen[:, 1, :, 3]).sum(1))
    best = torch.from_numpy(np.where(legal[:, 3], 3, legal.argmax(axis=1)))
    optimizer = torch.optim.Adam(net.parameters(), 3e-3)
    for _ in range(20):
        logits, values = net(seen)
        loss = torch.nn.functional.cross_entropy(logits, best) + ((values[:, 0] - middle) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return net, ab.to_onnx(net, game, tmp_path_factory.mktemp("tower") / "tower.onnx")


@pytest.fixture(scope="module")
def perceptrons(tmp_path_factory) -> dict[str, tuple[torch.nn.Module, Path]]:
    """Perceptrons for players who choose at once, for three players, and for dice."""
    folder = tmp_path_factory.mktemp("perceptrons")
    made: dict[str, tuple[torch.nn.Module, Path]] = {}
    for name in ("goofspiel", "n_in_a_row", "pig"):
        game = ab.games.load(name)
        net = ab.nets.make("mlp", game, width=8, layers=1)
        made[name] = net, ab.to_onnx(net, game, folder / f"{name}.onnx")
    return made


def batch_of(*states: ab.State) -> Batch:
    return Batch(states, list(range(len(states))))


def several(game: ab.Game) -> list[ab.State]:
    first = game.start()
    return [first, first.step(3)[0], first.step(2)[0].step(4)[0]]


def model(
    observation: list[int | str],
    outputs: dict[str, list[int | str]],
    kind: int = TensorProto.FLOAT,
) -> bytes:
    """Return an ONNX file that says zero of everything, with the shapes it is told to declare."""
    nodes, declared = [], []
    for name, sizes in outputs.items():
        rest = [size for size in sizes[1:] if isinstance(size, int)]
        zeros = helper.make_tensor(f"{name}_zeros", TensorProto.FLOAT, [1, *rest], [0.0] * int(np.prod([1, *rest])))
        nodes += [
            helper.make_node("Constant", [], [f"{name}_constant"], value=zeros),
            helper.make_node("Shape", ["observations"], [f"{name}_rows"], start=0, end=1),
            helper.make_node(
                "Constant",
                [],
                [f"{name}_ones"],
                value=helper.make_tensor("ones", TensorProto.INT64, [len(rest)], [1] * len(rest)),
            ),
            helper.make_node("Concat", [f"{name}_rows", f"{name}_ones"], [f"{name}_shape"], axis=0),
            helper.make_node("Expand", [f"{name}_constant", f"{name}_shape"], [name]),
        ]
        declared.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes))
    seen = helper.make_tensor_value_info("observations", kind, observation)
    graph = helper.make_graph(nodes, "zeros", [seen], declared)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    data: bytes = made.SerializeToString()
    return data


GOOD: tuple[list[int | str], dict[str, list[int | str]]] = (
    ["batch", 2, 3, 3],
    {"logits": ["batch", 9], "values": ["batch", 2]},
)


# Running


def test_onnx_says_what_torch_says(tower):
    net, path = tower
    game = ab.games.load("connect_four")
    batch = batch_of(*several(game))
    assert net.training, "an export leaves a module in the mode it was in"
    for a, b in zip(ab.Torch(net).evaluate(batch), ab.Onnx(path).evaluate(batch), strict=True):
        assert np.abs(a - b).max() < 1e-5
    for count in (1, 2, 65):  # the first axis is any number
        logits, values = ab.Onnx(path.read_bytes(), threads=2).run(np.zeros((count, 2, 6, 7), np.float32))
        assert (logits.shape, values.shape) == ((count, 7), (count, 2))


def test_a_search_runs_on_a_file(tower, perceptrons):
    """Taking turns, at once, three players, dice: the same visits as with the module."""
    for name, (net, path) in {"connect_four": tower, **perceptrons}.items():
        state = ab.games.load(name).start()
        on_file = ab.search(state, simulations=40, evaluator=ab.Onnx(path))
        on_module = ab.search(state, simulations=40, evaluator=ab.Torch(net, threads=1))
        assert on_file.visits.tolist() == on_module.visits.tolist(), name
        assert np.allclose(on_file.value, on_module.value, atol=1e-5)


def test_an_export_tells_nothing_of_the_machine(tower, perceptrons):
    for _, path in (tower, *perceptrons.values()):
        assert b"site-packages" not in path.read_bytes()
        assert str(Path(__file__).parent).encode() not in path.read_bytes()
        assert list(path.parent.glob(".*")) == [], "a temporary file was left behind"


def test_equal_networks_make_equal_files(perceptrons, tmp_path):
    net, path = perceptrons["pig"]
    again = ab.to_onnx(net, ab.games.load("pig"), tmp_path / "again.onnx")
    assert again.read_bytes() == path.read_bytes()


# Names


def test_a_file_is_an_evaluator_by_name(tower, monkeypatch):
    _, path = tower
    monkeypatch.chdir(path.parent)
    game = ab.games.load("connect_four")
    evaluator = load("tower.onnx:threads=2", game)
    assert isinstance(evaluator, ab.Onnx)
    assert evaluator.threads == 2
    agent = agent_by_name("search:simulations=20,evaluator=tower.onnx")
    name = f"tower.onnx:sha256={evaluator.sha256}"
    assert agent.name == f"search:simulations=20,evaluator={name}"
    assert repr(load(name)) == f"Onnx({name})"
    assert agent_by_name(agent.name).name == agent.name
    with pytest.raises(DataError, match="another network than the one named"):
        load("tower.onnx:sha256=0123456789abcdef")
    with pytest.raises(UnknownNameError, match="'threads'"):
        load("tower.onnx:treads=2")
    with pytest.raises(UsageError, match="there is no file"):
        load("nowhere.onnx")
    with pytest.raises(DataError, match=r"tower\.onnx takes observations of shape \(2, 6, 7\), and pig has \(4,\)"):
        load("tower.onnx", ab.games.load("pig"))


# What is wrong


@pytest.mark.parametrize(
    ("observation", "outputs", "words"),
    [
        (["batch", 2, 4, 4], GOOD[1], "observations of shape (2, 4, 4), and tic_tac_toe has (2, 3, 3)"),
        (["batch", 18], GOOD[1], "observations of shape (18,), and tic_tac_toe has (2, 3, 3)"),
        (GOOD[0], {"logits": ["batch", 7], "values": ["batch", 2]}, "logits of shape (7,), and tic_tac_toe has (9,)"),
        (GOOD[0], {"logits": ["batch", 9], "values": ["batch", 3]}, "values of shape (3,), and tic_tac_toe has (2,)"),
        (GOOD[0], {"logits": ["batch", 9]}, "has the outputs logits, expected logits and values"),
        ([4, 2, 3, 3], GOOD[1], "batches of 4"),
    ],
)
def test_a_file_of_other_shapes_is_refused(observation, outputs, words):
    batch = batch_of(ab.games.load("tic_tac_toe").start())
    assert evaluations(ab.Onnx(model(*GOOD)), batch)[0].values == [0.0, 0.0]
    with pytest.raises(DataError) as caught:
        ab.Onnx(model(observation, outputs)).evaluate(batch)
    assert words in str(caught.value)


def test_outputs_of_other_names_are_taken_in_order():
    outputs: dict[str, list[int | str]] = {"policy": ["batch", 9], "value": ["batch", 1]}
    evaluator = ab.Onnx(model(GOOD[0], outputs), view="scalar")
    assert evaluations(evaluator, batch_of(ab.games.load("tic_tac_toe").start()))[0].values == [0.0, 0.0]
    with pytest.raises(UsageError, match="threads"):
        ab.Onnx(model(*GOOD), threads=-1)


def test_other_types_are_refused():
    with pytest.raises(DataError, match=r"input observations has type tensor\(double\)"):
        ab.Onnx(model(*GOOD, kind=TensorProto.DOUBLE))
    with pytest.raises(EvaluatorError, match="type float64"):
        ab.Onnx(model(*GOOD)).run(np.zeros((1, 2, 3, 3)))  # type: ignore[arg-type]
    with pytest.raises(DataError, match="no ONNX model"):
        ab.Onnx(b"something else")


def test_a_nan_is_told_with_its_row(perceptrons, tmp_path):
    game = ab.games.load("pig")
    _, path = perceptrons["pig"]
    proto = onnx.load(path)
    [bias] = [tensor for tensor in proto.graph.initializer if tensor.name == "policy.bias"]
    bias.raw_data = np.full(2, np.nan, np.float32).tobytes()
    del proto.metadata_props[:]
    with pytest.raises(EvaluatorError, match="logits of player 0 are not finite: row 0, index 0"):
        evaluations(ab.Onnx(proto.SerializeToString()), batch_of(game.start()))


def test_a_flipped_bit_is_seen_wherever_it_is(perceptrons):
    """Files of ours end with a checksum; onnxruntime itself runs a model with a wrong weight."""
    _, path = perceptrons["pig"]
    data = path.read_bytes()
    check_seal(data, "pig.onnx")
    random = np.random.default_rng(2)
    for place in random.integers(0, 8 * (len(data) - LENGTH), 100).tolist():
        flipped = bytearray(data)
        flipped[place // 8] ^= 1 << place % 8
        with pytest.raises(DataError, match="damaged"):
            ab.Onnx(bytes(flipped))
    unsealed = data[:-LENGTH]
    assert sealed(unsealed) == data
    assert ab.Onnx(unsealed).sha256 != ab.Onnx(data).sha256  # others' files have none, and run
    assert onnx.load_model_from_string(data).metadata_props[0].key == "anabranch.sha256"


def test_a_module_that_answers_otherwise_is_not_exported(tmp_path):
    class Says(torch.nn.Module):
        def __init__(self, answer):
            super().__init__()
            self.answer = answer

        def forward(self, observations):
            return self.answer(len(observations), torch.zeros)

    game, heads = ab.games.load("connect_four"), r"\(16, 7\)"
    for answer, message in (
        (lambda rows, zeros: zeros(rows, 7), r"\(logits, values\), found Tensor"),
        (lambda rows, zeros: (zeros(rows, 7),), r"\(logits, values\), found 1 tensors"),
        (lambda rows, zeros: (zeros(rows, 8), zeros(rows, 2)), rf"logits of shape \(16, 8\).*expected {heads}$"),
        (lambda rows, zeros: (zeros(rows, 2), zeros(rows, 7)), rf"expected {heads}; return logits first"),
        (lambda rows, zeros: (zeros(1, 7), zeros(1, 2)), rf"logits of shape \(1, 7\).*expected {heads}"),
        (lambda rows, zeros: (zeros(rows, 7), zeros(rows, 3)), r"values of shape \(16, 3\)"),
        (lambda rows, zeros: (zeros(rows, 7) / 0, zeros(rows, 2)), r"logits are not finite on position 0"),
        (lambda rows, zeros: (zeros(rows, 7), zeros(rows, 2) + float("inf")), r"values are not finite"),
        (lambda rows, zeros: (zeros(rows, 7), zeros(rows, 2).long()), r"values of type int64"),
    ):
        with pytest.raises(EvaluatorError, match=message):
            ab.to_onnx(Says(answer), game, tmp_path / "no.onnx")
        assert list(tmp_path.iterdir()) == []


# Eight bits


class Scalar(torch.nn.Module):
    """A network that speaks of the mover's value alone."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, observations):
        logits, values = self.net(observations)
        return logits, values[:, 0]


def test_a_network_that_says_one_value_is_measured_in_its_own_view(tmp_path):
    game = ab.games.load("tic_tac_toe")
    net = Scalar(ab.nets.make("mlp", game, width=16, layers=1))
    path = ab.to_onnx(net, game, tmp_path / "scalar.onnx")
    with pytest.raises(DataError, match="gives values"):
        ab.quantise(path, tmp_path / "int8.onnx", game, positions=64, bound=ANYTHING)
    report = ab.quantise(path, tmp_path / "int8.onnx", game, positions=64, bound=ANYTHING, view="scalar")
    assert 0.0 <= report.value_error_mean <= report.value_error_max < 1.0
    batch = batch_of(game.start())
    for file in (path, tmp_path / "int8.onnx"):
        _, values = ab.Onnx(file, view="scalar").evaluate(batch)
        assert values[0, 0] == -values[0, 1]


def test_eight_bits_are_measured_on_other_positions_and_kept_within_their_bound(tower, tmp_path):
    _, path = tower
    game = ab.games.load("connect_four")
    report = ab.quantise(path, tmp_path / "int8.onnx", game, positions=256)
    assert report.positions == 128
    assert 0.0 < report.policy_kl_mean <= report.policy_kl_max < 0.25
    assert 0.0 < report.value_error_mean <= report.value_error_max < 0.25
    assert report.top1 >= 0.95
    assert report.speed > 0.0
    assert report.bytes < report.bytes_before
    assert report.bytes == (tmp_path / "int8.onnx").stat().st_size
    kinds = {node.op_type for node in onnx.load(tmp_path / "int8.onnx").graph.node}
    assert {"QuantizeLinear", "DequantizeLinear"} <= kinds
    check_seal((tmp_path / "int8.onnx").read_bytes(), "int8.onnx")
    small, whole = ab.Onnx(tmp_path / "int8.onnx"), ab.Onnx(path)
    batch = batch_of(*several(game))
    for a, b in zip(small.evaluate(batch), whole.evaluate(batch), strict=True):
        assert 0.0 < np.abs(a - b).max() < 0.5
    assert ab.search(game.start(), simulations=30, evaluator=small).visits.sum() >= 29


def test_too_far_from_itself_is_refused_and_nothing_is_written(tower, tmp_path):
    _, path = tower
    with pytest.raises(AccuracyError, match=r"policy_kl_mean .*allowed is at most 1e-12") as caught:
        ab.quantise(
            path,
            tmp_path / "int8.onnx",
            ab.games.load("connect_four"),
            positions=64,
            bound=ab.Bound(policy_kl_mean=1e-12),
        )
    assert isinstance(caught.value.report, ab.Accuracy)
    assert caught.value.report.policy_kl_mean > 1e-12
    assert list(tmp_path.iterdir()) == []


def test_players_who_choose_at_once_in_eight_bits(perceptrons, tmp_path):
    report = ab.quantise(
        perceptrons["goofspiel"][1], tmp_path / "int8.onnx", ab.games.load("goofspiel"), positions=50, bound=ANYTHING
    )
    assert report.positions == 25


def test_wrong_calls_are_named(tower, tmp_path):
    _, path = tower
    with pytest.raises(DataError, match="and pig has"):
        ab.quantise(path, tmp_path / "int8.onnx", ab.games.load("pig"))
    with pytest.raises(UsageError, match=r"ab\.Bound"):
        ab.quantise(path, tmp_path / "int8.onnx", ab.games.load("connect_four"), bound=0.1)  # type: ignore[arg-type]


def test_a_policy_over_legal_actions_by_hand():
    """Of three equal logits, two legal ones are ln ½ each; NaN keeps no bound."""
    found = log_softmax(np.zeros((1, 3)), np.array([[True, False, True]]))
    assert np.allclose(found, [[np.log(0.5), 0.0, np.log(0.5)]])
    numbers = dict.fromkeys(("policy_kl_mean", "policy_kl_max", "value_error_mean", "value_error_max"), float("nan"))
    report = ab.Accuracy(positions=1, top1=0.5, positions_per_second=1.0, speed=1.0, bytes=1, bytes_before=1, **numbers)
    assert len(report.misses(ab.Bound())) == 5


# Positions


def test_positions_are_different_legal_and_follow_from_the_seed():
    game = ab.games.load("connect_four")
    one, two, other = (ab.random_positions(game, 50, seed) for seed in (1, 1, 2))
    assert one.observations.tobytes() == two.observations.tobytes()
    assert one.observations.tobytes() != other.observations.tobytes()
    assert len({row.tobytes() for row in one.observations}) == 50
    full = one.observations[:, :, 0, :].sum(axis=1) > 0  # a column is full where its top cell has a stone
    assert (one.legal == ~full).all()


def test_a_game_with_few_positions_gives_what_it_has():
    assert len(ab.random_positions(ab.games.load("matrix"), 100)) == 1
    stones = ab.random_positions(ab.games.load("take_away", stones=6), 100)
    assert len(stones) == 6  # of 6, 5, …, 1 left; what is over is nobody's to see
    with pytest.raises(UsageError, match="at least one"):
        ab.random_positions(ab.games.load("matrix"), 0)


def test_a_copy_in_eight_bits_never_replaces_its_original(tmp_path):
    path = tmp_path / "net.onnx"
    path.write_bytes(b"whatever")
    with pytest.raises(UsageError, match="another name"):
        ab.quantise(path, tmp_path / "." / "net.onnx", ab.games.load("tic_tac_toe"))
