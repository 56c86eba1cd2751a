"""A residual tower: convolutions over the board, added to what came in, as AlphaZero's.

He et al. 2016 for the blocks; Silver et al. 2017 for the heads, here with `head` channels for both, where the paper has
two for the policy and one for the value.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from anabranch.nets.net import MOST_BINS, Net
from anabranch.nets.shape import Shape


class Tower(Net):
    """`blocks` residual blocks of `channels`; heads of `head` channels; the value's has a layer of `hidden` numbers.

    Convolutions are 3×3, but no wider than the board: on a list of numbers, a board of one cell, it is a residual
    perceptron.
    """

    architecture = "tower"
    SIZES = {  # noqa: RUF012
        "channels": (64, 2048),
        "blocks": (5, 128),
        "head": (8, 256),
        "hidden": (64, 4096),
        "bins": (1, MOST_BINS),
    }

    def __init__(self, shape: Shape, sizes: dict[str, int]) -> None:
        super().__init__(shape, sizes)
        planes, rows, columns = shape.board
        kernel = (min(rows, 2) * 2 - 1, min(columns, 2) * 2 - 1)
        channels, head = sizes["channels"], sizes["head"]
        cells = head * rows * columns
        self.stem = nn.Sequential(*convolution(planes, channels, kernel), nn.ReLU())
        self.blocks = nn.Sequential(*(Block(channels, kernel) for _ in range(sizes["blocks"])))
        self.policy = nn.Sequential(
            *convolution(channels, head, (1, 1)), nn.ReLU(), nn.Flatten(), nn.Linear(cells, shape.actions)
        )
        self.value = nn.Sequential(
            *convolution(channels, head, (1, 1)),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(cells, sizes["hidden"]),
            nn.ReLU(),
            nn.Linear(sizes["hidden"], shape.players * sizes["bins"]),
        )

    def hidden(self, observations: Tensor) -> Tensor:
        if len(self.shape.observation) != 3:
            observations = observations.reshape(-1, *self.shape.board)
        hidden: Tensor = self.blocks(self.stem(observations))
        return hidden

    def said(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        return self.policy(hidden), self.value(hidden)

    def another_head(self, shape: tuple[int, ...]) -> nn.Module:
        """Return a head of `head` channels: one number for each cell where the shape is that of the board."""
        _, rows, columns = self.shape.board
        channels, head = self.sizes["channels"], self.sizes["head"]
        narrow = nn.Sequential(*convolution(channels, head, (1, 1)), nn.ReLU())
        if shape == (rows, columns):
            return narrow.append(nn.Conv2d(head, 1, 1))
        return narrow.extend([nn.Flatten(), nn.Linear(head * rows * columns, math.prod(shape))])


class Block(nn.Module):
    """y = relu(x + f(x)), f two convolutions."""

    def __init__(self, channels: int, kernel: tuple[int, int]) -> None:
        super().__init__()
        self.inner = nn.Sequential(
            *convolution(channels, channels, kernel), nn.ReLU(), *convolution(channels, channels, kernel)
        )

    def forward(self, given: Tensor) -> Tensor:
        return torch.relu(given + self.inner(given))


def convolution(before: int, after: int, kernel: tuple[int, int]) -> tuple[nn.Module, nn.Module]:
    """Return a convolution that keeps the board's size, and its batch norm, which has the bias."""
    padding = (kernel[0] // 2, kernel[1] // 2)
    return nn.Conv2d(before, after, kernel, padding=padding, bias=False), nn.BatchNorm2d(after)
