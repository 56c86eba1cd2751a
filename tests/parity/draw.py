"""Draw a game, an evaluator and every setting of a search by seed; what hid bugs because it was rare is drawn often.

Everything has dice of its own, so that a setting more, or other options of one, leave the other draws of a seed alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

import anabranch as ab
from anabranch.games.random_game import RandomGame

FIRST_PLAYS = [
    ab.FirstPlay.reduced(0.2),
    ab.FirstPlay.parent(),
    ab.FirstPlay.parent_minus(0.1),
    ab.FirstPlay.constant(0.3),
    ab.FirstPlay.lowest(),
]
CHANCES = [
    ab.Chance(),
    ab.Chance(draw="sampled"),
    ab.Chance(exact_up_to=9),
    ab.Chance(exact_up_to=2),
    ab.Chance(exact_up_to=3, draw="sampled"),
    ab.Chance(draws=3),
    ab.Chance(draws=4, draw="sampled", exact_up_to=2),
    ab.Chance(widen=1.0, widen_power=0.4),
    ab.Chance(widen=0.6, widen_power=0.7, draw="sampled"),
    ab.Chance(draw="sampled", widen_cap=1),
    ab.Chance(draws=5, widen=1.0, widen_power=0.5),
    ab.Chance(draws=4, widen=0.5, widen_power=1.0),
    ab.Chance(offset=0.25),
    ab.Chance(draw="in_transition"),
    ab.Chance(draw="in_transition"),
]
ENUMERATED = [
    ab.Chance(exact_up_to=9),
    ab.Chance(exact_up_to=9, draw="sampled"),
    ab.Chance(exact_up_to=3, offset=0.5),
]
AVERAGING = [
    ab.RegretMatching(),
    ab.RegretMatching(view="own", exploration=0.5),
    ab.RegretMatching(value="visits"),
    ab.Exp3(),
    ab.Exp3(exploration=0.7),
    ab.MatrixGame(),
    ab.MatrixGame(growth=0.0, exploration=0.4),
    ab.MatrixGame(growth=1.0, value="visits"),
]
GUMBEL = [
    ab.Gumbel(),
    ab.Gumbel(considered=2),
    ab.Gumbel(considered=3, scale="graph"),
    ab.Gumbel(scale="graph", c_scale=1.0),
    ab.Gumbel(considered=1, scale="range"),
    ab.Gumbel(scale="none", c_visit=0.0, noise=0.0),
    ab.Gumbel(considered=5, c_visit=1.0, c_scale=0.5),
]
TRANSPOSITIONS = [
    ab.Transposition(),
    ab.Transposition(on_visit="stop"),
    ab.Transposition(merge=False),
    ab.Transposition(on_visit="stop", rho=0.5, leak=0.3),
    ab.Transposition(on_visit="stop", rho=3.0),
]


def think(batch: Any) -> tuple[Any, Any]:
    """A function of its own as evaluator: what `Hashing` says, asked for row by row."""
    return ab.Hashing(7).evaluate(batch)


def mask(batch: Any) -> tuple[Any, Any]:
    """One row of logits per state where players move alone, illegal ids at −∞ as networks mask them; float32."""
    logits, values = ab.Hashing(8).evaluate(batch)
    if not batch.joint:
        logits = np.where(batch.legal, logits[np.arange(len(batch)), batch.movers], -np.inf)
    return logits.astype(np.float32), values.astype(np.float32)


EVALUATORS = [
    ab.Uniform(),
    ab.Hashing(),
    ab.Rollout(),
    ab.Rollout(count=3),
    think,
    ab.Uniform(0.25),
    mask,
    ab.Rollout(max_depth=2),
    ab.Rollout(greedy=True),
    ab.Rollout(count=2, greedy=1),
    ab.Mixed(ab.Hashing(9), rollouts=2, share=0.25),
    ab.Mixed(mask, rollouts=1),
]

# Each option of a game and each setting of a search, and what it is drawn from, all equally often. A new setting is one
# more line in SETTINGS.
GAMES: Mapping[str, Sequence[Any]] = {
    "players": [1, 2, 3],
    "chance": [0.25, 0.5],
    "chance_after_chance": [None, 0.6, 0.9],
    "loops": [0.0, 0.3, 0.5],
    "cycles": ["bootstrap", "bootstrap", 0.0, 0.75],
    "discount": [1.0, 1.0, 0.9, 0.5],
    "rewards_along": [True, True, True, True, False],
    "merge": [*[True] * 9, False],
    "zero_sum": [True, True, False],
}
SETTINGS: Mapping[str, Sequence[Any]] = {
    "chance": [*CHANCES, *ENUMERATED, *ENUMERATED, *ENUMERATED],
    "transposition": [*TRANSPOSITIONS, ab.Transposition(), ab.Transposition()],
    "virtual_loss": [ab.VirtualLoss(mode="loss"), ab.VirtualLoss(mode="visits"), ab.VirtualLoss(mode="off")],
    "noise": [None, None, None, ab.RootNoise(weight=0.3, alpha=0.3), ab.RootNoise(weight=0.3, alpha=1.0)],
    "forced": [None, None, None, ab.ForcedPlayouts(k=0.5), ab.ForcedPlayouts(k=2.0)],
    "width": [1, 1, 2, 3, 5, 8, 16, 64],
    "depth": [1, 1, 1, 2, 3],
    "max_nodes": [None, None, None, None, None, 1, 6, 12],
    "refresh": ["path", "path", "path", "parents", "ancestors", "sweep"],
    "sweep_every": [1, 5, 20, None],
    "backup": ["auto", "mean", "best"],
    "proofs": ["on", "on", "off"],
}
RUNS = ["compiled", "compiled", "compiled", "interpreted", "objects"]  # how the rules run


class Case(NamedTuple):
    """What is drawn by one seed."""

    game: Any
    evaluator: Any
    config: ab.SearchConfig
    dice: np.random.Generator  # for budgets and moves


def drawn_case(seed: int) -> Case:
    """Draw everything. Case `seed` of test_random_games is this one, move for move."""
    game = drawn_game(seed)
    config = drawn_config(seed, joint=2 if game.players < 3 else None)
    if game.cycles is not None and not config.transposition.merge:
        config = dataclasses.replace(config, transposition=ab.Transposition())  # as a tree, dice that loop have no end
    return Case(game, one_of(EVALUATORS, dice_of(seed, "evaluator")), config, dice_of(seed, "moves"))


def drawn_game(seed: int, **others: Any) -> Any:
    """Draw a game: decisions, simultaneous moves and chance mixed; `others` are options that are not drawn."""
    options = {name: one_of(values, dice_of(seed, name)) for name, values in GAMES.items()} | others
    if options["loops"] and options["rewards_along"] and options["discount"] == 1.0:
        options["discount"] = 0.9  # loops would pay without end
    options["zero_sum"] &= options["players"] == 2
    together = 0.3 if options["players"] > 1 else 0.0
    game = RandomGame(seed=seed, layers=5, width=4, simultaneous=together, **options)
    run = one_of(RUNS, dice_of(seed, "run"))
    return game.interpreted() if run == "interpreted" else TableOfObjects(game) if run == "objects" else game


def drawn_config(seed: int, joint: int | None = 2) -> ab.SearchConfig:
    """Draw every setting of a search of a game where at most `joint` players choose at once, None: any number."""
    settings: dict[str, Any] = {name: one_of(values, dice_of(seed, name)) for name, values in SETTINGS.items()}
    dice = dice_of(seed, "selectors")
    selector, simultaneous = drawn_selector(dice), drawn_selector(dice)
    simultaneous = one_of([None, simultaneous], dice)
    learning = dice_of(seed, "learning")
    if learning.random() < 0.5:
        simultaneous = one_of(AVERAGING if joint else AVERAGING[:5], learning)
    sampling = dice_of(seed, "gumbel")
    if sampling.random() < 0.3:
        selector = one_of(GUMBEL, sampling)
        if sampling.random() < 0.3:
            simultaneous = one_of([None, one_of(GUMBEL, sampling)], sampling)
    return ab.SearchConfig(
        selector=selector,
        simultaneous=simultaneous,
        seed=int(dice.integers(-5, 2**40)),
        **settings,
    )


def drawn_selector(dice: np.random.Generator) -> ab.Puct | ab.Ucb1:
    shared: dict[str, Any] = {
        "scale": one_of(["auto", "range", "node", "graph", "graph", "graph", "graph", "none"], dice),
        "first_play": one_of(FIRST_PLAYS, dice),
        "w0": one_of([0.0, 0.0, 1.0, 2.5], dice),
        "weights": one_of("DABC", dice),
        "ties": one_of(["first", "auto", "random"], dice),
    }
    if dice.random() < 0.25:
        return ab.Ucb1(c=one_of([2.0**0.5, 0.5, 0.0], dice), **shared)
    katago = {"c_init": 1.0, "c_log": 0.45, "c_base": 500.0, "c_off": 0.0}
    constants = one_of([{}, {}, katago, {"c_init": 3.0}], dice)
    return ab.Puct(epsilon=one_of([1.0, 0.0, 0.01], dice), **constants, **shared)


def dice_of(seed: int, name: str) -> np.random.Generator:
    return np.random.default_rng([seed, *name.encode()])


def one_of(options: Sequence[Any], dice: np.random.Generator) -> Any:
    return options[int(dice.integers(len(options)))]


class TableOfObjects(ab.ObjectGame):
    """The same game by names of nodes: states are Python objects, and draws follow the path to a node."""

    def __init__(self, game: RandomGame) -> None:
        self.players, self.actions, self.outcomes = game.players, game.actions, game.outcomes
        self.returns, self.rewards_along = game.returns, game.rewards_along
        self.discount, self.cycles, self.table = game.discount, game.cycles, game.table
        self.zero_sum = game.zero_sum

    def setup(self, random: ab.Random) -> Any:
        return self.table["root"]

    def turn(self, state: Any) -> int:
        node = self.table["nodes"][state]
        if node["kind"] == "decision":
            return sum(ab.player(seat) for seat in node["acting"])
        return ab.CHANCE if node["kind"] == "chance" else ab.OVER

    def legal(self, state: Any, player: int) -> list[int]:
        node = self.table["nodes"][state]
        return list(range(node["choices"][node["acting"].index(player)]))

    def chance(self, state: Any) -> Any:
        return [(outcome, p) for outcome, (p, _, _) in enumerate(self.table["nodes"][state]["outcomes"])]

    def step(self, state: Any, actions: Any) -> Any:
        node = self.table["nodes"][state]
        if node["kind"] == "chance":
            return tuple(node["outcomes"][actions[0]][1:])
        joint = [actions[seat] for seat in node["acting"]]
        return next(tuple(edge[1:]) for edge in node["edges"] if edge[0] == joint)
