"""`anabranch play`: whole sessions, typed from a script."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from contextlib import contextmanager

import pytest

from anabranch.cli import GOOD, USAGE, main

BEHIND = """\
+---+---+---+---+---+
|                   |
+   +   +   +   +   +
|                  P|
+   +   +   +   +   +
|         *       * |
+   +   +   +   +   +
|                   |
+   +   +   +   +   +
|    R            * |
+---+---+---+---+---+
turn 29 of 30: R rat 2, P python 0
"""


@pytest.fixture
def play(monkeypatch, capsys):
    """Return a function that plays a session and returns its lines."""

    def run(words, typed, code=GOOD):
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in typed)))
        assert main(["play", *words]) == code
        return capsys.readouterr().out.splitlines()

    return run


@pytest.fixture
def first_free(tmp_path):
    """An agent that takes the first square that is free."""
    path = tmp_path / "first.py"
    path.write_text("def first(state, seat):\n    return state.legal(seat)[0]\n")
    return f"{path}:first"


def test_the_network_that_comes_along_is_called_best(play):
    lines = play(["tic_tac_toe"], ["quit"])
    assert "you are x, against best, which is search:" in lines[0]


def test_a_whole_game_is_played_and_won(play, first_free):
    """The middle row against an opponent that fills the top one."""
    lines = play(["tic_tac_toe", "--agent", first_free], ["b2", "a2", "c2"])
    assert "you are x, against first" in lines[0]
    assert [line for line in lines if line.startswith("o plays")] == ["o plays a3", "o plays b3"]
    assert "2 x x x" in lines
    assert "you win: x +1, o -1" in lines
    assert lines[-1] == "bye"


def test_the_other_seat_moves_second(play, first_free):
    lines = play(["tic_tac_toe", "--agent", first_free, "--seat", "1"], ["a1", "b1", "quit"])
    assert "x plays a3" in lines
    assert "you lose: x +1, o -1" in lines


def test_a_move_is_taken_back_and_another_one_played(play, first_free):
    lines = play(["tic_tac_toe", "--agent", first_free], ["undo", "b2", "undo", "b3", "board", "quit"])
    assert lines.count("there is no move of yours to take back") == 1
    assert lines.count("taken back") == 1
    boards = [lines[index : index + 3] for index, line in enumerate(lines) if line.startswith("3 ")]
    assert boards[-1] == ["3 o x .", "2 . . .", "1 . . ."]
    assert lines[-1] == "bye; the game is left unfinished"


def test_a_lost_game_can_be_taken_back_and_won(play, first_free):
    typed = ["b2", "a1", "b1", "undo", "c3", "new", "quit"]
    lines = play(["tic_tac_toe", "--agent", first_free], typed)
    ends = [line for line in lines if line.startswith("you ")]
    assert ends == ["you lose: x -1, o +1", "you win: x +1, o -1"]


def test_the_same_move_meets_the_same_answer(play):
    typed = ["b2", "undo", "b2", "undo", "b2"]
    lines = play(["tic_tac_toe", "--agent", "random"], typed)
    answers = [line for line in lines if line.startswith("o plays")]
    assert len(answers) == 3
    assert len(set(answers)) == 1


def test_a_hint_is_the_search_s_evaluation(play, first_free):
    """With two in a row the search sees the win."""
    lines = play(["tic_tac_toe", "--agent", "search:simulations=300"], ["hint"])
    assert any("300 simulations" in line for line in lines)
    lines = play(["tic_tac_toe", "--agent", first_free], ["b2", "a2", "hint"])
    assert "the search prefers c2" in lines


def test_help_moves_and_nonsense(play, first_free):
    lines = play(["tic_tac_toe", "--agent", first_free], ["help", "moves", "b9", "hnt", "B2", "b2", "", ":quit"])
    assert any(line.split()[:1] == ["undo"] for line in lines)
    assert "moves: a3 b3 c3 a2 b2 c2 a1 b1 c1" in lines
    assert any("'hnt' is neither a move nor a command. Did you mean 'hint'" in line for line in lines)
    assert "b2 is not possible here; moves lists what is" in lines
    assert "o plays a3" in lines


def test_both_choose_at_once_and_then_it_is_revealed(play):
    lines = play(["goofspiel", "--agent", "random", "--seed", "3"], ["4", "3"])
    revealed = [line for line in lines if line.startswith("you play")]
    assert [line.split(",")[0] for line in revealed][:2] == ["you play 4", "you play 3"]
    assert all("player 1 plays" in line for line in revealed)


def test_dice_are_announced(play):
    lines = play(["pig", "--agent", "random", "--seed", "1"], ["roll", "roll", "undo"])
    rolls = [line for line in lines if line.startswith("chance: ")]
    assert rolls
    assert all(line.split()[1] in "123456" for line in rolls)


def test_another_game_each_time_unless_a_seed_is_given(play):
    """Two games without a seed have different ones; the seed that was printed gives the same dice and answers again."""
    typed = ["roll"] * 12
    seeds, games = [], []
    for _ in range(2):
        lines = play(["pig", "--agent", "random"], typed)
        seeds += re.findall(r"with --seed (\d+) ", lines[1])
        games.append(lines)
    assert seeds[0] != seeds[1]
    assert play(["pig", "--agent", "random", "--seed", seeds[0]], typed) == games[0]
    assert play(["pig", "--agent", "random", "--seed", seeds[1]], typed) == games[1]
    assert len({tuple(line for line in lines if line.startswith("chance")) for lines in games}) == 2


@pytest.mark.parametrize("seat", ["1", "o", "O", "player 1"])
def test_you_are_who_you_say(play, first_free, seat):
    lines = play(["tic_tac_toe", "--agent", first_free, "--seat", seat], ["quit"])
    assert "you are o, against first" in lines[0]
    assert "x plays a3" in lines


def test_a_game_begins_where_it_is_told_to(play, first_free, tmp_path):
    """Also after undo and in a new game; a file may hold the position."""
    lines = play(["tic_tac_toe", "--agent", first_free, "--position", "xx./oo./..."], ["c3", "undo", "c3", "new", "c3"])
    assert lines.count("3 x x x") == 3
    path = tmp_path / "position.txt"
    path.write_text("3 x x .\n2 o o .\n1 . . .\n  a b c\nx to move\n")
    lines = play(["tic_tac_toe", "--agent", first_free, "--position", str(path)], ["c3"])
    assert "you win: x +1, o -1" in lines


def test_what_was_won_before_a_position_is_not_forgotten_in_the_result(play, tmp_path):
    """Python takes nothing in the last turn, as the rat, and is behind all the same: no draw."""
    path = tmp_path / "position.txt"
    path.write_text(BEHIND)
    lines = play(["pyrat", "--agent", "random", "--seat", "python", "--position", str(path)], ["stay"])
    assert lines[-4:-2] == [
        "turn 30 of 30: R rat 2, P python 0",
        "the game is over; since the given position: rat +0, python +0",
    ]


def test_two_people_share_a_keyboard(play):
    lines = play(["tic_tac_toe", "--agent", "human"], ["a1", "a2", "b1", "b2", "c1"])
    assert sum(line.startswith("o, your move>") for line in lines) == 2
    assert "x wins: x +1, o -1" in lines


def test_json_prints_the_game_and_nothing_else(play, first_free):
    facts = json.loads("\n".join(play(["tic_tac_toe", "--agent", first_free, "--json"], ["b2", "a2", "c2"])))
    assert facts["moves"] == [4, 0, 3, 1, 5]
    assert facts["returns"] == [1.0, -1.0]
    assert facts["finished"]


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["tic_tac_toe", "--seat", "2"], "--seat: unknown player of tic_tac_toe '2'. Known: 0, 1, o, x"),
        (["othello", "--seat", "blck"], "Did you mean 'black'"),
        (["tic_tac_toe", "--position", "xx./.../..."], "--position: tic_tac_toe: there are 2 of x and 0 of o"),
        (["tic_tac_toe", "--position", "xxx/oo./..."], "--position: that game is over"),
        (["tic_tac_toe", "--position", "none.txt"], "none.txt"),
        (["tic_tac_toe", "--position", "-"], "moves are typed on standard input"),
        (["matrix", "--position", "x"], "matrix cannot read positions"),
        (["tic_tac_toe", "--agent", "serch"], "'search'"),
        (["tic_tac_toe", "--agnet", "random"], "--agent"),
    ],
)
def test_wrong_words_are_named(words, named, capsys):
    assert main(["play", *words]) == USAGE
    assert named in capsys.readouterr().err


def test_a_session_needs_no_terminal():
    """Through a pipe, from the first line to the end of the input."""
    command = [sys.executable, "-m", "anabranch", "play", "tic_tac_toe", "--agent", "random"]
    done = subprocess.run(command, input="b2\n", capture_output=True, text=True, check=False)
    assert done.returncode == GOOD, done.stderr
    assert "your move> b2" in done.stdout
    assert done.stdout.endswith("bye; the game is left unfinished\n")


def test_compiling_is_shown(play, monkeypatch):
    shown = []

    @contextmanager
    def progress(words, **_):
        shown.append(words)
        yield

    monkeypatch.setattr("anabranch.cli.play.progress", progress)
    play(["tic_tac_toe"], ["quit"])
    assert shown[0] == "loading tic_tac_toe; new rules are compiled first"
