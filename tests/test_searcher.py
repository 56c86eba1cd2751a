"""The driver of the engine: budgets, roots, threads, limits, and what happens when users' code fails in a search."""

from __future__ import annotations

import gc
import os
import re
import subprocess
import sys
import threading
import time
import traceback
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.faults import LIES, VERBS, Round, Rounds, Trouble

import anabranch as ab
from anabranch import _native
from anabranch.errors import (
    AnabranchError,
    CycleError,
    EvaluatorError,
    GameError,
    MismatchError,
    UsageError,
)
from anabranch.games.random_game import RandomGame
from anabranch.search.engine.graph import FROZEN, SHARED
from anabranch.search.engine.root import Root


def think(batch: Any) -> tuple[Any, Any]:
    """An evaluator in Python."""
    return ab.Hashing(7).evaluate(batch)


def snapshot(root: ab.Root) -> list[Any]:
    """Everything a graph holds, by columns alone: reading edges one by one would bring stale values up to date."""
    column, size = root.graph.columns, len(root.graph)
    values, evaluations = (column[name].reshape(size, -1).tolist() for name in ("value", "evaluation"))
    edge_values = column["edge_value"].reshape(-1, root.state.game.players)
    nodes = []
    for number in range(size):
        edges = []
        for edge in range(column["edges"][number], column["edges"][number] + column["edge_count"][number]):
            flags = int(column["edge_flags"][edge])
            fresh = None if flags & SHARED else edge_values[edge].tolist()  # of shared children it may be stale
            facts = [int(column[name][edge]) for name in ("edge_move", "edge_visits", "edge_child")]
            edges.append([*facts, bool(flags & FROZEN), fresh])
        row = [int(column[name][number]) for name in ("kind", "mover", "visits", "key")]
        nodes.append([*row, values[number], evaluations[number], edges])
    return nodes


def same_graph(one: list[Any], other: list[Any]) -> bool:
    """Whether two graphs are equal; an edge may be marked as shared in one of them alone."""
    if len(one) != len(other):
        return False
    for mine, theirs in zip(one, other, strict=True):
        if mine[:-1] != theirs[:-1] or len(mine[-1]) != len(theirs[-1]):
            return False
        for a, b in zip(mine[-1], theirs[-1], strict=True):
            if a[:-1] != b[:-1] or (None not in (a[-1], b[-1]) and a[-1] != b[-1]):
                return False
    return True


def visits_of(root: ab.Root) -> list[int]:
    visits: list[int] = root.graph.columns["visits"].tolist()
    return visits


GAME = ab.games.load("connect_four")


# Budgets.


@pytest.mark.parametrize("evaluator", [ab.Rollout(), think], ids=["native", "python"])
def test_budgets(evaluator):
    """`simulations` adds, `visits` is a goal, `seconds` is a time; evaluating the root is free."""
    searcher = ab.Searcher(GAME, evaluator)
    root = searcher.root(GAME.start())
    (result,) = searcher.run(root, simulations=0)
    assert (result.nodes, result.simulations, result.visits.sum()) == (1, 0, 0)
    assert result.policy[0].tolist() == result.prior[0].tolist()
    assert searcher.run(root, simulations=30)[0].visits.sum() == 30
    assert searcher.run(root, simulations=30)[0].visits.sum() == 60
    (result,) = searcher.run(root, visits=100)
    assert (result.visits.sum(), result.simulations) == (100, 40)
    (result,) = searcher.run(root, visits=50)
    assert (result.visits.sum(), result.simulations) == (100, 0)
    started = time.perf_counter()
    (result,) = searcher.run(root, seconds=0.1)
    assert 0.1 <= time.perf_counter() - started < 1.0
    assert result.visits.sum() == 100 + result.simulations
    assert result.simulations > 0
    assert searcher.run(root, seconds=0)[0].simulations == 0
    root.graph.check()


@pytest.mark.parametrize(
    "budget",
    [
        {},
        {"simulations": 3, "visits": 3},
        {"simulations": -1},
        {"visits": -1},
        {"seconds": -0.1},
        {"seconds": float("nan")},
        {"simulations": 1.5},
        {"simulations": float("nan")},
        {"visits": 2.0**40},
        {"simulations": 2**40},
    ],
    ids=str,
)
def test_wrong_budgets_are_refused(budget):
    searcher = ab.Searcher(GAME, ab.Uniform())
    with pytest.raises(UsageError, match="one budget"):
        searcher.run(searcher.root(GAME.start()), **budget)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("evaluator", [ab.Uniform(), think], ids=["native", "python"])
def test_against_the_clock_no_root_goes_short(evaluator, threads):
    """Roots are searched abreast: with more of them than threads, all get about as many simulations."""
    searcher = ab.Searcher(GAME, evaluator, threads=threads)
    results = searcher.run([searcher.root(GAME.start()) for _ in range(9)], seconds=0.3)
    counts = sorted(result.simulations for result in results)
    assert counts[0] > 0
    if threads == 1:
        assert counts[-1] - counts[0] <= 16


def test_endless_seconds_are_no_overflow():
    """More seconds than a clock can hold: the run ends only when there is nothing left to search."""
    game = ab.games.load("take_away", stones=1)
    over = game.start().step(0)[0]
    searcher = ab.Searcher(game, ab.Uniform())
    for seconds in (1e12, 1e300):
        assert searcher.run(searcher.root(over), seconds=seconds)[0].simulations == 0


# Roots.


def test_no_roots_is_no_work():
    assert ab.Searcher(GAME).run([], simulations=5) == []


def test_roots_that_cannot_be_run():
    searcher, other = ab.Searcher(GAME, ab.Uniform()), ab.Searcher(GAME, think)
    root = searcher.root(GAME.start())
    with pytest.raises(UsageError, match="twice"):
        searcher.run([root, root], simulations=5)
    with pytest.raises(UsageError, match="made by another"):
        other.run(root, simulations=5)
    with pytest.raises(UsageError, match="made by another"):
        searcher.run(other.root(GAME.start()), simulations=5)
    with pytest.raises(UsageError, match="the state is of tic_tac_toe"):
        searcher.root(ab.games.load("tic_tac_toe").start())
    with pytest.raises(UsageError, match="other sizes"):
        searcher.root(ab.games.load("connect_four", columns=5).start())
    with pytest.raises(UsageError, match="threads"):
        ab.Searcher(GAME, threads=0)
    (result,) = searcher.run(root, simulations=5)  # after all that
    assert result.visits.sum() == 5


class Strip(ab.CompiledGame):
    """As many cells as it is told: instances differ in the size of a state and of what is seen, and in nothing else."""

    players, actions = 2, 3

    def __init__(self, cells, seen=None, fields="cells"):
        self.cells, self.observation = cells, (seen or cells,)
        self.state = ab.record(**{fields: (np.int8, cells), "ply": np.int64})

    def turn(self, state):
        return ab.OVER if state.ply >= 6 else ab.player(state.ply % 2)

    def legal(self, state, player, actions):
        actions[0], actions[1], actions[2] = 0, 1, 2
        return 3

    def step(self, state, actions, rewards):
        state.ply += 1
        if state.ply >= 6:
            rewards[0], rewards[1] = 1.0, -1.0

    def observe(self, state, player, planes):
        planes[0] = state.ply


