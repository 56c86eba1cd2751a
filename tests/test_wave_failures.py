"""Whatever fails in a wave, at whichever call: the very exception, graphs as before, and on as if nothing had been."""

from __future__ import annotations

import functools
import gc
import re
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.faults import VERBS, Round, Rounds, Trouble
from tests.tables import OVER, chance, decision, table
from tests.test_searcher import noted, raised_by, resident, same_graph, snapshot

import anabranch as ab
from anabranch.errors import CycleError, EvaluatorError, IllegalActionError
from anabranch.games.explicit import Explicit
from anabranch.games.random_game import RandomGame

SHAPES = [(1, 1), (4, 1), (16, 1), (1, 2), (4, 2), (16, 3)]  # width and depth
GOAL = 32


def hashing(batch: Any) -> tuple[Any, Any]:
    return ab.Hashing(7).evaluate(batch)


def spoilt(array: Any, number: float) -> Any:
    array = array.copy()
    array[-1, ..., 0] = number
    return array


def raising(kind: type[BaseException]) -> Callable[[Any, Any], Any]:
    def fail(logits: Any, values: Any) -> Any:
        raise kind("the network is gone")

    return fail


ACCIDENTS: dict[str, tuple[Any, type[BaseException], str]] = {  # what is made of an answer, what comes of it
    "raises": (raising(ValueError), ValueError, "^the network is gone$"),
    "is interrupted": (raising(KeyboardInterrupt), KeyboardInterrupt, "^the network is gone$"),
    "nan values": (lambda p, v: (p, spoilt(v, np.nan)), EvaluatorError, r"values are not finite: row \d+, .* state\n."),
    "nan logits": (lambda p, v: (spoilt(p, np.nan), v), EvaluatorError, r"logits .* not finite: row \d+, .* state\n."),
    "infinite values": (lambda p, v: (p, spoilt(v, np.inf)), EvaluatorError, r"not finite: row \d+, .* state\n."),
    "wrong shape": (lambda p, v: (p, v[:, :1]), EvaluatorError, r"values have shape \(\d+, 1\), expected \(\d+, 2\)"),
    "wrong type": (lambda p, v: (p, v.astype(complex)), EvaluatorError, "values have type complex128"),
}


class ByKey:
    """An evaluator with an accident at its k-th call."""

    def __init__(self) -> None:
        self.calls, self.at, self.accident = 0, 0, ""

    def prepare(self, accident: str, at: int) -> None:
        self.calls, self.at, self.accident = 0, at, accident

    def evaluate(self, batch: Any) -> Any:
        self.calls += 1
        answer = hashing(batch)
        return ACCIDENTS[self.accident][0](*answer) if self.calls == self.at else answer


class Twins:
    """Undisturbed searches, by stream: their graphs at any number of visits, and at the goal, gone on from there."""

    def __init__(self, make: Callable[[int], Any]) -> None:
        self._make = make  # a stream → something with run(visits) and seen()
        self._known: dict[tuple[int, int, bool], tuple[Any, Any]] = {}

    def at(self, stream: int, visits: int, ready: bool = True) -> tuple[Any, Any]:
        """Return what a search of so many visits has seen, evaluated or not; and what it sees at the goal."""
        if (stream, visits, ready) not in self._known:
            twin = self._make(stream)
            if ready:
                twin.run(visits)
            before = twin.seen()
            twin.run(GOAL)
            self._known[stream, visits, ready] = before, twin.seen()
        return self._known[stream, visits, ready]


class EngineTwin:
    def __init__(self, game: Any, evaluator: Any, config: ab.SearchConfig, stream: int) -> None:
        self.searcher = ab.Searcher(game, evaluator, config, threads=1)
        self.root = self.searcher.root(game.start(), stream=stream)

    def run(self, visits: int) -> None:
        self.searcher.run(self.root, visits=visits)

    def seen(self) -> Any:
        return snapshot(self.root)


