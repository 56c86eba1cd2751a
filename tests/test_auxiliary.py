"""What networks learn beside policies and values: told right by games, masked where unknown, in no model."""

from __future__ import annotations

import math
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.test_targets import record
from tests.test_training import SAID, TINY, all_of, tiny

import anabranch as ab
from anabranch.cli import GOOD, main
from anabranch.errors import DataError, GameError, UnknownNameError, UsageError
from anabranch.learn import checkpoint
from anabranch.learn.auxiliary import fate_loss, reply_loss
from anabranch.learn.fates import auxiliary_shapes, auxiliary_targets
from anabranch.learn.learner import new_learner
from anabranch.learn.presets import preset
from anabranch.learn.records import Decision, GameRecord, seats_of
from anabranch.learn.replay import Replay
from anabranch.learn.run_folder import RunFolder
from anabranch.learn.settings import Auxiliary, Targets, TrainConfig
from anabranch.learn.settings import Replay as ReplaySettings
from anabranch.learn.toml import to_toml
from anabranch.learn.train import train
from anabranch.nets.files import read
from anabranch.search.settings.mapping import from_mapping, from_pairs, to_mapping

XO = ab.games.load("tic_tac_toe")
OTHELLO = ab.games.load("othello", size=4, compiled=False)
NAN = float("nan")


def played(game: ab.Game, seed: int, moves: Any = None) -> GameRecord:
    """A game played at random, or by given moves, every decision of it recorded with a policy drawn at random."""
    random, state = np.random.default_rng(seed), game.start(seed)
    decisions: list[Decision] = []
    while not state.over and (moves is None or len(decisions) < len(moves)):
        seats = seats_of(state)
        chosen = moves[len(decisions)] if moves else [int(random.choice(state.legal(seat))) for seat in seats]
        policies = tuple({action: 1.0 / len(state.legal(seat)) for action in state.legal(seat)} for seat in seats)
        state, rewards = state.step(list(chosen))
        value = (0.0,) * game.players
        decisions.append(Decision(tuple(chosen), (), tuple(rewards.tolist()), value, policies, visits=1, full=True))
    return GameRecord(0, seed, (), tuple(decisions), finished=state.over)


def told(game: ab.Game, record: GameRecord, *names: str) -> dict[str, np.ndarray]:
    settings = Auxiliary(reply=1.0, fates=" ".join(f"{name}=1" for name in names) or "none")
    return auxiliary_targets(record, list(record.line(game)), auxiliary_shapes(settings, game))


# What games tell


def test_who_holds_what_of_a_finished_othello_board_from_both_seats():
    """Black has 8 discs, white 5, three cells are empty: nobody's."""
    rows, (black, white) = ("xxxo", "xxo.", "xoo.", "xx.o"), "xo"
    cells = [mark for row in rows for mark in row]
    discs = [sum(1 << cell for cell in range(16) if cells[cell] == mark) for mark in (black, white)]
    end = OTHELLO.start().replace(discs=discs, moves=0, mover=0, over=True)
    seen = [OTHELLO.fate([OTHELLO.start(), end], player) for player in range(2)]
    by_hand = np.array([[1, 1, 1, -1], [1, 1, -1, 0], [1, -1, -1, 0], [1, 1, 0, -1]])
    np.testing.assert_array_equal(seen[0]["ownership"], by_hand)
    np.testing.assert_array_equal(seen[1]["ownership"], -by_hand)
    assert (seen[0]["margin"], seen[1]["margin"]) == pytest.approx((3 / 16, -3 / 16))


def test_areas_of_go_count_stones_and_what_they_surround():
    """A point between black stones is black's; a region that both touch is nobody's; the lead is the referee's."""
    go = ab.games.load("go", size=4, komi=0.5, compiled=False)
    end = go.position(".x.o/xxxo/..xo/..xo\nover")
    assert go.fate([end], 0)["ownership"].tolist() == [[1, 1, 0, -1], [1, 1, 1, -1], [1, 1, 1, -1], [1, 1, 1, -1]]
    assert go.fate([end], 0)["margin"] == pytest.approx((11 - 4 - 0.5) / 16.5)
    assert go.fate([end], 1)["margin"] == pytest.approx(-(11 - 4 - 0.5) / 16.5)
    for seed in range(3):
        one = played(go, seed)
        assert np.sign(go.fate(list(one.line(go)), 0)["margin"]) == one.returns[0]


