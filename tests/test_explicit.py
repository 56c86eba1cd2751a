"""Explicit games: tables become rules, and tables that do not hold together are refused with the node's name."""

from __future__ import annotations

import copy
import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.golden.vectors import Evaluations, case_ids, load_case

import anabranch as ab
from anabranch.errors import CycleError, GameError, UsageError
from anabranch.games.explicit import EIGHT_NODES, Explicit
from anabranch.games.random_game import RandomGame

OVER = {"kind": "over"}
INTERPRETED: Any = {"compiled": False}


def a_table() -> dict[str, Any]:
    """Player 1 chooses, then a die, then players 0 and 2 at once, 2 × 3 choices; a reward says where it was paid."""
    joint = [[[a, b], "z", [a + 1.0, 0.0, b + 1.0]] for b in range(3) for a in range(2)]  # not in the order of ids
    return {
        "players": 3,
        "root": "a",
        "nodes": {
            "z": OVER,
            "a": {
                "kind": "decision",
                "acting": [1],
                "choices": [2],
                "edges": [[[0], "dice", [0, 0.5, 0]], [[1], "z", [0, -1, 0]]],
            },
            "dice": {"kind": "chance", "outcomes": [[0.25, "both", [0, 0, 0]], [0.75, "z", [0, 0, 8]]]},
            "both": {"kind": "decision", "acting": [0, 2], "choices": [2, 3], "edges": joint},
        },
    }


def test_a_table_is_played_as_it_is_written():
    game = Explicit(a_table(), **INTERPRETED)
    start = game.start()
    assert (game.players, start.turn, start.legal(1), start.legal(0)) == (3, (1,), [0, 1], [])
    dice, rewards = start.step(0)
    assert (game.id_of(dice), rewards.tolist(), dice.turn) == ("dice", [0, 0.5, 0], ab.CHANCE)
    assert dice.outcomes() == [(0, 0.25), (1, 0.75)]
    both, _ = dice.step(0)
    assert (both.turn, both.legal(0), both.legal(1), both.legal(2)) == ((0, 2), [0, 1], [], [0, 1, 2])
    for a in range(2):
        for b in range(3):
            end, rewards = both.step((a, b))
            assert end.over
            assert rewards.tolist() == [a + 1.0, 0.0, b + 1.0]
    assert dice.step(1)[0] == game.node("z") == start.step(1)[0]
    assert game.rewards_along
    assert game.returns == (-1.0, 8.0)
    assert game.cycles is None


def test_the_same_table_compiled_and_interpreted():
    """Law: both run the same source, so every node answers alike."""
    compiled, interpreted = Explicit(a_table()), Explicit(a_table(), **INTERPRETED)
    assert compiled == interpreted
    for name in a_table()["nodes"]:
        here, there = compiled.node(name), interpreted.node(name)
        assert (here.turn, here.outcomes(), here.data) == (there.turn, there.outcomes(), there.data)
        for joint in a_table()["nodes"][name].get("edges", []):
            assert [x.tolist() if isinstance(x, np.ndarray) else x for x in here.step(joint[0])] == [
                x.tolist() if isinstance(x, np.ndarray) else x for x in there.step(joint[0])
            ]


def test_games_of_one_size_share_the_layout_of_their_instance():
    """A compilation is chosen by sizes; hundreds of random games must not need hundreds of compilations."""
    options: Any = {"simultaneous": 0.3, "chance": 0.3, **INTERPRETED}
    layouts = {
        (game.instance.dtype, game.players, game.actions, game.outcomes)
        for game in (RandomGame(seed, **options) for seed in range(40))
    }
    assert len(layouts) == 1


def test_equal_tables_are_equal_games():
    assert Explicit(a_table()) == Explicit(a_table())
    assert hash(Explicit(a_table())) == hash(Explicit(a_table()))
    other = a_table()
    other["nodes"]["dice"]["outcomes"][1][2] = [0, 0, 7]
    assert Explicit(other) != Explicit(a_table())


