"""Go: a plain telling of the rules, positions by hand, OpenSpiel's board, long cycles, and which positions merge."""

from __future__ import annotations

import random
from collections import deque
from typing import Any

import numpy as np
import pytest

import anabranch as ab
from anabranch.errors import IllegalActionError, UnknownNameError, UsageError
from anabranch.games.go import FAIR, Go, cell_of, least_cycle

# A telling of the rules that shares nothing with the game: a board is a tuple of marks, 0 free, else seat + 1.


def plain_neighbours(point, size):
    row, column = divmod(point, size)
    around = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
    return [r * size + c for r, c in around if 0 <= r < size and 0 <= c < size]


def plain_region(board, point, size):
    """Return the points of one mark that hang together with a point, and the marks beside them."""
    region, beside, waiting = {point}, set(), [point]
    while waiting:
        for near in plain_neighbours(waiting.pop(), size):
            if board[near] != board[point]:
                beside.add(board[near])
            elif near not in region:
                region.add(near)
                waiting.append(near)
    return region, beside


def plain_move(board, point, mark, size):
    """Return the board after a stone, or None where the point is taken or the stone would be dead."""
    if board[point]:
        return None
    after = list(board)
    after[point] = mark
    for near in plain_neighbours(point, size):
        if after[near] == 3 - mark:
            chain, beside = plain_region(after, near, size)
            if 0 not in beside:
                for stone in chain:
                    after[stone] = 0
    return tuple(after) if 0 in plain_region(after, point, size)[1] else None


def plain_lead(board, size):
    """Return the first player's area less the second's."""
    lead = 0
    for point, mark in enumerate(board):
        owners = plain_region(board, point, size)[1] if mark == 0 else {mark}
        lead += {(1,): 1, (2,): -1}.get(tuple(owners), 0)
    return lead


