"""One number that signs the behaviour of the engine: a fixed set of searches, all their visits, all their nodes.

Whatever changes a visit anywhere changes the number; whatever only makes the engine faster does not. It does not depend
on runs, threads or how the engine was built. Commits that change it say so.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from anabranch import games
from anabranch.evaluate.native import Hashing, Heuristic, Rollout, Uniform
from anabranch.game.objects import ObjectGame
from anabranch.game.random import Random
from anabranch.game.words import CHANCE, OVER, player
from anabranch.search.engine.graph import Graph
from anabranch.search.engine.searcher import Searcher
from anabranch.search.settings.config import (
    Chance,
    FirstPlay,
    ForcedPlayouts,
    Gumbel,
    Puct,
    RootNoise,
    SearchConfig,
    Transposition,
    Ucb1,
    VirtualLoss,
)

ROOTS = 3  # per case: each root has random numbers of its own, and threads something to share


class Asked(Hashing):
    """The same evaluations, but given by Python: the engine's own twin stands in for `Hashing` alone."""


class Race(ObjectGame):
    """Two runners in turn pick a die, flat or steep, and run as far as it shows: a game of Python objects."""

    title = "race"

    def __init__(self) -> None:
        self.players, self.actions, self.outcomes, self.goal = 2, 2, 6, 12
        self.cycles = 0.0  # both may stand still

    def setup(self, random: Random) -> tuple[int, ...]:
        return (0, 0, 0, 0)  # both positions, who moves, the die in hand

    def turn(self, state: tuple[int, ...]) -> int:
        return OVER if max(state[:2]) >= self.goal else CHANCE if state[3] else player(state[2])

    def legal(self, state: tuple[int, ...], seat: int) -> list[int]:
        return [0, 1]

    def chance(self, state: tuple[int, ...]) -> list[tuple[int, float]]:
        return [(face, 1 / 6) for face in range(6)] if state[3] == 1 else [(0, 0.5), (5, 0.25), (8, 0.25)]

    def step(self, state: tuple[int, ...], actions: Sequence[int]) -> tuple[tuple[int, ...], list[float]]:
        first, second, mover, die = state
        if not die:
            return (first, second, mover, actions[mover] + 1), [0.0, 0.0]
        places = [first, second]
        places[mover] = min(places[mover] + actions[0], self.goal)
        won = places[mover] >= self.goal
        rewards = [(1.0 if seat == mover else -1.0) if won else 0.0 for seat in range(2)]
        return (places[0], places[1], 1 - mover, 0), rewards


@dataclass(frozen=True)
class Case:
    """Searches of one game with one way of searching."""

    game: str
    options: dict[str, Any] = field(default_factory=dict)
    evaluator: Any = field(default_factory=Uniform)
    config: SearchConfig = field(default_factory=SearchConfig)
    simulations: int = 5000

    def make(self) -> Any:
        """Return the game."""
        return Race() if self.game == Race.title else games.load(self.game, **self.options)


def _mixed(seed: int, players: int, discount: float) -> dict[str, Any]:
    """Return the options of a random game with every kind of node."""
    together = 0.3 if players > 1 else 0.0
    return {"seed": seed, "players": players, "layers": 5, "width": 5, "simultaneous": together, "discount": discount}


MIXED: tuple[tuple[Any, Puct | Ucb1, Chance], ...] = (
    (Uniform(0.1), Puct(), Chance()),
    (Hashing(), Puct(first_play=FirstPlay.parent()), Chance(exact_up_to=3)),
    (Rollout(), Puct(ties="random"), Chance(widen=1.0, widen_power=0.4)),
    (Hashing(), Ucb1(), Chance(draw="sampled", widen_cap=1)),
    (Rollout(count=2), Puct(first_play=FirstPlay.parent_minus(0.1)), Chance(offset=0.25)),
    (Hashing(), Puct(scale="graph", first_play=FirstPlay.lowest()), Chance(draws=2)),
)

