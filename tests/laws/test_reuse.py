"""Laws of moving on: what stays of a search, and what the root is given anew (docs/model.md section 8)."""

from __future__ import annotations

import json
import math
import pickle
from collections import Counter
from typing import Any

import numpy as np
import pytest
from tests.faults import Rounds, Trouble
from tests.laws.test_waves import GAMES, evaluate
from tests.test_searcher import same_graph, snapshot

import anabranch as ab
from anabranch.errors import AnabranchError, UsageError
from anabranch.game.words import acting
from anabranch.search.maths.draws import Draws
from anabranch.search.maths.policies import forced_visits
from anabranch.search.maths.root_rule import noised_priors


def evaluate_objects(batch: Any) -> tuple[Any, Any]:
    """The same for states that are tuples of numbers, by what their key holds: equal keys have equal evaluations."""
    words = np.array([[(3 * n + 1) * x for n, x in enumerate(state.data[:4])] for state in batch.states]).sum(1)
    angles = words[:, None] + np.arange(batch.game.players * (batch.game.actions + 1))
    table = np.sin(angles.astype(np.float64))
    values, logits = table[:, : batch.game.players], table[:, batch.game.players :]
    return logits.reshape(len(batch), batch.game.players, -1), values


class Counting:
    """An evaluator that counts the rows it is asked about."""

    def __init__(self, evaluator: Any = evaluate) -> None:
        self.evaluator, self.rows = evaluator, 0

    def evaluate(self, batch: Any) -> tuple[Any, Any]:
        self.rows += len(batch)
        answer: tuple[Any, Any] = self.evaluator(batch)
        return answer


def an_action(state: ab.State, dice: np.random.Generator) -> Any:
    if state.turn == ab.CHANCE:
        return state.draw(int(dice.integers(2**31)))
    assert isinstance(state.turn, tuple)
    chosen = tuple(int(dice.choice(state.legal(seat))) for seat in state.turn)
    return chosen[0] if len(chosen) == 1 else chosen


def below(graph: Any, number: int) -> list[Any]:
    """Return all that can be reached from a node: kind, visits and value of each, its edges and where they lead."""
    numbers, found = {number: 0}, []
    waiting = [number]
    while waiting:
        view = graph.node(waiting.pop())
        edges = []
        for edge in view.edges:
            if edge.child is not None and edge.child not in numbers:
                numbers[edge.child] = len(numbers)
                waiting.append(edge.child)
            edges.append((edge.action, edge.visits, edge.value.tolist(), numbers.get(edge.child)))
        found.append((view.state, view.kind, view.visits, view.value.tolist(), edges))
    return found


# Evaluations


