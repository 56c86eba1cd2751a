"""A multilayer perceptron: quick, and enough where observations are short lists."""

from __future__ import annotations

import math

from torch import Tensor, nn

from anabranch.nets.net import MOST_BINS, Flat, Net
from anabranch.nets.shape import Shape


class Mlp(Net):
    """Observations as one list of numbers, `layers` hidden layers of `width`, and two linear heads."""

    architecture = "mlp"
    SIZES = {"width": (128, 16_384), "layers": (2, 64), "bins": (1, MOST_BINS)}  # noqa: RUF012 - a table, as in the class above

    def __init__(self, shape: Shape, sizes: dict[str, int]) -> None:
        super().__init__(shape, sizes)
        width, before = sizes["width"], shape.numbers
        layers: list[nn.Module] = [Flat()]
        for _ in range(sizes["layers"]):
            layers += [nn.Linear(before, width), nn.ReLU()]
            before = width
        self.body = nn.Sequential(*layers)
        self.policy = nn.Linear(before, shape.actions)
        self.value = nn.Sequential(nn.Linear(before, shape.players * sizes["bins"]))

    def hidden(self, observations: Tensor) -> Tensor:
        hidden: Tensor = self.body(observations)
        return hidden

    def said(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        return self.policy(hidden), self.value(hidden)

    def another_head(self, shape: tuple[int, ...]) -> nn.Module:
        return nn.Linear(self.sizes["width"], math.prod(shape))
