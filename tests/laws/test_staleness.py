"""Laws of staleness: what `SearchConfig.refresh` recomputes beside the path, and what it never changes (section 14)."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from typing import Any

import numpy as np
import pytest
from tests.faults import VERBS, Trouble
from tests.golden.vectors import Evaluations
from tests.laws.test_backup import children_before_parents, walking_by
from tests.laws.test_convergence import STEADY, assert_values_converge, small_game
from tests.laws.test_reuse import an_action
from tests.tables import OVER, chance, decision, table
from tests.test_searcher import raised_by
from tests.test_wave_failures import GOAL, SETTINGS, ByKey, Dice, ReferenceTwin, Twins, hashing, spelled

import anabranch as ab
from anabranch.games.explicit import Explicit
from anabranch.games.random_game import RandomGame
from anabranch.search.reference.nodes import Kind
from anabranch.search.reference.staleness import ancestors, children_first
from anabranch.search.reference.walk import Walker

MODES: list[Any] = ["path", "parents", "ancestors", "sweep"]
CHANCE = [
    ab.Chance(exact_up_to=4),
    ab.Chance(exact_up_to=2),  # so that visits inside visits draw, and walk on through what is known
    ab.Chance(draws=3),
    ab.Chance(widen=1.0, widen_power=0.5),
    ab.Chance(exact_up_to=2, widen=0.7, draws=2),
]
TOGETHER: list[Any] = [None, ab.RegretMatching(), ab.Exp3(), ab.Ucb1(scale="graph"), ab.MatrixGame()]


def some_game(seed: int) -> Any:
    """Return a random game: chance, players who choose at once, up to three players, discounts."""
    players = 2 if seed % 5 == 4 else 1 + seed % 3  # the matrix selector wants two
    return RandomGame(
        seed,
        players=players,
        layers=5,
        width=4,
        chance=0.45,
        simultaneous=0.0 if players == 1 else 0.4,
        discount=(1.0, 0.9)[seed // 2 % 2],
    ).interpreted()


def some_settings(seed: int, **settings: Any) -> ab.SearchConfig:
    """Return settings that take turns: every chance mode, every selector, ends at transpositions, a full graph."""
    return ab.SearchConfig(
        simultaneous=TOGETHER[seed % 5],
        chance=CHANCE[seed // 5 % 5],
        transposition=ab.Transposition(on_visit="stop", leak=0.3) if seed % 6 == 5 else ab.Transposition(),
        max_nodes=12 if seed % 7 == 6 else None,
        seed=seed,
        **settings,
    )


def stale(reference: ab.Reference) -> int:
    """Return how many nodes are not what their children say, to the last bit; the graph is left as it is."""
    graph, order = reference.graph, children_before_parents(reference)
    known, low, high = [node.mean for node in order], list(graph.low), list(graph.high)
    for node in order:
        reference.walker.refresh(node)
    found = [node for node, mean in zip(order, known, strict=True) if node.mean != mean]
    for node, mean in zip(order, known, strict=True):
        node.mean = mean
    graph.low, graph.high = low, high
    return len(found)


def nodes_of(reference: ab.Reference) -> list[Any]:
    """Return all that nodes and edges hold, but for parents, which not every rule keeps."""
    return [node[1:] for node in spelled(reference)[0]]


# Ancestors


@pytest.mark.parametrize("start", range(0, 240, 20))
def test_ancestors_leave_nothing_stale(start):
    """Theorem: after every playout a second refresh of the whole graph changes nothing (there are no cycles)."""
    for seed in range(start, start + 20):
        reference = ab.Reference(some_game(seed).start(), ab.Hashing(), some_settings(seed, refresh="ancestors"))
        for _ in range(30):
            reference.run(simulations=1)
            assert stale(reference) == 0
        reference.graph.check()


@pytest.mark.hard
@pytest.mark.parametrize("depth", [1, 2])
def test_ancestors_leave_nothing_stale_after_waves(depth):
    for seed in range(200):
        config = some_settings(seed, refresh="ancestors", width=4, depth=depth)
        reference = ab.Reference(some_game(seed).start(), ab.Hashing(), config)
        for simulations in (4, 9, 17):
            reference.run(simulations=simulations)
            assert stale(reference) == 0
        reference.graph.check()


@pytest.mark.parametrize("refresh", ["path", "parents"])
def test_others_do_leave_something_stale(refresh):
    """Else the law would say nothing: in half the games somebody off the path is behind at some time."""
    behind = 0
    for seed in range(60):
        reference = ab.Reference(some_game(seed).start(), ab.Hashing(), some_settings(seed, refresh=refresh))
        behind += any(stale(reference) for _ in range(30) if reference.run(simulations=1))
    assert behind > (30 if refresh == "path" else 10)


@pytest.mark.parametrize("keep", ["graph", "evaluations", "nothing"])
def test_ancestors_leave_nothing_stale_when_the_root_moves_on(keep):
    """Parents are those of the kept graph: found breadth first over its nodes, edges in creation order."""
    moved = 0
    for seed in range(40):
        config = some_settings(seed, refresh="ancestors", width=1 + seed % 3)
        reference, dice = ab.Reference(some_game(seed).start(), ab.Hashing(), config), np.random.default_rng(seed)
        while not reference.state.over:
            reference.run(simulations=12)
            reference.graph.check()
            assert stale(reference) == 0
            reference.advance(an_action(reference.state, dice), keep=keep)
            nodes = reference.graph.nodes
            moved += len(nodes) > 1
            above: dict[Any, list[Any]] = {node: [] for node in nodes}
            for node in nodes:
                for child in dict.fromkeys(node.children()):
                    above[child].append(node)
            assert [list(node.parents) for node in nodes] == list(above.values())
            assert stale(reference) == 0
    assert (moved > 40) == (keep == "graph")


# Sweeps


@pytest.mark.hard
@pytest.mark.parametrize(("width", "depth"), [(1, 1), (4, 1), (3, 2)])
def test_nothing_is_stale_right_after_a_sweep(width, depth):
    """…and in between something is: every so many visits of the root, those kept by an advance counted."""
    behind = 0
    for seed in range(100):
        config = some_settings(seed, refresh="sweep", sweep_every=12, width=width, depth=depth)
        reference, dice = ab.Reference(some_game(seed).start(), ab.Hashing(), config), np.random.default_rng(seed)
        for _ in range(2):
            for visits in range(12, 49, 6):
                if reference.root_visits < visits and not reference.state.over:
                    reference.run(visits=visits)
                    count = stale(reference)
                    assert count == 0 or visits % 12, "a sweep is complete"
                    behind += count > 0
            if not reference.state.over:
                reference.advance(an_action(reference.state, dice))
    assert behind > 30


def test_a_sweep_of_every_visit_is_as_good_as_ancestors():
    """Both leave nothing stale after a visit, so the next chooses the same, where there are no visits inside visits."""
    for seed in range(40):
        dice = (ab.Chance(), ab.Chance(widen=1.0))[seed % 2]
        plain = dataclasses.replace(some_settings(seed, sweep_every=1), simultaneous=None, chance=dice)
        sweep, above = (
            ab.Reference(some_game(seed).start(), ab.Hashing(), dataclasses.replace(plain, refresh=mode))
            for mode in ("sweep", "ancestors")
        )
        sweep.run(simulations=40)
        above.run(simulations=40)
        assert nodes_of(sweep) == nodes_of(above)


# One level


class Scripted(Walker):
    """Follows a script instead of a selector: the choices of each playout, one after the other."""

    script: list[int]

    def _select(self, node):
        move = (self.script.pop(0),)
        return node.edges.get(move) or self._take(node, move), ()


def scripted(game: Any, playouts: Any, **settings: Any) -> dict[str, float]:
    """Follow a script; return the values by name."""
    reference = walking_by(Scripted)(game.start(), Evaluations(game), ab.SearchConfig(**settings))
    for playout in playouts:
        reference.walker.script = list(playout)
        reference.run(simulations=1)
        assert not reference.walker.script
    reference.graph.check()
    return {game.id_of(node.state): node.mean[0] for node in reference.graph.nodes if node.kind is not Kind.OVER}


@pytest.mark.parametrize(
    ("refresh", "values"),
    [
        ("path", {"C": 0.65, "A": 0.325, "B": 0.15, "X": 0.1, "R": 0.95 / 6}),
        ("parents", {"C": 0.65, "A": 0.325, "B": 0.325, "X": 0.1, "R": 0.95 / 6}),
        ("ancestors", {"C": 0.65, "A": 0.325, "B": 0.325, "X": 0.65 / 3, "R": 1.3 / 6}),
        ("sweep", {"C": 0.65, "A": 0.325, "B": 0.325, "X": 0.65 / 3, "R": 1.3 / 6}),
    ],
)
def test_one_level_by_hand(refresh, values):
    """R leads to X to B to C, and to A to C; the last playout takes C from .3 to .65 by way of A.

    A path leaves B at (0 + .3) / 2 = .15 and X at (0 + 2·.15) / 3 = .1. Parents take B to (0 + .65) / 2 = .325, one
    level up, and leave X. Ancestors take X to (0 + 2·.325) / 3 too, and R, with three visits to X and two to A.
    """
    game = Explicit(
        table(
            1,
            "R",
            R=decision(0, (0.0,), ("A", (0.0,)), ("X", (0.0,))),
            X=decision(0, (0.0,), ("B", (0.0,))),
            A=decision(0, (0.0,), ("C", (0.0,))),
            B=decision(0, (0.0,), ("C", (0.0,))),
            C=decision(0, (0.3,), ("end", (1.0,))),
            end=OVER,
        )
    ).interpreted()
    playouts = ([1], [1, 0], [1, 0, 0], [0], [0, 0, 0])  # R X, R X B, R X B C, R A, R A C end
    found = scripted(game, playouts, refresh=refresh, sweep_every=5)
    assert found == pytest.approx(values, abs=1e-15)


@pytest.mark.parametrize(
    ("refresh", "values"),
    [
        ("path", {"A": 0.15, "Q": 0.1, "W": 0.2 / 3, "V": 0.05}),
        ("parents", {"A": 0.325, "Q": 0.65 / 3, "W": 1.3 / 9, "V": 0.65 / 6}),
        ("ancestors", {"A": 0.325, "Q": 0.65 / 3, "W": 1.3 / 9, "V": 0.65 / 6}),
    ],
)
def test_a_node_that_a_playout_stops_at_is_the_first_of_its_path(refresh, values):
    """W and V lead to Q to A to C. C rises to .65 by way of X, which takes A along; then a playout stops at Q.

    Q is refreshed to (0 + 2·.325) / 3 before it counts for W, and V, its other parent, to half of that.
    """
    game = Explicit(
        table(
            1,
            "R",
            (-1.0, 1.0),
            R=decision(0, (0.0,), ("X", (0.0,)), ("Q", (0.0,)), ("W", (0.0,)), ("V", (0.0,))),
            **{name: decision(0, (0.0,), (to, (0.0,))) for name, to in ("XC", "QA", "AC", "WQ", "VQ")},
            C=decision(0, (0.3,), ("end", (1.0,))),
            end=OVER,
        )
    ).interpreted()
    playouts = ([0], [0, 0], [1], [1, 0], [1, 0, 0], [2], [2, 0], [3], [3, 0], [0, 0, 0], [2, 0])
    found = scripted(game, playouts, refresh=refresh, transposition=ab.Transposition(on_visit="stop"))
    assert {name: found[name] for name in values} == pytest.approx(values, abs=1e-15)


@pytest.mark.parametrize(
    ("refresh", "values"),
    [
        ("path", {"H": 0.15, "Z": 0.1, "coin": -0.175}),
        ("parents", {"H": 0.325, "Z": 0.65 / 3, "coin": -0.0875}),
        ("ancestors", {"H": 0.325, "Z": 0.65 / 3, "coin": -0.0875}),
    ],
)
@pytest.mark.parametrize("dice", [ab.Chance(exact_up_to=2), ab.Chance(draws=2, offset=0.0)], ids=["exact", "draws"])
def test_the_children_of_a_chance_node_that_is_opened_are_leaves(dice, refresh, values):
    """Z leads to H to D, and a coin to H and T. D rises by way of X and takes H along; then the coin is opened.

    Its child H was known, so nothing is new to H; but H is a leaf of this visit, and Z, its other parent, is refreshed.
    """
    game = Explicit(
        table(
            1,
            "R",
            (-1.0, 1.0),
            R=decision(0, (0.0,), ("X", (0.0,)), ("Z", (0.0,)), ("coin", (0.0,))),
            **{name: decision(0, (0.0,), (to, (0.0,))) for name, to in ("XD", "ZH", "HD")},
            coin=chance((0.5, "H", (0.0,)), (0.5, "T", (0.0,))),
            D=decision(0, (0.3,), ("end", (1.0,))),
            T=decision(0, (-0.5,), ("end", (0.0,))),
            end=OVER,
        )
    ).interpreted()
    playouts = ([1], [1, 0], [1, 0, 0], [0], [0, 0, 0], [2])
    found = scripted(game, playouts, refresh=refresh, chance=dice)
    assert {name: found[name] for name in values} == pytest.approx(values, abs=1e-15)


# Orders


class Place:
    """A node with parents and children, and nothing else."""

    def __init__(self, name: int) -> None:
        self.name = name
        self.parents: dict[Any, None] = {}
        self.edges: dict[Any, Any] = {}

    def lead_to(self, *children: Place) -> None:
        for child in children:
            child.parents[self] = None
            self.edges[len(self.edges)] = type("Way", (), {"child": child})


def names(places: Any) -> list[int]:
    return [place.name for place in places]


def test_orders_by_hand():
    """0 leads to 1, 2 and 4, 1 to 3, 2 to 1 and 3, 3 to 4; and, where there is a cycle, 4 to 2."""
    places: list[Any] = [Place(name) for name in range(5)]
    root, one, two, three, four = places
    root.lead_to(one, two, four)
    one.lead_to(three)
    two.lead_to(one, three)
    three.lead_to(four)
    assert names(children_first(root)) == [4, 3, 1, 2, 0]
    assert names(ancestors([four])) == [4, 3, 1, 2, 0]
    assert names(ancestors([one, three])) == [3, 1, 2, 0], "children before parents, whichever comes first"
    four.lead_to(two)
    assert names(children_first(root)) == [2, 4, 3, 1, 0]
    assert names(ancestors([three])) == [3, 1, 2, 4, 0]


def test_deep_graphs_need_no_recursion():
    places: list[Any] = [Place(name) for name in range(20_000)]
    for above, below in itertools.pairwise(places):
        above.lead_to(below)
    assert names(children_first(places[0])) == names(ancestors([places[-1]])) == list(range(20_000))[::-1]


# What refreshing never changes


@pytest.mark.parametrize("refresh", MODES)
def test_the_path_is_the_default_and_knows_no_parents(refresh):
    game = some_game(4)
    reference = ab.Reference(game.start(), ab.Hashing(), ab.SearchConfig(refresh=refresh))
    reference.run(simulations=60)
    reference.graph.check()
    kept = any(node.parents for node in reference.graph.nodes)
    assert kept == (refresh in ("parents", "ancestors"))
    if refresh == "path":
        plain = ab.Reference(game.start(), ab.Hashing())
        plain.run(simulations=60)
        assert spelled(plain) == spelled(reference)


@pytest.mark.parametrize("refresh", MODES)
def test_on_a_tree_only_the_last_path_changes_anything(refresh):
    """Where no two lines meet nothing can be stale, so all rules find the same graph."""
    for seed in range(30):
        game = RandomGame(seed, players=2, layers=4, merge=False, simultaneous=0.3, chance=0.3).interpreted()
        tree = ab.Transposition(merge=False)
        config = ab.SearchConfig(transposition=tree, chance=CHANCE[seed % 5], width=1 + seed % 3, seed=seed)
        found = []
        for other in (config, dataclasses.replace(config, refresh=refresh, sweep_every=7)):
            reference = ab.Reference(game.start(), ab.Hashing(), other)
            reference.run(simulations=50)
            assert stale(reference) == 0
            found.append(nodes_of(reference))
        assert found[0] == found[1]


@pytest.mark.hard
@pytest.mark.parametrize("refresh", MODES[1:])
def test_values_still_converge(refresh):
    games = [small_game(seed, players=2, zero_sum=True) for seed in range(200)]
    assert_values_converge(games, 200, dataclasses.replace(STEADY, refresh=refresh, sweep_every=10))


@pytest.mark.parametrize("refresh", MODES)
@pytest.mark.parametrize(("width", "depth"), [(1, 1), (4, 2)])
def test_cycles_are_refreshed_once_around(refresh, width, depth):
    """Pig comes back to where it was: every rule ends, and finds a value near the exact one."""
    game: Any = ab.games.load("pig", target=8, compiled=False)
    config = ab.SearchConfig(refresh=refresh, sweep_every=10, width=width, depth=depth)
    reference = ab.Reference(game.start(), ab.Uniform(), config)
    result = reference.run(simulations=600)
    reference.graph.check()
    assert result.value[0] == pytest.approx(float(ab.solve(game).value[0]), abs=0.15)


# Undo


@pytest.mark.hard
@pytest.mark.parametrize("refresh", MODES)
@pytest.mark.parametrize("settings", SETTINGS)
def test_a_wave_in_which_a_verb_fails_never_was(settings, refresh):
    """Values beside the path, the range of values and parents come back too; the next run goes on from there."""
    failures = 0
    for number, verb in enumerate(VERBS):
        width, depth = ((4, 1), (3, 2))[number % 2]
        together = ab.Exp3() if verb == "bounds" else TOGETHER[number % 3]  # Exp3 asks for bounds inside a backup
        config = ab.SearchConfig(
            width=width,
            depth=depth,
            refresh=refresh,
            sweep_every=3,
            simultaneous=together,
            **SETTINGS[settings],
        )
        trouble = Trouble()
        game = Dice(trouble)
        twins = Twins(functools.partial(ReferenceTwin, game, hashing, config))
        for at in (7, 25, 40, 60):
            reference = ab.Reference(game.start(), hashing, config)
            trouble.arm(verb, at, KeyboardInterrupt if at % 3 == 0 else ValueError)
            error = raised_by(reference.run, visits=GOAL)
            trouble.disarm()
            if error is None:
                break
            failures += 1
            assert [error] == trouble.raised
            reference.graph.check()
            before, after = twins.at(0, reference.root_visits)
            assert spelled(reference) == before
            reference.run(visits=GOAL)
            assert spelled(reference) == after
    assert failures > 10


@pytest.mark.parametrize("refresh", MODES)
def test_a_wave_whose_evaluator_fails_never_was(refresh):
    """At the second question of a wave too, when visits inside an enumerated chance node are backed up already."""
    failures, evaluate = 0, ByKey()
    for width, depth in ((1, 1), (4, 1), (3, 2)):
        config = ab.SearchConfig(
            width=width, depth=depth, refresh=refresh, sweep_every=3, chance=ab.Chance(exact_up_to=2)
        )
        game = Dice(Trouble())
        twins = Twins(functools.partial(ReferenceTwin, game, hashing, config))
        for at in range(2, 14):
            reference = ab.Reference(game.start(), evaluate, config)
            evaluate.prepare("raises", at)
            error = raised_by(reference.run, visits=GOAL)
            evaluate.prepare("", 0)
            if error is None:
                break
            failures += 1
            reference.graph.check()
            before, after = twins.at(0, reference.root_visits)
            assert spelled(reference) == before
            reference.run(visits=GOAL)
            assert spelled(reference) == after
    assert failures > 15


class Interrupted(Walker):
    """Is interrupted at a given refresh, counted from now."""

    left = 0

    def refresh(self, node):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        super().refresh(node)


@pytest.mark.hard
@pytest.mark.parametrize("refresh", MODES)
def test_a_wave_interrupted_in_the_middle_of_a_backup_never_was(refresh):
    """At any refresh, on a path or beside it, when other paths of the wave are backed up already."""
    failures = 0
    for seed in range(30):
        game, config = some_game(seed), some_settings(seed, refresh=refresh, sweep_every=3, width=4, depth=1 + seed % 2)
        twins = Twins(functools.partial(ReferenceTwin, game, ab.Hashing(), config))
        for at in (9, 40, 75):
            reference = walking_by(Interrupted)(game.start(), ab.Hashing(), config)
            reference.walker.left = at * (4 if refresh == "ancestors" else 1)
            if raised_by(reference.run, visits=GOAL) is None:
                break
            failures += 1
            reference.graph.check()
            before, after = twins.at(0, reference.root_visits)
            assert spelled(reference) == before
            reference.run(visits=GOAL)
            assert spelled(reference) == after
    assert failures > 60
