"""What all networks of the library share: heads for the policy and the values, and what they were made for."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from anabranch.nets.shape import Shape


class Net(nn.Module):
    """A network that knows its name, its sizes and the shapes it was made for; subclasses say what lies between."""

    architecture: ClassVar[str]
    SIZES: ClassVar[dict[str, tuple[int, int]]]  # name → (usual, most)

    def __init__(self, shape: Shape, sizes: dict[str, int]) -> None:
        super().__init__()
        self.shape = shape
        self.sizes = sizes

    def extra_repr(self) -> str:
        return f"{self.shape.game}, " + ", ".join(f"{name}={size}" for name, size in self.sizes.items())


class ValueScale(nn.Module):
    """Turn free numbers y into values of the game.

    Where all is paid at the end, what is left to win lies within the returns: value = middle + radius · tanh(y). Where
    rewards come on the way it may lie outside: value = middle + radius · y.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.middle = (shape.low + shape.high) / 2.0
        self.radius = (shape.high - shape.low) / 2.0
        self.bounded = shape.bounded

    def forward(self, free: Tensor) -> Tensor:
        return self.middle + self.radius * (torch.tanh(free) if self.bounded else free)
