"""Ours on the toy model, by the public names: the model in NumPy, or compiled; MuZero's selection or Gumbel's."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import Contender

import anabranch as ab
from peers.questions import Question
from peers.toy import DISCOUNT, LATENTS, Toy, roots, toy

MUZERO = ab.SearchConfig(selector=ab.Puct(c_init=1.25, c_off=2.0, scale="node", first_play=ab.FirstPlay.lowest()))


class Plain:
    """The model in NumPy."""

    discount = DISCOUNT

    def __init__(self, tables: Toy) -> None:
        self.logits, self.values, self.rewards = tables
        self.actions = self.logits.shape[1]
        self.base = 31 * np.arange(LATENTS) + 1

    def initial(self, observations: Any) -> Any:
        """What is known of the roots."""
        return observations, self.logits[observations], self.values[observations]

    def recurrent(self, latent: Any, action: Any) -> Any:
        """Where actions lead."""
        following = self.base.take(latent)
        following += action
        following %= LATENTS
        return following, self.rewards.take(following), self.logits.take(following, axis=0), self.values.take(following)


class Compiled(ab.CompiledModel):
    """The same, compiled."""

    discount = DISCOUNT

    def __init__(self, tables: Toy) -> None:
        self.logits, self.values, self.rewards = tables
        self.actions = self.logits.shape[1]
        self.latent = np.zeros(1, np.int64)

    def initial(self, observations: Any) -> Any:
        """What is known of the roots."""
        return observations.reshape(-1, 1), self.logits[observations], self.values[observations]

    def recurrent(self, latent: Any, action: Any, out: Any) -> None:
        """Where an action leads."""
        following = (31 * latent[0] + action + 1) % 64
        out.latent[0] = following
        out.reward[0] = self.rewards[following]
        out.value[0] = self.values[following]
        for a in range(self.actions):
            out.logits[a] = self.logits[following, a]


def make(question: Question, variant: str) -> Contender:
    """Return planning for all roots; the planner is made once, as users do. `variant`: "numpy muzero" and the like."""
    kind, rule, *threads = variant.split()
    tables = toy(question)
    model: Any = Compiled(tables) if kind == "compiled" else Plain(tables)
    config = MUZERO if rule == "muzero" else ab.SearchConfig(selector=ab.Gumbel())  # type: ignore[attr-defined]
    planner = ab.Planner(model, config, threads=int(threads[0]) if threads else 1)
    observations, found = roots(question), [None]

    def call() -> None:
        plan: Any = planner.plan(observations, simulations=question.simulations)
        found[0] = (plan.action, plan.policy, plan)  # type: ignore[call-overload]

    def counted() -> float:
        return float(found[0][2].visits.sum())  # type: ignore[index]

    return Contender(f"anabranch {variant}", call, question.units, counted=counted)
