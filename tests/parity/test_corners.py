"""Corners in which random games found engine and reference apart, each as the smallest table that shows it."""

from __future__ import annotations

from typing import Any

from tests.parity.compare import compare, compare_graphs
from tests.tables import OVER, chance, decision, table

import anabranch as ab
from anabranch.games.explicit import Explicit
from anabranch.games.random_game import RandomGame


def dice(*children: str) -> dict[str, Any]:
    """Outcomes that are equally likely and pay nothing."""
    return chance(*[(1.0 / len(children), child, [0.0]) for child in children])


def test_nested_visits_wait_before_they_are_backed_up():
    """Also those that had nested visits themselves.

    Path 1 asks whether Y was visited only after path 2, in the round before, has backed its visit of Y up.
    """
    nodes = table(
        1,
        "R",
        R=decision(0, [0.0], ("A", [0.0]), ("B", [0.0])),
        A=dice("X", "Y"),
        X=dice("X2"),
        X2=dice("end"),
        B=dice("V", "W"),
        V=dice("end"),
        W=dice("Y", "Y", "Y"),  # more outcomes than are enumerated
        Y=chance((1.0, "end", [1.0])),
        end=OVER,
    )
    config = ab.SearchConfig(chance=ab.Chance(exact_up_to=2), width=2)
    assert compare(Explicit(nodes).start(), ab.Uniform(), config, simulations=2)


def test_draws_made_at_once_end_by_repetition_one_by_one():
    """Of three draws the second is frozen and the third, the same outcome, comes back into the path."""
    nodes = table(1, "c", c=chance((0.3, "end", [1.0]), (0.7, "c", [0.0])), end=OVER)
    config = ab.SearchConfig(chance=ab.Chance(draws=3, widen=0.5, widen_power=1.0, offset=0.5))
    for simulations in (1, 2, 10):
        assert compare(Explicit(nodes, cycles=0.75).start(), ab.Uniform(), config, simulations=simulations)


def test_chance_children_of_draws_made_at_once_are_visited_in_one_order():
    """Of five draws the second and the fifth are a; only the fifth finds room for a child, after b had its own."""
    nodes = table(
        1,
        "c",
        c=chance((0.3, "a", [0.0]), (0.4, "x", [0.0]), (0.3, "b", [0.0])),
        x=dice("end"),
        a=dice("below_a"),
        b=dice("below_b"),
        below_a=dice("end"),
        below_b=dice("end"),
        end=OVER,
    )
    config = ab.SearchConfig(chance=ab.Chance(draws=5, widen=0.5, widen_power=1.0, offset=0.0))
    assert compare(Explicit(nodes).start(), ab.Uniform(), config, simulations=1)


def test_nested_visits_that_stop_before_a_node_refresh_it_from_children_read_anew():
    """Path 2 has opened Y and not backed it up when a nested visit of path 1 stops before it; Q(X) changed since."""
    nodes = table(
        1,
        "R",
        R=decision(0, [0.0], ("A", [0.0]), ("Y", [0.0])),
        A=dice("W1", "W2", "D"),
        W1=dice("Y", "Y", "Y", "Y"),
        W2=dice("D", "D", "D", "D"),
        D=decision(0, [0.0], ("Y", [0.0])),
        Y=dice("X"),
        X=chance(*[(0.25, "end", [reward]) for reward in (0.0, 0.0, 1.0, 1.0)]),
        end=OVER,
    )
    config = ab.SearchConfig(
        chance=ab.Chance(exact_up_to=3, offset=0.0), transposition=ab.Transposition(on_visit="stop"), width=2
    )
    assert compare(Explicit(nodes).start(), ab.Uniform(), config, simulations=2)


def test_an_outcome_given_a_child_is_read_anew_by_earlier_paths_of_the_wave():
    """Path 1 draws the loop, path 2 the frozen b, which gets a child; when path 1 is backed up the child is known."""
    nodes = table(
        1,
        "R",
        R=decision(0, [0.0], ("c", [0.0])),
        c=chance((0.2, "c", [0.0]), (0.2, "b", [0.0]), (0.6, "c", [0.0])),
        b=decision(0, [0.0], ("end", [1.0]), ("end", [-1.0])),
        end=OVER,
    )
    game = Explicit(nodes, cycles="bootstrap")
    for seed in range(4):  # rollouts after an advance are others than those of the frozen value, of some seeds
        config = ab.SearchConfig(chance=ab.Chance(widen=0.4, widen_power=1.0, offset=0.0), width=2, seed=seed)
        searcher = ab.Searcher(game, ab.Rollout(), config, threads=1)
        root, reference = searcher.root(game.start()), ab.Reference(game.start(), ab.Rollout(), config)
        for simulations in (5, 2):
            searcher.run(root, simulations=simulations)
            reference.run(simulations=simulations)
            assert compare_graphs(root.graph, reference.graph)
            if simulations == 5:
                root.advance(0)
                reference.advance(0)


def test_an_outcome_given_a_child_among_the_first_draws_has_the_value_it_was_frozen_with():
    """Its answer comes after the child, which may be the very node that is opened; with any evaluator."""
    loopy: dict[str, Any] = {"chance": 0.5, "chance_after_chance": 0.9, "loops": 0.5, "rewards_along": False}
    game = RandomGame(seed=354, players=1, layers=3, width=3, discount=0.9, **loopy)
    config = ab.SearchConfig(chance=ab.Chance(draws=5, widen=1.0, widen_power=0.5))
    for evaluator in (ab.Uniform(0.25), lambda batch: ab.Uniform(0.25).evaluate(batch)):
        assert compare(game.start(), evaluator, config, simulations=30)
