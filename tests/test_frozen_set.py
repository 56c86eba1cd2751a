"""The frozen positions of training runs, and what an evaluator is scored by on them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.test_environment import EndlessGame

import anabranch as ab
from anabranch.errors import DataError, TooManyStatesError
from anabranch.learn import frozen_set
from anabranch.learn.evaluation import scored
from anabranch.learn.frozen_set import Solved, frozen_positions, solved, stored

GAME = ab.games.load("connect_four")


def test_the_stored_positions_of_connect_four_are_what_they_say():
    """Two sets of 300 different positions from ply 8 on, in which moves differ; values as the oracle has them."""
    sets = stored(GAME)
    assert {name: len(positions) for name, positions in sets.items()} == {"random": 300, "strong": 300}
    known = ab.oracle(GAME)
    for positions in sets.values():
        assert len({each.state.key for each in positions}) == 300
        assert min(each.state.ply for each in positions) == 8
        assert all(0 < len(each.best) < len(each.state.legal()) for each in positions)
        late = [each for each in positions if each.state.ply >= 14]
        assert len(late) > 100
        for each in late[::10]:
            assert known.action_values(each.state) == each.worth
    assert stored(ab.games.load("connect_four", rows=5, compiled=False)) == {}


@pytest.mark.hard
def test_all_stored_positions_are_what_they_say():
    known = ab.oracle(GAME)
    for positions in stored(GAME).values():
        for each in positions:
            assert known.action_values(each.state) == each.worth


def test_a_damaged_file_is_no_file_of_positions(tmp_path, monkeypatch):
    monkeypatch.setattr(frozen_set, "STORED", tmp_path)
    assert stored(GAME) == {}
    for text in ("", "{}", '{"kind":"x","format":1,"game":"","made_by":{},"sets":{}}'):
        (tmp_path / "connect_four.json").write_text(text)
        with pytest.raises(DataError, match="no file of frozen positions"):
            stored(GAME)


def test_sets_share_the_count_and_are_the_same_every_time():
    first, again = frozen_positions(GAME, 50), frozen_positions(GAME, 50)
    assert first == again
    assert {name: len(positions) for name, positions in first.items()} == {"random": 25, "strong": 25}
    assert frozen_positions(GAME, 0) == {}


def test_othello_is_scored_on_endings_from_random_and_from_strong_play():
    game = ab.games.load("othello", size=6)
    sets = frozen_positions(game, 24)
    assert {name: len(positions) for name, positions in sets.items()} == {"random": 12, "strong": 12}
    for positions in sets.values():
        for each in positions:
            assert sum(int(discs).bit_count() for discs in each.state.discs) >= 24
            seat = int(each.state.mover)
            if sum(int(discs).bit_count() for discs in each.state.discs) >= 28:
                exact = ab.solve(each.state, max_states=200_000).action_values_of(each.state)[seat]
                assert each.worth == {action: exact[action] for action in each.state.legal()}


def test_yatzy_is_scored_by_what_is_lost():
    game = ab.games.load("yatzy", categories="ones,house,chance")
    sets = frozen_positions(game, 40)
    assert set(sets) == {"random", "strong"}
    found = scored(sets, ab.OracleValue(), 200)
    assert found.search_regret < 0.5 * found.policy_regret
    assert found.sets["random"].positions == 20


def test_who_knows_scores_all_and_who_plays_the_worst_scores_nothing():
    """An evaluator with the exact values, and one whose policy is the worst move of each position."""
    sets = frozen_positions(GAME, 40)
    known = {each.state.key: each for part in sets.values() for each in part}

    def tells(sign: float):
        def evaluate(batch):
            logits = np.zeros((len(batch.states), 7))
            for row, state in enumerate(batch.states):
                for action, value in known[state.key].worth.items() if state.key in known else ():
                    logits[row, action] = sign * 9.0 * value
            return logits, np.zeros((len(batch.states), 2))

        return evaluate

    right, wrong = scored(sets, tells(1.0), 1), scored(sets, tells(-1.0), 1)
    assert (right.policy, right.policy_regret) == (1.0, 0.0)
    assert wrong.policy == 0.0
    assert wrong.policy_regret == pytest.approx(
        np.mean([max(each.worth.values()) - min(each.worth.values()) for each in known.values()])
    )
    assert right.positions == sum(part.positions for part in right.sets.values()) == 40


def test_positions_whose_moves_are_all_alike_say_nothing():
    game = ab.games.load("tic_tac_toe")
    assert solved(ab.oracle(game), game.start()) is None
    each = Solved(game.start(), {0: 1.0, 1: 1.0, 2: -1.0})
    assert each.best == {0, 1}
    assert each.regret(2) == 2.0


class Rows(ab.ObjectGame):
    """Two players fill 25 cells in turn, and the last cell says who wins: too many states for a solver in Python."""

    def __init__(self):
        self.players, self.actions = 2, 25

    def setup(self, random):
        return ()

    def turn(self, state):
        return ab.OVER if len(state) == 25 else ab.player(len(state) % 2)

    def legal(self, state, player):
        return [cell for cell in range(25) if cell not in state]

    def step(self, state, actions):
        filled = (*state, actions[0])
        won = len(filled) == 25 and filled[-1] % 2
        return filled, [1.0, -1.0] if won else [-1.0, 1.0] if len(filled) == 25 else [0.0, 0.0]


def test_positions_of_rules_that_are_not_compiled_cost_so_many_states_and_come_from_endings(monkeypatch):
    """States in all are counted: not the clock, so that a run has the same positions whenever it goes on."""
    looked_at: list[int] = []

    def solve(state, max_states):
        try:
            found = ab.solve(state, max_states=max_states)
        except TooManyStatesError:
            looked_at.append(max_states)
            raise
        looked_at.append(found.states)
        return found

    monkeypatch.setattr(frozen_set, "solve", solve)
    monkeypatch.setattr(frozen_set, "EFFORT_SLOW", 20_000)
    monkeypatch.setattr(frozen_set, "MOST_SLOW", 400)
    (found,) = frozen_positions(Rows(), 1000).values()
    assert 20_000 <= sum(looked_at) < 20_400
    assert 10 <= len(found) < 1000
    assert all(25 - len(each.state.data) <= 5 for each in found)
    assert [each.worth for each in found] == [each.worth for each in frozen_positions(Rows(), 1000)["random"]]


def test_an_environment_has_no_frozen_positions():
    assert frozen_positions(EndlessGame(), 10) == {}
