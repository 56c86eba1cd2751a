"""What is learnt from a recorded game: pure functions under their equations (docs/model.md section 15)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from anabranch.game.game import Game
from anabranch.game.state import State
from anabranch.learn.fates import NOTHING, Shapes, auxiliary_targets
from anabranch.learn.records import GameRecord, seats_of
from anabranch.learn.settings import Targets
from anabranch.models.learned import alone

Floats = npt.NDArray[np.float64]


def n_step_returns(
    rewards: Floats,
    roots: Floats,
    *,
    steps: int | None,
    discount: float,
    finished: bool,
    proven: npt.NDArray[np.bool_] | None = None,
) -> Floats:
    """Return Σ_{i<k} γ^i·r_{t+i} + γ^k·Q(root_{t+k}) for every decision t, `[T, P]` in seat order.

    k = min(steps, T − t), and no more than there are to the first decision, t itself counted, whose value is `proven`.
    Nothing is bootstrapped at the end of a game; where a game was cut off, its last root's value stands for what was
    left, in place of the last decision's own rewards.
    """
    length = len(rewards)
    found = np.zeros_like(rewards)
    last = length if finished else length - 1
    certain = last  # the first decision from t on whose value is exact
    for t in range(length - 1, -1, -1):
        if proven is not None and proven[t]:
            certain = t
        end = certain if steps is None else min(t + steps, certain)
        end = max(end, t)
        powers = discount ** np.arange(end - t)
        found[t] = (powers[:, None] * rewards[t:end]).sum(axis=0)
        if end < length:
            found[t] += discount ** (end - t) * roots[end]
    return found


def value_targets(
    rewards: Floats,
    roots: Floats,
    settings: Targets,
    *,
    discount: float,
    finished: bool,
    proven: npt.NDArray[np.bool_] | None = None,
) -> Floats:
    """Return λ·(n-step return) + (1 − λ)·Q(root_t) for every decision, `[T, P]` in seat order."""
    steps = settings.steps
    returns = n_step_returns(rewards, roots, steps=steps, discount=discount, finished=finished, proven=proven)
    return settings.mix * returns + (1.0 - settings.mix) * roots


def two_hot(values: npt.NDArray[np.floating], low: float, high: float, bins: int) -> npt.NDArray[np.float32]:
    """Return weights `[…, bins]` on the two nearest of evenly spaced atoms whose mean is the value.

    Atoms a_j = low + j·(high − low)/(bins − 1). A value x between a_j and a_{j+1} puts (a_{j+1} − x)/(a_{j+1} − a_j) on
    the lower one and the rest on the upper one; values outside are moved to the nearest end. What is NaN stays it, so
    that it is noticed.
    """
    at = (np.clip(values, low, high) - low) / (high - low) * (bins - 1)
    lower = np.minimum(np.floor(np.nan_to_num(at)), bins - 2).astype(np.int64)
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
    auxiliary: Mapping[str, npt.NDArray[np.float32]] = field(default_factory=dict, kw_only=True)

    def __len__(self) -> int:
        return len(self.seats)

    def column(self, name: str) -> npt.NDArray[Any]:
        """Return a column by its name in the replay."""
        first, _, rest = name.partition(".")
        column: npt.NDArray[Any] = self.auxiliary[rest] if rest else getattr(self, first)
        return column


@dataclass(frozen=True)
class Steps(Rows):
    """All decisions of a game, one after the other, for who imagines what follows them."""

    actions: npt.NDArray[np.int64]
    rewards: npt.NDArray[np.float32]  # of the step, in seat order
    left: npt.NDArray[np.int64]  # decisions until the game is over, this one counted
    searched: npt.NDArray[np.bool_]  # whether there is a policy to learn
    valued: npt.NDArray[np.bool_]  # whether there is a value to learn
    finished: npt.NDArray[np.bool_]  # whether the game was played to its end


def rows_of(record: GameRecord, game: Game, settings: Targets, auxiliary: Shapes = NOTHING) -> Rows | None:
    """Return the rows of a game that were searched in full; the game is played again; None if it has none."""
    if not record.recorded:
        return None
    values = _values(record, game, settings)
    seen, legal, policies, targets, seats = [], [], [], [], []
    line = list(record.line(game))
    for t, decision in enumerate(record.decisions):
        state = line[t]
        if not decision.full:
            continue
        for seat, policy in zip(seats_of(state), decision.policy, strict=True):
            mask, shares = _over_actions(state, seat, policy)
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
        auxiliary=auxiliary_targets(record, line, auxiliary),
    )


def steps_of(record: GameRecord, game: Game, settings: Targets) -> Steps | None:
    """Return all decisions of a game, which is played again; None if it has none.

    Values are learnt where a search was made. A game without any search was played at random to its end: there its
    result is the value. Random moves before a search say nothing about the value, since whoever searches plays better:
    where they were searched later on (`reanalysis.py`), the root's value is all there is to learn.
    """
    decisions = record.decisions
    if not decisions:
        return None
    searched = np.array([decision.visits > 0 for decision in decisions])
    if searched.any():
        values, valued = _values(record, game, settings), searched
        values[: record.opened] = root_values(record)[: record.opened]
    else:
        values = _values(record, game, Targets(mix=1.0))
        valued = np.full(len(decisions), record.finished)
    seen, legal, policies, seats = [], [], [], []
    for decision, state in zip(decisions, record.states(game), strict=True):
        seat = alone(state)
        mask, shares = _over_actions(state, seat, decision.policy[0] if decision.full else {})
        seen.append(state.observe(seat))
        legal.append(mask)
        policies.append(shares)
        seats.append(seat)
    return Steps(
        np.stack(seen),
        np.stack(legal),
        np.stack(policies),
        values.astype(np.float32),
        np.array(seats, np.int64),
        np.array([decision.actions[0] for decision in decisions], np.int64),
        np.array([decision.rewards for decision in decisions], np.float32),
        np.arange(len(decisions), 0, -1),
        np.array([decision.full for decision in decisions]),
        valued,
        np.full(len(decisions), record.finished),
    )


def _values(record: GameRecord, game: Game, settings: Targets) -> Floats:
    rewards = np.array([decision.rewards for decision in record.decisions], np.float64)
    proven = np.array([decision.proven for decision in record.decisions])
    discount = float(game.discount)
    return value_targets(
        rewards, root_values(record), settings, discount=discount, finished=record.finished, proven=proven
    )


def root_values(record: GameRecord) -> Floats:
    """Return Q(root) of every decision, `[T, P]` in seat order; 0 where nothing was searched."""
    return np.array([decision.value for decision in record.decisions], np.float64)


def _over_actions(
    state: State, seat: int, policy: Mapping[int, float]
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float32]]:
    """Return what is legal and what a policy says, over all action ids."""
    actions = state.game.actions
    mask, shares = np.zeros(actions, np.bool_), np.zeros(actions, np.float32)
    mask[state.legal(seat)] = True
    shares[list(policy)] = list(policy.values())
    return mask, shares


def unrolled(
    columns: Mapping[str, npt.NDArray[Any]], places: npt.NDArray[np.int64], steps: int, fill: npt.NDArray[np.int64]
) -> dict[str, npt.NDArray[Any]]:
    """Return what is learnt from K imagined steps after each place, by seat; places of a game follow one another.

    Row k of `[N, K + 1, …]` is the decision k steps ahead (`at` says where it is), and step k of `[N, K, …]` leads from
    it to the next. Past the end every step ends the game again and pays nothing, values are 0 and there is no policy;
    actions there are those of `fill`. What follows where a game was cut off is not `known`.
    """
    ahead = np.arange(steps + 1)[None, :]
    left, finished = columns["left"][places][:, None], columns["finished"][places][:, None]
    inside = ahead < left
    at = places[:, None] + np.minimum(ahead, left - 1)
    now, before = inside[:, :-1], at[:, :-1]
    return {
        "at": at,
        "legal": columns["legal"][at],
        "policy": np.where(inside[..., None], columns["policy"][at], 0.0).astype(np.float32),
        "values": np.where(inside[..., None], columns["values"][at], 0.0).astype(np.float32),
        "seats": columns["seats"][at],
        "actions": np.where(now, columns["actions"][before], fill),
        "rewards": np.where(now[..., None], columns["rewards"][before], 0.0).astype(np.float32),
        "ends": (ahead[:, 1:] >= left) & finished,
        "inside": inside,
        "searched": columns["searched"][at] & inside,
        "valued": np.where(inside, columns["valued"][at], finished),
        "known": now | finished,
    }
