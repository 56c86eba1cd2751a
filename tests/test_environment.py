"""Environments as games: decided by their seeds, never copied, played again where somebody looks back."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.sources import ROOT

import anabranch as ab
from anabranch.errors import GameError
from anabranch.learn.game_of_run import described
from anabranch.learn.presets import preset
from anabranch.learn.selfplay import Worker
from anabranch.learn.train import train
from anabranch.search.settings.mapping import from_pairs

PATH = ROOT / "examples" / "05_cart_pole.py"


def example() -> Any:
    found = importlib.util.spec_from_file_location("cart_pole", PATH)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_moments_are_those_of_the_environment():
    module = example()
    game = module.CartPole()
    state = game.start(5)
    alone = module.Pole()
    seen, _ = alone.reset(seed=state.data.seed)
    for action in (1, 0, 1, 1, 0):
        np.testing.assert_array_equal(state.observe(0), np.float32(seen))
        state, rewards = state.step(action)
        seen, reward, *_ = alone.step(action)
        assert rewards.tolist() == [reward]
    assert game.start(5) == game.start(5)
    assert game.start(5) != game.start(6)


def test_an_earlier_moment_is_played_again():
    """Going on from one moment in two ways leads where each way leads alone."""
    game = example().CartPole()
    root = game.start(1)
    first, _ = root.step(0)
    left, right = [first.step(action)[0] for action in (0, 1)]
    for state, actions in ((left, (0, 0)), (right, (0, 1))):
        alone = example().CartPole().start(1)
        for action in actions:
            alone, _ = alone.step(action)
        np.testing.assert_array_equal(state.observe(0), alone.observe(0))


def test_environments_are_used_again():
    made = []
    module = example()

    class Counted(module.CartPole):  # type: ignore[name-defined, misc]
        def make(self):
            made.append(1)
            return super().make()

    game = Counted()
    for seed in range(5):
        state = game.start(seed)
        while not state.over:
            state, _ = state.step(0)
    assert len(made) == 1


class Fickle:
    """Ends after a step, every second time."""

    episodes = 0

    def reset(self, *, seed: int) -> tuple[Any, Any]:
        Fickle.episodes += 1
        return [0.0], {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, Any]:
        return [0.0], 0.0, Fickle.episodes % 2 == 0, False, {}


def test_an_environment_that_its_seed_does_not_decide_is_named():
    class Game(ab.EnvironmentGame):
        def __init__(self) -> None:
            self.players, self.actions, self.observation, self.returns = 1, 2, (1,), (0.0, 1.0)

        def make(self) -> Fickle:
            return Fickle()

    state, _ = Game().start().step(0)
    state.step(0)
    with pytest.raises(GameError, match="decided by its seed"):
        state.step(1)


class Endless:
    """Goes on until it is cut off after five steps; the action 1 ends it in earnest."""

    def reset(self, *, seed: int) -> tuple[Any, Any]:
        self.steps = 0
        return [0.0], {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, Any]:
        self.steps += 1
        return [0.0], 1.0, action == 1, self.steps >= 5, {}


class EndlessGame(ab.EnvironmentGame):
    def __init__(self, discount: float = 1.0) -> None:
        self.players, self.actions, self.observation, self.returns = 1, 2, (1,), (0.0, 5.0)
        self.rewards_along, self.discount = True, discount

    def make(self) -> Endless:
        return Endless()


def test_an_episode_that_is_cut_off_is_over_and_not_learnt_as_an_end():
    game = EndlessGame()
    state = game.start()
    for action in (0, 0, 0, 0, 0):
        assert not state.data.cut_off
        state, _ = state.step(action)
    assert state.over
    assert state.data.cut_off
    config = from_pairs(["self_play.random_games=64", "workers=0"], base=preset(game, "muzero"))
    with Worker(game, config, None) as worker:
        records = [record for ended in worker.play(iter(range(64))) for record in ended]
    whole = [all(decision.actions == (0,) for decision in record.decisions) for record in records]
    assert any(whole)
    assert [record.finished for record in records] == [not each for each in whole]


def test_an_end_in_the_last_step_is_an_end():
    state = EndlessGame().start()
    for action in (0, 0, 0, 0, 1):
        state, _ = state.step(action)
    assert state.over
    assert not state.data.cut_off


def test_returns_reach_as_far_as_the_discount_lets_them():
    discounts = (0.5, 0.98, 0.99, 0.999, 1.0)
    found = [preset(EndlessGame(discount), "muzero").targets.steps for discount in discounts]
    assert found == [10, 25, 50, 50, 50]


def test_muzero_trains_on_it(tmp_path):
    pairs = [
        "self_play.random_games=8",
        "self_play.abreast=4",
        "search.cap.full=4",
        "replay.least=40",
        "replay.shard=4",
    ]
    pairs += ["replay.shard=4", "learner.batch=16", "net.width=16", "net.latent=8", "net.bins=9", "most_steps=8"]
    pairs += ["workers=0"]
    config = from_pairs(pairs, base=preset(example().CartPole(), "muzero"))
    done = train(tmp_path / "run", described(f"{PATH}:CartPole", {}), replace(config, seed=1))
    assert (done.whole, done.step, done.score, done.rated) == (True, 8, None, None)
