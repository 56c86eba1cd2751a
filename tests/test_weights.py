"""Samples drawn by weights: off by default and as before, in proportion where wanted, corrected where they mislead."""

from __future__ import annotations

import hashlib
import io
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.laws.test_planned_self_play import Opinions, SeenRules
from tests.system_calls import game as made_up
from tests.test_muzero import won
from tests.test_training import SAID, all_of

import anabranch as ab
from anabranch.errors import DataError, UsageError
from anabranch.learn import run_folder
from anabranch.learn.auxiliary import new_heads
from anabranch.learn.learner import new_net
from anabranch.learn.losses import loss_of
from anabranch.learn.presets import preset
from anabranch.learn.records import Decision, GameRecord, read_shard, seats_of, write_shard
from anabranch.learn.replay import Replay
from anabranch.learn.selfplay import Worker
from anabranch.learn.settings import Net, Targets, TrainConfig
from anabranch.learn.settings import Replay as Settings
from anabranch.learn.targets import rows_of, steps_of
from anabranch.learn.toml import to_toml
from anabranch.learn.train import train
from anabranch.learn.weights import chances, corrections, drawn, surprise, weights_of
from anabranch.nets.shape import shape_of

GAME = ab.games.load("tic_tac_toe")


def filled(settings: Settings, unroll: int = 0, record: GameRecord | None = None, games: int = 30) -> Replay:
    replay = Replay(GAME, settings, Targets(mix=0.5), unroll)
    for _ in range(games):
        replay.add(record or won())
    return replay


# Formulas


def test_surprise_by_hand():
    """All of a policy on what had a quarter of the prior: ln 4. What is no choice has no part in it."""
    assert surprise(np.array([[1.0, 0, 0], [0, 0, 0]]), np.array([[0.25, 0.75, 0], [0, 0, 0]])) == pytest.approx(
        np.log(4)
    )
    assert surprise(np.array([0.25, 0.75]), np.array([0.25, 0.75])) == 0.0
    assert surprise(np.array([1.0, 0.0]), np.array([0.0, 1.0])) == pytest.approx(np.log(1e6))  # and not infinite


def test_surprise_is_not_negative_and_adds_up_over_players_who_choose_at_once():
    draws = np.random.default_rng(0)
    for _ in range(50):
        policies, priors = draws.dirichlet(np.ones(4), 2), draws.dirichlet(np.ones(4), 2)
        together = surprise(np.outer(*policies), np.outer(*priors))
        assert surprise(policies, priors) == pytest.approx(together)
        assert together > 0.0


def test_chances_by_hand():
    weights = np.array([0.0, 1.0, 3.0])
    np.testing.assert_allclose(chances(weights, 0.25, 1.0), 1 / 4 + 0.25 * np.array([0, 1 / 4, 3 / 4]))
    np.testing.assert_allclose(chances(weights, 0.25, 2.0), 1 / 4 + 0.25 * np.array([0, 1 / 10, 9 / 10]))


@pytest.mark.parametrize(
    ("weights", "share", "power"), [((0, 1, 3), 0.0, 1.0), ((0, 1, 3), 0.9, 0.0), ((0, 0, 0), 0.9, 1.0)]
)
def test_without_weights_all_are_alike(weights, share, power):
    np.testing.assert_allclose(chances(np.array(weights, float), share, power), [1 / 3] * 3)


def test_rows_are_drawn_as_often_as_they_are_likely():
    likely = chances(np.random.default_rng(1).exponential(size=200) ** 3, 0.9, 1.0)
    assert likely.sum() == pytest.approx(1.0)
    grid = (np.arange(100_000) + 0.5) / 100_000
    found = np.bincount(drawn(likely, grid), minlength=200) / 100_000
    np.testing.assert_allclose(found, likely, atol=2e-5)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_corrected_draws_have_the_mean_of_all_rows(share):
    """Theorem: Σ p(i)·x(i)/(n·p(i)) is the mean of x, whatever p; and no factor is above 1/(1 − s)."""
    draws = np.random.default_rng(2)
    weights, found = draws.exponential(size=50) ** 2, draws.normal(size=50)
    likely = chances(weights, share, 1.5)
    factors = corrections(likely, 50, 1.0)
    assert (likely * factors * found).sum() == pytest.approx(found.mean())
    assert factors.max() <= 1.0 / (1.0 - share) + 1e-12
    assert (corrections(likely, 50, 0.0) == 1.0).all()


