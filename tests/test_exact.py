"""Exact solutions, against theorems, published numbers and a second telling of the recursion."""

from __future__ import annotations

import itertools
import sys
from typing import Any

import numpy as np
import pytest

import anabranch as ab
from anabranch.errors import CycleError, MissingExtraError, UsageError
from anabranch.games.explicit import Explicit
from anabranch.games.matrix import Matrix
from anabranch.games.pig import Pig
from anabranch.games.random_game import RandomGame
from anabranch.games.take_away import TakeAway
from anabranch.games.tic_tac_toe import TicTacToe
from anabranch.search.maths.matrix_game import equilibrium

INTERPRETED: Any = {"compiled": False}
OVER = {"kind": "over"}


def random_game(seed: int, **options: Any) -> RandomGame:
    return RandomGame(seed, **options, **INTERPRETED)


def by_recursion(state: ab.State) -> list[float]:
    """The recursion of docs/model.md section 1 again, along every path, merging nothing; matrix games by simplex."""
    players, discount = state.game.players, state.game.discount
    if state.over:
        return [0.0] * players
    if state.turn == ab.CHANCE:
        total = [0.0] * players
        for outcome, chance in state.outcomes():
            child, rewards = state.step(outcome)
            for player, value in enumerate(by_recursion(child)):
                total[player] += chance * (rewards[player] + value)
        return total
    assert isinstance(state.turn, tuple)
    table = {}
    for joint in itertools.product(*(state.legal(player) for player in state.turn)):
        child, rewards = state.step(joint)
        table[joint] = [rewards[p] + discount * value for p, value in enumerate(by_recursion(child))]
    if len(state.turn) == 1:
        mover = state.turn[0]
        return max(table.values(), key=lambda vector: vector[mover])  # the first of equals
    rows, columns = (state.legal(player) for player in state.turn)
    x, y, _ = equilibrium([[table[a, b][0] for b in columns] for a in rows])
    mean = [0.0] * players
    for (a, b), vector in table.items():
        for player in range(players):
            mean[player] += x[rows.index(a)] * y[columns.index(b)] * vector[player]
    return mean


@pytest.mark.parametrize(
    "options",
    [
        {"players": 1},
        {"zero_sum": True},
        {"players": 2, "discount": 0.9},
        {"players": 3},
        {"zero_sum": True, "simultaneous": 0.4},
        {"zero_sum": True, "simultaneous": 0.4, "discount": 0.9, "chance": 0.4},
        {"merge": False},
    ],
    ids=str,
)
def test_solver_equals_recursion(options):
    for seed in range(15):
        game = random_game(seed, layers=4, width=4, **options)
        assert ab.solve(game).value == pytest.approx(by_recursion(game.start()), abs=1e-9)


@pytest.mark.parametrize("most", [1, 3, 4])
def test_take_away(most):
    """Theorem: the player to move loses exactly when most + 1 divides the stones left, and wins by leaving that."""
    game = TakeAway(29, most, **INTERPRETED)
    solution = ab.solve(game)
    state = game.start()
    while not state.over:
        mover = state.mover
        left = state.stones % (most + 1)
        assert solution.value_of(state)[mover] == (-1.0 if left == 0 else 1.0)
        if left:
            assert solution.best_of(state) == {mover: [left - 1]}
            assert solution.policy_of(state)[mover].tolist() == [float(a == left - 1) for a in range(most)]
        state = state.step(0)[0]


def test_tic_tac_toe_is_a_draw_in_5478_positions():
    solution = ab.solve(TicTacToe())
    assert solution.states == 5478
    assert solution.value.tolist() == [0.0, 0.0]
    corner = TicTacToe().start().step(0)[0]
    assert solution.best_of(corner) == {1: [4]}  # only the centre holds the draw against a corner


