"""What a search calls certain is true: intervals contain exact values, proven values are exact (docs/model.md, 14)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.parity.draw import AVERAGING, CHANCES, TRANSPOSITIONS, dice_of, one_of
from tests.tables import OVER, chance, decision, table

import anabranch as ab
from anabranch.games.explicit import Explicit
from anabranch.games.random_game import RandomGame
from anabranch.search.maths import proofs as rules
from anabranch.search.reference.proofs import Proofs

CLOSE = 1e-9
GAMES = 1000
CHUNK = 100


class Bounded(RandomGame):
    """A random game that also says what can still come: its `bounds` are true, some of them not tight."""

    title = "bounded_random_game"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        count, slack = len(self.turns), 0.25 * (options["seed"] % 3)
        self.lows, self.highs = np.zeros((count, self.players)), np.zeros((count, self.players))
        for _ in range(len(self.turns)):  # longer than any line
            for node in range(count):
                edges = range(self.first_edges[node], self.first_edges[node + 1])
                discount = 1.0 if self.turns[node] == ab.CHANCE else self.discount
                if edges:
                    paid, next_ = self.rewards[edges, : self.players], self.children[edges]
                    self.lows[node] = (paid + discount * self.lows[next_]).min(axis=0)
                    self.highs[node] = (paid + discount * self.highs[next_]).max(axis=0)
        inner = self.turns != ab.OVER
        self.lows[inner] -= slack
        self.highs[inner] += slack

    def bounds(self, state: Any, low: Any, high: Any) -> None:
        for player in range(self.players):
            low[player] = self.lows[state.node, player]
            high[player] = self.highs[state.node, player]


def mixed_case(seed: int) -> tuple[Any, ab.SearchConfig]:
    """Draw a game that has an exact value, and how to search it."""
    dice = dice_of(seed, "proofs")
    players = one_of([1, 2, 2, 2, 3], dice)
    zero_sum = players == 2 and dice.random() < 0.75
    loops, along, discount = one_of([0.0, 0.0, 0.3], dice), dice.random() < 0.6, one_of([1.0, 1.0, 0.9], dice)
    if players > 1 and not zero_sum:
        loops = 0.0  # where values depend on ties they may never settle
    if loops and along and discount == 1.0:
        discount = 0.9
    kind = Bounded if not loops and dice.random() < 0.3 else RandomGame
    game = kind(
        seed=seed,
        players=players,
        layers=4,
        width=3,
        zero_sum=zero_sum,
        loops=loops,
        simultaneous=0.4 if zero_sum else 0.0,
        chance=one_of([0.2, 0.4], dice),
        rewards_along=along,
        discount=discount,
    )
    config = ab.SearchConfig(
        proofs="on",
        chance=one_of(CHANCES, dice),
        transposition=one_of(TRANSPOSITIONS if not loops else TRANSPOSITIONS[:2], dice),
        refresh=one_of(["path", "path", "parents", "ancestors", "sweep"], dice),
        simultaneous=one_of([None, None, *AVERAGING], dice),
        width=one_of([1, 1, 1, 4], dice),
        max_nodes=one_of([None, None, None, 12], dice),
        seed=seed,
    )
    return game, config


def intervals_of(graph: Any) -> npt.NDArray[np.float64]:
    """Return what is certain of every node [nodes, P, 2]."""
    return np.array([graph.node(number).interval for number in range(len(graph))])


def check_nodes(graph: Any, solution: ab.Solution, counts: Counter[str]) -> None:
    """Assert that intervals contain exact values, and that proven values are exact."""
    for number in range(len(graph)):
        node = graph.node(number)
        exact, interval = solution.value_of(node.state), node.interval
        assert (interval[:, 0] <= exact + CLOSE).all(), (number, interval, exact)
        assert (exact <= interval[:, 1] + CLOSE).all(), (number, interval, exact)
        counts["nodes"] += 1
        if node.proven:
            counts["proven"] += node.kind != "over"
            assert np.abs(interval - exact[:, None]).max() <= CLOSE, (number, interval, exact)
            assert node.visits == 0 or np.abs(node.value - exact).max() <= CLOSE, (number, node.value, exact)


def loss_of(result: ab.Result, solution: ab.Solution) -> float:
    """Return what the players who act could have gained by other policies than those of a result, at most."""
    state = result.state
    assert isinstance(state.turn, tuple)
    if len(state.turn) == 1:
        (seat,) = state.turn
        worth = solution.action_values_of(state)[seat]
        return float(np.nanmax(worth) - worth[result.action])
    rows, columns = (list(state.choices(seat)) for seat in (0, 1))
    cells = np.zeros((len(rows), len(columns)))
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            following, rewards = state.step((row, column))
            cells[i, j] = rewards[0] + state.game.discount * solution.value_of(following)[0]
    mine, theirs = result.policy[0, rows], result.policy[1, columns]
    return max(float((cells @ theirs).max() - (mine @ cells).min()), 0.0)


@pytest.mark.parametrize("chunk", [range(first, first + CHUNK) for first in range(0, GAMES, CHUNK)], ids=str)
def test_what_is_certain_is_true(chunk):
    """Of every node at every time; and a proven root ends the search with a best choice."""
    counts: Counter[str] = Counter()
    for seed in chunk:
        game, config = mixed_case(seed)
        solution = ab.solve(game, tolerance=1e-11)
        searcher = ab.Searcher(game, ab.Hashing(), config, threads=1)
        root, before = searcher.root(game.start()), np.zeros((0, game.players, 2))
        try:
            for budget in (10, 30, 100, 300):
                (result,) = searcher.run(root, simulations=budget)
                result.graph.check()
                check_nodes(result.graph, solution, counts)
                now = intervals_of(result.graph)
                known = now[: len(before)]
                assert (known[..., 0] >= before[..., 0] - CLOSE).all(), "lower ends only rise"
                assert (known[..., 1] <= before[..., 1] + CLOSE).all(), "upper ends only fall"
                before = now
                assert result.proven == result.graph.node(0).proven
                assert result.proven or result.simulations == budget
                if result.proven and isinstance(result.state.turn, tuple):
                    counts["roots"] += 1
                    assert loss_of(result, solution) <= CLOSE
                    assert searcher.run(root, simulations=10)[0].simulations == 0
                    break
        except AssertionError as error:
            error.add_note(f"seed {seed}: {game}, {config}")
            raise
    assert counts["roots"] > 0.3 * len(chunk), counts
    assert counts["proven"] > 0.2 * counts["nodes"], counts


def certainly_worse(result: ab.Result) -> bool:
    """Whether another choice is certain to be better than the one that a result plays."""
    assert isinstance(result.state.turn, tuple)
    assert result.proof is not None
    (seat,) = result.state.turn
    known = result.proof.by_action
    sure = max((edge.interval[seat, 0] for edge in known.values()), default=-np.inf)
    return result.action in known and bool(known[result.action].interval[seat, 1] < sure)


def test_gumbel_plays_what_is_certain():
    """The winner of a run is a best choice of a proven root, and never certainly worse than another choice."""
    counts: Counter[str] = Counter()
    for seed in range(150):
        game, config = mixed_case(seed)
        config = replace(config, selector=ab.Gumbel(considered=4), simultaneous=None, proofs="on")
        state, solution = game.start(), ab.solve(game, tolerance=1e-11)
        if not isinstance(state.turn, tuple) or len(state.turn) > 1:
            continue
        for budget in (10, 100):
            result = ab.search(state, simulations=budget, evaluator=ab.Hashing(), config=config)
            if result.proof is None:
                continue
            counts["known"] += 1
            assert not certainly_worse(result), (seed, budget)
            if result.proven:
                counts["proven"] += 1
                assert loss_of(result, solution) <= CLOSE, (seed, budget)
    assert counts["known"] > 50
    assert counts["proven"] > 10


# The same laws notice when a rule is broken.


def broken(monkeypatch, seeds=120) -> int:
    """Return of how many games the reference calls something certain that is not, or plays on after a wrong proof."""
    wrong = 0
    for seed in range(seeds):
        game, config = mixed_case(seed)
        if game.cycles is not None:
            continue
        game = game.interpreted()
        solution = ab.solve(game)
        reference = ab.Reference(game.start(), ab.Hashing(), config)
        reference.run(simulations=60)
        try:
            check_nodes(reference.graph, solution, Counter())
        except AssertionError:
            wrong += 1
    return wrong


def test_nothing_is_wrong_with_the_rules_as_they_are(monkeypatch):
    assert broken(monkeypatch, 30) == 0


def test_outcomes_nobody_drew_must_count(monkeypatch):
    """Chance: an expectation over the outcomes drawn so far is not certain."""
    honest = rules.expectation
    monkeypatch.setattr(rules, "expectation", lambda known, rest, bounds: honest(known, None, bounds))
    assert broken(monkeypatch) > 5


def test_a_table_without_a_saddle_has_the_value_of_its_equilibrium(monkeypatch):
    """Simultaneous: what one can secure without mixing is not the value."""

    def pure(cells):
        low, _ = rules.in_pure_strategies(cells)
        return low, low

    monkeypatch.setattr(rules, "in_equilibrium", pure)
    assert broken(monkeypatch) > 3


def test_cells_nobody_visited_must_count(monkeypatch):
    """Simultaneous: a row is worth its worst cell, also where nobody went there yet."""
    honest = Proofs._table

    def visited(self, node):
        known = [edge for edge in node.edges.values() if self.knows(node, edge)]
        cells = honest(self, node)
        return (
            cells
            if not known
            else [[self.of_edge(known[0], 0) if c == node.limits[0] else c for c in r] for r in cells]
        )

    monkeypatch.setattr(Proofs, "_table", visited)
    assert broken(monkeypatch) > 3


# Repetitions that are worth a number


def worth_of(game: Any, name: str, above: frozenset[str]) -> npt.NDArray[np.float64]:
    """Return the exact value of a state reached through others, where coming back to one of them ends the game."""
    node = game.table["nodes"][name]
    if node["kind"] == "over":
        return np.zeros(game.players)
    above = above | {name}

    def behind(child: str, rewards: Any, discount: float) -> npt.NDArray[np.float64]:
        beyond = np.full(game.players, game.cycles) if child in above else worth_of(game, child, above)
        return np.array(rewards, np.float32).astype(np.float64) + discount * np.array(beyond)

    if node["kind"] == "chance":
        means = [p * behind(child, rewards, 1.0) for p, child, rewards in node["outcomes"]]
        return np.asarray(np.sum(means, axis=0), np.float64)
    (mover,) = node["acting"]
    found = [behind(child, rewards, game.discount) for _, child, rewards in node["edges"]]
    best: npt.NDArray[np.float64] = found[int(np.argmax([value[mover] for value in found]))]
    return best


def looping_cases(seeds=150):
    for seed in range(seeds):
        players = 1 + seed % 2
        game = RandomGame(
            seed=seed,
            players=players,
            layers=3,
            width=2,
            choices=2,
            loops=0.4,
            chance=0.3,
            zero_sum=players == 2,
            discount=0.9,
            cycles=0.0 if players == 2 else (-0.5, 0.0, 0.75)[seed % 3],
        )
        if game.cycles is not None:
            yield seed, game


def check_repetitions(graph: Any, game: Any) -> int:
    """Assert that proofs hold for games that begin at a node; return how many were proven."""
    count = 0
    for number in range(len(graph)):
        node = graph.node(number)
        exact = worth_of(game, game.id_of(node.state), frozenset())
        assert (node.interval[:, 0] <= exact + CLOSE).all()
        assert (exact <= node.interval[:, 1] + CLOSE).all()
        count += node.proven and node.kind != "over"
    return count


def test_what_leans_on_a_repetition_is_not_proven():
    """Where a repetition is worth a number, values depend on the path; what is certain is true from every state on."""
    count = 0
    for seed, game in looping_cases():
        result = ab.search(
            game.start(), simulations=200, evaluator=ab.Hashing(), config=ab.SearchConfig(proofs="on", seed=seed)
        )
        count += check_repetitions(result.graph, game)
    assert count > 100
    loop = {"start": decision(0, (0.0,), ("roll", (0.0,)), ("end", (0.25,)))}
    loop["roll"] = chance((0.5, "start", (0.0,)), (0.5, "end", (1.0,)))
    again = Explicit(table(1, "start", (0.0, 1.0), **loop, end=OVER), cycles=0.0).interpreted()
    result = ab.search(again.start(), simulations=300, evaluator=ab.Uniform(), config=ab.SearchConfig(proofs="on"))
    assert not result.proven
    assert check_repetitions(result.graph, again) == 0
    waits = Explicit(again.table, cycles="bootstrap").interpreted()
    result = ab.search(waits.start(), simulations=300, evaluator=ab.Uniform(), config=ab.SearchConfig(proofs="on"))
    assert result.proven
    assert abs(result.value[0] - 1.0) <= CLOSE


def test_intervals_must_not_go_round_a_loop_that_pays(monkeypatch):
    """Broken: a child's interval is taken over before it is proven, and feeds itself around the loop."""
    honest = rules.terms_of
    monkeypatch.setattr(
        "anabranch.search.reference.proofs.proofs.terms_of", lambda game: honest(game)._replace(repeats=False)
    )
    loop = {"start": decision(0, (0.0,), ("roll", (0.0,)), ("end", (0.25,)))}
    loop["roll"] = chance((0.5, "start", (0.0,)), (0.5, "end", (1.0,)))
    loop["other"] = decision(0, (0.0,), ("start", (0.0,)))
    again = Explicit(table(1, "other", (0.0, 1.0), **loop, end=OVER), cycles=0.0).interpreted()
    reference = ab.Reference(again.start(), ab.Uniform(), ab.SearchConfig(proofs="on"))
    assert worth_of(again, "start", frozenset())[0] == 0.5
    proof = reference.run(simulations=300).proof
    assert proof is not None
    assert proof.interval[0, 0] > 0.5, "it goes round once more"
    wrong = 0
    for seed, game in looping_cases(100):
        reference = ab.Reference(game.interpreted().start(), ab.Hashing(), ab.SearchConfig(proofs="on", seed=seed))
        reference.run(simulations=100)
        try:
            check_repetitions(reference.graph, game)
        except AssertionError:
            wrong += 1
    assert wrong > 0