def test_draws_by_priority_that_are_not_corrected_have_another_mean():
    """One position, won three times in four, which its root says: errors .5, .5, .5 and 1.5, so half a mean of .25."""
    returns = np.array([1.0, 1.0, 1.0, -1.0])
    likely = chances(np.abs(returns - returns.mean()), 0.5, 1.0)
    assert (likely * returns).sum() == pytest.approx(0.25)
    assert (likely * corrections(likely, 4, 1.0) * returns).sum() == pytest.approx(0.5)


# Rows


def test_weights_of_a_game_by_hand():
    """Roots say .2 for player 0, who wins: errors of .8 in either seat; 1-step returns are off at the end alone."""
    record = replace(won(), decisions=tuple(replace(d, surprise=t / 10) for t, d in enumerate(won().decisions)))
    rows, steps = rows_of(record, GAME, Targets()), steps_of(record, GAME, Targets())
    assert rows is not None
    assert steps is not None
    surprise, priority = Settings(weights="surprise"), Settings(weights="priority")
    for settings, targets, expected in (
        (surprise, Targets(), [0.0, 0.1, 0.2, 0.3, 0.4]),
        (priority, Targets(), [0.8] * 5),
        (priority, Targets(mix=0.0), [0.8] * 5),
        (priority, Targets(steps=1), [0.0, 0.0, 0.0, 0.0, 0.8]),
    ):
        np.testing.assert_allclose(weights_of(record, steps, settings, targets, 1.0), expected, atol=1e-12)
        of_rows = weights_of(record, rows, settings, targets, 1.0)  # without the second decision, which was fast
        np.testing.assert_allclose(of_rows, [expected[0], *expected[2:]], atol=1e-12)


def test_what_was_not_searched_has_no_weight():
    steps = steps_of(won(opened=2), GAME, Targets())
    assert steps is not None
    found = weights_of(won(opened=2), steps, Settings(weights="priority"), Targets(), 1.0)
    np.testing.assert_allclose(found, [0.0, 0.0, 0.8, 0.8, 0.8])


def test_both_who_choose_at_once_have_a_row_and_an_error_of_their_own():
    game = ab.games.load("goofspiel", cards=4)
    state = game.start()
    first = state.legal(0)[0], state.legal(1)[1]
    policies = {first[0]: 1.0}, {first[1]: 1.0}
    decision = Decision(first, (), (0.0, 0.0), (0.5, -0.25), policies, 4, full=True, surprise=0.75)
    record = GameRecord(0, 0, (), (decision,))
    rows = rows_of(record, game, Targets())
    assert rows is not None
    found = [weights_of(record, rows, Settings(weights=kind), Targets(), 1.0) for kind in ("surprise", "priority")]
    np.testing.assert_allclose(found, [[0.75, 0.75], [0.5, 0.25]])


# Samples


def digest(sample: dict[str, Any]) -> str:
    found = hashlib.sha256()
    for name in sorted(sample):
        found.update(name.encode() + sample[name].tobytes())
    return found.hexdigest()[:16]


@pytest.mark.parametrize(("unroll", "expected"), [(0, "a29f4fc5b0c76d81"), (3, "59c89d195339876a")])
def test_samples_are_those_that_there_were_before_there_were_weights(unroll, expected):
    """The numbers are of the version before, to the last bit."""
    assert digest(filled(Settings(endings=0.5), unroll).sample(64, 1, 2)) == expected


@pytest.mark.parametrize("unroll", [0, 3])
@pytest.mark.parametrize("kind", ["surprise", "priority"])
def test_samples_are_drawn_by_the_weights_of_the_window(kind, unroll):
    """Of a game that was searched in full throughout, told apart by how many pieces are seen: 0, 1, 2, 3 and 4."""
    decisions = [
        replace(d, full=True, policy=({d.actions[0]: 1.0},), surprise=float(t), value=(0.25 * t, -0.25 * t))
        for t, d in enumerate(won().decisions)
    ]
    settings = Settings(window=50, growth=0.0, weights=kind, weighted=0.8, correction=0.5)
    replay = filled(settings, unroll, replace(won(), decisions=tuple(decisions)))
    assert len(replay) == 50
    weights = np.arange(5.0) if kind == "surprise" else 1.0 - 0.25 * np.arange(5)
    likely = 0.2 / 5 + 0.8 * weights / weights.sum()
    sample = replay.sample(20_000, 3, 4)
    seen = sample["observations"].reshape(20_000, -1).sum(axis=1).astype(int)
    found = np.bincount(seen, minlength=5) / 20_000
    assert (np.abs(found - likely) < 4 * np.sqrt(likely / 20_000)).all()
    if kind == "surprise":
        assert "weights" not in sample
    else:
        np.testing.assert_allclose(sample["weights"], (1 / (5 * likely[seen])) ** 0.5, rtol=1e-5)


