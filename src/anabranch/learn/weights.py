"""How often positions are shown: weights of recorded rows, how likely they make a draw, what makes up for that."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anabranch.learn.records import GameRecord
from anabranch.learn.settings import Replay as Settings
from anabranch.learn.settings import Targets
from anabranch.learn.targets import Floats, Rows, Steps, n_step_returns, root_values

LEAST = 1e-6  # a prior below that counts as that: a choice it had ruled out must not outweigh a whole window


def surprise(policy: Floats, prior: Floats) -> float:
    """Return KL(π ‖ P) = Σ_a π(a)·ln(π(a)/P(a)), in nats; of several players who choose at once, the sum of theirs.

    Which is that of their choices together: KL(π₁×π₂ ‖ P₁×P₂) = KL(π₁ ‖ P₁) + KL(π₂ ‖ P₂).
    """
    played = policy > 0.0
    shares = policy[played]
    return max(0.0, float((shares * np.log(shares / np.maximum(prior[played], LEAST))).sum()))


def weights_of(record: GameRecord, rows: Rows, settings: Settings, targets: Targets, discount: float) -> Floats:
    """Return the weight of every row of a game, 0 where nothing was searched.

    By surprise it is that of the search's policy about the network's prior (Wu, KataGo's policy surprise weighting); by
    priority it is |n-step return − Q(root)| of who decides (Schaul et al. 2016, Schrittwieser et al. 2020).
    """
    decisions = record.decisions
    counts = [1 if isinstance(rows, Steps) else len(each.policy) if each.full else 0 for each in decisions]
    at = np.repeat(np.arange(len(decisions)), counts)
    if settings.weights == "surprise":
        return np.array([decision.surprise for decision in decisions])[at]
    rewards = np.array([decision.rewards for decision in decisions], np.float64)
    roots = root_values(record)
    proven = np.array([decision.proven for decision in decisions])
    returns = n_step_returns(
        rewards, roots, steps=targets.steps, discount=discount, finished=record.finished, proven=proven
    )
    searched = np.array([decision.visits > 0 for decision in decisions])
    errors: Floats = np.abs(returns - roots)[at, rows.seats] * searched[at]
    return errors


def chances(weights: npt.NDArray[np.floating], share: float, power: float) -> Floats:
    """Return how likely each of n rows is drawn: p(i) = (1 − s)/n + s·w(i)^α / Σ_j w(j)^α.

    With a share of 0, with α = 0 and where no row has weight it is 1/n.
    """
    count = len(weights)
    powers = np.asarray(weights, np.float64) ** power
    total = powers.sum()
    if not total > 0.0:
        return np.full(count, 1.0 / count)
    found: Floats = (1.0 - share) / count + share / total * powers
    return found


def drawn(chances: Floats, draws: Floats) -> npt.NDArray[np.int64]:
    """Return the row that each number of [0, 1) falls on, where rows are as long as they are likely."""
    ends = np.cumsum(chances)
    found: npt.NDArray[np.int64] = np.searchsorted(ends, draws * ends[-1], side="right")
    return np.minimum(found, len(chances) - 1)


def corrections(chances: Floats, count: int, power: float) -> Floats:
    """Return (1/(n·p))^β: with β = 1 the expected loss of a draw is that of rows drawn alike (Schaul et al. 2016).

    A share 1 − s is drawn alike, so none is above (1 − s)^−β, and none is scaled down by the largest of a batch.
    """
    return (1.0 / (count * chances)) ** power
