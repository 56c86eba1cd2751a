"""Variances below a root, and the rules that choose a move from a result."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from tests.tables import OVER, chance, decision, table

import anabranch as ab
from anabranch.errors import UnknownNameError, UsageError
from anabranch.games.explicit import Explicit
from anabranch.games.random_game import RandomGame
from anabranch.search.maths import formulas, policies
from anabranch.search.reference.nodes import Kind, Node
from anabranch.search.results import move_rules
from anabranch.search.results.moments import variances
from anabranch.search.settings.config import ForcedPlayouts

TREE = ab.SearchConfig(transposition=ab.Transposition(merge=False))


def met(node: Node, player: int) -> list[float]:
    """Return every number a tree's node averages: each evaluation below it once, an end as often as it was reached."""
    found = [] if node.evaluation is None else [node.evaluation.values[player]]
    for edge in node.edges.values():
        assert edge.child is not None
        over = edge.child.kind is Kind.OVER
        below = [0.0] * edge.visits if over else met(edge.child, player)
        assert len(below) == edge.visits
        found += [edge.reward[player] + edge.discount * value for value in below]
    return found


@pytest.mark.parametrize("seed", range(12))
def test_on_a_tree_the_variance_is_that_of_all_values_met(seed):
    """By definition: collect every evaluation below a node, with what was paid on the way, and take the variance."""
    game = RandomGame(seed=seed, players=2, layers=4, width=4, simultaneous=0.3, discount=0.9 if seed % 2 else 1.0)
    result = ab.Reference(game.start(), ab.Hashing(), TREE).run(simulations=120)
    found, edges = variances(result.graph)
    for node, row in zip(result.graph.nodes, found, strict=True):
        for player in range(2):
            numbers = met(node, player)
            if numbers:
                np.testing.assert_allclose(row[player], np.var(numbers), rtol=1e-9, atol=1e-12)
                np.testing.assert_allclose(node.mean[player], np.mean(numbers), rtol=1e-9, atol=1e-12)
    for edge, row in zip(result.graph.nodes[0].edges.values(), edges, strict=True):
        if edge.child is not None and edge.child.kind is not Kind.OVER:
            numbers = [edge.reward[0] + edge.discount * value for value in met(edge.child, 0)]
            np.testing.assert_allclose(row[0], np.var(numbers), rtol=1e-9, atol=1e-12)


def second_moment(node: Node, player: int, known: dict[Node, float]) -> float:
    """M2 as docs/model.md section 8 writes it, by recursion."""
    if node.kind is Kind.OVER or node.visits == 0:
        return 0.0
    if node not in known:
        total, weights = (0.0, 0.0) if node.evaluation is None else (node.evaluation.values[player] ** 2, 1.0)
        for edge in node.edges.values():
            weight = edge.chance if node.exact else edge.visits
            if weight > 0:
                if edge.child is None:
                    square = edge.value(player) ** 2
                else:
                    r, d, q = edge.reward[player], edge.discount, edge.child.mean[player]
                    square = r * r + 2 * r * d * q + d * d * second_moment(edge.child, player, known)
                total, weights = total + weight * square, weights + weight
        known[node] = total / weights
    return known[node]


@pytest.mark.parametrize("rule", [ab.Chance(), ab.Chance(exact_up_to=9), ab.Chance(widen=1.0), ab.Chance(draws=3)])
def test_variance_is_the_second_moment_less_the_square(rule):
    """V = M2 − Q² on trees, where every Q is up to date; with chance, frozen edges and a full graph."""
    for seed in range(8):
        game = RandomGame(seed=seed, players=2, layers=4, width=4, simultaneous=0.2)
        config = ab.SearchConfig(transposition=TREE.transposition, chance=rule, max_nodes=[None, 20][seed % 2])
        result = ab.Reference(game.start(), ab.Hashing(), config).run(simulations=100)
        for node, row in zip(result.graph.nodes, variances(result.graph)[0], strict=True):
            expected = second_moment(node, 0, {}) - node.mean[0] ** 2
            assert row[0] == pytest.approx(expected, abs=1e-9)


def test_variance_by_hand():
    """A coin worth 0 or 4 after a reward of 1, enumerated: mean 3, variance 4. The root's own 9 was one visit of 3.

    M(root) = (9 + 2·3)/3 = 5, V = ((9 − 5)² + 2·(4 + (3 − 5)²))/3 = 32/3.
    """
    game = Explicit(
        table(
            1,
            "R",
            (0.0, 9.0),
            R=decision(0, [9.0], ("coin", [1.0])),
            coin=chance((0.5, "tails", [0.0]), (0.5, "heads", [4.0])),
            tails=OVER,
            heads=OVER,
        )
    ).interpreted()
    config = ab.SearchConfig(chance=ab.Chance(exact_up_to=2))
    reference = ab.Reference(game.start(), ab.Uniform(9.0), config).run(simulations=2)
    for searched in (reference, searched_by_engine(game, 2, config, 9.0)):
        nodes, edges = variances(searched.graph)
        assert edges.tolist() == [[4.0]]
        assert nodes[0, 0] == pytest.approx(32 / 3)
        assert nodes[1, 0] == 4.0


