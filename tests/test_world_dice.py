"""Models with chance in them: codes name what chance did, and afterstates know how likely each is."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import anabranch as ab
from anabranch.learn.codes import certain, followed, named
from anabranch.learn.imagination import errors_on
from anabranch.learn.learner import Learner, new_net
from anabranch.learn.losses import loss_of
from anabranch.learn.presets import preset
from anabranch.learn.replay import Replay
from anabranch.learn.selfplay import Worker
from anabranch.learn.settings import Learner as Settings
from anabranch.learn.settings import Net, SelfPlay, TrainConfig, Unroll
from anabranch.learn.settings import Replay as ReplaySettings
from anabranch.models.learned import LearnedDice, model_of
from anabranch.nets.shape import shape_of
from anabranch.nets.world import WorldModel

STEPS = 250


class Tosses(ab.ObjectGame):
    """A coin that shows heads three times in four pays 1, or costs 1, twice; action 1 tosses nothing and gets 0."""

    players, actions, outcomes, observation = 1, 2, 2, (3,)
    returns, rewards_along, name = (-2.0, 2.0), True, "tosses"

    def setup(self, random: ab.Random) -> tuple[int, int, int]:
        return 0, 0, 0  # tosses made, whether one is under way, what the last one showed

    def turn(self, state: Any) -> int:
        return ab.OVER if state[0] == 2 else ab.CHANCE if state[1] else ab.player(0)

    def legal(self, state: Any, player: int) -> list[int]:
        return [0, 1]

    def chance(self, state: Any) -> list[tuple[int, float]]:
        return [(0, 0.25), (1, 0.75)]

    def step(self, state: Any, actions: Any) -> Any:
        if state[1]:
            won = 2 * actions[0] - 1
            return (state[0] + 1, 0, won), (float(won),)
        return ((state[0], 1, 0) if actions[0] == 0 else (state[0] + 1, 0, 0)), (0.0,)

    def observe(self, state: Any, player: int) -> Any:
        return np.array([state[0], state[2] == 1, state[2] == -1], np.float32)


@functools.cache
def learnt(architecture: str, steps: int) -> tuple[WorldModel, Replay, ab.Game]:
    """Return a model of the coin that learnt from random games, and these."""
    game = Tosses()
    net = Net(architecture=architecture, width=32, latent=8, layers=2, codes=4)  # type: ignore[arg-type]
    config = TrainConfig(
        method="muzero",
        net=net,
        self_play=SelfPlay(random_games=400),
        learner=Settings(batch=64, warm_up=10, steps=STEPS, rate=5e-3, last_rate=1e-3, average=0.9),
        unroll=Unroll(steps=2),
    )
    replay = Replay(game, ReplaySettings(symmetries=False), config.targets, 2, ahead=True)
    with Worker(game, config, ab.Uniform()) as worker:
        for ended in worker.play(iter(range(400))):
            for record in ended:
                replay.add(record)
    learner = Learner(new_net(net, shape_of(game), 1), config.learner, loss_of(config))
    for step in range(steps):
        learner.learn(replay.sample(64, 0, step))
    assert isinstance(learner.average, WorldModel)
    return learner.average, replay, game


def test_a_coin_has_two_codes_that_come_as_often_as_its_sides():
    """Tossed, it pays 1 by one code and costs 1 by another, three to one; nothing else is likely."""
    net, replay, game = learnt("world_dice", STEPS)
    model: Any = model_of(ab.Torch(net), game)
    assert isinstance(model, LearnedDice)
    assert model.outcomes == 4
    first = model.initial(game.start().observe(0)[None])
    for action, expected in ((0, {-1.0: 0.25, 1.0: 0.75}), (1, {0.0: 1.0})):
        after = model.afterstate(first.latent, np.array([action]))
        found: dict[float, float] = {}
        for code in range(4):
            told: Any = model.chance(after.latent, np.array([code]))
            if after.chances[0, code] > 0.02:
                paid = round(float(told.reward[0, 0]))
                assert told.reward[0, 0] == pytest.approx(paid, abs=0.15)
                found[paid] = found.get(paid, 0.0) + float(after.chances[0, code])
        assert found == pytest.approx(expected, abs=0.08)
    errors = errors_on(net, replay.sample(256, 1, 0))
    assert max(filter(None, errors["reward"]), default=0.0) < 0.1


def test_without_codes_the_mean_is_learnt():
    net, replay, _ = learnt("world_mlp", STEPS)
    assert errors_on(net, replay.sample(256, 1, 0))["reward"][0] > 0.25  # type: ignore[operator]


def test_a_plan_knows_what_a_toss_is_worth():
    net, _, game = learnt("world_dice", STEPS)
    plan = ab.plan(model_of(ab.Torch(net), game), game.start().observe(0)[None], simulations=200)
    assert plan.action.tolist() == [0]
    assert plan.q[0, 0] == pytest.approx(1.0, abs=0.25)  # .5 a toss
    assert plan.q[0, 1] == pytest.approx(0.5, abs=0.25)


def test_gradients_go_through_a_code_as_through_its_softmax():
    logits = torch.tensor([[0.3, 0.1, -0.2]], requires_grad=True)
    weights = torch.tensor([1.0, 2.0, 4.0])
    assert named(logits).tolist()[0] == pytest.approx([1.0, 0.0, 0.0]) == certain(logits).tolist()[0]
    (found,) = torch.autograd.grad((named(logits) * weights).sum(), logits)
    (expected,) = torch.autograd.grad((torch.softmax(logits, 1) * weights).sum(), logits)
    torch.testing.assert_close(found, expected)


def test_nothing_is_seen_past_the_end():
    """Where a game is over nobody sees anything; what was paid and that it ended is all there is to name."""
    _, replay, _ = learnt("world_dice", 0)
    rows = replay.sample(64, 0, 0)
    what = followed(rows, 1)
    over = torch.from_numpy(~rows["inside"][:, 2])
    assert over.any()
    assert (what.onward[over] == 0.0).all()
    net = ab.nets.make("world_dice", Tosses(), seed=1, width=16, latent=8)
    assert isinstance(net, WorldModel)
    changed = what._replace(observations=torch.where(over[:, None], what.observations + 5.0, what.observations))
    torch.testing.assert_close(net.encode(changed), net.encode(what))


def test_games_with_dice_are_played_in_what_was_learnt():
    """Pig, by a network that knows nothing yet: legal games, planned with codes."""
    game = ab.games.load("pig", target=8, sides=4)
    config = preset(game, "muzero")
    net = replace(config.net, architecture="world_dice", width=16, latent=8, layers=1)
    config = replace(config, net=net, self_play=replace(config.self_play, random_games=0, abreast=4))
    evaluator = ab.Torch(new_net(net, shape_of(game), 1))
    with Worker(game, config, evaluator) as worker:
        played = [record for ended in worker.play(iter(range(6))) for record in ended]
    assert len(played) == 6
    assert all(decision.visits > 0 for record in played for decision in record.decisions[record.opened :])
