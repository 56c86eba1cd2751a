"""What a search gives back: arrays by player and action, as text, as JSON, for every kind of root."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import anabranch as ab


def result_of(name: str, *, simulations: int = 60, moves: tuple[int, ...] = (), **options):
    """Search a built-in game after some moves."""
    state = ab.games.load(name, compiled=False, **options).start()
    for move in moves:
        state, _ = state.step(move)
    return ab.Reference(state, ab.Hashing()).run(simulations=simulations)


@pytest.fixture(scope="module")
def alone():
    return result_of("tic_tac_toe", moves=(4, 0, 2))  # x in the middle and on c3, o on a3 to move


@pytest.fixture(scope="module")
def joint():
    return result_of("matrix", payoffs="rock_paper_scissors")


@pytest.fixture(scope="module")
def dice():
    return result_of("pig", moves=(0,))  # the first player rolls


@pytest.fixture(scope="module")
def over():
    return result_of("take_away", stones=2, moves=(1,))


# One acting player


def test_rows_are_players_and_columns_action_ids(alone):
    game = alone.state.game
    for array in (alone.policy, alone.visits, alone.q, alone.prior):
        assert array.shape == (game.players, game.actions)
    legal = alone.state.legal()
    others = [action for action in range(9) if action not in legal]
    assert alone.visits[1].sum() == alone.simulations == 60
    assert alone.policy[1].sum() == pytest.approx(1.0)
    assert alone.prior[1].sum() == pytest.approx(1.0, abs=1e-6)
    assert alone.policy[1] == pytest.approx(alone.visits[1] / 60)
    for array in (alone.policy, alone.visits, alone.prior):
        assert not array[0].any()  # x does not act
        assert not array[1, others].any()
    assert np.isnan(alone.q[0]).all()
    assert (np.isnan(alone.q[1]) == (alone.visits[1] == 0)).all()


def test_the_value_is_the_mean_of_what_was_tried(alone):
    """Q = (U + Σ N·q)/(1 + ΣN), read off the result's own columns."""
    tried = alone.visits[1] > 0
    total = float((alone.visits[1, tried] * alone.q[1, tried]).sum())
    [evaluation] = [node.evaluation.values[1] for node in alone.graph.nodes[:1]]
    assert alone.value[1] == pytest.approx((evaluation + total) / 61)


def test_the_action_is_the_most_likely_one_and_begins_the_line(alone):
    assert alone.action == int(np.argmax(alone.visits[1])) == alone.line[0]


@pytest.mark.parametrize("proofs", ["on", "off"])
@pytest.mark.parametrize("selector", [ab.Puct(), ab.Gumbel(), ab.Ucb1()])
@pytest.mark.parametrize("name", ["tic_tac_toe", "pig", "goofspiel"])
def test_whatever_decides_the_action_it_begins_the_line(name, selector, proofs):
    """What is proven and a run of Gumbel's may choose another than the most visited one."""
    state = ab.games.load(name).start()
    config = ab.SearchConfig(selector=selector, proofs=proofs, simultaneous=ab.RegretMatching())
    for seed in range(8):
        while isinstance(state.turn, int) and not state.over:
            state = state.step(state.outcomes()[0][0])[0]
        if state.over:
            break
        config = replace(config, seed=seed)
        result = ab.search(state, simulations=40 + 90 * seed, evaluator=ab.Hashing(), config=config)
        assert result.line[0] == result.action
        state = state.step(result.action)[0]


def test_the_line_can_be_played(alone, joint, dice):
    for result in (alone, joint, dice):
        state = result.state
        for move in result.line:
            state, _ = state.step(move)


