"""A learner on disk: tensors by name as safetensors, which hold no code, and the shape of the game they are for."""

from __future__ import annotations

from typing import Any

import msgspec
import torch

from anabranch.errors import DataError, UsageError, reason
from anabranch.learn.learner import Learner
from anabranch.nets.files import difference
from anabranch.nets.shape import Shape

SHAPE = "shape"  # the name of what is no part of a learner, but says for which game it is
CHANGED = (
    "the game has changed in how much players see, may do, can get or are told at its end; such rules need a run of "
    "their own"
)


def written(learner: Learner) -> bytes:
    """Return a learner as bytes."""
    import safetensors.torch

    shape = torch.frombuffer(bytearray(msgspec.json.encode(learner.net.shape)), dtype=torch.uint8)
    state = {SHAPE: shape, **learner.state()}
    data: bytes = safetensors.torch.save({name: tensor.contiguous() for name, tensor in state.items()})
    return data


def read(data: bytes, name: str, learner: Learner) -> None:
    """Let a learner become the one in these bytes; one of another network is refused."""
    import safetensors.torch

    try:
        found: dict[str, Any] = safetensors.torch.load(data)
    except Exception as error:  # whatever the parser says of what is no such file
        raise DataError(f"{name} is damaged: {reason(error)}") from None
    there = found.pop(SHAPE, None)  # which states of older versions do not have
    if there is not None and (shape := _shape(there, name)) != learner.net.shape:
        raise DataError(f"{name} is of a network {difference(shape, learner.net.shape)}: {CHANGED}")
    found.setdefault("begun", torch.zeros((), dtype=torch.int64))  # which states of older versions do not have
    expected = {key: (tuple(tensor.shape), tensor.dtype) for key, tensor in learner.state().items()}
    if {key: (tuple(tensor.shape), tensor.dtype) for key, tensor in found.items()} != expected:
        raise DataError(
            f"{name} is of another network than the settings of this run make of its game. They stay as they are: "
            f"{CHANGED}"
        )
    learner.load(found)


def _shape(data: torch.Tensor, name: str) -> Shape:
    """Return the shape of the game that a state says it is for."""
    try:
        return msgspec.json.decode(data.numpy().tobytes(), type=Shape)
    except (msgspec.MsgspecError, UsageError, TypeError) as error:
        raise DataError(f"{name} is damaged: {reason(error)}") from None