def searched_by_engine(
    game: Any, simulations: int, config: ab.SearchConfig | None = None, evaluation: float = 0.0
) -> ab.Result:
    searcher = ab.Searcher(game, ab.Uniform(evaluation), config, threads=1)
    return searcher.run([searcher.root(game.start())], simulations=simulations)[0]


def test_values_far_from_zero_lose_nothing():
    """Shifting every return by a million changes no variance; M2 − Q² in doubles would be off by 10⁻⁴."""
    close, far = (
        Explicit(
            table(
                1,
                "R",
                (shift - 1.0, shift + 1.0),
                R=decision(0, [shift], ("left", [shift]), ("right", [shift + 0.125])),
                left=OVER,
                right=OVER,
            )
        ).interpreted()
        for shift in (0.0, 2.0**20)
    )
    found = [
        variances(searched_by_engine(game, 50, evaluation=shift).graph)[0][0, 0]
        for game, shift in ((close, 0.0), (far, 2.0**20))
    ]
    assert found[0] == pytest.approx(found[1], rel=1e-6)
    assert found[0] > 1e-4


@pytest.mark.parametrize("name", ["connect_four", "tic_tac_toe", "pig"])
def test_no_variance_is_larger_than_the_range_allows(name):
    """Popoviciu: values in [−1, 1] have variance at most 1, on graphs whose shared nodes are partly stale too."""
    result = ab.search(ab.games.load(name).start(), simulations=2000)
    nodes, edges = variances(result.graph)
    assert (nodes >= 0).all()
    assert (edges >= 0).all()
    assert nodes.max() <= 1.0 + 1e-12
    assert edges.max() <= 1.0 + 1e-12
    assert nodes.shape == (result.nodes, 2)


# Rules


def bandit(left: tuple[float, float], right: tuple[float, float]) -> Explicit:
    """Two choices that each lead to a coin."""
    coins = {
        name: chance((0.5, f"{name}0", [ends[0]]), (0.5, f"{name}1", [ends[1]]))
        for name, ends in (("left", left), ("right", right))
    }
    ends = {f"{name}{side}": OVER for name in coins for side in (0, 1)}
    fork = decision(0, [0.0], ("left", [0.0]), ("right", [0.0]))
    nodes: dict[str, Any] = {"R": fork, **coins, **ends}
    return Explicit(table(1, "R", (-1.0, 1.0), **nodes)).interpreted()


def test_the_lower_bound_prefers_what_is_certain():
    """Left pays −1 or 1, right always −.02. PUCT visits left more often; nobody who needs to be sure would take it."""
    game = bandit((-1.0, 1.0), (-0.02, -0.02))
    result = searched_by_engine(game, 400)
    assert result.action == 0
    bounds = move_rules.lower_bounds(result, 0, 2.0)
    n, q = result.visits[0, 0], result.q[0, 0]
    assert bounds[0] == pytest.approx(q - 2.0 * math.sqrt((1 - q * q) / n))
    assert bounds[1] == pytest.approx(-0.02)
    policy = move_rules.lcb_policy(result, 0)
    assert policy.argmax() == 1
    assert policy.sum() == pytest.approx(1.0)
    assert policy[1] > policy[0] > 0.4
    with_care = move_rules.lcb_policy(result, 0, move_rules.LowerBound(share=1.0))
    assert with_care.tolist() == result.policy[0].tolist(), "right has fewer visits than left, so nothing changes"
    assert move_rules.lcb_policy(result, 0, move_rules.LowerBound(z=0.0)).argmax() == result.q[0].argmax()


def test_at_simultaneous_roots_a_choice_scatters_over_replies_too():
    """Var(a) = Σ N(e)·(V(e) + (q(e) − q(a))²) / ΣN: matching pennies has edges without variance, choices with."""
    state = ab.games.load("matrix", payoffs="matching_pennies").start()
    result = ab.search(state, simulations=300)
    assert (variances(result.graph)[1] == 0.0).all()
    for seat in (0, 1):
        q, spread = result.q[seat], move_rules.choice_variances(result, seat)
        np.testing.assert_allclose(spread, 1.0 - q * q, atol=1e-12)  # payoffs are ±1
        assert move_rules.lcb_policy(result, seat).sum() == pytest.approx(1.0)


def test_before_any_visit_every_rule_is_the_prior():
    state = ab.games.load("connect_four").start()
    result = ab.Reference(state, ab.Hashing()).run(simulations=0)
    for rule in ("visits", "lcb", "regularised"):
        np.testing.assert_allclose(move_rules.move_policy(result, 0, rule), result.prior[0], atol=1e-6)
    np.testing.assert_allclose(move_rules.pruned_policy(result, 0, ForcedPlayouts()), result.prior[0])


