"""The oracle of connect four: against `ab.solve`, which goes through everything, and against what is known."""

from __future__ import annotations

import numpy as np
import pytest

import anabranch as ab
from anabranch.errors import TooManyStatesError, UsageError
from anabranch.search.exact.connect_four_oracle import CELLS, ConnectFourOracle, winning_cells

GAME = ab.games.load("connect_four")


@pytest.fixture(scope="module")
def known() -> ab.Oracle:
    return ab.oracle(GAME)


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


def test_it_agrees_with_the_solver_of_every_game(known):
    """Values and best moves of late positions, with all that can follow written out by `ab.solve`."""
    assert isinstance(known, ConnectFourOracle)
    compared = 0
    for state in positions(range(24, 36), 40):
        try:
            exact = ab.solve(state, max_states=100_000)
        except TooManyStatesError:
            continue
        seat = state.turn[0]  # type: ignore[index]
        assert known.best_actions(state) == exact.best_of(state)[seat]
        assert known.values(state).tolist() == exact.value_of(state).tolist()
        worth = exact.action_values_of(state)[seat]
        assert known.action_values(state) == {action: worth[action] for action in state.legal()}
        compared += 1
    assert compared >= 20


def test_a_value_is_that_of_the_best_move_and_of_the_mirror_image(known):
    for state in positions(range(14, 22), 12):
        worth = known.action_values(state)
        assert known.value(state) == max(worth.values())
        board = str(state).splitlines()
        image = "\n".join(" ".join(reversed(row.split())) if set(row) <= set(".xo ") else row for row in board)
        flipped = GAME.position(image)
        assert known.action_values(flipped) == {6 - action: value for action, value in worth.items()}


def test_games_that_are_over_are_worth_nothing_more(known):
    state = GAME.start()
    for move in (3, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2, 0, 1, 0, 1, 0, 1):
        state, _ = state.step(move)
    assert known.action_values(state)[0] == 1.0
    state, _ = state.step(0)
    assert state.over
    assert known.values(state).tolist() == [0.0, 0.0]


def test_early_positions_and_other_sizes_are_refused(known):
    with pytest.raises(TooManyStatesError, match="from ply 4 on"):
        known.value(GAME.start())
    small = ab.games.load("connect_four", rows=5, compiled=False)
    with pytest.raises(UsageError, match="6 by 7"):
        ConnectFourOracle(small)
    with pytest.raises(UsageError, match="the state belongs to"):
        known.value(small.start())


def test_the_agent_called_oracle_never_gives_a_win_or_a_draw_away(known):
    """Against random play from ply 12 on, the value of every position it moves in stays what it was."""
    agent = ab.OracleAgent()
    agent.check(GAME)
    draws = np.random.default_rng(1)
    for state in positions(range(12, 16), 5):
        while not state.over:
            worth = known.value(state)
            after, rewards = state.step(agent.choose([ab.Turn(state=state, seat=state.ply % 2, seed=0)])[0])
            assert (rewards[state.ply % 2] if after.over else -known.value(after)) == worth
            if not after.over:
                after, _ = after.step(int(draws.choice(after.legal())))
            state = after
