"""Positions from text: what is printed reads back, what people type is understood, what cannot be is refused."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.errors import GameError, UnknownNameError, UsageError

WHOLE: dict[str, list[dict[str, Any]]] = {  # games whose text holds the whole state
    "tic_tac_toe": [{}],
    "connect_four": [{}, {"rows": 4, "columns": 5, "line": 3}],
    "othello": [{}, {"size": 4}],
    "n_in_a_row": [{}, {"size": 5, "line": 4, "players": 2}, {"size": 25, "line": 5}],
    "take_away": [{}, {"stones": 100, "most": 40}],
    "goofspiel": [{}, {"cards": 5, "prizes": "random", "players": 3}, {"prizes": "ascending", "rewards": "points"}],
    "pyrat": [{}, {"preset": "tiny", "max_turns": 30}],
}
CASES = [(name, options) for name, every in WHOLE.items() for options in every]


def random_states(game, games=6):
    """Every state of some random games."""
    for seed in range(games):
        state, random = game.start(seed), ab.Random(seed)
        yield state
        while not state.over:
            if isinstance(state.turn, int):
                state, _ = state.step(state.sample(random))
            else:
                legal = [state.legal(seat) for seat in state.turn]
                state, _ = state.step([ids[ab.below(random, len(ids))] for ids in legal])
            yield state


@pytest.mark.parametrize(("name", "options"), CASES)
def test_what_is_printed_reads_back(name, options):
    game = ab.games.load(name, compiled=False, **options)
    states = list(random_states(game))
    for state in states[:: 1 + len(states) // 300]:
        assert game.position(str(state)) == state


@pytest.mark.parametrize("options", [{}, {"players": 3}, {"sides": 2}])
def test_a_position_of_pig_has_the_same_future(options):
    """The counts that name a match's dice are not printed, and no future depends on them."""
    game = ab.games.load("pig", compiled=False, **options)
    for state in random_states(game):
        assert game.position(str(state)).key == state.key


@pytest.mark.parametrize("options", [{"size": 5}, {"size": 4, "merge": "bounded"}])
def test_a_position_of_go_has_the_same_board_turn_and_passes(options):
    """History is not printed: what it forbids may be played, so what is legal there is legal here too."""
    game = ab.games.load("go", compiled=False, **options)
    for state in random_states(game, 2):
        read = game.position(str(state))
        assert str(read) == str(state)
        assert read.over or (read.turn == state.turn and read.passes == state.passes)
        assert read.over or set(state.legal()) <= set(read.legal())
        assert (read.board == state.board).all()
        assert all((read.boards[read.ply - back] == state.boards[state.ply]).all() for back in range(read.passes + 1))


def test_superko_holds_from_a_given_board_on():
    """A ko: black takes, and white may not take back at once."""
    game = ab.games.load("go", size=4, compiled=False)
    state = game.position(". x o . / x o . o / . x o . / . . . . / black to move")
    taken, _ = state.step(game.parse_action("c3"))
    assert game.parse_action("b3") not in taken.legal()


def test_a_board_of_go_that_was_set_up_has_no_last_stone():
    game = ab.games.load("go", size=4, compiled=False)
    ring = '<g fill="none" stroke-width'
    state = game.position(". x o . / x . o . / . . . . / . . . . / white to move")
    played, _ = state.step(game.parse_action("a1"))
    assert [(game.svg(each) or "").count(ring) for each in (state, played)] == [0, 1]


@pytest.mark.parametrize(
    "typed",
    [
        "x.o/.x./..o",
        "X . O\n. X .\n. . O",
        "b-w\n_b_\n__w\n",
        "3 x . o 3\n2 . x . 2\n1 . . o 1\n  a b c",
        "x to move\n\nx|.|o\n.|x|.\n.|.|o",
        "  a b c\nx.o\n.x.\n..o\nplayer 0 to move",
    ],
)
def test_people_may_type_a_board_in_many_ways(typed):
    game = ab.games.load("tic_tac_toe", compiled=False)
    expected = game.start()
    for cell in ("a3", "c3", "b2", "c1"):
        expected, _ = expected.step(game.parse_action(cell))
    assert game.position(typed) == expected


