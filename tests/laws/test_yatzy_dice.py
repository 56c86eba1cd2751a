"""Dice of Yatzy: how draws vary, that they are unbiased, what afterstates save (docs/model.md section 6)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.tables import OVER, chance, decision, table

import anabranch as ab
from anabranch.search.maths import formulas
from anabranch.search.maths.draws import Draws, Purpose

YATZY = ab.games.load("yatzy")
REROLLED = {2: 21, 3: 56, 4: 126, 5: 252}  # dice → outcomes


def outcomes_of(dice: int) -> list[float]:
    """Return the chances of Yatzy's own outcomes of so many dice."""
    state = YATZY.start()
    hand = state.step(state.draw(0))[0]
    kept = next(mask for mask in hand.choices(0) if bin(mask).count("1") == 5 - dice)
    return [chance for _, chance in hand.step(kept)[0].outcomes()]


def drawn_means(chances: list[float], values: np.ndarray, draw: str, runs: int, visits: int = 100) -> np.ndarray:
    """Return the mean of fixed child values over the first visits of a chance node, for so many seeds."""
    ends = np.cumsum(chances)
    key, found = 12345, []
    for seed in range(runs):
        draws = Draws(seed)
        if draw == "spread":
            points = [formulas.spread_point(draws.offset(key), number) for number in range(1, visits + 1)]
        else:
            points = [draws.uniform(Purpose.CHANCE, 0, key, number) for number in range(1, visits + 1)]
        places = np.minimum(np.searchsorted(ends, points, side="right"), len(ends) - 1)
        found.append(values[places].mean())
    return np.array(found)


@pytest.mark.parametrize(("dice", "bar"), [(2, 0.15), (3, 0.35), (4, 0.5), (5, 0.8)])
def test_spread_draws_vary_less_than_independent_ones(dice, bar):
    """Variance at 100 visits with fixed child values, over 400 seeds and eight sets of values."""
    chances = outcomes_of(dice)
    assert len(chances) == REROLLED[dice]
    assert sum(chances) == pytest.approx(1.0)
    ratios = []
    for values in np.random.default_rng(dice).normal(size=(8, len(chances))):
        spread, sampled = (drawn_means(chances, values, draw, 400) for draw in ("spread", "sampled"))
        ratios.append(spread.var() / sampled.var())
        exact = float(np.dot(chances, values))
        assert abs(spread.mean() - exact) < 4.5 * spread.std() / 20
    assert np.mean(ratios) <= bar


def die(values: np.ndarray, chances: list[float]) -> ab.Game:
    """A roll whose outcomes lead to decisions of one choice, which pays what the outcome is worth."""
    nodes = {f"s{number}": decision(0, (value,), ("end", (value,))) for number, value in enumerate(values.tolist())}
    nodes["roll"] = chance(*((p, f"s{number}", (0.0,)) for number, p in enumerate(chances)))
    return ab.games.load("explicit", table=table(1, "roll", (-9.0, 9.0), **nodes, end=OVER))


WIDENING = ab.Chance(widen=2.0, widen_power=0.6, widen_cap=16)
LIMITS = [ab.Chance(exact_up_to=0), ab.Chance(draw="sampled", exact_up_to=0), WIDENING]


def assert_unbiased(settings: ab.Chance, runs: int) -> None:
    """The mean over seeds after 30 visits is the expectation, within three standard errors."""
    chances = outcomes_of(3)
    values = np.random.default_rng(5).normal(size=len(chances))
    game, exact = die(values, chances), float(np.dot(chances, np.float32(values)))
    start, config = game.start(), ab.SearchConfig(chance=settings, proofs="off")
    searcher = ab.Searcher(game, ab.Rollout(), config, threads=1)
    found = []
    for first in range(0, runs, 500):
        roots = [searcher.root(start, stream=stream) for stream in range(first, min(runs, first + 500))]
        found += [result.value[0] for result in searcher.run(roots, simulations=30)]
    assert len(found) == runs
    assert abs(np.mean(found) - exact) < 3.0 * np.std(found) / math.sqrt(runs)


@pytest.mark.parametrize("settings", LIMITS, ids=["spread", "sampled", "widening"])
def test_a_roll_of_three_dice_is_unbiased(settings):
    assert_unbiased(settings, 1_000)


@pytest.mark.hard
@pytest.mark.parametrize("settings", LIMITS, ids=["spread", "sampled", "widening"])
def test_a_roll_of_three_dice_is_unbiased_over_ten_thousand_runs(settings):
    assert_unbiased(settings, 10_000)


# Widening


def test_widening_follows_its_formula():
    limits = ab.Chance(widen=2.0, widen_power=0.6, widen_cap=64)
    assert [limits.limit(visits) for visits in (1, 2, 5, 10, 50, 100, 324)] == [2, 4, 6, 8, 21, 32, 64]