def spelled(reference: ab.Reference) -> list[Any]:
    """Everything a reference's graph holds, marks of visits in flight too."""
    numbers = {node: number for number, node in enumerate(reference.graph.nodes)}
    nodes: list[Any] = []
    for node in reference.graph.nodes:
        edges = [
            [
                *(edge.move, edge.visits, edge.in_flight, edge.repeats, edge.frozen, edge.reward),
                None if edge.child is None else numbers[edge.child],
            ]
            for edge in node.edges.values()
        ]
        facts = [
            [numbers[parent] for parent in node.parents],
            [[list(row) for row in rows] for rows in (node.regrets, node.sums, node.current)],
            node.solved_at,
            node.key,
            node.visits,
            node.completed,
            node.passing,
            node.pending,
            node.evaluation and list(node.evaluation.values),
            list(node.priors),
        ]
        nodes.append([*facts, list(node.mean), node.exact and node.visits > 0, edges])
    index = sorted(numbers[node] for node in reference.graph.index.values())
    return [nodes, index, list(reference.graph.low), list(reference.graph.high)]


class ReferenceTwin:
    def __init__(self, game: Any, evaluator: Any, config: ab.SearchConfig, stream: int) -> None:
        self.reference = ab.Reference(game.start(), evaluator, config, stream=stream)

    def run(self, visits: int) -> None:
        self.reference.run(visits=visits)

    def seen(self) -> Any:
        return spelled(self.reference)


def assert_goes_on(searcher: ab.Searcher, roots: list[ab.Root], twins: Twins) -> None:
    """Nothing is in flight, every graph is an undisturbed search's after whole waves, and so is the next run's."""
    expected = []
    for root in roots:
        assert not root.native.in_flight
        root.graph.check()
        before, after = twins.at(root.stream, root.native.root_visits, root.native.ready)
        assert same_graph(snapshot(root), before)
        expected.append(after)
    searcher.run(roots, visits=GOAL)
    for root, after in zip(roots, expected, strict=True):
        assert same_graph(snapshot(root), after)


# Evaluators


@pytest.mark.parametrize("count", [1, 8])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_wave_whose_evaluator_fails_never_was(shape, count):
    """At every call the evaluator gets, for one root and for eight."""
    config = ab.SearchConfig(width=shape[0], depth=shape[1], chance=ab.Chance(exact_up_to=2))
    game, evaluate = Round(), ByKey()
    twins = Twins(lambda stream: EngineTwin(game, hashing, config, stream))
    for number, (accident, (_, kind, message)) in enumerate(ACCIDENTS.items()):
        early = (1, 2, 5) if count == 1 else (3,)
        for at in range(1, 100, 1 if count == 1 else 6) if number == SHAPES.index(shape) % 3 else early:
            searcher = ab.Searcher(game, evaluate, config, threads=1)
            roots = [searcher.root(game.start()) for _ in range(count)]
            evaluate.prepare(accident, at)
            error = raised_by(searcher.run, roots, visits=GOAL)
            if error is None:
                assert at > evaluate.calls, "no accident goes unnoticed"
                break
            assert type(error) is kind
            assert re.search(message, str(error)), str(error)
            noted(error)
            evaluate.prepare("", 0)
            assert_goes_on(searcher, roots, twins)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_reference_forgets_a_wave_whose_evaluator_fails(shape):
    config = ab.SearchConfig(width=shape[0], depth=shape[1], chance=ab.Chance(exact_up_to=2))
    game, evaluate = Round().interpreted(), ByKey()
    twins = Twins(lambda stream: ReferenceTwin(game, hashing, config, stream))
    for at in (1, 2, 3, 6, 9):
        accident = list(ACCIDENTS)[at % len(ACCIDENTS)]
        reference = ab.Reference(game.start(), evaluate, config)
        evaluate.prepare(accident, at)
        error = raised_by(reference.run, visits=GOAL)
        if error is None:
            assert at > evaluate.calls
            break
        assert type(error) is ACCIDENTS[accident][1]
        evaluate.prepare("", 0)
        reference.graph.check()
        before, after = twins.at(0, reference.root_visits)
        assert spelled(reference) == before
        reference.run(visits=GOAL)
        assert spelled(reference) == after