@pytest.mark.parametrize("other", [Strip(20_000), Strip(8, seen=9), Strip(8, fields="stones")], ids=repr)
def test_states_of_one_batch_have_one_size(other, tmp_path):
    """What a batch takes to be equal over its roots: records, observations, players, actions."""
    small = Strip(8)
    searcher = ab.Searcher(small, think, threads=1)
    with pytest.raises(UsageError, match=r"other sizes \((record|observation)"):
        searcher.root(other.start())
    alone = ab.Searcher(other, think, threads=1).root(other.start())
    path = alone.save(tmp_path / "root.npz")
    with pytest.raises(UsageError, match="other sizes"):
        searcher.load(path, game=other)
    if other.state.itemsize != small.state.itemsize:  # nobody gets around it
        with pytest.raises(ValueError, match="other sizes"):
            _native.Drive([searcher.root(small.start()).native, alone.native], [5, 5], 1).gather(False)
    native = ab.Searcher(small, ab.Uniform(), threads=1)  # evaluates in the engine: there is no batch
    results = native.run([native.root(small.start()), native.root(other.start())], simulations=50)
    assert [result.visits.sum() for result in results] == [50, 50]


def test_compiled_and_interpreted_roots_do_not_mix():
    """A rollout of interpreted rules is not native: such a root in a native run would wait for an answer for ever."""
    game: Any = ab.games.load("tic_tac_toe")
    with pytest.raises(UsageError, match="compiled"):
        ab.Searcher(game, ab.Rollout()).root(game.interpreted().start())
    with pytest.raises(UsageError, match="compiled"):
        ab.Searcher(game.interpreted(), ab.Rollout()).root(game.start())


def test_roots_of_other_instances_share_a_run():
    """One searcher, several mazes: each root is searched by its own rules."""
    mazes = [ab.games.load("pyrat", preset="tiny", seed=seed) for seed in range(3)]
    for evaluator in (ab.Rollout(), think):
        searcher = ab.Searcher(mazes[0], evaluator)
        roots = [searcher.root(maze.start()) for maze in mazes]
        searcher.run(roots, simulations=40)
        for stream, (maze, root) in enumerate(zip(mazes, roots, strict=True)):
            reference = ab.Reference(maze.start(), evaluator, stream=stream)
            reference.run(simulations=40)
            assert visits_of(root) == [node.visits for node in reference.graph.nodes]


@pytest.mark.parametrize("evaluator", [ab.Rollout(), think], ids=["native", "python"])
def test_a_root_that_is_over(evaluator):
    game = ab.games.load("take_away", stones=1)
    over = game.start().step(0)[0]
    searcher = ab.Searcher(game, evaluator)
    for budget in ({"simulations": 10}, {"visits": 10}, {"seconds": 5.0}):
        (result,) = searcher.run(searcher.root(over), **budget)
        assert (result.simulations, result.value.tolist(), result.action, result.line) == (0, [0.0, 0.0], None, [])
        result.graph.check()
        assert result.graph.columns["edge_visits"].shape == (0,)
        assert result.graph.node(0).kind == "over"


def test_a_root_that_is_chance():
    game = ab.games.load("pig", target=8)
    state = game.start().step(0)[0]
    assert state.turn == ab.CHANCE
    (result,) = [
        ab.search(
            state, simulations=60, evaluator=ab.Uniform(), config=ab.SearchConfig(chance=ab.Chance(exact_up_to=0))
        )
    ]
    assert sum(visits for _, _, visits, _ in result.outcomes) == 60
    assert [outcome for outcome, _, _, _ in result.outcomes] == list(range(6))
    assert result.value[0] == pytest.approx(sum(n * q[0] for _, _, n, q in result.outcomes) / 60)


# Determinism.


def searched(game: ab.Game, evaluator: Any, threads: int, groups: list[list[int]], **settings: Any) -> list[list[int]]:
    """Search eight roots in the given groups, one run each."""
    searcher = ab.Searcher(game, evaluator, ab.SearchConfig(seed=3, **settings), threads=threads)
    roots = [searcher.root(game.start()) for _ in range(8)]
    for group in groups:
        searcher.run([roots[number] for number in group], simulations=150)
    return [visits_of(root) for root in roots]


@pytest.mark.parametrize("evaluator", [ab.Rollout(), ab.Uniform(), think], ids=["rollout", "uniform", "python"])
@pytest.mark.parametrize("name", ["mixed", "pyrat", "objects"])
def test_results_depend_neither_on_threads_nor_on_grouping(name, evaluator):
    game: ab.Game = {
        "mixed": lambda: RandomGame(seed=5, players=3, simultaneous=0.3, chance=0.3),
        "pyrat": lambda: ab.games.load("pyrat", preset="open5"),
        "objects": lambda: Rounds(Trouble()),
    }[name]()
    together = [list(range(8))]
    expected = searched(game, evaluator, 1, together)
    for threads in (2, 4, 8):
        assert searched(game, evaluator, threads, together) == expected
    assert searched(game, evaluator, 2, [[number] for number in range(8)]) == expected
    assert searched(game, evaluator, 4, [[5, 1, 7], [0, 2, 3, 6, 4]]) == expected
    if not isinstance(evaluator, ab.Uniform) or name != "pyrat":
        assert len({tuple(visits) for visits in expected}) > 1 or evaluator is think, "streams differ"


@pytest.mark.parametrize("count", [2, 7, 40])
def test_rollouts_of_one_root_shared_among_threads(count):
    """A single root's rollouts are spread over threads: the same graph, bit for bit."""
    for game in (ab.games.load("connect_four"), ab.games.load("pig", target=20), Round()):
        graphs = []
        for threads in (1, 2, 4, 8):
            searcher = ab.Searcher(game, ab.Rollout(count), threads=threads)
            root = searcher.root(game.start())
            searcher.run(root, simulations=60)
            graphs.append(snapshot(root))
        assert all(same_graph(graphs[0], graph) for graph in graphs[1:])


@pytest.mark.parametrize("verb", ["turn", "legal", "step", "draw", "same"])
def test_rollouts_shared_among_threads_fail_as_those_of_one(verb):
    """Whatever verb it is: the same error, and the same graph, bit for bit."""
    for count in (2, 7, 40):
        failures = []
        for threads in (1, 4):
            game = Round(verb, 0, rounds=2, lead=0)
            searcher = ab.Searcher(game, ab.Rollout(count), threads=threads)
            root = searcher.root(game.start())
            error = raised_by(searcher.run, root, simulations=60)
            assert str(error) == f"{verb} is out of order"
            root.graph.check()
            failures.append((noted(error), snapshot(root)))  # type: ignore[arg-type]
        assert failures[0][0] == failures[1][0]
        assert same_graph(failures[0][1], failures[1][1])


