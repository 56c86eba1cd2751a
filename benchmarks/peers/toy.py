"""A learned model that costs next to nothing, the same for everybody: 64 latents, tables of logits, values, rewards.

From latent s, action a leads to (31·s + a + 1) mod 64. `flat`: values and rewards are 0, so the search follows the
prior and stays shallow; `noisy`: they are random, and it digs deep.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from peers.questions import Question

LATENTS, DISCOUNT = 64, 0.997
Floats = npt.NDArray[np.float32]


class Toy(NamedTuple):
    """What the model knows of every latent."""

    logits: Floats  # [latents, actions]
    values: Floats
    rewards: Floats


def toy(question: Question) -> Toy:
    """Return the tables a question asks for: its game is the number of actions."""
    dice, actions = np.random.default_rng(0), int(question.game)
    logits = dice.normal(size=(LATENTS, actions)).astype(np.float32)
    values = dice.uniform(-1.0, 1.0, LATENTS).astype(np.float32)
    rewards = dice.uniform(0.0, 0.1, LATENTS).astype(np.float32)
    if question.evaluator == "flat":
        values[:], rewards[:] = 0.0, 0.0
    return Toy(logits, values, rewards)


def roots(question: Question) -> npt.NDArray[np.int64]:
    """Return the latents that are planned from."""
    return np.arange(question.trees, dtype=np.int64) % LATENTS