# Small cases


@pytest.mark.parametrize("merge", [True, False])
def test_tic_tac_toe_is_a_draw(merge):
    """Proven from the start: 5,478 states, or 549,946 lines of play."""
    config = ab.SearchConfig(proofs="on", transposition=ab.Transposition(merge=merge))
    result = ab.search(ab.games.load("tic_tac_toe").start(), simulations=100_000, config=config)
    assert result.proven
    assert result.value.tolist() == [0.0, 0.0]
    assert result.simulations < 20_000
    assert result.simulations < result.nodes, "a path that comes to what is proven goes on to something new"


def test_winners_hurry_and_losers_take_their_time():
    """A win in one before a win in three; a loss in four rather than in two."""
    win = (1.0, -1.0)
    nodes = {
        "first": decision(0, (0.0, 0.0), ("long", (0.0, 0.0)), ("end", win)),
        "long": decision(1, (0.0, 0.0), ("last", (0.0, 0.0))),
        "last": decision(0, (0.0, 0.0), ("end", win)),
        "other": decision(1, (0.0, 0.0), ("mate", (0.0, 0.0)), ("slow", (0.0, 0.0))),
        "mate": decision(0, (0.0, 0.0), ("end", win)),
        "slow": decision(0, (0.0, 0.0), ("slower", (0.0, 0.0))),
        "slower": decision(1, (0.0, 0.0), ("last", (0.0, 0.0))),
    }
    for root, action, distance in (("first", 1, 1), ("other", 1, 4)):
        game = Explicit(table(2, root, (-1.0, 1.0), **nodes, end=OVER)).interpreted()
        result = ab.search(game.start(), simulations=50, evaluator=ab.Uniform(), config=ab.SearchConfig(proofs="on"))
        assert result.proven
        assert result.action == action
        assert result.proof is not None
        assert result.proof.distance == distance