@pytest.mark.parametrize("evaluator", [ab.Rollout(), think], ids=["native", "python"])
def test_going_on_equals_one_long_run(evaluator):
    game = RandomGame(seed=8, players=2, chance=0.4, simultaneous=0.2, width=8)
    for chance in (ab.Chance(), ab.Chance(exact_up_to=3), ab.Chance(widen=1.0)):
        config = ab.SearchConfig(chance=chance)
        long, short = (ab.Searcher(game, evaluator, config) for _ in range(2))
        once, often = long.root(game.start()), short.root(game.start())
        long.run(once, simulations=200)
        for _ in range(20):
            short.run(often, simulations=10)
        assert same_graph(snapshot(once), snapshot(often))


def test_streams_of_random_numbers_differ():
    searcher = ab.Searcher(GAME, ab.Rollout())
    results = searcher.run([searcher.root(GAME.start()) for _ in range(6)], simulations=200)
    assert len({tuple(result.visits[0].tolist()) for result in results}) == 6


@pytest.mark.parametrize(
    "game",
    [GAME, ab.games.load("pig", target=12), ab.games.load("n_in_a_row", size=20, line=5), Rounds(Trouble())],
    ids=lambda game: game.name,
)
def test_hash_collisions_change_nothing(game):
    """Eight bits of hash for hundreds of nodes: only comparing whole states tells them apart."""
    searcher = ab.Searcher(game, ab.Hashing())
    graphs = []
    for bits in (64, 8, 0):
        root = Root(searcher, game.start(), 0, hash_bits=bits)
        searcher.run(root, simulations=700)
        root.graph.check()
        graphs.append(snapshot(root))
    assert len(graphs[0]) > 60
    assert same_graph(graphs[0], graphs[1])
    assert same_graph(graphs[0], graphs[2])


# Limits.


