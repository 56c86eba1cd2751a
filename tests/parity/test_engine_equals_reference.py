"""The engine does what the reference does: the same visits everywhere in the graph, the same values to 1e-9.

The reference is docs/model.md in plain Python; whatever it does on these games and settings, the engine must do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.parity.compare import compare, midgame
from tests.parity.draw import CHANCES, TRANSPOSITIONS, mask, think
from tests.tables import OVER, chance, decision, table

import anabranch as ab
from anabranch.games.explicit import Explicit
from anabranch.games.random_game import RandomGame

# Built-in games, from the start and from the middle of a game.

BUILT_IN: dict[str, tuple[dict[str, Any], int]] = {  # options, and how many plies the middle is away
    "tic_tac_toe": ({}, 3),
    "connect_four": ({}, 12),
    "connect_four ": ({"rows": 4, "columns": 5, "line": 3}, 4),
    "othello": ({"size": 6}, 11),
    "take_away": ({"stones": 15}, 3),
    "n_in_a_row": ({"size": 4, "line": 3}, 3),
    "n_in_a_row ": ({"size": 5, "line": 4, "players": 2}, 6),
    "matrix": ({"payoffs": "rock_paper_scissors", "rounds": 3}, 1),
    "goofspiel": ({"cards": 4}, 2),
    "goofspiel ": ({"cards": 4, "prizes": "random", "players": 3, "rewards": "points"}, 3),
    "pig": ({"target": 8, "sides": 4}, 5),
    "pig ": ({"target": 5, "sides": 3, "players": 3}, 4),
    "pyrat": ({"preset": "open5"}, 6),
    "pyrat ": ({"preset": "tiny", "seed": 3, "rewards": "difference"}, 20),
    "explicit": ({}, 1),
    "go": ({"size": 4}, 9),
    "go ": ({"size": 4, "merge": "bounded"}, 9),
}
SETTINGS = {
    "puct": (ab.Hashing(), ab.SearchConfig(seed=1)),
    "ucb1": (ab.Rollout(), ab.SearchConfig(selector=ab.Ucb1(), chance=ab.Chance(draw="sampled"), seed=2)),
    "katago": (
        mask,
        ab.SearchConfig(
            selector=ab.Puct(c_init=1.0, c_log=0.45, c_base=500.0, c_off=0.0, epsilon=0.01, scale="none"),
            simultaneous=ab.Puct(weights="C", scale="node"),
            chance=ab.Chance(exact_up_to=6),
            transposition=ab.Transposition(on_visit="stop", rho=2.0),
        ),
    ),
    "mctx": (
        ab.Rollout(2),
        ab.SearchConfig(
            selector=ab.Puct(scale="node", first_play=ab.FirstPlay.lowest(), ties="random"),
            simultaneous=ab.Ucb1(weights="A", scale="graph", w0=1.0),
            chance=ab.Chance(draws=2, widen=1.5),
            max_nodes=60,
            seed=3,
        ),
    ),
    "waves": (mask, ab.SearchConfig(width=6, noise=ab.RootNoise(), forced=ab.ForcedPlayouts(), seed=4)),
    "deep waves": (
        ab.Hashing(),
        ab.SearchConfig(
            selector=ab.Puct(ties="random"),
            simultaneous=ab.Ucb1(weights="C"),
            chance=ab.Chance(exact_up_to=6),
            virtual_loss=ab.VirtualLoss(mode="visits"),
            width=5,
            depth=3,
            seed=5,
        ),
    ),
}


@pytest.mark.parametrize(("number", "name"), list(enumerate(BUILT_IN)))
def test_built_in_games(number, name):
    """Each with two settings in turn, one of the first three and one of the last; random games have them all."""
    options, plies = BUILT_IN[name]
    game = ab.games.load(name.strip(), **options)
    for settings in (number % 3, 3 + number % 3):
        evaluator, config = list(SETTINGS.values())[settings]
        for state in (game.start(), midgame(game, plies, seed=5)):
            assert compare(state, evaluator, config, simulations=100)


@pytest.mark.parametrize("name", ["tic_tac_toe", "pig", "pyrat", "goofspiel "])
def test_interpreted_games_equal_compiled_ones(name):
    """The same graph whichever way the rules run: engine interpreted against reference compiled."""
    options, plies = BUILT_IN[name]
    game: Any = ab.games.load(name.strip(), **options)
    state = midgame(game, plies, seed=6)
    slow = ab.State(game.interpreted(), state.data)
    for evaluator in (ab.Uniform(), ab.Hashing(), ab.Rollout()):
        assert compare(slow, evaluator, ab.SearchConfig(seed=4), simulations=60, reference_state=state)


@pytest.mark.parametrize(("size", "evaluator"), [(20, ab.Hashing()), (30, think)], ids=["native", "python"])
def test_states_kept_as_differences(size, evaluator):
    """Boards above 256 bytes are stored as differences from the root's; that changes nothing."""
    game: Any = ab.games.load("n_in_a_row", size=size, line=5)
    assert game.state.itemsize > 256
    for state in (game.start(), midgame(game, 40, seed=7)):
        assert compare(state, evaluator, ab.SearchConfig(max_nodes=90), simulations=100)


