"""Reference and engine agree with numbers computed by others."""

from __future__ import annotations

import pytest
from tests.golden.vectors import Evaluations, case_ids, load_case

import anabranch as ab
from anabranch import _native
from anabranch.games.explicit import EIGHT_NODES, Explicit
from anabranch.search.maths.root_rule import RootRule


class Engine:
    """One root of the engine, run like a `Reference`."""

    def __init__(self, state, evaluator, config):
        self.searcher = ab.Searcher(state.game, evaluator, config)
        self.root = self.searcher.root(state)

    def run(self, **budget):
        return self.searcher.run(self.root, **budget)[0]


SEARCHES = {"reference": (ab.Reference, False), "engine": (Engine, True), "interpreted": (Engine, False)}


def nodes_of(graph):
    """Return (state, visits, values) of every node of either graph."""
    if hasattr(graph, "nodes"):
        return [(node.state, node.visits, node.mean) for node in graph.nodes]
    views = (graph.node(number) for number in range(len(graph)))
    return [(view.state, view.visits, view.value.tolist()) for view in views]


def give_noise(searched, noise):
    """Let a root sample its choices by given noise in place of its own."""
    if isinstance(searched, ab.Reference):
        searched.walker.rule = RootRule(gumbel=[noise])
    else:
        _native.set_gumbel(searched.root.native, noise)


def settings(options):
    kind, amount = options["first_play"]
    exact_up_to = 10**9 if options["chance"] == "exact" else ab.Chance().exact_up_to
    return ab.SearchConfig(
        proofs="off",  # the contract without them
        selector=ab.Puct(
            first_play=ab.FirstPlay(kind, amount),
            ties="first",
            **{
                name: options[name]
                for name in ("c_init", "c_log", "c_base", "c_off", "epsilon", "scale", "w0", "weights")
            },
        ),
        chance=ab.Chance(offset=options["u0"], exact_up_to=exact_up_to),
        transposition=ab.Transposition(on_visit=options["on_transposition"], rho=options["rho"]),
    )


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("number", case_ids("puct"))
def test_conformance_vectors(number, search):
    """Visits of all nodes exactly, values to 1e-9: two independent implementations of docs/model.md agreed on these."""
    make, compiled = SEARCHES[search]
    case = load_case(number, compiled=compiled)
    result = make(case.game.start(), case.evaluator, settings(case.options)).run(
        simulations=case.options["simulations"]
    )
    result.graph.check()
    nodes = {case.game.id_of(state): (visits, mean) for state, visits, mean in nodes_of(result.graph) if visits > 0}
    assert {name: visits for name, (visits, _) in nodes.items()} == case.expected["node_visits"]
    for name, values in case.expected["node_Q"].items():
        assert nodes[name][1] == pytest.approx(values, abs=1e-9)
    root = case.game.start()
    assert isinstance(root.turn, tuple)
    for seat, visits in zip(root.turn, case.expected["root_visits"], strict=True):
        assert [int(result.visits[seat, action]) for action in root.legal(seat)] == visits


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("number", case_ids("gumbel"))
def test_conformance_vectors_of_gumbel(number, search):
    """With the noise given: visits of all nodes and the winner exactly, the improved policy and the value to 1e-11."""
    make, compiled = SEARCHES[search]
    case = load_case(number, "gumbel", compiled=compiled)
    options = {name: case.options[name] for name in ("considered", "c_visit", "c_scale", "scale")}
    state = case.game.start()
    searched = make(state, case.evaluator, ab.SearchConfig(proofs="off", selector=ab.Gumbel(**options)))
    give_noise(searched, case.options["gumbel"])
    result = searched.run(simulations=case.options["simulations"])
    result.graph.check()
    nodes = {case.game.id_of(found): visits for found, visits, _ in nodes_of(result.graph) if visits > 0}
    assert nodes == case.expected["node_visits"]
    assert isinstance(state.turn, tuple)
    [seat] = state.turn
    legal = state.legal(seat)
    assert [result.visits[seat, legal].tolist()] == case.expected["root_visits"]
    assert result.action == legal[case.expected["winner"]]
    assert result.policy[seat, legal] == pytest.approx(case.expected["improved_policy"], abs=1e-11)
    assert result.value == pytest.approx(case.expected["root_Q"], abs=1e-11)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize(
    ("on_visit", "values"),
    [("continue", (0.2, 0.258333, 0.255, 0.473214)), ("stop", (0.2, 0.233333, 0.17, 0.45))],
)
def test_eight_nodes(on_visit, values, search):
    """A trace worked out by hand: C is reached along two lines, and what one learns of it the other uses."""
    make, compiled = SEARCHES[search]
    game = Explicit(EIGHT_NODES) if compiled else Explicit(EIGHT_NODES).interpreted()
    config = ab.SearchConfig(
        proofs="off",
        selector=ab.Puct(c_init=1.0, c_log=0.0, epsilon=0.0, scale="none", first_play=ab.FirstPlay.parent()),
        transposition=ab.Transposition(on_visit=on_visit),
    )
    searched = make(game.start(), Evaluations(game), config)
    for simulations, visits, value in zip((3, 5, 9, 19), ([1, 2], [2, 3], [4, 5], [4, 15]), values, strict=True):
        result = searched.run(visits=simulations)
        assert result.visits[0].tolist()[:2] == visits
        assert result.value[0] == pytest.approx(value, abs=5e-7)
