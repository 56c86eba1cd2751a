"""Exact solutions by the engine: what rules raise, limits, Ctrl-C, progress, and what travels in a pickle."""

from __future__ import annotations

import itertools
import pickle
import re
import signal
import sys

import numpy as np
import pytest
from tests.faults import LIES, Round

import anabranch as ab
from anabranch import _native
from anabranch.errors import AnabranchError, CycleError, GameError, UsageError
from anabranch.games.explicit import Explicit
from anabranch.games.matrix import Matrix
from anabranch.games.pig import Pig
from anabranch.games.tic_tac_toe import TicTacToe
from anabranch.search.engine.native import native_rules
from anabranch.search.exact.progress import Progress
from anabranch.search.maths.matrix_game import equilibrium


@pytest.mark.parametrize("verb", ["turn", "legal", "step", "chance", "same", "key"])
def test_what_a_verb_raises_comes_out_with_the_line_of_play(verb):
    """The note tells the way to a state in which the verb raises."""
    assert Round().rules  # compiled by one that behaves
    game = Round(verb, 0, rounds=1, lead=-2)
    with pytest.raises(ValueError, match=f"{verb} is out of order") as caught:
        ab.solve(game)
    (note,) = caught.value.__notes__
    assert note.startswith("while solving Round; actions from the root: ")
    line = re.findall(r"\([^)]*\)|-?[0-9]+", note.partition("root: ")[2])
    state = Round().start()
    for move in line:
        state, _ = state.step([int(part) for part in re.findall(r"-?[0-9]+", move)])
    assert (state.round, state.lead) == (1, -2)


@pytest.mark.parametrize("verb", ["turn", "legal", "step", "chance", "same"])
def test_nonsense_is_an_error_of_the_game(verb):
    assert Round().rules
    for lie in range(1, LIES[verb] + 1):
        with pytest.raises(AnabranchError):
            ab.solve(Round(verb, lie, rounds=1, lead=0))


