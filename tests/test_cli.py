"""The command line: what it prints, for people and for machines, and the exit code of every way to fail."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import anabranch as ab
from anabranch import cli
from anabranch.cli import BAD_DATA, COMMANDS, GAME, GOOD, INTERRUPTED, USAGE, main, usage
from anabranch.cli.failure import file_trouble
from anabranch.game.moves import play_moves, possible_moves

RAISES = """
import anabranch as ab

class Raises(ab.ObjectGame):
    def __init__(self, depth: int = 1):
        self.depth, self.players, self.actions = depth, 1, 1

    def setup(self, random):
        return 0

    def turn(self, state):
        return ab.player(0)

    def legal(self, state, player):
        return [0]

    def step(self, state, actions):
        return state + 1, [1.0 / (self.depth - state)]
"""


def test_every_command_is_listed_with_its_own_first_line():
    """The list --help prints without importing anything is the one the commands would give."""
    for name, text in COMMANDS.items():
        module = __import__(f"anabranch.cli.{name}", fromlist=["Command"])
        assert module.Command.__doc__.partition("\n")[0] == text
    files = {path.stem for path in Path(cli.__file__).parent.glob("*.py")}
    shared = {"__init__", "failure", "interrupt", "options", "output", "parse"}
    shared |= {"positions", "progress", "report", "search_flags", "show"}
    assert files - set(COMMANDS) == shared


def test_help_imports_nothing_heavy():
    program = "import sys; from anabranch.cli import main; main(['--help']); print(*sys.modules)"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    loaded = said.splitlines()[-1].split()
    assert "check" in said
    assert not {"numpy", "numba", "tyro", "rich", "llvmlite", "msgspec"} & set(loaded)
    assert "anabranch.errors" not in loaded


def test_the_package_runs_as_a_module(tmp_path):
    command = [sys.executable, "-m", "anabranch", "perft", "take_away", "--depth", "2", "--interpreted"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == GOOD, done.stderr
    assert done.stdout.splitlines()[0].split() == ["depth", "sequences", "distinct", "over"]
    command[3:] = ["chek"]
    assert subprocess.run(command, capture_output=True, check=False, cwd=tmp_path).returncode == USAGE


def test_no_words_and_help_say_what_there_is(capsys):
    assert main([]) == main(["--help"]) == main(["-h"]) == GOOD
    assert capsys.readouterr().out.count("perft") == 3
    for word in ("--version", "version"):
        assert main([word]) == GOOD
        assert ab.__version__ in capsys.readouterr().out


def test_help_is_a_word_too(capsys):
    assert main(["help"]) == GOOD
    assert capsys.readouterr().out == usage() + "\n"
    assert main(["help", "perft"]) == GOOD
    assert "--depth" in capsys.readouterr().out
    assert main(["help", "prft"]) == USAGE


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_its_flags(command, capsys):
    assert main([command, "--help"]) == GOOD
    assert "--json" in capsys.readouterr().out


def test_games_lists_every_game(capsys):
    assert main(["games"]) == GOOD
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == ab.games.names()
    assert main(["games", "--json"]) == GOOD
    every = {about["name"]: about for about in json.loads(capsys.readouterr().out)}
    assert every["pig"]["kind"] == "alternating, chance"
    assert every["goofspiel"]["kind"].startswith("simultaneous")
    assert every["connect_four"]["actions"] == 7


def test_games_describes_one(capsys):
    assert main(["games", "connect_four"]) == GOOD
    assert "rows=6" in capsys.readouterr().out


def test_perft_prints_the_known_numbers(capsys):
    """Connect four has 7, 49, 238, 1120 distinct positions by ply."""
    assert main(["perft", "connect_four", "--depth", "4", "--interpreted", "--json"]) == GOOD
    assert [row["distinct"] for row in json.loads(capsys.readouterr().out)] == [7, 49, 238, 1120]


def test_options_reach_the_game(capsys):
    words = ["perft", "connect_four", "--depth", "1", "--interpreted", "--json", "--option", "columns=3"]
    assert main([*words, "--option", "rows=4"]) == GOOD
    assert json.loads(capsys.readouterr().out)[0]["sequences"] == 3


def test_check_passes_an_honest_game_and_fails_a_lying_one(capsys, tmp_path):
    assert main(["check", "take_away", "--seconds", "0.3", "--interpreted"]) == GOOD
    assert "laws hold" in capsys.readouterr().out
    lying = tmp_path / "lying.py"
    lying.write_text(RAISES)
    assert main(["check", f"{lying}:Raises", "--seconds", "0.5", "--option", "depth=2", "--json"]) == GAME
    report = json.loads(capsys.readouterr().out)
    (violation,) = [v for v in report["violations"] if v["law"] == "answers"]
    assert violation["sequence"] == [0, 0, 0]
    assert "ZeroDivisionError" in violation["seen"]
    assert f"{lying}:18" in violation["seen"]


@pytest.mark.parametrize("flags", [[], ["--objects"]], ids=["records", "objects"])
def test_a_new_game_is_short_and_passes_check(flags, tmp_path, capsys):
    assert main(["new", "my_game", "--folder", str(tmp_path), "--json", *flags]) == GOOD
    wrote = json.loads(capsys.readouterr().out)
    text = (tmp_path / "my_game.py").read_text()
    assert len(text.splitlines()) <= 50
    assert wrote["game"].endswith("my_game.py:MyGame")
    assert main(["check", wrote["game"], "--seconds", "1"]) == GOOD
    start = ab.games.load(wrote["game"], pins=3).start()
    assert possible_moves(start) == [["1", "2", "3", "1-2", "2-3"]]
    assert str(play_moves(start, ["2-3"])) == "|.."
    assert main(["new", "my_game", "--folder", str(tmp_path), *flags]) == USAGE
    assert "exists already" in capsys.readouterr().err
    assert (tmp_path / "my_game.py").read_text() == text


def test_the_first_player_wins_the_new_game(tmp_path):
    """Kayles, which the template is, is won by the first player on every row of pins (Guy and Smith 1956)."""
    main(["new", "kayles", "--folder", str(tmp_path), "--objects"])
    for pins in range(1, 8):
        game = ab.games.load(f"{tmp_path / 'kayles.py'}:Kayles", pins=pins)

        def wins(state):
            return not state.over and any(not wins(state.step(action)[0]) for action in state.legal())

        assert wins(game.start())


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["chek", "take_away"], "'check'"),
        (["check", "take_awy"], "'take_away'"),
        (["check", "take_away", "--second", "1"], "--seconds"),
        (["perft", "connect_four", "--option", "row=5"], "'rows'"),
        (["perft", "take_away", "--option", "stones"], "key=value"),
        (["perft", "take_away", "--option", "compiled=false"], "--interpreted"),
        (["perft", "take_away", "--depth", "deep"], "--depth"),
        (["perft", "take_away", "--depth", "-1"], "depth"),
        (["perft", "othello", "--option", "size=[]"], "size"),
        (["check"], "GAME"),
        (["check", "no/such/file.py:Game"], "no/such/file.py"),
        (["check", "no_such_module:Game"], "no_such_module"),
        (["check", "file.py"], "file.py:MyGame"),
        (["new", "my-game"], "my-game"),
        (["new", "numpy"], "'numpy' already"),
        (["new", "json"], "'json' already"),
        (["new", "anabranch"], "'anabranch' already"),
        (["new", "my_game", "--folder", "no/such/folder"], "no/such/folder"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_words_are_a_usage_error_that_names_the_right_ones(words, named, capsys):
    assert main(words) == USAGE
    said = capsys.readouterr()
    assert said.err.startswith("error: ") or "counting" in said.err
    assert named in said.err
    assert "Traceback" not in said.err
    assert not said.out


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (RAISES.replace("return 0", "return 1 / 0"), "ZeroDivisionError"),
        (RAISES.replace("return 0", "return missing"), "NameError"),
        (RAISES.replace("def setup(self, random):", "def setup(self, random)"), "SyntaxError"),
        ("import no_such_module_at_all\n" + RAISES, "no_such_module_at_all"),
        (RAISES.replace("depth, 1, 1", "depth, 0, 1"), "players"),
    ],
    ids=["setup", "name", "syntax", "import", "players"],
)
def test_an_error_in_the_game_is_shown_with_its_place(text, named, tmp_path, capsys):
    path = tmp_path / "wrong.py"
    path.write_text(text)
    assert main(["perft", f"{path}:Raises", "--depth", "1"]) == GAME
    said = capsys.readouterr().err
    assert named in said
    assert "Traceback" not in said
    assert named == "players" or f"{path}:" in said


def test_a_file_that_cannot_be_written_is_bad_data(tmp_path, capsys):
    assert main(["new", "a" * 300, "--folder", str(tmp_path)]) == BAD_DATA
    assert "File name too long" in capsys.readouterr().err


def test_a_game_in_a_file_is_named_in_full_without_running_it(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "import anabranch as ab\nclass Row: pass\nclass Base(ab.ObjectGame): pass\nclass Mine(Base): pass\n1 / 0\n"
    Path("my_game.py").write_text(text)
    assert main(["check", "my_game"]) == USAGE
    meant = "'my_game.py:Base' or 'my_game.py:Mine'?"
    assert f"unknown game 'my_game'. Did you mean {meant}" in capsys.readouterr().err
    assert main(["check", "my_game.py"]) == USAGE
    assert "Name its class too: my_game.py:Base or my_game.py:Mine\n" in capsys.readouterr().err
    Path("my_game.py").write_text("class (:\n")
    assert main(["check", "my_game.py"]) == USAGE
    assert "my_game.py:MyGame" in capsys.readouterr().err


def test_games_of_open_spiel_are_suggested(capsys):
    assert main(["analyze", "openspiel:chess"]) == USAGE
    assert "Did you mean 'open_spiel:chess'?" in capsys.readouterr().err
    pytest.importorskip("pyspiel")
    assert main(["analyze", "chess"]) == USAGE
    assert "Did you mean 'open_spiel:chess'?" in capsys.readouterr().err


def test_trouble_with_files_says_what_to_do(tmp_path):
    """In words, and never as [Errno 2]."""
    (tmp_path / "folder").mkdir()
    for path, wanted in (
        ("none", "there is no file"),
        ("no/folder/file", "there is no folder"),
        ("folder", "is a folder where a file is needed"),
    ):
        with pytest.raises(OSError, match=path) as caught:
            (tmp_path / path).read_bytes()
        assert wanted in file_trouble(caught.value)
        assert str(tmp_path) in file_trouble(caught.value)
    assert file_trouble(OSError(28, "No space left on device")) == "No space left on device"


def test_an_interruption_has_its_own_code(capsys, monkeypatch):
    def interrupt(name, arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "run", interrupt)
    assert main(["games"]) == INTERRUPTED
    assert capsys.readouterr().err == "interrupted\n"


def test_a_fault_of_the_library_keeps_its_traceback(monkeypatch):
    def fault(name, arguments):
        raise AssertionError("a broken invariant")

    monkeypatch.setattr("anabranch.cli.failure.fault_of", lambda error: "")
    monkeypatch.setattr(cli, "run", fault)
    with pytest.raises(AssertionError, match="invariant"):
        main(["games"])


def test_a_reader_that_leaves_early_is_no_error():
    program = f"{sys.executable} -m anabranch games --json"
    done = subprocess.run(
        ["/bin/sh", "-c", f"{program} | head -n 1"], capture_output=True, text=True, check=True, env=os.environ
    )
    assert done.stdout == "[\n"
    assert done.stderr == ""


def test_terminals_get_drawn_tables(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["perft", "take_away", "--depth", "1", "--interpreted"]) == GOOD
    assert "─" in capsys.readouterr().out