def test_who_takes_each_cheese_by_hand():
    """Both take the middle one, the rat its own, nobody the last; what was taken before is not told of."""
    maze = ab.games.load("pyrat", width=5, height=1, cheese=[(1, 0), (2, 0), (3, 0)], max_turns=3, compiled=False)
    right, left, stay = 1, 3, 4
    line = list(played(maze, 0, [(right, stay), (right, stay), (left, stay)]).line(maze))
    assert line[-1].over
    rat, python = (maze.fate(line, seat) for seat in range(2))
    np.testing.assert_array_equal(rat["cheese"], [[NAN, 1, 1, 0, NAN]])
    np.testing.assert_array_equal(python["cheese"], [[NAN, -1, -1, 0, NAN]])
    assert (rat["margin"], python["margin"]) == pytest.approx((2 / 3, -2 / 3))
    np.testing.assert_array_equal(maze.fate(line[1:], 0)["cheese"], [[NAN, NAN, 1, 0, NAN]])
    line = list(played(maze, 0, [(right, left), (right, left), (stay, stay)]).line(maze))
    np.testing.assert_array_equal(maze.fate(line, 0)["cheese"], [[NAN, 1, 0, -1, NAN]])


def test_who_is_stuck_in_mud_beside_a_cheese_does_not_take_it():
    """The rat is on the cheese's cell first, in mud; the python walks there and takes it."""
    mud = {((0, 0), (1, 0)): 3}
    maze = ab.games.load("pyrat", width=3, height=1, cheese=[(1, 0)], mud=mud, max_turns=9, compiled=False)
    line = list(played(maze, 0, [(1, 4), (4, 3)]).line(maze))
    assert line[-1].over
    np.testing.assert_array_equal(maze.fate(line, 0)["cheese"], [[NAN, -1, NAN]])


@pytest.mark.parametrize("name", ["othello", "go", "pyrat"])
def test_a_mirrored_game_has_the_mirrored_fate(name):
    """A symmetry of the game moves what becomes of things as the replay moves it, and tells it to the other seat."""
    options: dict[str, Any] = {"othello": {"size": 4}, "go": {"size": 3}, "pyrat": {"preset": "open5", "max_turns": 12}}
    game = ab.games.load(name, compiled=False, **options[name])
    assert game.observation is not None
    plane = math.prod(game.observation[1:])
    for seed, symmetry in enumerate(game.symmetries()):
        assert symmetry.actions is not None
        assert symmetry.cells is not None
        one = played(game, seed)
        moves = []
        for decision, state in zip(one.decisions, one.states(game), strict=True):
            seats = seats_of(state)
            images = {symmetry.player(seat): a for seat, a in zip(seats, decision.actions, strict=True)}
            moves.append([symmetry.actions[images[seat]] for seat in sorted(images)])
        other = played(game, seed, moves)
        lines = [list(each.line(game)) for each in (one, other)]
        for player in range(2):
            before, after = game.fate(lines[0], player), game.fate(lines[1], symmetry.player(player))
            for fate, shape in game.fates.items():
                moved = np.array(before[fate], float)
                if shape:
                    moved = np.empty(plane)
                    moved[[symmetry.cells[cell] % plane for cell in range(plane)]] = before[fate].reshape(-1)
                np.testing.assert_allclose(np.reshape(after[fate], -1), moved.reshape(-1), err_msg=f"{fate} {symmetry}")


# Targets of rows


def test_the_reply_is_the_next_decisions_policy_or_its_move():
    """Decision 1 was searched fast, so its move is what is known; after the last there is no reply."""
    rows = told(XO, record())["reply"]
    by_hand = np.zeros((4, 9), np.float32)
    by_hand[0, 3] = 1.0  # played after 0
    by_hand[1, 4] = 1.0  # of decision 3, after decision 2
    by_hand[2, 2] = 1.0
    by_hand[3] = NAN
    np.testing.assert_array_equal(rows, by_hand)
    decisions = list(record().decisions)
    decisions[3] = replace(decisions[3], policy=({4: 0.25, 5: 0.75},))
    rows = told(XO, replace(record(), decisions=tuple(decisions)))["reply"]
    assert rows[1].tolist() == [0, 0, 0, 0, 0.25, 0.75, 0, 0, 0]


