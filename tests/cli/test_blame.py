"""Whose fault it was: the game's, the evaluator's or the agent's, in the words of commands."""

from __future__ import annotations

import json

import pytest

from anabranch.cli import GAME, USAGE, main
from anabranch.cli.stdio.server import Server
from anabranch.errors import fault_of

FILE = """
import numpy as np
import anabranch as ab

class Rules(ab.ObjectGame):
    def __init__(self, wrong=1):
        self.players, self.actions, self.wrong = 2, 1, wrong

    def setup(self, random):
        return 0

    def turn(self, state):
        return ab.player(state % 2) if state < 3 else ab.OVER

    def legal(self, state, player):
        return [0]

    def step(self, state, actions):
        if state == self.wrong:
            raise KeyError("of the rules")
        return state + 1, [0.0, 0.0]

def divides(batch):
    return 1 / 0

def looks_on(batch):
    for state in batch.states:
        state.step(0)
    return None, np.zeros((len(batch), 2))

def takes_two(one, two):
    return None

def asks_numpy(batch):
    return None, np.zeros(3).reshape(2)

class Raises:
    def evaluate(self, batch):
        return missing

class Breaks:
    def __init__(self):
        raise OSError("no such thing")

    def evaluate(self, batch):
        return None

def agent(state, seat):
    return 1 / 0
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    (tmp_path / "odd.py").write_text("def f(:\n")
    (tmp_path / "fails.py").write_text("def f(batch): return 1\nraise RuntimeError('while it loads')\n")
    return path


SEARCH = ["analyze", "tic_tac_toe", "--simulations", "5", "--evaluator"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            [*SEARCH, "mine.py:divides"],
            "the evaluator raised ZeroDivisionError: division by zero (mine.py:24, in divides)",
        ),
        ([*SEARCH, "mine.py:divides", "--set", "depth=2"], "the evaluator raised ZeroDivisionError"),
        ([*SEARCH, "mine.py:divides", "--interpreted"], "the evaluator raised ZeroDivisionError"),
        (
            [*SEARCH, "mine.py:divides", "--set", "simultaneous=RegretMatching"],
            "the evaluator raised ZeroDivisionError",
        ),
        ([*SEARCH, "mine.py:Raises"], "the evaluator raised NameError"),
        ([*SEARCH, "mine.py:Breaks"], "the evaluator raised OSError"),
        ([*SEARCH, "mine.py:asks_numpy"], "the evaluator raised ValueError"),
        ([*SEARCH, "numpy:zeros"], "the evaluator raised TypeError"),
        ([*SEARCH, "odd.py:f"], "SyntaxError in the evaluator's file: invalid syntax (odd.py:1)"),
        ([*SEARCH, "fails.py:f"], "the evaluator raised RuntimeError: while it loads"),
        (["analyze", "mine.py:Rules", "--simulations", "5"], "the game raised KeyError: 'of the rules'"),
        (
            ["analyze", "mine.py:Rules", "--simulations", "5", "--evaluator", "mine.py:looks_on"],
            "the game raised KeyError: 'of the rules' (mine.py:20, in step)",
        ),
        (["analyze", "odd.py:Game"], "SyntaxError in the game's file"),
        (["games", "fails.py:Game"], "the game raised RuntimeError: while it loads"),
        (["match", "tic_tac_toe", "random", "odd.py:f"], "SyntaxError in the agent's file"),
        (["match", "tic_tac_toe", "random", "fails.py:f"], "the agent raised RuntimeError: while it loads"),
        (["match", "tic_tac_toe", "random", "mine.py:agent"], "mine.py:agent raised ZeroDivisionError"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_who_raised_is_named(words, said, file, monkeypatch, capsys):
    monkeypatch.chdir(file.parent)
    assert main(words) == GAME
    err = capsys.readouterr().err.replace(f"{file.parent}/", "")
    assert said in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("os:system", "os:system is Python's own posix.system; an evaluator is a function of a batch"),
        ("os:nothing", "os is Python's own module; an evaluator is a function of a batch"),
        ("builtins:print", "Python's own builtins.print"),
        ("subprocess:Popen", "Python's own subprocess.Popen"),
        ("builtins:exit", "Python's own _sitebuiltins.Quitter"),
        ("random:seed", "Python's own random.Random.seed"),
        ("os:environ", "Python's own os._Environ; an evaluator is a function of a batch"),
        (
            "os:sep",
            "or has evaluate(batch); found str",
        ),
        ("anabranch:RandomAgent", "anabranch:RandomAgent is a class without evaluate(batch)"),
        ("anabranch.errors:UsageError", "a class without evaluate(batch)"),
        ("mine.py:Rules", "a class without evaluate(batch)"),
        ("mine.py:takes_two", "cannot be called with a batch alone (missing a required argument: 'two')"),
    ],
)
def test_what_is_no_evaluator_is_refused_before_it_is_called(name, said, file, monkeypatch, capsys):
    monkeypatch.chdir(file.parent)
    assert main([*SEARCH, name]) == USAGE
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("name", ["os.path:join", "collections.abc:Sized", "os.path:sep", "mine.py:run"])
def test_what_is_no_agent_is_refused_before_it_is_called(name, file, monkeypatch, capsys):
    monkeypatch.chdir(file.parent)
    with file.open("a") as more:
        more.write("from subprocess import run\n")
    assert main(["match", "tic_tac_toe", "random", name, "--games", "2"]) == USAGE
    said = capsys.readouterr().err
    assert "Python's own" in said or "os.path:sep: an agent has" in said


def test_the_server_says_so_too(file):
    heard = []
    server = Server(lambda line: heard.append(json.loads(line)), workers=1)
    for number, name in enumerate(["divides", "Raises"]):
        asked = {"op": "search", "game": "tic_tac_toe", "simulations": 5, "evaluator": f"{file}:{name}"}
        server.take(json.dumps({"id": number, **asked}).encode(), number)
    asked = {"op": "search", "game": f"{file}:Rules", "simulations": 5}
    server.take(json.dumps({"id": 2, **asked}).encode(), 2)
    server.end()
    assert server.over.wait(60)
    assert [answer["error"]["type"] for answer in heard] == ["EvaluatorError", "EvaluatorError", "GameError"]


def test_nobody_is_blamed_for_what_nobody_did():
    assert fault_of(ValueError("never raised")) == ""
