"""`anabranch match`: the table, the JSON, and what an interruption leaves."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys

import pytest

import anabranch as ab
from anabranch.cli import BAD_DATA, GAME, GOOD, INTERRUPTED, USAGE, main
from anabranch.play.match import FIRST_SLICE

# A process started in the background of a script ignores Ctrl-C, and so would what it starts.
PROGRAM = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from anabranch.cli import main; sys.exit(main(sys.argv[1:]))"
)


def test_a_match_prints_a_table(capsys):
    assert main(["match", "tic_tac_toe", "search:simulations=100", "random", "--games", "20"]) == GOOD
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "tic_tac_toe: 20 games in 10 pairs, from the start"
    assert lines[1].split() == ["agent", "score", "95", "%", "interval", "wins", "draws", "losses", "mean", "return"]
    assert [line.split()[0] for line in lines[2:4]] == ["search:simulations=100", "random"]


@pytest.mark.parametrize("openings", ["--5", "+-5", "9" * 5000])
def test_openings_that_are_neither_plies_nor_positions_are_a_slip(openings, capsys):
    assert main(["match", "tic_tac_toe", "random", "random", "--games", "2", f"--openings={openings}"]) == USAGE
    assert "--openings, position 1: tic_tac_toe" in capsys.readouterr().err


def test_a_match_begins_with_positions_of_a_file(capsys, tmp_path):
    path = tmp_path / "openings.txt"
    path.write_text("xo.\n...\n...\n\n\nx../.o./...\nx to move\n\n", encoding="utf-8")
    assert main(["match", "tic_tac_toe", "random", "random", "--games", "8", "--openings", str(path), "--json"]) == GOOD
    facts = json.loads(capsys.readouterr().out)
    assert len(facts["openings"]) == 2
    assert {record["position"] for record in facts["records"]} == set(facts["openings"])
    assert main(["match", "tic_tac_toe", "random", "random", "--games", "2", "--openings", "x.o/.../..."]) == GOOD
    assert "from 1 given position" in capsys.readouterr().out
    path.write_text("xo.\n...\n...\n\nxx./.../...", encoding="utf-8")
    assert main(["match", "tic_tac_toe", "random", "random", "--openings", str(path)]) == USAGE
    assert "openings.txt, position 2: tic_tac_toe: there are 2 of x and 0 of o" in capsys.readouterr().err


def test_three_agents_at_a_table_of_three(capsys):
    words = ["pig", "search:simulations=20", "random", "random", "--option", "players=3", "--option", "target=8"]
    assert main(["match", *words, "--games", "7"]) == GOOD
    lines = capsys.readouterr().out.splitlines()
    assert "9 games in 3 rounds of 3" in lines[0]
    scores = [float(line.split()[1]) for line in lines[2:5]]
    assert sum(scores) == pytest.approx(1.5, abs=0.002)  # they are rounded
    assert lines[5].startswith("score: the share of opponents beaten")
    assert "the 3 scores sum to 1.5" in lines[5]
    assert lines[6].startswith("9 games, not 7: rounded up to whole rounds of 3")


def test_the_number_of_agents_is_named(capsys):
    assert main(["match", "tic_tac_toe", "random", "random", "random"]) == USAGE
    assert "give 2 agents, found 3" in capsys.readouterr().err


def test_a_slow_match_tells_and_keeps_moves_before_a_whole_round_is_played(tmp_path, capsys, monkeypatch):
    """Ctrl-C comes while the second slice of the first move is being chosen: the first one is played, and kept."""

    class Stops(ab.RandomAgent):
        asked = 0

        def choose(self, turns):
            self.asked += len(turns)
            if self.asked > len(turns):
                raise KeyboardInterrupt
            return super().choose(turns)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("anabranch.play.names._KINDS", {"stops": lambda text: Stops(), "random": "names:make_random"})
    many = str(4 * FIRST_SLICE)
    words = ["match", "tic_tac_toe", "stops", "random", "--games", many, "--abreast", many, "--openings", "0"]
    assert main(words) == INTERRUPTED
    said = capsys.readouterr().err
    assert f"interrupted after 0 of {many} games, {FIRST_SLICE} begun ({FIRST_SLICE} moves); they are in match-" in said
    assert len(list(tmp_path.iterdir())) == 1


def test_json_is_the_library_s_match(capsys):
    words = ["match", "goofspiel", "search:simulations=20", "random", "--games", "8", "--openings", "0", "--seed", "2"]
    assert main([*words, "--abreast", "3", "--option", "cards=4", "--json"]) == GOOD
    facts = json.loads(capsys.readouterr().out)
    game = ab.games.load("goofspiel", cards=4)
    match = ab.match(game, "search:simulations=20", "random", games=8, openings=0, seed=2)
    assert facts["standings"] == json.loads(match.to_json())["standings"]
    assert facts["records"] == json.loads(match.to_json())["records"]


@pytest.mark.parametrize(
    ("words", "code", "named"),
    [
        (["tic_tac_toe", "serch", "random"], USAGE, "'search'"),
        (["tic_tac_to", "search", "random"], USAGE, "'tic_tac_toe'"),
        (["tic_tac_toe", "random"], USAGE, "B"),
        (["tic_tac_toe", "random", "random", "--games", "0"], USAGE, "games"),
        (["tic_tac_toe", "random", "random", "--openings", "9"], USAGE, "openings"),
        (["tic_tac_toe", "random", "random", "--game", "9"], USAGE, "--games"),
        (["tic_tac_toe", "random", "random", "--out", "no/such/folder/file"], BAD_DATA, "no/such/folder"),
    ],
)
def test_wrong_words_are_named(words, code, named, capsys):
    assert main(["match", *words]) == code
    said = capsys.readouterr().err
    assert named in said
    assert "Traceback" not in said


def test_a_cheating_agent_is_shown_with_the_moves(tmp_path, capsys):
    path = tmp_path / "crook.py"
    path.write_text("def crook(state, seat):\n    return 0\n")
    assert main(["match", "tic_tac_toe", f"{path}:crook", f"{path}:crook", "--openings", "0"]) == GAME
    assert "crook chose 0, which is not legal in seat 1, after a3" in capsys.readouterr().err


def test_a_file_of_another_match_is_bad_data(tmp_path, capsys):
    words = ["match", "tic_tac_toe", "random", "random", "--games", "2", "--out", str(tmp_path / "file")]
    assert main(words) == GOOD
    assert main([*words, "--seed", "1"]) == BAD_DATA
    assert "its seed is 0, this one's 1" in capsys.readouterr().err


@pytest.mark.parametrize("out", [True, False], ids=["--out", "no --out"])
def test_an_interrupted_match_is_saved_and_the_printed_line_goes_on(tmp_path, out):
    """The slow player sleeps, so the signal finds the match halfway; resumed, it equals an uninterrupted one."""
    agent = tmp_path / "slow.py"
    agent.write_text(
        "import time, anabranch as ab\n"
        "class Slow(ab.RandomAgent):\n"
        "    def choose(self, turns):\n"
        "        import os; time.sleep(float(os.environ['SLEEP'])); return super().choose(turns)\n"
    )
    words = ["match", "tic_tac_toe", f"{agent}:Slow", "random", "--games", "40", "--abreast", "2", "--json"]
    words += ["--out", "file.jsonl"] if out else []
    command = [sys.executable, "-c", PROGRAM, *words]
    slowly = {**os.environ, "SLEEP": "0.2"}
    with subprocess.Popen(command, cwd=tmp_path, env=slowly, stderr=subprocess.PIPE, text=True) as slow:
        assert slow.stderr is not None
        for line in slow.stderr:  # wait for the first report of moves
            if "moves" in line:
                break
        slow.send_signal(signal.SIGINT)
        said = slow.stderr.read()
        assert slow.wait(timeout=60) == INTERRUPTED
    assert "interrupted after" in said
    again = shlex.split(said.splitlines()[-1])
    assert again[0] == "anabranch"
    assert "--out" in again

    fast = {**os.environ, "SLEEP": "0"}
    for arguments in (words, again[1:]):  # the same command goes on, and so does the printed one
        run = [sys.executable, "-c", PROGRAM, *arguments]
        done = subprocess.run(run, cwd=tmp_path, env=fast, capture_output=True, text=True, check=True)
        whole = ab.match(ab.games.load("tic_tac_toe"), "random", "random", games=40)
        assert json.loads(done.stdout)["records"] == json.loads(whole.to_json())["records"]
        if arguments is words:
            assert json.loads(done.stdout)["played"] > 0
    assert json.loads(done.stdout)["played"] == 0


def test_an_interruption_before_the_first_move_has_nothing_to_save(tmp_path, capsys, monkeypatch):
    class Stops(ab.RandomAgent):
        def choose(self, turns):
            raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("anabranch.play.names._KINDS", {"stops": lambda text: Stops()})
    assert main(["match", "tic_tac_toe", "stops", "stops", "--games", "2"]) == INTERRUPTED
    assert capsys.readouterr().err.splitlines()[-1] == "interrupted before anything was played"
    assert not list(tmp_path.iterdir())