def test_who_moves_twice_does_not_reply_to_itself():
    """In pig a player rolls on: the reply is what the other one does when its turn comes."""
    pig = ab.games.load("pig", compiled=False)
    roll, hold = 0, 1
    decisions = [
        Decision((action,), dice, (0.0, 0.0), (0.0, 0.0), ({action: 1.0},), visits=1, full=True)
        for action, dice in ((roll, (3,)), (roll, (4,)), (hold, ()), (hold, ()))
    ]
    state, movers = pig.start(), []
    for decision in decisions:
        movers.append(seats_of(state)[0])
        state, _ = state.step(decision.actions[0])
        for outcome in decision.dice:
            state, _ = state.step(outcome)
    assert movers == [0, 0, 0, 1]
    rows = told(pig, GameRecord(0, 0, (), tuple(decisions), finished=False))["reply"]
    assert rows[:3].tolist() == [[0.0, 1.0]] * 3
    assert np.isnan(rows[3]).all()


def test_who_choose_at_once_reply_at_the_next_decision():
    game = ab.games.load("pyrat", preset="open5", compiled=False)
    one = GameRecord(
        0,
        0,
        (),
        tuple(
            Decision(actions, (), (0.0, 0.0), (0.0, 0.0), ({actions[0]: 1.0}, {actions[1]: 1.0}), visits=1, full=True)
            for actions in ((0, 4), (1, 2))
        ),
        finished=False,
    )
    rows = told(game, one)["reply"]  # of the rat, the python, the rat, the python
    assert rows[:2].argmax(axis=1).tolist() == [2, 1]
    assert np.isnan(rows[2:]).all()


def test_games_that_were_cut_off_tell_no_fate():
    whole = played(OTHELLO, 1)
    cut = replace(whole, decisions=whole.decisions[:-2], finished=False)
    assert not np.isnan(told(OTHELLO, whole, "ownership", "margin")["ownership"]).any()
    found = told(OTHELLO, cut, "ownership", "margin")
    assert np.isnan(found["ownership"]).all()
    assert np.isnan(found["margin"]).all()
    assert not np.isnan(found["reply"][:-2]).any()


def test_samples_move_what_is_told_with_what_is_seen():
    """Quarter turns of go among them: ownership moves as stones do, replies as policies do."""
    game = ab.games.load("go", size=3, compiled=False)
    one = played(game, 3)
    shapes = auxiliary_shapes(Auxiliary(reply=1.0, fates="ownership=1"), game)
    replay = Replay(game, ReplaySettings(), Targets(), auxiliary=shapes)
    replay.add(one)
    names = ("observations", "auxiliary.ownership", "auxiliary.reply")
    images = set()
    for row in range(len(replay)):
        seen, ownership, reply = (replay._columns[name][row].astype(np.float32) for name in names)
        stones = np.zeros_like(seen)
        stones[0] = ownership
        for symmetry in (ab.Symmetry(), *game.symmetries()):
            parts = symmetry.observation(seen), symmetry.observation(stones)[0], symmetry.policy(reply)
            images.add(b"".join(np.ascontiguousarray(part).tobytes() for part in parts))
    sample = replay.sample(1000, 0, 0)
    found = {b"".join(sample[name][row].tobytes() for name in names) for row in range(1000)}
    assert found == images
    assert np.isnan(sample["auxiliary.reply"]).any()


def test_the_first_sample_is_the_same_with_and_without():
    """What is told beside changes neither which rows are drawn nor how they are turned."""
    one = played(OTHELLO, 3)
    samples = []
    for fates in ("none", "ownership=1 margin=1"):
        shapes = auxiliary_shapes(Auxiliary(fates=fates), OTHELLO)
        replay = Replay(OTHELLO, ReplaySettings(), Targets(), auxiliary=shapes)
        replay.add(one)
        samples.append(replay.sample(64, 1, 2))
    for name, column in samples[0].items():
        np.testing.assert_array_equal(column, samples[1][name])
    assert set(samples[1]) - set(samples[0]) == {"auxiliary.ownership", "auxiliary.margin"}


# Losses


def test_nothing_known_is_nothing_lost():
    for loss, shape in ((reply_loss, (5, 4)), (fate_loss, (5, 2, 2))):
        said = torch.randn(shape, requires_grad=True)
        crossed, entropy = loss(said, torch.full(shape, NAN))
        crossed.backward()
        assert crossed.item() == entropy.item() == 0.0
        assert said.grad is not None
        assert not said.grad.any()