CASES: tuple[Case, ...] = (
    # One acting player: both selectors, every scale, first play, limit and way to share.
    Case("tic_tac_toe", simulations=20_000),
    Case("tic_tac_toe", evaluator=Rollout(count=3)),
    Case("connect_four", simulations=30_000),
    Case("connect_four", evaluator=Rollout(), simulations=30_000),
    Case("connect_four", evaluator=Hashing(), config=SearchConfig(transposition=Transposition(merge=False))),
    Case(
        "connect_four",
        evaluator=Hashing(seed=1),
        config=SearchConfig(selector=Puct(c_log=0.45, c_base=500.0, c_off=0.0, epsilon=0.01), max_nodes=1500, seed=1),
    ),
    Case(
        "othello",
        {"size": 6},
        Hashing(),
        SearchConfig(transposition=Transposition(on_visit="stop", rho=0.5, leak=0.3), max_bytes=400_000),
    ),
    Case("othello", evaluator=Rollout(), config=SearchConfig(selector=Ucb1()), simulations=1500),
    Case(
        "take_away",
        evaluator=Hashing(),
        config=SearchConfig(selector=Puct(scale="none", first_play=FirstPlay.constant(0.1), w0=1.0)),
    ),
    Case("take_away", config=SearchConfig(selector=Ucb1(scale="graph", ties="random", w0=0.5), seed=7)),
    # Three players, rewards that are not zero-sum; states stored whole and as differences.
    Case("n_in_a_row", evaluator=Rollout(max_depth=20)),
    Case("n_in_a_row", {"preset": "large"}, Hashing(), simulations=1000),
    # Dice, loops.
    Case("pig", evaluator=Rollout(), config=SearchConfig(chance=Chance(exact_up_to=6))),
    Case("pig", config=SearchConfig(chance=Chance(draw="sampled", draws=3))),
    # Players who choose at once.
    Case("goofspiel", {"prizes": "random"}, Rollout()),
    Case(
        "goofspiel",
        {"cards": 5, "players": 3, "rewards": "points"},
        Hashing(),
        SearchConfig(selector=Puct(weights="B", scale="node", first_play=FirstPlay.lowest())),
    ),
    Case("matrix", {"payoffs": "rock_paper_scissors", "rounds": 3}, config=SearchConfig(selector=Ucb1(weights="A"))),
    Case("pyrat", {"preset": "open7"}),
    Case("pyrat", {"preset": "tiny"}, Hashing(), SearchConfig(simultaneous=Puct(weights="C"))),
    Case("pyrat", {"preset": "tiny", "seed": 1, "rewards": "difference"}, Rollout(), simulations=3000),
    # Everything mixed.
    *(
        Case(
            "random_game",
            _mixed(seed, 1 + seed % 3, 1.0 if seed % 2 else 0.9),
            evaluator,
            SearchConfig(selector=selector, chance=chance, seed=seed),
            3000,
        )
        for seed, (evaluator, selector, chance) in enumerate(MIXED)
    ),
    # The plain ways: evaluations asked of Python, rules that are Python objects, verbs not compiled.
    Case("tic_tac_toe", evaluator=Asked(), simulations=100),
    Case("race", evaluator=Rollout(), simulations=100),
    Case("take_away", {"compiled": False}, Hashing(), simulations=200),
    # A history in every state, and merged where no cycle within a bound can tell.
    Case("go", {"size": 5}, Rollout(), simulations=500),
    Case("go", {"size": 5, "merge": "bounded"}, Hashing(), simulations=2000),
    # Waves, and what happens at a root only.
    Case("connect_four", evaluator=Hashing(), config=SearchConfig(width=16, noise=RootNoise())),
    Case(
        "connect_four",
        evaluator=Rollout(count=2),
        config=SearchConfig(width=8, depth=2, virtual_loss=VirtualLoss(mode="visits"), forced=ForcedPlayouts()),
    ),
    Case("goofspiel", {"cards": 5}, Hashing(), SearchConfig(width=5, depth=3, virtual_loss=VirtualLoss(mode="off"))),
    Case("pig", evaluator=Rollout(), config=SearchConfig(chance=Chance(exact_up_to=6), width=4, depth=2)),
    Case("random_game", _mixed(9, 2, 1.0), Hashing(), SearchConfig(chance=Chance(exact_up_to=3), width=7), 3000),
    Case("tic_tac_toe", evaluator=Asked(), config=SearchConfig(width=4, depth=2), simulations=100),
    Case("oshi_zumo"),
    Case("yatzy", evaluator=Rollout(), simulations=1000),
    Case("yatzy", {"players": 2}, Hashing(), simulations=1000),
    Case("yahtzee", config=SearchConfig(chance=Chance(exact_up_to=0)), simulations=1000),
    Case("2048", {"rows": 3}, Rollout(), simulations=1000),
    Case("dice_race", evaluator=Rollout(), config=SearchConfig(proofs="on"), simulations=1000),
    Case("pyrat", {"preset": "open7"}, Heuristic()),
    # Few simulations, planned at the root.
    Case("connect_four", evaluator=Hashing(), config=SearchConfig(selector=Gumbel(scale="node")), simulations=500),
    Case(
        "goofspiel",
        {"cards": 5, "players": 3, "rewards": "points"},
        Hashing(),
        SearchConfig(selector=Gumbel(considered=3, scale="graph"), width=4, depth=2),
        500,
    ),
    Case(
        "random_game",
        _mixed(4, 3, 0.9),
        Rollout(),
        SearchConfig(selector=Gumbel(scale="range", c_scale=0.5), chance=Chance(exact_up_to=3), width=3),
        500,
    ),
)