def test_a_table_is_drawn():
    game = Explicit(a_table(), **INTERPRETED)
    assert str(game.start()) == "a: player 1\n  0 → dice (0, +0.5, 0)\n  1 → z (0, -1, 0)"
    assert str(game.node("dice")) == "dice: chance\n  0.25 → both\n  0.75 → z (0, 0, +8)"
    assert str(game.node("both")).startswith("both: players 0, 2\n  0, 0 → z (+1, 0, +1)")
    assert str(game.node("z")) == "z: over"
    assert repr(game) == "explicit(4 nodes from 'a')"


def test_a_table_may_come_from_a_file(tmp_path):
    path = tmp_path / "game.json"
    path.write_text(json.dumps(EIGHT_NODES), encoding="utf-8")
    assert ab.games.load("explicit", table=str(path)) == Explicit()
    path.write_text("{", encoding="utf-8")
    with pytest.raises(GameError, match="no JSON"):
        Explicit(path)
    with pytest.raises(UsageError, match="there is no file"):
        Explicit(tmp_path / "nothing.json")


def replaced(*where: Any, by: Any) -> dict[str, Any]:
    """Return the table with one entry changed (or taken out: by=None)."""
    table = copy.deepcopy(a_table())
    inner: Any = table
    for step in where[:-1]:
        inner = inner[step]
    if by is None:
        del inner[where[-1]]
    else:
        inner[where[-1]] = by
    return table


LIES: list[tuple[tuple[Any, ...], Any, str | None]] = [
    (("players",), 0, "players must be an integer from 1"),
    (("players",), None, "has no 'players'"),
    (("colour",), "red", "unknown entry 'colour'"),
    (("root",), "aa", "root leads to 'aa', which is no node. Did you mean 'a'"),
    (("nodes",), {}, "at least one"),
    (("nodes", "z"), "over", "node 'z' must be a mapping"),
    (("nodes", "z", "kind"), "ower", "kind 'ower'"),
    (("nodes", "z", "edges"), [], "unknown entry 'edges'"),
    (
        ("nodes", "dice", "outcomes", 0, 1),
        "bothh",
        "node 'dice' leads to 'bothh', which is no node. Did you mean 'both'",
    ),
    (("nodes", "dice", "outcomes", 0, 1), ["z"], "which is no node"),
    (("nodes", "dice", "outcomes", 0, 0), 0.3, "the probabilities sum to 1.05"),
    (("nodes", "dice", "outcomes", 0, 0), 0.0, "probability 0.0"),
    (("nodes", "dice", "outcomes", 0, 0), "half", "must be a finite number"),
    (("nodes", "dice", "outcomes", 0, 2), [0, 0], "rewards need 3 entries"),
    (("nodes", "dice", "outcomes", 0, 2), [0, 0, float("nan")], "must be a finite number"),
    (("nodes", "dice", "outcomes", 0), [1.0, "z"], "an entry of outcomes is"),
    (("nodes", "dice", "outcomes"), [], "at least one entry"),
    (("nodes", "a", "acting"), [3], "a seat must be an integer from 0 to 2"),
    (("nodes", "a", "acting"), [], "at least one entry"),
    (("nodes", "both", "acting"), [2, 0], "ascending"),
    (("nodes", "a", "choices"), [2, 2], "choices has 2 entries"),
    (("nodes", "a", "choices"), [3], r"the joint choice \[2\] has no edge; there must be 3 edges"),
    (("nodes", "both", "edges", 5), None, r"the joint choice \[1, 2\] has no edge"),
    (("nodes", "both", "edges", 5, 0), [0, 0], r"\[0, 0\] has two edges"),
    (("nodes", "both", "edges", 5, 0), [0], "needs 2 entries"),
    (("nodes", "both", "edges", 5, 0), [2, 0], "integer from 0 to 1"),
    (("nodes", "a", "U"), [0.0], "U needs 3 entries"),
    (("nodes", "both", "priors"), [[1.0]], None),  # priors without U are no evaluation
    (("returns",), [-1.0, 7.0], "its paths pay from -1.0 to 8.0"),
    (("returns",), [-1.0], r"must be \[low, high\]"),
    (("nodes", "both", "edges", 0, 1), "a", "cycle, a → dice → both → a"),
]