def test_the_text_names_actions_as_people_do(alone):
    lines = str(alone).splitlines()
    assert lines[0] == f"tic_tac_toe: o to move; 60 simulations, {alone.nodes} nodes"
    assert lines[1] == f"value: x {alone.value[0]:+.3f}, o {alone.value[1]:+.3f}"
    rows = [line.split() for line in lines[4:]]
    game = alone.state.game
    assert {row[0] for row in rows} == {game.action_name(action) for action in alone.state.legal()}
    assert [int(row[2]) for row in rows] == sorted(alone.visits[1, alone.state.legal()].tolist(), reverse=True)
    assert rows[0][6:] == [game.action_name(action) for action in alone.line]


def test_json_holds_what_the_arrays_hold(alone):
    facts = json.loads(alone.to_json())
    assert facts["game"] == "tic_tac_toe"
    assert facts["action"] == alone.action
    assert facts["value"] == alone.value.tolist()
    assert facts["line"] == alone.line
    assert facts["nodes"] == alone.nodes
    assert facts["outcomes"] == []
    assert list(facts["players"]) == ["1"]
    rows = facts["players"]["1"]
    assert [row["action"] for row in rows] == alone.state.legal()
    for row in rows:
        assert row["visits"] == alone.visits[1, row["action"]]
        assert row["policy"] == alone.policy[1, row["action"]]
        assert row["name"] == alone.state.game.action_name(row["action"])


def test_a_choice_never_tried_is_null_and_a_dash():
    result = result_of("tic_tac_toe", simulations=2)
    rows = json.loads(result.to_json())["players"]["0"]
    assert sum(row["q"] is None for row in rows) >= 7
    assert sum(line.split()[-2:] == ["–", "–"] for line in str(result).splitlines()) >= 7


def test_before_any_simulation_the_policy_is_the_prior():
    result = result_of("tic_tac_toe", simulations=0)
    assert result.policy.tolist() == result.prior.tolist()
    assert result.line == []
    assert result.nodes == 1


def test_ids_that_do_the_same_are_reported_on_one_of_them():
    """In the bottom left corner, down and left run into the wall and are one choice with staying."""
    result = result_of("pyrat", preset="open5")
    up, right, down, left, stay = range(5)
    assert result.state.choices(0) == {up: [up], right: [right], stay: [down, left, stay]}
    assert result.visits[0, [down, left]].tolist() == [0, 0]
    assert result.visits[0, [up, right, stay]].sum() == 60
    assert result.prior[0].sum() == pytest.approx(1.0, abs=1e-6)


# Players who choose at once


def test_a_joint_root_has_an_action_for_each_player(joint):
    assert isinstance(joint.action, tuple)
    assert len(joint.action) == 2
    assert joint.visits.sum(axis=1).tolist() == [60, 60]
    assert joint.policy.sum(axis=1) == pytest.approx([1.0, 1.0])
    facts = json.loads(joint.to_json())
    assert list(facts["players"]) == ["0", "1"]
    assert tuple(facts["action"]) == joint.action
    text = str(joint)
    assert text.count("rock") >= 2
    assert "player 0" in text
    assert "player 1" in text
    assert text.splitlines()[-1].startswith("line: (")


# Dice


def test_a_chance_root_has_outcomes_and_no_policy(dice):
    assert dice.action is None
    assert not dice.policy.any()
    assert [outcome for outcome, *_ in dice.outcomes] == list(range(6))
    assert [p for _, p, *_ in dice.outcomes] == pytest.approx([1 / 6] * 6)
    assert sum(visits for _, _, visits, _ in dice.outcomes) == 60
    assert all(abs(visits - 10) <= 2 for _, _, visits, _ in dice.outcomes)  # spread evenly
    mean = sum(visits * value for _, _, visits, value in dice.outcomes) / 60
    assert dice.value == pytest.approx(mean)


