"""Variances of the engine's graphs are those of the reference's, bit for bit, whatever the settings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.parity.compare import midgame
from tests.parity.draw import drawn_case

import anabranch as ab
from anabranch.search.results import move_rules
from anabranch.search.results.moments import variances


def compare_variances(state: ab.State, evaluator: Any, config: ab.SearchConfig | None, simulations: int) -> None:
    """Assert equal variances of nodes and of the root's edges, and equal lower bounds of the root's choices."""
    searcher = ab.Searcher(state.game, evaluator, config, threads=1)
    (result,) = searcher.run([searcher.root(state)], simulations=simulations)
    expected = ab.Reference(state, evaluator, config).run(simulations=simulations)
    for ours, theirs in zip(variances(result.graph), variances(expected.graph), strict=True):
        assert ours.shape == theirs.shape
        assert (ours == theirs).all()
    turn = state.turn
    for seat in () if isinstance(turn, int) else turn:
        ours, theirs = (move_rules.lower_bounds(each, seat) for each in (result, expected))
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)


@pytest.mark.parametrize("chunk", range(4))
def test_random_games(chunk):
    """20 games a chunk: decisions, simultaneous moves, chance, loops and full graphs, every setting drawn by seed."""
    for seed in range(20 * chunk, 20 * chunk + 20):
        game, evaluator, config, _ = drawn_case(seed)
        try:
            compare_variances(game.start(), evaluator, config, 60)
        except AssertionError as error:
            error.add_note(f"seed {seed}")
            raise


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("pig", {"target": 8, "sides": 4}),  # cycles, whose values are bootstrapped
        ("pyrat", {"preset": "tiny"}),
        ("connect_four", {}),
    ],
)
def test_built_in_games(name, options):
    game: Any = ab.games.load(name, **options)
    for state in (game.start(), midgame(game, 6, seed=2)):
        compare_variances(state, ab.Hashing(), ab.SearchConfig(seed=3), 150)


class Ring(ab.ObjectGame):
    """One player on a ring of positions goes left or right until tired; coming back is worth .25."""

    def __init__(self, cycles: Any = 0.25) -> None:
        self.players, self.actions, self.cycles, self.returns = 1, 3, cycles, (0.0, 2.0)

    def setup(self, random: ab.Random) -> Any:
        return 0

    def turn(self, state: Any) -> int:
        return ab.OVER if state < 0 else ab.player(0)

    def legal(self, state: Any, player: int) -> list[int]:
        return [0, 1, 2]

    def step(self, state: Any, actions: Any) -> Any:
        if actions[0] == 2:
            return -1, [state / 4]
        return (state + (1, 4)[actions[0]]) % 5, [0.0]


@pytest.mark.parametrize("cycles", [0.25, "bootstrap"])
def test_cycles(cycles):
    """Repetitions with a value of their own are counted, and a node in progress counts as certain, on both sides."""
    game = Ring(cycles)
    compare_variances(game.start(), ab.Hashing(), ab.SearchConfig(seed=1), 200)
    result = ab.Reference(game.start(), ab.Hashing()).run(simulations=200)
    repeated = any(edge.repeats for node in result.graph.nodes for edge in node.edges.values())
    assert repeated == (cycles == 0.25)
