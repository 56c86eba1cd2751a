"""Options of the built-in games, given what they cannot be: an error of the option, never of the rules."""

from __future__ import annotations

import inspect
import itertools

import pytest

from anabranch import games
from anabranch.cli import GOOD, USAGE, main

OPTIONS = [
    (name, option)
    for name in games.names()
    for option in inspect.signature(type(games.load(name, compiled=False)).__init__).parameters
    if option not in ("self", "compiled")
]
BOARD = {"width": "3", "height": "3", "cheese": "[[1, 1]]"}  # of pyrat; what is wrong comes last, and counts
NUMBERS = ("true", "3", "-1", "1.5", "6.0", "16.0", "NaN", "Infinity", "1e300", "1" + "0" * 400)
LISTS = ("[]", "[1]", '["a"]', "[null]", "[{}]", "[[1]]", "[[1, 2]]", "[[1, 2, 3]]", "[[[1, 2], 3]]", '[[["a", 2], 1]]')
WRONG = (*NUMBERS, *LISTS, "null", "word", "", "{}", '{"a": 1}')
LATER = [("explicit", "table"), ("connect_four", "rows"), ("connect_four", "columns")]  # a file; sizes that do not fit


@pytest.mark.parametrize(("game", "option"), OPTIONS)
def test_what_is_wrong_for_an_option_is_told_as_such(game, option, capsys):
    """Every option of every game, given what may be wrong for it: it is taken, or refused in one line."""
    for text, before in itertools.product(WRONG, [{}, BOARD] if game == "pyrat" else [{}]):
        given = [word for name, value in {**before, option: text}.items() for word in ("--option", f"{name}={value}")]
        code = main(["perft", game, "--depth", "0", "--interpreted", *given])
        said = capsys.readouterr().err
        assert code == GOOD or said.startswith("error: "), (text, said)
        assert " raised " not in said, (text, said)
        assert code in (GOOD, USAGE) or (game, option) in LATER, (text, said)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("pyrat width=3 height=3 cheese=3", "cheese must be a list of cells, e.g. [[0, 2], [1, 1]]; found 3"),
        ("pyrat width=3 height=3 cheese=[[5,5]]", "(5, 5) is not on the 3×3 board"),
        ("pyrat width=3 height=3 cheese=[1]", "a cell is (x, y), e.g. (0, 2), found 1"),
        ("pyrat seed=a", "seed must be a whole number, found 'a'"),
        ("goofspiel prizes=3", "order of prizes must be one of ascending, descending, random; found 3"),
        ("oshi_zumo alesia=yes", "alesia must be true or false, found 'yes'"),
        ("go komi=[]", "komi must be a number from -1000 to 1000, found []"),
        ("explicit discount=half", "discount must be a number from 0 to 1, found 'half'"),
    ],
)
def test_a_wrong_option_is_told_as_one(words, said, capsys):
    game, *options = words.split()
    given = [word for each in options for word in ("--option", each)]
    assert main(["analyze", game, "--simulations", "1", *given]) == USAGE
    assert capsys.readouterr().err.endswith(f"error: {said}\n")
