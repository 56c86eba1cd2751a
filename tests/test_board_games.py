"""Take-away, tic-tac-toe, connect four, Othello: plain re-tellings of the rules, positions by hand, mirror images."""

from __future__ import annotations

import random
from functools import cache

import numpy as np
import pytest

import anabranch as ab
from anabranch.game.board import cell_name, column_name, draw_board, square_maps
from anabranch.games.connect_four import ConnectFour, has_line, line_shifts
from anabranch.games.othello import Othello
from anabranch.games.take_away import TakeAway
from anabranch.games.tic_tac_toe import TicTacToe

TALL = {"rows": 30, "columns": 2, "line": 17}  # its shifts exceed 63, which only compiled play would notice
DIRECTIONS = [(0, 1), (1, 0), (1, 1), (1, -1)]


def play(state, *actions):
    """Play actions, given by id or name; return the last state and the sum of rewards."""
    total = np.zeros(state.game.players)
    for action in actions:
        state, rewards = state.step(state.game.parse_action(action) if isinstance(action, str) else action)
        total += rewards
    return state, total.tolist()


def random_play(game, seed):
    """Yield every state of a random game with the action played there and its rewards; None and None at the end."""
    dice = random.Random(seed)
    state = game.start()
    while not state.over:
        action = dice.choice(state.legal())
        after, rewards = state.step(action)
        yield state, action, rewards.tolist()
        state = after
    yield state, None, None


def best_return(state):
    """Return what the first player gets with best play on both sides of a two-player zero-sum game."""

    @cache
    def solve(state):
        if state.over:
            return 0.0
        best = max if state.turn == (0,) else min
        return best(rewards[0] + solve(after) for after, rewards in map(state.step, state.legal()))

    return solve(state)


# Take-away


@pytest.mark.parametrize("most", [1, 2, 3, 5])
def test_take_away_is_lost_exactly_on_multiples(most):
    """Theorem: the player to move loses exactly when most + 1 divides the stones."""
    for stones in range(1, 25):
        assert best_return(TakeAway(stones, most).interpreted().start()) == (-1 if stones % (most + 1) == 0 else 1)


def test_take_away_by_hand():
    state = TakeAway(5).start()
    assert state.legal() == [0, 1, 2]
    assert [state.game.action_name(action) for action in state.legal()] == ["1", "2", "3"]
    assert state.observe().tolist() == [1, 0, 1] + [0] * 28
    state, rewards = play(state, "3")
    assert str(state) == "oo\n2 left, player 1 to move"
    assert state.legal() == [0, 1]
    assert rewards == [0, 0]
    state, rewards = play(state, "2")
    assert (state.over, rewards) == (True, [-1, 1])
    assert str(TakeAway(1000).start()).startswith("o" * 60 + "…\n1000 left")


# Tic-tac-toe


def test_tic_tac_toe_is_a_draw():
    assert best_return(TicTacToe().start()) == 0


def test_tic_tac_toe_by_hand():
    state, rewards = play(TicTacToe().start(), "b2", "a1", "c1", "a3", "a2", "c2")
    assert str(state) == "3 o . .\n2 x x o\n1 o . x\n  a b c\nx to move"
    assert state.legal() == [1, 2, 7]
    assert state.observe(0)[0].tolist() == [[0, 0, 0], [1, 1, 0], [0, 0, 1]]
    assert state.observe(1)[1].tolist() == state.observe(0)[0].tolist()
    assert state.observe(1)[0].tolist() == [[1, 0, 0], [0, 0, 1], [1, 0, 0]]
    assert rewards == [0, 0]
    won, rewards = play(TicTacToe().start(), "a1", "a2", "b1", "b2", "c1")
    assert (won.over, rewards) == (True, [1, -1])
    drawn, rewards = play(TicTacToe().start(), "a1", "b2", "c3", "b1", "b3", "a3", "c1", "c2", "a2")
    assert (drawn.over, rewards) == (True, [0, 0])


# Connect four