# A few of them, quick even where nothing is compiled yet, and what they sign with: `anabranch doctor` compares. Where
# the behaviour changed on purpose, `tests/test_health.py` prints the new numbers.
QUICK = {
    5: 22157473889056,  # connect_four: merging, a limit on nodes
    8: 43430722743779,  # take_away: first play, no scale
    16: 116307170712402,  # matrix: players who choose at once
    23: 191064197612985,  # random_game: everything mixed, dice sampled
    26: 78174185469091,  # evaluations asked of Python
    27: 185905642806481,  # rules that are Python objects
}


@dataclass(frozen=True)
class Signature:
    """The number and what it was made of."""

    number: int  # below 2^48, so that it survives JSON
    nodes: int
    cases: tuple[tuple[str, int], ...]  # each case's game and the number its own searches sign with

    def __str__(self) -> str:
        return str(self.number)


def signature(
    cases: Sequence[Case] = CASES, *, threads: int = 1, progress: Callable[[int, int], None] | None = None
) -> Signature:
    """Search every case and sign what was found; `progress(done, all)` is called after each."""
    whole, nodes, parts = hashlib.sha256(), 0, []
    for done, case in enumerate(cases, start=1):
        mark, size = sign(case, threads)
        whole.update(mark)
        nodes += size
        parts.append((case.game, _number(mark)))
        if progress:
            progress(done, len(cases))
    whole.update(nodes.to_bytes(8, "little"))
    return Signature(_number(whole.digest()), nodes, tuple(parts))


def sign(case: Case, threads: int = 1) -> tuple[bytes, int]:
    """Return a checksum of all visits of one case, and its nodes."""
    game = case.make()
    searcher = Searcher(game, case.evaluator, case.config, threads=threads)
    roots = [searcher.root(game.start(number)) for number in range(ROOTS)]
    searcher.run(roots, simulations=case.simulations)
    mark = hashlib.sha256()
    for root in roots:
        for column in visits(root.graph):
            mark.update(column.tobytes())
    return mark.digest(), sum(len(root.graph) for root in roots)


def visits(graph: Graph) -> list[np.ndarray[Any, np.dtype[np.int64]]]:
    """Return the visits of all nodes in the order they were made; their edges' visits and children likewise."""
    names = ("visits", "edge_count", "edge_visits", "edge_child")
    return [graph.columns[name].astype("<i8") for name in names]


def _number(digest: bytes) -> int:
    return int.from_bytes(digest[:6], "big")
