"""What all learned models share: a representation, a dynamics and a prediction, and heads that speak from a seat.

Schrittwieser et al. 2020, for any number of players: values and rewards are vectors that begin with whoever moves, so
nothing here knows seats; `evaluate/seats.py` turns them around the table.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from anabranch.nets.net import Net, ValueScale
from anabranch.nets.shape import Shape

NEXT = 3.0  # logit at which a new network begins to believe that the next player moves


class Prediction(NamedTuple):
    """What is said of a latent: logits of actions, the free numbers of values, logits of which actions are legal."""

    logits: Tensor  # [N, A]
    free: Tensor  # [N, P·bins]
    legal: Tensor  # [N, A]


class Outcome(NamedTuple):
    """What is said of a step: rewards from the seat of who made it, the end, and who moves next counted from it."""

    reward: Tensor  # [N, P·bins]
    end: Tensor  # [N], a logit
    mover: Tensor  # [N, P], logits


class Followed(NamedTuple):
    """What really followed a step, for who names the code of chance that it was."""

    observations: Tensor  # [N, …], of whoever decides next
    onward: Tensor  # [N], 1 where somebody does: nothing is seen where the game is over
    rewards: Tensor  # [N, P], from the seat of who made the step
    ends: Tensor  # [N], 1 where it ended the game


class WorldModel(Net):
    """A network that learns the rules too. Latents lie in [0, 1]; subclasses say what they look like.

    As any other network it maps observations to logits and values: the prediction of the representation. With `codes`
    above 0 chance decides where actions lead: a step is `afterstate`, then `chance` with a code.
    """

    codes: int = 0

    def __init__(self, shape: Shape, sizes: dict[str, int]) -> None:
        super().__init__(shape, sizes)
        self.reward_scale = ValueScale(shape, sizes["bins"])

    def represent(self, observations: Tensor) -> Tensor:
        """Return latents of observations."""
        raise NotImplementedError

    def step(self, latent: Tensor, actions: Tensor) -> tuple[Tensor, Outcome]:
        """Return where actions lead, and what is said of the steps."""
        raise NotImplementedError

    def predict(self, latent: Tensor) -> Prediction:
        """Return what is said of latents."""
        raise NotImplementedError

    def afterstate(self, latent: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
        """Return where actions lead before chance decides, and the logits of its codes there."""
        raise NotImplementedError

    def chance(self, afterstate: Tensor, codes: Tensor) -> tuple[Tensor, Outcome]:
        """Return where codes, one 1 among zeros each, lead from afterstates, and what is said of the whole steps."""
        raise NotImplementedError

    def encode(self, followed: Followed) -> Tensor:
        """Return logits of the codes that name what followed steps."""
        raise NotImplementedError

    def project(self, latent: Tensor) -> Tensor:
        """Return latents where they are compared (Ye et al. 2021)."""
        raise NotImplementedError

    def foresee(self, projected: Tensor) -> Tensor:
        """Return what the projection of an imagined latent says of the projection of the real one."""
        raise NotImplementedError

    def heads(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        told = self.predict(self.represent(observations))
        return told.logits, told.free


def unit(latent: Tensor) -> Tensor:
    """Return latents scaled to [0, 1], each by its own least and largest number."""
    flat = latent.flatten(1)
    low, high = flat.amin(dim=1, keepdim=True), flat.amax(dim=1, keepdim=True)
    return ((flat - low) / (high - low + 1e-5)).reshape(latent.shape)


class OutcomeHeads(nn.Module):
    """Linear heads of a step."""

    def __init__(self, width: int, players: int, bins: int) -> None:
        super().__init__()
        self.reward = nn.Linear(width, players * bins)
        self.end = nn.Linear(width, 1)
        self.mover = nn.Linear(width, players)
        with torch.no_grad():
            self.mover.bias[1 % players] += NEXT

    def forward(self, hidden: Tensor) -> Outcome:
        return Outcome(self.reward(hidden), self.end(hidden).squeeze(1), self.mover(hidden))


def layers(before: int, width: int, count: int) -> nn.Sequential:
    """Return hidden layers with layer norms."""
    made: list[nn.Module] = []
    for _ in range(count):
        made += [nn.Linear(before, width), nn.LayerNorm(width), nn.ReLU()]
        before = width
    return nn.Sequential(*made)