def resident() -> int:
    """Bytes of memory this process holds."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("evaluator", [ab.Uniform(), think], ids=["native", "python"])
def test_the_number_of_nodes_is_a_limit(evaluator):
    for limit in (1, 2, 17, 100):
        (result,) = [
            ab.search(GAME.start(), simulations=400, evaluator=evaluator, config=ab.SearchConfig(max_nodes=limit))
        ]
        assert (result.nodes, result.visits.sum()) == (limit, 400)
        result.graph.check()


@pytest.mark.parametrize("limit", [65_536, 100_000, 150_000, 300_000, 1_000_000, 1_150_000])
@pytest.mark.parametrize(
    "game", [GAME, ab.games.load("pyrat", preset="open7"), ab.games.load("pig")], ids=lambda g: g.name
)
def test_memory_is_a_limit(game, limit):
    """At most five percent above it, however long the search goes on (R8)."""
    searcher = ab.Searcher(game, ab.Uniform(), ab.SearchConfig(max_bytes=limit), threads=1)
    root = searcher.root(game.start())
    for simulations in (limit // 100, limit // 50, limit // 25):
        (result,) = searcher.run(root, simulations=simulations)
        assert result.simulations == simulations, "the search goes on"
        assert root.graph.bytes <= 1.05 * limit
    root.graph.check()


@pytest.mark.memory
def test_the_process_takes_no_more_memory_than_the_graph_may():
    limit = 20_000_000
    searcher = ab.Searcher(GAME, ab.Uniform(), ab.SearchConfig(max_bytes=limit), threads=1)
    root = searcher.root(GAME.start())
    before = resident()
    (result,) = searcher.run(root, simulations=limit // 80)
    assert 0.95 * limit < root.graph.bytes <= 1.05 * limit
    assert resident() - before <= 1.05 * limit + 1_000_000
    assert result.simulations == limit // 80


def test_memory_that_is_used_up_still_finds_the_move():
    """Three in a row is one move away: 64 kB hold a small part of the game, and the search goes on all the same."""
    game = ab.games.load("connect_four")
    state = game.start()
    for column in (3, 0, 3, 0, 3):
        state = state.step(column)[0]
    result = ab.search(state, simulations=50_000, evaluator=ab.Rollout(), config=ab.SearchConfig(max_bytes=65_536))
    assert result.action == 3  # the only move that does not lose at once


def test_views_stay_valid_when_the_graph_grows():
    """A view keeps its memory: what it shows may be old, but it is there."""
    searcher = ab.Searcher(GAME, ab.Uniform(), threads=1)
    root = searcher.root(GAME.start())
    searcher.run(root, simulations=50)
    views = root.graph.columns
    before = {name: view.copy() for name, view in views.items()}
    nodes, edges = len(views["visits"]), len(views["edge_visits"])
    searcher.run(root, simulations=50_000)
    for name, view in views.items():
        assert view.shape == before[name].shape
        assert not view.flags.writeable
        view.tobytes()
    now = root.graph.columns
    assert len(now["visits"]) > 20 * nodes
    assert len(now["edge_visits"]) > 20 * edges
    assert now["key"][:nodes].tolist() == before["key"].tolist()
    del root, searcher
    gc.collect()
    assert int(now["visits"][0]) == 50_051
    assert views["key"].tolist() == before["key"].tolist()


def test_a_graph_belongs_to_one_thread_at_a_time():
    """While a root is searched others are told to wait; they can neither run nor read it."""
    searcher = ab.Searcher(GAME, ab.Uniform(), threads=1)
    root = searcher.root(GAME.start())
    searcher.run(root, simulations=10)
    worker = threading.Thread(target=searcher.run, args=(root,), kwargs={"seconds": 0.5})
    worker.start()
    while not root.running.locked():
        time.sleep(0.001)
    time.sleep(0.05)
    with pytest.raises(UsageError, match="being searched"):
        searcher.run(root, simulations=1)
    with pytest.raises(UsageError, match="being searched"):
        root.graph.node(0)
    with pytest.raises(UsageError, match="being searched"):
        _ = root.graph.columns
    worker.join()
    root.graph.check()


READERS: dict[str, Callable[[Any], Any]] = {
    "len": len,
    "node": lambda graph: graph.node(0),
    "limited": lambda graph: graph.limited,
    "picture": lambda graph: graph.picture(),
    "check": lambda graph: graph.check(),
    "columns": lambda graph: graph.columns,
    "bytes": lambda graph: graph.bytes,
    "children": lambda graph: graph.children(0),
    "result": lambda graph: graph.result(1, 1.0),
}


@pytest.mark.parametrize("depth", [1, 2])
def test_a_graph_is_not_read_beside_a_run_that_waits_for_its_evaluator(depth):
    """Between waves nobody is at work on it, but paths are in flight: what was read would be of no moment at all."""
    asked, answered = threading.Event(), threading.Event()

    def slow(batch: Any) -> Any:
        asked.set()
        assert answered.wait(60)
        return think(batch)

    searcher = ab.Searcher(GAME, slow, ab.SearchConfig(depth=depth, width=4))
    root = searcher.root(GAME.start())
    graph = root.graph
    worker = threading.Thread(target=searcher.run, args=(root,), kwargs={"simulations": 30})
    worker.start()
    assert asked.wait(60)
    try:
        for name, read in READERS.items():
            with pytest.raises(UsageError, match=r"searched by another thread.*wait for the run to end") as told:
                read(graph)
            assert "another thread" in str(told.value), name
        for also in (lambda: root.result, lambda: root.graph, lambda: root.save("never.npz"), lambda: root.root_number):
            with pytest.raises(UsageError, match="searched by another thread"):
                also()
    finally:
        answered.set()
        worker.join()
    assert root.result.visits.sum() == 30
    assert len(graph) > 1
    graph.check()


def test_the_references_graph_is_not_read_beside_a_run_either():
    asked, answered = threading.Event(), threading.Event()

    def slow(batch: Any) -> Any:
        asked.set()
        assert answered.wait(60)
        return think(batch)

    reference = ab.Reference(GAME.start(), slow)
    worker = threading.Thread(target=reference.run, kwargs={"simulations": 10})
    worker.start()
    assert asked.wait(60)
    try:
        for name in ("len", "node", "limited", "picture", "check"):
            with pytest.raises(UsageError, match=r"searched by another thread.*wait for the run to end"):
                READERS[name](reference.graph)
        for change in (lambda: reference.run(simulations=1), lambda: reference.advance(0)):
            with pytest.raises(UsageError, match="being searched; wait"):
                change()
    finally:
        answered.set()
        worker.join()
    assert reference.root_visits == 10
    reference.graph.check()
    with pytest.raises(UsageError, match="no node -1"):
        reference.graph.node(-1)


@pytest.mark.parametrize(
    ("roots", "simulations", "said"),
    [
        (1, [5, 5], r"one number for all roots, or a list with one for each: there is 1 root, found 2 in \[5, 5\]"),
        (2, [5], r"there are 2 roots, found 1 in \[5\]"),
        (1, [], r"there is 1 root, found 0 in \[\]"),
        (3, range(2), r"there are 3 roots, found 2 in range\(0, 2\)"),
        (1, np.array([5, 5]), r"there is 1 root, found 2 in array"),
        (1, [[5]], r"simulations is one number .* found \[5\]"),
        (1, ["5"], r"give one budget.*found simulations='5'"),
        (1, [-1], r"give one budget.*found simulations=-1"),
    ],
)
def test_as_many_budgets_as_roots(roots, simulations, said):
    """Whoever searches one root, or several, is told how many numbers there were, and how many there are to be."""
    for evaluator in (ab.Uniform(), think):
        searcher = ab.Searcher(GAME, evaluator)
        chosen = [searcher.root(GAME.start()) for _ in range(roots)]
        with pytest.raises(UsageError, match=said):
            searcher.run(chosen[0] if roots == 1 else chosen, simulations=simulations)
        if evaluator is think:
            with pytest.raises(UsageError, match=said):
                searcher.ask(chosen, simulations=simulations)
        searcher.run(chosen, simulations=np.array([3] * roots))
        assert [root.result.visits.sum() for root in chosen] == [3] * roots


def test_one_state_has_one_budget():
    for search in (
        lambda budget: ab.search(GAME.start(), simulations=budget),
        lambda budget: ab.Reference(GAME.start(), ab.Uniform()).run(simulations=budget),
        lambda budget: ab.Analysis(GAME.start(), simulations=budget),
        lambda budget: ab.SearchAgent(simulations=budget),
    ):
        with pytest.raises(UsageError, match=r"simulations is one number .*found .*\[5, 5\]"):
            search([5, 5])


def test_an_evaluator_cannot_run_the_root_it_is_asked_about():
    game = ab.games.load("tic_tac_toe")

    def meddle(batch: Any) -> Any:
        searcher.run(root, simulations=1)

    searcher = ab.Searcher(game, meddle)
    root = searcher.root(game.start())
    with pytest.raises(UsageError, match="being searched"):
        searcher.run(root, simulations=5)
    assert root.graph.node(0).visits == 0


def test_an_evaluator_may_look_at_the_graph():
    game = RandomGame(seed=3, chance=0.4, players=2)
    looks = []

    def look(batch: Any) -> Any:
        looks.append(sum(root.graph.node(number).visits for number in range(len(root.graph))))
        return think(batch)

    searcher = ab.Searcher(game, look)
    root = searcher.root(game.start())
    searcher.run(root, simulations=60)
    plain = ab.Searcher(game, think)
    other = plain.root(game.start())
    plain.run(other, simulations=60)
    assert same_graph(snapshot(root), snapshot(other))
    assert looks == sorted(looks)


# Exceptions in users' code (R5).

CALLS = [1, 2, 3, 4, 5, 7, 9, 13, 18, 26, 37, 53, 76, 108, 150, 200]
SETTINGS = {
    "spread": ab.SearchConfig(),
    "exact": ab.SearchConfig(chance=ab.Chance(exact_up_to=2), transposition=ab.Transposition(on_visit="stop")),
    "widen": ab.SearchConfig(chance=ab.Chance(draws=2, widen=1.0), max_nodes=40),
}
GOAL = 40


class Clean:
    """The graphs of an undisturbed search after 0, 1, 2, … simulations."""

    def __init__(self, game: ab.Game, evaluator: Any, config: ab.SearchConfig, streams: int = 1) -> None:
        searcher = ab.Searcher(game, evaluator, config, threads=1)
        self.graphs: list[list[Any]] = []
        for _ in range(streams):
            root = searcher.root(game.start())
            graphs = [snapshot(root)]
            for simulations in range(GOAL + 1):
                searcher.run(root, visits=simulations)
                graphs.append(snapshot(root))
            self.graphs.append(graphs)

    def holds(self, root: ab.Root, stream: int = 0) -> bool:
        """Whether a root's graph is what it was after as many simulations of the undisturbed search."""
        here, graphs = snapshot(root), self.graphs[stream]
        evaluated = root.native.ready and root.native.root_visits + 1
        # A root that is a decision has a graph before it is evaluated, too.
        return same_graph(here, graphs[evaluated]) or (not root.native.root_visits and same_graph(here, graphs[0]))


def frames(error: BaseException) -> list[str]:
    return [frame.name for frame in traceback.extract_tb(error.__traceback__)]


def noted(error: BaseException) -> str:
    """Return the note of an exception, which tells the line of play."""
    if not hasattr(error, "__notes__") and "result" in frames(error):
        return ""  # the root itself was looked at, after the search
    (note,) = error.__notes__
    assert "actions from the root: " in note
    return note


