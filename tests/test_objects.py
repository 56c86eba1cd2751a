"""Object games in the engine: what it holds of their states, and which answers of their verbs it takes or refuses."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import anabranch as ab
from anabranch.errors import GameError


def numbers(result: ab.Result) -> Any:
    """Return what a search found, as plain data."""
    return [visits.tolist() for visits in result.visits], result.value.tolist()


# What is held.


class Place:
    """A state that says how many of its kind are alive."""

    alive = 0

    def __init__(self, number: int) -> None:
        self.number = number
        Place.alive += 1

    def __del__(self) -> None:
        Place.alive -= 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and self.number == other.number

    def __hash__(self) -> int:
        return hash(self.number)


class Road(ab.ObjectGame):
    """One or two steps on, or only one at every fifth place, without an end."""

    def __init__(self) -> None:
        self.players, self.actions = 1, 2

    def setup(self, random: ab.Random) -> Place:
        return Place(0)

    def turn(self, state: Place) -> int:
        return ab.player(0)

    def legal(self, state: Place, player: int) -> list[int]:
        return [0] if state.number % 5 == 4 else [0, 1]

    def step(self, state: Place, actions: Any) -> Any:
        assert actions[0] in self.legal(state, 0)
        return Place(state.number + 1 + actions[0]), (0.5,)


@pytest.mark.parametrize(("keep", "moves"), [("graph", 10_000), ("evaluations", 1_000), ("nothing", 1_000)])
def test_states_that_cannot_be_reached_are_freed(keep, moves):
    """However often the root moves on, no more states are alive than the graph could need."""
    game = Road()
    before = Place.alive
    searcher = ab.Searcher(game, ab.Rollout(max_depth=2), ab.SearchConfig(max_nodes=30), threads=1)
    root = searcher.root(game.start())
    most = 0
    for move in range(moves):
        searcher.run(root, simulations=5)
        root.advance(root.state.legal()[-(move % 2)], keep=keep)
        most = max(most, Place.alive - before)
    assert most < 200
    del root
    assert Place.alive - before < 5


class Wheel(Road):
    """A wheel with a million numbers."""

    def turn(self, state: Place) -> int:
        return ab.CHANCE if state.number == 0 else ab.OVER

    def draw(self, state: Place, random: ab.Random) -> int:
        return ab.below(random, 1_000_000)

    def step(self, state: Place, actions: Any) -> Any:
        return Place(1 + actions[0]), (0.5,)


def test_states_without_a_node_are_freed():
    """Outcomes beyond the widening cap have a value and no node; the next run lets go of their states.

    Fewer than 64 (`kFew`) are not looked through. How many of them there are depends on when a run looks for Ctrl-C.
    """
    gc.collect()  # of other tests
    game, before = Wheel(), Place.alive
    searcher = ab.Searcher(game, ab.Uniform(), ab.SearchConfig(chance=ab.Chance(widen_cap=3)), threads=1)
    root = searcher.root(game.start())
    searcher.run(root, simulations=3_000)
    assert len(root.graph) < 10
    searcher.run(root, simulations=1)
    assert Place.alive - before < 64 + 10


def test_numbers_given_out_again_change_nothing():
    """A search that went on after advances finds what the reference finds, which numbers no states."""
    game, config = Road(), ab.SearchConfig(seed=4, max_nodes=30)
    reference = ab.Reference(game.start(), ab.Rollout(max_depth=4), config)
    searcher = ab.Searcher(game, ab.Rollout(max_depth=4), config, threads=1)
    root = searcher.root(game.start())
    for move in range(60):
        assert numbers(searcher.run(root, simulations=20)[0]) == numbers(reference.run(simulations=20))
        action = root.state.legal()[-(move % 2)]
        root.advance(action)
        reference.advance(action)


# Which answers are taken.


class Count(ab.ObjectGame):
    """Count to ten, by one or three; who gets there wins. Any answer may be given another form, or be spoilt."""

    def __init__(self, **verbs: Callable[[Any, Any], Any]) -> None:
        self.players, self.actions = 2, 3
        self.verbs = verbs

    def given(self, verb: str, state: Any, answer: Any) -> Any:
        return self.verbs[verb](state, answer) if verb in self.verbs else answer

    def setup(self, random: ab.Random) -> Any:
        return 0

    def turn(self, state: Any) -> Any:
        return self.given("turn", state, ab.OVER if state >= 10 else ab.player(state % 2))

    def legal(self, state: Any, player: int) -> Any:
        return self.given("legal", state, [0, 2])

    def step(self, state: Any, actions: Any) -> Any:
        mover = state % 2
        state += 1 + actions[mover] // 2 * 2
        won = 1.0 if state >= 10 else 0.0
        return self.given("step", state, (state, [won, -won] if mover == 0 else [-won, won]))


def found_by(game: ab.Game, evaluator: Any = None) -> Any:
    return numbers(ab.search(game.start(), simulations=60, evaluator=evaluator))


@pytest.mark.parametrize("evaluator", [ab.Uniform(), ab.Rollout()], ids=["uniform", "rollout"])
@pytest.mark.parametrize(
    "verbs",
    [
        {"turn": lambda state, answer: np.int64(answer)},
        {"legal": lambda state, answer: (action for action in answer)},
        {"legal": lambda state, answer: np.array(answer)},
        {"legal": lambda state, answer: range(0, 3, 2)},
        {"legal": lambda state, answer: [float(action) for action in answer]},
        {"step": lambda state, answer: (answer[0], np.array(answer[1], np.float32))},
        {"step": lambda state, answer: (answer[0], [int(reward) for reward in answer[1]])},
        {"step": lambda state, answer: (answer[0], [str(reward) for reward in answer[1]])},
    ],
)
def test_answers_of_any_form(verbs, evaluator):
    assert found_by(Count(**verbs), evaluator) == found_by(Count(), evaluator)


NONSENSE: dict[str, dict[str, Any]] = {
    "no turn": {"turn": lambda answer: None},
    "a player too many": {"turn": lambda answer: 8},
    "dice without chances": {"turn": lambda answer: ab.CHANCE},
    "a huge turn": {"turn": lambda answer: 2**80},
    "no ids": {"legal": lambda answer: None},
    "descending": {"legal": lambda answer: [2, 0]},
    "twice": {"legal": lambda answer: [0, 0]},
    "beyond": {"legal": lambda answer: [0, 3]},
    "words": {"legal": lambda answer: ["a"]},
    "no pair": {"step": lambda answer: answer[0]},
    "a reward too few": {"step": lambda answer: (answer[0], [0.0])},
    "not a number": {"step": lambda answer: (answer[0], [0.0, float("nan")])},
    "too much": {"step": lambda answer: (answer[0], [0.0, 1e39])},
    "None": {"step": lambda answer: (answer[0], None)},
}


@pytest.mark.parametrize("evaluator", [ab.Uniform(), ab.Rollout()], ids=["in the tree", "in a rollout"])
@pytest.mark.parametrize("nonsense", NONSENSE)
def test_nonsense_is_refused_in_the_words_of_the_reference(nonsense, evaluator):
    [(verb, spoilt)] = NONSENSE[nonsense].items()
    state = Count(**{verb: lambda state, answer: answer if state < 5 else spoilt(answer)}).start()
    with pytest.raises((GameError, TypeError)) as expected:
        ab.Reference(state, evaluator).run(simulations=50)
    with pytest.raises(type(expected.value)) as refused:
        ab.search(state, simulations=50, evaluator=evaluator)
    assert str(refused.value) == str(expected.value)


def test_nothing_to_choose_in_a_rollout():
    game = Count(legal=lambda state, answer: answer if state < 5 else [])
    with pytest.raises(GameError, match=r"player [01] has no legal action"):
        ab.search(game.start(), simulations=1)


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("width", [1, 4])
@pytest.mark.parametrize("error", [KeyError("lost"), KeyboardInterrupt(), MemoryError()], ids=repr)
def test_what_a_verb_raises_in_a_rollout_comes_out(error, width, count):
    """As it was raised, and once; the graph is as before, and the search goes on from there."""
    left = [40]

    def step(state: Any, answer: Any) -> Any:
        left[0] -= 1
        if left[0] == 0:
            raise error
        return answer

    config = ab.SearchConfig(width=width)
    searchers = [ab.Searcher(game, ab.Rollout(count), config, threads=2) for game in (Count(step=step), Count())]
    roots = [searcher.root(searcher.game.start()) for searcher in searchers]
    with pytest.raises(type(error)) as raised:
        searchers[0].run(roots[0], visits=60)
    assert raised.value is error
    assert left[0] == 0
    assert "while searching Count" in raised.value.__notes__[-1]
    roots[0].graph.check()
    ours, expected = (searcher.run(root, visits=60)[0] for searcher, root in zip(searchers, roots, strict=True))
    assert numbers(ours) == numbers(expected)


class Oracle(Count):
    """Plays on by itself."""

    def playout(self, data: Any, random: ab.Random, max_depth: int) -> Any:
        return self.verbs["playout"](data, random)


def test_a_game_may_play_its_rollouts_itself():
    game: ab.Game = Oracle(playout=lambda state, random: np.array([0.25, -0.25]))
    assert ab.search(game.start(), simulations=1).value[0] == 0.25
    drawing: ab.Game = Oracle(playout=lambda state, random: random.next() and None)  # and then step by step
    assert found_by(drawing) == numbers(ab.Reference(drawing.start(), ab.Rollout()).run(simulations=60))
    assert found_by(drawing) != found_by(Count())


@pytest.mark.parametrize("answer", [[0.0], [0.0, float("inf")]], ids=str)
def test_playouts_are_checked(answer):
    game = Oracle(playout=lambda state, random: answer)
    with pytest.raises(GameError, match="playout must give 2 finite numbers"):
        ab.search(game.start(), simulations=1)
