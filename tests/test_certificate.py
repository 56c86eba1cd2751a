"""What results say of themselves where two players choose at once."""

from __future__ import annotations

import json
import pickle
from typing import Any

import numpy as np
import pytest

import anabranch as ab
from anabranch.games.goofspiel import Goofspiel
from anabranch.games.matrix import Matrix
from anabranch.games.take_away import TakeAway

INTERPRETED: Any = {"compiled": False}
CONFIGS = {"puct": ab.SearchConfig(), "regrets": ab.SearchConfig(simultaneous=ab.RegretMatching())}


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_a_full_table_certifies_the_game_itself(config):
    """One shot, all cells visited: the searched table is the game's, so both certificates are the same number."""
    game = Matrix("biased", **INTERPRETED)
    result = ab.search(game.start(), simulations=500, config=config)
    assert len(result.graph.node(0).edges) == 4
    whole = ab.exploitability(game, lambda state: {0: result.policy[0], 1: result.policy[1]})
    assert result.exploitability == pytest.approx(whole.exploitability, abs=1e-7)  # rewards are float32 in a search
    assert f"in this table: {result.exploitability:.4f}" in str(result)
    assert json.loads(result.to_json())["exploitability"] == result.exploitability
    assert pickle.loads(pickle.dumps(result)).exploitability == result.exploitability


def test_unvisited_cells_are_worth_the_evaluation():
    """One visit, to (0, 0), which pays 3; all else is worth U = 1. Both always play 0: the column player can save 2."""
    game = Matrix([[3, 0], [0, 0]], **INTERPRETED)
    told = lambda batch: (None, np.tile([1.0, -1.0], (len(batch), 1)))  # noqa: E731
    first = ab.SearchConfig(selector=ab.Puct(ties="first"))
    result = ab.search(game.start(), simulations=1, evaluator=told, config=first)
    assert (result.policy[0, 0], result.policy[1, 0]) == (1.0, 1.0)
    assert result.exploitability == (3.0 - 1.0) / 2


def test_points_are_compared_by_half_their_difference():
    game = Matrix([[(3, 3), (0, 1)], [(0, 2), (1, 0)]], **INTERPRETED)
    result = ab.search(game.start(), simulations=500, config=CONFIGS["regrets"])
    policy = {0: result.policy[0], 1: result.policy[1]}
    assert result.exploitability == pytest.approx(ab.exploitability(game, lambda state: policy).exploitability)


def test_there_is_none_where_it_cannot_be_computed():
    alone = ab.search(TakeAway(5, **INTERPRETED).start(), simulations=50)
    assert alone.exploitability is None
    assert json.loads(alone.to_json())["exploitability"] is None
    assert "in this table" not in str(alone)
    three = ab.search(Matrix(np.zeros((2, 2, 2, 3)), **INTERPRETED).start(), simulations=20)
    assert three.exploitability is None
    root = ab.Searcher(Goofspiel(4, **INTERPRETED)).root(Goofspiel(4, **INTERPRETED).start())
    [result] = root.searcher.run([root], simulations=50)
    assert result.exploitability is not None
    root.searcher.run([root], simulations=50)
    assert result.exploitability is None  # the table is another one now
    root.advance((0, 0))
    assert result.exploitability is None