@pytest.mark.parametrize(
    ("where", "by", "message"), LIES, ids=[f"{'.'.join(map(str, lie[0]))}={lie[1]}" for lie in LIES]
)
def test_a_table_that_does_not_hold_together_is_refused(where, by, message):
    if message is None:
        assert Explicit(replaced(*where, by=by)).evaluations == {}
        return
    with pytest.raises(GameError, match=message):
        Explicit(replaced(*where, by=by))


def test_cycles_must_be_declared_with_a_range():
    table = replaced("nodes", "both", "edges", 0, 1, by="a")
    with pytest.raises(CycleError):
        Explicit(table)
    with pytest.raises(GameError, match="must declare its returns"):
        Explicit(table, cycles="bootstrap")
    assert Explicit(table | {"returns": [-5, 20]}, cycles="bootstrap").cycles == "bootstrap"
    assert Explicit(a_table(), cycles="bootstrap").cycles is None


def test_the_range_of_returns_is_discounted():
    """γ = ½ on the edge to the dice and 1 on theirs: the most that comes after them, 8 or 3, counts half."""
    assert Explicit(a_table(), discount=0.5).returns == (-1.0, 4.0)
    assert Explicit(replaced("nodes", "dice", "outcomes", 1, 2, by=[0, 0, 0]), discount=0.5).returns == (-1.0, 1.5)


def test_only_states_of_the_game_have_a_name():
    game = Explicit()
    with pytest.raises(UsageError, match="has no node 'Q'"):
        game.node("Q")
    with pytest.raises(UsageError, match="not of"):
        game.id_of(Explicit(a_table()).start())


@pytest.mark.parametrize("number", case_ids())
def test_vectors_load(number):
    """Every case is a game without cycles, evaluates every decision, and expects what its options ask for."""
    case = load_case(number)
    assert case.game.cycles is None
    assert case.game.discount == case.options["gamma"]
    decisions = {name for name, node in case.game.table["nodes"].items() if node["kind"] == "decision"}
    assert set(case.game.evaluations) == decisions
    root = case.game.start()
    assert sum(case.expected["root_visits"][0]) == case.options["simulations"]
    assert case.expected["node_visits"][case.game.id_of(root)] == case.options["simulations"] + 1


def test_evaluations_of_a_batch():
    """Priors come back from logits; the shape says whether players choose at once anywhere in the batch."""
    case = load_case(case_ids()[0])
    game = case.game
    single = [game.node(name) for name in game.evaluations if len(game.table["nodes"][name]["acting"]) == 1]
    logits, values = case.evaluator.evaluate(SimpleNamespace(states=single))
    assert logits.shape == (len(single), game.actions)
    for row, state in enumerate(single):
        node = game.table["nodes"][game.id_of(state)]
        prior = np.exp(logits[row, : len(node["priors"][0])])
        assert prior / prior.sum() == pytest.approx(node["priors"][0], abs=1e-15)
        assert values[row].tolist() == node["U"]
    table = a_table()
    table["nodes"]["both"] |= {"U": [1, 2, 3], "priors": [[0.25, 0.75], [0.5, 0.25, 0.25]]}
    table["nodes"]["a"]["U"] = [0, 0, 0]
    joint = Explicit(table, **INTERPRETED)
    logits, values = Evaluations(joint).evaluate(SimpleNamespace(states=[joint.node("a"), joint.node("both")]))
    assert logits.shape == (2, 3, joint.actions)
    assert np.exp(logits[1, 2, :3]).tolist() == pytest.approx([0.5, 0.25, 0.25])
    assert np.exp(logits[0, 1, :2]).tolist() == [0.5, 0.5]
    assert values.tolist() == [[0, 0, 0], [1, 2, 3]]