def test_widening_bounds_memory_and_promotion_keeps_visits():
    """Draw by draw: no outcome ever loses a visit, some frozen ones get a child, and never more than K(N) have one."""
    chances, few = outcomes_of(2), ab.Chance(widen=0.5, widen_power=0.6, widen_cap=9)
    game = die(np.linspace(-1.0, 1.0, len(chances)), chances)
    searcher = ab.Searcher(game, ab.Rollout(), ab.SearchConfig(chance=few, proofs="off"), threads=1)
    root = searcher.root(game.start())
    before: dict[int, tuple[int, int | None]] = {}
    promoted = 0
    for visits in range(1, 200):
        (result,) = searcher.run(root, simulations=1)
        now = {int(edge.action): (edge.visits, edge.child) for edge in result.graph.node(0).edges}
        grown = [outcome for outcome in now if now[outcome][0] != before.get(outcome, (0, None))[0]]
        assert len(grown) == 1
        assert now[grown[0]][0] == before.get(grown[0], (0, None))[0] + 1
        promoted += sum(before[outcome][1] is None and now[outcome][1] is not None for outcome in before)
        assert result.chance.rows[-1].stored <= (few.limit(visits) or 0) <= 9
        before = now
    assert promoted > 0
    assert result.chance.frozen > 0
    assert result.nodes <= 1 + 9 + 1


# Afterstates


ENDGAME = ab.fixed_set(YATZY, 5, decisions=39)  # two categories left, after the first roll
TREE = ab.Transposition(merge=False)


def test_lines_that_meet_are_searched_once():
    """At 20,000 simulations a graph has a fifth of the nodes of a tree, at the most."""
    spread = ab.Chance(exact_up_to=0)
    state = ENDGAME.states[0]
    graph, tree = (
        ab.search(
            state,
            simulations=20_000,
            config=ab.SearchConfig(chance=spread, backup="mean", transposition=kind, proofs="off"),
        )
        for kind in (ab.Transposition(), TREE)
    )
    assert 5 * graph.nodes <= tree.nodes


def test_equal_afterstates_of_different_hands_are_one_node():
    """Those who keep two sixes wait for the same three dice, whatever else they threw away."""
    result = ab.search(
        ENDGAME.states[0], simulations=5_000, config=ab.SearchConfig(chance=ab.Chance(exact_up_to=0), proofs="off")
    )
    column = result.graph.columns
    leads = column["kind"][column["edge_parent"]] == 2
    rolled = leads & (column["edge_child"] != 2**32 - 1)
    children, parents = column["edge_child"][rolled], column["edge_parent"][rolled]
    shared = [
        child
        for child in np.unique(children)
        if column["kind"][child] == 1 and len(set(parents[children == child])) > 1
    ]
    assert shared
    hands = {str(result.graph.node(int(parent)).state) for parent in parents[children == shared[0]]}
    assert len(hands) > 1


def test_dice_rolled_inside_the_transition_are_shared_by_nobody():
    result = ab.search(
        ENDGAME.states[0], simulations=3_000, config=ab.SearchConfig(chance=ab.Chance(draw="in_transition"))
    )
    column = result.graph.columns
    linked = column["edge_child"] != 2**32 - 1
    into = column["edge_child"][linked]
    rolled = into[column["kind"][into] == 1]
    assert len(rolled) == len(np.unique(rolled)) == result.chance.nodes
    assert result.chance.in_transition
    assert result.chance.enumerated == 0


# Values

MODES = {
    "spread": ab.Chance(exact_up_to=0),
    "sampled": ab.Chance(draw="sampled", exact_up_to=0),
    "exact": ab.Chance(exact_up_to=252),
    "draws": ab.Chance(draws=8),
    "widening": ab.Chance(widen=2.0, widen_power=0.6),
    "inside": ab.Chance(draw="in_transition"),
    "default": ab.Chance(),
}


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_every_mode_comes_near_exact_values_of_endgames(mode):
    """One category left: after 30,000 simulations the best choice is worth what it is worth, to half a point."""
    for state in ab.fixed_set(YATZY, 4, decisions=(42, 43), seed=3).states:
        exact = ab.solve(state).value[0]
        result = ab.search(state, simulations=30_000, config=ab.SearchConfig(chance=mode, backup="best", proofs="off"))
        assert result.value[0] == pytest.approx(exact, abs=0.5)


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_every_mode_finds_the_value_of_pig(mode):
    game = ab.games.load("pig", target=10)
    assert game.cycles == "bootstrap"
    exact = ab.solve(game).value[0]
    result = ab.search(game.start(), simulations=20_000, config=ab.SearchConfig(chance=mode, proofs="off"))
    assert result.value[0] == pytest.approx(exact, abs=0.03)


# Proofs


def test_the_last_throw_is_solved_before_any_simulation():
    """Yatzy with chance left and no roll: what the dice count is certain, also when a search moves on to that."""
    game = ab.games.load("yatzy", categories="chance")
    searcher = ab.Searcher(game, ab.Rollout(), ab.SearchConfig(proofs="on", chance=ab.Chance(exact_up_to=252)))
    root = searcher.root(game.start())
    searcher.run(root, simulations=10_000)
    paid = 0.0
    while not root.state.over:
        if root.state.turn == ab.CHANCE:
            root.advance(root.state.draw(3))
            continue
        (result,) = searcher.run(root, simulations=10)
        assert result.proven
        assert result.simulations == 0
        assert result.action is not None
        worth = result.value[0]
        paid = float(root.advance(result.action)[0])
    assert worth == paid, "of the last throw"