def test_samples_near_an_end_are_not_drawn_by_weight_and_count_once():
    """Of 1-step returns the last alone is off, so that draws by weight would count otherwise."""
    for endings in (0.0, 1.0):
        replay = Replay(GAME, Settings(weights="priority", endings=endings), Targets(steps=1), 3)
        for _ in range(30):
            replay.add(won())
        counts = replay.sample(100, 0, 0)["weights"]
        assert np.unique(counts).tolist() == pytest.approx([1.0] if endings else [1 / 3, 2.0])


def test_weights_follow_what_is_found_again():
    settings = Settings(weights="priority", symmetries=False)
    for unroll in (0, 3):
        replay = filled(settings, unroll, games=2)
        again = replace(won(), decisions=tuple(replace(d, value=(1.0, -1.0)) for d in won().decisions))
        rows = len(replay) // 2
        replay.renew(rows, again)
        found = replay._columns["weights"][: 2 * rows]
        np.testing.assert_allclose(found, [0.8] * rows + [0.0] * rows, atol=1e-6)


# Losses


@pytest.mark.parametrize("method", ["alphazero", "muzero"])
def test_a_row_that_counts_for_nothing_is_as_if_it_were_not_there(method):
    """And those that count twice are half of the rows; 1 for all changes nothing, to the last bit."""
    import torch

    unroll = 3 if method == "muzero" else 0
    made = preset(GAME, method)
    net = Net(architecture="world_mlp" if unroll else "mlp", width=16, latent=8, layers=1)
    config = replace(made, net=net, unroll=replace(made.unroll, past=0.5, consistency=0.0))
    module, shapes = new_net(net, shape_of(GAME), 0).eval(), {} if unroll else {"reply": (GAME.actions,)}
    loss = loss_of(config, new_heads(module, {"reply": 1.0}, shapes, 0))
    replay = Replay(GAME, Settings(), Targets(mix=0.5), unroll, auxiliary=shapes)
    for _ in range(30):
        replay.add(won())
    rows = replay.sample(4, 0, 0)

    def told(factors: list[float] | None, places: list[int]) -> list[float]:
        given = {name: column[places] for name, column in rows.items()}
        if factors is not None:
            given["weights"] = np.array(factors, np.float32)
        found = loss(module, given)
        return [part.item() for part in (found.total, found.policy, found.value, *found.more.values())]

    with torch.no_grad():
        assert told([1.0] * 4, [0, 1, 2, 3]) == told(None, [0, 1, 2, 3])
        assert told([0.0, 2.0, 2.0, 0.0], [0, 1, 2, 3]) == pytest.approx(told(None, [1, 2]), rel=1e-4)


# What is recorded


def settings_of(method: Any, kind: Any, **changes: Any) -> TrainConfig:
    made = preset(GAME, "muzero")
    return replace(
        made,
        method=method,
        net=made.net if method == "muzero" else replace(made.net, architecture="mlp"),
        search=ab.SearchConfig(
            selector=changes.pop("selector", ab.Puct()),
            noise=ab.RootNoise(weight=0.5),
            cap=ab.PlayoutCap(full=16, fast=4, chance=0.5),
            proofs=changes.pop("proofs", "off"),
        ),
        self_play=replace(made.self_play, abreast=5, random_games=1),
        replay=replace(made.replay, weights=kind),
    )


def played(config: TrainConfig, evaluator: Any) -> list[GameRecord]:
    with Worker(GAME, config, evaluator) as worker:
        found = [record for ended in worker.play(iter(range(6))) for record in ended]
    return sorted(found, key=lambda record: record.id)


