"""The oracle of Othello's endings: against `ab.solve`, and against itself one move later."""

from __future__ import annotations

import numpy as np
import pytest

import anabranch as ab
from anabranch.errors import TooManyStatesError, UsageError
from anabranch.search.exact.othello_oracle import MOST_EMPTY, OthelloOracle

GAME = ab.games.load("othello", size=6)


def endings(empty: range, count: int, game: ab.Game = GAME) -> list[ab.State]:
    """Positions from random play with so many empty cells."""
    found: list[ab.State] = []
    draws = np.random.default_rng(0)
    while len(found) < count:
        state, left = game.start(), int(draws.choice(empty))
        while not state.over and empty_cells(state) > left:
            state, _ = state.step(int(draws.choice(state.legal())))
        if not state.over:
            found.append(state)
    return found


def empty_cells(state: ab.State) -> int:
    return int(state.game.cells) - sum(int(discs).bit_count() for discs in state.discs)  # type: ignore[attr-defined]


def test_it_agrees_with_the_solver_of_every_game():
    known = ab.oracle(GAME)
    assert isinstance(known, OthelloOracle)
    for state in endings(range(2, 9), 40):
        exact = ab.solve(state, max_states=200_000)
        seat = state.turn[0]  # type: ignore[index]
        assert known.values(state).tolist() == exact.value_of(state).tolist()
        worth = exact.action_values_of(state)[seat]
        assert known.action_values(state) == {action: worth[action] for action in state.legal()}
        assert known.best_actions(state) == exact.best_of(state)[seat]


def test_4_by_4_is_solved_from_the_start():
    """The second player wins (known by computer), as `ab.solve` says too."""
    small = ab.games.load("othello", size=4)
    start = small.start()
    assert ab.oracle(small).values(start).tolist() == [-1.0, 1.0] == ab.solve(small).value_of(start).tolist()


def test_a_value_is_that_of_the_best_move():
    known = ab.oracle(GAME)
    for state in endings(range(9, 13), 6):
        worth = known.action_values(state)
        assert known.value(state) == max(worth.values())
        for action, value in worth.items():
            after, rewards = state.step(action)
            if not after.over:
                assert -known.values(after)[1 - state.mover] == value
            else:
                assert rewards[state.mover] == value


def test_other_games_and_early_positions_are_refused():
    with pytest.raises(TooManyStatesError, match=f"at most {MOST_EMPTY}"):
        ab.oracle(GAME).value(GAME.start())
    with pytest.raises(UsageError, match="of Othello"):
        OthelloOracle(ab.games.load("tic_tac_toe"))
    with pytest.raises(UsageError, match="the state belongs to"):
        ab.oracle(GAME).value(ab.games.load("othello", size=4).start())


def test_games_that_are_over_are_worth_nothing_more():
    (state,) = endings(range(1, 2), 1)
    while not state.over:
        state, _ = state.step(state.legal()[0])
    assert ab.oracle(GAME).values(state).tolist() == [0.0, 0.0]