def test_losses_by_hand_and_their_least():
    """It is ln 2 for who knows nothing of a thing that is mine; the entropy of the targets for who says them."""
    crossed, entropy = fate_loss(torch.zeros(2, 2), torch.tensor([[1.0, NAN], [-1.0, 1.0]]))
    assert crossed.item() == pytest.approx(math.log(2.0))
    assert entropy.item() == 0.0
    wanted = torch.tensor([[0.5, 0.0, -0.25]])
    crossed, entropy = fate_loss(torch.logit((1 + wanted) / 2), wanted)
    assert crossed.item() == pytest.approx(entropy.item(), rel=1e-6)
    crossed, entropy = reply_loss(torch.zeros(2, 4), torch.tensor([[1.0, 0, 0, 0], [NAN] * 4]))
    assert crossed.item() == pytest.approx(math.log(4.0))
    assert entropy.item() == 0.0
    wanted = torch.tensor([[0.5, 0.25, 0.25, 0.0]])
    crossed, entropy = reply_loss(wanted.clamp(min=1e-9).log(), wanted)
    assert crossed.item() == pytest.approx(entropy.item(), rel=1e-5)


def test_rows_that_count_twice_are_half_of_the_rows():
    """What is drawn by weight is corrected in all losses; what counts for nothing is as if it were not there."""
    draws = torch.Generator().manual_seed(0)
    said = torch.randn(4, 3, generator=draws)
    replies = torch.softmax(torch.randn(4, 3, generator=draws), 1)
    fates = torch.tensor([[1.0, NAN, 0.0], [0.5, -1.0, NAN], [NAN, 0.25, 1.0], [1.0, 1.0, 1.0]])
    for loss, wanted in ((reply_loss, replies), (fate_loss, fates)):
        assert loss(said, wanted, torch.ones(4)) == loss(said, wanted)
        torch.testing.assert_close(loss(said, wanted, torch.tensor([0.0, 2.0, 2.0, 0.0])), loss(said[1:3], wanted[1:3]))


# Learning


def settings(*more: str) -> TrainConfig:
    small = ["net.channels=8", "net.blocks=1", "net.hidden=8", "learner.batch=32", "learner.warm_up=5"]
    return from_pairs([*small, *more], base=preset(OTHELLO))


HEADS = ("auxiliary.reply=0.15", "auxiliary.fates=ownership=0.5 margin=0.25")


def samples(config: TrainConfig, count: int, games: int = 4) -> list[dict[str, np.ndarray]]:
    replay = Replay(OTHELLO, config.replay, config.targets, auxiliary=auxiliary_shapes(config.auxiliary, OTHELLO))
    for seed in range(games):
        replay.add(played(OTHELLO, seed))
    return [replay.sample(32, 0, step) for step in range(count)]


@pytest.mark.parametrize("architecture", ["tower", "mlp"])
@pytest.mark.parametrize("head", [*HEADS, "auxiliary.fates=margin=1"])
def test_every_head_teaches_the_trunk_and_nothing_else_of_the_network(head, architecture):
    """With no other loss, gradients reach the trunk, and no head for the policy or the value."""
    config = settings(head, f"net.architecture={architecture}", "net.width=16")
    learner = new_learner(OTHELLO, config)
    assert learner.heads is not None
    (rows,) = samples(config, 1)
    total, shown = learner.heads.losses(learner.net.hidden(torch.from_numpy(rows["observations"])), rows)
    total.backward()
    assert all(loss > 0.0 for loss in shown.values())
    for name, parameter in learner.net.named_parameters():
        own = name.startswith(("policy", "value"))
        assert (parameter.grad is None) == own, name
        assert parameter.grad is None or parameter.grad.any(), name
    assert all(parameter.grad is not None and parameter.grad.any() for parameter in learner.heads.parameters())


def test_what_is_learnt_beside_is_learnt():
    """One game, seen as it was: every position has one fate, and one reply that is drawn evenly among legal moves."""
    config = settings(*HEADS, "learner.rate=0.01", "replay.symmetries=false")
    learner = new_learner(OTHELLO, config)
    losses = [learner.learn(rows) for rows in samples(config, 60, games=1)]
    more = [loss.more for loss in losses if loss is not None]
    assert len(more) == 60
    for name in ("reply", "ownership", "margin"):
        first, last = (np.mean([each[name] for each in part]) for part in (more[:8], more[-8:]))
        assert 0.0 < last < 0.5 * first, name