@pytest.mark.parametrize(
    ("payoffs", "row", "column", "value"),
    [
        ("matching_pennies", [1 / 2, 1 / 2], [1 / 2, 1 / 2], 0),
        ("rock_paper_scissors", [1 / 3] * 3, [1 / 3] * 3, 0),
        ("biased", [2 / 5, 3 / 5], [2 / 5, 3 / 5], 1 / 5),
        ([[[3, 7], [9, 1]], [[8, 2], [4, 6]]], [2 / 5, 3 / 5], [1 / 2, 1 / 2], 6),  # constant sum 10
    ],
)
def test_matrix_games(payoffs, row, column, value):
    game = Matrix(payoffs, **INTERPRETED)
    solution = ab.solve(game)
    policy = solution.policy_of(game.start())
    assert policy[0] == pytest.approx(np.array(row))
    assert policy[1] == pytest.approx(np.array(column))
    assert solution.value[0] == pytest.approx(value)
    for seat, worth in solution.action_values_of(game.start()).items():  # where both mix fully, nothing is better
        assert worth == pytest.approx(np.full(len(worth), solution.value[seat]))


def test_repeated_matrix_games_add_up_discounted():
    """Three rounds of a game worth 1/5 are worth 1/5·(1 + γ + γ²); here γ = 1."""
    assert ab.solve(Matrix("biased", rounds=3, **INTERPRETED)).value == pytest.approx(np.array([0.6, -0.6]))


def test_opposed_interests_are_needed_where_players_choose_at_once():
    with pytest.raises(UsageError, match="add up to a constant"):
        ab.solve(Matrix("prisoners_dilemma", **INTERPRETED))
    with pytest.raises(UsageError, match="players 0 and 1 and 2 choose at once"):
        ab.solve(Matrix(np.zeros((2, 2, 2, 3)), **INTERPRETED))


def test_a_player_without_a_choice_does_not_count_as_choosing():
    """Three act at once, two of them with one choice each: simply a decision of the third, whoever gains."""
    table = np.zeros((1, 3, 1, 3))
    table[0, :, 0] = [[1, 0, 1], [0, 2, 5], [4, 2, 0]]
    game = Matrix(table, **INTERPRETED)
    solution = ab.solve(game)
    assert solution.value.tolist() == [0, 2, 5]  # of two equally good choices the first
    assert solution.policy_of(game.start())[1].tolist() == [0, 1, 0]
    assert solution.best_of(game.start()) == {0: [0], 1: [1, 2], 2: [0]}
    assert solution.gap() == 0.0


def test_piglet_as_published():
    """Neller and Presser 2004: a coin, two heads to win. Chances of the player to move by (mine, theirs, pot)."""
    game = Pig(target=4, sides=2, **INTERPRETED)  # every head counts two
    solution = ab.solve(game)
    published = {
        (0, 0, 0): 4 / 7,
        (0, 0, 1): 5 / 7,
        (0, 1, 0): 2 / 5,
        (0, 1, 1): 3 / 5,
        (1, 0, 0): 4 / 5,
        (1, 1, 0): 2 / 3,
    }
    for (mine, theirs, pot), chance in published.items():
        data = game.replace(game.start().data, scores=[2 * mine, 2 * theirs], pot=2 * pot)
        assert solution.value_of(ab.State(game, data)) == pytest.approx(np.array([2 * chance - 1, 1 - 2 * chance]))


def test_pig_equals_value_iteration_told_otherwise():
    """Chances to win, iterated over whole turns; the solver knows only rolls, holds and rewards."""
    target = 7
    win = {(i, j, k): 0.0 for i in range(target) for j in range(target) for k in range(target - i)}

    def chance(i: int, j: int, k: int) -> float:
        return 1.0 if i + k >= target else win[i, j, k]

    change = 1.0
    while change > 1e-13:
        change = 0.0
        for i, j, k in win:
            roll = ((1.0 - chance(j, i, 0)) + sum(chance(i, j, k + face) for face in range(2, 7))) / 6.0
            better = max(roll, 1.0 - chance(j, i + k, 0))
            change, win[i, j, k] = max(change, abs(better - win[i, j, k])), better
    game = Pig(target=target, **INTERPRETED)
    solution = ab.solve(game)
    assert solution.value[0] == pytest.approx(2.0 * win[0, 0, 0] - 1.0, abs=1e-10)
    for (i, j, k), p in win.items():
        state = ab.State(game, game.replace(game.start().data, scores=[i, j], pot=k))
        if state in solution:
            assert solution.value_of(state)[0] == pytest.approx(2.0 * p - 1.0, abs=1e-10)


