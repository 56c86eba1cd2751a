"""PyRat solved exactly (benchmarks/pyrat_ceiling.py): its matrices, and its values beside those of `ab.solve`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.test_benchmarks import load

import anabranch as ab


def maximin(matrix: Any) -> tuple[float, Any]:
    """The value and a strategy of the row player, by the script's function as plain Python."""
    payoff, strategy = np.array(matrix, float), np.zeros(5)
    rows, columns = payoff.shape
    value = load("pyrat_ceiling").play_matrix.py_func(payoff, rows, columns, strategy)
    return value, strategy[:rows]


def test_rock_paper_scissors_is_worth_nothing():
    value, strategy = maximin([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    assert value == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(strategy, 1 / 3)


def test_two_by_two_by_hand():
    """Without a saddle: (ad − bc)/(a + d − b − c), the first row (d − c)/(a + d − b − c) of the time."""
    value, strategy = maximin([[3, 0], [1, 2]])
    assert value == pytest.approx(6 / 4)
    np.testing.assert_allclose(strategy, [1 / 4, 3 / 4])


@pytest.mark.parametrize("seed", range(200))
def test_the_minimax_theorem(seed):
    """Both sides secure the same; entries are often equal, which is where the simplex method could go round."""
    random = np.random.default_rng(seed)
    matrix = random.integers(0, 3, size=random.integers(1, 6, size=2)) / 2
    value, strategy = maximin(matrix)
    other, answer = maximin(-matrix.T)
    assert value == pytest.approx(-other, abs=1e-9)
    for chances in (strategy, answer):
        assert chances.sum() == pytest.approx(1.0)
        assert chances.min() >= -1e-12
    assert (strategy @ matrix).min() == pytest.approx(value, abs=1e-9)
    assert (matrix @ answer).max() == pytest.approx(value, abs=1e-9)


def test_there_are_55_symmetric_boards():
    """Eleven pairs of opposite cells without the starts, two of them with cheese: 11·10/2, and those that are drawn."""
    game = ab.games.load("pyrat", drawn=True)
    script = load("pyrat_ceiling")
    boards = {int(start.cheese[0]) for start in script.even_boards(game)}
    assert len(boards) == 55
    drawn = {int(game.start(seed).cheese[0]) for seed in range(400) if script.symmetric(game, seed)}
    assert drawn <= boards
    assert len(drawn) > 40


# All of it, compiled

SMALL = {"width": 3, "height": 3, "max_turns": 6, "rewards": "difference"}
LAID = [[(1, 1)], [(0, 1)], [(1, 1), (0, 2), (2, 1)], [(1, 0), (0, 1)]]


@pytest.fixture(scope="module")
def ceiling() -> Any:
    return load("pyrat_ceiling")


@pytest.mark.parametrize("cheese", LAID, ids=len)
def test_values_and_the_best_response_are_those_of_the_library(ceiling, cheese):
    """By cheese its value is the game's; who can take more than the greedy player wins, and nobody else does."""
    game = ab.games.load("pyrat", cheese=cheese, **SMALL)
    board = ceiling.board(game.start())
    values = ceiling.solve(board.ways, board.slots, board.cheese, board.turns, True)
    start = (board.turns, (1 << board.cheese) - 1, 0, *board.starts)
    assert values[start] == pytest.approx(ab.solve(game).value[0], abs=1e-9)

    greedy = game.agents()["greedy"]
    most = ab.exploitability(game, lambda state: {seat: {greedy(state, seat): 1.0} for seat in state.turn})
    parts = (board.ways, board.slots, board.cheese, board.turns, board.starts, board.follows)
    for seat in range(2):
        score, lost = ceiling.against(ceiling.UNUSED, *parts, seat, ceiling.BEST)
        assert score == (1 + np.sign(round(most.best_response[seat], 9))) / 2
        assert lost == (score == 0)


@pytest.mark.parametrize("cheese", LAID, ids=len)
def test_a_single_cheese_is_the_whole_game(ceiling, cheese):
    """With one cheese the lead is 1, 0 or −1, so values by cheese v are (v + 1)/2 by wins; with more they are not."""
    board = ceiling.board(ab.games.load("pyrat", cheese=cheese, **SMALL).start())
    by_wins, by_cheese = (
        ceiling.solve(board.ways, board.slots, board.cheese, board.turns, wanted) for wanted in (False, True)
    )
    known = ~np.isnan(by_wins)
    assert (known == ~np.isnan(by_cheese)).all()
    same = np.allclose(by_wins[known], (by_cheese[known] + 1) / 2)
    assert same == (len(cheese) == 1)


@pytest.mark.parametrize("seed", range(3))
def test_sound_play_secures_its_value_and_no_more_than_the_best_response(ceiling, seed):
    game = ab.games.load("pyrat", drawn=True, max_turns=12)
    board = ceiling.board(game.start(seed))
    parts = (board.ways, board.slots, board.cheese, board.turns)
    values = ceiling.solve(*parts, False)
    start = values[board.turns, -1, 0, board.starts[0], board.starts[1]]
    kinds = (ceiling.LEAST, ceiling.MIDDLE, ceiling.MOST, ceiling.BEST)
    for seat, value in enumerate((start, 1 - start)):
        scores = [ceiling.against(values, *parts, board.starts, board.follows, seat, kind)[0] for kind in kinds]
        for lower, higher in zip([value, *scores[:-1]], scores, strict=True):
            assert lower <= higher + 1e-4  # the tilt, over the turns


@pytest.mark.parametrize(("seed", "score"), [(0, 0.75), (3, 1.0), (4, 0.5)])
def test_where_all_sound_play_scores_the_same_so_does_the_agent(ceiling, seed, score):
    """An agent that plays soundly scores between the least and the most, which here are one number."""
    game = ab.games.load("pyrat", drawn=True, max_turns=12)
    start = game.start(seed)
    told = ceiling.scores(ceiling.board(start))
    assert told["sound, the least"][0] == pytest.approx(score, abs=1e-3)
    assert told["sound, the most"][0] == pytest.approx(score, abs=1e-3)
    agent = ceiling.Sound(ceiling.board(start), game, seed)
    assert ab.match(game, agent, "greedy", games=2, openings=[start]).score == score
