"""Tic-tac-toe is a draw, and a search of two thousand simulations never gives anything away."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

import anabranch as ab
from anabranch.games.tic_tac_toe import TicTacToe

SIMULATIONS = 2_000


@cache
def solved() -> tuple[ab.Solution, list[ab.State]]:
    """The exact values, and all positions in which somebody is to move."""
    start = TicTacToe().start()
    seen, waiting = {start}, [start]
    while waiting:
        state = waiting.pop()
        for action in state.legal():
            following = state.step(action)[0]
            if following not in seen:
                seen.add(following)
                if not following.over:
                    waiting.append(following)
    return ab.solve(start), sorted((state for state in seen if not state.over), key=lambda state: state.data)


def blunders(evaluator: ab.Evaluator) -> Counter[tuple[int, int]]:
    """Search every position and count moves by (what the mover could have, what it gets), where that is less."""
    solution, states = solved()
    game = TicTacToe()
    found: Counter[tuple[int, int]] = Counter()
    searcher = ab.Searcher(game, evaluator)
    for first in range(0, len(states), 500):
        part = states[first : first + 500]
        results = searcher.run([searcher.root(state) for state in part], simulations=SIMULATIONS)
        for state, result in zip(part, results, strict=True):
            assert isinstance(state.turn, tuple)
            assert isinstance(result.action, int)
            (mover,) = state.turn
            following, rewards = state.step(result.action)
            gets = rewards[mover] + solution.value_of(following)[mover]
            could = solution.value_of(state)[mover]
            if gets < could:
                found[round(could), round(gets)] += 1
    return found


def test_positions():
    """5478 positions can be reached, 958 of them are over (a known count)."""
    assert len(solved()[1]) == 4_520


@pytest.mark.parametrize(("simulations", "bound"), [(20_000, 0.06), (100_000, 0.03)])
def test_the_start_is_worth_nothing(simulations, bound):
    config = ab.SearchConfig(selector=ab.Puct(c_init=1.25))
    result = ab.search(TicTacToe().start(), simulations=simulations, evaluator=ab.Uniform(), config=config)
    assert abs(result.value[0]) <= bound
    assert result.value[0] == -result.value[1]


def test_no_move_gives_anything_away():
    """From every position, with nothing but the rules: never a win or a draw given away."""
    assert blunders(ab.Uniform()) == {}


def test_rollouts_give_next_to_nothing_away():
    """With one rollout per leaf at most five moves do, and none turns a win into a loss."""
    found = blunders(ab.Rollout())
    assert found.total() <= 5
    assert found[1, -1] == 0
