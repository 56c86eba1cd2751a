"""The learner: it learns what it is shown, survives what would ruin it, and goes on from a checkpoint unchanged."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import anabranch as ab
from anabranch.errors import DataError
from anabranch.learn import checkpoint
from anabranch.learn.learner import Learner, learning_rate, new_net
from anabranch.learn.settings import Learner as Settings
from anabranch.learn.settings import Net
from anabranch.nets.shape import shape_of

GAME = ab.games.load("tic_tac_toe")
SETTINGS = Settings(batch=32, warm_up=5, steps=100, rate=1e-2, last_rate=1e-3, average=0.9)


def learner(net: Net | None = None) -> Learner:
    return Learner(new_net(net or Net(architecture="mlp", width=32), shape_of(GAME), 0), SETTINGS)


def rows(seed: int, count: int = 32) -> dict[str, np.ndarray]:
    """Positions whose best move is where the first cell of the observation says, and whose value follows from it."""
    draws = np.random.default_rng(seed)
    seen = draws.integers(0, 2, (count, 2, 3, 3)).astype(np.float32)
    best = np.where(seen[:, 0, 0, 0] > 0, 3, 5)
    value = np.where(seen[:, 1, 1, 1] > 0, 0.75, -0.5)
    return {
        "observations": seen,
        "legal": np.ones((count, 9), np.bool_),
        "policy": np.eye(9, dtype=np.float32)[best],
        "values": np.stack([value, -value], axis=1).astype(np.float32),
    }


@pytest.mark.parametrize("net", [Net(architecture="mlp", width=32), Net(architecture="mlp", width=32, bins=21)])
def test_it_learns_what_it_is_shown(net):
    one = learner(net)
    for step in range(150):
        assert one.learn(rows(step)) is not None
    unseen = rows(999)
    logits, values = ab.Torch(one.average).run(unseen["observations"])
    assert (logits.argmax(axis=1) == unseen["policy"].argmax(axis=1)).all()
    assert np.abs(values - unseen["values"]).mean() < 0.1


def test_the_average_follows_the_weights():
    one = learner()
    for step in range(30):
        one.learn(rows(step))
    ours, average = one.net.state_dict(), one.average.state_dict()
    apart = max(float((ours[name] - average[name]).abs().max()) for name in ours)
    assert 0 < apart < 0.2


def test_batch_norms_are_averaged_too():
    one = learner(Net(channels=8, blocks=1, hidden=8))
    for step in range(40):
        one.learn(rows(step))
    assert one.average.training is False
    statistics = {name: tensor for name, tensor in one.average.state_dict().items() if "running" in name}
    assert statistics
    assert any(float(tensor.abs().max()) > 0.05 for name, tensor in statistics.items() if "mean" in name)


@pytest.mark.parametrize("what", ["observations", "values", "policy"])
def test_numbers_that_would_ruin_the_weights_bring_back_the_last_good_ones(what):
    one = learner()
    for step in range(10):
        one.learn(rows(step))
    one.mark_good()
    good = {name: tensor.clone() for name, tensor in one.state().items()}
    one.learn(rows(10))
    bad = rows(11)
    bad[what][3] = np.nan
    assert one.learn(bad) is None
    assert one.restores == 1
    for name, tensor in one.state().items():
        if name != "restores":
            assert torch.equal(tensor, good[name]), name
    assert one.learn(rows(12)) is not None


def test_a_loss_that_explodes_is_noticed():
    one = learner()
    for step in range(120):
        one.learn(rows(step))
    wrong = rows(121)
    wrong["values"] = wrong["values"] * 100
    assert one.learn(wrong) is None


def test_a_checkpoint_goes_on_as_if_never_stopped():
    """The same steps after it give the same weights to the last bit: the optimiser's moments are in it."""
    one = learner()
    for step in range(20):
        one.learn(rows(step))
    data = checkpoint.written(one)
    other = learner()
    checkpoint.read(data, "state", other)
    for step in range(20, 30):
        one.learn(rows(step))
        other.learn(rows(step))
    assert other.step == 30
    for name, tensor in one.state().items():
        assert torch.equal(tensor, other.state()[name]), name


def test_a_checkpoint_of_another_network_is_refused():
    with pytest.raises(DataError, match="another network"):
        checkpoint.read(checkpoint.written(learner()), "state", learner(Net(architecture="mlp", width=16)))
    with pytest.raises(DataError, match="damaged"):
        checkpoint.read(b"nothing", "state", learner())


def test_the_rate_rises_and_falls():
    settings = Settings(warm_up=10, steps=110, rate=1.0, last_rate=0.1)
    assert learning_rate(0, settings) == pytest.approx(0.1)
    assert learning_rate(9, settings) == pytest.approx(1.0)
    assert learning_rate(60, settings) == pytest.approx(0.55)
    assert learning_rate(110, settings) == learning_rate(10_000, settings) == pytest.approx(0.1)


def test_values_as_categories_are_within_the_returns():
    net = new_net(Net(architecture="mlp", width=16, bins=31), shape_of(GAME), 0)
    _, values = ab.Torch(net).run(np.random.default_rng(0).normal(0, 50, (64, 2, 3, 3)).astype(np.float32))
    assert values.shape == (64, 2)
    assert (np.abs(values) <= 1.0).all()