def cyclic(nodes: dict[str, Any], **options: Any) -> Explicit:
    table = {"players": 1, "root": "a", "returns": [-100, 100], "nodes": {**nodes, "z": OVER}}
    return Explicit(table, **options, **INTERPRETED)


def test_loops_that_end_by_chance_have_their_geometric_value():
    """V = 1 + ¾·V is 4: a coin tossed until it falls, each toss worth 1."""
    coin = {"a": {"kind": "chance", "outcomes": [[0.75, "a", [1]], [0.25, "z", [1]]]}}
    assert ab.solve(cyclic(coin, cycles="bootstrap")).value == pytest.approx([4.0], abs=1e-10)


def test_loops_of_decisions_have_their_discounted_value():
    """V = 1 + γ·V is 10 for γ = 0.9; leaving at once pays 9."""
    stay = {"kind": "decision", "acting": [0], "choices": [2], "edges": [[[0], "a", [1]], [[1], "z", [9]]]}
    game = cyclic({"a": stay}, cycles="bootstrap", discount=0.9)
    solution = ab.solve(game)
    assert solution.value == pytest.approx([10.0], abs=1e-9)
    assert solution.best_of(game.start()) == {0: [0]}


class Roundabout(ab.ObjectGame):
    """Walk on a ring of four; nobody says that it is one."""

    def __init__(self, cycles: float | None = None) -> None:
        self.players, self.actions, self.cycles = 1, 2, cycles

    def setup(self, random: ab.Random) -> int:
        return 10

    def turn(self, state: int) -> int:
        return ab.OVER if state == 99 else ab.player(0)

    def legal(self, state: int, player: int) -> list[int]:
        return [0, 1] if state == 2 else [0]

    def step(self, state: int, actions: Any) -> tuple[int, list[float]]:
        return (99 if actions[0] else (state + 1) % 4), [0.0]

    def action_name(self, action: int) -> str:
        return ("on", "off")[action]


def test_an_undeclared_cycle_is_printed():
    with pytest.raises(CycleError) as raised:
        ab.solve(Roundabout())
    lines = str(raised.value).splitlines()
    assert "after 4 steps" in lines[0]
    walk = [part for position in (3, 0, 1, 2) for part in (str(position), "player 0: on")]
    assert [line.strip() for line in lines[1:-1]] == [*walk, "3"]
    with pytest.raises(CycleError, match="depends on the path"):
        ab.solve(Roundabout(cycles=0.0))


class Chain(ab.ObjectGame):
    """A line of states; the last step pays."""

    def __init__(self, length: int) -> None:
        self.players, self.actions, self.length = 1, 1, length

    def setup(self, random: ab.Random) -> int:
        return self.length

    def turn(self, state: int) -> int:
        return ab.player(0) if state else ab.OVER

    def legal(self, state: int, player: int) -> list[int]:
        return [0]

    def step(self, state: int, actions: Any) -> tuple[int, list[float]]:
        return state - 1, [float(state == 1)]


def test_games_a_hundred_thousand_steps_deep():
    solution = ab.solve(Chain(100_000))
    assert (solution.states, solution.value.tolist()) == (100_001, [1.0])


def test_too_many_states_are_refused():
    with pytest.raises(UsageError, match="more than 50 states"):
        ab.solve(Chain(50), max_states=50)
    assert ab.solve(Chain(49), max_states=50).states == 50


def test_unfolding_a_graph_into_a_tree_changes_no_value():
    """Theorem: a state's value depends on what follows, not on how it was reached."""
    for seed in range(20):
        game = random_game(seed, layers=4, width=3, simultaneous=0.2, zero_sum=True)
        tree = Explicit(unfolded(game.table), **INTERPRETED)
        graph_solution, tree_solution = ab.solve(game), ab.solve(tree)
        assert tree_solution.states >= graph_solution.states
        assert tree_solution.value == pytest.approx(graph_solution.value, abs=1e-12)


