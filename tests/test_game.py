"""Slips in a game are found when it is made or first played, and honest games are left alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.lies import Duel, Stones

import anabranch as ab
from anabranch.cli import GAME, main
from anabranch.errors import GameError, UsageError


def made(base: type, **members: Any) -> Any:
    """Return an instance of a game with other members, interpreted."""
    return type("Changed", (base,), members)(compiled=False)


@pytest.mark.parametrize("wrong", [1, "ab", (1.0, 0.0), (0.0, np.inf), (0.0, np.nan), (1, 2, 3), None], ids=repr)
def test_returns_are_two_finite_numbers(wrong):
    with pytest.raises(GameError, match=r"Changed: self\.returns must be two finite numbers"):
        made(Stones, returns=wrong)


def test_the_command_line_says_so_too(tmp_path, capsys):
    (tmp_path / "wrong.py").write_text(
        "import anabranch as ab\n\n\nclass Wrong(ab.ObjectGame):\n    players, actions, returns = 1, 1, 1\n"
    )
    assert main(["check", f"{tmp_path}/wrong.py:Wrong"]) == GAME
    said = capsys.readouterr().err
    assert "Wrong" in said
    assert "Traceback" not in said


def helper(self: Any, state: Any) -> int:
    return 0


@pytest.mark.parametrize(
    ("name", "meant"), [("chances", "chance"), ("bound", "bounds"), ("Event", "event"), ("drw", "draw")]
)
def test_a_misspelt_verb_is_named(name, meant):
    with pytest.raises(GameError, match=f"'{name}' is no verb and nothing reads it; did you mean '{meant}'"):
        made(Stones, **{name: helper})


def test_a_misspelt_setup_is_named():
    class SetsUp(ab.CompiledGame):
        def __init__(self) -> None:
            self.players, self.actions = 1, 1
            self.state = ab.record(left=np.int8)

        def set_up(self, state: Any, random: Any) -> None:
            state.left = 3

        def turn(self, state: Any) -> int:
            return ab.player(0) if state.left else ab.OVER

        def legal(self, state: Any, player: int, actions: Any) -> int:
            return 1

        def step(self, state: Any, actions: Any, rewards: Any) -> None:
            state.left -= 1

    with pytest.raises(GameError, match=r"'set_up' is no verb.*'setup'"):
        SetsUp()


@pytest.mark.parametrize(
    ("name", "meant"),
    [("rewards_alnog", "rewards_along"), ("return_", "returns"), ("discont", "discount"), ("cycle", "cycles")],
)
def test_a_misspelt_setting_is_named(name, meant):
    with pytest.raises(GameError, match=f"'{name}' is no setting and nothing reads it; did you mean '{meant}'"):
        made(Stones, **{name: 1})


@pytest.mark.parametrize(
    "members",
    [
        {"rewards_along": True, "rewards_alon": True},  # what it could mean is there
        {"drawn": helper, "text": lambda self, state: str(self.drawn(state))},  # a helper that is called
        {"cycle": 3, "action_name": lambda self, action: f"{self.cycle} {action}"},  # a number that is read
        {"_chances": helper, "_cycle": 3},  # names of one's own
        {"rounds": helper, "states": helper, "legality": helper, "colours": 3},  # only a little alike
        {"turns": helper, "steps": 3, "player": 1},  # like what every game has
    ],
    ids=lambda members: " ".join(members),
)
def test_names_that_only_look_misspelt_are_left_alone(members):
    assert made(Stones, **members).start().legal()


@pytest.mark.parametrize("base", [Duel, Stones])
def test_step_answers_as_its_kind_of_game_does(base):
    """A compiled game's step writes, an object game's returns: the habit of the other kind is refused in words."""
    answer = (
        (lambda self, state, actions: None)
        if base is Stones
        else (lambda self, state, actions, rewards: (state, rewards))
    )
    state = made(base, step=answer).start()
    with pytest.raises(GameError, match="must return" if base is Stones else "works in place and returns nothing"):
        state.step(1)


def test_step_is_tried_before_it_is_compiled():
    class Returns(Duel):
        def step(self, state: Any, actions: Any, rewards: Any) -> Any:
            state.round += 1
            return rewards

    with pytest.raises(GameError, match="works in place and returns nothing"):
        Returns().start()


def test_a_field_without_a_size_is_named():
    with pytest.raises(UsageError, match="field 'piles' has size zero"):
        ab.record(left=np.int8, piles=(np.int8, 0))


@pytest.mark.parametrize("wrong", [[np.int8, 2], 2, (np.int8, -1), (np.int8, 2.5), "nothing"], ids=str)
def test_a_field_is_a_type_or_a_type_and_a_shape(wrong):
    with pytest.raises(UsageError, match=r"'piles' is declared as .*ab.record\(piles=\(np.int8, 3\)\)"):
        ab.record(piles=wrong)


class Pays(ab.CompiledGame):
    """One move, which pays what it was told."""

    def __init__(self, amount: float) -> None:
        self.players, self.actions, self.amount = 1, 1, amount
        self.state = ab.record(ply=np.int64)
        self.returns = (-1e90, 1e90)

    def setup(self, state: Any, random: Any) -> None:
        state.ply = 0

    def turn(self, state: Any) -> int:
        return ab.player(0) if state.ply == 0 else ab.OVER

    def legal(self, state: Any, player: int, actions: Any) -> int:
        actions[0] = 0
        return 1

    def step(self, state: Any, actions: Any, rewards: Any) -> None:
        state.ply = 1
        rewards[0] = self.amount


class PaysObjects(ab.ObjectGame):
    """The same on Python's numbers."""

    def __init__(self, amount: float) -> None:
        self.players, self.actions, self.amount = 1, 1, amount
        self.returns = (-1e90, 1e90)

    def setup(self, random: Any) -> int:
        return 0

    def turn(self, state: int) -> int:
        return ab.player(0) if state == 0 else ab.OVER

    def legal(self, state: int, player: int) -> list[int]:
        return [0]

    def step(self, state: int, actions: Any) -> Any:
        return 1, [self.amount]


@pytest.mark.parametrize(
    ("amount", "said"),
    [
        (1e39, r"rewards \[1e\+39\]: finite, but larger than 3\.4e\+38, the largest float32.*pay smaller ones"),
        (-1e80, r"finite, but larger than 3\.4e\+38"),
        (np.inf, r"must give 1 finite rewards, found \[inf\]"),
        (np.nan, r"must give 1 finite rewards, found \[nan\]"),
    ],
)
def test_a_reward_that_is_too_large_is_not_called_infinite(amount, said):
    """A double is finite up to 1.8e308; rewards are kept in float32."""
    for game in (Pays(amount), Pays(amount).interpreted(), PaysObjects(amount)):
        with pytest.raises(GameError, match=said):
            game.start().step(0)
        with pytest.raises(GameError, match=said):
            ab.search(game.start(), simulations=3, evaluator=ab.Uniform())
    Pays(3e38).start().step(0)