def test_weights_begin_alike_and_without_heads_nothing_is_added():
    """A weight of 0 makes no head: the learner is the one there would be without the setting."""
    plain, none, some = (
        new_learner(OTHELLO, settings(*more)) for more in ((), ("auxiliary.fates=ownership=0",), HEADS)
    )
    assert plain.heads is none.heads is None
    assert set(plain.state()) == set(none.state())
    for name, tensor in plain.state().items():
        assert torch.equal(tensor, some.state()[name]), name
    for rows in samples(settings(), 3):
        plain.learn(rows)
        none.learn(rows)
    for name, tensor in plain.state().items():
        assert torch.equal(tensor, none.state()[name]), name


def test_a_head_with_no_way_back_leaves_the_network_as_it_is():
    """Weights so small that they add nothing to a gradient of float32 give the steps that are made without heads."""
    tiny_weights = ("auxiliary.reply=1e-30", "auxiliary.fates=ownership=1e-30")
    plain, some = (new_learner(OTHELLO, settings("learner.clip=1e9", *more)) for more in ((), tiny_weights))
    for rows in samples(settings(*tiny_weights), 3):
        plain.learn(rows)
        some.learn(rows)
    for name, tensor in plain.net.state_dict().items():
        assert torch.equal(tensor, some.net.state_dict()[name]), name


def test_a_checkpoint_with_heads_goes_on_as_if_never_stopped():
    config = settings(*HEADS)
    rows = samples(config, 12)
    one, other = new_learner(OTHELLO, config), new_learner(OTHELLO, config)
    for each in rows[:6]:
        one.learn(each)
    checkpoint.read(checkpoint.written(one), "state", other)
    for each in rows[6:]:
        one.learn(each)
        other.learn(each)
    for name, tensor in one.state().items():
        assert torch.equal(tensor, other.state()[name]), name
    with pytest.raises(DataError, match="another network"):
        checkpoint.read(checkpoint.written(one), "state", new_learner(OTHELLO, settings()))


def test_numbers_that_ruin_a_head_bring_back_the_last_good_weights():
    config = settings(*HEADS)
    learner = new_learner(OTHELLO, config)
    (rows,) = samples(config, 1)
    learner.mark_good()
    good = {name: tensor.clone() for name, tensor in learner.state().items()}
    rows["auxiliary.margin"][:] = np.inf
    assert learner.learn(rows) is None
    for name, tensor in learner.state().items():
        assert name == "restores" or torch.equal(tensor, good[name]), name


# Runs


def reply_run(folder: Path, *more: str) -> TrainConfig:
    config = tiny("most_steps=25", "rating.models=0", "auxiliary.reply=0.15", *more)
    train(folder, SAID, config)
    return config


def test_a_runs_models_are_plain_networks_and_its_figures_have_the_loss(tmp_path, capsys):
    """Models load as any others and give what the average gives; stats, report and status show the loss."""
    config = reply_run(tmp_path / "run")
    learner = new_learner(XO, config)
    with RunFolder.open(tmp_path / "run") as run:
        row = run.ledger.rows["models"][-1]
        net = read(row["file"], run.read(row["file"], row["sha256"]), XO)
        found = run.newest_state()
        assert found is not None
        checkpoint.read(found[2], "state", learner)
        assert run.ledger.rows["metrics"][-1]["losses"]["more"]["reply"] > 0.0
    assert set(net.state_dict()) == set(new_learner(XO, tiny()).net.state_dict())
    for name, tensor in learner.average.state_dict().items():
        assert torch.equal(tensor.float(), net.state_dict()[name].float()), name
    report = tmp_path / "report.html"
    assert main(["stats", str(tmp_path / "run"), "--report", str(report)]) == GOOD
    assert "reply loss" in capsys.readouterr().out
    assert ">reply<" in report.read_text()