def test_a_chance_root_names_its_outcomes(dice):
    """Outcome 0 of Pig is the face 1."""
    lines = str(dice).splitlines()
    assert lines[3] == "drawn: 6 of 6 outcomes so far, each weighs as its visits"
    assert lines[4].startswith("outcome")
    assert [line.split()[0] for line in lines[5:11]] == ["1", "2", "3", "4", "5", "6"]
    assert lines[-3].startswith("line: [")
    assert lines[-1].startswith("dice: ")
    facts = json.loads(dice.to_json())
    assert facts["players"] == {}
    assert facts["action"] is None
    assert [row["outcome"] for row in facts["outcomes"]] == list(range(6))
    assert sum(row["visits"] for row in facts["outcomes"]) == 60


# Nothing left to do


def test_an_over_root_is_worth_nothing_more(over):
    assert over.state.over
    assert over.value.tolist() == [0.0, 0.0]
    assert over.action is None
    assert over.line == []
    assert over.simulations == 0
    assert over.nodes == 1
    assert not over.policy.any()
    assert json.loads(over.to_json())["players"] == {}
    assert "0 simulations" in str(over)


def test_speed_is_simulations_by_time(alone):
    assert alone.simulations_per_second == pytest.approx(60 / alone.seconds)


FORCED = ab.SearchConfig(forced=ab.ForcedPlayouts(k=4.0), noise=ab.RootNoise(), seed=3)


def forced_results(config=FORCED, game="connect_four", explores=True):
    """One position as the reference and as the engine search it."""
    state = ab.games.load(game).start()
    reference = ab.Reference(state, ab.Hashing(), config)
    searcher = ab.Searcher(state.game, ab.Hashing(), config)
    root = searcher.root(state, stream=0)
    reference.explores = root.explores = explores
    return [reference.run(simulations=300), *searcher.run(root, simulations=300)]


def test_a_target_has_no_visits_that_were_only_forced():
    """The most visited choice keeps all its visits, so its share grows by what the others lose; the sum stays 1."""
    for result in forced_results():
        target, best = result.target, result.action
        assert (target != result.policy).any()
        assert target[0].sum() == pytest.approx(1.0, abs=1e-12)
        assert not target[1].any()
        assert np.argmax(target[0]) == best
        kept = target[0] * result.visits[0, best] / target[0, best]  # in visits, the best choice's being all there
        assert np.allclose(kept, np.round(kept), atol=1e-9)
        assert (kept <= result.visits[0] + 1e-9).all()
        assert kept.sum() < result.visits[0].sum()
    reference, engine = forced_results()
    assert (reference.target == engine.target).all()


@pytest.mark.parametrize(
    ("config", "game", "explores"),
    [
        (ab.SearchConfig(noise=ab.RootNoise()), "connect_four", True),
        (FORCED, "connect_four", False),  # a fast search of a playout cap
        (ab.SearchConfig(forced=ab.ForcedPlayouts(), selector=ab.Ucb1()), "connect_four", True),
        (FORCED, "pig", True),  # after the first choice, to roll
    ],
    ids=["not forced", "fast", "no priors", "dice"],
)
def test_a_target_is_the_policy_where_nothing_was_forced(config, game, explores):
    for result in forced_results(config, game, explores):
        if game == "pig":
            state = result.state.step(0)[0]
            result = ab.search(state, simulations=50, evaluator=ab.Hashing(), config=config)
            assert not result.policy.any()
        assert (result.target == result.policy).all()
        assert result.target is not result.policy


def test_a_target_where_several_choose_is_pruned_for_each(joint):
    assert (joint.target == joint.policy).all()
    state = ab.games.load("goofspiel", cards=5).start()
    result = ab.search(state, simulations=400, evaluator=ab.Hashing(), config=FORCED)
    assert result.target.sum(axis=1) == pytest.approx([1.0, 1.0], abs=1e-12)
    assert (result.target != result.policy).any(axis=1).all()
    averaging = ab.SearchConfig(forced=ab.ForcedPlayouts(), simultaneous=ab.RegretMatching())
    result = ab.search(state, simulations=50, evaluator=ab.Hashing(), config=averaging)
    assert (result.target == result.policy).all()
