"""Laws of the backup: recompute, never accumulate (docs/model.md section 3)."""

from __future__ import annotations

import pytest
from tests.golden.vectors import Evaluations
from tests.tables import OVER, chance, decision, table

import anabranch as ab
from anabranch.games.explicit import EIGHT_NODES, Explicit
from anabranch.games.random_game import RandomGame
from anabranch.search.reference.nodes import Kind
from anabranch.search.reference.select.visits import visit_value
from anabranch.search.reference.walk import Walker


def one_visit_each(game):
    return ab.Reference(game.start(), Evaluations(game), ab.SearchConfig())


def test_an_edge_adds_its_rewards_to_the_leaf():
    """Rewards (1, .5) into a leaf valued (3, 2) give (4, 2.5)."""
    game = Explicit(
        table(2, "a", (0, 9), a=decision(0, (0, 0), ("b", (1, 0.5))), b=decision(1, (3, 2), ("c", (0, 0))), c=OVER),
    ).interpreted()
    reference = one_visit_each(game)
    reference.run(simulations=1)
    (edge,) = reference.root.edges.values()
    assert [edge.value(player) for player in (0, 1)] == [4.0, 2.5]


def test_a_chain_adds_up_its_rewards():
    """Rewards (1, .5), then (.5, 1), then a leaf (2, 3): (2.5, 4) in the middle and (3.5, 4.5) at the top."""
    game = Explicit(
        table(
            2,
            "a",
            (0, 9),
            a=decision(0, (3.5, 4.5), ("b", (1, 0.5))),
            b=decision(1, (2.5, 4), ("c", (0.5, 1))),
            c=decision(0, (2, 3), ("d", (0, 0))),
            d=OVER,
        ),
    ).interpreted()
    reference = one_visit_each(game)
    reference.run(simulations=2)
    values = [[edge.value(p) for p in (0, 1)] for node in reference.graph.nodes for edge in node.edges.values()]
    assert values == [[3.5, 4.5], [2.5, 4.0]]
    assert reference.graph.nodes[1].mean == [2.5, 4.0]


def children_before_parents(reference):
    """Return all nodes of a graph without cycles, each after those below it."""
    order, placed = [], set()
    waiting = [(reference.root, False)]
    while waiting:
        node, children_done = waiting.pop()
        if children_done:
            order.append(node)
        elif node not in placed:
            placed.add(node)
            waiting.append((node, True))
            waiting.extend((child, False) for child in node.children())
    return order


@pytest.mark.parametrize("seed", range(200))
def test_refresh_is_idempotent(seed):
    """Children before parents, a second refresh of the whole graph changes nothing, to the last bit."""
    game = RandomGame(seed=seed, players=2, layers=4, width=4, chance=0.3, simultaneous=0.3).interpreted()
    reference = ab.Reference(game.start(), ab.Hashing(), ab.SearchConfig(chance=ab.Chance(exact_up_to=3)))
    reference.run(simulations=150)
    order = children_before_parents(reference)
    for node in order:
        reference.walker.refresh(node)
    once = [list(node.mean) for node in order]
    for node in order:
        reference.walker.refresh(node)
    assert [node.mean for node in order] == once


class Walked(Walker):
    """The reference's walker, remembering the last path."""

    def _back(self, steps, repeated, refreshed):
        self.walked = [step.node for step in steps]
        super()._back(steps, repeated, refreshed)


def walking_by(kind):
    """Return a reference whose paths are walked by another walker."""
    return type("Other", (ab.Reference,), {"walks_by": kind})


def assert_walked_nodes_are_fresh(reference):
    """Theorem: after a playout every node walked is what its children say now, (U + Σ N·q) / (1 + Σ N)."""
    for node in reference.walker.walked:
        for player in range(reference.game.players):
            assert node.mean[player] == pytest.approx(visit_value(node, player), abs=1e-12)


class RunningAverages(Walked):
    """Unsound: a node averages the playouts that went through it and never looks at its children again."""

    def _back(self, steps, repeated, refreshed):
        self.walked = [step.node for step in steps]
        leaf = steps[-1].edges[0].child
        collected = list(leaf.evaluation.values if leaf.evaluation else leaf.mean)
        for node, (edge,), _ in reversed(steps):
            self._count_in_flight(node, [edge], -1)
            edge.visits += 1
            collected = [r + edge.discount * c for r, c in zip(edge.reward, collected, strict=True)]
            node.mean = [m + (c - m) / node.visits for m, c in zip(node.mean, collected, strict=True)]


@pytest.mark.parametrize("merge", [False, True])
def test_running_averages_on_shared_nodes_are_unsound(merge):
    """On a tree averaging playouts is the same thing; where lines meet it leaves parents behind their children."""
    game = Explicit(EIGHT_NODES).interpreted()
    config = ab.SearchConfig(
        selector=ab.Puct(c_init=1.0, c_log=0.0, epsilon=0.0, scale="none", first_play=ab.FirstPlay.parent()),
        transposition=ab.Transposition(merge=merge),
    )
    stale = 0
    sound, unsound = (walking_by(kind)(game.start(), Evaluations(game), config) for kind in (Walked, RunningAverages))
    for _ in range(30):
        for reference in (sound, unsound):
            reference.run(simulations=1)
        assert_walked_nodes_are_fresh(sound)
        try:
            assert_walked_nodes_are_fresh(unsound)
        except AssertionError:
            stale += 1
    assert (stale > 0) == merge


class CreditEveryParent(Walker):
    """Unsound: a visit of a shared child counts on every edge into it."""

    def _back(self, steps, repeated, refreshed):
        super()._back(steps, repeated, refreshed)
        children = {id(edge.child): edge for step in steps for edge in step.edges if edge.child is not None}
        for node in self.graph.nodes:
            for edge in node.edges.values():
                walked = children.get(id(edge.child)) if edge.child is not None else None
                if walked is not None and walked is not edge:
                    edge.visits += 1
                    if node.kind is Kind.CHANCE:
                        node.completed += 1
                    self.refresh(node)


def test_crediting_every_parent_is_unsound():
    """A coin leads to P, who may take .55 or go to C, worth .35, or to O, who must go to C: worth .45 in all."""
    game = Explicit(
        table(
            1,
            "coin",
            coin=chance((0.5, "P", (0.0,)), (0.5, "O", (0.0,))),
            P=decision(0, (0.0,), ("end", (0.55,)), ("C", (0.0,))),
            O=decision(0, (0.0,), ("C", (0.0,))),
            C=decision(0, (0.0,), ("end", (0.35,))),
            end=OVER,
        ),
    ).interpreted()

    config = ab.SearchConfig(selector=ab.Puct(c_init=1.25), backup="mean", chance=ab.Chance(exact_up_to=0))

    def value(kind):
        return kind(game.start(), ab.Uniform(), config).run(simulations=2000).value[0]

    assert ab.solve(game).value[0] == pytest.approx(0.45)
    assert value(ab.Reference) == pytest.approx(0.45, abs=0.01)
    assert value(walking_by(CreditEveryParent)) < 0.42
