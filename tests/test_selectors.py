"""The four verbs of selectors, and what they share: root rules, marginals, scales, principal variations."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from tests.tables import OVER, decision, table
from tests.test_searcher import raised_by
from tests.test_wave_failures import spelled

import anabranch as ab
from anabranch.errors import UsageError
from anabranch.games.explicit import Explicit
from anabranch.games.random_game import RandomGame
from anabranch.search.maths import formulas
from anabranch.search.maths.draws import Draws
from anabranch.search.maths.principal_variation import principal_variation
from anabranch.search.maths.root_rule import RootRule, noised_priors, root_rule
from anabranch.search.maths.scale import value_scale
from anabranch.search.reference.nodes import Kind
from anabranch.search.reference.select.averaging import average_strategies, cell_values, payoff
from anabranch.search.reference.select.regret_matching import current, expected_payoffs

AVERAGING = [ab.RegretMatching(), ab.RegretMatching(view="own"), ab.MatrixGame(), ab.Exp3()]
ANY = [ab.Puct(), ab.Ucb1(), ab.Gumbel(), *AVERAGING]


def simultaneous_game(seed: int, players: int = 2) -> Any:
    return RandomGame(seed, players=players, layers=4, width=3, simultaneous=0.7, chance=0.1).interpreted()


def decisions(reference: ab.Reference, acting: int = 1) -> list[Any]:
    return [node for node in reference.graph.nodes if node.kind is Kind.DECISION and len(node.acting) >= acting]


def learnt(reference: ab.Reference) -> list[Any]:
    """What averaging selectors keep."""
    return [[*map(list, node.regrets), *map(list, node.sums), node.solved_at] for node in reference.graph.nodes]


# The verbs


@pytest.mark.parametrize("selector", ANY, ids=lambda selector: type(selector).__name__)
def test_choosing_reading_and_reporting_change_nothing(selector):
    """`choose`, `value` and `policy` read; a policy is a distribution, and drawn choices come with their chances."""
    for seed in range(20):
        reference = ab.Reference(
            simultaneous_game(seed).start(), ab.Hashing(), ab.SearchConfig(simultaneous=selector, seed=seed)
        )
        reference.run(simulations=40)
        walker, before = reference.walker, [spelled(reference), learnt(reference)]
        for node in decisions(reference):
            if node.evaluation is None:
                continue
            chosen, in_charge = walker.selector_at(node).choose(node, walker.draws, None), walker.selector_at(node)
            assert in_charge is (walker.together if len(node.acting) > 1 else walker.alone)
            assert all(0 <= choice < len(ids) for choice, ids in zip(chosen.move, node.choices, strict=True))
            drawn = len(node.acting) > 1 and not isinstance(selector, (ab.Puct, ab.Ucb1, ab.Gumbel))
            assert len(chosen.chances) == (len(node.acting) if drawn else 0)
            assert all(0.0 < p <= 1.0 for p in chosen.chances)
            in_charge.value(node)
            for index in range(len(node.acting)):
                policy = in_charge.policy(node, index, None)
                assert sum(policy) == pytest.approx(1.0, abs=1e-5)
                if node.edge_visits == 0:
                    assert policy == node.priors[index]
        assert [spelled(reference), learnt(reference)] == before


@pytest.mark.parametrize("view", ["difference", "own"])
@pytest.mark.parametrize("players", [2, 3])
def test_expected_payoffs_are_those_over_all_cells(players, view):
    """u_i(a) = Σ_b σ_{−i}(b)·u_i(a, b) over the whole table, U where nothing was visited; likewise the value."""
    tables = full = 0
    for seed in range(30):
        config = ab.SearchConfig(simultaneous=ab.RegretMatching(view=view), seed=seed)
        reference = ab.Reference(simultaneous_game(seed, players).start(), ab.Hashing(), config)
        reference.run(simulations=60)
        for node in decisions(reference, acting=2):
            if node.edge_visits == 0:
                continue
            played, average = current(node), average_strategies(node)
            plain = [[0.0] * len(ids) for ids in node.choices]
            value = np.zeros(reference.game.players)
            moves = list(itertools.product(*(range(len(ids)) for ids in node.choices)))
            for move in moves:
                cell = cell_values(node, node.edges.get(move))
                value += np.prod([row[choice] for row, choice in zip(average, move, strict=True)]) * np.array(cell)
                for i, choice in enumerate(move):
                    others = [played[j][other] for j, other in enumerate(move) if j != i]
                    plain[i][choice] += float(np.prod(others)) * payoff(node, i, cell, view)
            tables += 1
            full += len(moves) == sum(edge.visits > 0 for edge in node.edges.values())
            for row, found in zip(plain, expected_payoffs(node, played, view), strict=True):
                np.testing.assert_allclose(found, row, rtol=0, atol=1e-13)
            np.testing.assert_allclose(reference.walker.together.value(node), value, rtol=0, atol=1e-13)
    assert 0 < full < tables


def test_exp3_divides_by_what_was_drawn_from():
    """Four paths of one wave draw from the same strategy: all payoffs are divided by 1/2, though the gains move on."""
    game: Any = ab.games.load("matrix", payoffs=[[2, -1], [-1, 1]], compiled=False)
    reference = ab.Reference(game.start(), ab.Uniform(), ab.SearchConfig(simultaneous=ab.Exp3(), width=4))
    reference.run(simulations=4)
    gains = [[0.0, 0.0], [0.0, 0.0]]
    lows, highs = game.start().bounds()
    for edge in reference.root.edges.values():
        for i, choice in enumerate(edge.move):
            share = formulas.to_unit(edge.value(i), float(lows[i]), float(highs[i]))
            gains[i][choice] += edge.visits * share / 0.5
    assert reference.root.regrets == [pytest.approx(row) for row in gains]
    reference.run(simulations=4)
    strategies = [formulas.exp3_strategy(row, 0.2) for row in gains]
    assert strategies != [[0.5, 0.5]] * 2, "the second wave draws from something else"


# Who may act


CROWD = np.random.default_rng(1).normal(size=(2, 2, 2, 3)).tolist()


def test_the_matrix_selector_refuses_three_players_before_a_run():
    """Where the root shows it, nothing is begun; the error names the selector that can."""
    game: Any = ab.games.load("matrix", payoffs=CROWD, compiled=False)
    with pytest.raises(UsageError, match=r"3 act here; use ab\.RegretMatching"):
        ab.Reference(game.start(), ab.Uniform(), ab.SearchConfig(simultaneous=ab.MatrixGame()))
    result = ab.Reference(game.start(), ab.Uniform(), ab.SearchConfig(simultaneous=ab.RegretMatching()))
    assert result.run(simulations=20).visits.sum() == 60


def test_the_matrix_selector_refuses_a_node_of_three_players_when_it_is_made():
    """Deeper down the wave that finds it never was, and nothing is learnt from it."""
    refused = 0
    for seed in range(40):
        game = simultaneous_game(seed, players=3)
        if len(game.start().turn if isinstance(game.start().turn, tuple) else ()) > 2:
            continue
        reference = ab.Reference(game.start(), ab.Hashing(), ab.SearchConfig(simultaneous=ab.MatrixGame(), width=3))
        for visits in range(0, 60, 3):
            before = spelled(reference)
            error = raised_by(reference.run, visits=visits)
            if error is not None:
                assert isinstance(error, UsageError)
                assert "RegretMatching" in str(error)
                reference.graph.check()
                assert reference.root_visits == max(0, visits - 3)
                assert spelled(reference) == before
                refused += 1
                break
            assert max((len(node.acting) for node in decisions(reference)), default=0) <= 2
    assert refused > 10


# The root's rule


def test_a_rule_is_made_once_per_root_number():
    priors, draws, config = [[0.25, 0.75], [0.5, 0.5]], Draws(3, 0, 0), ab.SearchConfig(noise=ab.RootNoise())
    rule = root_rule(config, priors, (0, 1), draws, 17, RootRule())
    assert rule == RootRule(noised_priors(priors, (0, 1), ab.RootNoise(), draws, 17), 0.0)
    quiet = ab.SearchConfig(forced=ab.ForcedPlayouts(k=3.0))
    assert root_rule(quiet, priors, (0, 1), draws, 17, rule) == RootRule(rule.priors, 3.0), "noise stays"
    assert root_rule(quiet, priors, (0, 1), draws, 17, RootRule()) == RootRule(None, 3.0)
    assert root_rule(config, [], (), draws, 17, RootRule()) == RootRule(), "nobody acts at a root of chance"


def test_nodes_keep_their_own_priors():
    """Noise is the root's: results report it, the selector acts by it, the node never sees it."""
    game: Any = ab.games.load("connect_four", compiled=False)
    noise = ab.SearchConfig(noise=ab.RootNoise(weight=0.9), forced=ab.ForcedPlayouts(k=8.0))
    noised, plain = (ab.Reference(game.start(), ab.Hashing(), config) for config in (noise, ab.SearchConfig()))
    results = [reference.run(simulations=60) for reference in (noised, plain)]
    assert noised.root.priors == plain.root.priors
    rule = noised.walker.rule
    assert rule.priors is not None
    ids = noised.root.choices[0]
    assert results[0].prior[0, ids].tolist() == list(rule.priors[0]) != list(noised.root.priors[0])
    assert results[0].visits.tolist() != results[1].visits.tolist()
    action = results[0].action
    assert action is not None
    noised.advance(action)
    assert noised.walker.rule == RootRule()


