"""MuZero's learner: what is learnt from imagined steps, by hand, and gradients held against finite differences."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import anabranch as ab
from anabranch.evaluate.seats import to_mover, to_seats
from anabranch.learn import checkpoint
from anabranch.learn.imagination import WORDS, errors_on
from anabranch.learn.learner import Learner, imagined_steps, new_net
from anabranch.learn.losses import apart, consistency, halved, loss_of, muzero
from anabranch.learn.presets import preset
from anabranch.learn.records import Decision, GameRecord
from anabranch.learn.replay import Replay
from anabranch.learn.selfplay import Worker
from anabranch.learn.settings import Learner as Settings
from anabranch.learn.settings import Net, Targets, TrainConfig, Unroll
from anabranch.learn.settings import Replay as ReplaySettings
from anabranch.learn.targets import steps_of, unrolled
from anabranch.models.learned import LearnedModel, Seen
from anabranch.nets.shape import Shape, shape_of
from anabranch.nets.world import Outcome, Prediction, WorldModel

THREE: dict[str, Any] = {"players": 3, "size": 4, "line": 3}
XO = ab.games.load("tic_tac_toe")
SMALL = Net(architecture="world_mlp", width=16, latent=8, layers=2)


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def won(*, finished: bool = True, opened: int = 0) -> GameRecord:
    """The upper row for player 0: 0, then 3, 1, 4, 2; the second decision was searched fast."""
    decisions = [
        Decision(
            actions=(action,),
            dice=(),
            rewards=(1.0, -1.0) if action == 2 else (0.0, 0.0),
            value=(0.2, -0.2) if turn >= opened else (0.0, 0.0),
            policy=({action: 1.0},) if turn != 1 and turn >= opened else (),
            visits=8 * (turn >= opened),
            full=turn != 1 and turn >= opened,
        )
        for turn, action in enumerate((0, 3, 1, 4, 2))
    ]
    return GameRecord(0, 0, (), tuple(decisions), opened, finished)


def columns(record: GameRecord, targets: Targets | None = None) -> dict[str, Any]:
    steps = steps_of(record, XO, targets or Targets(mix=1.0))
    assert steps is not None
    return vars(steps)


def three(placements: tuple[float, ...]) -> dict[str, Any]:
    """Three players, three decisions by one after the other, and placements for the last: a game of no rules."""
    eye = np.eye(4, dtype=np.float32)[:3]
    values = 0.99 ** np.arange(2, -1, -1)[:, None] * np.array(placements)
    return {
        "observations": np.zeros((3, 2), np.float32),
        "legal": np.ones((3, 4), bool),
        "policy": eye,
        "values": values.astype(np.float32),
        "seats": np.array([0, 1, 2]),
        "actions": np.array([0, 1, 2]),
        "rewards": np.array([(0, 0, 0), (0, 0, 0), placements], np.float32),
        "left": np.array([3, 2, 1]),
        "searched": np.ones(3, bool),
        "valued": np.ones(3, bool),
        "finished": np.ones(3, bool),
    }


# Targets


def test_the_reward_is_that_of_the_step_alone():
    """Placements two steps ahead are γ² of themselves as a value, and nothing as a reward until they are paid."""
    found = unrolled(three((1.0, -0.2, -1.0)), np.array([0]), 3, np.zeros((1, 3), np.int64))
    np.testing.assert_allclose(found["values"][0, 0], 0.9801 * np.array([1.0, -0.2, -1.0]), rtol=1e-6)
    np.testing.assert_allclose(found["rewards"][0], [(0, 0, 0), (0, 0, 0), (1.0, -0.2, -1.0)], rtol=1e-6)


def test_rotations_of_three_compose_to_nothing():
    values = np.random.default_rng(0).normal(size=(5, 3))
    turned = values
    for _ in range(3):
        turned = to_mover(turned, [1] * 5)
    np.testing.assert_array_equal(turned, values)
    for mover in range(3):
        np.testing.assert_array_equal(to_seats(to_mover(values, [mover] * 5), [mover] * 5), values)


def test_an_unroll_over_the_end():
    """Past the end every step ends the game, pays nothing and is worth nothing, and no policy is learnt."""
    fill = np.full((1, 5), 7)
    found = unrolled(columns(won()), np.array([3]), 5, fill)
    assert found["actions"][0].tolist() == [4, 2, 7, 7, 7]
    assert found["ends"][0].tolist() == [False, True, True, True, True]
    assert found["rewards"][0].tolist() == [[0, 0], [1, -1], [0, 0], [0, 0], [0, 0]]
    assert found["values"][0].tolist() == [[1, -1], [1, -1], [0, 0], [0, 0], [0, 0], [0, 0]]
    assert found["inside"][0].tolist() == [True, True, False, False, False, False]
    assert found["searched"][0].tolist() == [True, True, False, False, False, False]
    assert found["valued"][0].all()
    assert found["known"][0].all()
    assert found["policy"][0, 2:].sum() == 0


def test_a_fast_search_has_a_value_and_no_policy():
    found = unrolled(columns(won()), np.array([0]), 3, np.zeros((1, 3), np.int64))
    assert found["searched"][0].tolist() == [True, False, True, True]
    assert found["valued"][0].all()


def test_nothing_is_said_of_what_follows_a_game_that_was_cut_off():
    found = unrolled(columns(won(finished=False)), np.array([3]), 4, np.zeros((1, 4), np.int64))
    assert found["known"][0].tolist() == [True, True, False, False]
    assert not found["ends"].any()
    assert found["valued"][0].tolist() == [True, True, False, False, False]


def test_random_moves_before_a_search_teach_rules_and_no_values():
    assert columns(won(opened=2))["valued"].tolist() == [False, False, True, True, True]
    at_random = columns(won(opened=5))
    assert at_random["valued"].all()
    assert not at_random["searched"].any()
    assert at_random["values"].tolist() == [[1.0, -1.0]] * 5


def tiny(game: ab.Game, **changes: Any) -> TrainConfig:
    """A run of little work."""
    made = preset(game, "muzero")
    return replace(
        made,
        net=SMALL,
        search=replace(made.search, cap=ab.PlayoutCap(full=4, fast=2, chance=0.5)),
        self_play=replace(made.self_play, **{"abreast": 4, "random_games": 0, **changes}),
        learner=replace(made.learner, batch=32, warm_up=5),
    )


@pytest.mark.parametrize("name", ["tic_tac_toe", "n_in_a_row"])
def test_samples_are_games_under_symmetries(name):
    """Whatever image a sample is, it obeys the rules from step to step, and values turn around the table."""
    game = ab.games.load(name, **({} if name == "tic_tac_toe" else THREE))
    replay = Replay(game, ReplaySettings(endings=0.5), Targets(mix=1.0), 3, ahead=True)
    with Worker(game, tiny(game, random_games=12), None) as worker:
        for ended in worker.play(iter(range(12))):
            for record in ended:
                assert record.opened == len(record.decisions)
                replay.add(record)
    sample = replay.sample(64, 1, 2)
    seen, legal, actions, values = (sample[part] for part in ("observations", "legal", "actions", "values"))
    if name == "tic_tac_toe":
        assert ((seen.sum(axis=2).reshape(64, 4, 9) == 0) == legal)[sample["inside"]].all()
    ends = 0
    for row, k in np.argwhere(sample["inside"][:, :3]):
        assert legal[row, k, actions[row, k]]
        if sample["ends"][row, k]:
            ends += 1
            assert not sample["inside"][row, k + 1]
            np.testing.assert_allclose(values[row, k], sample["rewards"][row, k], atol=1e-6)
        else:
            assert legal[row, k].sum() == legal[row, k + 1].sum() + 1
            assert not legal[row, k + 1, actions[row, k]]
            assert sample["movers"][row, k] == 1
            assert not sample["rewards"][row, k].any()
            np.testing.assert_allclose(values[row, k + 1], np.roll(values[row, k], -1), atol=1e-6)
    assert ends > 20


def test_the_end_of_a_game_is_imagined_after_every_number_of_steps():
    """Samples near the end meet it after 1, 2, … K steps alike: what no sample shows after K steps is not learnt."""
    replay = Replay(XO, ReplaySettings(endings=1.0), Targets(mix=1.0), 5)
    with Worker(XO, tiny(XO, random_games=60), None) as worker:
        for ended in worker.play(iter(range(60))):
            for record in ended:
                replay.add(record)
    ends = replay.sample(2_000, 1, 2)["ends"]
    assert ends[:, -1].all()
    first = np.bincount(ends.argmax(axis=1), minlength=5) / len(ends)
    np.testing.assert_allclose(first, 0.2, atol=0.04)


def test_the_learner_begins_with_one_imagined_step():
    """One step is imagined at first, then K; a sample of one step is what a sample of K begins with."""
    first = Unroll(steps=5, alone=200)
    assert [imagined_steps(step, first) for step in (0, 199, 200, 9_000)] == [1, 1, 5, 5]
    assert imagined_steps(0, Unroll(steps=5)) == 5
    replay = Replay(XO, ReplaySettings(endings=1.0), Targets(mix=1.0), 5)
    replay.add(won())
    sample = replay.sample(64, 1, 2, imagined_steps(0, first))
    assert sample["actions"].shape == (64, 1)
    assert sample["values"].shape == (64, 2, 2)
    assert sample["ends"].all()  # every sample is near the end, and one step shows it


# Losses


def a_net(seed: int = 0, **sizes: int) -> WorldModel:
    net = new_net(replace(SMALL, **sizes), shape_of(XO), seed)  # type: ignore[arg-type]
    assert isinstance(net, WorldModel)
    return net


def a_sample(steps: int, count: int = 6, **changes: Any) -> dict[str, Any]:
    replay = Replay(XO, ReplaySettings(), Targets(mix=0.5), steps, ahead=True)
    replay.add(won())
    return {**replay.sample(count, 3, 4), **changes}


@pytest.mark.parametrize("bins", [1, 5])
@pytest.mark.parametrize("steps", [1, 4])
def test_the_gradient_is_that_of_losses_scaled_by_the_steps(bins, steps):
    """L_0 + (1/K)·ΣL_k by finite differences, for heads, which no halved gradient reaches; K = 1 has a weight of 1."""
    net = a_net(bins=bins).double()
    rows = {
        name: part.astype(np.float64) if part.dtype == np.float32 else part for name, part in a_sample(steps).items()
    }
    unroll = Unroll(steps=steps, reward=2.0, end=3.0, legal=0.5, mover=0.7)
    muzero(net, rows, 1.5, unroll).total.backward()
    heads = {
        name: each for name, each in net.named_parameters() if name.startswith(("outcome", "policy", "value", "legal"))
    }
    assert len(heads) == 12
    for name, parameter in heads.items():
        at = (0,) * parameter.ndim
        assert parameter.grad is not None
        exact, step, before = parameter.grad[at].item(), 1e-3, parameter[at].item()
        ends = []
        for sign in (1, -1):
            with torch.no_grad():
                parameter[at] = before + sign * step
                ends.append(muzero(net, rows, 1.5, unroll).total.item())
                parameter[at] = before
        assert exact == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=2e-4, abs=1e-7), name


def test_steps_count_a_kth_each():
    """With losses of rewards alone, K equal steps weigh as much as one does."""
    net = a_net()
    rows = a_sample(4, searched=np.zeros((6, 5), bool), valued=np.zeros((6, 5), bool))
    only = Unroll(reward=1.0, end=0.0, legal=1e-12, mover=0.0)  # 0 would teach that all is allowed
    found = muzero(net, rows, 1.0, only)
    assert found.total.item() == pytest.approx(found.more["reward"].item(), rel=1e-6)


def test_steps_past_the_end_can_be_left_out():
    """Without a weight of their own, whatever is imagined past the end changes nothing."""
    net, rows = a_net(), a_sample(4)
    past = ~rows["inside"][:, :-1]
    assert past.any()
    other = {**rows, "actions": np.where(past, 8 - rows["actions"], rows["actions"])}
    for weight, same in ((0.0, True), (1.0, False)):
        one, two = (muzero(net, each, 1.0, Unroll(steps=4, past=weight)).total.item() for each in (rows, other))
        assert (abs(one - two) < 1e-6) == same


@pytest.mark.parametrize("weight", [0.0, 0.5])
def test_without_a_weight_all_is_allowed_and_policies_avoid_what_is_not_legal(monkeypatch, weight):
    """Logits of illegal actions are pushed down where nothing else hides them, and only there."""
    net, rows = a_net(), a_sample(3)
    said: list[Prediction] = []
    predict = net.predict

    def kept(latent):
        said.append(predict(latent))
        for part in said[-1]:
            part.retain_grad()
        return said[-1]

    monkeypatch.setattr(net, "predict", kept)
    muzero(net, rows, 1.0, Unroll(steps=3, legal=weight)).total.backward()
    by_step = {name: rows[name].swapaxes(0, 1).reshape(24, -1) for name in ("legal", "searched", "inside")}
    illegal = ~by_step["legal"] & by_step["searched"]
    assert illegal.any()
    logits, legal = said[0].logits.grad, said[0].legal.grad
    assert logits is not None
    assert legal is not None
    pushed = logits.numpy()[illegal]
    assert (pushed > 0).all() if weight == 0.0 else (pushed == 0).all()
    allowed = by_step["legal"] if weight else np.ones_like(by_step["legal"])
    inside = by_step["inside"][:, 0]
    assert ((legal.numpy()[inside] < 0) == allowed[inside]).all()


def test_half_of_the_gradient_goes_through_a_step():
    latent = torch.tensor([0.25, 0.5], requires_grad=True)
    assert torch.equal(halved(latent), latent)
    (halved(latent) ** 2).sum().backward()
    assert latent.grad is not None
    assert latent.grad.tolist() == [0.25, 0.5]


class Straight(WorldModel):
    """A model whose step doubles its latent and pays it: gradients can be told by hand."""

    architecture, SIZES = "straight", {"bins": (1, 1)}

    def __init__(self) -> None:
        super().__init__(Shape("none", (1,), 2, 1, -8.0, 8.0, False), {"bins": 1})
        self.weight = torch.nn.Parameter(torch.tensor([1.0]))
        self.projected = torch.nn.Parameter(torch.eye(1))

    def represent(self, observations):
        return observations * self.weight

    def step(self, latent, actions):
        following = 2 * latent
        zeros = torch.zeros(len(latent), 1)
        return following, Outcome(following / 8, zeros[:, 0], zeros)

    def predict(self, latent):
        return Prediction(torch.zeros(len(latent), 2), torch.zeros(len(latent), 1), torch.zeros(len(latent), 2))

    def project(self, latent):
        return latent @ self.projected

    def foresee(self, projected):
        return projected


def test_gradients_through_two_steps_by_hand():
    """Rewards 2w, 4w against 0 in units of 8: d/dw of ½·((2w)² + (4w)²)/64, the second through a halved latent."""
    net = Straight()
    shapes: dict[str, Any] = {"legal": np.ones((1, 3, 2), bool), "policy": np.zeros((1, 3, 2), np.float32)}
    shapes |= {"values": np.zeros((1, 3, 1), np.float32), "observations": np.ones((1, 1, 1), np.float32)}
    shapes |= {"actions": np.zeros((1, 2), np.int64), "rewards": np.zeros((1, 2, 1), np.float32)}
    shapes |= {"ends": np.zeros((1, 2), bool), "movers": np.zeros((1, 2), np.int64), "inside": np.ones((1, 3), bool)}
    shapes |= {"searched": np.zeros((1, 3), bool), "valued": np.zeros((1, 3), bool), "known": np.ones((1, 2), bool)}
    muzero(net, shapes, 1.0, Unroll(steps=2, end=0.0, mover=0.0)).total.backward()
    assert net.weight.grad is not None
    assert net.weight.grad.item() == pytest.approx(0.5 * (2 * 2 * 2 + 0.5 * (2 * 4 * 4)) / 64)


def test_consistency_is_0_for_equal_and_4_for_opposite_latents():
    one = torch.tensor([[1.0, 2.0, -3.0]])
    assert apart(one, 5 * one).item() == pytest.approx(0.0, abs=1e-6)
    assert apart(one, -one).item() == pytest.approx(4.0, abs=1e-6)


def test_no_gradient_goes_into_the_encoded_side():
    net = a_net()
    seen = torch.rand(3, 2, *XO.observation)  # type: ignore[misc]
    imagined = [torch.rand(3, 8, requires_grad=True) for _ in range(2)]
    consistency(net, imagined, seen).sum().backward()
    assert all(latent.grad is not None and latent.grad.abs().sum() > 0 for latent in imagined)
    assert all(each.grad is None for each in net.encoder.parameters())  # type: ignore[union-attr]


# The learner


def a_learner(bins: int = 5) -> Learner:
    config = replace(tiny(XO), learner=Settings(batch=16, warm_up=5, steps=400, rate=1e-2, average=0.9))
    return Learner(a_net(bins=bins), config.learner, loss_of(config))


def test_it_learns_a_game_by_heart():
    """After some steps on one game the model imagines it to its end: reward, end, what is legal, who moves, values."""
    one = a_learner()
    replay = Replay(XO, ReplaySettings(symmetries=False), Targets(mix=1.0), 5, ahead=True)
    replay.add(won())
    for step in range(300):
        assert one.learn(replay.sample(16, 0, step)) is not None
    errors = errors_on(one.average, replay.sample(64, 1, 0))  # type: ignore[arg-type]
    assert set(errors) == set(WORDS)
    for name, most in {"reward": 0.1, "end": 0.0, "missed": 0.0, "legal": 0.02, "mover": 0.0, "value": 0.15}.items():
        assert all(error is None or error <= most for error in errors[name]), (name, errors[name])


@pytest.mark.parametrize("what", ["observations", "values", "rewards", "policy"])
def test_numbers_that_would_ruin_the_weights_bring_back_the_last_good_ones(what):
    one = a_learner(1)
    for _ in range(5):
        one.learn(a_sample(5, 16))
    one.mark_good()
    good = {name: tensor.clone() for name, tensor in one.state().items()}
    one.learn(a_sample(5, 16))
    bad = a_sample(5, 16)
    bad[what][:, 0] = np.nan
    assert one.learn(bad) is None
    assert one.restores == 1
    assert all(torch.equal(tensor, good[name]) for name, tensor in one.state().items() if name != "restores")


@pytest.mark.parametrize("head", ["policy", "value", "legal", "outcome.reward", "outcome.end", "outcome.mover"])
def test_a_head_that_says_what_is_no_number_is_noticed(head):
    one = a_learner()
    one.learn(a_sample(5, 16))
    one.mark_good()
    with torch.no_grad():
        one.net.get_parameter(f"{head}.bias")[0] = float("nan")
    assert one.learn(a_sample(5, 16)) is None
    assert all(torch.isfinite(each).all() for each in one.net.parameters())
    assert one.learn(a_sample(5, 16)) is not None


def test_a_checkpoint_goes_on_as_if_never_stopped():
    one = a_learner()
    for _ in range(8):
        one.learn(a_sample(5, 16))
    other = a_learner()
    checkpoint.read(checkpoint.written(one), "state", other)
    for _ in range(4):
        one.learn(a_sample(5, 16))
        other.learn(a_sample(5, 16))
    assert all(torch.equal(tensor, other.state()[name]) for name, tensor in one.state().items())


# The model


@pytest.mark.parametrize("name", ["world_mlp", "world_tower", "world_dice"])
@pytest.mark.parametrize("game", ["tic_tac_toe", "connect_four", "othello", "pig"])
def test_latents_lie_between_0_and_1_and_depend_on_the_action(game, name):
    played = ab.games.load(game)
    net = ab.nets.make(name, played, seed=1)
    assert isinstance(net, WorldModel)
    seen = torch.rand(4, *played.observation)  # type: ignore[misc]
    latent = net.represent(seen)
    one, _ = net.step(latent, torch.zeros(4, dtype=torch.int64))
    other, outcome = net.step(latent, torch.ones(4, dtype=torch.int64))
    for each in (latent, one, other):
        assert each.min() >= 0.0
        assert each.max() <= 1.0
    assert (one - other).abs().max() > 1e-3
    assert outcome.reward.shape == (4, played.players)
    alone, _ = net.step(latent[:1], torch.ones(1, dtype=torch.int64))
    assert torch.allclose(alone, other[:1], atol=1e-6)  # no row depends on its batch


def test_a_new_network_sees_latents_as_well_as_actions():
    """What the latent and the action bring into a step is equally wide, or the norm hides one behind the other."""
    net = ab.nets.make("world_mlp", XO, seed=1)
    latent = net.represent(torch.rand(256, *XO.observation))  # type: ignore[misc,operator]
    wide = net.entry(latent).detach().std().item() / net.action.weight.detach().std().item()  # type: ignore[operator,union-attr]
    assert 0.5 < wide < 2.0


def test_who_moves_is_counted_from_the_mover_and_ends_are_zero_discounts():
    game = ab.games.load("n_in_a_row", **THREE)
    net = ab.nets.make("world_mlp", game, seed=1)
    assert isinstance(net, WorldModel)
    with torch.no_grad():
        net.get_parameter("outcome.mover.bias")[2] += 100
        net.get_parameter("outcome.end.weight").zero_()
        net.get_parameter("outcome.end.bias").fill_(-1.0)
    model = LearnedModel(net, 0.9)
    movers = np.array([0, 1, 2])
    first = model.initial(Seen(np.zeros((3, *game.observation), np.float32), movers))  # type: ignore[misc]
    actions = np.array([0, 1, 2])
    told: Any = model.recurrent(first.latent, actions)
    assert told.mover.tolist() == [2, 0, 1]
    np.testing.assert_allclose(told.discount, 0.9 / (1 + np.exp(-1.0)), rtol=1e-6)
    with torch.no_grad():
        net.get_parameter("outcome.end.bias").fill_(0.1)
    told = model.recurrent(first.latent, actions)
    assert told.discount.tolist() == [0.0, 0.0, 0.0]
    assert told.legal.any(axis=1).all()
