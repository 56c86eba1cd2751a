"""Evaluators that need no network: uniform, rollouts, and the hashing one that tests use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import numpy.typing as npt

from anabranch.errors import GameError, UsageError, shown
from anabranch.evaluate.batch import LARGEST, Batch
from anabranch.game.random import Random, below, fold, unit
from anabranch.game.state import State
from anabranch.game.words import CHANCE, IDLE, OVER, acting

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Uniform:
    """Every choice equally likely, every value the same."""

    value: Annotated[float, "what every state is worth to every player"] = 0.0

    def __post_init__(self) -> None:
        if not abs(self.value) <= LARGEST:
            raise UsageError(f"the value of every state must be finite and at most {LARGEST:g}, found {self.value}")

    def evaluate(self, batch: Batch) -> tuple[None, Floats]:
        return None, np.full((len(batch), batch.states[0].game.players), self.value)


MOST = 1_000_000  # rollouts of a leaf, and steps of one: neither can be interrupted


@dataclass(frozen=True)
class Rollout:
    """Play on at random, uniformly over choices, and return the mean of what was collected; a uniform prior."""

    count: Annotated[int, "rollouts per state"] = 1
    max_depth: Annotated[int, "steps after which a rollout is cut off; nothing is added for what would follow"] = 10_000

    def __post_init__(self) -> None:
        for number in (self.count, self.max_depth):
            if not isinstance(number, (int, np.integer)) or not 1 <= number <= MOST:
                raise UsageError(f"a rollout needs count and max_depth from 1 to {MOST:,}, found {shown(self)}")

    def evaluate(self, batch: Batch) -> tuple[None, Floats]:
        rows = []
        for state, key, seed in zip(batch.states, batch.keys, batch.seeds or [0] * len(batch), strict=True):
            total = np.zeros(state.game.players)
            for index in range(self.count):
                total += rollout(state, Random(fold(fold(seed, key), index)), self.max_depth)
            rows.append(total / self.count)
        return None, np.array(rows)


def rollout(state: State, random: Random, max_depth: int) -> Floats:
    """Return the discounted rewards of one random game from here; chance steps are not discounted."""
    rules, game = state.game.rules, state.game
    whole = game.playout(state.data, random, max_depth)
    if whole is not None:
        return whole
    data, total, weight = state.data, np.zeros(game.players), 1.0
    for _ in range(max_depth):
        turn = rules.turn(data)
        if turn == OVER:
            break
        actions = [IDLE] * game.players
        if turn == CHANCE:
            actions[0] = rules.draw(data, random)
        for seat in acting(turn):
            choices = rules.legal(data, seat)
            if game.has("same"):
                choices = [action for action in choices if rules.same(data, seat, action) == action]
            if not choices:
                raise GameError(
                    f"{game.name}: player {seat} has no legal action that stands for itself in\n{State(game, data)}"
                )
            actions[seat] = choices[below(random, len(choices))]
        data, rewards = rules.step(data, actions)
        total += weight * np.array(rewards, np.float32).astype(np.float64)
        if turn != CHANCE:
            weight *= game.discount
    return total


@dataclass(frozen=True)
class Hashing:
    """Pseudo-random logits and values made from the node's key: a network-shaped evaluator that costs nothing.

    Logits lie in [−2, 2), values within the game's returns; equal states get equal evaluations in every process.
    """

    seed: Annotated[int, "another seed, other evaluations"] = 0

    def evaluate(self, batch: Batch) -> tuple[Floats, Floats]:
        game = batch.states[0].game
        low, high = game.returns
        logits = np.empty((len(batch), game.players, game.actions))
        values = np.empty((len(batch), game.players))
        for row, key in enumerate(batch.keys):
            for player in range(game.players):
                word = fold(fold(self.seed, key), player)
                values[row, player] = low + (high - low) * unit(word)
                for action in range(game.actions):
                    logits[row, player, action] = 4.0 * unit(fold(word, action)) - 2.0
        return logits, values


# By the names people give them.
BUILT_IN: dict[str, type] = {"hashing": Hashing, "rollout": Rollout, "uniform": Uniform}