def plain_line(board, line):
    """Return whether a boolean board holds `line` in a row, cell by cell."""
    rows, columns = board.shape
    for row in range(rows):
        for column in range(columns):
            for down, right in DIRECTIONS:
                cells = [(row + down * step, column + right * step) for step in range(line)]
                if all(0 <= r < rows and 0 <= c < columns and board[r, c] for r, c in cells):
                    return True
    return False


@pytest.mark.parametrize(("rows", "columns"), [(6, 7), (1, 9), (30, 2), (62, 1), (4, 4), (8, 7), (6, 9), (5, 8)])
def test_lines_by_shifting_are_lines_by_looking(rows, columns):
    """Law: the shifted boards leave a bit exactly when some cell begins a line, for every length."""
    dice = np.random.default_rng(1)
    for line in range(1, max(rows, columns) + 1):
        shifts = line_shifts(rows + 1, line)
        assert shifts.max() <= 63, "native code leaves longer shifts undefined"
        for density in (0.5, 0.8, 0.95):
            board = dice.random((rows, columns)) < density
            stones = sum(1 << (column * (rows + 1) + rows - 1 - row) for row, column in np.argwhere(board).tolist())
            assert has_line(stones, shifts) == plain_line(board, line), (board, line)


@pytest.mark.parametrize("options", [{}, {"rows": 4, "columns": 5, "line": 3, "compiled": False}, TALL])
def test_connect_four_equals_its_plain_telling(options):
    """Stones fall to the lowest empty row; the first to have a line wins; a full board is a draw."""
    game = ConnectFour(**options)
    rows, columns = game.rows, game.columns
    for seed in range(20):
        board, mover = np.full((rows, columns), -1), 0
        for state, action, rewards in random_play(game, seed):
            for seat in range(2):
                expected = np.stack([board == seat, board == 1 - seat])
                assert np.array_equal(state.observe(seat), expected)
            if action is None:
                break
            assert state.turn == (mover,)
            assert state.legal() == [column for column in range(columns) if board[0, column] < 0]
            board[np.flatnonzero(board[:, action] < 0)[-1], action] = mover
            won = plain_line(board == mover, game.line)
            assert (rewards[mover], rewards[1 - mover]) == ((1, -1) if won else (0, 0))
            mover = 1 - mover
        assert state.over == (won or not (board < 0).any())


def test_connect_four_by_hand():
    state, _ = play(ConnectFour().start(), "d", "d", "e", "c")
    assert str(state) == (
        ". . . . . . .\n. . . . . . .\n. . . . . . .\n. . . . . . .\n"
        ". . . o . . .\n. . o x x . .\na b c d e f g\nx to move"
    )
    diagonal = ["a", "b", "b", "c", "c", "d", "c", "d", "d", "a", "d"]
    won, rewards = play(ConnectFour().start(), *diagonal)
    assert (won.over, rewards) == (True, [1, -1])
    mirrored, rewards = play(ConnectFour().start(), *["gfedcba"["abcdefg".index(name)] for name in diagonal])
    assert (mirrored.over, rewards) == (True, [1, -1])
    lost, rewards = play(ConnectFour().start(), "a", "b", "a", "b", "a", "b", "c", "b")
    assert (lost.over, rewards) == (True, [-1, 1])
    full, _ = play(ConnectFour().start(), *["a"] * 6)
    assert full.legal() == [1, 2, 3, 4, 5, 6]


def test_connect_four_orders_of_play_meet():
    """The same stones are the same state, however they came."""
    one, _ = play(ConnectFour().start(), "a", "b", "c", "d")
    other, _ = play(ConnectFour().start(), "c", "d", "a", "b")
    assert one == other
    assert one.key == other.key
    assert one != play(ConnectFour().start(), "a", "d", "c", "c")[0]


# Othello


def plain_enclosed(board, row, column, mover):
    """Return the cells turned by placing at (row, column), walking in all eight directions."""
    size = len(board)
    turned: list[tuple[int, int]] = []
    if board[row, column] >= 0:
        return turned
    for down, right in DIRECTIONS + [(-down, -right) for down, right in DIRECTIONS]:
        walk, r, c = [], row + down, column + right
        while 0 <= r < size and 0 <= c < size and board[r, c] == 1 - mover:
            walk.append((r, c))
            r, c = r + down, c + right
        if 0 <= r < size and 0 <= c < size and board[r, c] == mover:
            turned += walk
    return turned


