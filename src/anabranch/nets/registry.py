"""The architectures there are, and how one becomes a network; sizes are checked before anything is allocated."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from anabranch.errors import MissingExtraError, UnknownNameError, UsageError, shown
from anabranch.game.game import Game
from anabranch.nets.shape import Shape, shape_of

if TYPE_CHECKING:
    from anabranch.nets.net import Net

ARCHITECTURES = {
    "mlp": "mlp:Mlp",
    "tower": "tower:Tower",
    "world_mlp": "world_mlp:WorldMlp",  # learned models, which say where actions lead too
    "world_tower": "world_tower:WorldTower",
    "world_dice": "world_dice:WorldDice",  # with chance
}
MOST_WEIGHTS = 2**28  # 1 GiB


def names() -> list[str]:
    """Return the names of the architectures."""
    return sorted(ARCHITECTURES)


def make(name: str, game: Game, *, seed: int = 0, **sizes: int) -> Net:
    """Return a new network for a game, with random weights that follow from the seed.

    `"mlp"` has the sizes `width` and `layers`; `"tower"` has `channels`, `blocks`, `head` and `hidden`. Learned models
    have the same, `"world_mlp"` with the numbers of a `latent`, `"world_dice"` with `codes` of chance, too, and
    `"world_tower"`. All have `bins`: with more than one, a value is learnt as so many categories spread over the
    returns.
    """
    return build(name, shape_of(game), sizes, seed=seed)


def build(name: str, shape: Shape, sizes: Mapping[str, Any], *, seed: int = 0) -> Net:
    """Return a network of an architecture for given shapes."""
    kind = architecture(name)
    sizes = complete(kind, sizes)
    blank(kind, shape, sizes)
    import torch

    with torch.random.fork_rng(devices=[]):  # the user's own random numbers are left where they were
        torch.manual_seed(seed)
        return kind(shape, sizes)


def architecture(name: str) -> type[Net]:
    """Return the class of an architecture."""
    if name not in ARCHITECTURES:
        raise UnknownNameError("network", name, ARCHITECTURES)
    module, _, member = ARCHITECTURES[name].partition(":")
    try:
        kind: type[Net] = getattr(importlib.import_module(f"anabranch.nets.{module}"), member)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingExtraError("torch", "train", "a network") from None
    return kind


def complete(kind: type[Net], sizes: Mapping[str, Any]) -> dict[str, int]:
    """Return all sizes of an architecture, the usual ones where none is given; refuse what cannot be one."""
    chosen = {name: usual for name, (usual, _) in kind.SIZES.items()}
    for name, size in sizes.items():
        if name not in chosen:
            raise UnknownNameError(f"size of {kind.architecture}", name, chosen)
        most = kind.SIZES[name][1]
        if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= most:
            raise UsageError(
                f"{kind.architecture}: {name} must be a whole number from 1 to {most:,}, found {shown(size)}"
            )
        chosen[name] = size
    return chosen


def blank(kind: type[Net], shape: Shape, sizes: dict[str, int]) -> Net:
    """Return a network without weights, which costs no memory and shows what they would be; refuse one too large."""
    import torch

    with torch.device("meta"):
        made = kind(shape, sizes)
    weights = sum(tensor.numel() for tensor in made.state_dict().values())
    if weights > MOST_WEIGHTS:
        raise UsageError(
            f"{kind.architecture} for {shape.game} with {sizes} would have {weights:,} weights; "
            f"at most {MOST_WEIGHTS:,} are allowed"
        )
    return made
