"""Settings: values that cannot be right are refused where they are written, in words that help."""

from __future__ import annotations

import dataclasses
import math
from functools import partial
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest

import anabranch as ab
from anabranch.errors import UnknownNameError, UsageError
from anabranch.search.settings import config as module

PARTS = (
    *(ab.Puct, ab.Ucb1, ab.Gumbel, ab.RegretMatching, ab.MatrixGame, ab.Exp3),
    *(ab.Chance, ab.Transposition, ab.VirtualLoss, ab.SearchConfig),
)


@pytest.mark.parametrize("part", PARTS)
def test_every_setting_explains_itself(part):
    """Flags and docs are made from the fields, so each carries a text; and no part can be changed once made."""
    made = part()
    for name, hint in get_type_hints(part, include_extras=True).items():
        assert get_origin(hint) is Annotated
        [text] = hint.__metadata__
        assert text == text.strip()
        assert len(text) > 3
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(made, name, getattr(made, name))
    assert made == part()
    assert hash(made) == hash(part())


@pytest.mark.parametrize(
    ("part", "name", "bad"),
    [
        *[(ab.Puct, "c_base", bad) for bad in (0.0, -1.0, math.nan)],
        *[(ab.Puct, "epsilon", bad) for bad in (-0.1, math.nan)],
        *[(ab.Puct, "w0", bad) for bad in (-1.0, math.nan)],
        *[(ab.Ucb1, name, bad) for name in ("c", "w0") for bad in (-1.0, math.nan)],
        *[
            (part, "exploration", bad)
            for part in (ab.RegretMatching, ab.MatrixGame, ab.Exp3)
            for bad in (0.0, -0.1, 1.1, math.nan)
        ],
        *[(ab.Gumbel, name, bad) for name in ("c_visit", "c_scale", "noise") for bad in (-0.1, math.nan)],
        *[(ab.Gumbel, "considered", bad) for bad in (0, 1.5)],
        *[(ab.MatrixGame, "growth", bad) for bad in (-0.1, math.nan)],
        *[(ab.Chance, "exact_up_to", -1), (ab.Chance, "draws", 0), (ab.Chance, "widen_cap", 0)],
        *[(ab.Chance, "widen", bad) for bad in (0.0, -1.0, math.nan)],
        *[(ab.Chance, "widen_power", bad) for bad in (-0.1, 1.1, math.nan)],
        *[(ab.Chance, "offset", bad) for bad in (-0.1, 1.0, math.nan)],
        *[(ab.Transposition, "rho", bad) for bad in (0.0, -1.0, math.nan)],
        *[(ab.Transposition, "leak", bad) for bad in (-0.1, 1.1, math.nan)],
        *[(ab.Puct, name, bad) for name in ("c_init", "c_log", "c_off") for bad in (math.nan, math.inf, "1")],
        *[(part, "first_play", bad) for part in (ab.Puct, ab.Ucb1) for bad in (0.2, None)],
        *[(ab.FirstPlay, "amount", bad) for bad in (math.nan, -math.inf)],
        (ab.SearchConfig, "sweep_every", 0),
        *[(ab.SearchConfig, "max_nodes", 0), (ab.SearchConfig, "max_bytes", 0)],
    ],
)
def test_a_number_out_of_range_is_refused_by_name(part, name, bad):
    with pytest.raises(UsageError, match=f"{name} must be .*{bad}"):
        part(**{name: bad})


def words() -> list[tuple[type, str, str]]:
    """Return every setting that takes one of a few words, with those words."""
    found: list[tuple[type, str, str]] = []
    for part in (*PARTS, ab.FirstPlay):
        for name, hint in get_type_hints(part).items():
            if get_origin(hint) is Literal:
                found += [(part, name, word) for word in get_args(hint)]
    return found


@pytest.mark.parametrize(("part", "name", "word"), words())
def test_a_misspelt_word_is_refused_with_the_nearest(part, name, word):
    assert getattr(part(**{name: word}), name) == word
    with pytest.raises(UnknownNameError) as caught:
        part(**{name: word + "x"})
    assert f"{part.__name__}.{name}" in str(caught.value)
    assert repr(word) in str(caught.value) or word in str(caught.value)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("selector", ab.RegretMatching()),  # it needs several acting players
        ("selector", None),
        ("selector", "puct"),
        ("simultaneous", ab.Chance()),
        ("chance", ab.Puct()),
        ("transposition", True),
        ("virtual_loss", "off"),
    ],
)
def test_a_part_in_the_wrong_place_is_refused(name, wrong):
    with pytest.raises(UsageError, match=f"SearchConfig.{name} must be"):
        ab.SearchConfig(**{name: wrong})


def test_widening_grows_as_its_formula_says():
    """K(N) = min(cap, ⌈c·N^α⌉): 1, 2, 2, 2, 3 for the square root."""
    root = ab.Chance(widen=1.0, widen_power=0.5)
    assert [root.limit(n) for n in (1, 2, 3, 4, 5, 100)] == [1, 2, 2, 2, 3, 10]
    assert [dataclasses.replace(root, widen_cap=3).limit(n) for n in (1, 5, 100)] == [1, 3, 3]
    assert ab.Chance().limit(10**9) is None
    assert ab.Chance(widen_cap=4).limit(1) == 4


def test_first_play_names_its_rules():
    kinds = get_args(get_type_hints(module.FirstPlay)["kind"])
    made = [
        *(ab.FirstPlay.auto(), ab.FirstPlay.parent(), ab.FirstPlay.parent_minus(0.1), ab.FirstPlay.reduced(0.2)),
        *(ab.FirstPlay.constant(0.5), ab.FirstPlay.lowest()),
    ]
    assert tuple(rule.kind for rule in made) == kinds
    assert [rule.amount for rule in made] == [0.2, 0.0, 0.1, 0.2, 0.5, 0.0]


