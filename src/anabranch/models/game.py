"""A model as results, pictures and tables know games: who acts, what is legal, what players and actions are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from anabranch.errors import UsageError
from anabranch.game.game import Game, Rules
from anabranch.game.random import Random
from anabranch.game.state import State
from anabranch.models.model import Shape
from anabranch.search.settings.config import SearchConfig


def as_tree(settings: SearchConfig) -> SearchConfig:
    """Return settings for planning in a model: a latent equals no other, and nothing a model says is certain."""
    if settings.proofs == "on":
        raise UsageError(
            'proofs="on" keeps what is certain, and nothing that a learned model says is; leave proofs out, or give '
            '"off" or "auto"'
        )
    return replace(settings, transposition=replace(settings.transposition, merge=False), proofs="off")


_HEAD = np.dtype([("number", np.uint32), ("turn", np.int8), ("mover", np.uint8), ("unused", np.uint16)])


class ModelGame(Game):
    """What can be asked of a model's states: the engine's records, each with its turn and what is legal there."""

    def __init__(self, shape: Shape, masks: bool, model: Any) -> None:
        self.players, self.actions, self.outcomes = shape.players, shape.actions, shape.outcomes
        self.discount = 1.0 if shape.discount is None else shape.discount
        self.returns, self.rewards_along = shape.returns, True
        self.masks = masks
        self.model = model

    @property
    def name(self) -> str:
        """The model's name."""
        return str(getattr(self.model, "name", type(self.model).__name__))

    @cached_property
    def rules(self) -> Rules:
        return ModelRules(self)  # type: ignore[return-value]

    def turn(self, state: Any) -> NoReturn:
        raise _no_rules(self)

    legal = step = turn  # `rules` answers

    def text(self, state: State) -> str:
        """Latents have no words."""
        del state
        return ""

    def action_name(self, action: int) -> str:
        """What the model calls an action, if it says."""
        said = getattr(self.model, "action_name", None)
        return str(said(action)) if callable(said) else str(action)

    def player_name(self, player: int) -> str:
        """What the model calls a player, if it says."""
        said = getattr(self.model, "player_name", None)
        return str(said(player)) if callable(said) else f"player {player}"


class ModelRules:
    """The verbs that a record of a latent can answer."""

    def __init__(self, game: ModelGame) -> None:
        self.game = game

    def turn(self, data: bytes) -> int:
        head = np.frombuffer(data, _HEAD, 1)[0]
        return 1 << int(head["mover"]) if head["turn"] > 0 else int(head["turn"])

    def legal(self, data: bytes, player: int) -> list[int]:
        del player
        if not self.game.masks:
            return list(range(self.game.actions))
        words = np.frombuffer(data, np.uint8, (self.game.actions + 63) // 64 * 8, _HEAD.itemsize)
        return [int(a) for a in np.flatnonzero(np.unpackbits(words, bitorder="little"))]

    def same(self, data: bytes, player: int, action: int) -> int:
        del data, player
        return action

    def key(self, data: bytes) -> bytes:
        return data

    def step(self, data: bytes, actions: Sequence[int]) -> NoReturn:
        raise _no_rules(self.game)

    def chance(self, data: bytes) -> NoReturn:
        raise _no_rules(self.game)

    def draw(self, data: bytes, random: Random) -> NoReturn:
        raise _no_rules(self.game)


def _no_rules(game: Game) -> UsageError:
    return UsageError(
        f"{game.name} is a learned model: its states are latents, which only a plan steps through; plan from the next "
        f"observation instead"
    )
