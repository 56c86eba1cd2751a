"""A learned model of perceptrons: for any observation and any actions."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from anabranch.nets.net import MOST_BINS, Flat
from anabranch.nets.shape import Shape
from anabranch.nets.world import Outcome, OutcomeHeads, Prediction, WorldModel, layers, unit

ACTION = 0.25  # spread of new embeddings: about what a latent brings into a step


class WorldMlp(WorldModel):
    """Latents are lists of `latent` numbers; actions are embedded; `layers` hidden layers of `width` everywhere."""

    architecture = "world_mlp"
    SIZES = {  # noqa: RUF012
        "latent": (64, 16_384),
        "width": (128, 16_384),
        "layers": (2, 64),
        "bins": (1, MOST_BINS),
    }

    def __init__(self, shape: Shape, sizes: dict[str, int]) -> None:
        super().__init__(shape, sizes)
        latent, width, deep = sizes["latent"], sizes["width"], sizes["layers"]
        self.encoder = nn.Sequential(Flat(), layers(shape.numbers, width, deep), nn.Linear(width, latent))
        self.action = nn.Embedding(shape.actions, width)
        self.entry = nn.Linear(latent, width)
        with torch.no_grad():
            self.action.weight.mul_(ACTION)
        self.body = nn.Sequential(nn.LayerNorm(width), nn.ReLU(), layers(width, width, deep - 1))
        self.onward = nn.Linear(width, latent)
        self.outcome = OutcomeHeads(width, shape.players, sizes["bins"])
        self.trunk = layers(latent, width, deep)
        self.policy = nn.Linear(width, shape.actions)
        self.value = nn.Linear(width, shape.players * sizes["bins"])
        self.legal = nn.Linear(width, shape.actions)
        self.projection = nn.Sequential(layers(latent, width, 1), nn.Linear(width, latent))
        self.foresight = nn.Sequential(layers(latent, width, 1), nn.Linear(width, latent))

    def represent(self, observations: Tensor) -> Tensor:
        return unit(self.encoder(observations))

    def step(self, latent: Tensor, actions: Tensor) -> tuple[Tensor, Outcome]:
        hidden = self.body(self.entry(latent) + self.action(actions))
        return unit(latent + self.onward(hidden)), self.outcome(hidden)

    def predict(self, latent: Tensor) -> Prediction:
        hidden = self.trunk(latent)
        return Prediction(self.policy(hidden), self.value(hidden), self.legal(hidden))

    def project(self, latent: Tensor) -> Tensor:
        projected: Tensor = self.projection(latent)
        return projected

    def foresee(self, projected: Tensor) -> Tensor:
        said: Tensor = self.foresight(projected)
        return said