def test_a_sure_draw_is_played_before_what_looks_worse():
    """Nobody visits a proven draw any more, so most visits are elsewhere; it is still the better choice."""
    chain = {f"c{i}": decision(1, (-0.5, 0.5), (f"c{i + 1}", (0.0, 0.0)), ("end", (-1.0, 1.0))) for i in range(60)}
    chain = {
        name: decision(i % 2, (-0.5, 0.5), (f"c{i + 1}", (0.0, 0.0)), (f"c{i + 2}", (0.0, 0.0)))
        for i, name in enumerate(chain)
    }
    chain |= {
        "c60": decision(0, (-0.5, 0.5), ("end", (-1.0, 1.0))),
        "c61": decision(0, (0.5, -0.5), ("end", (1.0, -1.0))),
    }
    root = decision(0, (0.0, 0.0), ("end", (0.0, 0.0)), ("c0", (0.0, 0.0)))
    game = Explicit(table(2, "start", (-1.0, 1.0), start=root, **chain, end=OVER)).interpreted()
    values = lambda batch: (None, [game.evaluations[game.id_of(state)][0] for state in batch.states])  # noqa: E731
    result = ab.search(game.start(), simulations=30, evaluator=values, config=ab.SearchConfig(proofs="on"))
    assert not result.proven
    assert result.visits[0].tolist() == [1, 29]
    assert result.action == 0
    np.testing.assert_allclose(result.target[0], [1 / 30, 29 / 30])  # to learn from: visits as they were
    assert result.value[0] >= 0.0  # it has a draw in hand
    off = ab.search(game.start(), simulations=30, evaluator=values, config=ab.SearchConfig(proofs="off"))
    assert off.proof is None
    assert not off.proven


