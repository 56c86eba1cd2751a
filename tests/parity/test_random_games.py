"""Random games, every setting drawn by seed: engine and reference agree, visit for visit, move after move.

`--cases N` plays so many, from seed `--seed S` on; a failure names its seed, which `draw.drawn_case(seed)` draws again.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from tests.parity.compare import compare_graphs, compare_results
from tests.parity.draw import drawn_case, one_of

import anabranch as ab
from anabranch.games.random_game import RandomGame

CASES = 600
CHUNK = 20


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "chunk" in metafunc.fixturenames:
        cases = metafunc.config.getoption("--cases") or CASES
        begin = metafunc.config.getoption("--seed") or 0
        chunks = [range(first, min(first + CHUNK, begin + cases)) for first in range(begin, begin + cases, CHUNK)]
        metafunc.parametrize("chunk", chunks, ids=str)


@pytest.mark.filterwarnings("ignore::anabranch.errors.EvaluatorWarning")  # rollouts around loops pay more than declared
def test_random_games(chunk):
    """Search, play a move found in the graph or not, keep something, search on, three moves long."""
    failures = []
    for seed in chunk:
        game, evaluator, config, dice = drawn_case(seed)
        try:
            assert follow(game, evaluator, config, dice), "values must be equal bit for bit"
        except Exception as error:
            error.add_note(f"seed {seed}: {game}, cycles {game.cycles}, {evaluator}, {config}")
            failures.append((seed, error))
    if failures:
        raise ExceptionGroup(f"seeds {[seed for seed, _ in failures]}", [error for _, error in failures])


def test_what_was_rare_is_drawn_often():
    """Enumerated dice after dice in waves, and loops under the scale `graph`: each hid a bug from 1,400 games."""
    counts: Counter[str] = Counter()
    for seed in range(CASES):
        game, _, config, _ = drawn_case(seed)
        nodes = game.table["nodes"]
        rolled = [
            len(node["outcomes"]) <= config.chance.enumerated and nodes[child]["kind"] == "chance"
            for node in nodes.values()
            for _, child, _ in node.get("outcomes", [])
        ]
        own = [child == name for name, node in nodes.items() for _, child, _ in node.get("edges", [])]
        graph = "graph" in (config.selector.scale, getattr(config.simultaneous, "scale", None))
        counts["waves of enumerated dice after dice"] += any(rolled) and config.width > 1
        counts["the same, scale graph"] += any(rolled) and config.width > 1 and graph
        counts["a loop of a decision, scale graph"] += any(own) and graph and game.cycles == "bootstrap"
        counts["loops worth a number"] += isinstance(game.cycles, float)
        counts["one path at a time"] += config.width == config.depth == 1
    assert min(counts.values()) >= 0.08 * CASES, counts


def follow(game: Any, evaluator: Any, config: ab.SearchConfig, dice: np.random.Generator) -> bool:
    """Search and move on with engine and reference side by side; return whether all values were equal."""
    state = game.start()
    stream = int(dice.integers(3))
    searcher = ab.Searcher(game, evaluator, config, threads=1)
    root, reference = searcher.root(state, stream=stream), ab.Reference(state, evaluator, config, stream=stream)
    exact = True
    for _ in range(3):
        simulations = int(dice.integers(1, 60))
        (result,) = searcher.run(root, simulations=simulations)
        expected = reference.run(simulations=simulations)
        if simulations % 4 == 0:  # and again from the same position, as `plan.run` and `visits` do
            compare_results(result, expected)
            (result,) = searcher.run(root, simulations=simulations // 3 + 1)
            expected = reference.run(simulations=simulations // 3 + 1)
        result.graph.check()
        expected.graph.check()
        exact &= compare_graphs(result.graph, expected.graph)
        compare_results(result, expected)
        if root.state.over:
            break
        action, keep = move_from(root.state, dice), one_of(["graph", "evaluations", "nothing"], dice)
        root.advance(action, keep=keep)
        reference.advance(action, keep=keep)
        assert root.state == reference.state
        root.graph.check()
    return exact


def move_from(state: ab.State, dice: np.random.Generator) -> Any:
    if state.turn == ab.CHANCE:
        return one_of([outcome for outcome, _ in state.outcomes()], dice)
    assert isinstance(state.turn, tuple)
    return tuple(one_of(state.legal(seat), dice) for seat in state.turn)


@pytest.mark.parametrize(("width", "depth"), [(1, 2), (4, 2), (1, 4), (7, 3)])
def test_outcomes_given_a_child_while_others_are_in_flight(width, depth):
    """A frozen outcome keeps its value until the child it was given has one; older waves are backed up before that."""
    for seed in range(15):
        game = RandomGame(seed=seed, players=2, layers=5, width=4, chance=0.5)
        chance = ab.Chance(widen=0.6, draw="sampled" if seed % 2 else "spread")
        config = ab.SearchConfig(width=width, depth=depth, chance=chance, seed=seed)
        dice = np.random.default_rng(seed)
        assert follow(game, ab.Hashing(), config, dice), seed