@pytest.mark.parametrize("seed", range(8))
def test_a_wave_that_gave_frozen_outcomes_a_child_never_was(seed):
    """Widening, waves behind waves: what an older wave froze may have got a child from the one that fails."""
    game = RandomGame(seed, players=2, layers=6, width=3, chance=0.6).interpreted()
    config = ab.SearchConfig(width=3, depth=3, chance=ab.Chance(widen=0.6), seed=seed)
    evaluator = ByKey()
    engines = Twins(functools.partial(EngineTwin, game, hashing, config))
    references = Twins(functools.partial(ReferenceTwin, game, hashing, config))
    for at in range(2, 11):
        evaluator.prepare("raises", at)
        searcher = ab.Searcher(game, evaluator, config, threads=1)
        root = searcher.root(game.start(), stream=0)
        if raised_by(searcher.run, root, visits=GOAL) is None:
            break
        assert_goes_on(searcher, [root], engines)
        evaluator.prepare("raises", at)
        reference = ab.Reference(game.start(), evaluator, config)
        assert raised_by(reference.run, visits=GOAL) is not None
        assert spelled(reference) == references.at(0, reference.root_visits)[0], at


def test_an_evaluator_may_fail_while_roots_go_on():
    """With two waves in flight it fails on its own thread, in the middle of a verb: its own exception comes out."""
    armed, asked, walking = threading.Event(), threading.Event(), threading.Event()

    class Waiting(Rounds):
        def step(self, state: Any, actions: Any) -> Any:
            if armed.is_set() and not walking.is_set() and asked.wait(0.02):
                walking.set()
                time.sleep(0.1)  # let the evaluator fail meanwhile
            return super().step(state, actions)

    def think(batch: Any) -> Any:
        if armed.is_set() and threading.current_thread() is not threading.main_thread():
            asked.set()
            walking.wait(1.0)
            raise ValueError("the network is gone")
        return hashing(batch)

    game, config = Waiting(Trouble()), ab.SearchConfig(width=2, depth=2)
    searcher = ab.Searcher(game, think, config)
    root = searcher.root(game.start())
    searcher.run(root, visits=6)
    armed.set()
    error = raised_by(searcher.run, root, visits=GOAL)
    armed.clear()
    assert type(error) is ValueError
    assert walking.is_set()
    assert error.__context__ is None
    noted(error)
    assert root.native.root_visits == 6
    twin = EngineTwin(game, think, config, 0)
    for visits in (6, GOAL):
        twin.run(visits)
        searcher.run(root, visits=visits)
        assert same_graph(snapshot(root), twin.seen())


# Verbs of games

SETTINGS: dict[str, dict[str, Any]] = {
    "spread": {},
    "exact": {"chance": ab.Chance(exact_up_to=2), "transposition": ab.Transposition(on_visit="stop")},
    "widen": {"chance": ab.Chance(draws=2, widen=1.0), "max_nodes": 40},
}