# One home each


def test_the_principal_variation_follows_the_first_of_the_most_visited():
    """…until nothing was visited, there is no child, or it comes back."""

    class Way:
        def __init__(self, visits: int, child: str | None) -> None:
            self.visits, self.child = visits, child

    ways = {
        "a": [Way(1, "d"), Way(3, "b"), Way(3, "d")],
        "b": [Way(2, "c")],
        "c": [Way(1, "a")],
        "d": [Way(0, "a")],
        "e": [Way(1, None)],
    }

    def line(start: str | None) -> list[str]:
        return [at for at, _ in principal_variation(start, ways.__getitem__, lambda way: way.child)]

    assert [line(start) for start in ("a", "b", "d", "e", None)] == [["a", "b", "c"], ["b", "c", "a"], [], ["e"], []]


def test_scales():
    """`range` maps onto [−1, 1], `node` and `graph` onto [0, 1], both 0 on a point; nothing is clipped."""
    game = Explicit(table(1, "a", (-2, 6), a=decision(0, (0.0,), ("end", (0.0,))), end=OVER)).interpreted()
    state = game.start()

    def ends() -> tuple[float, float]:
        return -1.0, 3.0

    by_range, by_node, by_graph, itself = (
        value_scale(kind, state, 0, [1.0, 5.0, 2.0], ends) for kind in ("range", "node", "graph", "none")
    )
    assert [by_range(x) for x in (-2.0, 2.0, 6.0, 10.0)] == [-1.0, 0.0, 1.0, 2.0]
    assert [by_node(x) for x in (1.0, 5.0, 7.0)] == [0.0, 1.0, 1.5]
    assert [by_graph(x) for x in (-1.0, 1.0)] == [0.0, 0.5]
    assert itself(4.0) == 4.0
    assert [scale.lowest for scale in (by_range, by_node, by_graph, itself)] == [-1.0, 0.0, 0.0, -2.0]
    assert value_scale("node", state, 0, [2.0], ends)(5.0) == 0.0