class Paid(RandomGame):
    """A random game that says that nothing can be won any more: what is not told apart is worth the same."""

    title = "paid_random_game"

    def bounds(self, state: Any, low: Any, high: Any) -> None:
        for player in range(self.players):
            low[player] = high[player] = 0.0


@pytest.mark.parametrize(("players", "simultaneous"), [(1, 0.0), (2, 0.0), (2, 1.0), (3, 0.0)])
def test_a_root_whose_bounds_meet_is_solved_before_any_simulation(players, simultaneous):
    """It has no edge yet; the choice is the prior's, in the engine and in the reference."""
    game = Paid(seed=3, players=players, chance=0.0, simultaneous=simultaneous, zero_sum=players == 2)
    state = game.interpreted().start()
    config = ab.SearchConfig(proofs="on")
    found = ab.search(state, simulations=10, evaluator=ab.Hashing(), config=config)
    reference = ab.Reference(state, ab.Hashing(), config).run(simulations=10)
    for result in (found, reference):
        assert result.proven
        assert result.simulations == 0
        assert result.value.tolist() == [0.0] * players
        assert result.proof is not None
        assert result.proof.by_action == {}
        assert result.action is not None
        assert str(result).splitlines()[0].endswith(", solved")
    assert found.action == reference.action
    assert found.policy.tolist() == reference.policy.tolist()


