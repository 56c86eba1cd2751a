"""N in a row: winners, rankings and windows against naive code, cases by hand, and tic-tac-toe's numbers."""

from __future__ import annotations

import random

import numpy as np
import pytest

import anabranch as ab
from anabranch.errors import UnknownNameError, UsageError
from anabranch.games.n_in_a_row import PRESETS, NInARow

DIRECTIONS = [(0, 1), (1, 0), (1, 1), (1, -1)]


def n_in_a_row(*arguments, **options):
    """Make the game interpreted: many sizes are tried, and every size is a compilation of its own."""
    return NInARow(*arguments, **options).interpreted()


def board_of(state):
    return state.board.reshape(state.game.size, state.game.size)


def naive_runs(board, mark):
    """Return the lengths of all maximal runs of a mark over the four directions, longest first."""
    size, lengths = len(board), []

    def at(row, column):
        return 0 <= row < size and 0 <= column < size and board[row][column] == mark

    for down, right in DIRECTIONS:
        for row in range(size):
            for column in range(size):
                if at(row, column) and not at(row - down, column - right):
                    length = 1
                    while at(row + length * down, column + length * right):
                        length += 1
                    lengths.append(length)
    return sorted(lengths, reverse=True)


def naive_order(board, winner, players):
    """Return the seats from first to last, comparing (length, count) pairs from the longest down."""

    def profile(seat):
        lengths = naive_runs(board, seat + 1)
        return [(length, lengths.count(length)) for length in sorted(set(lengths), reverse=True)]

    order = sorted(range(players), key=profile, reverse=True)  # stable: equal profiles stay in seat order
    return order if winner is None else [winner, *(seat for seat in order if seat != winner)]


