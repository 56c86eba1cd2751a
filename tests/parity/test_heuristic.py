"""A game's own heuristic: the engine asks the same verb as the readable evaluator, and refuses games without it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.parity.compare import compare

import anabranch as ab
from anabranch.errors import GameError, UsageError
from anabranch.games.pyrat import PyRat

CONFIGS = {
    "alone": ab.SearchConfig(seed=3),
    "waves": ab.SearchConfig(seed=3, width=4, depth=2),
    "ucb1": ab.SearchConfig(seed=3, simultaneous=ab.Ucb1()),
}


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
@pytest.mark.parametrize("rewards", ["points", "difference"])
def test_the_engine_asks_the_same_heuristic(rewards: str, config: ab.SearchConfig) -> None:
    game = PyRat("open5", seed=2, rewards=rewards)
    assert ab.Searcher(game, ab.Heuristic()).native
    assert compare(game.start(), ab.Heuristic(), config, simulations=150)


def test_interpreted_games_are_asked_in_python() -> None:
    game = PyRat("open5", seed=2)
    slow = game.interpreted()
    assert not ab.Searcher(slow, ab.Heuristic()).native
    assert compare(game.start(), ab.Heuristic(), simulations=60, reference_state=slow.start())
    assert compare(slow.start(), ab.Heuristic(), simulations=60)


class Threes(ab.ObjectGame):
    """Take one, two or three of nine; who takes the last wins."""

    players, actions = 2, 4

    def setup(self, random: Any) -> tuple[int, int]:
        return 9, 0

    def turn(self, state: tuple[int, int]) -> int:
        return ab.OVER if state[0] == 0 else ab.player(state[1])

    def legal(self, state: tuple[int, int], player: int) -> list[int]:
        return [n for n in (1, 2, 3) if n <= state[0]]

    def step(self, state: tuple[int, int], actions: Any) -> tuple[tuple[int, int], list[float]]:
        left, mover = state[0] - actions[state[1]], state[1]
        rewards = [0.0, 0.0]
        if left == 0:
            rewards[mover], rewards[1 - mover] = 1.0, -1.0
        return (left, 1 - mover), rewards

    def heuristic(self, state: tuple[int, int]) -> list[float]:
        worth = 0.5 if state[0] % 4 else -0.5
        return [worth, -worth] if state[1] == 0 else [-worth, worth]


def test_games_of_objects_are_asked() -> None:
    assert compare(Threes().start(), ab.Heuristic(), simulations=80)
    assert ab.search(Threes().start(), simulations=1, evaluator="heuristic").value.tolist() == [0.5, -0.5]
    assert ab.check(Threes(), seconds=0.3).ok


@pytest.mark.parametrize(
    "search",
    [
        lambda state: ab.search(state, simulations=5, evaluator="heuristic"),
        lambda state: ab.Reference(state, ab.Heuristic()).run(simulations=5),
        lambda state: ab.search(state, simulations=5, evaluator=ab.Cached(ab.Heuristic())),
        lambda state: ab.match(state.game, "search:evaluator=heuristic", "random", games=2),
    ],
    ids=["search", "reference", "cached", "match"],
)
def test_a_game_without_the_verb_is_told_what_to_write(search: Any) -> None:
    with pytest.raises(UsageError, match=r"tic_tac_toe has no verb heuristic.*write heuristic\(self, state, values\)"):
        search(ab.games.load("tic_tac_toe").start())


class Endless(ab.games.load("take_away").__class__):  # type: ignore[misc]
    """Its heuristic is infinite after one stone each, where trial games before compiling do not come."""

    def heuristic(self, state: Any, values: Any) -> None:
        values[0] = np.inf if state.stones == 38 and state.mover == 0 else 0.0


def test_what_is_not_finite_is_an_error_with_the_line_of_play() -> None:
    with pytest.raises(GameError, match=r"heuristic must give 2 finite numbers, found \[inf, 0.0\]") as caught:
        ab.search(Endless(40).start(), simulations=200, evaluator=ab.Heuristic())
    assert any("actions from the root" in note for note in caught.value.__notes__)


def test_it_has_a_name_and_no_priors() -> None:
    agent = ab.SearchAgent(simulations=5, evaluator=ab.Heuristic())
    assert agent.name == "search:simulations=5,evaluator=heuristic"
    result = ab.search(PyRat("open5", seed=2).start(), simulations=5, evaluator="heuristic")
    assert result.config is not None
    assert result.config.selector.c_init == 2.5  # type: ignore[union-attr]