@pytest.mark.parametrize(
    ("name", "typed", "said"),
    [
        ("tic_tac_toe", "x.o/.q./...", r"row 2 from the top, column 2 \(b2\): 'q' is no mark; write x for x, o for o"),
        ("tic_tac_toe", "x.o/...", "the board has 3 rows, found 2"),
        ("tic_tac_toe", "x.o/..../...", "row 2 from the top has 4 cells, the board has 3 columns"),
        (
            "tic_tac_toe",
            "1 x.o/2 .../3 ...",
            "row 1 from the top is labelled 1; ranks count from the bottom, so it is 3",
        ),
        ("tic_tac_toe", "xx./.../...", "there are 2 of x and 0 of o; x begins"),
        ("tic_tac_toe", "xxx/ooo/...", r"x at row 1 .* \(a3\) and o at row 2 .* \(a2\) both have 3 in a row"),
        ("tic_tac_toe", "xxx/oo./.o.", r"x at row 1 .* has 3 in a row, .* by the stones o moved after that"),
        ("tic_tac_toe", "x../.../...\nx to move", "says x to move, but by the stones it is o's turn"),
        ("tic_tac_toe", "xxx/oo./...\no to move", "says o to move, but the game is over"),
        ("tic_tac_toe", ".../.../...\nover", "says that the game is over, but x can move"),
        ("tic_tac_toe", ".../.../...\nz to move", "nobody is called 'z'; the players are x, o"),
        ("tic_tac_toe", "#../.../...", "'#' is no mark"),
        (
            "connect_four",
            "......./" * 4 + "x....../.......",
            r"row 5 .*, column 1 \(a2\): this stone has nothing under it",
        ),
        ("connect_four", "......./" * 3 + "o....../xxxxooo/xxxxooo", "x .* has more lines of 4 than one last stone"),
        ("othello", "......../" * 7 + "........", r"row 4 .* \(d5\) is empty; the four cells in the middle"),
        ("othello", "......../" * 3 + "...ox.../...xo.../" + "......../" * 3, "who moves"),
        ("go", "....... /" * 6 + "..x....", "who moves"),
        (
            "go",
            "ox...../x....../" + "......./" * 5 + "black to move",
            r"row 1 .*, column 1 \(a7\): this chain has no free",
        ),
        ("take_away", "many", "write how many stones are left"),
        ("take_away", "0 left, player 1 to move", "somebody has won when 0 are left"),
        ("pig", "player 0 1, player 1 0 of 20: player 0 rolls with 0 on the table", "no rolls add up to 1"),
        ("pig", "player 0 21, player 1 25 of 20: over", "correct"),
        ("pig", "player 0 2, player 1 0 of 20: player 0 rolls with 30 on the table", "nobody rolls on to 32"),
        ("pig", "hello", "write a position as it is printed"),
        ("goofspiel", "player 0: 1 2 3  0 points\nplayer 1: 1 2  0 points\nprize 3; to come 1 2", "hold 3, 2 cards"),
        ("goofspiel", "player 0: 1 2 9  0 points\nplayer 1: 1 2 3  0 points\nprize 3; to come 1 2", "different cards"),
        (
            "goofspiel",
            "player 0: 1 2 3  9 points\nplayer 1: 1 2 3  0 points\nprize 3; to come 1 2",
            "more than the prizes",
        ),
        (
            "goofspiel",
            "player 0: 1 2 3  0 points\nplayer 1: 1 2 3  0 points\nprize 1; to come 2 3",
            "prize 1 cannot be",
        ),
        ("pyrat", "turn 0 of 30", "write a position as it is printed"),
        ("matrix", "anything", "matrix cannot read positions"),
    ],
)
def test_what_cannot_be_is_refused(name, typed, said):
    with pytest.raises(UsageError, match=said):
        ab.games.load(name, compiled=False).position(typed)


def test_a_maze_is_the_game_s_own():
    game = ab.games.load("pyrat", compiled=False)
    text = str(game.start())
    with pytest.raises(UsageError, match="line 3 is not of this maze"):
        game.position(text.replace("+   +", "+---+", 1))


def test_windows_of_large_boards_say_where_they_are():
    game = ab.games.load("n_in_a_row", size=25, line=5, compiled=False)
    text = str(game.start())
    assert "; rows 2 to 22, columns 2 to 22 of 25" in text
    with pytest.raises(UsageError, match="window of these stones is not at"):
        game.position(text.replace("rows 2 to 22", "rows 1 to 21"))
    with pytest.raises(UsageError, match="reaches beyond the board"):
        game.position(text.replace("rows 2 to 22", "rows 20 to 40"))


def test_fields_of_a_state_can_be_replaced():
    state = ab.games.load("pig", compiled=False).start()
    changed = state.replace(scores=[7, 12], pot=5)
    assert (changed.scores.tolist(), changed.pot, state.pot) == ([7, 12], 5, 0)
    with pytest.raises(UnknownNameError, match=r"unknown field of a state of pig 'pott'\. Did you mean 'pot'"):
        state.replace(pott=5)
    for wrong in ({"pot": 10**6}, {"scores": [1, 2, 3]}, {"scores": [10**6, 0]}, {"pot": "many"}, {"rolling": 2}):
        with pytest.raises(UsageError, match="cannot hold"):
            state.replace(**wrong)


class Pile(NamedTuple):
    """What is left, and who moves."""

    stones: int
    mover: int = 0


class Piles(ab.ObjectGame):
    """Take one or two; its positions are read as a number."""

    def __init__(self):
        self.players, self.actions = 2, 2

    def setup(self, random):
        return Pile(9)

    def turn(self, state):
        return ab.player(state.mover) if state.stones else ab.OVER

    def legal(self, state, player):
        return range(min(2, state.stones))

    def step(self, state, actions):
        left = state.stones - actions[state.mover] - 1
        return Pile(left, 1 - state.mover), [0.0, 0.0]

    def read(self, text):
        return self.start().replace(stones=int(text)) if text.isdigit() else text


def test_a_game_of_one_s_own_reads_its_positions():
    game = Piles()
    assert game.position("4").data == Pile(4)
    with pytest.raises(GameError, match=r"read\(text\) must return a State, found 'four'"):
        game.position("four")
    with pytest.raises(UsageError, match="stone"):
        game.start().replace(stone=4)
    with pytest.raises(UsageError, match="a position is read from text, found 4"):
        game.position(4)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="at most 100,000 letters"):
        game.position("4" * 200_000)
