"""Evaluators by name."""

from __future__ import annotations

import pytest

import anabranch as ab
from anabranch.errors import UnknownNameError, UsageError
from anabranch.evaluate.load import load
from anabranch.play.names import agent_by_name

FILE = """
import numpy as np

def zeros(batch):
    return None, np.zeros((len(batch), 2))

class Zeros:
    def evaluate(self, batch):
        return zeros(batch)

made, number = Zeros(), 5
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("uniform", ab.Uniform()),
        ("uniform:value=0.5", ab.Uniform(0.5)),
        ("uniform:value=1", ab.Uniform(1)),
        ("rollout", ab.Rollout()),
        ("rollout:", ab.Rollout()),
        ("rollout:count=4,max_depth=200", ab.Rollout(count=4, max_depth=200)),
        ("rollout:policy=uniform", ab.Rollout(policy="uniform")),
        ("rollout:greedy=2", ab.Rollout(greedy=2)),
        ("rollout:greedy=none", ab.Rollout()),
        ("hashing:seed=3", ab.Hashing(seed=3)),
        ("anabranch.evaluate.native:Rollout", ab.Rollout()),
    ],
)
def test_a_name_makes_an_evaluator(text, expected):
    assert load(text) == expected


@pytest.mark.parametrize("greedy", [None, True, False, 0, 1, 2])
@pytest.mark.parametrize("policy", ["game", "uniform"])
def test_what_an_agent_says_of_its_rollouts_is_read_again(greedy, policy):
    """As `True` and 1 are equal in Python, their words are compared."""
    agent = ab.SearchAgent(simulations=5, evaluator=ab.Rollout(count=2, greedy=greedy, policy=policy))
    again = agent_by_name(agent.name)
    assert isinstance(again, ab.SearchAgent)
    assert repr(again.evaluator) == repr(agent.evaluator)


@pytest.mark.parametrize("name", ["zeros", "Zeros", "made"])
def test_a_file_has_functions_classes_and_objects(name, tmp_path):
    path = tmp_path / "evaluates.py"
    path.write_text(FILE)
    result = ab.search(ab.games.load("tic_tac_toe").start(), simulations=50, evaluator=load(f"{path}:{name}"))
    assert (result.visits == ab.search(result.state, simulations=50, evaluator=ab.Uniform()).visits).all()
    with pytest.raises(UnknownNameError, match="'zeros'"):
        load(f"{path}:zeroes")
    with pytest.raises(UsageError, match="found int"):
        load(f"{path}:number")
    with pytest.raises(UsageError, match=r"evaluates\.py:evaluate"):
        load(str(path))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rolout", "'rollout'"),
        ("rolout:count=4", "'rollout'"),
        ("rollout:cuont=4", "'count'"),
        ("rollout:count", "key=value"),
        ("rollout:count=x", "rollout:count must be a whole number, found 'x'"),
        ("rollout:count=1.5", "whole number"),
        ("rollout:count=true", "whole number"),
        ("rollout:count=0", "from 1"),
        ("rollout:greedy=2x", "rollout:greedy must be true, false, none or a whole number, found '2x'"),
        ("rollout:greedy=", "whole number"),
        ("rollout:policy=unifrom", "'uniform'"),
        ("uniform:value=NaN", "finite"),
        ("no/such.py:Name", "no/such.py"),
        ("no_such_module:Name", "no_such_module"),
        ("", "unknown evaluator"),
    ],
)
def test_wrong_names_are_named(text, words):
    with pytest.raises(UsageError) as caught:
        load(text)
    assert words in str(caught.value)


def test_a_search_takes_an_evaluator_by_the_names_of_the_command_line():
    state = ab.games.load("tic_tac_toe").start()
    named = ab.search(state, simulations=50, evaluator="rollout:count=2")
    made = ab.search(state, simulations=50, evaluator=ab.Rollout(count=2))
    assert named.visits.tolist() == made.visits.tolist()
    assert ab.SearchAgent(simulations=5, evaluator="uniform").name == "search:simulations=5,evaluator=uniform"
    with pytest.raises(UnknownNameError, match="'rollout'"):
        ab.search(state, simulations=50, evaluator="rolout")


def test_a_class_that_needs_arguments_is_refused_with_a_sentence(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("class Needy:\n    def __init__(self, size): ...\n    def evaluate(self, batch): ...\n")
    with pytest.raises(UsageError, match="without arguments"):
        load(f"{file}:Needy")
