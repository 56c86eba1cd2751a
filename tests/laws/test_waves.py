"""Laws of waves: results are a function of seed, width and depth alone, and a wave is its paths one at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.faults import Rounds, Trouble
from tests.golden.test_vectors import settings
from tests.golden.vectors import case_ids, load_case
from tests.laws.test_backup import walking_by
from tests.test_searcher import same_graph, snapshot

import anabranch as ab
from anabranch.errors import EvaluatorError, UsageError
from anabranch.evaluate.rows import Rows
from anabranch.games.random_game import RandomGame
from anabranch.search.reference.nodes import Kind
from anabranch.search.reference.walk import Walker

GAMES = {
    "connect_four": lambda: ab.games.load("connect_four"),
    "goofspiel": lambda: ab.games.load("goofspiel", cards=4),
    "pig": lambda: ab.games.load("pig", target=15),
    "three in a row": lambda: ab.games.load("n_in_a_row", size=4, line=3, players=3),
}
SHAPES = [(1, 1), (3, 1), (8, 1), (4, 2), (5, 3)]  # width and depth


def evaluate(batch: Any) -> tuple[Any, Any]:
    """A network in Python: every row is a function of its own state."""
    return ab.Hashing(7).evaluate(batch)


class InGroups:
    """The same evaluator, asked row group by row group, from the last to the first."""

    def __init__(self, size: int) -> None:
        self.size = size

    def evaluate(self, batch: Any) -> tuple[Any, Any]:
        starts = range(0, len(batch), self.size)
        parts = {}
        for start in reversed(starts):
            rows = Rows(batch, range(start, min(start + self.size, len(batch))))
            logits, values = evaluate(rows)
            if batch.joint and not rows.joint:  # a group of its own may have one acting player everywhere
                whole = np.zeros((len(rows), batch.game.players, batch.game.actions))
                whole[np.arange(len(rows)), rows.movers] = logits
                logits = whole
            parts[start] = logits, values
        logits, values = zip(*(parts[start] for start in starts), strict=True)
        return np.concatenate(logits), np.concatenate(values)


def searched(
    game: Any, evaluator: Any, config: ab.SearchConfig, *, threads: int = 1, alone: bool = False, simulations: int = 40
) -> list[Any]:
    """Search 16 roots, together or each in a run of its own; the whole graph of each."""
    searcher = ab.Searcher(game, evaluator, config, threads=threads)
    roots = [searcher.root(game.start(), stream=stream) for stream in range(16)]
    if alone:
        for root in reversed(roots):
            searcher.run(root, simulations=simulations)
    else:
        searcher.run(roots, simulations=simulations)
    return [snapshot(root) for root in roots]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", GAMES)
def test_results_depend_on_seed_width_and_depth_alone(name, shape):
    """Not on threads, nor on a cache, nor on which rows and which roots are asked about together."""
    game = GAMES[name]()
    config = ab.SearchConfig(width=shape[0], depth=shape[1], seed=5, noise=ab.RootNoise())
    expected = searched(game, evaluate, config)
    others = [searched(game, evaluate, config, threads=threads) for threads in (2, 4, 8)]
    others.append(searched(game, evaluate, config, alone=True))
    others.append(searched(game, InGroups(3), config, threads=2))
    others.append(searched(game, ab.Cached(evaluate), config, threads=2))
    for graphs in others:
        assert all(same_graph(a, b) for a, b in zip(expected, graphs, strict=True))
    assert not same_graph(expected[0], expected[1]), "streams have noise of their own"


def test_width_and_depth_do_change_what_is_found():
    """Else the law above would say nothing."""
    game = GAMES["connect_four"]()
    graphs = []
    for width, depth in SHAPES:
        searcher = ab.Searcher(game, evaluate, ab.SearchConfig(width=width, depth=depth), threads=1)
        root = searcher.root(game.start())
        searcher.run(root, simulations=200)
        graphs.append(snapshot(root))
    assert not any(same_graph(a, b) for number, a in enumerate(graphs) for b in graphs[:number])


@pytest.mark.parametrize("number", case_ids("puct")[::7])
def test_waves_of_one_are_the_sequential_search(number):
    """The vectors of two other implementations, which know no waves; and waves of one where nothing is virtual."""
    case = load_case(number, compiled=True)
    plain = settings(case.options).to_mapping()
    found = []
    for change in ({}, {"width": 1, "depth": 1, "virtual_loss": {"mode": "off"}}, {"virtual_loss": {"mode": "visits"}}):
        config = ab.SearchConfig.from_mapping(plain | change)
        searcher = ab.Searcher(case.game, case.evaluator, config, threads=1)
        root = searcher.root(case.game.start())
        searcher.run(root, simulations=case.options["simulations"])
        views = [root.graph.node(number) for number in range(len(root.graph))]
        visits = {case.game.id_of(view.state): view.visits for view in views if view.visits > 0}
        assert visits == case.expected["node_visits"]
        found.append(snapshot(root))
    assert same_graph(found[0], found[1])
    assert same_graph(found[0], found[2])


# The order of backups


class Recording(Walker):
    """Remembers the paths of the last wave, and what is to be counted along them."""

    paths: list[Any]

    def _back(self, steps, repeated, refreshed):
        self.paths.append((list(steps), list(repeated), refreshed))
        super()._back(steps, repeated, refreshed)


def values_of(nodes):
    return [(node.visits, list(node.mean)) for node in nodes]


@pytest.mark.parametrize("width", [2, 7, 16])
@pytest.mark.parametrize("settings", ["tree", "graph", "stop", "cycles"])
def test_a_wave_equals_its_paths_backed_up_one_at_a_time(settings, width):
    """Take the counts of a wave away again, then add path after path by hand, refreshing each leaf first."""
    for seed in range(6):
        game: Any = RandomGame(seed=seed, players=2, layers=5, width=4, chance=0.3, simultaneous=0.3).interpreted()
        if settings == "cycles":
            pig: Any = ab.games.load("pig", target=5 + seed)
            game = pig.interpreted()
        transposition = ab.Transposition(
            merge=settings != "tree", on_visit="stop" if settings == "stop" else "continue"
        )
        config = ab.SearchConfig(width=width, transposition=transposition, seed=seed, refresh="path")
        reference = walking_by(Recording)(game.start(), ab.Hashing(), config)
        reference.run(simulations=0)
        for _ in range(8):
            known = {
                node: ([(edge, edge.visits, edge.repeats) for edge in node.edges.values()], node.completed, node.mean)
                for node in reference.graph.nodes
                if node.visits > 0
            }
            reference.walker.paths = []
            reference.run(simulations=width)
            paths, after = reference.walker.paths, values_of(reference.graph.nodes)
            if reference.root.kind is not Kind.OVER:
                assert len(paths) == width
            for node in reference.graph.nodes:  # as after the answers, before the first backup
                edges, node.completed, node.mean = known.get(
                    node, ([], 0, list(node.evaluation.values if node.evaluation else node.mean))
                )
                for edge in node.edges.values():
                    edge.visits = edge.repeats = 0
                for edge, visits, repeats in edges:
                    edge.visits, edge.repeats = visits, repeats
            for steps, repeated, refreshed in paths:
                if refreshed is not None:
                    reference.walker.refresh(refreshed)
                for edge in repeated:
                    edge.repeats += 1
                for node, edges, _ in reversed(steps):
                    for edge in edges:
                        edge.visits += 1
                    node.completed += node.kind is Kind.CHANCE
                    reference.walker.refresh(node)
            assert values_of(reference.graph.nodes) == after
            reference.graph.check()


# Ask and tell


def asked_and_told(searcher: ab.Searcher, roots: Any, simulations: int, *, slips: bool = False) -> int:
    """Search by hand, as many batches open as the depth allows; return the most that were open.

    With slips, every answer is first told wrongly, one way after the other.
    """
    most, told = 0, 0
    waiting: list[Any] = []
    batch = searcher.ask(roots, simulations=simulations)
    while batch is not None or waiting:
        if batch is not None:
            waiting.append(batch)
            most = max(most, len(waiting))
        if batch is None or len(waiting) == searcher.config.depth:
            answered = waiting.pop(0)
            if slips:
                told += 1
                with pytest.raises(EvaluatorError) as refused:
                    searcher.tell(*WRONG[told % len(WRONG)](len(answered), answered.game))
                assert "tell() it again" in "".join(refused.value.__notes__)
            searcher.tell(*evaluate(answered))
        batch = searcher.ask()
    return most


WRONG = (
    lambda rows, game: (None, np.zeros((rows + 1, game.players))),
    lambda rows, game: (None, np.full((rows, game.players), np.nan)),
    lambda rows, game: (np.zeros((rows, game.actions + 1)), np.zeros((rows, game.players))),
    lambda rows, game: (np.full((rows, game.players, game.actions), np.inf), np.zeros((rows, game.players))),
    lambda rows, game: ("logits", None),
)


@pytest.mark.parametrize("slips", [False, True], ids=["right", "wrong at first"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_asking_and_telling_is_running(shape, slips):
    """By hand, with one, two and three batches open, also where answers are refused at first: the same graphs."""
    for game in (GAMES["goofspiel"](), GAMES["pig"](), Rounds(Trouble())):
        config = ab.SearchConfig(width=shape[0], depth=shape[1], noise=ab.RootNoise(), forced=ab.ForcedPlayouts())
        by_hand = ab.Searcher(game, ab.Asked(), config, threads=1)
        by_itself = ab.Searcher(game, evaluate, config, threads=1)
        mine, its = ([s.root(game.start()) for _ in range(3)] for s in (by_hand, by_itself))
        assert asked_and_told(by_hand, mine, 50, slips=slips) == shape[1]
        results = by_itself.run(its, simulations=50)
        for one, other, result in zip(mine, its, results, strict=True):
            assert same_graph(snapshot(one), snapshot(other))
            assert one.simulations == result.simulations
            assert one.result.visits.tolist() == result.visits.tolist()


def test_what_cannot_be_asked_or_told():
    """Misuse is an error that says what to do; wrong answers change nothing, and what is dropped leaves no trace."""
    game = GAMES["connect_four"]()
    searcher = ab.Searcher(game, evaluate, ab.SearchConfig(width=4, depth=2), threads=1)
    root = searcher.root(game.start())
    searcher.run(root, visits=8)
    before = snapshot(root)
    with pytest.raises(UsageError, match="nothing was asked"):
        searcher.tell(None, np.zeros((4, 2)))
    with pytest.raises(UsageError, match="say what to search first"):
        searcher.ask()
    with pytest.raises(UsageError, match="say which roots"):
        searcher.ask(simulations=8)
    with pytest.raises(UsageError, match="budget"):
        searcher.ask(root)
    native = ab.Searcher(game, ab.Uniform())
    with pytest.raises(UsageError, match=r"inside the engine.*ab\.Searcher\(game, ab\.Asked\(\)\)"):
        native.ask(native.root(game.start()), simulations=8)
    asked = ab.Searcher(game, ab.Asked())
    with pytest.raises(UsageError, match=r"drive it by searcher\.ask"):
        asked.run(asked.root(game.start()), simulations=8)
    for wrong in (
        (None, np.zeros((3, 2))),
        (None, np.zeros((5, 2))),
        (np.zeros((4, 6)), np.zeros((4, 2))),
        (None, np.full((4, 2), np.nan)),
    ):
        first, second = searcher.ask(root, simulations=100), searcher.ask()
        assert first is not None
        assert second is not None
        assert len(first) == 4
        with pytest.raises(UsageError, match="call tell"):
            searcher.ask()
        with pytest.raises(UsageError, match="under way"):
            searcher.ask(root, simulations=8)
        with pytest.raises(UsageError, match="being searched"):
            searcher.run(root, simulations=8)
        with pytest.raises(UsageError, match="being searched"):
            root.advance(3)
        with pytest.raises(EvaluatorError):
            searcher.tell(*wrong)
        assert root.native.in_flight
        searcher.drop()
        with pytest.raises(UsageError, match="nothing was asked"):
            searcher.tell(*evaluate(second))
        assert not root.native.in_flight
        assert same_graph(snapshot(root), before)
    searcher.ask(root, simulations=8)
    searcher.drop()
    searcher.drop()
    assert same_graph(snapshot(root), before)
    searcher.run(root, visits=50)
    root.graph.check()
    assert root.native.root_visits == 50
