"""Moves as people write them, at every kind of state."""

from __future__ import annotations

import pytest

import anabranch as ab
from anabranch.errors import IllegalActionError, UnknownNameError, UsageError
from anabranch.game.moves import Move, line_names, move_name, play_moves, possible_moves, read_move

GAMES = {name: ab.games.load(name, compiled=False) for name in ("connect_four", "pig", "goofspiel", "pyrat", "matrix")}


@pytest.mark.parametrize("name", GAMES)
def test_what_a_move_is_called_is_read_back(name):
    """Law: read_move(s, move_name(s, m)) = m along random play, and a line's names replay it."""
    game, random = GAMES[name], ab.Random(3)
    line: list[Move] = []
    state = start = game.start()
    while not state.over and len(line) < 30:
        if state.turn == ab.CHANCE:
            move: Move = state.sample(random)
        else:
            assert isinstance(state.turn, tuple)
            chosen = [state.legal(seat)[ab.below(random, len(state.legal(seat)))] for seat in state.turn]
            move = chosen[0] if len(chosen) == 1 else tuple(chosen)
        assert read_move(state, move_name(state, move)) == move
        names = [move_name(state, move)] if isinstance(move, int) else move_name(state, move).split(",")
        assert all(name in names_of for name, names_of in zip(names, possible_moves(state), strict=True))
        line.append(move)
        state, _ = state.step(move)
    assert play_moves(start, line_names(start, line)) == state
    assert play_moves(start, line) == state


@pytest.mark.parametrize(
    ("game", "moves", "kind", "words"),
    [
        ("connect_four", ["d", "z"], UnknownNameError, "move 2: unknown action 'z'"),
        ("connect_four", ["d"] * 7, IllegalActionError, "move 7: 'd' is not legal for x; legal: a, b, c"),
        ("connect_four", [9], IllegalActionError, "move 1: 9 is not legal"),
        ("connect_four", [["d", "e"]], UsageError, "x acts alone"),
        ("connect_four", [*"abababab"], IllegalActionError, "move 8: 'b' cannot be played: the game is over"),
        ("pig", ["roll", "7"], UnknownNameError, "move 2: unknown outcome '7'"),
        ("pig", ["rol"], UnknownNameError, "Did you mean 'roll'"),
        ("goofspiel", ["1"], UsageError, "move 1: '1' is not one action each of players 0 and 1; write e.g. 1,1"),
        ("goofspiel", ["1,2,3"], UsageError, "one action each"),
        ("goofspiel", ["1,x"], UnknownNameError, "unknown action 'x'"),
        ("goofspiel", [3], UsageError, "one action each"),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_move_is_named_with_its_place(game, moves, kind, words):
    with pytest.raises(kind) as caught:
        play_moves(GAMES[game].start(), moves)
    assert type(caught.value) is kind
    assert words in str(caught.value)


def test_outcomes_that_only_draw_knows_are_numbers():
    class Urn(ab.ObjectGame):
        def __init__(self) -> None:
            self.players, self.actions = 1, 1

        def setup(self, random):
            return -1

        def turn(self, state):
            return ab.CHANCE if state < 0 else ab.OVER

        def legal(self, state, player):
            return [0]

        def draw(self, state, random):
            return ab.below(random, 1000)

        def step(self, state, actions):
            return actions[0], [0.0]

    state = Urn().start()
    assert play_moves(state, ["17"]).data == 17
    assert possible_moves(state) == [[]]
    with pytest.raises(UnknownNameError, match="unknown outcome 'x'"):
        play_moves(state, ["x"])