def naive_window(board):
    """Return the top left corner of the window of 21, from the board alone."""
    size = len(board)
    stones = np.argwhere(board)
    middle = (stones.min(axis=0) + stones.max(axis=0)) // 2 if len(stones) else np.array([size // 2, size // 2])
    side = min(size, 21)
    return np.clip(middle - side // 2, 0, size - side).tolist()


def play_and_compare(game, dice, observe=False):
    """Play one random game and compare every state and the end with the naive code; return the last state."""
    size, players, side = game.size, game.players, game.side
    board = np.zeros((size, size), int)
    state, ply, total = game.start(), 0, np.zeros(players)
    while True:
        top, left = naive_window(board)
        free = [int(cell) for cell in np.flatnonzero(board[top : top + side, left : left + side] == 0)]
        assert np.array_equal(board_of(state), board)
        if any(naive_runs(board, seat + 1)[:1] >= [game.line] for seat in range(players)) or not free:
            break
        assert state.turn == (ply % players,)
        assert state.legal() == free
        if observe:
            check_observation(state, board, ply % players)
        action = dice.choice(free)
        board[top + action // side, left + action % side] = ply % players + 1
        state, rewards = state.step(action)
        total += rewards
        ply += 1
    assert state.over
    won = naive_runs(board, (ply - 1) % players + 1)[0] >= game.line
    winner = (ply - 1) % players if won else None
    if not game.placement:
        assert total.tolist() == [float(seat == winner) for seat in range(players)]
    elif players == 2:
        assert total.tolist() == ([0, 0] if winner is None else [1 if seat == winner else -1 for seat in range(2)])
    else:
        assert [total[seat] for seat in naive_order(board, winner, players)] == [1, -0.2, -1]
    return state


def check_observation(state, board, player):
    """The planes, made from the board with NumPy alone."""
    game, planes = state.game, state.observe(player)
    larger = game.size > 21
    assert planes.shape == (8 if larger else 4, min(21, game.size), min(21, game.size))
    order = [(player + step) % game.players + 1 for step in range(game.players)] + [-1] * (3 - game.players) + [0]
    top, left = naive_window(board)
    side = game.side
    stretched = np.repeat(
        np.repeat(board, side, axis=0), side, axis=1
    )  # every cell side × side, so scaled cells are size × size
    for plane, mark in enumerate(order):
        assert np.array_equal(planes[plane], board[top : top + side, left : left + side] == mark)
        if not larger:
            continue
        blocks = (stretched == mark).reshape(side, game.size, side, game.size)
        assert planes[4 + plane] == pytest.approx(blocks.mean(axis=(1, 3)))


@pytest.mark.parametrize(
    ("size", "line", "players", "rewards", "games"),
    [
        (3, 3, 2, "placement", 60),
        (4, 3, 3, "placement", 40),
        (5, 4, 3, "placement", 30),  # most end on a full board
        (5, 4, 2, "placement", 15),
        (6, 4, 3, "win", 15),
        (9, 4, 3, "placement", 8),
        (2, 1, 3, "placement", 2),
    ],
)
def test_random_games_equal_naive_code(size, line, players, rewards, games):
    game, dice = n_in_a_row(size, line, players, rewards), random.Random(size)
    ends = [play_and_compare(game, dice) for _ in range(games)]
    assert any((board_of(end) == 0).any() for end in ends)
    assert size > 5 or line == 1 or any((board_of(end) > 0).all() for end in ends)  # small boards also fill up


def test_a_full_window_ends_a_wide_game_compiled_or_not():
    """22 in a row on 22×22 is out of reach at random, so play goes on until the window of 21×21 is full."""
    dice = random.Random(3)
    state, slow, total = NInARow(22, 22).start(), n_in_a_row(22, 22).start(), np.zeros(3)
    while not state.over:
        top, left = naive_window(board_of(state))
        legal = state.legal()
        assert legal == np.flatnonzero(board_of(state)[top : top + 21, left : left + 21] == 0).tolist()
        action = dice.choice(legal)
        if state.ply % 50 < 3 or len(legal) < 3:  # interpreted, this takes its time
            slow = ab.State(slow.game, state.data)
            assert np.array_equal(state.observe(1), slow.observe(1))
            assert slow.legal() == legal
            after, owed = slow.step(action)
            state, rewards = state.step(action)
            assert (state.data, rewards.tolist()) == (after.data, owed.tolist())
        else:
            state, rewards = state.step(action)
        total += rewards
    top, left = naive_window(board_of(state))
    assert (board_of(state)[top : top + 21, left : left + 21] > 0).all()
    assert (board_of(state) == 0).any()
    assert [total[seat] for seat in naive_order(board_of(state).tolist(), None, 3)] == [1, -0.2, -1]


@pytest.mark.parametrize(("size", "players"), [(4, 3), (21, 2), (30, 3)])
def test_observations_equal_those_made_with_numpy(size, players):
    game, dice = n_in_a_row(size, 4, players), random.Random(5)
    state = game.start()
    for ply in range(12):
        check_observation(state, board_of(state), ply % players)
        state, _ = state.step(dice.choice(state.legal()))


def test_three_by_three_is_tic_tac_toe():
    """Numbers known from tic-tac-toe: lines of play by depth, and 5478 positions with the empty board."""
    rows = ab.perft(n_in_a_row(3, 3, players=2).start(), 9)
    assert [row.sequences for row in rows] == [9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872]
    assert 1 + sum(row.distinct for row in rows) == 5478


def finish(board, **options):
    """Play the stones of a board of 5×5 given as text, four of x and three of each other, x's last one last."""
    cells = {mark: [index for index, found in enumerate(board.replace(" ", "")) if found == mark] for mark in "xo#"}
    state = n_in_a_row(5, 4, **options).start()
    for turn in range(10):
        assert not state.over
        state, rewards = state.step(cells["xo#"[turn % 3]][turn // 3])
    assert state.over
    return state, rewards.tolist()


def test_a_gap_filled_makes_a_longer_line_that_wins_too():
    game = n_in_a_row(9, 4, players=2)
    state = game.start()
    for action in (0, 9, 1, 10, 2, 20, 4, 22, 5, 24):
        state, _ = state.step(action)
    assert not state.over
    state, rewards = state.step(3)  # cells 0 to 5: six in a row
    assert state.over
    assert rewards.tolist() == [1, -1]


def test_the_longest_run_decides_second_place():
    """Three in a row beat an angle of three, which holds three runs of two (across, down, diagonal)."""
    state, rewards = finish("xxxx. ooo.. ##... #.... .....")
    assert state.runs.tolist()[1:] == [[9, 0, 1, 0], [6, 3, 0, 0]]
    assert rewards == [1, -0.2, -1]
    assert finish("xxxx. ###.. oo... o.... .....")[1] == [1, -1, -0.2]


def test_the_number_of_equal_runs_decides_next():
    state, rewards = finish("xxxx. oo..o ##... #.... .....")
    assert state.runs.tolist()[1:] == [[10, 1, 0, 0], [6, 3, 0, 0]]
    assert rewards == [1, -1, -0.2]


def test_equal_profiles_go_to_the_lower_seat():
    state, rewards = finish("xxxx. ..... o.o.o ..... #.#.#")
    assert state.runs.tolist() == [[12, 0, 0, 1], [12, 0, 0, 0], [12, 0, 0, 0]]  # a lone stone is a run each way
    assert rewards == [1, -0.2, -1]


def test_win_scheme_pays_the_winner_only():
    assert finish("xxxx. ooo.. ##... #.... .....", rewards="win")[1] == [1, 0, 0]


def test_the_window_follows_the_stones_and_stays_on_the_board():
    game = n_in_a_row(preset="giant")
    assert (game.size, game.line, game.actions) == (100, 8, 441)
    state = game.start()
    corner = 0  # top left of the window
    tops = []
    for _ in range(4):
        tops.append(naive_window(board_of(state))[0])
        state, _ = state.step(corner)
    # Empty: centre 50, so the window begins at 40. A stone at 40: it begins at 30. Then stones at 30..40: centre 35, …
    assert tops == [40, 30, 25, 22]
    assert board_of(state)[40, 40] == 1
    assert board_of(state)[30, 30] == 2
    small = n_in_a_row(30, 6).start()
    for _ in range(30):
        small, _ = small.step(small.legal()[0])
    assert small.rows[0] == 0
    assert "rows 0 to 20" in str(small)


def test_the_far_corner_of_the_giant_board_is_drawn():
    """Rows 99 and 99 add up to more than the int8 that holds each of them."""
    state = n_in_a_row(preset="giant").start()
    for _ in range(5):
        state, _ = state.step(state.legal()[-1])
    for end in ([99, 99], [90, 99]):
        corner = ab.State(state.game, state.game.replace(state.data, rows=end, columns=end))
        assert "rows 79 to 99, columns 79 to 99 of 100" in str(corner)


def test_symmetries_commute_with_play():
    for size, line in ((5, 4), (9, 4)):
        game, dice = n_in_a_row(size, line), random.Random(size)
        assert len(game.symmetries()) == 7
        for symmetry in game.symmetries():
            state, image = game.start(), game.start()
            for _ in range(8):
                action = dice.choice(state.legal())
                state, rewards = state.step(action)
                image, same = image.step(symmetry.actions[action])
                assert rewards.tolist() == same.tolist()
                if state.over:
                    break
            assert np.array_equal(symmetry.observation(state.observe(0)), image.observe(0))
    assert not n_in_a_row(30, 6).symmetries()


def test_sizes_and_names():
    assert {name: (n_in_a_row(preset=name).size, n_in_a_row(preset=name).line) for name in PRESETS} == {
        "small": (9, 4),
        "medium": (15, 5),
        "large": (30, 6),
        "huge": (50, 7),
        "giant": (100, 8),
    }
    assert (n_in_a_row().size, n_in_a_row().line, n_in_a_row().players) == (9, 4, 3)
    game = n_in_a_row(3, 3)
    assert [game.action_name(action) for action in range(9)] == ["a3", "b3", "c3", "a2", "b2", "c2", "a1", "b1", "c1"]
    state, _ = game.start().step(4)
    assert str(state).splitlines() == ["3 . . .", "2 . x .", "1 . . .", "  a b c", "o to move"]


def test_wrong_options_are_named():
    with pytest.raises(UnknownNameError, match="giant"):
        n_in_a_row(preset="gaint")
    with pytest.raises(UnknownNameError, match="placement"):
        n_in_a_row(rewards="placements")
    with pytest.raises(UsageError, match="not both"):
        n_in_a_row(9, 4, preset="small")
    with pytest.raises(UsageError, match="players"):
        n_in_a_row(players=4)
    with pytest.raises(UsageError, match="line"):
        n_in_a_row(5, 6)
