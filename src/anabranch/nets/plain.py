"""Networks without torch: a file of weights as a function of NumPy arrays, for those who play and do not train.

Batch norms are folded into the convolutions before them, and a convolution is one product of matrices: for every cell,
the numbers around it times the weights. Answers differ from torch's in the last digits.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from anabranch.errors import DataError, UsageError, reason
from anabranch.nets.files import LONGEST_HEADER, checksum_of, header_of
from anabranch.nets.shape import Shape

Floats = npt.NDArray[np.float32]
Function = Callable[[Floats], tuple[Floats, Floats]]
KINDS: dict[str, tuple[np.dtype[Any], str]] = {  # as safetensors and as torch call them
    "F32": (np.dtype("<f4"), "torch.float32"),
    "I64": (np.dtype("<i8"), "torch.int64"),
}
EPSILON = 1e-5  # of torch's batch norms
TOGETHER = 64  # rows that are computed at once: what lies between two layers then stays in the processor's cache


def plain(name: str, data: bytes) -> tuple[Shape, Function]:
    """Return what the bytes of a network's file were made for, and the network: observations → (logits, values)."""
    header, expected = header_of(name, data)
    weights = _arrays(name, data, expected)
    if header.architecture not in NETWORKS:
        raise UsageError(f"{name} is a {header.architecture}; without torch there are {', '.join(NETWORKS)}")
    try:
        heads = NETWORKS[header.architecture](weights, header.shape, header.sizes)
        values = _values(header.shape, header.sizes["bins"])
    except (KeyError, ValueError) as error:
        raise DataError(f"{name} is damaged: its tensors are not those of a {header.architecture} ({error})") from None

    def network(observations: Floats) -> tuple[Floats, Floats]:
        given = np.asarray(observations, np.float32)
        parts = [heads(given[first : first + TOGETHER]) for first in range(0, max(1, len(given)), TOGETHER)]
        logits, free = (np.concatenate(each) for each in zip(*parts, strict=True))
        return logits, values(free)

    return header.shape, network


def _arrays(name: str, data: bytes, expected: str) -> dict[str, npt.NDArray[Any]]:
    """Return the tensors of a safetensors file, whose checksum must be right."""
    try:
        length = int.from_bytes(data[:8], "little")
        if not 2 <= length <= min(LONGEST_HEADER, len(data) - 8):
            raise ValueError(f"a header of {length:,} bytes")
        said, body = json.loads(data[8 : 8 + length]), data[8 + length :]
        text = said.pop("__metadata__")["anabranch"]
        found, parts = {}, {}
        for key, facts in said.items():
            kind, word = KINDS[facts["dtype"]]
            first, last = facts["data_offsets"]
            shape = tuple(facts["shape"])
            found[key] = np.frombuffer(body[first:last], kind).reshape(shape)
            parts[key] = (word, shape, body[first:last])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{name} is damaged: {reason(error)}") from None
    if checksum_of(text, parts) != expected:
        raise DataError(f"{name} is damaged: its checksum is not that of its contents")
    return found


def _values(shape: Shape, bins: int) -> Callable[[Floats], Floats]:
    """Return how free numbers become values, as `ValueScale` has it."""
    middle, radius = np.float32((shape.low + shape.high) / 2.0), np.float32((shape.high - shape.low) / 2.0)
    atoms = np.linspace(shape.low, shape.high, bins, dtype=np.float32)

    def values(free: Floats) -> Floats:
        if bins == 1:
            return middle + radius * (np.tanh(free) if shape.bounded else free)
        split = free.reshape(-1, shape.players, bins)
        chances = np.exp(split - split.max(axis=-1, keepdims=True))
        made: Floats = (chances @ atoms) / chances.sum(axis=-1)
        return made

    return values


def _mlp(weights: dict[str, Floats], shape: Shape, sizes: dict[str, int]) -> Function:
    layers = [_linear(weights, f"body.{1 + 2 * number}") for number in range(sizes["layers"])]
    policy, value = _linear(weights, "policy"), _linear(weights, "value.0")

    def heads(observations: Floats) -> tuple[Floats, Floats]:
        hidden = observations.reshape(len(observations), -1)
        for layer in layers:
            hidden = np.maximum(layer(hidden), 0.0)
        return policy(hidden), value(hidden)

    return heads


def _tower(weights: dict[str, Floats], shape: Shape, sizes: dict[str, int]) -> Function:
    stem = _convolution(weights, "stem")
    blocks = [
        (_convolution(weights, f"blocks.{number}.inner"), _convolution(weights, f"blocks.{number}.inner", 3))
        for number in range(sizes["blocks"])
    ]
    policy, policy_out = _convolution(weights, "policy"), _linear(weights, "policy.4")
    value, value_hidden, value_out = (
        _convolution(weights, "value"),
        _linear(weights, "value.4"),
        _linear(weights, "value.6"),
    )

    def heads(observations: Floats) -> tuple[Floats, Floats]:
        boards = observations.reshape(-1, *shape.board).transpose(0, 2, 3, 1)  # channels last
        hidden = np.maximum(stem(boards), 0.0)
        for first, second in blocks:
            hidden = np.maximum(hidden + second(np.maximum(first(hidden), 0.0)), 0.0)
        said = np.maximum(policy(hidden), 0.0).transpose(0, 3, 1, 2).reshape(len(hidden), -1)
        worth = np.maximum(value(hidden), 0.0).transpose(0, 3, 1, 2).reshape(len(hidden), -1)
        return policy_out(said), value_out(np.maximum(value_hidden(worth), 0.0))

    return heads


def _linear(weights: dict[str, Floats], name: str) -> Callable[[Floats], Floats]:
    matrix, bias = np.ascontiguousarray(weights[f"{name}.weight"].T), weights[f"{name}.bias"]

    def apply(given: Floats) -> Floats:
        made: Floats = given @ matrix + bias
        return made

    return apply


def _convolution(weights: dict[str, Floats], name: str, at: int = 0) -> Callable[[Floats], Floats]:
    """Return a convolution that keeps the board's size, with the batch norm that follows it folded in."""
    kernel = weights[f"{name}.{at}.weight"]  # [after, before, rows, columns]
    gain, bias, mean, variance = (
        weights[f"{name}.{at + 1}.{part}"] for part in ("weight", "bias", "running_mean", "running_var")
    )
    scale = gain / np.sqrt(variance + np.float32(EPSILON))
    after, _, rows, columns = kernel.shape
    matrix = np.ascontiguousarray((kernel * scale[:, None, None, None]).transpose(2, 3, 1, 0).reshape(-1, after))
    offset = bias - mean * scale
    up, left = rows // 2, columns // 2

    def apply(given: Floats) -> Floats:
        count, height, width, channels = given.shape
        if rows * columns > 1:
            padded = np.zeros((count, height + 2 * up, width + 2 * left, channels), np.float32)
            padded[:, up : up + height, left : left + width] = given
            around = np.empty((count, height, width, rows * columns, channels), np.float32)
            for place in range(rows * columns):
                row, column = divmod(place, columns)
                around[:, :, :, place] = padded[:, row : row + height, column : column + width]
            given = around
        made: Floats = (given.reshape(-1, len(matrix)) @ matrix + offset).reshape(count, height, width, after)
        return made

    return apply


NETWORKS: dict[str, Callable[[dict[str, Floats], Shape, dict[str, int]], Function]] = {"mlp": _mlp, "tower": _tower}
