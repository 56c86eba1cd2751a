"""Counting lines of play: numbers computed by other programs, and laws about counting."""

from __future__ import annotations

import math

import pytest

import anabranch as ab
from anabranch.games.connect_four import ConnectFour
from anabranch.games.othello import Othello
from anabranch.games.take_away import TakeAway
from anabranch.games.tic_tac_toe import TicTacToe


def column(rows, field):
    return [getattr(row, field) for row in rows]


def test_connect_four_positions_by_ply():
    """7, 49, 238, 1120, 4263, 16422: OEIS A212693. Nobody can have four in a row before the seventh ply."""
    rows = ab.perft(ConnectFour(), 6)
    assert column(rows, "distinct") == [7, 49, 238, 1120, 4263, 16422]
    assert column(rows, "sequences") == [7**ply for ply in range(1, 7)]
    assert column(rows, "over") == [0] * 6


def test_othello_sequences_by_ply():
    """4, 12, 56, 244, 1396, 8200: perft of Othello as other programs print it."""
    assert column(ab.perft(Othello(), 6), "sequences") == [4, 12, 56, 244, 1396, 8200]


def test_tic_tac_toe_whole_game():
    """5478 positions, 255168 games: 131184 won by x, 77904 by o, 46080 drawn; x wins on odd plies."""
    rows = ab.perft(TicTacToe(), 20)
    assert len(rows) == 9, "nothing follows the ninth ply"
    assert 1 + sum(column(rows, "distinct")) == 5478
    assert column(rows, "sequences") == [9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872]
    assert column(rows, "over") == [0, 0, 0, 0, 1440, 5328, 47952, 72576, 127872]
    assert sum(column(rows, "over")) == 255168
    assert sum(column(rows, "over")[1::2]) == 77904


@pytest.mark.parametrize("stones", [1, 2, 5, 40])
def test_take_away_games_are_compositions(stones):
    """Without a limit on taking, the games are the compositions of n: 2^(n−1), of which C(n−1, k−1) have k parts."""
    rows = ab.perft(TakeAway(stones, most=stones).interpreted(), stones)
    assert column(rows, "over") == [math.comb(stones - 1, parts - 1) for parts in range(1, stones + 1)]
    assert sum(column(rows, "over")) == 2 ** (stones - 1)


@pytest.mark.parametrize(
    ("start", "depth"),
    [
        (TicTacToe().start(), 4),
        (Othello().start(), 4),
        (Othello(4).start(), 6),
        (ConnectFour(rows=2, columns=3, line=3).interpreted().start(), 6),
        (TakeAway(6).start(), 6),
    ],
)
def test_merging_equal_states_changes_no_count(start, depth):
    """Law: multiplicities over distinct states give the counts of the plain tree."""
    rows = ab.perft(start, depth)
    assert column(rows, "sequences") == tree_counts(start, depth)
    assert [row.over for row in rows] == [tree_over(start, ply) for ply in range(1, depth + 1)]
    assert column(rows, "distinct") == [len(set(leaves(start, ply))) for ply in range(1, depth + 1)]


def leaves(state, depth):
    """Every state at one depth of the tree, once per sequence that leads there."""
    if depth == 0:
        return [state]
    if state.over:
        return []
    return [leaf for action in state.legal() for leaf in leaves(state.step(action)[0], depth - 1)]


def tree_counts(state, depth):
    return [len(leaves(state, ply)) for ply in range(1, depth + 1)]


def tree_over(state, depth):
    return sum(leaf.over for leaf in leaves(state, depth))


class DiceDuel(ab.ObjectGame):
    """Both name 0, 1 or 2 (2 is the same as 0), a die of two or three sides falls, player 1 goes on or ends it."""

    players, actions, outcomes = 2, 3, 3

    def setup(self, random):
        return ("names",)

    def turn(self, state):
        return {"names": ab.player(0) + ab.player(1), "die": ab.CHANCE, "last": ab.player(1), "end": ab.OVER}[state[0]]

    def legal(self, state, player):
        return range(3) if state[0] == "names" else range(2)

    def same(self, state, player, action):
        return 0 if state[0] == "names" and action == 2 else action

    def chance(self, state):
        sides = 2 + state[1]
        return [(side, 1 / sides) for side in range(sides)]

    def step(self, state, actions):
        if state[0] == "names":
            return ("die", (actions[0] + actions[1]) % 2), (0, 0)
        if state[0] == "die":
            return ("last", actions[0]), (0, 0)
        return ("end",) if actions[1] else ("names",), (0, 0)

    def key(self, state):
        return state


def test_joint_choices_and_outcomes_are_counted():
    """By hand: 2·2 joint choices lead to two dice, each by 2; they fall in 2·2 + 2·3 = 10 ways on 3 sides; then 20."""
    rows = ab.perft(DiceDuel(), 4)
    assert rows == [
        ab.PerftRow(depth=1, sequences=4, distinct=2, over=0),
        ab.PerftRow(depth=2, sequences=10, distinct=3, over=0),
        ab.PerftRow(depth=3, sequences=20, distinct=2, over=10),
        ab.PerftRow(depth=4, sequences=40, distinct=2, over=0),
    ]


def test_from_the_middle_and_from_the_end():
    """Counting starts at any state; nothing follows depth 0 or a state that is over."""
    game = TakeAway(4)
    middle, _ = game.start().step(0)
    assert column(ab.perft(middle, 9), "sequences") == [3, 3, 1]
    assert ab.perft(middle, 0) == []
    end, _ = middle.step(2)
    assert end.over
    assert ab.perft(end, 5) == []
    with pytest.raises(ab.errors.UsageError, match="depth"):
        ab.perft(game, -1)
