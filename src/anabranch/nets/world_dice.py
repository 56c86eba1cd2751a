"""A learned model with chance in it: an action leads to an afterstate, and a code of what chance did leads on from it.

Antonoglou et al. 2022 (Stochastic MuZero). Codes mean nothing beforehand. While it learns, an encoder looks at what
really followed a step and names a code for it; the afterstate learns how likely each code is, and planning draws codes
by that.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from anabranch.nets.shape import Shape
from anabranch.nets.world import Followed, Outcome, OutcomeHeads, layers, unit
from anabranch.nets.world_mlp import WorldMlp

MOST_CODES = 1024


class WorldDice(WorldMlp):
    """Perceptrons as in `world_mlp`, and `codes` of chance."""

    architecture = "world_dice"
    SIZES = WorldMlp.SIZES | {"codes": (16, MOST_CODES)}

    def __init__(self, shape: Shape, sizes: dict[str, int]) -> None:
        super().__init__(shape, sizes)
        latent, width, deep = sizes["latent"], sizes["width"], sizes["layers"]
        self.codes = sizes["codes"]
        self.likely = nn.Sequential(layers(latent, width, 1), nn.Linear(width, self.codes))
        self.eye = nn.Sequential(layers(shape.numbers + shape.players + 1, width, deep), nn.Linear(width, self.codes))
        self.code = nn.Linear(self.codes, width, bias=False)
        self.after = nn.Linear(latent, width)
        self.fate = nn.Sequential(nn.LayerNorm(width), nn.ReLU(), layers(width, width, deep - 1))
        self.led = nn.Linear(width, latent)
        self.outcome = OutcomeHeads(width, shape.players, sizes["bins"])

    def afterstate(self, latent: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.body(self.entry(latent) + self.action(actions))
        after = unit(latent + self.onward(hidden))
        return after, self.likely(after)

    def chance(self, afterstate: Tensor, codes: Tensor) -> tuple[Tensor, Outcome]:
        hidden = self.fate(self.after(afterstate) + self.code(codes))
        return unit(afterstate + self.led(hidden)), self.outcome(hidden)

    def encode(self, followed: Followed) -> Tensor:
        seen = followed.observations.reshape(len(followed.onward), -1) * followed.onward[:, None]
        said: Tensor = self.eye(torch.cat([seen, followed.rewards, followed.ends[:, None]], dim=1))
        return said

    def step(self, latent: Tensor, actions: Tensor) -> tuple[Tensor, Outcome]:
        """Return where actions lead if chance does what is likeliest."""
        after, likely = self.afterstate(latent, actions)
        return self.chance(after, nn.functional.one_hot(likely.argmax(dim=1), self.codes).to(after))
