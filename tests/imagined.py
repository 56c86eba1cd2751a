"""Models for tests: tables drawn by seed, and the exact rules of games."""

from __future__ import annotations

from typing import Any

import numpy as np

import anabranch as ab

STATES = 40


class Tables:
    """A model of tables: a latent is the number of a state; everything a model may say can be left out."""

    def __init__(
        self,
        seed: int,
        *,
        players: int = 1,
        actions: int = 5,
        masks: bool = False,
        discounts: bool = False,
        movers: bool = False,
        rewards: bool = True,
        double: bool = False,
        view: str = "mover",
        outcomes: int = 0,
    ) -> None:
        dice = np.random.default_rng(seed)
        self.players, self.actions, self.outcomes, self.view = players, actions, outcomes, view
        self.discount = None if discounts else 0.9
        kind = np.float64 if double else np.float32
        wide = 1 if view == "scalar" else players
        self.following = dice.integers(0, STATES, (STATES, max(actions, outcomes)))
        self.after = dice.integers(0, STATES, (STATES, actions))
        self.logits = dice.normal(size=(STATES, actions)).astype(kind)
        self.values = dice.uniform(-1, 1, (STATES, wide)).astype(kind)
        self.rewards = dice.uniform(-0.5, 0.5, (STATES, wide)).astype(kind) if rewards else None
        self.legal = dice.random((STATES, actions)) < 0.6
        self.legal[np.arange(STATES), dice.integers(0, actions, STATES)] = True
        self.ends = dice.random(STATES) < 0.15
        self.steps = np.where(self.ends, 0.0, dice.uniform(0.5, 1.0, STATES))
        self.movers = dice.integers(0, players, STATES)
        self.chances = dice.dirichlet([0.7] * outcomes, STATES) if outcomes else None
        self.masks, self.says_movers = masks, movers
        self.calls = 0

    def initial(self, observations: Any) -> ab.Initial:
        at = np.asarray(observations) % STATES
        return ab.Initial(
            at,
            self.logits[at],
            self.values[at],
            self.legal[at] if self.masks else None,
            self.movers[at] if self.says_movers else None,
        )

    def recurrent(self, latent: Any, action: Any) -> ab.Transition:
        self.calls += 1
        at = self.following[latent, action]
        return ab.Transition(
            at,
            None if self.rewards is None else self.rewards[at],
            self.logits[at],
            self.values[at],
            self.steps[at] if self.discount is None else None,
            self.legal[at] if self.masks else None,
            self.movers[at] if self.says_movers else None,
        )

    chance = recurrent

    def afterstate(self, latent: Any, action: Any) -> ab.Afterstate:
        assert self.chances is not None
        at = self.after[latent, action]
        return ab.Afterstate(at, self.chances[at])


class Rules:
    """The exact rules of a game of turns as a model: latents are numbers of the states met so far."""

    view, discount = "seats", None

    def __init__(self, game: ab.Game, evaluator: Any) -> None:
        self.game, self.evaluator = game, evaluator
        self.players, self.actions, self.returns = game.players, game.actions, game.returns
        self.states: list[ab.State] = []

    def said(self, states: list[ab.State]) -> tuple[Any, Any, Any, Any, Any]:
        """What is said of states: latents, logits, values, legal, movers; of the last ones anything."""
        first = len(self.states)
        self.states += states
        logits = np.zeros((len(states), self.actions))
        values, legal = np.zeros((len(states), self.players)), np.ones((len(states), self.actions), bool)
        movers = np.zeros(len(states), np.int64)
        for row, state in enumerate(states):
            if state.over:
                continue
            movers[row] = state.turn[0]  # type: ignore[index]
            key = state.node_key
            given, values[row] = self.evaluator.evaluate(ab.Batch([state], [key], [0]))
            if given is not None:
                logits[row] = given[0, movers[row]] if given.ndim == 3 else given[0]
            legal[row] = False
            legal[row, state.legal()] = True
        return np.arange(first, first + len(states)), logits, values, legal, movers

    def initial(self, observations: Any) -> ab.Initial:
        return ab.Initial(*self.said(list(observations)))

    def recurrent(self, latent: Any, action: Any) -> ab.Transition:
        reached = [self.states[at].step(int(a)) for at, a in zip(latent, action, strict=True)]
        following, logits, values, legal, movers = self.said([state for state, _ in reached])
        discount = np.array([0.0 if state.over else self.game.discount for state, _ in reached])
        return ab.Transition(
            following, np.stack([paid for _, paid in reached]), logits, values, discount, legal, movers
        )


class Chain(ab.CompiledModel):
    """A compiled model of tables, for one or more players."""

    masks = True

    def __init__(self, seed: int, players: int = 1, actions: int = 6) -> None:
        dice = np.random.default_rng(seed)
        self.players, self.actions, self.discount = players, actions, None
        self.latent = np.zeros(3, np.int32)
        self.logits = dice.normal(size=(STATES, actions)).astype(np.float32)
        self.values = dice.uniform(-1, 1, (STATES, players))
        self.paid = dice.uniform(-1, 1, (STATES, players))
        self.open = dice.random((STATES, actions)) < 0.7
        self.open[:, 0] = True

    def initial(self, observations: Any) -> ab.Initial:
        at = np.asarray(observations) % STATES
        latent = np.zeros((len(at), 3), np.int32)
        latent[:, 0] = at
        return ab.Initial(latent, self.logits[at], self.values[at], self.open[at])

    def recurrent(self, latent: Any, action: Any, out: Any) -> None:
        at = (7 * latent[0] + 3 * action + latent[1] + 1) % 40
        out.latent[0] = at
        out.latent[1] = latent[1] + 1
        for player in range(self.players):
            out.reward[player] = self.paid[at, player]
            out.value[player] = self.values[at, player]
        out.discount = 0.0 if at % 9 == 0 else 0.9
        for a in range(self.actions):
            out.logits[a] = self.logits[at, a]
            out.legal[a] = self.open[at, a]