def test_proven_outcomes_count_by_their_chance():
    """A die that ends the game or goes on: drawn no more once it is known, and counted by its probability."""
    chain = {f"c{i}": decision(0, (0.5,), (f"c{i + 1}", (0.0,)), (f"c{i + 2}", (0.0,))) for i in range(60)}
    ends = {f"c{i}": decision(0, (0.5,), ("end", (0.5,))) for i in (60, 61)}
    roll = chance((0.75, "end", (-1.0,)), (0.25, "c0", (0.0,)))
    game = Explicit(table(1, "roll", (-1.0, 1.0), roll=roll, **chain, **ends, end=OVER)).interpreted()
    values = lambda batch: (None, [game.evaluations[game.id_of(state)][0] for state in batch.states])  # noqa: E731
    for draw in ("spread", "sampled"):
        config = ab.SearchConfig(proofs="on", chance=ab.Chance(draw=draw))
        result = ab.search(game.start(), simulations=20, evaluator=values, config=config)
        assert {outcome: visits for outcome, _, visits, _ in result.outcomes}[1] >= 15
        assert result.value[0] == pytest.approx(0.75 * -1.0 + 0.25 * 0.5, abs=1e-12)


def test_proofs_survive_an_advance_and_a_file(tmp_path):
    """What was certain of a state is so when it is the root, and when it was saved."""
    game = ab.games.load("tic_tac_toe")
    config = ab.SearchConfig(proofs="on")
    searcher = ab.Searcher(game, ab.Rollout(), config)
    root = searcher.root(game.start())
    searcher.run(root, simulations=2000)
    again = searcher.load(root.save(tmp_path / "search.npz"))
    assert (root.graph.columns["proof"] == again.graph.columns["proof"]).all()
    (went_on,), (loaded,) = searcher.run(root, simulations=500), searcher.run(again, simulations=500)
    assert went_on.visits.tolist() == loaded.visits.tolist()
    assert went_on.nodes == loaded.nodes
    (solved,) = searcher.run(root, simulations=100_000)
    assert solved.proven
    assert solved.action is not None
    root.advance(solved.action, keep="graph")
    (following,) = searcher.run(root, simulations=100)
    assert following.proven
    assert following.simulations == 0
    assert following.action in ab.solve(game).best_of(root.state)[1]


def test_seconds_end_with_a_proof():
    """However much time there is left."""
    game = ab.games.load("take_away")
    result = ab.search(game.start(), seconds=3600.0, config=ab.SearchConfig(proofs="on"))
    assert result.proven
    assert result.seconds < 3600.0
