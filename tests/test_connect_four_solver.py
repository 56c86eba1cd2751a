"""The exact solver of connect four: against `ab.solve`, which goes through everything, and against what is known."""

from __future__ import annotations

import numpy as np
import pytest

import anabranch as ab
from anabranch.errors import TooManyStatesError, UsageError
from anabranch.games.connect_four_solver import CELLS, Solver, winning_cells

GAME = ab.games.load("connect_four")


@pytest.fixture(scope="module")
def solver() -> Solver:
    return Solver()


def positions(plies: range, count: int) -> list[ab.State]:
    found: list[ab.State] = []
    draws = np.random.default_rng(0)
    while len(found) < count:
        state = GAME.start()
        for _ in range(int(draws.choice(plies))):
            if not state.over:
                state, _ = state.step(int(draws.choice(state.legal())))
        if not state.over:
            found.append(state)
    return found


def test_winning_cells_are_those_that_complete_four():
    """Every empty cell of random boards, tried one by one by the game's own rules for lines."""
    from anabranch.games.connect_four import has_line

    for state in positions(range(8, 30), 20):
        taken = int(state.stones[0] | state.stones[1])
        for seat in (0, 1):
            own = int(state.stones[seat])
            expected = 0
            for bit in range(49):
                cell = 1 << bit
                if cell & CELLS & ~taken and has_line(own | cell, GAME.shifts):  # type: ignore[attr-defined]
                    expected |= cell
            assert winning_cells(own, taken) == expected


def test_it_agrees_with_the_solver_of_every_game(solver):
    """Values and best moves of late positions, with all that can follow written out by `ab.solve`."""
    compared = 0
    for state in positions(range(24, 36), 40):
        try:
            exact = ab.solve(state, max_states=100_000)
        except TooManyStatesError:
            continue
        seat = state.turn[0]  # type: ignore[index]
        assert solver.best(state) == set(exact.best_of(state)[seat])
        assert solver.value(state) == exact.value_of(state)[seat]
        compared += 1
    assert compared >= 20


def test_a_value_is_that_of_the_best_move_and_of_the_mirror_image(solver):
    for state in positions(range(14, 22), 12):
        worth = solver.values(state)
        assert solver.value(state) == max(worth.values())
        board = str(state).splitlines()
        image = "\n".join(" ".join(reversed(row.split())) if set(row) <= set(".xo ") else row for row in board)
        flipped = GAME.position(image)
        assert solver.values(flipped) == {6 - action: value for action, value in worth.items()}


def test_games_that_are_over(solver):
    state = GAME.start()
    for move in (0, 1, 0, 1, 0, 1, 0):
        state, _ = state.step(move)
    assert state.over
    assert solver.value(state) == -1


def test_other_sizes_are_refused(solver):
    with pytest.raises(UsageError, match="6 by 7"):
        solver.value(ab.games.load("connect_four", rows=5, compiled=False).start())
