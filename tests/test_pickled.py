"""Results sent to other processes: they say and show what they did, and of the graph what came along."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import sys

import numpy as np
import pytest

import anabranch as ab
from anabranch.errors import UsageError

ARRAYS = ("policy", "visits", "q", "prior", "value", "target")


def searched(name: str, moves: tuple[int, ...] = (), **options):
    state = ab.games.load(name, **options).start()
    for move in moves:
        state, _ = state.step(move)
    return state


def sent(result: ab.Result) -> ab.Result:
    made = pickle.loads(pickle.dumps(result))
    assert isinstance(made, ab.Result)
    return made


def assert_alike(one: ab.Result, other: ab.Result) -> None:
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert one.state == other.state
    assert (one.action, one.line, one.nodes, one.simulations) == (
        *(other.action, other.line, other.nodes),
        other.simulations,
    )
    assert one.to_json() == other.to_json()
    assert str(one) == str(other)
    assert one._repr_html_() == other._repr_html_()
    assert one.picture().svg == other.picture().svg


STATES = {
    "one acts": searched("connect_four", (3, 3)),
    "two act at once": searched("matrix", payoffs="rock_paper_scissors"),
    "dice": searched("pig", (0,)),
    "over": searched("take_away", (1,), stones=2),
    "many lines": searched("tic_tac_toe", (4,)),
}


@pytest.mark.parametrize("simulations", [0, 1, 300])
@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
def test_a_result_says_the_same_elsewhere(state, simulations):
    for result in (
        ab.search(state, simulations=simulations, evaluator=ab.Hashing()),
        ab.Reference(state, ab.Hashing()).run(simulations=min(simulations, 60)),
    ):
        there = sent(result)
        assert_alike(result, there)
        assert_alike(there, sent(there))


def test_rules_for_moves_read_it_as_before():
    """Lower bounds need variances, forced playouts and the scale `graph` need the range of values: all come along."""
    config = ab.SearchConfig(selector=ab.Puct(scale="graph"), forced=ab.ForcedPlayouts(), noise=ab.RootNoise())
    state = STATES["many lines"]
    for result in (
        ab.search(state, simulations=200, config=config),
        ab.Reference(state, ab.Hashing(), config).run(simulations=100),
    ):
        for rule in ("visits", "lcb", "regularised"):
            before = ab.move_policy(result, 1, rule)
            assert ab.move_policy(sent(result), 1, rule).tolist() == before.tolist()


def test_a_result_after_its_root_moved_on_says_so_there_too():
    game = ab.games.load("tic_tac_toe")
    searcher = ab.Searcher(game)
    root = searcher.root(game.start())
    (result,) = searcher.run(root, simulations=50)
    root.advance(result.line[0])
    assert_alike(result, sent(result))
    with pytest.raises(UsageError, match="gone: its root had moved on before the result was sent"):
        sent(result).graph.node(0)


def test_a_graph_that_was_searched_on_is_told_from_the_result():
    game = ab.games.load("tic_tac_toe")
    searcher = ab.Searcher(game)
    root = searcher.root(game.start())
    (result,) = searcher.run(root, simulations=50)
    searcher.run(root, simulations=50)
    assert "searched on since (50 visits then, 100 now)" in str(sent(result))
    assert_alike(result, sent(result))


def test_the_rest_of_the_graph_says_where_it_is():
    result = ab.search(STATES["many lines"], simulations=500)
    graph = sent(result).graph
    assert len(graph) == len(result.graph)
    assert graph.node(0).visits == result.graph.node(0).visits
    assert [edge.visits for edge in graph.node(0).edges] == [edge.visits for edge in result.graph.node(0).edges]
    unknown = next(number for number in range(len(graph)) if number not in graph.views)
    with pytest.raises(UsageError, match=f"stayed in the process that searched it, and node {unknown} with it"):
        graph.node(unknown)
    for name in ("columns", "picture", "children", "native", "check"):
        with pytest.raises(UsageError, match=f"stayed in the process .* no graph.{name}.* Read the graph before"):
            getattr(graph, name)
    with pytest.raises(UsageError, match=r"no node 100000; the graph had"):
        graph.node(100_000)
    with pytest.raises(AttributeError, match="colums"):
        _ = graph.colums


def test_it_is_small_whatever_the_graph_is():
    """A hundred thousand simulations make as many nodes; what is sent has the lines that are shown."""
    small = ab.search(STATES["one acts"], simulations=1000, evaluator=ab.Uniform())
    large = ab.search(STATES["one acts"], simulations=100_000, evaluator=ab.Uniform())
    assert len(pickle.dumps(large)) < 40_000
    assert len(pickle.dumps(large)) < 3 * len(pickle.dumps(small))


def test_a_copy_keeps_its_graph_and_a_deep_one_does_not():
    result = ab.search(STATES["many lines"], simulations=50)
    assert copy.copy(result).graph is result.graph
    assert_alike(result, copy.deepcopy(result))


def search_there(seed: int) -> ab.Result:
    return ab.search(ab.games.load("tic_tac_toe").start(), simulations=100, config=ab.SearchConfig(seed=seed))


FROM_A_FILE = """
from dataclasses import dataclass
import anabranch as ab

@dataclass(frozen=True)
class Pile:
    left: int

class Own(ab.ObjectGame):
    def __init__(self, stones=Pile(5)):
        self.players, self.actions, self.stones = 2, 2, stones

    def setup(self, random):
        return Pile(self.stones.left * 2)

    def turn(self, pile):
        return ab.OVER if pile.left == 0 else ab.player(pile.left % 2)

    def legal(self, pile, player):
        return [0, 1] if pile.left > 1 else [0]

    def step(self, pile, actions):
        left = pile.left - 1 - max(actions)
        return Pile(left), [1.0, -1.0] if left == 0 else [0.0, 0.0]
"""


def searched_there(state: ab.State) -> tuple[ab.Game, ab.State, ab.Result]:
    return state.game, state, ab.search(state, simulations=30)


def test_games_of_files_go_to_other_processes_and_back(tmp_path):
    """The class, its game, states that are objects of the file's own classes, and results; none was loaded there."""
    path = tmp_path / "own_game.py"
    path.write_text(FROM_A_FILE)
    game = ab.games.load(f"{path}:Own")
    module = sys.modules[type(game).__module__]
    state: ab.State = module.Own(module.Pile(3)).start()
    for thing in (type(game), game, state, ab.search(state, simulations=30)):
        assert type(pickle.loads(pickle.dumps(thing))) is type(thing)
    assert pickle.loads(pickle.dumps(type(game))) is type(game)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        there, state_there, result = pool.apply(searched_there, (state,))
    assert (there, state_there) == (state.game, state)
    assert result.visits.tolist() == searched_there(state)[2].visits.tolist()
    assert_alike(result, sent(result))


def test_an_excerpt_is_shown_in_a_line():
    result = ab.search(STATES["many lines"], simulations=500)
    graph = sent(result).graph
    assert repr(graph) == f"<Excerpt of a graph: {len(graph.views)} of {len(graph)} nodes>"


def test_a_pool_returns_results():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        there = pool.map(search_there, [0, 1])
    for seed, result in enumerate(there):
        here = search_there(seed)
        assert result.visits.tolist() == here.visits.tolist()
        assert str(result) == str(here)