def raised_by(call: Callable[..., Any], *arguments: Any, **options: Any) -> BaseException | None:
    """Return the exception a call raises, of whatever kind, or None."""
    try:
        call(*arguments, **options)
    except BaseException as error:
        return error
    return None


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("verb", VERBS)
def test_exceptions_in_a_verb_of_an_object_game(verb, settings):
    """At any call of any verb: the very exception comes out, the graph is as before, the next run is a clean one."""
    config = SETTINGS[settings]
    for evaluator in (ab.Hashing(), ab.Uniform(), ab.Rollout()):
        trouble = Trouble()
        game = Rounds(trouble)
        clean = Clean(game, evaluator, config)
        for at in CALLS:
            searcher = ab.Searcher(game, evaluator, config, threads=1)
            root = searcher.root(game.start())
            trouble.arm(verb, at, KeyboardInterrupt if at % 3 == 0 else ValueError)
            error = raised_by(searcher.run, root, visits=GOAL)
            trouble.disarm()
            if error is None:
                break  # the whole search takes fewer calls
            assert [error] == trouble.raised, "the very exception"
            assert str(error) == f"{verb} failed at call {at}"
            assert frames(error)[-2:] == [verb, "__call__"], "with its own traceback"
            assert error.__context__ is None
            noted(error)
            assert clean.holds(root)
            root.graph.check()
            searcher.run(root, visits=GOAL)
            assert same_graph(snapshot(root), clean.graphs[0][-1])


@pytest.mark.parametrize("verb", ["turn", "legal", "same", "key", "bounds"])
def test_exceptions_while_a_root_is_made(verb):
    trouble = Trouble()
    game = Rounds(trouble)
    state = game.start().step(1)[0]  # a decision, so that all verbs are needed
    searcher = ab.Searcher(game, ab.Uniform())
    trouble.arm(verb, 1)
    with pytest.raises(ValueError, match=f"{verb} failed at call 1"):
        searcher.root(state)
    trouble.disarm()
    (result,) = searcher.run(searcher.root(state), simulations=20)
    assert result.visits.sum() == 40


@pytest.mark.parametrize("evaluator", [ab.Uniform(), think, ab.Rollout()], ids=["native", "python", "rollout"])
@pytest.mark.parametrize("threads", [1, 4])
def test_exceptions_among_many_roots(threads, evaluator):
    """Whichever root fails, all are left as after whole playouts, and go on from there."""
    trouble = Trouble()
    game = Rounds(trouble)
    clean = Clean(game, evaluator, SETTINGS["exact"], streams=6)
    failures = 0
    for verb in VERBS:
        for at in (1, 40, 200, 500):
            searcher = ab.Searcher(game, evaluator, SETTINGS["exact"], threads=threads)
            roots = [searcher.root(game.start()) for _ in range(6)]
            trouble.arm(verb, at, KeyboardInterrupt if at == 40 else ValueError)
            error = raised_by(searcher.run, roots, visits=GOAL)
            trouble.disarm()
            if error is not None:
                failures += 1
                assert error in trouble.raised
                noted(error)
            assert all(clean.holds(root, stream) for stream, root in enumerate(roots))
            searcher.run(roots, visits=GOAL)
            for stream, root in enumerate(roots):
                assert same_graph(snapshot(root), clean.graphs[stream][-1])
    assert failures > 10


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("make", [Round, lambda: Round().interpreted()], ids=["compiled", "interpreted"])
def test_exceptions_in_an_evaluator(make, settings):
    game, config, trouble = make(), SETTINGS[settings], Trouble()

    def evaluate(batch: Any) -> Any:
        trouble("evaluate")
        return think(batch)

    clean = Clean(game, evaluate, config, streams=2)
    for at in CALLS:
        searcher = ab.Searcher(game, evaluate, config, threads=1)
        roots = [searcher.root(game.start()) for _ in range(2)]
        searcher.run(roots[0], visits=GOAL // 2)
        trouble.arm("evaluate", at, KeyboardInterrupt if at % 3 == 0 else ValueError)
        error = raised_by(searcher.run, roots, visits=GOAL)
        trouble.disarm()
        if error is not None:
            assert [error] == trouble.raised
            assert error.__context__ is None
            noted(error)
            for stream, root in enumerate(roots):
                assert clean.holds(root, stream)
                root.graph.check()
        searcher.run(roots, visits=GOAL)
        for stream, root in enumerate(roots):
            assert same_graph(snapshot(root), clean.graphs[stream][-1])


def test_an_exception_leaves_finished_roots_alone():
    """A root that has reached its goal, or was only evaluated, is no part of another root's accident."""
    game, trouble = RandomGame(seed=2, players=2), Trouble()

    def evaluate(batch: Any) -> Any:
        trouble("evaluate")
        return think(batch)

    clean = Clean(game, evaluate, ab.SearchConfig(), streams=3)
    searcher = ab.Searcher(game, evaluate)
    roots = [searcher.root(game.start()) for _ in range(3)]
    searcher.run(roots[0], visits=20)
    searcher.run(roots[1], visits=0)
    for at in (1, 2, 3):
        trouble.arm("evaluate", at)
        with pytest.raises(ValueError, match="evaluate failed"):
            searcher.run(roots, visits=20)
        trouble.disarm()
        assert all(clean.holds(root, stream) for stream, root in enumerate(roots))
    searcher.run(roots, visits=GOAL)
    assert all(same_graph(snapshot(root), clean.graphs[stream][-1]) for stream, root in enumerate(roots))


@pytest.mark.parametrize("evaluator", [ab.Uniform(), ab.Rollout(), think], ids=["uniform", "rollout", "python"])
@pytest.mark.parametrize("verb", VERBS)
def test_exceptions_in_a_verb_of_a_compiled_game(verb, evaluator):
    """Compiled code raises in a state of its own choice: users see their exception, and their graph stays usable."""
    for settings in ("spread", "exact"):
        config = SETTINGS[settings]
        clean = Clean(Round(), evaluator, config)
        for rounds, lead in ((0, 0), (1, 0), (2, 0), (1, 2), (2, -2)):
            game = Round(verb, 0, rounds, lead)
            searcher = ab.Searcher(game, evaluator, config, threads=1)
            error = raised_by(searcher.root, game.start())
            if error is not None:
                assert str(error) == f"{verb} is out of order"
                continue
            searcher = ab.Searcher(game, evaluator, config, threads=1)
            root = searcher.root(game.start())
            for _ in range(2):  # it fails again in the same place
                error = raised_by(searcher.run, root, visits=GOAL)
                if error is not None:
                    assert str(error) == f"{verb} is out of order"
                    assert frames(error)[-1] == verb
                    noted(error)
                assert clean.holds(root)


def test_the_line_of_play_leads_to_the_failure():
    """The note of an exception tells the way to the state in which it happened."""
    assert Round().rules  # compiled by one that behaves: before that a few moves are played, which would fail here
    game = Round("turn", 0, rounds=1, lead=0)
    searcher = ab.Searcher(game, ab.Uniform(), ab.SearchConfig(chance=ab.Chance(exact_up_to=2)), threads=1)
    with pytest.raises(ValueError, match="turn is out of order") as caught:
        searcher.run(searcher.root(game.start()), simulations=100)
    line = noted(caught.value).split("actions from the root: ")[1]
    moves = [
        tuple(int(part) for part in re.findall(r"-?[0-9]+", move)) for move in re.findall(r"\([^)]*\)|-?[0-9]+", line)
    ]
    state = Round().start()
    for move in moves:
        state = state.step(list(move))[0]
    assert (state.round, state.lead) == (1, 0)


@pytest.mark.memory
@pytest.mark.hard
@pytest.mark.parametrize("kind", ["verb", "evaluator", "answer"])
def test_ten_thousand_failures_leak_nothing(kind):
    trouble = Trouble()

    class Short(Rounds):
        """Raises deep in the line, after new nodes and edges were made."""

        def turn(self, state: Any) -> int:
            if state[1] == 1 and trouble.verb == "deep":
                raise ValueError("too deep")
            return super().turn(state)

    def evaluate(batch: Any) -> Any:
        trouble("evaluate")
        logits, values = think(batch)
        return logits, np.full_like(values, np.nan) if trouble.verb == "nan" else values

    game = Short(trouble)
    searcher = ab.Searcher(game, evaluate if kind != "verb" else ab.Uniform(), SETTINGS["exact"], threads=1)
    root = searcher.root(game.start())
    searcher.run(root, simulations=3)
    trouble.arm({"verb": "deep", "evaluator": "evaluate", "answer": "nan"}[kind], 1)

    def fail(times: int) -> None:
        for _ in range(times):
            trouble.calls = 0
            trouble.raised = []
            with pytest.raises((ValueError, EvaluatorError)):
                searcher.run(root, simulations=50)

    fail(500)
    gc.collect()
    held, memory, visits = root.graph.bytes, resident(), root.native.root_visits
    fail(9_500)
    gc.collect()
    assert root.native.root_visits == visits
    assert root.graph.bytes == held
    assert resident() - memory < 3_000_000


# Answers of evaluators (R4).


def answer(change: Any) -> Any:
    def evaluate(batch: Any) -> Any:
        logits, values = think(batch)
        return change(logits, values)

    return evaluate


def spoil(array: Any, number: float) -> Any:
    array = array.copy()
    array[-1, 0, ...] = number
    return array


BAD_ANSWERS = {
    "nan values": lambda logits, values: (logits, spoil(values, np.nan)),
    "infinite values": lambda logits, values: (logits, spoil(values, np.inf)),
    "nan logits": lambda logits, values: (spoil(logits, np.nan), values),
    "infinite logits": lambda logits, values: (spoil(logits, np.inf), values),
    "no mass": lambda logits, values: (spoil(logits, -np.inf), values),
    "too few values": lambda logits, values: (logits, values[:, :1]),
    "too many rows": lambda logits, values: (logits, np.concatenate([values, values])),
    "flat values": lambda logits, values: (logits, values.ravel()),
    "too few logits": lambda logits, values: (logits[:, :, :-1], values),
    "complex values": lambda logits, values: (logits, values.astype(complex)),
    "words": lambda logits, values: (logits, values.astype(str)),
    "no pair": lambda logits, values: values,
    "nothing": lambda logits, values: None,
    "ragged": lambda logits, values: (logits, [[1.0], [1.0, 2.0]]),
}


@pytest.mark.parametrize("name", BAD_ANSWERS)
def test_bad_answers_of_evaluators(name):
    """A typed error in the same call, the graph unchanged; a good evaluator goes on from there."""
    game = Round()
    for good in (0, 1, 5):
        calls = [0]

        def evaluate(batch: Any, good: int = good, calls: list[int] = calls) -> Any:
            calls[0] += 1
            logits, values = think(batch)
            return (logits, values) if calls[0] != good + 1 else BAD_ANSWERS[name](logits, values)

        searcher = ab.Searcher(game, evaluate, threads=1)
        root = searcher.root(game.start().step(1)[0])
        with pytest.raises(EvaluatorError) as caught:
            searcher.run(root, simulations=20)
        noted(caught.value)
        root.graph.check()
        searcher.run(root, visits=30)
        clean = ab.Searcher(game, think, threads=1)
        other = clean.root(game.start().step(1)[0])
        clean.run(other, visits=30)
        assert same_graph(snapshot(root), snapshot(other))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_native_evaluators_are_held_to_the_same(value):
    with pytest.raises((EvaluatorError, UsageError)):
        ab.search(GAME.start(), simulations=5, evaluator=ab.Uniform(value))


# Games that lie (R6).


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "interpreted"])
@pytest.mark.parametrize("evaluator", [ab.Uniform(), ab.Rollout(), think], ids=["uniform", "rollout", "python"])
@pytest.mark.parametrize("verb", VERBS)
def test_lies_are_typed_errors(verb, evaluator, compiled):
    """Nonsense from a verb is a GameError with the line of play; nothing crashes and nothing is left half done."""
    ab.Searcher(Round(), evaluator)  # compiled before there is anything to lie about
    told = 0
    for lie in range(1, LIES[verb] + 1):
        for settings in SETTINGS.values():
            game: Any = Round(verb, lie)
            game = game if compiled else game.interpreted()
            searcher = ab.Searcher(game, evaluator, settings, threads=1)
            root = searcher.root(game.start())
            clean = Clean(Round(), evaluator, settings)
            error = raised_by(searcher.run, root, visits=GOAL)
            if error is not None:
                told += 1
                assert isinstance(error, GameError)
                assert not isinstance(error, MismatchError)
                noted(error)
            root.graph.check()
            # Compiled rollouts believe ids that do not ascend; then they differ from honest ones.
            believed = compiled and isinstance(evaluator, ab.Rollout) and verb in ("legal", "chance")
            assert believed or clean.holds(root)
    if verb not in ("draw", "key") and not believed:  # only rollouts and frozen edges draw
        assert told == 3 * LIES[verb]


