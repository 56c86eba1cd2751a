"""Weights in other files: an ONNX model is one file, or it is refused."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import anabranch as ab
from anabranch.cli import BAD_DATA, main
from anabranch.errors import DataError
from anabranch.evaluate import external
from anabranch.evaluate.external import check_whole
from anabranch.evaluate.load import load

GAME = ab.games.load("tic_tac_toe")


def small(path: Path) -> Path:
    """Write a model of tic-tac-toe that likes the first square."""
    weights = np.zeros(11, np.float32)
    weights[0] = 5
    shape: list[str | int | None] = ["batch", *(GAME.observation or ())]
    nodes = [
        helper.make_node("Flatten", ["x"], ["flat"], axis=1),
        helper.make_node("ReduceSum", ["flat", "axis"], ["sum"], keepdims=1),
        helper.make_node("Mul", ["sum", "zero"], ["nothing"]),
        helper.make_node("Add", ["nothing", "w"], ["all"]),
        helper.make_node("Split", ["all", "parts"], ["logits", "values"], axis=1),
    ]
    constants = {"w": weights, "axis": np.array([1]), "zero": np.float32(0), "parts": np.array([9, 2])}
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [
            helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 9]),
            helper.make_tensor_value_info("values", TensorProto.FLOAT, ["batch", 2]),
        ],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    made.ir_version = 8
    onnx.save(made, path)
    return path


def test_every_way_from_a_model_to_a_tensor_is_followed():
    """Compared with what the onnx package knows of the format: messages that may hold tensors, and by which fields."""
    messages, new = {}, [onnx.ModelProto.DESCRIPTOR]
    while new:
        message = new.pop()
        messages[message.name] = {
            field.number: field.message_type for field in message.fields if field.message_type is not None
        }
        new += [inside for inside in messages[message.name].values() if inside.name not in messages]
    holding = {"TensorProto"}
    while True:
        more = {name for name, inside in messages.items() if any(each.name in holding for each in inside.values())}
        if more <= holding:
            break
        holding |= more
    ways = {
        name: {number: inside.name for number, inside in messages[name].items() if inside.name in holding}
        for name in holding - {"TensorProto"}
    }
    assert ways == {name: found for name, found in external.PATHS.items() if name != "TensorProto"}
    tensor = onnx.TensorProto.DESCRIPTOR.fields_by_name
    assert tensor["external_data"].number == external.EXTERNAL_DATA
    assert tensor["data_location"].number == external.DATA_LOCATION


def outside(tensor: Any, location: str = "net.data") -> Any:
    """Let a tensor's weights lie in another file."""
    tensor.ClearField("raw_data")
    tensor.ClearField("float_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", "0"), ("length", "44")):
        entry = tensor.external_data.add()
        entry.key, entry.value = key, value
    return tensor


def model_with(place: str, location: str = "net.data") -> bytes:
    """Return a model that has a tensor elsewhere, in one of the places where tensors may be."""
    tensor = outside(numpy_helper.from_array(np.zeros(11, np.float32), "w"), location)
    sparse = onnx.SparseTensorProto(values=tensor, indices=numpy_helper.from_array(np.zeros(1, np.int64)))
    inner = helper.make_graph([], "inner", [], [], [tensor])
    node = helper.make_node("Op", [], [])
    graph, more = helper.make_graph([node], "g", [], []), {}
    attribute = onnx.AttributeProto(name="a")
    if place == "initializer":
        graph.initializer.append(tensor)
    elif place == "sparse_initializer":
        graph.sparse_initializer.append(sparse)
    elif place == "function":
        attribute.t.CopyFrom(tensor)
        node.attribute.append(attribute)
        more["functions"] = [helper.make_function("x", "f", [], [], [node], [helper.make_opsetid("", 17)])]
        del graph.node[:]
    elif place == "training":
        pass
    else:
        if place in ("t", "g", "sparse_tensor"):
            getattr(attribute, place).CopyFrom({"t": tensor, "g": inner, "sparse_tensor": sparse}[place])
        else:
            getattr(attribute, place).append({"tensors": tensor, "graphs": inner, "sparse_tensors": sparse}[place])
        graph.node[0].attribute.append(attribute)
    model = helper.make_model(graph, **more)
    if place == "training":
        model.training_info.add().algorithm.initializer.append(tensor)
    return bytes(model.SerializeToString())


PLACES = (
    *("initializer", "sparse_initializer", "t", "g", "sparse_tensor", "tensors", "graphs", "sparse_tensors"),
    *("function", "training"),
)


@pytest.mark.parametrize("place", PLACES)
def test_weights_in_another_file_are_refused_wherever_they_are_named(place):
    for location in ("net.data", "../secret.bin", "/etc/passwd", "*/_ORT_MEM_ADDR_/*"):
        with pytest.raises(DataError, match="keeps weights in another file") as caught:
            ab.Onnx(model_with(place, location))
        assert location in str(caught.value)
        assert "onnx.save(onnx.load(" in str(caught.value)


def test_weights_in_another_file_are_refused_by_whoever_reads_it(tmp_path, monkeypatch, capsys):
    """As a file beside the right weights, in the folder of others; by the class, by name, in commands, to quantise."""
    path = tmp_path / "net.onnx"
    path.write_bytes(model_with("initializer"))
    for folder in (tmp_path, tmp_path / "other"):
        folder.mkdir(exist_ok=True)
        np.zeros(11, np.float32).tofile(folder / "net.data")
        monkeypatch.chdir(folder)
        for read in (
            lambda: ab.Onnx(path),
            lambda: load(str(path), GAME),
            lambda: ab.SearchAgent(evaluator=str(path)),
            lambda: ab.quantise(path, "small.onnx", GAME),
        ):
            with pytest.raises(DataError, match=r"another file, 'net\.data'"):
                read()
        assert main(["analyze", "tic_tac_toe", "--evaluator", str(path)]) == BAD_DATA
        assert "another file, 'net.data'" in capsys.readouterr().err


def test_a_model_that_was_made_whole_is_read(tmp_path):
    """As the message says: loaded with its weights by the onnx package, and saved as one file."""
    path = small(tmp_path / "small.onnx")
    onnx.save(
        onnx.load(path), tmp_path / "apart.onnx", save_as_external_data=True, location="apart.data", size_threshold=0
    )
    with pytest.raises(DataError, match=r"another file, 'apart\.data'"):
        ab.Onnx(tmp_path / "apart.onnx")
    onnx.save(onnx.load(tmp_path / "apart.onnx"), tmp_path / "whole.onnx")
    one, other = (
        ab.search(GAME.start(), simulations=20, evaluator=ab.Onnx(tmp_path / name)).visits
        for name in (path.name, "whole.onnx")
    )
    np.testing.assert_array_equal(one, other)


def test_bytes_that_are_no_model_are_refused(tmp_path):
    data = small(tmp_path / "small.onnx").read_bytes()
    dice = np.random.default_rng(0)
    for wrong in (b"\x00", b"\xff" * 20, b"\x3a\xff\xff\xff\xff\x0f", data[: len(data) // 2], b"ORTM" * 9):
        with pytest.raises(DataError, match="bytes is"):
            ab.Onnx(wrong)
    for _ in range(300):
        changed = bytearray(data[: int(dice.integers(1, 4000))])
        changed[int(dice.integers(len(changed)))] = int(dice.integers(256))
        with contextlib.suppress(DataError):
            check_whole(bytes(changed), "x")