@pytest.mark.parametrize("size", [4, 6, 8])
def test_othello_equals_its_plain_telling(size):
    game = Othello(size) if size == 8 else Othello(size).interpreted()
    passes = 0
    for seed in range(30 if size < 8 else 10):
        half = size // 2
        board, mover = np.full((size, size), -1), 0
        board[half - 1, half] = board[half, half - 1] = 0
        board[half - 1, half - 1] = board[half, half] = 1
        for state, action, rewards in random_play(game, seed):
            for seat in range(2):
                assert np.array_equal(state.observe(seat), np.stack([board == seat, board == 1 - seat]))
            places = [
                [cell for cell in range(size**2) if plain_enclosed(board, cell // size, cell % size, seat)]
                for seat in range(2)
            ]
            assert state.over == (not places[0] and not places[1])
            if action is None:
                break
            assert state.turn == (mover,)
            assert state.legal() == (places[mover] or [size**2])
            if action < size**2:
                placed = divmod(action, size)
                for cell in [*plain_enclosed(board, placed[0], placed[1], mover), placed]:
                    board[cell] = mover
            else:
                passes += 1
            mover = 1 - mover
            last = rewards
        lead = np.sign((board == 0).sum() - (board == 1).sum())
        assert last == [lead, -lead]
        final = game.replace(game.start().data, discs=state.discs, moves=0, mover=0, over=True)
        assert state.data == final, "a final board is one state, whoever placed last"
    assert passes > 0, "no game of these passed"


def test_othello_by_hand():
    state = Othello().start()
    assert str(state) == (
        "8 . . . . . . . .\n7 . . . . . . . .\n6 . . . . . . . .\n5 . . . o x . . .\n4 . . . x o . . .\n"
        "3 . . . . . . . .\n2 . . . . . . . .\n1 . . . . . . . .\n  a b c d e f g h\n2 : 2, black (x) to move"
    )
    assert state.legal() == [2 * 8 + 3, 3 * 8 + 2, 4 * 8 + 5, 5 * 8 + 4]
    state, _ = play(state, "d6")
    assert str(state).splitlines()[2:5] == ["6 . . . x . . . .", "5 . . . x x . . .", "4 . . . x o . . ."]
    assert str(state).splitlines()[-1] == "4 : 1, white (o) to move"
    with pytest.raises(ab.errors.IllegalActionError):
        state.step(64)


def test_othello_shortest_game():
    """The shortest game known: nine moves leave the second player without a disc, 13 to 0. Books' ranks count down."""
    moves = ["e6", "f4", "e3", "f6", "g5", "d6", "e7", "f5", "c5"]
    cells = [(int(name[1]) - 1) * 8 + "abcdefgh".index(name[0]) for name in moves]
    state, rewards = play(Othello().start(), *cells)
    assert (state.over, rewards) == (True, [1, -1])
    assert str(state).endswith("13 : 0, over")


def test_othello_on_4_by_4_is_won_by_the_second_player():
    """Known result: with best play the second player wins 11 to 3."""

    @cache
    def lead(state):
        if state.over:
            first, second = state.discs.tolist()
            return first.bit_count() - second.bit_count()
        best = max if state.turn == (0,) else min
        return best(lead(state.step(action)[0]) for action in state.legal())

    assert lead(Othello(4).start()) == 3 - 11


# All of them

GAMES = [TakeAway(), TicTacToe(), ConnectFour(), Othello(), Othello(4)]
SMALL = [ConnectFour(rows=4, columns=3, line=3).interpreted(), Othello(6).interpreted()]


@pytest.mark.parametrize("game", GAMES + SMALL, ids=repr)
def test_symmetries_keep_the_rules(game):
    """Law: the image of a game is a game: images of legal actions, observations and rewards at every step."""
    for seed, symmetry in enumerate(game.symmetries()):
        image = game.start()
        for state, action, rewards in random_play(game, seed):
            assert image.turn == state.turn
            for seat in range(2):
                assert np.array_equal(image.observe(seat), symmetry.observation(state.observe(seat)))
            if action is not None:
                assert image.legal() == sorted(symmetry.actions[legal] for legal in state.legal())
                image, mirrored = image.step(symmetry.actions[action])
                assert mirrored.tolist() == rewards


def test_symmetries_are_all_there():
    """Identity included: 8 for a square, 2 for connect four, 4 for Othello, whose start only they keep."""
    for game, count in [(TicTacToe(), 8), (ConnectFour(), 2), (Othello(), 4), (Othello(4), 4)]:
        identity = tuple(range(game.actions))
        assert len({identity, *(symmetry.actions for symmetry in game.symmetries())}) == count
    maps = {tuple(grid) for grid in square_maps(3)} | {tuple(range(9))}
    assert {tuple(second[list(first)]) for first in maps for second in map(np.array, maps)} == maps, "not a group"


@pytest.mark.parametrize("game", GAMES + SMALL, ids=repr)
def test_names_are_read_back(game):
    names = [game.action_name(action) for action in range(game.actions)]
    assert len(set(names)) == game.actions
    assert [game.parse_action(name) for name in names] == list(range(game.actions))


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_compiled_play_equals_interpreted(game):
    """Law: both ways give the same bytes, actions and rewards along a game."""
    plain = game.interpreted()
    other = plain.start()
    for state, action, rewards in random_play(game, 7):
        assert state.data == other.data
        assert state.turn == other.turn
        if action is not None:
            assert state.legal() == other.legal()
            other, paid = other.step(action)
            assert paid.tolist() == rewards


def test_board_names():
    """Ranks count from the bottom, letters go on after z as in spreadsheets."""
    assert [column_name(column) for column in (0, 25, 26, 27, 51, 52, 701, 702)] == [
        "a", "z", "aa", "ab", "az", "ba", "zz", "aaa",
    ]  # fmt: skip
    assert [cell_name(cell, 3, 4) for cell in (0, 3, 8, 11)] == ["a3", "d3", "a1", "d1"]
    assert draw_board([["."] * 2] * 10).splitlines()[0] == "10 . ."
    assert draw_board([["."] * 2] * 10).splitlines()[-2:] == [" 1 . .", "   a b"]


@pytest.mark.parametrize(
    ("name", "options", "kind", "words"),
    [
        ("take_away", {"stones": 0}, ab.errors.UsageError, "stones must be a whole number from 1 .* found 0"),
        ("take_away", {"most": 0}, ab.errors.UsageError, "most must"),
        ("take_away", {"stones": 2**31}, ab.errors.UsageError, "stones must"),
        ("take_away", {"stones": 2.5}, ab.errors.UsageError, "stones must"),
        ("take_away", {"stones": "5"}, ab.errors.UsageError, "stones must .* found '5'"),
        ("connect_four", {"rows": 0}, ab.errors.UsageError, "rows must"),
        ("connect_four", {"columns": -1}, ab.errors.UsageError, "columns must"),
        ("connect_four", {"columns": True}, ab.errors.UsageError, "columns must"),
        ("connect_four", {"line": 8}, ab.errors.UsageError, "line must be a whole number from 1 to 7, found 8"),
        ("connect_four", {"rows": 8, "columns": 8}, ab.errors.GameError, r"at most 63 .* \(8 \+ 1\) · 8 = 72"),
        ("othello", {"size": 5}, ab.errors.UsageError, "size must be 4, 6 or 8, found 5"),
        ("othello", {"size": 10}, ab.errors.UsageError, "size must be 4, 6 or 8"),
        ("othello", {"sise": 8}, ab.errors.UsageError, "'sise'. Did you mean 'size'"),
    ],
)
def test_wrong_parameters_are_named(name, options, kind, words):
    with pytest.raises(kind, match=words):
        ab.games.load(name, **options)