class Liar(Rounds):
    """Tells the lies that only Python can tell: `lie` replaces one verb's answers in the second round."""

    def __init__(self, verb: str, lie: Any) -> None:
        super().__init__(Trouble())
        self.verb, self.lie = verb, lie

    def truth(self, verb: str, state: Any, *arguments: Any) -> Any:
        honest = getattr(super(), verb)(state, *arguments)
        return self.lie(honest) if verb == self.verb and state[1] == 1 else honest

    def turn(self, state: Any) -> Any:
        return self.truth("turn", state)

    def legal(self, state: Any, player: int) -> Any:
        return self.truth("legal", state, player)

    def step(self, state: Any, actions: Any) -> Any:
        return self.truth("step", state, actions)

    def chance(self, state: Any) -> Any:
        return self.truth("chance", state)

    def draw(self, state: Any, random: ab.Random) -> Any:
        return self.truth("draw", state, random)

    def same(self, state: Any, player: int, action: int) -> Any:
        return self.truth("same", state, player, action)

    def key(self, state: Any) -> Any:
        return self.truth("key", state)

    def bounds(self, state: Any) -> Any:
        return self.truth("bounds", state)


OBJECT_LIES: dict[str, tuple[str, Any]] = {
    "turn is a word": ("turn", lambda honest: "white"),
    "turn is nothing": ("turn", lambda honest: None),
    "turn is huge": ("turn", lambda honest: 2**70),
    "legal is nothing": ("legal", lambda honest: None),
    "legal is empty": ("legal", lambda honest: []),
    "legal has words": ("legal", lambda honest: ["a", "b"]),
    "legal is endless": ("legal", lambda honest: iter(range(10**6))),
    "legal has huge ids": ("legal", lambda honest: [2**40]),
    "step is nothing": ("step", lambda honest: None),
    "step gives one reward": ("step", lambda honest: (honest[0], (1.0,))),
    "step gives no numbers": ("step", lambda honest: (honest[0], ("a", "b"))),
    "step gives NaN": ("step", lambda honest: (honest[0], (float("nan"), 0.0))),
    "step gives too much": ("step", lambda honest: (honest[0], (1e39, 0.0))),
    "states cannot be hashed": ("step", lambda honest: (list(honest[0]), honest[1])),
    "chance is nothing": ("chance", lambda honest: None),
    "chance is empty": ("chance", lambda honest: ()),
    "chance sums to less": ("chance", lambda honest: ((1, 0.5), (2, 0.4))),
    "chance is NaN": ("chance", lambda honest: ((1, float("nan")), (2, 0.5))),
    "chance has three": ("chance", lambda honest: ((1, 1), (2, 0.0), (3, 0.0))),
    "chance is no list of pairs": ("chance", lambda honest: (1, 2)),
    "draw is a word": ("draw", lambda honest: "six"),
    "same is nothing": ("same", lambda honest: None),
    "same is beyond": ("same", lambda honest: 3),
    "same is negative": ("same", lambda honest: -1),
    "key cannot be hashed": ("key", list),
    "bounds are nothing": ("bounds", lambda honest: None),
    "bounds are NaN": ("bounds", lambda honest: ((float("nan"), 0.0), (1.0, 1.0))),
    "bounds are short": ("bounds", lambda honest: ((), ())),
}