class Dice(Rounds):
    """Two dice before each bid: chance after chance, so that enumerating one means visits inside a visit."""

    def turn(self, state: Any) -> int:
        self.trouble("turn")
        _, played, _, phase, _ = state
        if played == 2:
            return ab.OVER
        return ab.CHANCE if phase in (0, 3) else 3 if phase == 1 else ab.player(played % 2)

    def step(self, state: Any, actions: Any) -> Any:
        lead, played, prize, phase, last = state
        if phase == 0:
            self.trouble("step")
            return (lead, played, actions[0], 3, last), (0.0, 0.25)
        if phase == 3:
            self.trouble("step")
            return (lead, played, prize * 3 + actions[0], 1, last), (0.0, 0.0)
        following, (paid, _) = super().step(state, actions)
        return following, (paid / 4.0, -paid / 4.0)

    def bounds(self, state: Any) -> Any:
        self.trouble("bounds")
        return (-64.0, -64.0), (64.0, 64.0)


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("verb", VERBS)
def test_a_wave_in_which_a_verb_fails_never_was(verb, settings):
    """Verbs of a game whose dice follow dice, called for paths, for answers and for visits inside visits."""
    failures = 0
    for first, width, depth, evaluator in ((1, 4, 1, hashing), (3, 16, 1, ab.Hashing()), (2, 3, 2, hashing)):
        config = ab.SearchConfig(width=width, depth=depth, **SETTINGS[settings])
        trouble = Trouble()
        game = Dice(trouble)
        twins = Twins(functools.partial(EngineTwin, game, evaluator, config))
        for at in (first, 4 * first, 14 * first, 33 * first, 77 * first):
            searcher = ab.Searcher(game, evaluator, config, threads=1)
            roots = [searcher.root(game.start()) for _ in range(2)]
            trouble.arm(verb, at, KeyboardInterrupt if at % 3 == 0 else ValueError)
            error = raised_by(searcher.run, roots, visits=GOAL)
            trouble.disarm()
            if error is None:
                break  # the whole search takes fewer calls
            failures += 1
            assert [error] == trouble.raised, "the very exception"
            assert error.__context__ is None
            noted(error)
            assert_goes_on(searcher, roots, twins)
    assert failures >= 3 or verb == "draw", failures


@pytest.mark.parametrize("settings", SETTINGS)
def test_the_reference_forgets_a_wave_in_which_a_verb_fails(settings):
    for verb in VERBS:
        width, depth = ((4, 1), (3, 2))[VERBS.index(verb) % 2]
        config = ab.SearchConfig(width=width, depth=depth, **SETTINGS[settings])
        trouble = Trouble()
        game = Dice(trouble)
        twins = Twins(functools.partial(ReferenceTwin, game, hashing, config))
        for at in (7, 60):
            reference = ab.Reference(game.start(), hashing, config)
            trouble.arm(verb, at, KeyboardInterrupt if at % 3 == 0 else ValueError)
            error = raised_by(reference.run, visits=GOAL)
            trouble.disarm()
            if error is None:
                break
            assert [error] == trouble.raised
            reference.graph.check()
            before, after = twins.at(0, reference.root_visits)
            assert spelled(reference) == before
            reference.run(visits=GOAL)
            assert spelled(reference) == after


def test_every_turn_of_states_without_nodes_may_fail():
    """A graph that is full asks about states it has no nodes for; their verbs fail like any other's."""
    config, trouble = ab.SearchConfig(width=4, max_nodes=10), Trouble()
    game = Dice(trouble)
    twins = Twins(lambda stream: EngineTwin(game, hashing, config, stream))
    for at in range(1, 300):
        searcher = ab.Searcher(game, hashing, config, threads=1)
        root = searcher.root(game.start())
        trouble.arm("turn", at)
        error = raised_by(searcher.run, root, visits=GOAL)
        trouble.disarm()
        if error is None:
            break
        assert [error] == trouble.raised
        noted(error)
        assert_goes_on(searcher, [root], twins)
    assert at > 20


