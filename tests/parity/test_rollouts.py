"""Rollouts that know a little: the engine plays the same ones as the readable evaluator, and they do what they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import anabranch as ab
from anabranch.evaluate.native import checked_rollout_action, winning_choice
from anabranch.game.random import Random

ROLLOUTS = {
    "uniform": ab.Rollout(greedy=0, policy="uniform"),
    "greedy": ab.Rollout(greedy=True, policy="uniform"),
    "own": ab.Rollout(greedy=0),
    "both": ab.Rollout(greedy=2),
    "several": ab.Rollout(count=3, greedy=1),
}


@pytest.mark.parametrize("rollout", ROLLOUTS.values(), ids=ROLLOUTS)
@pytest.mark.parametrize("name", ["connect_four", "tic_tac_toe", "pig"])
def test_the_engine_plays_the_same_rollouts(name: str, rollout: ab.Rollout) -> None:
    state = ab.games.load(name).start()
    config = ab.SearchConfig(seed=3)
    ours = ab.search(state, simulations=60, evaluator=rollout, config=config)
    theirs = ab.Reference(state, rollout, config).run(simulations=60)
    assert ours.visits.tolist() == theirs.visits.tolist()
    assert ours.value.tolist() == theirs.value.tolist()


class Threes(ab.ObjectGame):
    """Take one, two or three of seven; who takes the last wins. Its policy leaves a multiple of four."""

    def __init__(self) -> None:
        self.players, self.actions = 2, 4

    def setup(self, random: Any) -> tuple[int, int]:
        return 7, 0

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

    def rollout_action(self, state: tuple[int, int], player: int, random: Any) -> int:
        return state[0] % 4 or 1 + ab.below(random, min(3, state[0]))


@pytest.mark.parametrize("rollout", ROLLOUTS.values(), ids=ROLLOUTS)
def test_games_of_objects_play_the_same_rollouts(rollout: ab.Rollout) -> None:
    state = Threes().start()
    ours = ab.search(state, simulations=40, evaluator=rollout)
    theirs = ab.Reference(state, rollout).run(simulations=40)
    assert ours.visits.tolist() == theirs.visits.tolist()
    assert ours.value.tolist() == theirs.value.tolist()
    if rollout.policy == "game" and rollout.count == 1:
        assert values(state, rollout) == [1.0, -1.0]


def played(name: str, moves: str) -> ab.State:
    game = ab.games.load(name)
    state = game.start()
    for move in moves.split():
        state, _ = state.step(game.parse_action(move))
    return state


def values(state: ab.State, rollout: ab.Rollout) -> list[float]:
    batch = ab.Batch([state], [7], [0])
    row: list[float] = rollout.evaluate(batch)[1][0].tolist()
    return row


def test_a_greedy_rollout_takes_a_win_in_one() -> None:
    state = played("connect_four", "a b a b a b")
    assert winning_choice(state, 0) == 0
    assert values(state, ab.Rollout(count=50, greedy=1, policy="uniform")) == [1.0, -1.0]
    assert values(state, ab.Rollout(count=50, greedy=0, policy="uniform")) != [1.0, -1.0]


def test_a_greedy_rollout_blocks_nothing() -> None:
    state = played("connect_four", "a b a b a c")  # x could win at a, but o is asked below
    state, _ = state.step(state.game.parse_action("g"))  # x passed it up; o must block at a to go on
    assert winning_choice(state, 1) is None
    assert -1.0 < values(state, ab.Rollout(count=200, greedy=True, policy="uniform"))[1] < 0.0


def test_connect_four_wins_then_blocks() -> None:
    game = ab.games.load("connect_four")
    random = Random(1)
    assert checked_rollout_action(played("connect_four", "a b a b a b"), 0, random) == 0
    blocked = played("connect_four", "a b a b a")
    assert checked_rollout_action(blocked, 1, random) == 0
    free = game.start()
    assert {checked_rollout_action(free, 0, random) for _ in range(200)} == set(range(7))


@pytest.mark.parametrize(("rows", "columns", "line"), [(6, 7, 4), (3, 8, 3), (5, 5, 5), (4, 4, 2)])
def test_completions_are_what_a_step_says(rows: int, columns: int, line: int) -> None:
    game = ab.games.load("connect_four", rows=rows, columns=columns, line=line)
    random, seen = Random(rows), 0
    for _ in range(40):
        state = game.start()
        while state.turn != ab.OVER:
            mover = int(state.ply) & 1
            wins = [
                action
                for action in state.legal()
                if state.step(action)[1][mover] > 0  # found by playing it
            ]
            chosen = checked_rollout_action(state, mover, random)
            if wins:
                assert chosen in wins
                seen += 1
            state, _ = state.step(state.legal()[ab.below(random, len(state.legal()))])
    assert seen > 10


class Sly(ab.games.load("tic_tac_toe").__class__):  # type: ignore[misc]
    """A rollout policy that names a taken cell."""

    title = "sly"

    def rollout_action(self, state: Any, player: int, random: Any) -> int:
        return 4


def test_a_policy_that_names_no_choice_is_refused() -> None:
    game = Sly(compiled=False)
    with pytest.raises(ab.errors.GameError, match=r"rollout_action returned 4 for player 1, who may choose \[0, 1"):
        ab.search(game.start(), simulations=5, evaluator=ab.Rollout(greedy=0))
    assert any(broken.law == "rollout" for broken in ab.check(game, seconds=2).violations)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [({"greedy": -1}, "Rollout.greedy is"), ({"greedy": 0.5}, "Rollout.greedy is"), ({"policy": "gam"}, "'game'")],
)
def test_nonsense_is_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ab.errors.UsageError, match=words):
        ab.Rollout(**wrong)


def puct(state: ab.State, evaluator: Any = None, config: ab.SearchConfig | None = None) -> ab.Puct:
    """Return the selector that a search says it used."""
    used = ab.search(state, simulations=5, evaluator=evaluator, config=config).config
    assert used is not None
    assert isinstance(used.selector, ab.Puct)
    return used.selector


def test_what_is_left_open_is_settled_by_game_and_evaluator() -> None:
    state = ab.games.load("tic_tac_toe").start()
    evaluators = (ab.Uniform(), ab.Rollout(), ab.Hashing(), ab.Cached(ab.Uniform()))
    found = {type(evaluator).__name__: puct(state, evaluator).c_init for evaluator in evaluators}
    assert found == {"Uniform": 1.25, "Rollout": 2.5, "Hashing": 1.25, "Cached": 2.5}
    assert puct(state, lambda batch: (None, np.zeros((len(batch), 2)))).c_init == 1.25
    selector = puct(state, config=ab.SearchConfig(selector=ab.Puct(c_init=4.0, scale="graph")))
    assert (selector.c_init, selector.scale) == (4.0, "graph")
    assert puct(state).scale == "range"
