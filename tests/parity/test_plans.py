"""Planning in models: the engine equals the reference, and exact rules as a model equal the search of the game."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from tests.imagined import Chain, Rules, Tables
from tests.parity.compare import compare_graphs, compare_results
from tests.parity.draw import dice_of, one_of

import anabranch as ab
from anabranch import _native
from anabranch.models.reference import reference_plan

MUZERO = ab.Puct(c_off=2.0, scale="node", first_play=ab.FirstPlay.lowest())
SELECTORS = [
    MUZERO,
    ab.Puct(),
    ab.Puct(scale="none", first_play=ab.FirstPlay.parent()),
    ab.Puct(first_play=ab.FirstPlay.reduced(0.3), w0=0.5),
    ab.Puct(ties="random"),
    ab.Ucb1(),
    ab.Gumbel(),
    ab.Gumbel(considered=3, scale="graph"),
    ab.Gumbel(considered=40, c_scale=1.0, scale="none"),
]
MODELS = {
    "players": [1, 1, 2, 3],
    "actions": [1, 3, 7, 70, 150],
    "masks": [False, True],
    "discounts": [False, True],
    "movers": [False, True],
    "rewards": [True, True, False],
    "double": [False, False, True],
    "view": ["mover", "seats"],
}
SETTINGS = {
    "selector": SELECTORS,
    "virtual_loss": [ab.VirtualLoss(mode="loss"), ab.VirtualLoss(mode="visits"), ab.VirtualLoss(mode="off")],
    "width": [1, 1, 2, 5],
    "depth": [1, 1, 2, 3],
    "noise": [None, None, ab.RootNoise()],
    "forced": [None, None, ab.ForcedPlayouts()],
    "max_nodes": [None, None, None, 6],
    "backup": ["auto", "mean", "best"],
    "refresh": ["path", "path", "ancestors", "sweep"],
}


def drawn(table: dict[str, Any], seed: int) -> dict[str, Any]:
    return {name: one_of(values, dice_of(seed, name)) for name, values in table.items()}


@pytest.mark.parametrize("seed", range(60))
def test_engine_equals_reference(seed):
    model = Tables(seed, **drawn(MODELS, seed))
    config = ab.SearchConfig(**drawn(SETTINGS, seed), seed=seed)
    simulations = int(dice_of(seed, "budget").integers(1, 60))
    found = ab.plan(model, np.arange(3), config, simulations=simulations)
    for result, expected in zip(
        found, reference_plan(model, np.arange(3), config, simulations=simulations), strict=True
    ):
        result.graph.check()
        compare_graphs(result.graph, expected.graph)
        compare_results(result, expected)


@pytest.mark.parametrize("seed", range(25))
def test_stochastic_models_equal_the_reference(seed):
    options = drawn(MODELS, seed) | {"outcomes": 4, "actions": 4}
    model = Tables(seed, **options)
    settings = drawn(SETTINGS, seed) | {"max_nodes": None, "depth": 1}
    chance = one_of(
        [ab.Chance(), ab.Chance(draw="sampled"), ab.Chance(exact_up_to=4), ab.Chance(draws=3), ab.Chance(widen=1.0)],
        dice_of(seed, "chance"),
    )
    config = ab.SearchConfig(**settings, chance=chance, seed=seed)
    found = ab.plan(model, np.arange(3), config, simulations=40)
    for result, expected in zip(found, reference_plan(model, np.arange(3), config, simulations=40), strict=True):
        result.graph.check()
        compare_results(result, expected)
        if config.width == 1:  # else paths wait for afterstates, and nodes are made in another order
            compare_graphs(result.graph, expected.graph)


@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four", "othello", "n_in_a_row"])
@pytest.mark.parametrize(("width", "depth"), [(1, 1), (4, 1), (3, 2)])
@pytest.mark.parametrize("selector", [MUZERO, ab.Puct(scale="range"), ab.Gumbel(scale="node")])
def test_exact_rules_as_a_model_equal_the_search_of_the_game(name, width, depth, selector):
    game = ab.games.load(name)
    start = game.start()
    states = [start, start.step(start.legal()[0])[0]]
    model = Rules(game, ab.Hashing(3))
    config = ab.SearchConfig(
        selector=selector, width=width, depth=depth, transposition=ab.Transposition(merge=False), proofs="off", seed=5
    )
    planner = ab.Planner(model, config)
    found = planner.plan(states, visits=0)
    searcher = ab.Searcher(game, ab.Hashing(3), config, threads=1)
    roots = [searcher.root(state, stream=at) for at, state in enumerate(states)]
    if isinstance(selector, ab.Gumbel):  # drawn by the root's key, which is a latent's there and a state's here
        for state, ours, theirs in zip(states, found._searches, roots, strict=True):
            noise = np.random.default_rng(1).gumbel(size=len(state.legal())).tolist()
            searcher.run(theirs, visits=0)
            _native.set_gumbel(ours, noise)
            _native.set_gumbel(theirs.native, noise)
    found.run(simulations=60)
    for result, expected in zip(found, searcher.run(roots, simulations=60), strict=True):
        assert result.visits.tolist() == expected.visits.tolist()
        assert result.value.tolist() == expected.value.tolist()
        np.testing.assert_array_equal(result.q, expected.q)
        np.testing.assert_array_equal(result.policy, expected.policy)
        assert (result.line, result.nodes, result.action) == (expected.line, expected.nodes, expected.action)


@pytest.mark.parametrize("players", [1, 3])
@pytest.mark.parametrize(("width", "depth"), [(1, 1), (4, 1), (3, 2)])
def test_a_compiled_model_equals_its_source(players, width, depth):
    model = Chain(4, players)
    config = ab.SearchConfig(selector=MUZERO, width=width, depth=depth)
    found = ab.plan(model, np.arange(4), config, simulations=80)
    expected = ab.plan(model.interpreted(), np.arange(4), config, simulations=80)
    assert found.visits.tolist() == expected.visits.tolist()
    np.testing.assert_array_equal(found.value, expected.value)
    np.testing.assert_array_equal(found.q, expected.q)
    for ours, theirs in zip(
        found, reference_plan(model.interpreted(), np.arange(4), config, simulations=80), strict=True
    ):
        ours.graph.check()
        compare_results(ours, theirs)


def test_frozen_edges_of_a_full_graph():
    model = Tables(3, discounts=True, actions=4)
    config = ab.SearchConfig(selector=MUZERO, max_nodes=5)
    (result,) = ab.plan(model, [0], config, simulations=50)
    (expected,) = reference_plan(model, [0], config, simulations=50)
    assert len(result.graph) == 5
    assert result.graph.limited
    compare_graphs(result.graph, expected.graph)


def test_settings_that_a_tree_does_not_have_change_nothing():
    model = Tables(1)
    plain = ab.plan(model, [0, 1], ab.SearchConfig(selector=MUZERO), simulations=30)
    merged = dataclasses.replace(ab.SearchConfig(selector=MUZERO), transposition=ab.Transposition(merge=True))
    assert ab.plan(model, [0, 1], merged, simulations=30).visits.tolist() == plain.visits.tolist()
