"""A learned model of convolutions: latents are boards, and actions are planes on them."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from anabranch.nets.net import MOST_BINS
from anabranch.nets.shape import Shape
from anabranch.nets.world import Outcome, OutcomeHeads, Prediction, WorldModel, layers, unit


class WorldTower(WorldModel):
    """Latents are `channels` planes of the observation's board; `blocks` residual blocks encode, half as many step.

    An action is a plane: its cell where there is one action per cell (and perhaps one more, for a pass: an empty
    plane), its column where there is one per column, and else a number of its own for every channel. Norms are over
    channels and board, so no row depends on its batch.
    """

    architecture = "world_tower"
    SIZES = {  # noqa: RUF012
        "channels": (32, 2048),
        "blocks": (2, 128),
        "head": (8, 256),
        "hidden": (64, 4096),
        "bins": (1, MOST_BINS),
    }

    def __init__(self, shape: Shape, sizes: dict[str, int]) -> None:
        super().__init__(shape, sizes)
        planes, rows, columns = shape.board
        kernel = (min(rows, 2) * 2 - 1, min(columns, 2) * 2 - 1)
        channels, head, hidden, blocks = (sizes[name] for name in ("channels", "head", "hidden", "blocks"))
        self.cells = rows * columns
        self.by_cell = shape.actions in (self.cells, self.cells + 1) and self.cells > 1
        self.by_column = not self.by_cell and shape.actions == columns and rows > 1
        flat = head * self.cells
        self.encoder = nn.Sequential(*_normed(planes, channels, kernel), nn.ReLU(), *_blocks(channels, kernel, blocks))
        self.entry = nn.Sequential(*_normed(channels + (self.by_cell or self.by_column), channels, kernel))
        self.action = nn.Embedding(1 if self.by_cell or self.by_column else shape.actions, channels)
        self.body = nn.Sequential(nn.ReLU(), *_blocks(channels, kernel, (blocks + 1) // 2))
        self.outcome = nn.Sequential(
            *_narrowed(channels, head), layers(flat, hidden, 1), OutcomeHeads(hidden, shape.players, sizes["bins"])
        )
        self.policy = nn.Sequential(*_narrowed(channels, head), nn.Linear(flat, shape.actions))
        self.legal = nn.Sequential(*_narrowed(channels, head), nn.Linear(flat, shape.actions))
        self.value = nn.Sequential(
            *_narrowed(channels, head), layers(flat, hidden, 1), nn.Linear(hidden, shape.players * sizes["bins"])
        )
        self.projection = nn.Sequential(*_narrowed(channels, head), layers(flat, hidden, 1), nn.Linear(hidden, hidden))
        self.foresight = nn.Sequential(layers(hidden, hidden, 1), nn.Linear(hidden, hidden))

    def represent(self, observations: Tensor) -> Tensor:
        return unit(self.encoder(observations.reshape(-1, *self.shape.board)))

    def step(self, latent: Tensor, actions: Tensor) -> tuple[Tensor, Outcome]:
        if self.by_cell or self.by_column:
            latent_and_action = torch.cat([latent, self._plane(actions, latent.dtype)], dim=1)
            hidden = self.entry(latent_and_action) + self.action.weight[0, :, None, None]
        else:
            hidden = self.entry(latent) + self.action(actions)[:, :, None, None]
        hidden = self.body(hidden)
        return unit(latent + hidden), self.outcome(hidden)

    def _plane(self, actions: Tensor, kind: torch.dtype) -> Tensor:
        """Return a plane for every action."""
        _, rows, columns = self.shape.board
        if self.by_cell:
            marks = nn.functional.one_hot(actions, self.cells + 1)[:, : self.cells]
            return marks.reshape(-1, 1, rows, columns).to(kind)
        marks = nn.functional.one_hot(actions, columns)
        return marks.reshape(-1, 1, 1, columns).expand(-1, 1, rows, columns).to(kind)

    def predict(self, latent: Tensor) -> Prediction:
        return Prediction(self.policy(latent), self.value(latent), self.legal(latent))

    def project(self, latent: Tensor) -> Tensor:
        projected: Tensor = self.projection(latent)
        return projected

    def foresee(self, projected: Tensor) -> Tensor:
        said: Tensor = self.foresight(projected)
        return said


class _Block(nn.Module):
    """y = relu(x + f(x)), f two convolutions."""

    def __init__(self, channels: int, kernel: tuple[int, int]) -> None:
        super().__init__()
        self.inner = nn.Sequential(
            *_normed(channels, channels, kernel), nn.ReLU(), *_normed(channels, channels, kernel)
        )

    def forward(self, given: Tensor) -> Tensor:
        return torch.relu(given + self.inner(given))


def _blocks(channels: int, kernel: tuple[int, int], count: int) -> list[nn.Module]:
    return [_Block(channels, kernel) for _ in range(count)]


def _normed(before: int, after: int, kernel: tuple[int, int]) -> tuple[nn.Module, nn.Module]:
    """Return a convolution that keeps the board's size, and a norm over all of it."""
    padding = (kernel[0] // 2, kernel[1] // 2)
    return nn.Conv2d(before, after, kernel, padding=padding, bias=False), nn.GroupNorm(1, after)


def _narrowed(channels: int, head: int) -> tuple[nn.Module, ...]:
    """Return what leads from a board to a list of numbers."""
    return (*_normed(channels, head, (1, 1)), nn.ReLU(), nn.Flatten())