@pytest.mark.parametrize("name", OBJECT_LIES)
def test_lies_of_object_games_are_errors(name):
    """Of the right kind where the library checks, Python's own elsewhere; never a crash, and the graph stays whole."""
    verb, lie = OBJECT_LIES[name]
    for evaluator in (ab.Uniform(), think, ab.Rollout()):
        for settings in SETTINGS.values():
            game = Liar(verb, lie)
            searcher = ab.Searcher(game, evaluator, settings, threads=1)
            root = searcher.root(game.start())
            error = raised_by(searcher.run, root, visits=200)
            if error is not None:
                assert isinstance(error, (AnabranchError, TypeError, ValueError, OverflowError, IndexError))
                noted(error)
            assert error or verb == "draw"  # only rollouts and frozen edges draw
            root.graph.check()
            assert len(snapshot(root)) == len(root.graph)


@pytest.mark.parametrize("evaluator", [ab.Uniform(), ab.Hashing()], ids=["uniform", "hashing"])
@pytest.mark.parametrize("change", [lambda n: n % 3, lambda n: n % 7 < 2, lambda n: n // 5 % 2], ids=["a", "b", "c"])
def test_legal_lists_that_change_are_errors(evaluator, change):
    """A list that shrinks between two calls: an error that says so, none where nobody looked twice; never a crash."""
    calls = [0]

    class Fickle(Rounds):
        def legal(self, state: Any, player: int) -> list[int]:
            calls[0] += 1
            return [0, 1, 2][: 1 + int(change(calls[0]))]

        def same(self, state: Any, player: int, action: int) -> int:
            return action

        def step(self, state: Any, actions: Any) -> Any:
            return super().step(state, tuple(min(action, 1) for action in actions))

    game = Fickle(Trouble())
    failures = 0
    for _ in range(40):
        error = raised_by(ab.search, game.start().step(1)[0], simulations=60, evaluator=evaluator)
        if error is not None:
            failures += 1
            assert isinstance(error, AnabranchError)
            assert re.search("legal|same", str(error))
    assert failures > 0


def test_dice_without_a_verb_for_them():
    """A chance state, but neither `chance` nor `draw`: met in the graph, in a rollout, or behind a frozen edge."""

    class NoDice(ab.CompiledGame):
        def __init__(self) -> None:
            self.players, self.actions = 1, 2
            self.state = ab.record(ply=np.int8)

        def turn(self, state: Any) -> int:
            return ab.CHANCE if state.ply == 2 else ab.player(0)

        def legal(self, state: Any, player: int, actions: Any) -> int:
            actions[0], actions[1] = 0, 1
            return 2

        def step(self, state: Any, actions: Any, rewards: Any) -> None:
            state.ply += 1

    for game in (NoDice(), NoDice().interpreted()):
        for evaluator in (ab.Uniform(), ab.Rollout(), think):
            for limit in (None, 2):
                with pytest.raises(GameError, match="no chance verb"):
                    ab.search(
                        game.start(), simulations=10, evaluator=evaluator, config=ab.SearchConfig(max_nodes=limit)
                    )


class Circle(ab.CompiledGame):
    """Round and round: left or right on a ring, and nobody says what coming back is worth."""

    def __init__(self, places: int = 4, dice: bool = False) -> None:
        self.places, self.dice = places, dice
        self.players, self.actions, self.outcomes = 1, 2, 2
        self.state = ab.record(place=np.int8)

    def turn(self, state: Any) -> int:
        return ab.CHANCE if self.dice and state.place % 2 else ab.player(0)

    def legal(self, state: Any, player: int, actions: Any) -> int:
        actions[0], actions[1] = 0, 1
        return 2

    def chance(self, state: Any, outcomes: Any, chances: Any) -> int:
        outcomes[0], outcomes[1] = 0, 1
        chances[0], chances[1] = 0.5, 0.5
        return 2

    def step(self, state: Any, actions: Any, rewards: Any) -> None:
        state.place = (state.place + (1 if actions[0] == 0 else self.places - 1)) % self.places


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("dice", [False, True])
@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "interpreted"])
def test_cycles_nobody_declared(compiled, dice, settings):
    """An error that prints the way back; the graph is as before it."""
    game = Circle(dice=dice)
    game = game if compiled else game.interpreted()
    for evaluator in (ab.Uniform(), think):
        searcher = ab.Searcher(game, evaluator, SETTINGS[settings], threads=1)
        root = searcher.root(game.start())
        for _ in range(2):
            with pytest.raises(CycleError, match=r"declares no cycles.*Actions from the root: [01]( [01])*"):
                searcher.run(root, visits=100)
            root.graph.check()
            assert root.native.root_visits < 100


def test_joint_choices_beyond_32_bits():
    class Crowd(ab.ObjectGame):
        def __init__(self) -> None:
            self.players, self.actions = 17, 4

        def setup(self, random: ab.Random) -> Any:
            return 0

        def turn(self, state: Any) -> int:
            return 2**17 - 1 if state == 0 else ab.OVER

        def legal(self, state: Any, player: int) -> Any:
            return range(4)

        def step(self, state: Any, actions: Any) -> Any:
            return 1, [0.0] * 17

    game = Crowd()
    with pytest.raises(GameError, match="32 bits"):
        ab.search(game.start(), simulations=1, evaluator=ab.Uniform())


# Ctrl-C.