# Games of objects.


class TicTacToeOfObjects(ab.ObjectGame):
    """Tic-tac-toe on a string; the state may carry its history, which its key leaves out."""

    lines = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))

    def __init__(self) -> None:
        self.players, self.actions = 2, 9

    def setup(self, random: ab.Random) -> Any:
        return "." * 9

    def turn(self, state: Any) -> int:
        won = any(state[a] != "." and state[a] == state[b] == state[c] for a, b, c in self.lines)
        return ab.OVER if won or "." not in state else ab.player((9 - state.count(".")) % 2)

    def legal(self, state: Any, player: int) -> list[int]:
        return [cell for cell in range(9) if state[cell] == "."]

    def step(self, state: Any, actions: Any) -> Any:
        mover = (9 - state.count(".")) % 2
        after = state[: actions[mover]] + "xo"[mover] + state[actions[mover] + 1 :]
        won = any(after[a] != "." and after[a] == after[b] == after[c] for a, b, c in self.lines)
        return after, [(1.0 if seat == mover else -1.0) if won else 0.0 for seat in range(2)]


class TicTacToeOfBytes(TicTacToeOfObjects):
    """States that happen to be bytes are objects like any others."""

    def setup(self, random: ab.Random) -> Any:
        return super().setup(random).encode()

    def turn(self, state: Any) -> int:
        return super().turn(state.decode())

    def legal(self, state: Any, player: int) -> list[int]:
        return super().legal(state.decode(), player)

    def step(self, state: Any, actions: Any) -> Any:
        after, rewards = super().step(state.decode(), actions)
        return after.encode(), rewards


class TicTacToeWithHistory(TicTacToeOfObjects):
    """States carry the moves that led to them, which their key leaves out."""

    def setup(self, random: ab.Random) -> Any:
        return (super().setup(random), ())

    def key(self, state: Any) -> Any:
        return state[0]

    def turn(self, state: Any) -> int:
        return super().turn(state[0])

    def legal(self, state: Any, player: int) -> list[int]:
        return super().legal(state[0], player)

    def step(self, state: Any, actions: Any) -> Any:
        after, rewards = super().step(state[0], actions)
        return (after, (*state[1], max(actions))), rewards