@pytest.mark.parametrize("keep", ["graph", "evaluations", "nothing"])
def test_a_verb_that_fails_while_the_root_moves_on(keep):
    """The root stays where it was, with all that was found, and may move on the next time."""
    for verb in VERBS:
        for at in (1, 2, 8):
            trouble = Trouble()
            game = Rounds(trouble)
            state, config = game.start().step(1)[0], ab.SearchConfig(width=4, noise=ab.RootNoise())
            searcher = ab.Searcher(game, hashing, config, threads=1)
            root, reference = searcher.root(state), ab.Reference(state, hashing, config)
            searcher.run(root, visits=4)
            reference.run(visits=4)
            for moved, look in ((reference, lambda r=reference: spelled(r)), (root, lambda r=root: snapshot(r))):
                before = look()
                trouble.arm(verb, at)
                error = raised_by(moved.advance, (1, 0), keep=keep)
                trouble.disarm()
                if error is not None:
                    assert [error] == trouble.raised
                    assert (moved.root_number, moved.state) == (0, state)
                    assert moved is reference or root.native.nodes > 0
                    assert look() == before
                    moved.advance((1, 0), keep=keep)
            (result,) = searcher.run(root, visits=8)
            expected = reference.run(visits=8)
            assert result.visits.tolist() == expected.visits.tolist()
            assert result.value.tolist() == expected.value.tolist()


@pytest.mark.parametrize("kind", ["verb", "answer", "two in flight", "advance"])
def test_ten_thousand_dropped_waves_leak_nothing(kind):
    """Waves of four that fail deep in the line, or whose answer is refused; and moves that nobody can make."""
    trouble = Trouble()

    class Short(Rounds):
        def turn(self, state: Any) -> int:
            if state[1] == 1 and trouble.verb == "deep":
                raise ValueError("too deep")
            return super().turn(state)

    def evaluate(batch: Any) -> Any:
        return None, np.full((len(batch), 2), np.nan if trouble.verb == "nan" else 0.5)

    game = Short(trouble)
    config = ab.SearchConfig(width=4, depth=1 + (kind == "two in flight"), chance=ab.Chance(exact_up_to=2))
    searcher = ab.Searcher(game, ab.Hashing() if kind == "verb" else evaluate, config, threads=1)
    root = searcher.root(game.start())
    searcher.run(root, simulations=3)
    trouble.verb = "deep" if kind == "verb" else "nan"

    def fail(times: int) -> None:
        for _ in range(times):
            if kind == "advance":
                assert isinstance(raised_by(root.advance, 7), IllegalActionError)
            else:
                assert isinstance(raised_by(searcher.run, root, simulations=8), (ValueError, EvaluatorError))

    times = 1_500 if kind == "two in flight" else 10_000  # a thread is made each time
    fail(500)
    gc.collect()
    held, memory, visits = root.graph.bytes, resident(), root.native.root_visits
    fail(times - 500)
    gc.collect()
    assert (root.native.root_visits, root.graph.bytes) == (visits, held)
    assert resident() - memory < 3_000_000


@pytest.mark.parametrize("config", [ab.SearchConfig(max_nodes=1), ab.SearchConfig(width=4, max_nodes=1)])
def test_dice_that_lead_to_dice_for_ever_are_stopped(config):
    """Where there is no node for what comes after a move, the walk to a state that can be evaluated has an end."""
    wheel = chance((1.0, "wheel", [0.0]))
    table_of = table(1, "R", R=decision(0, [0.0], ("wheel", [0.0]), ("end", [1.0])), wheel=wheel, end=OVER)
    game = Explicit(table_of, cycles="bootstrap")
    with pytest.raises(CycleError, match="for ever"):
        ab.Reference(game.start(), ab.Uniform(), config).run(simulations=10)
    with pytest.raises(CycleError, match="for ever"):
        ab.search(game.start(), simulations=10, evaluator=ab.Uniform(), config=config)


@pytest.mark.parametrize(("width", "depth"), [(1, 1), (64, 1), (64, 8)])
def test_bytes_in_flight_count_towards_the_limit(width, depth):
    """Answers on their way take memory too, most of all where there are many choices."""
    game, limit = ab.games.load("n_in_a_row", size=15, line=5), 1_000_000
    config = ab.SearchConfig(width=width, depth=depth, max_bytes=limit)
    searcher = ab.Searcher(game, ab.Hashing(), config, threads=1)
    (result,) = searcher.run(searcher.root(game.start()), simulations=3000)
    assert result.simulations == 3000
    assert result.graph.limited
    assert result.graph.bytes <= 1.05 * limit
