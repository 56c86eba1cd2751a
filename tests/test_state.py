"""States are values: printed, compared, copied and sent elsewhere, never changed; wrong calls say what is right."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from typing import Any

import numpy as np
import pytest
from tests.lies import Duel, Stones

import anabranch as ab
from anabranch.errors import IllegalActionError, UsageError


class Piles(ab.CompiledGame):
    """Draws nothing for its states."""

    def __init__(self, first: int = 3) -> None:
        self.first = first
        self.players, self.actions = 2, 2
        self.state = ab.record(mover=np.int8, piles=(np.int8, 2))

    def setup(self, state: Any, random: Any) -> None:
        state.piles[0], state.piles[1] = self.first, 2

    def turn(self, state: Any) -> int:
        return ab.player(state.mover) if state.piles[0] else ab.OVER

    def legal(self, state: Any, player: int, actions: Any) -> int:
        actions[1] = 1
        return 2

    def step(self, state: Any, actions: Any, rewards: Any) -> None:
        state.piles[0] -= 1
        state.mover = 1 - state.mover


def piles(first: int = 3) -> ab.State:
    return Piles(first).interpreted().start()


def test_a_state_nobody_draws_is_printed_as_its_fields():
    assert str(piles()) == "record(mover=0, piles=[3, 2])"
    with pytest.raises(IllegalActionError, match=r"record\(mover=1, piles=\[2, 2\]\)"):
        piles().step(0)[0].step(7)


STATES = {
    "compiled": lambda: ab.games.load("tic_tac_toe").start().step(4)[0],
    "interpreted": lambda: piles(5).step(1)[0],
    "objects": lambda: Stones().start(),
}


@pytest.mark.parametrize("make", STATES.values(), ids=STATES)
def test_states_and_games_survive_copies_and_pickles(make):
    state = make()
    for other in (copy.copy(state), copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
        assert other == state
        assert other.game == state.game
        assert getattr(other.game, "compiled", None) == getattr(state.game, "compiled", None)
        assert other.legal() == state.legal()
    game = pickle.loads(pickle.dumps(state.game))
    assert game == state.game
    assert repr(game) == repr(state.game)


def test_states_go_to_other_processes():
    """To fresh ones, which must make the game again from what it was made of."""
    states = [piles(3), piles(5)]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(str, states) == [str(state) for state in states]


def test_a_state_cannot_be_changed():
    state = piles()
    for name in ("piles", "data", "game", "colour"):
        with pytest.raises(AttributeError, match=f"never changes.*{name}.*state.step"):
            setattr(state, name, 3)


@pytest.mark.parametrize("wrong", [1.0, None, [0.5], {0: 1}, [0, [1]], np.array(0.5)], ids=repr)
def test_an_action_is_an_integer(wrong):
    with pytest.raises(UsageError, match="integer id"):
        piles().step(wrong)


def test_names_of_actions_are_to_be_parsed():
    with pytest.raises(UsageError, match=r"game.parse_action\('a'\)"):
        piles().step("a")  # type: ignore[arg-type]


def test_every_acting_player_gives_an_action():
    state = Duel().interpreted().start().step(1)[0]
    assert state.turn == (0, 1)
    with pytest.raises(IllegalActionError, match=r"0 is 1 action, but 2 players act: .*\(0, 1\); give one action each"):
        state.step(0)
    with pytest.raises(IllegalActionError, match="3 actions, but 2 players act"):
        state.step((0, 0, 0))
    for joint in ((0, 1), [0, 1], np.array([0, 1])):
        assert state.step(joint)[0].round == 1  # type: ignore[arg-type]


def test_samples_need_random_numbers():
    state = Duel().interpreted().start()
    assert state.sample(ab.Random(0)) in (1, 2)
    with pytest.raises(UsageError, match=r"ab.Random\(seed\), found 0"):
        state.sample(0)  # type: ignore[arg-type]