class Dice(ab.ObjectGame):
    """Two players in turn keep or reroll a die, three rounds; the sum goes from one to the other. Two ids keep."""

    def __init__(self, chance: bool = True) -> None:
        self.players, self.actions, self.outcomes, self.returns = 2, 3, 3, (-9.0, 9.0)
        self.discount, self.rewards_along = 0.95, True

    def setup(self, random: ab.Random) -> Any:
        return (0, 0, 0)  # rounds played, the die (0: to be rolled), rerolls

    def turn(self, state: Any) -> int:
        played, die, _ = state
        return ab.OVER if played == 3 else ab.player(played % 2) if die else ab.CHANCE

    def legal(self, state: Any, player: int) -> list[int]:
        return [0, 1, 2] if state[2] == 0 else [0, 2]

    def same(self, state: Any, player: int, action: int) -> int:
        return 0 if action == 2 else action

    def chance(self, state: Any) -> Any:
        return ((1, 0.5), (2, 0.25), (3, 0.25))

    def step(self, state: Any, actions: Any) -> Any:
        played, die, rerolls = state
        if die == 0:
            return (played, actions[0], rerolls), (0.0, 0.0)
        mover = played % 2
        if actions[mover] == 1:
            return (played, 0, 1), (0.0, 0.0)
        return (played + 1, 0, 0), (die, -die) if mover == 0 else (-die, die)

    def bounds(self, state: Any) -> Any:
        left = 3.0 * (3 - state[0])
        return (-left, -left), (left, left)


class Chain(ab.ObjectGame):
    """Coins with one side, one after the other, then a choice."""

    def __init__(self, coins: int) -> None:
        self.players, self.actions, self.outcomes, self.coins = 1, 2, 1, coins

    def setup(self, random: ab.Random) -> Any:
        return 0

    def turn(self, state: Any) -> int:
        return ab.OVER if state > self.coins else ab.player(0) if state == self.coins else ab.CHANCE

    def legal(self, state: Any, player: int) -> Any:
        return (0, 1)

    def chance(self, state: Any) -> Any:
        return ((0, 1.0),)

    def step(self, state: Any, actions: Any) -> Any:
        return state + 1, (0.25 + 0.5 * actions[0] if state == self.coins else 0.0,)


OBJECTS = [TicTacToeOfObjects(), TicTacToeOfBytes(), TicTacToeWithHistory(), Dice(), Chain(30)]


@pytest.mark.parametrize("game", OBJECTS, ids=lambda game: game.name)
@pytest.mark.parametrize("evaluator", [ab.Uniform(), ab.Hashing(), ab.Rollout()], ids=lambda e: type(e).__name__)
def test_games_of_objects(game, evaluator):
    rolls = game.has("chance")
    for chance_settings in (ab.Chance(), ab.Chance(exact_up_to=3), ab.Chance(widen_cap=2)) if rolls else (ab.Chance(),):
        for selector in (ab.Puct(), ab.Ucb1(ties="random")):
            config = ab.SearchConfig(selector=selector, chance=chance_settings, seed=9)
            assert compare(game.start(), evaluator, config, simulations=60)
    assert compare(game.start(), evaluator, ab.SearchConfig(max_nodes=12), simulations=60)
    assert compare(game.start(), evaluator, ab.SearchConfig(transposition=ab.Transposition(merge=False)))


@pytest.mark.parametrize("exact_up_to", [0, 1])
def test_chains_of_chance_are_no_recursion(exact_up_to):
    game = Chain(2_000)
    assert compare(
        game.start(), ab.Uniform(), ab.SearchConfig(chance=ab.Chance(exact_up_to=exact_up_to)), simulations=2
    )


# Cycles.

PLAYGROUND = table(
    2,
    "a",
    (-3.0, 3.0),
    a=decision(0, (0.0, 0.0), ("b", (0.5, -0.5)), ("c", (0.0, 0.0)), ("a2", (0.25, 0.0))),
    a2=decision(1, (0.1, 0.2), ("a", (0.0, 0.0)), ("b", (0.0, 0.25))),
    b=decision(1, (0.2, -0.2), ("a", (0.0, 0.0)), ("d", (0.0, 0.0)), ("end", (1.0, -1.0))),
    c=chance((0.25, "a", (0.0, 0.0)), (0.25, "b", (0.0, 0.125)), (0.5, "d", (0.0, 0.0))),
    d=chance((0.5, "c", (0.0, 0.0)), (0.25, "a", (0.0, 0.0)), (0.25, "end", (-1.0, 1.0))),
    end=OVER,
)


