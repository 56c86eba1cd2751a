"""What every checkpoint is scored by on the frozen positions: how often it finds a best move, and what it loses.

Cheaper and steadier than matches, and blind to what happens earlier in the game than the positions do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from anabranch.evaluate.batch import Batch, answers, as_evaluator
from anabranch.evaluate.mixed import Mixed
from anabranch.game.state import State
from anabranch.learn.export import agent_of
from anabranch.learn.frozen_set import Sets
from anabranch.learn.records import seats_of
from anabranch.play.agent import Turn
from anabranch.search.settings.config import SearchConfig


@dataclass(frozen=True)
class Part:
    """How an evaluator did on positions: by the policy alone, and by a search with it."""

    positions: int
    policy: float  # the share in which a best move was chosen
    search: float
    policy_regret: float  # the mean of what its choices lose
    search_regret: float


@dataclass(frozen=True)
class Score(Part):
    """How it did on all positions, and on each set."""

    simulations: int
    sets: dict[str, Part]


def scored(sets: Sets, evaluator: Any, simulations: int, config: SearchConfig | None = None) -> Score:
    """Return how often an evaluator's policy and a search with it choose a best move, and what their choices lose."""
    positions = [each for part in sets.values() for each in part]
    states = [each.state for each in positions]
    evaluator = as_evaluator(evaluator)
    alone = evaluator.evaluator if isinstance(evaluator, Mixed) else evaluator  # rollouts have no policy
    logits, _ = answers(alone, Batch(states, keys=[0] * len(states)))
    turns = [Turn(state, seats_of(state)[0], seed=number) for number, state in enumerate(states)]
    actions = agent_of(evaluator, simulations, config).choose(turns)
    lost = np.zeros((len(positions), 2))
    for row, (each, action) in enumerate(zip(positions, actions, strict=True)):
        seat = seats_of(each.state)[0]
        said = np.zeros(each.state.game.actions) if logits is None else logits[row]
        own = said[seat] if said.ndim == 2 else said
        choice = max(each.state.legal(seat), key=lambda one: own[one])
        lost[row] = [each.regret(_meant(each.state, seat, one)) for one in (choice, action)]
    whose = np.repeat(np.arange(len(sets)), [len(part) for part in sets.values()])
    parts = {name: Part(*_figures(lost[whose == number])) for number, name in enumerate(sets)}
    return Score(*_figures(lost), simulations, parts)


def _figures(lost: Any) -> tuple[int, float, float, float, float]:
    """Return positions, shares without a loss and mean losses, of the policy and of the search."""
    right, mean = (lost <= 1e-9).mean(axis=0), lost.mean(axis=0)
    return len(lost), float(right[0]), float(right[1]), float(mean[0]), float(mean[1])


def _meant(state: State, seat: int, action: int) -> int:
    """Return the id that stands for all that do the same as an action."""
    return next(name for name, ids in state.choices(seat).items() if action in ids)