@pytest.mark.parametrize(
    ("method", "changes"),
    [
        ("alphazero", {}),
        ("alphazero", {"selector": ab.Gumbel()}),
        ("alphazero", {"proofs": "auto"}),  # plans have no proofs
        ("muzero", {}),
        ("muzero", {"selector": ab.Gumbel()}),
    ],
    ids=["puct", "gumbel", "proofs", "plans by puct", "plans by gumbel"],
)
def test_surprise_is_that_of_the_recorded_policy_about_the_networks_own_prior(method, changes):
    """Without the noise that the search put on it; nothing else of a game depends on whether it is recorded."""
    evaluator = SeenRules(GAME, Opinions()) if method == "muzero" else Opinions()
    records = played(settings_of(method, "surprise", **changes), evaluator)
    full = 0
    for record in records:
        for state, decision in zip(record.states(GAME), record.decisions, strict=True):
            if not decision.full:
                assert decision.surprise == 0.0
                continue
            full += 1
            (seat,), (policy,) = seats_of(state), decision.policy
            logits, _ = Opinions().evaluate(ab.Batch([state], [0]))
            exponents = {action: float(np.exp(logits[0, action])) for action in state.choices(seat)}
            prior = {action: each / sum(exponents.values()) for action, each in exponents.items()}
            expected = sum(share * np.log(share / prior[action]) for action, share in policy.items())
            assert decision.surprise == pytest.approx(expected, abs=1e-6)
    assert full > 5
    plain = played(settings_of(method, "none", **changes), evaluator)
    without = [replace(r, decisions=tuple(replace(d, surprise=0.0) for d in r.decisions)) for r in records]
    assert plain == without


def test_who_has_no_priors_is_not_surprised():
    records = played(settings_of("alphazero", "surprise"), ab.Rollout())
    assert not any(decision.surprise for record in records for decision in record.decisions)


# On disk


def test_surprise_comes_back_from_a_shard_and_is_there_only_where_it_is_recorded():
    plain = [made_up(number, 4) for number in range(3)]
    told = [replace(each, decisions=tuple(replace(d, surprise=0.5) for d in each.decisions)) for each in plain]
    for games in (plain, told):
        data = write_shard(games, 2)
        assert read_shard(data) == games
        with np.load(io.BytesIO(data)) as file:
            assert ("surprise" in file.files) == (games is told)


@pytest.mark.parametrize("wrong", [-0.5, float("nan"), float("inf")])
def test_a_surprise_that_cannot_be_is_refused(wrong):
    record = made_up(0, 3)
    record = replace(record, decisions=tuple(replace(d, surprise=wrong) for d in record.decisions))
    with pytest.raises(DataError, match="surprise must be finite, and at least 0"):
        read_shard(write_shard([record], 2))


# Runs


def tiny(method: str, *more: str) -> TrainConfig:
    from tests import test_muzero_runs, test_training

    made = test_muzero_runs.tiny if method == "muzero" else test_training.tiny
    return made("rating.models=0", "rating.positions=0", *more)


@pytest.mark.parametrize(("method", "kind"), [("muzero", "priority"), ("alphazero", "surprise")])
def test_a_run_learns_from_such_samples_and_goes_on(method, kind, tmp_path):
    for steps in (8, 14):
        done = train(tmp_path / "run", SAID, tiny(method, f"most_steps={steps}", f"replay.weights={kind}"))
        assert done.step == steps
    games, _ = all_of(tmp_path / "run")
    surprises = [decision.surprise for record in games for decision in record.decisions if decision.full]
    assert any(surprises) == (kind == "surprise")


def test_a_run_of_a_version_without_weights_goes_on(tmp_path, monkeypatch):
    """Its settings do not name them, and its shards have no such column."""

    def before(mapping: Any, words: str) -> str:
        mapping = {**mapping, "replay": dict(mapping["replay"])}
        for name in ("weights", "weighted", "power", "correction"):
            del mapping["replay"][name]
        return to_toml(mapping, words)

    monkeypatch.setattr(run_folder, "to_toml", before)
    train(tmp_path / "run", SAID, tiny("alphazero", "most_steps=4"))
    monkeypatch.undo()
    assert "weighted" not in (tmp_path / "run" / "run.toml").read_text()
    for path in (tmp_path / "run" / "replay").glob("*.npz"):
        with np.load(path) as file:
            assert "surprise" not in file.files
    assert train(tmp_path / "run", SAID, tiny("alphazero", "most_steps=8")).step == 8


def test_a_share_of_all_is_refused():
    """What is never drawn cannot be made up for."""
    with pytest.raises(UsageError, match=r"weighted must be at least 0 and at most 0\.9"):
        Settings(weighted=1.0)