def unfolded(table: Any) -> dict[str, Any]:
    """Return the tree of all paths of a table."""
    nodes: dict[str, Any] = {}
    waiting = [(table["root"], table["root"])]
    while waiting:
        name, path = waiting.pop()
        nodes[path] = dict(table["nodes"][name])
        for edges in ("edges", "outcomes"):
            if edges in nodes[path]:
                copies = [(what, f"{path}/{i}", rewards) for i, (what, _, rewards) in enumerate(nodes[path][edges])]
                waiting += [(child, copy[1]) for (_, child, _), copy in zip(nodes[path][edges], copies, strict=True)]
                nodes[path][edges] = copies
    return {"players": table["players"], "root": table["root"], "nodes": nodes}


@pytest.mark.parametrize(
    "options", [{"tie_free": True, "players": 3}, {"zero_sum": True, "simultaneous": 0.5}], ids=str
)
def test_renaming_choices_renames_best_play(options):
    """Law: choice a called count − 1 − a has the same value and the same place in best play."""
    for seed in range(20):
        game = random_game(seed, **options)
        nodes = {}
        for name, node in game.table["nodes"].items():
            nodes[name] = dict(node)
            if node["kind"] == "decision":
                nodes[name]["edges"] = [
                    [[count - 1 - choice for choice, count in zip(joint, node["choices"], strict=True)], child, rewards]
                    for joint, child, rewards in node["edges"]
                ]
        renamed = Explicit(dict(game.table) | {"nodes": nodes}, **INTERPRETED)
        before, after = ab.solve(game), ab.solve(renamed)
        for name, node in game.table["nodes"].items():
            here, there = game.node(name), renamed.node(name)
            assert after.value_of(there) == pytest.approx(before.value_of(here), abs=1e-9)
            if len(node.get("acting", [])) == 1 and options.get("tie_free"):
                (seat,), (count,) = node["acting"], node["choices"]
                mirrored = after.policy_of(there)[seat][:count][::-1]
                assert mirrored.tolist() == before.policy_of(here)[seat][:count].tolist()


def test_choices_that_do_the_same_are_solved_once():
    """Two ids for one choice: the representative carries the mass, both are best."""

    class Twins(ab.ObjectGame):
        def __init__(self) -> None:
            self.players, self.actions = 1, 3

        def setup(self, random: ab.Random) -> int:
            return 0

        def turn(self, state: int) -> int:
            return ab.OVER if state else ab.player(0)

        def legal(self, state: int, player: int) -> list[int]:
            return [0, 1, 2]

        def step(self, state: int, actions: Any) -> tuple[int, list[float]]:
            return 1, [float(actions[0] > 0)]

        def same(self, state: int, player: int, action: int) -> int:
            return min(action, 1)

    game = Twins()
    solution = ab.solve(game.start())
    assert solution.policy_of(game.start())[0].tolist() == [0, 1, 0]
    assert solution.best_of(game.start()) == {0: [1, 2]}
    np.testing.assert_array_equal(solution.action_values_of(game.start())[0], [0, 1, np.nan])
    assert solution.gap() == 1.0


def test_only_what_can_follow_is_solved():
    game = TakeAway(9, **INTERPRETED)
    start = game.start()
    solution = ab.solve(start.step(0)[0])
    with pytest.raises(UsageError, match="cannot follow"):
        solution.value_of(start)
    with pytest.raises(UsageError, match="the state belongs to"):
        solution.value_of(TakeAway(8, **INTERPRETED).start())
    over = ab.State(game, game.replace(start.data, stones=0))
    assert (solution.value_of(over).tolist(), solution.policy_of(over), solution.best_of(over)) == ([0, 0], {}, {})
    assert start.step(0)[0] in solution
    assert start not in solution
    solution.value[0] = 5.0  # a copy
    assert solution.value.tolist() == [1.0, -1.0]


def test_states_where_players_choose_at_once_need_scipy(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(MissingExtraError, match=r"anabranch\[exact\]"):
        ab.solve(Matrix("biased", **INTERPRETED))
    assert ab.solve(TicTacToe()).value[0] == 0.0