SELECTORS = [
    ab.Puct(),
    ab.Puct(scale="node", first_play=ab.FirstPlay.lowest()),
    ab.Puct(scale="graph", first_play=ab.FirstPlay.parent()),
    ab.Puct(scale="none", first_play=ab.FirstPlay.constant(0.3), w0=1.0),
    ab.Puct(scale="range", first_play=ab.FirstPlay.parent_minus(0.1), epsilon=0.0),
]


@pytest.mark.parametrize("selector", SELECTORS)
@pytest.mark.parametrize("name", ["connect_four", "pig", "pyrat"])
def test_what_the_selector_sees_is_what_it_follows(name, selector):
    """The largest score made of what is read off a result is the choice the next simulation visits.

    So scale, first-play values, prior and weight are those of the search. In engine and reference alike.
    """
    game: Any = ab.games.load(name, **({"preset": "tiny"} if name == "pyrat" else {}))
    config = ab.SearchConfig(selector=selector)
    searcher = ab.Searcher(game, ab.Hashing(), config, threads=1)
    state = game.start()
    root, reference = searcher.root(state), ab.Reference(state, ab.Hashing(), config)
    followed = 0
    for simulations in (1, 1, 1, 5, 1, 40, 1):
        (before,) = searcher.run([root], simulations=simulations)
        expected = reference.run(simulations=simulations)
        assert not isinstance(state.turn, int)
        for seat in state.turn:
            seen, same = move_rules.seen_by(before, seat, config), move_rules.seen_by(expected, seat, config)
            assert (seen.ids, seen.visits) == (same.ids, same.visits)
            np.testing.assert_allclose(seen.values, same.values, atol=1e-9)
            ours = move_rules.regularised_policy(before, seat, config)
            np.testing.assert_allclose(ours, move_rules.regularised_policy(expected, seat, config), atol=1e-9)
            factor = policies.puct_factor(sum(seen.visits), selector)
            scores = [x + factor * p / (1 + n) for x, p, n in zip(seen.values, seen.prior, seen.visits, strict=True)]
            following = ab.Reference(state, ab.Hashing(), config).run(simulations=reference.root_visits + 1)
            grown = following.visits[seat] - before.visits[seat]
            assert grown[seen.ids[formulas.argmax(scores)]] == 1
            followed += 1
    assert followed >= 7


def test_settings_that_leave_the_weight_open_leave_it_as_it_was_searched():
    """With rollouts that is 2.5; two settings may differ in anything else."""
    result = ab.search(ab.games.load("connect_four").start(), simulations=200)
    policy = move_rules.move_policy(result, 0, "regularised")
    assert move_rules.move_policy(result, 0, "regularised", ab.SearchConfig()).tolist() == policy.tolist()
    for weight, same in ((2.5, True), (1.25, False)):
        config = ab.SearchConfig(selector=ab.Puct(c_init=weight))
        assert (move_rules.move_policy(result, 0, "regularised", config).tolist() == policy.tolist()) is same


def test_forced_visits_leave_the_target():
    """A result whose bad choices have more visits than PUCT wanted loses those, and no choice of value does."""
    result = ab.search(ab.games.load("connect_four").start(), simulations=2000)
    pruned = move_rules.pruned_policy(result, 0, ForcedPlayouts(k=2.0))
    assert pruned.sum() == pytest.approx(1.0)
    assert pruned.argmax() == result.policy[0].argmax()
    assert pruned[pruned.argmax()] >= result.policy[0].max()
    assert move_rules.pruned_policy(result, 0, ForcedPlayouts(k=0.0)) == pytest.approx(result.policy[0])


def test_rules_have_names_and_mistakes_are_told():
    result = ab.search(ab.games.load("connect_four").start(), simulations=50)
    assert move_rules.move_policy(result, 0).tolist() == result.policy[0].tolist()
    lcb = move_rules.move_policy(result, 0, "lcb")
    assert lcb.tolist() == move_rules.move_policy(result, 0, move_rules.LowerBound()).tolist()
    with pytest.raises(UnknownNameError, match="regularised"):
        move_rules.move_policy(result, 0, "regularized")
    for rule in ("visits", "lcb", "regularised"):
        with pytest.raises(UsageError, match="player 1 does not act"):
            move_rules.move_policy(result, 1, rule)
    with pytest.raises(UsageError, match="searched by Ucb1"):
        move_rules.regularised_policy(result, 0, ab.SearchConfig(selector=ab.Ucb1()))
    for wrong in ({"z": -1.0}, {"z": math.inf}, {"share": 1.5}, {"least": 0}):
        with pytest.raises(UsageError, match="LowerBound"):
            move_rules.LowerBound(**wrong)
