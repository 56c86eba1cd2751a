"""Augmentation: one example for learning, and what it looks like under every symmetry of its game."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anabranch.errors import UsageError
from anabranch.game.group import symmetry_group
from anabranch.game.symmetry import Symmetry, moved

if TYPE_CHECKING:
    from anabranch.game.game import Game


class Example(NamedTuple):
    """What was seen, and what should have been said about it; one position or a batch of them."""

    observation: npt.NDArray[Any]
    policy: npt.NDArray[Any]
    values: npt.NDArray[Any]
    player: Any = None  # whose observation and policy these are; None where all players' are given, or nobody asks


def augment(game: Game, observation: Any, policy: Any, values: Any, player: Any = None) -> list[Example]:
    """Return an example as it looks under every symmetry of a game, first as it is.

    One player's view: `observation` as the game declares it, `policy` `[A]`, `values` `[P]` in seat order and the
    `player` it is the view of. Where players choose at once, all of them may be given together: `observation` `[P, …]`,
    `policy` `[P, A]`, no player. Each may have rows in front, `[B, …]`, with `[B, P]` values and `[B]` players.

    Symmetries may swap seats: then values and players move too, and all players' views change places.
    """
    example = Example(np.asarray(observation), np.asarray(policy), np.asarray(values), player)
    together = _is_joint(game, example)
    return [_image(symmetry, example, together) for symmetry in symmetry_group(game)]


def _image(symmetry: Symmetry, example: Example, together: bool) -> Example:
    observation = symmetry.observation(example.observation)
    policy = symmetry.policy(example.policy)
    player = example.player
    if together:
        axis = example.values.ndim - 1
        observation, policy = moved(observation, symmetry.players, axis), moved(policy, symmetry.players, axis)
    elif player is not None:
        player = symmetry.player(player) if np.ndim(player) == 0 else np.take(np.array(symmetry.players), player)
    return Example(observation, policy, symmetry.seats(example.values), player)


def _is_joint(game: Game, example: Example) -> bool:
    """Check the shapes, which must agree in their rows, and return whether all players' views are given."""
    shape = tuple(game.observation) if game.observation is not None else None
    if shape is None:
        raise UsageError(f"{game.name} has no observe verb, so there is nothing to turn or mirror")
    values = example.values.shape
    if len(values) not in (1, 2) or values[-1] != game.players:
        raise UsageError(f"values of {game.name} have shape {values}, expected [{game.players}] or [B, {game.players}]")
    rows = values[:-1]
    found = (example.observation.shape, example.policy.shape)
    single = (rows + shape, (*rows, game.actions))
    several = ((*values, *shape), (*values, game.actions))
    if found not in (single, several):
        raise UsageError(
            f"observation and policy of {game.name} have shapes {found[0]} and {found[1]}; with values {values} "
            f"expected are {single[0]} and {single[1]}, or all players' {several[0]} and {several[1]}"
        )
    together = found == several
    if together and example.player is not None:
        raise UsageError("all players' views are given, so there is no player to name; leave player out")
    if example.player is not None:
        seats = np.asarray(example.player)
        if seats.shape != rows or seats.dtype.kind not in "iu" or not ((seats >= 0) & (seats < game.players)).all():
            raise UsageError(
                f"player must be seats from 0 to {game.players - 1} of shape {rows}, found {example.player}"
            )
    return together
