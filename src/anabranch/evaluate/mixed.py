"""A network's answers, its values mixed with rollouts from the same states."""

from __future__ import annotations

from typing import Any

import numpy as np

from anabranch.errors import UsageError
from anabranch.evaluate.batch import Answer, Batch, as_evaluator
from anabranch.evaluate.native import Rollout
from anabranch.evaluate.rows import ask


class Mixed:
    """Mix an evaluator's values with rollouts: (1 − share)·v + share·(mean of rollouts); logits stay as they are.

    A network knows what positions look like, a rollout what happens in them, and their errors are different ones: the
    mean may be better than either, above all with a young network (Silver et al. 2016, AlphaGo's λ). Try it: in some
    games rollouts say little. Where rules are compiled, a few cost less than the network. `rollouts` is how many per
    state, or an `ab.Rollout`.

    Rollouts use a search's own random numbers, so answers belong to its seed: leave `Cached` inside of it, not around
    it.
    """

    def __init__(self, evaluator: Any, rollouts: int | Rollout = 4, share: float = 0.5) -> None:
        self.evaluator = as_evaluator(evaluator)
        self.rollouts = rollouts if isinstance(rollouts, Rollout) else Rollout(count=rollouts)
        if not isinstance(share, (int, float)) or isinstance(share, bool) or not 0.0 <= share <= 1.0:
            raise UsageError(f"the share of rollouts is a number from 0 to 1, found {share!r}")
        self.share = float(share)

    def __repr__(self) -> str:
        return f"Mixed({self.evaluator!r}, rollouts={self.rollouts!r}, share={self.share:g})"

    def evaluate(self, batch: Batch) -> Answer:
        logits, values = ask(self.evaluator, batch)
        return logits, with_rollouts(values, batch, self.rollouts, self.share)


def with_rollouts(values: Any, batch: Batch, rollouts: Rollout, share: float) -> Any:
    """Return (1 − share)·values + share·(mean of rollouts from each state)."""
    if not len(batch):
        return values
    return (1.0 - share) * np.asarray(values, np.float64) + share * batch.rolled_out(rollouts)
