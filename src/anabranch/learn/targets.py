"""What is learnt from a recorded game: pure functions under their equations (docs/model.md section 15)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anabranch.game.game import Game
from anabranch.learn.records import GameRecord, seats_of
from anabranch.learn.settings import Targets

Floats = npt.NDArray[np.float64]


def n_step_returns(rewards: Floats, roots: Floats, *, steps: int | None, discount: float, finished: bool) -> Floats:
    """Return Σ_{i<k} γ^i·r_{t+i} + γ^k·Q(root_{t+k}) for every decision t, `[T, P]` in seat order.

    k = min(steps, T − t). Nothing is bootstrapped at the end of a game; where a game was cut off, its last root's value
    stands for what was left, in place of the last decision's own rewards.
    """
    length = len(rewards)
    found = np.zeros_like(rewards)
    last = length if finished else length - 1
    for t in range(length):
        end = last if steps is None else min(t + steps, last)
        end = max(end, t)
        powers = discount ** np.arange(end - t)
        found[t] = (powers[:, None] * rewards[t:end]).sum(axis=0)
        if end < length:
            found[t] += discount ** (end - t) * roots[end]
    return found


def value_targets(rewards: Floats, roots: Floats, settings: Targets, *, discount: float, finished: bool) -> Floats:
    """Return λ·(n-step return) + (1 − λ)·Q(root_t) for every decision, `[T, P]` in seat order."""
    returns = n_step_returns(rewards, roots, steps=settings.steps, discount=discount, finished=finished)
    return settings.mix * returns + (1.0 - settings.mix) * roots


def two_hot(values: npt.NDArray[np.floating], low: float, high: float, bins: int) -> npt.NDArray[np.float32]:
    """Return weights `[…, bins]` on the two nearest of evenly spaced atoms whose mean is the value.

    Atoms a_j = low + j·(high − low)/(bins − 1). A value x between a_j and a_{j+1} puts (a_{j+1} − x)/(a_{j+1} − a_j) on
    the lower one and the rest on the upper one; values outside are moved to the nearest end.
    """
    at = (np.clip(values, low, high) - low) / (high - low) * (bins - 1)
    lower = np.minimum(np.floor(at), bins - 2).astype(np.int64)
    share = (at - lower).astype(np.float32)
    made = np.zeros((*values.shape, bins), np.float32)
    np.put_along_axis(made, lower[..., None], (1.0 - share)[..., None], -1)
    np.put_along_axis(made, lower[..., None] + 1, share[..., None], -1)
    return made


@dataclass(frozen=True)
class Rows:
    """What a network is shown and should say, a row for each player who decided: values are in seat order."""

    observations: npt.NDArray[np.float32]
    legal: npt.NDArray[np.bool_]
    policy: npt.NDArray[np.float32]
    values: npt.NDArray[np.float32]
    seats: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.seats)


def rows_of(record: GameRecord, game: Game, settings: Targets) -> Rows | None:
    """Return the rows of a game, which is played again; None if it has none."""
    if not record.recorded:
        return None
    rewards = np.array([decision.rewards for decision in record.decisions], np.float64)
    roots = np.array([decision.value for decision in record.decisions], np.float64)
    values = value_targets(rewards, roots, settings, discount=float(game.discount), finished=record.finished)
    seen, legal, policies, targets, seats = [], [], [], [], []
    for t, state in enumerate(record.states(game)):
        decision = record.decisions[t]
        if not decision.full:
            continue
        for seat, policy in zip(seats_of(state), decision.policy, strict=True):
            mask, shares = np.zeros(game.actions, np.bool_), np.zeros(game.actions, np.float32)
            mask[state.legal(seat)] = True
            shares[list(policy)] = list(policy.values())
            seen.append(state.observe(seat))
            legal.append(mask)
            policies.append(shares)
            targets.append(values[t])
            seats.append(seat)
    return Rows(
        np.stack(seen),
        np.stack(legal),
        np.stack(policies),
        np.stack(targets).astype(np.float32),
        np.array(seats, np.int64),
    )
