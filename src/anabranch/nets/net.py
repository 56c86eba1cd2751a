"""What all networks of the library share: heads for the policy and the values, and what they were made for."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from anabranch.nets.shape import Shape

MOST_BINS = 1024  # categories of a value


class Net(nn.Module):
    """A network that knows its name, its sizes and the shapes it was made for; subclasses say what lies between.

    `heads` gives logits and free numbers, which `scale` turns into values; learners look at the free numbers too.
    """

    architecture: ClassVar[str]
    SIZES: ClassVar[dict[str, tuple[int, int]]]  # name → (usual, most)

    def __init__(self, shape: Shape, sizes: dict[str, int]) -> None:
        super().__init__()
        self.shape = shape
        self.sizes = sizes
        self.scale = ValueScale(shape, sizes["bins"])

    def hidden(self, observations: Tensor) -> Tensor:
        """Return what the trunk makes of observations, which all heads look at."""
        raise NotImplementedError

    def said(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits `[N, A]` and the free numbers of values, `[N, P·bins]`, by what the trunk made."""
        raise NotImplementedError

    def another_head(self, shape: tuple[int, ...]) -> nn.Module:
        """Return a new head, which is no part of the network: as many numbers a row as the shape has."""
        raise NotImplementedError

    def heads(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Return what is said of observations, see `said`."""
        return self.said(self.hidden(observations))

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        logits, free = self.heads(observations)
        return logits, self.scale(free)

    def extra_repr(self) -> str:
        return f"{self.shape.game}, " + ", ".join(f"{name}={size}" for name, size in self.sizes.items())


class Flat(nn.Flatten):
    """Observations as a list of numbers each, also those that are one number."""

    def forward(self, observations: Tensor) -> Tensor:
        return super().forward(observations if observations.ndim > 1 else observations[:, None])


class ValueScale(nn.Module):
    """Turn free numbers y into values of the game.

    Where all is paid at the end, what is left to win lies within the returns: value = middle + radius · tanh(y). Where
    rewards come on the way it may lie outside: value = middle + radius · y. With bins b > 1 there are as many numbers
    for every player, and value = Σ_j softmax(y)_j · a_j over atoms a_j spread evenly over the returns (Bellemare et al.
    2017), which suits wide ranges better than one number does.
    """

    def __init__(self, shape: Shape, bins: int = 1) -> None:
        super().__init__()
        self.low, self.high, self.players, self.bins = shape.low, shape.high, shape.players, bins
        self.middle = (shape.low + shape.high) / 2.0
        self.radius = (shape.high - shape.low) / 2.0
        self.bounded = shape.bounded

    def forward(self, free: Tensor) -> Tensor:
        if self.bins == 1:
            return self.middle + self.radius * (torch.tanh(free) if self.bounded else free)
        atoms = torch.linspace(self.low, self.high, self.bins, dtype=free.dtype, device=free.device)
        chances = torch.softmax(free.reshape(-1, self.players, self.bins), dim=-1)
        return (chances * atoms).sum(dim=-1)
