"""A search in slices finds what it finds in one run."""

from __future__ import annotations

import time

import numpy as np
import pytest

import anabranch as ab
from anabranch.errors import UsageError
from anabranch.search.engine.analysis import Analysis

CASES = {
    "rollouts": ("connect_four", {}, None, ab.SearchConfig(seed=4), 3000),
    "dice": ("pig", {}, ab.Uniform(), ab.SearchConfig(chance=ab.Chance(draws=2)), 2000),
    "at once": ("goofspiel", {"cards": 4}, ab.Hashing(), None, 2000),
    "chance root": ("random_game", {"seed": 3}, ab.Hashing(), ab.SearchConfig(chance=ab.Chance(exact_up_to=9)), 1000),
    "reference": ("goofspiel", {"cards": 3}, ab.Uniform(), ab.SearchConfig(simultaneous=ab.RegretMatching()), 100),
    "interpreted": ("take_away", {"compiled": False}, ab.Hashing(), None, 100),
    "waves": ("connect_four", {}, lambda batch: ab.Hashing().evaluate(batch), ab.SearchConfig(width=7), 1000),
    "waves in the engine": ("connect_four", {}, None, ab.SearchConfig(width=8, noise=ab.RootNoise()), 2999),
    "nothing": ("tic_tac_toe", {}, None, None, 0),
}


def finish(analysis: Analysis) -> None:
    while analysis.advance():
        pass


@pytest.mark.parametrize("budget", ["simulations", "visits"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_slices_find_what_one_run_finds(case, budget):
    name, options, evaluator, config, count = case
    state = ab.games.load(name, **options).start()
    whole = ab.search(state, **{budget: count}, evaluator=evaluator, config=config)
    analysis = Analysis(state, **{budget: count}, evaluator=evaluator, config=config)
    slices, share = 1, 0.0
    while analysis.advance(0.0005):
        slices += 1
        assert share <= analysis.share < 1.0
        share = analysis.share
    assert analysis.share == 1.0
    assert not analysis.advance()
    assert slices > 2 or count == 0
    found = analysis.result
    for name in ("visits", "policy", "q", "prior", "value"):
        assert np.array_equal(getattr(found, name), getattr(whole, name), equal_nan=True), name
    assert (found.line, found.nodes, found.simulations) == (whole.line, whole.nodes, whole.simulations)


def test_waves_in_flight_end_with_their_slice_and_slices_are_of_one_size():
    """So two analyses agree whatever time their slices are given, and no visit is lost."""
    state = ab.games.load("connect_four").start()
    found = []
    for seconds in (0.0, 0.5):
        analysis = Analysis(
            state,
            simulations=700,
            evaluator=lambda batch: ab.Hashing().evaluate(batch),
            config=ab.SearchConfig(width=4, depth=3),
        )
        while analysis.advance(seconds):
            assert analysis.simulations % 128 == 0  # 32 waves of 4
        found.append(analysis.result)
    assert found[0].simulations == 700
    assert (found[0].visits == found[1].visits).all()


def test_time_is_a_budget_too():
    analysis = Analysis(ab.games.load("tic_tac_toe").start(), seconds=0.05)
    while analysis.advance(0.01):
        assert 0 < analysis.share < 1
    assert analysis.seconds >= 0.05
    assert analysis.simulations > 0
    none = Analysis(ab.games.load("tic_tac_toe").start(), seconds=0)
    assert not none.advance()
    assert none.result.simulations == 0


def test_an_evaluator_slower_than_a_slice_is_waited_for():
    """The first slice passes with the evaluation of the root, which is no simulation; the search goes on."""
    calls = []

    def evaluator(batch):
        calls.append(len(batch))
        time.sleep(0.01)
        return ab.Hashing().evaluate(batch)

    analysis = Analysis(
        ab.games.load("tic_tac_toe").start(), seconds=60, evaluator=evaluator, config=ab.SearchConfig(width=4)
    )
    assert analysis.advance(0.001)
    while len(calls) < 3 and analysis.advance(0.001):
        pass
    assert analysis.simulations >= 4


def test_where_the_game_is_over_there_is_nothing_to_search():
    state = ab.games.load("take_away", stones=1).start().step(0)[0]
    assert state.over
    for budget in ({"simulations": 10}, {"visits": 10}, {"seconds": 100.0}):
        analysis = Analysis(state, **budget)
        assert not analysis.advance()
        assert analysis.simulations == 0


def test_an_interruption_keeps_what_was_found():
    calls = []

    def evaluator(batch):
        calls.append(batch)
        if len(calls) == 30:
            raise KeyboardInterrupt
        return None, np.zeros((len(batch), 2))

    state = ab.games.load("tic_tac_toe").start()
    analysis = Analysis(state, simulations=100, evaluator=evaluator)
    with pytest.raises(KeyboardInterrupt):
        finish(analysis)
    assert 20 <= analysis.result.simulations < 30
    finish(analysis)
    whole = ab.search(state, simulations=100, evaluator=ab.Uniform())
    assert (analysis.result.visits == whole.visits).all()


def test_a_search_goes_on_from_a_file(tmp_path):
    state = ab.games.load("tic_tac_toe").start()
    first = Analysis(state, simulations=100)
    finish(first)
    path = first.save(tmp_path / "search.npz")
    second = Analysis(state, simulations=200, load=path)
    finish(second)
    assert (second.simulations, second.visits) == (200, 300)
    assert (second.result.visits == ab.search(state, simulations=300).visits).all()
    with pytest.raises(UsageError, match="another position"):
        Analysis(state.step(0)[0], simulations=1, load=path)