def test_a_run_with_heads_goes_on_and_a_fork_may_be_without(tmp_path):
    with_heads = ("rating.models=0", "auxiliary.reply=0.15")
    train(tmp_path / "run", SAID, tiny("most_steps=8", *with_heads))
    _, weights = all_of(tmp_path / "run")
    assert any(name.startswith("heads.") for name in weights)
    assert any(name.startswith("exp_avg.heads.") for name in weights)
    train(tmp_path / "run", SAID, tiny("most_steps=10", *with_heads))
    _, later = all_of(tmp_path / "run")
    assert (later["step"], set(later)) == (10, set(weights))
    fork = ["fork", str(tmp_path / "run"), str(tmp_path / "fork"), "--set", "auxiliary.reply=0"]
    assert main(fork) == GOOD
    _, plain = all_of(tmp_path / "fork")
    assert not any("heads." in name for name in plain)


# Settings and what is refused


def test_nothing_is_learnt_beside_unless_it_is_asked_for():
    for name in ("connect_four", "othello", "pyrat", "tic_tac_toe", "yatzy"):
        assert preset(ab.games.load(name)).auxiliary.weights == {}
    config = from_pairs(HEADS, base=TrainConfig())
    assert config.auxiliary.weights == {"reply": 0.15, "ownership": 0.5, "margin": 0.25}
    assert from_pairs(["auxiliary.fates=ownership=0 margin=2"], base=config).auxiliary.weights == {
        "reply": 0.15,
        "margin": 2.0,
    }
    assert from_mapping(tomllib.loads(to_toml(to_mapping(config), "")), base=TrainConfig()) == config


@pytest.mark.parametrize("fates", ["ownership", "=1", "a=b", "a=-1", "a=nan", "a=inf", "a=1 a=2", "reply=1", "a=1,b=2"])
def test_words_that_are_no_weights_are_refused(fates):
    with pytest.raises(UsageError, match=r"auxiliary: fates must"):
        from_pairs([f"auxiliary.fates={fates}"], base=TrainConfig())


def test_what_a_game_does_not_tell_is_refused(tmp_path):
    with pytest.raises(UnknownNameError, match="Did you mean 'ownership'"):
        auxiliary_shapes(Auxiliary(fates="owner=1"), OTHELLO)
    with pytest.raises(UsageError, match="no verb fate"):
        train(tmp_path / "run", SAID, tiny("auxiliary.fates=ownership=1"))
    with pytest.raises(UsageError, match="nobody replies"):
        auxiliary_shapes(Auxiliary(reply=1.0), ab.games.load("yatzy"))
    with pytest.raises(UsageError, match="muzero has none"):
        from_pairs([*TINY, "auxiliary.reply=1"], base=preset(XO, "muzero"))


class Tells(ab.ObjectGame):
    """One decision, whose end is told by whatever it is made with."""

    players, actions, observation = 2, 2, (2,)

    def __init__(self, shape: Any, answer: Any) -> None:
        self.fates = {"thing": shape}
        self.answer = answer

    def setup(self, random):
        return 0

    def turn(self, state):
        return ab.player(0) if state == 0 else ab.OVER

    def legal(self, state, player):
        return [0, 1]

    def step(self, state, actions):
        return 1, [0.0, 0.0]

    def observe(self, state, player):
        return [state, player]

    def fate(self, states, player):
        assert [state.data for state in states] == [0, 1]
        return self.answer

    def symmetries(self):
        return [ab.Symmetry(actions=(1, 0))]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({}, "fate must return what self.fates names, thing too"),
        (None, "fate must return what self.fates names"),
        ({"thing": [1.0]}, r"of shape \(1,\), declared \(\)"),
        ({"thing": 1.5}, r"outside \[-1, 1\]"),
        ({"thing": -np.inf}, r"outside \[-1, 1\]"),
        ({"thing": "mine"}, "thing that is no array of numbers: 'mine'"),
        ({"thing": [[1.0], [1.0, 0.0]]}, "thing that is no array of numbers"),
    ],
)
def test_fates_that_are_not_as_declared_are_errors_of_the_game(answer, words):
    game = Tells((), answer)
    with pytest.raises(GameError, match=words):
        told(game, played(game, 0), "thing")


def test_shapes_that_no_symmetry_could_move_are_refused():
    game = Tells((3,), {})
    shapes = auxiliary_shapes(Auxiliary(fates="thing=1"), game)
    with pytest.raises(GameError, match="in a game with symmetries a fate is one number"):
        Replay(game, ReplaySettings(), Targets(), auxiliary=shapes)
    assert Replay(game, ReplaySettings(symmetries=False), Targets(), auxiliary=shapes).auxiliary == shapes
    with pytest.raises(GameError, match=r"self\.fates must say how large"):
        Tells([3], {})
