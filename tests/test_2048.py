"""2048: slides by hand, whole games against a plain implementation on lists, exact values of tiny boards."""

from __future__ import annotations

import random

import pytest
from tests.test_position import random_states

import anabranch as ab
from anabranch.errors import UsageError
from anabranch.games.game_2048 import DOWN, LEFT, RIGHT, UP, Game2048


def game_2048(*arguments, **options):
    return Game2048(*arguments, **options).interpreted()


def slid(row):
    """Return a row of tiles after a slide to the left, and what it scores: written for lists, tile by tile."""
    tiles, made, score = [tile for tile in row if tile], [], 0
    while tiles:
        first = tiles.pop(0)
        if tiles and tiles[0] == first:
            tiles.pop(0)
            first *= 2
            score += first
        made.append(first)
    return made + [0] * (len(row) - len(made)), score


def moved(board, action):
    """Return a board of lists after a move, and what it scores."""
    if action in (UP, DOWN):
        turned, score = moved([list(column) for column in zip(*board, strict=True)], LEFT if action == UP else RIGHT)
        return [list(row) for row in zip(*turned, strict=True)], score
    rows = [slid(row[:: -1 if action == RIGHT else 1]) for row in board]
    return [row[:: -1 if action == RIGHT else 1] for row, _ in rows], sum(score for _, score in rows)


def tiles(state):
    columns = state.game.columns
    flat = [1 << int(exponent) if exponent else 0 for exponent in state.board]
    return [flat[at : at + columns] for at in range(0, len(flat), columns)]


@pytest.mark.parametrize(
    ("row", "left", "score"),
    [
        ("2 2 2 2", "4 4 . .", 8),
        ("2 2 2 .", "4 2 . .", 4),
        ("4 2 2 .", "4 4 . .", 4),
        (". 2 . 2", "4 . . .", 4),
        ("8 4 2 .", None, 0),
    ],
)
def test_tiles_merge_once_and_those_ahead_first(row, left, score):
    game = game_2048()
    state = game.position(f"{row}/. . . ./. . . ./. . . .")
    if left is None:
        assert LEFT not in state.legal()
        return
    after, rewards = state.step(LEFT)
    assert tiles(after)[0] == [0 if tile == "." else int(tile) for tile in left.split()]
    assert rewards[0] == score == after.score


@pytest.mark.parametrize(("rows", "columns"), [(4, 4), (3, 3), (2, 3), (1, 4)])
def test_whole_games_equal_those_of_a_plain_implementation(rows, columns):
    """Legal moves, boards, scores, the list of new tiles, and the end, move by move."""
    game, choose = game_2048(rows, columns), random.Random(rows)
    for seed in range(6 if rows * columns < 16 else 2):
        state, board, score = game.start(), [[0] * columns for _ in range(rows)], 0
        moment = 0
        while True:
            if state.turn == ab.CHANCE:
                empty = [at for at in range(rows * columns) if not board[at // columns][at % columns]]
                expected = {2 * at + kind: (0.9, 0.1)[kind] / len(empty) for at in empty for kind in (0, 1)}
                assert dict(state.outcomes()) == pytest.approx(expected)
                outcome = state.draw(seed, moment)
                board[outcome // 2 // columns][outcome // 2 % columns] = 4 if outcome % 2 else 2
                state, _ = state.step(outcome)
            else:
                legal = [action for action in range(4) if moved(board, action)[0] != board]
                if state.over:
                    assert not legal
                    break
                assert state.legal() == legal
                action = choose.choice(legal)
                board, gained = moved(board, action)
                score += gained
                state, rewards = state.step(action)
                assert rewards[0] == gained
            assert tiles(state) == board
            assert state.score == score
            moment += 1


def values_of(board, spawns, known):
    """Return the exact value of a board of lists by recursion: the plain implementation, solved."""
    key = (str(board), spawns)
    if key not in known:
        cells = [(r, c) for r, row in enumerate(board) for c, tile in enumerate(row) if not tile]
        if spawns:
            known[key] = sum(
                p
                / len(cells)
                * values_of(
                    [[t if (r, c) != place else tile for c, t in enumerate(row)] for r, row in enumerate(board)],
                    spawns - 1,
                    known,
                )
                for place in cells
                for tile, p in ((2, 0.9), (4, 0.1))
            )
        else:
            after = [moved(board, action) for action in range(4)]
            known[key] = max((score + values_of(then, 1, known) for then, score in after if then != board), default=0.0)
    return known[key]


def test_two_by_two_is_solved():
    """The engine's solution of the compiled game equals recursion over the plain implementation: 66.964."""
    exact = values_of([[0, 0], [0, 0]], 2, {})
    assert ab.solve(Game2048(2)).value[0] == pytest.approx(exact, rel=1e-12)
    assert exact == pytest.approx(66.96414946, abs=1e-8)


def test_the_highest_score_of_two_by_two_is_within_its_bounds():
    """The largest tile on n cells is 2^(n + 1): a 4 completes the chain."""
    game = game_2048(2)
    known = {}

    def most(data):
        key = game.rules.key(data)
        if key not in known:
            turn = game.rules.turn(data)
            moves = (
                []
                if turn == ab.OVER
                else [o for o, _ in game.rules.chance(data)]
                if turn == ab.CHANCE
                else game.rules.legal(data, 0)
            )
            after = [game.rules.step(data, [move]) for move in moves]
            known[key] = max((gained[0] + most(then) for then, gained in after), default=0.0)
            assert known[key] <= game.rules.bounds(data)[1][0]
        return known[key]

    assert most(game.start().data) <= 196 == game.returns[1]
    assert any(5 in key[: game.cells] for key in known)


def test_a_target_ends_the_game():
    game = game_2048(2, target=8)
    state = game.position("4 4/. .")
    after, rewards = state.step(LEFT)
    assert after.over
    assert rewards[0] == 8
    with pytest.raises(UsageError, match="target is a tile from 8 to 32"):
        game_2048(2, target=64)


def test_text_names_and_reading():
    game = game_2048(3, 4)
    for state in random_states(game, 1):
        read = game.position(str(state))
        assert read.key == state.key
        assert str(read) == str(state)
    assert game.outcome_name(1) == "4@a3"
    assert game.outcome_name(2 * 11) == "2@d1"
    for text, says in (
        ("2 4", "write 3 rows"),
        ("2 3 . ./. . . ./. . . .", "no tile"),
        ("2 . . ./. . . ./. . . ./score 0, over", "not over"),
    ):
        with pytest.raises(UsageError, match=says):
            game.position(text)


def test_symmetries_are_a_group_of_eight():
    assert len(game_2048().symmetries()) == 7
    assert len(game_2048(2, 3).symmetries()) == 3