@pytest.mark.parametrize(
    "budget",
    [{}, {"simulations": 1, "visits": 1}, {"simulations": -1}, {"seconds": -0.1}, {"seconds": math.nan}],
)
def test_a_search_takes_one_budget(budget):
    """Among what is refused is a time that never comes."""
    state = ab.games.load("take_away", stones=3, compiled=False).start()
    for search in (ab.Searcher(state.game).root(state), ab.Reference(state, ab.Uniform())):
        run = search.run if isinstance(search, ab.Reference) else partial(search.searcher.run, search)
        with pytest.raises(UsageError, match="one budget"):
            run(**budget)


GAME = ab.games.load("take_away", stones=3, compiled=False)
SEARCHES: dict[str, Any] = {
    "engine": lambda state, **budget: ab.search(state, **budget),
    "searcher": lambda state, **budget: (searcher := ab.Searcher(GAME)).run(searcher.root(state), **budget),
    "reference": lambda state, **budget: ab.Reference(state, ab.Uniform()).run(**budget),
}


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
@pytest.mark.parametrize("wrong", [2.5, "100", 10**20, True, np.float64(3.0)], ids=repr)
def test_a_budget_is_a_whole_number(search, wrong):
    with pytest.raises(UsageError, match=r"one budget.*found simulations="):
        search(GAME.start(), simulations=wrong)
    search(GAME.start(), simulations=np.int64(2))


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        (GAME, "game.start()"),
        (type(GAME), "TakeAway(…).start()"),
        ("take_away", "ab.games.load('take_away').start()"),
        (None, ".start()"),
    ],
    ids=["game", "class", "name", "None"],
)
def test_a_search_starts_from_a_state(wrong, hint):
    solve = [] if wrong is GAME else [lambda state, **_: ab.solve(state)]  # which takes games too
    for search in (*SEARCHES.values(), *solve):
        with pytest.raises(UsageError, match="takes a state, found") as caught:
            search(wrong, simulations=1)
        assert hint in str(caught.value)


def test_a_searcher_takes_a_game_and_runs_roots():
    with pytest.raises(UsageError, match=r"ab.Searcher\(state.game\)"):
        ab.Searcher(GAME.start())  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"searcher.root\(state\)"):
        ab.Searcher(GAME).run(GAME.start(), simulations=1)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="threads must be a whole number"):
        ab.Searcher(GAME, threads="2")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        (50, "a budget is named: simulations=50"),
        (ab.Puct(), "wrap it: ab.SearchConfig(selector=ab.Puct(…))"),
        (ab.Exp3(), "wrap it: ab.SearchConfig(simultaneous=ab.Exp3(…))"),
        ({}, "make one: ab.SearchConfig(…)"),
        (ab.SearchConfig, "found the class SearchConfig"),
    ],
    ids=["number", "selector", "simultaneous", "dict", "class"],
)
def test_settings_are_a_search_config(wrong, hint):
    for search in (partial(ab.search, simulations=1), partial(ab.Reference, evaluator=ab.Uniform())):
        with pytest.raises(UsageError) as caught:
            search(GAME.start(), config=wrong)
        assert hint in str(caught.value)


@pytest.mark.parametrize(
    ("part", "settings"),
    [
        (ab.SearchConfig, {"seed": 1.5}),
        (ab.SearchConfig, {"max_nodes": "3"}),
        (ab.Chance, {"draws": 1.5}),
        (ab.Chance, {"exact_up_to": True}),
    ],
    ids=str,
)
def test_a_setting_that_counts_is_a_whole_number(part, settings):
    with pytest.raises(UsageError, match=f"{next(iter(settings))} must be a whole number"):
        part(**settings)


def test_integers_of_numpy_are_integers():
    """A seed from an array draws what the same seed draws."""
    configs = [ab.SearchConfig(seed=seed) for seed in (7, np.int64(7))]  # type: ignore[arg-type]
    assert configs[0] == configs[1]
    first, second = (ab.search(GAME.start(), simulations=20, config=config) for config in configs)
    assert (first.visits == second.visits).all()


def test_an_argument_nobody_knows_is_a_type_error_that_names_the_right_one():
    with pytest.raises(TypeError) as caught:
        ab.SearchConfig(c_init=2)  # type: ignore[call-arg]
    assert isinstance(caught.value, UnknownNameError)
    assert caught.value.nearest == "selector.c_init"
    assert "Write ab.SearchConfig(selector=ab.Puct(c_init=…))." in str(caught.value)
    with pytest.raises(TypeError, match=r"setting of ab\.Puct 'cinit'\. Did you mean 'c_init'"):
        ab.Puct(cinit=2)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="'seed'"):
        dataclasses.replace(ab.SearchConfig(), sed=1)  # type: ignore[call-arg]


def test_an_action_nobody_knows_is_named_with_those_that_are():
    with pytest.raises(UnknownNameError, match=r"tic_tac_toe: unknown action 'z9'\. Known: a1, a2, a3, b1"):
        ab.games.load("tic_tac_toe").parse_action("z9")
    with pytest.raises(UnknownNameError, match=r"81 in all"):
        ab.games.load("n_in_a_row", size=9).parse_action("?")


@pytest.mark.parametrize("given", [{"c_off": -30_000.0}, {"c_init": 1e300}, {"c_log": -1e13}, {"epsilon": math.inf}])
def test_settings_that_leave_no_score_are_refused(given):
    """The logarithm must have a value and scores must be finite, or nothing could be chosen."""
    with pytest.raises(UsageError, match=next(iter(given))):
        ab.Puct(**given)