def board_of(state):
    """Return a state's board as the plain telling has it, from its packed bits."""
    boards = state.boards[state.ply]
    stones = [[int(boards[seat, p // 64]) >> p % 64 & 1 for p in range(state.game.points)] for seat in range(2)]
    board = tuple(first + 2 * second for first, second in zip(*stones, strict=True))
    cells = [state.board[cell_of(point, state.game.size)] for point in range(state.game.points)]
    assert board == tuple(cells), "two views of one board"
    return board


@pytest.mark.parametrize(
    ("game", "plies"),
    [
        (Go(5).interpreted(), 700),
        (Go(4), 8000),
        (Go(3).interpreted(), 1500),
        (Go(2).interpreted(), 200),
        (Go(9).interpreted(), 120),  # more points than a word has bits
        (Go(11, plies=70).interpreted(), 70),  # more cells than a byte counts
        (Go(4, merge="bounded", bound=3), 500),  # what merges changes no rule
    ],
    ids=repr,
)
def test_random_play_equals_the_plain_telling(game, plies):
    """Legal moves, boards, rewards and the end, at every ply; some moves are refused by superko, some by suicide."""
    dice, size, played = random.Random(1), game.size, 0
    refused = {"superko": 0, "suicide": 0}
    while played < plies:
        state, board, passes, ply = game.start(), (0,) * game.points, 0, 0
        seen = {board}
        while not state.over:
            mark = ply % 2 + 1
            assert state.turn == (ply % 2,)
            after = {point: plain_move(board, point, mark, size) for point in range(game.points) if not board[point]}
            refused["suicide"] += None in after.values()
            refused["superko"] += any(each in seen for each in after.values())
            legal = [point for point, each in after.items() if each is not None and each not in seen]
            assert state.legal() == [*legal, game.points]
            action = dice.choice(legal or [game.points]) if dice.random() < 0.97 else game.points
            passes = passes + 1 if action == game.points else 0
            board = after.get(action, board)
            seen.add(board)
            state, rewards = state.step(action)
            assert board_of(state) == board
            ply += 1
            played += 1
        assert passes == 2 or ply == game.plies
        result = np.sign(plain_lead(board, size) - game.komi)
        assert rewards.tolist() == [result, -result]
    assert size > 4 or min(refused.values()) > 0, refused


@pytest.mark.parametrize(("size", "plies", "compiled"), [(4, 10_000, True), (5, 600, False), (9, 100, False)])
def test_random_play_equals_open_spiel(size, plies, compiled):
    """Its rows count from the bottom; its games may be longer; a repetition is a draw there and illegal here."""
    pyspiel = pytest.importorskip("pyspiel")
    spiel = pyspiel.load_game("go", {"board_size": size, "komi": 7.5, "max_game_length": 100_000})
    game = Go(size, 7.5) if compiled else Go(size, 7.5).interpreted()
    flip = [(size - 1 - point // size) * size + point % size for point in range(size * size)] + [size * size]
    dice, played, repetitions = random.Random(2), 0, 0
    while played < plies:
        state, theirs = game.start(), spiel.new_initial_state()
        while not state.over:
            legal = []
            for action in theirs.legal_actions():
                ends = action < size * size and theirs.child(action).is_terminal()  # only by a repetition
                repetitions += ends
                legal += [] if ends else [flip[action]]
            assert state.legal() == sorted(legal)
            action = dice.choice(legal if dice.random() < 0.1 else legal[:-1] or legal)  # seldom a pass
            state, rewards = state.step(action)
            theirs.apply_action(flip[action])
            played += 1
        if theirs.is_terminal():  # two passes; our limit of plies is not one of theirs
            assert rewards.tolist() == theirs.returns()
    assert size > 4 or repetitions > 0


def test_lines_of_play_on_4_by_4():
    """Known: 57,984 lines of four plies, no two of which have the same history; most of them share their board."""
    rows = ab.perft(Go(4).start(), 4)
    assert [(row.sequences, row.distinct) for row in rows] == [(17, 17), (273, 273), (4112, 4112), (57984, 57984)]
    merged = [row.distinct for row in ab.perft(Go(4, merge="bounded").start(), 4)]
    apart = {((0,) * 16, 0)}  # boards and passes in a row: no node is less than that
    for depth in range(4):
        following = {
            (board if point == 16 else plain_move(board, point, depth % 2 + 1, 4), (passes + 1) * (point == 16))
            for board, passes in apart
            for point in range(17)
            if passes < 2
        }
        apart = {(board, passes) for board, passes in following if board is not None}
        assert len(apart) <= merged[depth] <= 1.05 * len(apart)
    assert merged == [17, 273, 2316, 17160]


# Positions by hand


def laid(game, picture, ply=0):
    """Return a state with stones as drawn and no other board before it, at ply 0 (black to move) or later."""
    marks = [".xo".index(mark) for mark in picture.split()]
    assert len(marks) == game.points
    start = game.start()
    board, links, boards = start.board.copy(), start.links.copy(), start.boards.copy()
    for point, mark in enumerate(marks):
        board[cell_of(point, game.size)] = mark
        if mark:
            stones, beside = plain_region(marks, point, game.size)
            assert 0 in beside, "no liberty"
            chain = sorted(stones)
            following = chain[(chain.index(point) + 1) % len(chain)]
            links[cell_of(point, game.size)] = cell_of(following, game.size)
            boards[: ply + 1, mark - 1, point // 64] |= np.uint64(1 << point % 64)
    return ab.State(game, game.replace(start.data, board=board, links=links, boards=boards, ply=ply))


def play(state, moves):
    """Play moves by name; return the last state and the sum of rewards."""
    total = np.zeros(2)
    for move in moves.split():
        state, rewards = state.step(state.game.parse_action(move))
        total += rewards
    return state, total.tolist()


def names(state):
    return [state.game.action_name(action) for action in state.legal()]


def drawn(state):
    return " ".join(line[2:] for line in str(state).splitlines()[: state.game.size])


FIVE = Go(5).interpreted()
KO = """
. . . . .
. x o . .
x o . o .
. x o . .
. . . . .
"""
SNAPBACK = """
. . . . .
. . . . .
x x . . .
o o x . .
. . x . .
"""
SEND_TWO = """
. . . . .
. . . . .
. . . . .
o o x x .
. x . x .
"""


def test_a_ko_may_not_be_retaken_at_once():
    state, _ = play(laid(FIVE, KO), "c3")
    assert drawn(state) == ". . . . . . x o . . x . x o . . x o . . . . . . ."
    assert "b3" not in names(state)
    with pytest.raises(IllegalActionError):
        play(state, "b3")
    state, _ = play(state, "e5 e1 b3")  # a threat and its answer later it may
    assert drawn(state) == ". . . . o . x o . . x o . o . . x o . . . . . . x"


def test_snapback():
    """A stone thrown in is taken, and the three that took it are taken back: no repetition."""
    state, _ = play(laid(FIVE, SNAPBACK), "a1 b1")
    assert drawn(state).endswith("o o x . . . o x . .")
    state, _ = play(state, "a1")
    assert drawn(state) == ". . . . . . . . . . x x . . . . . x . . x . x . ."


def test_two_stones_sent_and_one_returned():
    """A cycle of three plies, so that another player is to move: only positional superko refuses it."""
    state, _ = play(laid(FIVE, SEND_TWO), "a1 c1")
    assert drawn(state).endswith("o o x x . . . o x .")
    assert "b1" not in names(state)
    assert "a1" in names(state)
    elsewhere, _ = play(state, "e5 e4")
    assert "b1" in names(elsewhere), "the board has changed elsewhere"


def test_triple_ko():
    """Six plies, each takes a stone in one of three kos; the sixth would bring the first board back."""
    board = """
    x . x o . . .
    . x o . . . .
    . . . . . . o
    . . . . . o .
    . . . . . x o
    . x o . . . x
    x o . o . . .
    """
    state, _ = play(laid(Go(7).interpreted(), board), "c1 b7 g4 b1 c7")
    assert "g3" not in names(state)
    elsewhere, _ = play(state, "d4 e4")
    assert "g3" in names(elsewhere)


def test_suicide_is_refused_and_taking_is_none():
    corner = """
    . x . . .
    x . x o .
    . x o . o
    . . . o .
    o o . . .
    """
    state = laid(FIVE, corner, ply=1)
    assert {"a5", "b4"}.isdisjoint(names(state)), "a single stone without a liberty"
    two = laid(FIVE, ". o x . . o x x . . x x . . . . . . . . . . . . .", ply=1)
    assert "a5" not in names(two), "the whole chain would have no liberty"
    taking = laid(FIVE, ". o x . . o x x . . x x . . . . . . . . . . . . .", ply=0)
    assert drawn(play(taking, "a5")[0]).startswith("x . x . . . x x . .")


def test_area_scoring():
    """Stones and what only one colour touches; points between both, as in a seki, are nobody's."""
    shared = """
    . x x o .
    x x o o o
    o . . . .
    o o x x x
    . o o x .
    """
    cases = {
        ". " * 25: 0,
        ". " * 12 + "x " + ". " * 12: 25,
        ". " * 12 + "o " + ". " * 12: -25,
        shared: 10 - 11,
        "x x . o o " * 5: 0,
        "x x . . o " * 5: 5,
    }
    for picture, lead in cases.items():
        marks = [".xo".index(mark) for mark in picture.split()]
        assert plain_lead(marks, 5) == lead, picture
        state, rewards = play(laid(Go(5, lead).interpreted(), picture), "pass pass")
        assert (state.over, rewards) == (True, [0, 0])
        assert str(state).endswith(f"black (x) leads by {lead} before komi {lead}: a draw")
        for komi, black in ((lead - 0.5, 1), (lead + 0.5, -1)):
            state, rewards = play(laid(Go(5, komi).interpreted(), picture), "pass pass")
            assert rewards == [black, -black]


def test_the_end():
    """Two passes in a row, or so many plies; nothing is paid before."""
    state, rewards = play(FIVE.start(), "c3 pass b2 pass a1")
    assert (state.over, rewards) == (False, [0, 0])
    state, rewards = play(state, "pass")
    assert (state.over, rewards) == (False, [0, 0])
    assert str(state).endswith("\nwhite (o) passed, black (x) to move")
    assert play(state, "pass")[0].over
    short = Go(5, 0.5, plies=3).interpreted()
    state, rewards = play(short.start(), "a1 b1")
    assert (state.over, rewards) == (False, [0, 0])
    state, rewards = play(state, "a2")
    assert (state.over, rewards) == (True, [1, -1])
    assert str(state).endswith("black (x) leads by 1 before komi 0.5: black (x) wins by 0.5")
    assert Go(3).plies == 18


def test_observation():
    """The last eight boards, the observer's stones first, the newest first; then whether black is to move."""
    game = Go(3).interpreted()
    state, boards = game.start(), []
    for move in ("a1", "c3", "b2", "pass", "a2", "c1", "b1", "a3", "pass"):
        state, _ = play(state, move)
        boards.append(board_of(state))
    for seat in range(2):
        planes = state.observe(seat)
        assert planes.shape == (17, 3, 3)
        for back in range(8):
            for side in range(2):
                expected = [mark == (seat + side) % 2 + 1 for mark in boards[-1 - back]]
                assert planes[2 * back + side].reshape(-1).tolist() == expected
        assert not planes[16].any(), "white is to move"
    start = game.start().observe(0)
    assert start[16].all()
    assert not start[:16].any()


def test_symmetries_and_names():
    game = Go(3)
    assert len({symmetry.actions for symmetry in game.symmetries()} | {tuple(range(10))}) == 8
    assert all(symmetry.actions is not None and symmetry.actions[9] == 9 for symmetry in game.symmetries())
    assert [game.action_name(action) for action in (0, 2, 6, 9)] == ["a3", "c3", "a1", "pass"]
    assert [game.parse_action(game.action_name(action)) for action in range(10)] == list(range(10))


def test_parameters():
    assert {size: Go(size).komi for size in (2, 3, 4, 5, 6, 7, 8, 19)} == {**FAIR, 8: 7.5, 19: 7.5}
    assert Go(7, 3.5).komi == 3.5
    for bad in ({"size": 1}, {"size": 20}, {"komi": "6"}, {"komi": float("nan")}, {"plies": 0}, {"size": 5.5}):
        with pytest.raises(UsageError):
            Go(**bad)
    with pytest.raises(UnknownNameError, match="bounded"):
        Go(merge="bound")


# What merges


def test_the_fewest_plies_of_a_cycle():
    """Theorem: a board comes back S+E plies after a move on a point took it away, or later.

    S stones in the chain on the point, E points in the empty regions beside it. Every board of 2×2, and a sample of
    those of 3×3: from all boards the way back is searched for breadth first, either colour moving as it likes.
    """
    for size, sample, tight in ((2, 57, {4}), (3, 15, {2})):
        waiting: deque[tuple[int, ...]] = deque([(0,) * size**2])
        before: dict[tuple[int, ...], set[tuple[int, ...]]] = {(0,) * size**2: set()}
        while waiting:
            board = waiting.popleft()
            for after in all_moves(board, size):
                if after not in before:
                    before[after] = set()
                    waiting.append(after)
                before[after].add(board)
        assert len(before) == {2: 57, 3: 12675}[size], "known: the number of legal positions"
        found: set[int] = set()
        boards = sorted(before)
        for board in random.Random(3).sample(boards, sample):
            plies, waiting = {board: 0}, deque([board])
            while waiting:
                there = waiting.popleft()
                for earlier in before[there]:
                    if earlier not in plies:
                        plies[earlier] = plies[there] + 1
                        waiting.append(earlier)
            for point, after in all_moves(board, size, points=True):
                if after in plies:
                    least = measured(after, point, size)
                    assert least <= 1 + plies[after], (board, after)
                    if least == 1 + plies[after]:
                        found.add(least)
        assert tight <= found, "the bound is reached"


def all_moves(board, size, points=False):
    """Return the boards one stone away, of either colour."""
    moves = [(point, plain_move(board, point, mark, size)) for point in range(size**2) for mark in (1, 2)]
    return [(point, after) if points else after for point, after in moves if after is not None]


def measured(board, point, size):
    """Return what the game counts after a move on a point."""
    state = laid(Go(size).interpreted(), " ".join(".xo"[mark] for mark in board))
    links = state.links
    before = links.copy()
    least = least_cycle(state.board, links, state.game.sides, cell_of(point, size), 100)
    assert np.array_equal(links, before), "what was tied for counting is untied again"
    return least


def key_after(moves, **options):
    return play(Go(5, **options).interpreted().start(), moves)[0].key


def test_orders_of_play_merge_only_if_asked():
    one, other = "a1 e5 c3 d4", "c3 d4 a1 e5"
    assert key_after(one) != key_after(other)
    assert key_after(one, merge="bounded") == key_after(other, merge="bounded")
    assert key_after(one, merge="bounded", bound=25) != key_after(other, merge="bounded", bound=25)
    assert key_after(one, merge="bounded") != key_after("c3 d4 a1 pass e2 pass", merge="bounded")
    assert key_after("a1 pass", merge="bounded") != key_after("a1", merge="bounded")


def test_positions_that_a_short_cycle_tells_apart_do_not_merge():
    """Two orders to one board: in one of them the board that `b1` makes was there, three plies before.

    A bound of two plies sees nothing wrong with merging them, which is what it says.
    """
    walls = "c2 b2 d2 a2 d1 e5"
    for bound, merges in ((2, True), (3, False), (11, False)):
        game = Go(5, merge="bounded", bound=bound).interpreted()
        first, _ = play(game.start(), f"{walls} b1 e4 a1 c1")
        second, _ = play(game.start(), f"{walls} a1 e4 b1 c1")
        assert board_of(first) == board_of(second)
        assert "b1" not in names(first)
        assert "b1" in names(second)
        assert (first.key == second.key) == merges, bound


def test_a_ko_keeps_its_positions_apart():
    """The same board with and without a ko to be retaken are two nodes; once it is over they may be one."""
    game = Go(5, merge="bounded").interpreted()
    stones = "b4 c4 a3 d3 b2 c2 e5 b3 c3"
    fresh, _ = play(game.start(), stones)
    quiet, _ = play(game.start(), "b4 c4 a3 d3 b2 c2 c3 pass e5")
    assert board_of(fresh) == board_of(quiet)
    assert "b3" not in names(fresh)
    assert "b3" in names(quiet)
    assert fresh.key != quiet.key


def value(state, known):
    """Return what the first player gets with best play, one entry in `known` for each key."""
    if state.over:
        return 0.0
    if state.key not in known:
        best = max if state.turn == (0,) else min
        known[state.key] = best(r[0] + value(after, known) for after, r in map(state.step, state.legal()))
    return known[state.key]


def black_wins(state):
    """Whether the first player gets +1 with best play; stops at the first move that decides it."""
    first = state.turn == (0,)
    for after, rewards in map(state.step, state.legal()):
        if (rewards[0] > 0 if after.over else black_wins(after)) == first:
            return first
    return not first


def test_black_wins_2_by_2_by_one_point():
    """Known result of area scoring with positional superko (Tromp); a limit of 8 plies cuts the winning line short."""
    for plies, komi, wins in ((10, 0.5, True), (10, 1.5, False), (8, -0.5, True), (8, 0.5, False)):
        assert black_wins(Go(2, komi, plies=plies).interpreted().start()) == wins


CROWDED = [
    ". x o . x x o o o x . o . x o .",
    "x . x o . x o . x x o o . x o .",
    ". o . o o o x x x x . x . x o .",
    ". x . x x x o o o o x o . o x .",
]


@pytest.mark.parametrize("picture", CROWDED)
@pytest.mark.parametrize("left", [5, 6])
def test_within_the_bound_merging_changes_no_value(picture, left):
    """Theorem: where no cycle can be longer than the bound, equal keys have equal values, superko or not."""
    for komi in (0.5, 3.5):
        tree: dict[Any, float] = {}
        graph: dict[Any, float] = {}
        ply = 2 * 16 - left
        expected = value(laid(Go(4, komi), picture, ply), tree)
        found = value(laid(Go(4, komi, merge="bounded", bound=left), picture, ply), graph)
        assert found == expected
        assert len(graph) < len(tree)


@pytest.mark.parametrize("picture", CROWDED)
def test_searches_of_tree_and_graph_find_the_best_move(picture):
    """Both choose a move that keeps the exact value, and agree on what it is worth; the graph has fewer nodes."""
    results = []
    for game in (Go(4, 0.5), Go(4, 0.5, merge="bounded", bound=5)):
        state = laid(game, picture, 2 * 16 - 5)
        config = ab.SearchConfig(selector=ab.Puct(c_init=1.25))
        result = ab.search(state, simulations=4000, evaluator=ab.Uniform(), config=config)
        exact = value(state, {})
        after, rewards = state.step(result.action)
        assert rewards[0] + value(after, {}) == exact
        assert result.value[0] == pytest.approx(exact, abs=0.25)
        results.append(result)
    assert results[1].nodes < results[0].nodes


@pytest.mark.parametrize("game", [Go(4, merge="bounded"), Go(3, merge="bounded", bound=9).interpreted()], ids=repr)
def test_the_laws_of_games_hold(game):
    report = ab.check(game, seconds=0.8)
    assert report.ok, str(report)
    assert min(report.laws[name] for name in ("key", "symmetry", "observation", "cycles")) > 0
