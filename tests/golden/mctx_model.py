"""The models that benchmarks/peers/mctx_goldens.py gave to mctx, without jax: a tree of hashes and its evaluator."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import anabranch as ab

STORED = json.loads(Path(__file__).with_name("mctx.json").read_text(encoding="utf-8"))
Latents = npt.NDArray[np.uint32]


def unpacked(text: str) -> npt.NDArray[np.float64]:
    """Return float32 numbers of a case."""
    return np.frombuffer(base64.b64decode(text), "<f4").astype(np.float64)


def mix(x: Latents) -> Latents:
    x = x ^ (x >> np.uint32(16))
    x = x * np.uint32(0x7FEB352D)
    x = x ^ (x >> np.uint32(15))
    x = x * np.uint32(0x846CA68B)
    return x ^ (x >> np.uint32(16))


def unit(latent: Latents, purpose: Any) -> npt.NDArray[np.float64]:
    return (mix(latent ^ (np.atleast_1d(np.uint32(purpose)) * np.uint32(0x85EBCA6B))) >> np.uint32(8)) / 2.0**24


def array(latent: int) -> Latents:
    return np.array([latent], np.uint32)


class HashTree(ab.ObjectGame):
    """A tree without end. A state is (latent, depth); with discount −1 two players move in turn, else there is one.

    mctx's −1 turns the value of the state after a move into the mover's; here values have a component per player.
    """

    def __init__(self, case: dict[str, Any]) -> None:
        self.seed, self.invalid = case["seed"], frozenset(case["invalid"])
        self.actions, self.outcomes = case["actions"], 1
        self.players = 2 if case["discount"] == -1.0 else 1
        self.discount = abs(case["discount"])
        self.rewards_along = True
        self.returns = (-30.0, 30.0)

    def setup(self, random: ab.Random) -> Any:
        return (self.seed, 0)

    def turn(self, state: Any) -> int:
        return ab.player(state[1] % self.players)

    def legal(self, state: Any, player: int) -> list[int]:
        return [action for action in range(self.actions) if state[1] > 0 or action not in self.invalid]

    def step(self, state: Any, actions: Any) -> Any:
        latent, depth = state
        mover = depth % self.players
        child = int(mix(array(latent) * np.uint32(0x9E3779B1) + np.uint32(actions[mover]) + np.uint32(1))[0])
        reward = float(unit(array(child), 2)[0]) - 0.5
        return (child, depth + 1), [reward if seat == mover else -reward for seat in range(self.players)]


class HashModel:
    """What the model says of a latent; the logits of a root may be given, with noise on them."""

    def __init__(self, game: HashTree, root_logits: npt.NDArray[np.float64] | None = None) -> None:
        self.game, self.root_logits = game, root_logits

    def evaluate(self, batch: Any) -> tuple[Any, Any]:
        """Return (logits [B, A], values [B, P])."""
        data = [state.data for state in batch.states]
        latents = np.array([latent for latent, _ in data], np.uint32)
        purposes = np.arange(16, 16 + self.game.actions, dtype=np.uint32)
        logits = 4.0 * unit(latents[:, None], purposes[None]) - 2.0
        values = np.empty((len(data), self.game.players))
        for row, (_, depth) in enumerate(data):
            if depth == 0 and self.root_logits is not None:
                logits[row] = self.root_logits
            worth = 2.0 * float(unit(latents[row : row + 1], 1)[0]) - 1.0
            mover = depth % self.game.players
            values[row] = [worth if seat == mover else -worth for seat in range(self.game.players)]
        return logits, values


class HashLatents:
    """The same as a learned model in mctx's words: value and reward are the mover's; discount −1 changes sides."""

    def __init__(self, case: dict[str, Any], root_logits: npt.NDArray[np.float64] | None = None) -> None:
        self.seed, self.actions, self.root_logits = case["seed"], case["actions"], root_logits
        self.invalid, self.step = case["invalid"], case["discount"]
        self.discount = None if self.step == -1.0 else self.step

    def said(self, latent: Latents) -> tuple[Any, Any]:
        """Return logits and values of latents."""
        purposes = np.arange(16, 16 + self.actions, dtype=np.uint32)
        logits = 4.0 * unit(latent[:, None], purposes[None]) - 2.0
        return logits.astype(np.float32), 2.0 * unit(latent, 1) - 1.0

    def initial(self, observations: Any) -> ab.Initial:
        """Return the root of a case for every observation."""
        latent = np.full(len(observations), self.seed, np.uint32)
        logits, values = self.said(latent)
        if self.root_logits is not None:
            logits = np.tile(self.root_logits, (len(latent), 1))
        legal = np.ones((len(latent), self.actions), bool)
        legal[:, self.invalid] = False
        return ab.Initial(latent, logits, values, legal)

    def recurrent(self, latent: Latents, action: Any) -> ab.Transition:
        """Return where actions lead."""
        child = mix(latent * np.uint32(0x9E3779B1) + action.astype(np.uint32) + np.uint32(1))
        logits, values = self.said(child)
        discount = np.full(len(child), self.step) if self.discount is None else None
        return ab.Transition(child, unit(child, 2) - 0.5, logits, values, discount)
