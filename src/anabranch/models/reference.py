"""The same plans by the search in plain Python: a model as a game of objects, stepped through one transition at a time.

What the engine asks for in batches is asked for here when a path gets there; for models whose rows depend on their own
input only, both find the same visits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from anabranch.evaluate.batch import Batch
from anabranch.evaluate.seats import seated
from anabranch.game.objects import ObjectGame
from anabranch.game.random import Random
from anabranch.game.state import State
from anabranch.game.words import CHANCE, OVER
from anabranch.models.arrays import as_numpy
from anabranch.models.game import as_tree
from anabranch.models.model import Afterstate, Initial, Shape, Transition, shape_of
from anabranch.search.reference.search import Reference
from anabranch.search.results.result import Result
from anabranch.search.settings.arguments import checked_config
from anabranch.search.settings.config import SearchConfig


@dataclass(frozen=True, eq=False)
class Imagined:
    """A state of a model: a latent, and all that was said of it."""

    latent: Any
    turn: int
    mover: int
    legal: tuple[int, ...] = ()
    logits: npt.NDArray[Any] | None = None
    values: tuple[float, ...] = ()
    chances: tuple[tuple[int, float], ...] = ()
    discount: float | None = None  # of the step that led here, where the model says it


class ImaginedGame(ObjectGame):
    """A model's rules."""

    def __init__(self, model: Any, shape: Shape) -> None:
        self.model, self.shape = model, shape
        self.players, self.actions, self.outcomes = shape.players, shape.actions, shape.outcomes
        self.discount = 1.0 if shape.discount is None else shape.discount
        self.returns, self.rewards_along = shape.returns, True

    def setup(self, random: Random) -> Imagined:
        """A state of nothing: roots are made of observations."""
        del random
        return Imagined(None, OVER, 0)

    def turn(self, state: Imagined) -> int:
        return state.turn

    def legal(self, state: Imagined, player: int) -> tuple[int, ...]:
        del player
        return state.legal

    def chance(self, state: Imagined) -> tuple[tuple[int, float], ...]:
        return state.chances

    def step(self, state: Imagined, actions: Sequence[int]) -> tuple[Imagined, list[float]]:
        action = np.array([actions[0 if state.turn == CHANCE else state.mover]], np.int64)
        index = _like(state.latent)(action)
        if not self.shape.stochastic:
            return self.arrived(state, Transition(*self.model.recurrent(state.latent, index)))
        if state.turn == CHANCE:
            return self.arrived(state, Transition(*self.model.chance(state.latent, index)))
        told = Afterstate(*self.model.afterstate(state.latent, index))
        odds = as_numpy(told.chances)[0].astype(np.float64)
        following = Imagined(
            told.latent,
            CHANCE,
            state.mover,
            chances=tuple((int(o), float(p)) for o, p in enumerate(odds) if p > 0),
            discount=self.discount if self.shape.discount is None else None,
        )
        return following, self.paid(state, told.reward)

    def arrived(self, state: Imagined, told: Transition) -> tuple[Imagined, list[float]]:
        """Return the state after a transition, and what it paid."""
        mover = (state.mover + 1) % self.players if told.mover is None else int(as_numpy(told.mover)[0])
        discount = None if self.shape.discount is not None else float(as_numpy(told.discount)[0])
        rewards = self.paid(state, told.reward)
        if discount == 0.0:
            return Imagined(told.latent, OVER, mover, discount=discount), rewards
        return self.decision(told, 0, mover, discount), rewards

    def decision(self, told: Initial | Transition, row: int, mover: int, discount: float | None) -> Imagined:
        """Return a state where somebody acts."""
        legal = range(self.actions) if told.legal is None else np.flatnonzero(as_numpy(told.legal)[row])
        return Imagined(
            told.latent,
            1 << mover,
            mover,
            tuple(int(a) for a in legal),
            None if told.logits is None else as_numpy(told.logits)[row],
            self._seated(as_numpy(told.value)[row : row + 1], mover),
            discount=discount,
        )

    def paid(self, state: Imagined, reward: Any) -> list[float]:
        """Return rewards in seat order."""
        return [0.0] * self.players if reward is None else list(self._seated(as_numpy(reward)[:1], state.mover))

    def _seated(self, values: npt.NDArray[Any], mover: int) -> tuple[float, ...]:
        if self.players > 1:
            values = seated(values, np.array([mover]), self.shape.view)
        return tuple(float(value) for value in values.reshape(-1))

    def edge_discount(self, data: Imagined, declared: float) -> float:
        """What the model said of the step into a state."""
        return declared if data.discount is None else data.discount


def reference_plan(
    model: Any,
    observations: Any,
    config: SearchConfig | None = None,
    *,
    simulations: int,
    legal: Any = None,
    mover: Any = None,
) -> list[Result]:
    """Plan for every observation by the reference; slow, and what the engine is held to."""
    settings = checked_config(config)
    settings = as_tree(settings)
    game = ImaginedGame(model, shape_of(model))
    told = Initial(*model.initial(observations))
    told = told._replace(legal=told.legal if legal is None else legal, mover=told.mover if mover is None else mover)
    found = []
    for row in range(len(as_numpy(told.value))):
        first = 0 if told.mover is None else int(as_numpy(told.mover)[row])
        alone = told._replace(latent=_row(told.latent, row))
        state = State(game, game.decision(alone, row, first, None))
        found.append(Reference(state, _said, settings, stream=row).run(simulations=simulations))
    return found


def _said(batch: Batch) -> tuple[Any, Any]:
    """Evaluate states by what the model said of them when it led there."""
    states = [state.data for state in batch.states]
    logits = None if states[0].logits is None else np.stack([state.logits for state in states])
    return logits, np.array([state.values for state in states])


def _row(latent: Any, row: int) -> Any:
    if not isinstance(latent, tuple):
        return latent[row : row + 1]
    rows = [each[row : row + 1] for each in latent]
    return type(latent)(*rows) if hasattr(latent, "_fields") else tuple(rows)


def _like(latent: Any) -> Any:
    """Return how actions are handed to the library of a latent."""
    from anabranch.models.arrays import Latents

    return Latents(latent).index
