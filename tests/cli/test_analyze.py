"""`anabranch analyze`: what it prints, draws and keeps is what the library finds."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from typing import Any
from xml.etree import ElementTree

import pytest

import anabranch as ab
from anabranch.cli import BAD_DATA, GAME, GOOD, USAGE, main
from anabranch.evaluate.load import load
from anabranch.game.moves import play_moves

SETTINGS = """
seed = 5

[selector]
kind = "Ucb1"
c = 0.5
"""


def analyze(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["analyze", *words, "--json"]) == GOOD
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def visits(found: dict[str, Any], seat: int = 0) -> list[int]:
    return [row["visits"] for row in found["players"][str(seat)]]


def test_it_prints_the_board_and_the_result(capsys):
    words = ["--simulations", "500", "--evaluator", "rollout"]
    assert main(["analyze", "connect_four", "--moves", *"ddee", *words]) == GOOD
    said = capsys.readouterr()
    state = play_moves(ab.games.load("connect_four").start(), "ddee")
    assert said.out == f"{state}\n{ab.search(state, simulations=500)}\n"
    assert "searching connect_four" in said.err


def test_a_position_is_searched_from_a_text_a_file_or_standard_input(capsys, monkeypatch, tmp_path):
    """All four ways lead to one position, and to one search of it."""
    state = play_moves(ab.games.load("connect_four").start(), "ddee")
    path = tmp_path / "position"
    path.write_text(str(state), encoding="utf-8")
    before = "/".join([*["......."] * 5, "...x..."])
    found = []
    for words in (
        ["--moves", *"ddee"],
        ["--position", str(path)],
        ["--position", "-"],
        ["--position", before, "--moves", *"dee"],
    ):
        monkeypatch.setattr(sys, "stdin", io.StringIO(str(state)))
        found.append(analyze(capsys, "connect_four", "--simulations", "300", *words))
    assert all({**one, "seconds": 0} == {**found[0], "seconds": 0} for one in found)
    assert main(["analyze", "connect_four", "--simulations", "1", "--position", "x../..."]) == USAGE
    assert "--position: connect_four: the board has 6 rows, found 2" in capsys.readouterr().err
    path.write_bytes(b"\xff")
    assert main(["analyze", "connect_four", "--simulations", "1", "--position", str(path)]) == BAD_DATA
    assert "is no text in UTF-8" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("game", "options", "moves"),
    [
        ("connect_four", {}, ["d", "d"]),
        ("pig", {}, ["roll"]),
        ("pig", {"target": 30}, ["roll", "6"]),
        ("goofspiel", {"cards": 4}, ["1,2"]),
        ("goofspiel", {"cards": 4, "prizes": "random"}, []),
    ],
    ids=str,
)
def test_it_finds_what_the_library_finds(game, options, moves, capsys):
    """At decisions of one, of several, and of the dice."""
    flags = [word for name, value in options.items() for word in ("--option", f"{name}={value}")]
    flags += ["--evaluator", "rollout"]  # whether or not a network comes with the package
    found = analyze(
        capsys, game, *flags, "--seed", "3", "--simulations", "400", *(["--moves", *moves] if moves else [])
    )
    state = play_moves(ab.games.load(game, **options).start(3), moves)
    result = ab.search(state, simulations=400, config=ab.SearchConfig(seed=3))
    assert found["value"] == result.value.tolist()
    assert (found["nodes"], found["simulations"], found["interrupted"]) == (result.nodes, 400, False)
    for seat, rows in found["players"].items():
        for row in rows:
            assert row["visits"] == result.visits[int(seat), row["action"]]
    assert [row["visits"] for row in found["outcomes"]] == [count for _, _, count, _ in result.outcomes]
    assert play_moves(state, found["line_names"]) == play_moves(state, result.line)
    assert found["best"] is None or play_moves(state, [found["best"]])


def test_settings_come_from_a_file_and_from_flags(capsys, tmp_path):
    path = tmp_path / "search.toml"
    path.write_text(SETTINGS)
    words = ["tic_tac_toe", "--visits", "300", "--evaluator", "uniform", "--config", str(path)]
    state = ab.games.load("tic_tac_toe").start()
    for more, config in [
        ([], ab.SearchConfig(selector=ab.Ucb1(c=0.5), seed=5)),
        (["--set", "selector.c=2"], ab.SearchConfig(selector=ab.Ucb1(c=2.0), seed=5)),
        (["--set", "selector=Puct", "--seed", "7"], ab.SearchConfig(seed=7)),
    ]:
        expected = ab.search(state, visits=300, evaluator=ab.Uniform(), config=config)
        assert visits(analyze(capsys, *words, *more)) == expected.visits[0].tolist()


def test_time_is_the_budget_where_none_is_given(capsys, monkeypatch):
    monkeypatch.setattr("anabranch.cli.search_flags.SearchFlags.budget", lambda self: {"seconds": 0.05})
    assert analyze(capsys, "tic_tac_toe")["seconds"] >= 0.05
    monkeypatch.undo()
    from anabranch.cli.search_flags import SearchFlags

    assert SearchFlags().budget() == {"seconds": 2.0}
    assert SearchFlags(visits=0).budget() == {"visits": 0}


def test_pictures_are_drawn_and_searches_kept(capsys, tmp_path):
    kept, svg, graph = (str(tmp_path / name) for name in ("kept.npz", "result.svg", "graph.svg"))
    words = ["analyze", "tic_tac_toe", "--simulations", "200"]
    assert main([*words, "--save", kept, "--svg", svg, "--graph-svg", graph]) == GOOD
    said = capsys.readouterr().out
    assert f"go on with --load {kept}" in said
    for path in (svg, graph):
        assert f"wrote {path}" in said
        assert ElementTree.parse(path).getroot().tag.endswith("svg")
    found = analyze(capsys, *words[1:], "--load", kept)
    game = ab.games.load("tic_tac_toe")
    assert visits(found) == ab.search(game.start(), simulations=400, evaluator=load("best")).visits[0].tolist()
    assert found["simulations"] == 200
    assert main([*words, "--load", kept, "--moves", "a1"]) == USAGE
    assert "another position" in capsys.readouterr().err
    assert main([*words, "--load", kept, "--seed", "1"]) == BAD_DATA
    assert main([*words, "--load", str(tmp_path / "none.npz")]) == BAD_DATA


def test_files_are_written_although_nobody_reads_the_output(tmp_path):
    names = ["p.svg", "g.svg", "p.npz"]
    words = ["--svg", names[0], "--graph-svg", names[1], "--save", names[2]]
    command = [sys.executable, "-m", "anabranch", "analyze", "tic_tac_toe", "--simulations", "50", *words]
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(command, cwd=tmp_path, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=100)
    os.close(writing)
    assert (done.returncode, "Traceback" in done.stderr) == (GOOD, False)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)


def test_an_evaluator_of_ones_own_is_called_and_blamed(capsys, tmp_path):
    path = tmp_path / "evaluate.py"
    path.write_text("import numpy as np\ndef evaluate(batch):\n    return None, np.zeros((len(batch), 2))\n")
    words = ["analyze", "tic_tac_toe", "--simulations", "50", "--evaluator", f"{path}:evaluate"]
    found = analyze(capsys, *words[1:])
    assert visits(found) == ab.search(
        ab.games.load("tic_tac_toe").start(), simulations=50, evaluator=ab.Uniform()
    ).visits[0].tolist()  # fmt: skip
    path.write_text("def evaluate(batch):\n    return 1 / 0\n")
    assert main(words) == GAME
    said = capsys.readouterr().err
    assert "ZeroDivisionError" in said
    assert f"{path}:2" in said


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ([], "which game?"),
        (["conect_four"], "'connect_four'"),
        (["connect_four", "--moves", "d", "z"], "move 2: unknown action 'z'"),
        (["connect_four", "--moves", *"ddddddd"], "--moves: move 7: 'd' is not legal for x; legal: a, b, c"),
        (["tic_tac_toe", "--moves", "a1 b2"], "move 1: 'a1 b2' looks like several moves; write them as separate words"),
        (["tic_tac_toe", "--moves", "a1,b2"], "looks like several moves; write them as separate words: a1 b2"),
        (["goofspiel", "--moves", "1,2 3,4"], "write e.g. 1,1; several moves are separate words"),
        (["connect_four", "--simulations", "5", "--seconds", "1"], "--simulations and --seconds"),
        (["connect_four", "--simulations", "-5"], "--simulations must be at least 0"),
        (["connect_four", "--simulations", "many"], "--simulations"),
        (["connect_four", "--seconds", "nan"], "--seconds must be at least 0"),
        (["connect_four", "--evaluator", "rolout"], "'rollout'"),
        (["connect_four", "--set", "selector"], "key=value"),
        (["connect_four", "--config", "no.toml"], "no.toml"),
        (["connect_four", "--svg", "no/such/folder/x.svg"], "there is no folder no/such/folder"),
        (["connect_four", "--graph-svg", "x.pdf"], ".svg or .png"),
        (["connect_four", "--save", "."], ". is a folder; name a file"),
        (["--stdio", "--workers", "0"], "--workers must be from 1 to 256"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_words_are_named(words, named, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["analyze", *words]) == USAGE
    assert named in capsys.readouterr().err


@pytest.mark.parametrize(("path", "found"), [("nope.npz", "does not exist"), (".", "is a folder")])
def test_a_search_that_cannot_be_loaded_says_what_can(path, found, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["analyze", "connect_four", "--load", path]) == BAD_DATA
    said = capsys.readouterr().err
    assert said == f"error: --load {path} {found}; name a file that analyze --save wrote\n"


def test_outcomes_have_the_names_the_game_gives_them(capsys, tmp_path):
    path = tmp_path / "named.py"
    path.write_text(
        "from anabranch.games.pig import Pig\nclass Named(Pig):\n"
        "    def outcome_name(self, outcome):\n        return f'face {outcome}'\n"
    )
    found = analyze(capsys, f"{path}:Named", "--moves", "roll", "--simulations", "50")
    assert [row["name"] for row in found["outcomes"]] == [f"face {row['outcome']}" for row in found["outcomes"]] != []


def test_moves_are_called_what_the_game_calls_them_there(capsys):
    """OpenSpiel's names of chess depend on the state; its action ids say nothing to people."""
    pytest.importorskip("pyspiel")
    found = analyze(capsys, "open_spiel:chess", "--moves", "e4", "--simulations", "30")
    (rows,) = found["players"].values()
    names = [row["name"] for row in rows]
    assert {"e5", "Nf6"} <= {*names}
    assert found["best"] in names


def test_where_the_game_is_over_there_is_nothing_to_find(capsys):
    found = analyze(capsys, "take_away", "--option", "stones=1", "--moves", "1", "--seconds", "100")
    assert found["simulations"] == 0
    assert found["best"] is None


def test_a_terminal_shows_progress_on_one_line(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main(["analyze", "tic_tac_toe", "--simulations", "300"]) == GOOD
    assert "value" in capsys.readouterr().out
