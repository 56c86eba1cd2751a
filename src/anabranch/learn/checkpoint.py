"""A learner on disk: tensors by name as safetensors, which hold no code."""

from __future__ import annotations

from typing import Any

import torch

from anabranch.errors import DataError, reason
from anabranch.learn.learner import Learner


def written(learner: Learner) -> bytes:
    """Return a learner as bytes."""
    import safetensors.torch

    data: bytes = safetensors.torch.save({name: tensor.contiguous() for name, tensor in learner.state().items()})
    return data


def read(data: bytes, name: str, learner: Learner) -> None:
    """Let a learner become the one in these bytes; one of another network is refused."""
    import safetensors.torch

    try:
        found: dict[str, Any] = safetensors.torch.load(data)
    except Exception as error:  # whatever the parser says of what is no such file
        raise DataError(f"{name} is damaged: {reason(error)}") from None
    found.setdefault("begun", torch.zeros((), dtype=torch.int64))  # which states of older versions do not have
    expected = {key: (tuple(tensor.shape), tensor.dtype) for key, tensor in learner.state().items()}
    if {key: (tuple(tensor.shape), tensor.dtype) for key, tensor in found.items()} != expected:
        raise DataError(
            f"{name} is of another network than the settings of this run make of its game. They stay as they are, so "
            f"the game has changed in how much players see, may do or are told at its end; such rules need a run of "
            f"their own"
        )
    learner.load(found)