INTERRUPTED = """
import os, signal, sys, threading, time
import anabranch as ab
from tests.faults import Rounds, Trouble
kind, threads = sys.argv[1], int(sys.argv[2])
game = Rounds(Trouble()) if kind == "objects" else ab.games.load("connect_four")
evaluator = ab.Hashing(3).evaluate if kind == "python" else ab.Rollout() if kind == "rollout" else ab.Uniform()
config = ab.SearchConfig(max_nodes=50_000)
searcher = ab.Searcher(game, evaluator, config, threads=threads)
roots = [searcher.root(game.start()) for _ in range(3)]
searcher.run(roots, simulations=10)
sent = []
def interrupt():
    time.sleep(0.3)
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    searcher.run(roots, simulations=10**9)
except KeyboardInterrupt:
    late = time.perf_counter() - sent[0]
for root in roots:
    root.graph.check()
before = [root.native.root_visits for root in roots]
searcher.run(roots, simulations=20)
assert [root.native.root_visits for root in roots] == [count + 20 for count in before]
print(late)
"""


@pytest.mark.parametrize(
    ("kind", "threads"), [("uniform", 1), ("uniform", 3), ("rollout", 2), ("python", 1), ("objects", 1), ("objects", 3)]
)
def test_ctrl_c_stops_a_search(kind, threads):
    """Within 100 ms on a machine with nothing else to do; the graph stays usable."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, kind, str(threads)],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 1.0


def test_searches_are_collected_with_what_they_know():
    """A game that knows its own searches makes a circle through the engine; the garbage collector finds it."""
    trouble = Trouble()
    searcher = ab.Searcher(Rounds(trouble), ab.Uniform())
    root = searcher.root(searcher.game.start())
    searcher.run(root, simulations=5)
    trouble.raised = [root, searcher]  # type: ignore[list-item]
    watch = weakref.ref(trouble)
    del trouble, searcher, root
    gc.collect()
    assert watch() is None


def test_columns_show_edges_that_nodes_have_and_no_others(tmp_path):
    """Blocks of edges grow and move; what they leave behind is nobody's. Neither kept nor loaded graphs show it."""
    searcher = ab.Searcher(GAME, ab.Rollout(), threads=1)
    root = searcher.root(GAME.start())
    searcher.run(root, simulations=500)
    loaded = ab.Searcher(GAME, ab.Rollout(), threads=1).load(root.save(tmp_path / "root.npz"))
    moved = searcher.root(GAME.start())
    searcher.run(moved, simulations=500)
    moved.advance(3)
    for graph in (root.graph, loaded.graph, moved.graph):
        column, rows = graph.columns, 0
        for number in range(len(graph)):
            edges = graph.node(number).edges
            assert column["edges"][number] == rows
            assert column["edge_count"][number] == len(edges)
            for edge in edges:
                child = 2**32 - 1 if edge.child is None else edge.child
                facts = [int(column[name][rows]) for name in ("edge_parent", "edge_visits", "edge_child")]
                assert facts == [number, edge.visits, child]
                assert column["edge_value"][rows].tolist() == edge.value.tolist()
                rows += 1
        assert rows == len(column["edge_visits"])


def test_columns_are_those_of_now_or_refused():
    """Read once, they are read again after a search, and are gone with their graph."""
    searcher = ab.Searcher(GAME, ab.Uniform(), threads=1)
    root = searcher.root(GAME.start())
    searcher.run(root, simulations=50)
    graph = root.graph
    assert graph.columns is graph.columns
    searcher.run(root, simulations=50)
    assert len(graph.columns["visits"]) == len(graph) == 101
    assert graph.columns["edge_visits"].sum() + len(graph) == graph.columns["visits"].sum()
    root.advance(3)
    with pytest.raises(UsageError, match="moved on"):
        _ = graph.columns
    for number in (1.5, "a", None, -1, 10**9):
        with pytest.raises(UsageError, match="there is no node"):
            root.graph.node(number)  # type: ignore[arg-type]


def test_kept_evaluations_count_and_are_bounded():
    """Where positions come back nothing becomes unreachable: memory and the time of a move must not grow for ever."""
    game = Torus()
    config = ab.SearchConfig(max_nodes=300, max_bytes=300_000)
    searcher = ab.Searcher(game, ab.Hashing(), config, threads=1)
    root, alone = searcher.root(game.start()), searcher.root(game.start())
    most = 0
    for move in range(30):
        searcher.run(root, simulations=300)
        most = max(most, root.graph.bytes)
        root.advance(move % 16, keep="evaluations")
    assert most <= 300_000
    searcher.run(alone, simulations=1)
    assert len(root.graph) == 1
    assert (
        10_000 < root.graph.bytes - alone.graph.bytes < 80_000
    )  # kept: as many states as nodes, a quarter of the bytes


class Torus(ab.CompiledGame):
    players, actions, cycles, discount, returns, rewards_along = 1, 16, "bootstrap", 0.99, (0, 1), True
    state = ab.record(at=(np.int16, 8))

    def turn(self, state):
        return ab.player(0)

    def legal(self, state, player, actions):
        for i in range(16):
            actions[i] = i
        return 16

    def step(self, state, actions, rewards):
        axis, back = actions[0] // 2, actions[0] % 2
        state.at[axis] = (state.at[axis] + 1 - 2 * back) % 1000


THREADLESS = """
import resource, numpy as np, anabranch as ab
game = ab.games.load("connect_four")
kind = {kind!r}
roots = 1 if kind == "team" else 64
evaluator = ab.Rollout(count=8 if kind == "team" else 1)
if kind == "asked":
    evaluator = lambda batch: (None, np.zeros((len(batch), 2)))
def searched(threads, depth):
    searcher = ab.Searcher(game, evaluator, ab.SearchConfig(depth=depth), threads=threads)
    made = [searcher.root(game.start(), stream=number) for number in range(roots)]
    return [result.visits.tolist() for result in searcher.run(made, simulations=20)]
expected = [searched(1, depth) for depth in (1, 2)]
used = int(open("/proc/self/statm").read().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (used + 40 * 2**20, -1))  # room for a few stacks of 8 MB
assert [searched(64, depth) for depth in (1, 2)] == expected
"""


@pytest.mark.memory
@pytest.mark.parametrize("kind", ["roots", "team", "asked"])
def test_where_no_more_threads_start_fewer_do_the_work(kind):
    done = subprocess.run([sys.executable, "-c", THREADLESS.format(kind=kind)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


FORKING = """
import os, threading, time, anabranch as ab
game = ab.games.load("connect_four")
def search(count):
    searcher = ab.Searcher(game, ab.Uniform(), threads=2)
    searcher.run([searcher.root(game.start()) for _ in range(count)], simulations=300)
search(2)
def work():
    while True:
        search(8)
for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
for _ in range(60):
    child = os.fork()
    if child == 0:
        search(4)
        os._exit(0)
    ended, status, until = 0, 0, time.monotonic() + 60
    while not ended and time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        time.sleep(0.002)
    if not ended or status:
        os.kill(child, 9)
        os.write(1, b"hung" if not ended else b"failed")
        os._exit(1)
os._exit(0)
"""


@pytest.mark.memory
def test_a_process_may_be_forked_while_threads_search():
    """What all searches share is not left locked in the child, whose other threads are gone."""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKING], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