def test_too_many_states_are_refused_with_what_was_seen():
    with pytest.raises(UsageError, match=r"more than 5477 states: .* of [0-9,]+ of them .* max_states; .* bytes"):
        ab.solve(TicTacToe(), max_states=5477)
    for enough in (5478, 10**30):
        assert ab.solve(TicTacToe(), max_states=enough).states == 5478
    for wrong in (0, -1, 2.5, True):
        with pytest.raises(UsageError, match="max_states must be a whole number"):
            ab.solve(TicTacToe(), max_states=wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="tolerance must be"):
        ab.solve(TicTacToe(), tolerance=float("nan"))
    with pytest.raises(UsageError, match="progress must be"):
        ab.solve(TicTacToe(), progress=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("game", [Pig(target=22), Pig(target=7).interpreted()], ids=["engine", "Python"])
def test_progress_only_grows_and_ends_with_all_states(game):
    said: list[Progress] = []
    solution = ab.solve(game, progress=said.append)
    for before, after in itertools.pairwise(said):
        assert (before.found, before.expanded, before.solved) <= (after.found, after.expanded, after.solved)
        assert before.seconds <= after.seconds
    assert all(each.solved <= each.expanded <= each.found for each in said)
    assert (said[-1].found, said[-1].expanded, said[-1].solved) == (solution.states,) * 3
    assert "states found" in str(said[-1])


LARGE = Pig(target=100)  # more than the million states a solution may have: the engine is busy for a while


class ToldError(Exception):
    """Raised by who is told."""


def test_an_exception_of_progress_ends_the_work_and_comes_out():
    said: list[Progress] = []

    def tell(progress: Progress) -> None:
        said.append(progress)
        raise ToldError

    with pytest.raises(ToldError):
        ab.solve(LARGE, progress=tell)
    assert len(said) == 1
    assert 0 < said[0].expanded < said[0].found < 1_000_000


def test_a_signal_stops_the_engine_at_work():
    """Python handles signals between its own steps: the engine must look for them, and stop halfway."""

    def handle(number: int, frame: object) -> None:
        raise ToldError

    native = _native.FiniteGame(native_rules(LARGE), LARGE.start().data)

    def explore() -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        native.explore(1_000_000, None)

    before = signal.signal(signal.SIGALRM, handle)
    try:
        with pytest.raises(ToldError):
            explore()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert native.states < 1_000_000


def test_half_a_game_is_not_gone_on_with():
    native = _native.FiniteGame(native_rules(LARGE), LARGE.start().data)
    assert not native.explore(100, None)
    for call in (
        lambda: native.explore(1000, None),
        lambda: native.solve(1.0, True, 0.0, 1, None),
        lambda: native.edges(0),
        native.gap,
    ):
        with pytest.raises(ValueError, match=r"explore|solve"):
            call()


def test_values_that_never_settle_are_told():
    pays = {"kind": "chance", "outcomes": [[0.5, "a", [1]], [0.5, "b", [1]]]}
    back = {"kind": "chance", "outcomes": [[1.0, "a", [1]]]}
    table = {"players": 1, "root": "a", "returns": [0, 1e9], "nodes": {"a": pays, "b": back}}
    with pytest.raises(GameError, match="a loop of 2 states had not settled after 1,000,000 sweeps"):
        ab.solve(Explicit(table, cycles="bootstrap"))


def test_a_cycle_without_a_value_is_printed():
    stay = {"kind": "decision", "acting": [0], "choices": [2], "edges": [[[0], "a", [1]], [[1], "z", [9]]]}
    table = {"players": 1, "root": "a", "returns": [0, 9], "nodes": {"a": stay, "z": {"kind": "over"}}}
    with pytest.raises(CycleError, match=r"(?s)comes back to a state, after 1 steps.*player 0: 0.*depends on the path"):
        ab.solve(Explicit(table, cycles=0.0))


def test_rewards_are_taken_as_doubles():
    """A search rounds them to float32, which holds none of these."""
    dice = {"kind": "chance", "outcomes": [[0.5, "b", [0.1]], [0.25, "b", [0.3]], [0.25, "b", [0.7]]]}
    table = {"players": 1, "root": "a", "returns": [0, 1], "nodes": {"a": dice, "b": {"kind": "over"}}}
    assert ab.solve(Explicit(table)).value.tolist() == [0.5 * 0.1 + 0.25 * 0.3 + 0.25 * 0.7]


def test_opposed_interests_are_needed_where_players_choose_at_once():
    with pytest.raises(UsageError, match=r"players 0 and 1 choose at once .* add up to a constant"):
        ab.solve(Matrix("prisoners_dilemma"))


def test_values_need_no_scipy(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    assert ab.solve(Matrix("biased")).value == pytest.approx(np.array([0.2, -0.2]))


def test_a_state_that_cannot_follow_is_refused():
    game = TicTacToe()
    solution = ab.solve(game.start().step(4)[0])
    assert game.start() not in solution
    with pytest.raises(UsageError, match="cannot follow"):
        solution.value_of(game.start())


def test_a_solution_can_be_pickled():
    solution = ab.solve(TicTacToe())
    again = pickle.loads(pickle.dumps(solution))
    assert (again.states, again.value.tolist(), again.gap()) == (5478, [0.0, 0.0], solution.gap())
    assert again.best_of(TicTacToe().start().step(0)[0]) == {1: [4]}


def test_values_cannot_be_written_to_and_outlive_the_solution():
    values = ab.solve(TicTacToe())._values
    assert not values.flags.writeable
    assert values.shape == (5478, 2)
    assert np.abs(values).max() == 1.0


def test_matrix_games_are_solved_as_in_python_to_the_last_bit():
    """Tables that tie, tables that tie but for the ninth digit, which need double-doubles, and ordinary ones."""
    random = np.random.default_rng(0)
    for number in range(300):
        table = random.integers(-3, 4, random.integers(1, 7, 2)).astype(np.float64)
        if number % 3 == 1:
            table += random.normal(size=table.shape) * 1e-9
        elif number % 3 == 2:
            table = random.normal(size=table.shape)
        x, y, _ = equilibrium(table.tolist())
        assert _native.equilibrium(table) == (x, y)