@pytest.mark.parametrize("cycles", ["bootstrap", 0.0, 0.75])
@pytest.mark.parametrize("chance_settings", CHANCES, ids=range(len(CHANCES)))
def test_cyclic_tables(cycles, chance_settings):
    """Lines of play that come back end there, with the ancestor's value or the declared one."""
    game = Explicit(PLAYGROUND, discount=0.9, cycles=cycles)
    assert game.cycles == cycles
    for root, evaluator, rule in (("a", ab.Hashing(), 0), ("c", think, 1), ("d", ab.Hashing(), 1)):
        config = ab.SearchConfig(chance=chance_settings, transposition=TRANSPOSITIONS[rule], seed=3)
        assert compare(game.node(root), evaluator, config, simulations=40)


@pytest.mark.parametrize("exact_up_to", [0, 6])
@pytest.mark.parametrize("evaluator", [ab.Hashing(), ab.Rollout(max_depth=40)], ids=["hashing", "rollout"])
def test_pig_with_its_key_and_its_cycles(exact_up_to, evaluator):
    game = ab.games.load("pig", target=10)
    for seed in range(3):
        config = ab.SearchConfig(chance=ab.Chance(exact_up_to=exact_up_to), seed=seed)
        assert compare(midgame(game, 6 * seed, seed), evaluator, config, simulations=150)


# Chance that can only be drawn.


class Wind(ab.CompiledGame):
    """Walk 1 or 2 to the right; the wind blows by −1 to 2, and the square says what that pays. Wind is only drawn."""

    def __init__(self) -> None:
        self.players, self.actions = 1, 2
        self.returns, self.rewards_along = (-4.0, 4.0), True
        self.pay = np.array([0.0, 0.5, -0.25, 0.75, -1.0, 1.0, 0.125, -0.5, 0.25, 0.0, 1.0, -1.0, 0.5, 0.0, 0.75, 0.25])
        self.state = ab.record(place=np.int8, steps=np.int8, windy=np.bool_)

    def setup(self, state: Any, random: Any) -> None:
        state.place = 2

    def turn(self, state: Any) -> int:
        if state.windy:
            return ab.CHANCE
        return ab.OVER if state.steps == 4 else ab.player(0)

    def legal(self, state: Any, player: int, actions: Any) -> int:
        actions[0], actions[1] = 0, 1
        return 2

    def draw(self, state: Any, random: Any) -> int:
        return ab.below(random, 4) - 1

    def step(self, state: Any, actions: Any, rewards: Any) -> None:
        if state.windy:
            state.place = max(0, min(15, state.place + actions[0]))
            state.windy = False
            state.steps += 1
            rewards[0] = self.pay[state.place]
        else:
            state.place += 1 + actions[0]
            state.windy = True


@pytest.mark.parametrize(
    ("game", "evaluator"),
    [(Wind(), ab.Hashing()), (Wind(), ab.Rollout()), (Wind().interpreted(), think)],
    ids=["compiled, hashing", "compiled, rollout", "interpreted, python"],
)
def test_chance_that_is_only_drawn(game, evaluator):
    for chance_settings in CHANCES:
        for width, limit in ((1, None), (1, 15), (4, None)):
            config = ab.SearchConfig(chance=chance_settings, max_nodes=limit, width=width, seed=11)
            assert compare(game.start() if limit else midgame(game, 1), evaluator, config, simulations=30)


def test_streams_equal_the_references():
    """The n-th root of a searcher draws from stream n, as the reference does when told so."""
    game, config = RandomGame(seed=3, chance=0.6, players=2), ab.SearchConfig(seed=5, proofs="off")
    searcher = ab.Searcher(game, ab.Rollout(), config, threads=1)
    results = searcher.run([searcher.root(game.start()) for _ in range(4)], simulations=120)
    references = [ab.Reference(game.start(), ab.Rollout(), config, stream=n) for n in range(4)]
    expected = [[node.visits for node in reference.run(simulations=120).graph.nodes] for reference in references]
    assert [result.graph.columns["visits"].tolist() for result in results] == expected
    assert len({tuple(visits) for visits in expected}) == 4
