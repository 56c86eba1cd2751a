"""Waves: the engine does what the reference does for every width, depth, virtual loss, noise, and way to move on."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from tests.parity.compare import compare_graphs, compare_results
from tests.parity.test_engine_equals_reference import EVALUATORS, drawn_config

import anabranch as ab
from anabranch.games.random_game import RandomGame


def one_of(dice: np.random.Generator, options: Any) -> Any:
    return options[int(dice.integers(len(options)))]


def drawn_waves(dice: np.random.Generator) -> ab.SearchConfig:
    """Draw every setting of a search, those of waves and of the root too."""
    config = drawn_config(dice).to_mapping()
    config["width"] = one_of(dice, [1, 2, 3, 5, 8, 16, 64])
    config["depth"] = one_of(dice, [1, 1, 2, 3])
    config["virtual_loss"] = {"mode": one_of(dice, ["loss", "visits", "off"])}
    if dice.random() < 0.4:
        config["noise"] = {"weight": 0.3, "alpha": one_of(dice, [0.3, 1.0])}
    if dice.random() < 0.4:
        config["forced"] = {"k": one_of(dice, [0.5, 2.0])}
    return ab.SearchConfig.from_mapping(config)


def random_game(seed: int, dice: np.random.Generator) -> Any:
    players = int(dice.integers(1, 4))
    game = RandomGame(
        seed=seed,
        players=players,
        layers=5,
        width=4,
        simultaneous=0.3 if players > 1 else 0.0,
        discount=1.0 if dice.random() < 0.7 else 0.9,
    )
    return game.interpreted() if dice.random() < 0.2 else game


@pytest.mark.parametrize("chunk", range(20))
def test_random_games_move_by_move(chunk):
    """20 games a chunk: search, play a move found in the graph or not, keep something, search on, three moves long."""
    agreed: Counter[bool] = Counter()
    for seed in range(20 * chunk, 20 * chunk + 20):
        dice = np.random.default_rng([seed, 5])
        game = random_game(seed, dice)
        evaluator, config = one_of(dice, EVALUATORS), drawn_waves(dice)
        try:
            agreed[follow(game, evaluator, config, dice)] += 1
        except Exception as error:
            error.add_note(f"seed {seed}, {evaluator}, {config}")
            raise
    assert agreed == {True: 20}, "all values are equal, bit for bit"


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
        result.graph.check()
        expected.graph.check()
        exact &= compare_graphs(result.graph, expected.graph.nodes)
        compare_results(result, expected)
        if root.state.over:
            break
        action, keep = move_from(root.state, dice), one_of(dice, ["graph", "evaluations", "nothing"])
        root.advance(action, keep=keep)
        reference.advance(action, keep=keep)
        assert root.state == reference.state
        root.graph.check()
    return exact


def move_from(state: ab.State, dice: np.random.Generator) -> Any:
    if state.turn == ab.CHANCE:
        return one_of(dice, [outcome for outcome, _ in state.outcomes()])
    assert isinstance(state.turn, tuple)
    return tuple(one_of(dice, state.legal(seat)) for seat in state.turn)


@pytest.mark.parametrize(("width", "depth"), [(1, 2), (4, 2), (1, 4), (7, 3)])
def test_outcomes_given_a_child_while_others_are_in_flight(width, depth):
    """A frozen outcome keeps its value until the child it was given has one; older waves are backed up before that."""
    for seed in range(40):
        game = RandomGame(seed=seed, players=2, layers=5, width=4, chance=0.5)
        chance = ab.Chance(widen=0.6, draw="sampled" if seed % 2 else "spread")
        config = ab.SearchConfig(width=width, depth=depth, chance=chance, seed=seed)
        dice = np.random.default_rng(seed)
        assert follow(game, ab.Hashing(), config, dice), seed