@pytest.mark.parametrize("width", [1, 6])
@pytest.mark.parametrize("name", [*GAMES, "objects"])
def test_kept_evaluations_are_a_perfect_cache(name, width):
    """Over whole games, visit for visit; and the evaluator is asked about fewer states than by who keeps nothing."""
    game: Any = Rounds(Trouble()) if name == "objects" else GAMES[name]()
    config = ab.SearchConfig(width=width, depth=1 + width // 6, noise=ab.RootNoise(), seed=width)
    think = evaluate_objects if name == "objects" else evaluate
    kept, forgotten = Counting(think), Counting(think)
    one = ab.Searcher(game, kept, config, threads=1)
    other = ab.Searcher(game, ab.Cached(think), config, threads=1)
    plain = ab.Searcher(game, forgotten, config, threads=1)
    mine, cached, bare = (searcher.root(game.start()) for searcher in (one, other, plain))
    dice = np.random.default_rng(width)
    while not mine.state.over:
        one.run(mine, simulations=24)
        other.run(cached, simulations=24)
        plain.run(bare, simulations=24)
        assert same_graph(snapshot(mine), snapshot(cached))
        assert same_graph(snapshot(mine), snapshot(bare)), "the evaluator says the same anyway"
        mine.graph.check()
        action = an_action(mine.state, dice)
        mine.advance(action, keep="evaluations")
        cached.advance(action, keep="nothing")
        bare.advance(action, keep="nothing")
        assert len(mine.graph) == 1, "visits are forgotten"
        assert mine.root_number == cached.root_number
    assert kept.rows < forgotten.rows


def test_the_references_kept_evaluations_are_a_perfect_cache():
    whole: Any = GAMES["goofspiel"]()
    game = whole.interpreted()
    config = ab.SearchConfig(width=4, chance=ab.Chance(exact_up_to=3))
    kept, forgotten = Counting(), Counting()
    mine, bare = ab.Reference(game.start(), kept, config), ab.Reference(game.start(), forgotten, config)
    dice = np.random.default_rng(1)
    while not mine.state.over:
        one, other = mine.run(simulations=20), bare.run(simulations=20)
        assert one.visits.tolist() == other.visits.tolist()
        assert one.value.tolist() == other.value.tolist()
        action = an_action(mine.state, dice)
        mine.advance(action, keep="evaluations")
        bare.advance(action, keep="nothing")
    assert kept.rows < forgotten.rows


# The graph


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("name", [*GAMES, "objects", "pyrat"])
def test_a_kept_graph_is_what_was_below(name, merge):
    """Values, visits and edges of all that can be reached, and nothing else, move after move to the end of the game."""
    game: Any = {
        "objects": lambda: Rounds(Trouble()),
        "pyrat": lambda: ab.games.load("pyrat", preset="open5"),
        **GAMES,
    }[name]()
    config = ab.SearchConfig(width=3, transposition=ab.Transposition(merge=merge))
    searcher = ab.Searcher(game, evaluate, config, threads=1)
    root = searcher.root(game.start())
    dice = np.random.default_rng(7)
    known = 0
    for move in range(1, 8):
        searcher.run(root, simulations=40)
        action = an_action(root.state, dice)
        graph, following = root.graph, root.state.step(action)[0]
        taken = stands_for(root.state, action)
        numbers = [e.child for e in graph.node(0).edges if e.child is not None and e.action == taken]
        expected, held = below(graph, numbers[0]) if numbers else [], graph.bytes
        root.advance(action, keep="graph")
        root.graph.check()
        assert (root.root_number, root.state) == (move, following)
        assert root.graph.node(0).state.key == following.key
        if numbers:
            known += 1
            assert below(root.graph, 0) == expected
        assert len(root.graph) == max(1, len(expected)), "the rest is freed"
        assert root.graph.bytes <= held
        if root.state.over:
            break
    assert known > 1


def stands_for(state: ab.State, action: Any) -> Any:
    """Return the move an action is kept under: the first of the ids that do the same, for each acting player."""
    if state.turn == ab.CHANCE:
        return action
    assert isinstance(state.turn, tuple)
    given = action if isinstance(action, tuple) else (action,)
    chosen = [
        next(first for first, ids in state.choices(seat).items() if each in ids)
        for seat, each in zip(state.turn, given, strict=True)
    ]
    return tuple(chosen) if len(chosen) > 1 else chosen[0]


def test_a_search_goes_on_with_what_it_kept():
    """After k visits kept, n more simulations make k + n; the kept part was not searched in vain."""
    game = GAMES["connect_four"]()
    kept, forgotten = Counting(), Counting()
    for counting, keep in ((kept, "graph"), (forgotten, "nothing")):
        searcher = ab.Searcher(game, counting, threads=1)
        root = searcher.root(game.start())
        (result,) = searcher.run(root, simulations=300)
        visited = int(result.visits[0].max())
        root.advance(result.action, keep=keep)  # type: ignore[arg-type]
        before = root.native.root_visits
        assert before == (visited - 1 if keep == "graph" else 0)
        (result,) = searcher.run(root, visits=300)
        assert (result.simulations, result.visits.sum()) == (300 - before, 300)
    assert kept.rows < forgotten.rows


def test_moves_by_another_name():
    """In PyRat a move into a wall is the same as staying: the root moves on along the edge that both share."""
    game = ab.games.load("pyrat", preset="open5")
    state = game.start()
    searcher = ab.Searcher(game, evaluate, ab.SearchConfig(width=4), threads=1)
    named = [[(a, ids[0]) for ids in state.choices(seat).values() for a in ids[1:]] for seat in (0, 1)]
    assert all(named), "a corner has walls"
    for (one, stands), (two, stands_two) in zip(*named, strict=False):
        roots = [searcher.root(state, stream=0) for _ in range(2)]
        searcher.run(roots, simulations=200)
        roots[0].advance((one, two))
        roots[1].advance((stands, stands_two))
        assert len(roots[0].graph) > 1
        assert same_graph(snapshot(roots[0]), snapshot(roots[1]))
        reference = ab.Reference(state, evaluate, ab.SearchConfig(width=4))
        reference.run(simulations=200)
        reference.advance((one, two))
        assert len(reference.graph) == len(roots[0].graph)


@pytest.mark.parametrize("keep", ["graph", "evaluations", "nothing"])
def test_to_states_nobody_visited_and_to_the_end(keep):
    """Without a single simulation, through chance, joint choices and single ones, until the game is over."""
    for game in (GAMES["pig"](), GAMES["goofspiel"](), Rounds(Trouble())):
        searcher = ab.Searcher(game, evaluate, threads=1)
        root = searcher.root(game.start())
        dice = np.random.default_rng(3)
        moves = 0
        while not root.state.over:
            action = an_action(root.state, dice)
            expected = root.state.step(action)[0]
            root.advance(action, keep=keep)
            moves += 1
            assert root.state == expected
            assert (len(root.graph), root.root_number) == (1, moves)
            root.graph.check()
        (result,) = searcher.run(root, simulations=10)
        assert (result.simulations, result.value.tolist(), result.action) == (0, [0.0] * game.players, None)
        with pytest.raises(AnabranchError, match="over"):
            root.advance(0, keep=keep)


def test_moves_nobody_may_make():
    """They raise, and nothing has changed: not the root's number, not its noise, not what is kept of it."""
    for game, wrong in (
        (GAMES["connect_four"](), [7, -1, (0, 1), "d", None]),
        (GAMES["goofspiel"](), [0, (0,), (0, 99), (0, 0, 0)]),
        (Rounds(Trouble()), [0, 3, (1, 1, 1)]),
    ):
        config = ab.SearchConfig(width=3, noise=ab.RootNoise())
        searcher = ab.Searcher(game, evaluate, config, threads=1)
        root, reference = searcher.root(game.start()), ab.Reference(game.start(), evaluate, config)
        searcher.run(root, simulations=20)
        reference.run(simulations=20)
        before, priors = snapshot(root), root.result.prior.tolist()
        for action in wrong:
            for moved in (root, reference):
                with pytest.raises((AnabranchError, TypeError)):
                    moved.advance(action)  # type: ignore[arg-type]
        with pytest.raises(AnabranchError, match="keep"):
            root.advance(1, keep="tree")  # type: ignore[arg-type]
        assert same_graph(snapshot(root), before)
        assert (root.root_number, root.state, root.result.prior.tolist()) == (0, game.start(), priors)
        (result,) = searcher.run(root, simulations=20)
        assert result.visits.tolist() == reference.run(simulations=20).visits.tolist()


def test_a_root_does_not_move_while_it_is_searched():
    game = GAMES["connect_four"]()
    errors: list[str] = []

    def meddle(batch: Any) -> Any:
        try:
            root.advance(3)
        except UsageError as error:
            errors.append(str(error))
        return evaluate(batch)

    searcher = ab.Searcher(game, meddle, ab.SearchConfig(width=4, depth=2))
    root = searcher.root(game.start())
    searcher.run(root, simulations=12)
    assert errors
    assert all("being searched" in error for error in errors)
    assert (root.root_number, root.native.root_visits) == (0, 12)


# Noise


def test_noise_is_a_function_of_seed_stream_and_root_number():
    """256 roots with one seed have noise of their own, other at every root number, and the same when done again."""
    game = GAMES["connect_four"]()

    def priors(seed: int) -> list[Any]:
        searcher = ab.Searcher(game, evaluate, ab.SearchConfig(noise=ab.RootNoise(), seed=seed), threads=2)
        roots = [searcher.root(game.start()) for _ in range(256)]
        rows = []
        for _ in range(3):
            rows.append(
                [
                    tuple(result.prior[acting(result.state.turn_bits)[0]])
                    for result in searcher.run(roots, simulations=2)
                ]
            )
            for root in roots:
                root.advance(3)
        return rows

    first = priors(1)
    assert all(len(set(row)) == 256 for row in first)
    assert priors(1) == first
    assert not set(priors(2)[0]) & set(first[0])
    # At other root numbers of the same position the noise differs too: the same state, reached by no moves and by two.
    draws = [Draws(1, 0, number) for number in (0, 1, 2)]
    noised = [noised_priors([[0.25] * 4], (0,), ab.RootNoise(), d, 99)[0] for d in draws]
    assert len({tuple(row) for row in noised}) == 3


def test_more_of_the_same_search_keeps_its_noise():
    """Noise is drawn once for a root number, however often the root is run; and by hand it is (1 - x)·P + x·Dir."""
    game = GAMES["goofspiel"]()
    searcher = ab.Searcher(game, evaluate, ab.SearchConfig(noise=ab.RootNoise(weight=0.5), seed=4), threads=1)
    quiet = ab.Searcher(game, evaluate, ab.SearchConfig(seed=4), threads=1)
    state = game.start()
    while state.turn == ab.CHANCE:
        state = state.step(state.outcomes()[0][0])[0]
    root, clean = searcher.root(state), quiet.root(state)
    (first,), (second,) = searcher.run(root, simulations=5), searcher.run(root, simulations=50)
    assert first.prior.tolist() == second.prior.tolist()
    quiet.run(clean, simulations=5)
    key, seats = int(clean.graph.columns["key"][0]), acting(state.turn_bits)
    ids = [list(state.choices(seat)) for seat in seats]
    priors = [clean.result.prior[seat, of].tolist() for seat, of in zip(seats, ids, strict=True)]
    by_hand = noised_priors(priors, seats, ab.RootNoise(weight=0.5), Draws(4, 0, 0), key)
    assert [root.result.prior[seat, of].tolist() for seat, of in zip(seats, ids, strict=True)] == by_hand
    assert by_hand[0] != by_hand[1], "each player has noise of its own"


def test_who_does_not_explore_has_neither_noise_nor_forced_visits():
    game = GAMES["connect_four"]()
    plain = ab.Searcher(game, evaluate, ab.SearchConfig(), threads=1)
    loud = ab.Searcher(game, evaluate, ab.SearchConfig(noise=ab.RootNoise(), forced=ab.ForcedPlayouts()), threads=1)
    (expected,) = plain.run(plain.root(game.start()), simulations=100)
    root = loud.root(game.start())
    root.explores = False
    (result,) = loud.run(root, simulations=100)
    assert result.prior.tolist() == expected.prior.tolist()
    assert result.visits.tolist() == expected.visits.tolist()
    (result,) = loud.run(loud.root(game.start()), simulations=100)
    assert result.prior.tolist() != expected.prior.tolist()


class Roundabout(ab.ObjectGame):
    """Three places in a circle: walk on, or stay and be paid a little. Every root can be reached again."""

    def __init__(self) -> None:
        self.players, self.actions, self.outcomes = 1, 3, 0
        self.returns, self.rewards_along, self.cycles = (-1.0, 1.0), True, "bootstrap"

    def setup(self, random: ab.Random) -> Any:
        return 0

    def turn(self, state: Any) -> int:
        return ab.OVER if state == 9 else ab.player(0)

    def legal(self, state: Any, player: int) -> list[int]:
        return [0, 1, 2]

    def step(self, state: Any, actions: Any) -> Any:
        return [(state + 1) % 3, (state + 2) % 3, 9][actions[0]], [(0.0,), (0.0,), (0.1 * state,)][actions[0]]


@pytest.mark.parametrize("engine", [True, False], ids=["engine", "reference"])
def test_clean_priors_return_when_the_root_moves_on(engine):
    """A root that can still be reached gets its own priors back, and other noise if it becomes the root again."""
    game = Roundabout()
    noise, none = (ab.SearchConfig(noise=ab.RootNoise(weight=w), seed=3) for w in (0.9, 0.0))

    def around(config: ab.SearchConfig, simulations: int) -> tuple[Any, Any]:
        """Return the priors of the same state as the root, before and after a walk around, and searched in between."""
        root: Any
        if engine:
            searcher = ab.Searcher(game, evaluate, config, threads=1)
            root = searcher.root(game.start())
            results = [searcher.run(root, simulations=30)[0]]
        else:
            root = ab.Reference(game.start(), evaluate, config)
            results = [root.run(simulations=30)]
        nodes = len(root.graph)
        for _ in range(3):
            root.advance(0)
            assert len(root.graph) == nodes, "the old root is still there"
            if simulations:
                (searcher.run(root, simulations=simulations) if engine else root.run(simulations=simulations))
        root.explores = False
        results.append(searcher.run(root, simulations=0)[0] if engine else root.run(simulations=0))
        return tuple(result.prior.tolist() for result in results)

    clean, again = around(none, 0)
    assert clean == again
    noised, returned = around(noise, 0)
    assert noised != clean
    assert returned == clean


# Forced playouts, and the cap


@pytest.mark.parametrize("name", ["connect_four", "three in a row"])
def test_forced_playouts(name):
    """While a choice once tried has fewer than √(k·P·ΣN) visits, one of those is visited next; so few stay behind."""
    game = GAMES[name]()
    for k in (0.5, 2.0, 8.0):
        config = ab.SearchConfig(forced=ab.ForcedPlayouts(k=k), noise=ab.RootNoise(), seed=int(8 * k))
        searcher = ab.Searcher(game, evaluate, config, threads=1)
        root = searcher.root(game.start())
        (result,) = searcher.run(root, visits=0)
        legal, forced = result.state.legal(0), 0
        for total in range(300):
            before, prior = result.visits[0, legal], result.prior[0, legal].tolist()
            least = forced_visits(prior, float(total), k)
            behind = [at for at, n in enumerate(before) if 0 < n < least[at]]
            (result,) = searcher.run(root, simulations=1)
            (chosen,) = np.flatnonzero(result.visits[0, legal] - before)
            if behind:
                forced += 1
                assert chosen in behind
        assert forced > 3
        if k <= 2.0:  # nothing new was tried for long
            least = forced_visits(prior, 300.0, k)
            assert all(n == 0 or n >= least[at] - 1.0 for at, n in enumerate(result.visits[0, legal]))
        plain = ab.Searcher(game, evaluate, ab.SearchConfig(noise=ab.RootNoise(), seed=int(8 * k)), threads=1)
        (free,) = plain.run(plain.root(game.start()), visits=300)
        assert free.prior.tolist() == result.prior.tolist()
        assert free.visits.tolist() != result.visits.tolist()


def test_the_playout_cap_decides_by_seed_stream_and_root_number():
    """Full searches come with their chance, explore, and are the same when done again; fast ones have clean priors."""
    game = GAMES["connect_four"]()
    config = ab.SearchConfig(cap=ab.PlayoutCap(full=6, fast=2, chance=0.25), noise=ab.RootNoise(), seed=9)

    def played() -> list[Any]:
        searcher = ab.Searcher(game, evaluate, config, threads=2)
        roots = [searcher.root(game.start()) for _ in range(300)]
        rows = []
        for _ in range(2):
            results = searcher.run(roots)
            rows += [(r.simulations, r.full, root.native.noised) for r, root in zip(results, roots, strict=True)]
            for root in roots:
                root.advance(3, keep="nothing")
        return rows

    rows = played()
    assert rows == played()
    counts = Counter(rows)
    assert set(counts) == {(6, True, True), (2, False, False)}
    full = counts[6, True, True]
    assert abs(full - 150) < 4.0 * math.sqrt(600 * 0.25 * 0.75)
    assert rows[:300] != rows[300:], "each move is decided anew"


def test_results_say_whether_a_capped_search_was_full():
    """In the table, in JSON and elsewhere; the cap is of one move, and a budget of the caller's is no cap."""
    game = GAMES["connect_four"]()
    config = ab.SearchConfig(cap=ab.PlayoutCap(full=6, fast=2, chance=0.0), noise=ab.RootNoise())
    searcher = ab.Searcher(game, evaluate, config, threads=1)
    root = searcher.root(game.start())
    (result,) = searcher.run(root)
    assert not result.full
    assert "2 simulations, 3 nodes, a fast search" in str(result)
    assert json.loads(result.to_json())["full"] is False
    assert pickle.loads(pickle.dumps(result)).full is False
    root.advance(3)
    (result,) = searcher.run(root, simulations=4)
    assert result.full
    assert "a full search" in str(result)
    assert root.native.noised
    plain = ab.search(game.start(), simulations=4, evaluator=evaluate)
    assert plain.full
    assert "full" not in str(plain)
    reference = ab.Reference(game.start(), evaluate, config)
    reference.explores = False
    assert not reference.run(simulations=2).full
    reference.advance(3)
    assert reference.run(simulations=2).full


@pytest.mark.parametrize("name", ["goofspiel", "pig"])
def test_moving_on_returns_what_the_step_paid(name):
    """Law: moving on pays what the step pays, whichever search plays."""
    game = GAMES[name]()
    searcher = ab.Searcher(game, ab.Uniform(), threads=1)
    for root in (searcher.root(game.start()), ab.Reference(game.start(), ab.Uniform())):
        state, random = game.start(), ab.Random(1)
        for _ in range(20):
            if state.over:
                break
            seats = acting(state.turn_bits)
            action = [state.legal(seat)[0] for seat in seats] or state.sample(random)
            state, rewards = state.step(action)
            paid = root.advance(action, keep="nothing")
            assert paid.tolist() == rewards.tolist()
        assert root.state == state


def test_a_root_is_shown_in_a_line():
    game = GAMES["connect_four"]()
    searcher = ab.Searcher(game, ab.Uniform(), threads=1)
    root = searcher.root(game.start())
    searcher.run(root, simulations=1)
    assert repr(root) == "<Root of connect_four, x to move: 1 visit, 2 nodes>"


def test_a_graph_whose_root_moved_on_says_so():
    """A result stays what it was and can be printed; what was only in the graph is gone with it."""
    game = GAMES["connect_four"]()
    searcher = ab.Searcher(game, evaluate, threads=1)
    root = searcher.root(game.start())
    (result,) = searcher.run(root, simulations=30)
    visits, action = result.visits.tolist(), result.action
    assert action is not None
    root.advance(action)
    assert result.visits.tolist() == visits
    assert "moved on" in str(result)
    with pytest.raises(AnabranchError, match="moved on"):
        result.graph.node(0)
    assert len(root.graph) > 0
