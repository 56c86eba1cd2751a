"""The frozen evaluation set of a run: positions with known best moves, on which every checkpoint is scored.

Positions come from random play, and are those whose whole future `ab.solve` can go through: all of a small game, the
endings of a larger one. The same game and seed always give the same set. Cheaper and steadier than matches, and blind
to what happens earlier in the game.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from anabranch.errors import AnabranchError
from anabranch.evaluate.batch import Batch, answers
from anabranch.game.game import Game
from anabranch.game.random import Random, below, key_of
from anabranch.game.state import State
from anabranch.game.words import CHANCE
from anabranch.learn.records import seats_of
from anabranch.search.engine.searcher import Searcher
from anabranch.search.exact.solve import solve
from anabranch.search.settings.config import SearchConfig

MOST_STATES = 50_000  # that may follow a position
MOST_GAMES = 20  # random games per position wanted, before the set stays smaller
FEWEST = 10  # positions that say anything


@dataclass(frozen=True)
class Solved:
    """A position where one player decides, and its best moves: not all that there are."""

    state: State
    best: frozenset[int]


@dataclass(frozen=True)
class Score:
    """The share of positions in which a best move was chosen: by the policy alone, and by a search."""

    positions: int
    policy: float
    search: float
    simulations: int


def solved_positions(game: Game, count: int, seed: int = 0) -> list[Solved]:
    """Return so many different positions with their best moves; fewer, or none, where games cannot be solved."""
    found: dict[Any, Solved] = {}
    for number in range(MOST_GAMES * count):
        if len(found) >= count or (number >= MOST_GAMES and not found):
            break
        random = Random(key_of((seed, number, 0x736F6C76)))
        states = [state for state in _played(game, number, random) if len(seats_of(state)) == 1]
        if not states:
            break
        state = states[below(random, len(states))]
        best = _best(state)
        if best and len(best) < len(state.choices(seats_of(state)[0])):
            found.setdefault(state.data, Solved(state, best))
    return list(found.values()) if len(found) >= FEWEST else []


def scored(positions: Sequence[Solved], evaluator: Any, simulations: int) -> Score:
    """Return how often an evaluator's policy and a search with it choose a best move."""
    states = [each.state for each in positions]
    logits, _ = answers(evaluator, Batch(states, keys=[0] * len(states)))
    searcher = Searcher(states[0].game, evaluator, SearchConfig(), threads=1)
    roots = [searcher.root(state, stream=number) for number, state in enumerate(states)]
    results = searcher.run(roots, simulations=simulations)
    by_policy = by_search = 0
    for row, (each, result) in enumerate(zip(positions, results, strict=True)):
        seat = seats_of(each.state)[0]
        legal = each.state.legal(seat)
        said = np.zeros(each.state.game.actions) if logits is None else logits[row]
        own = said[seat] if said.ndim == 2 else said
        choice = max(legal, key=lambda action: own[action])
        by_policy += _meant(each.state, seat, choice) in each.best
        by_search += result.action in each.best
    return Score(len(positions), by_policy / len(positions), by_search / len(positions), simulations)


def _meant(state: State, seat: int, action: int) -> int:
    """Return the id that stands for all that do the same as an action."""
    return next(name for name, ids in state.choices(seat).items() if action in ids)


def _best(state: State) -> frozenset[int]:
    try:
        best = solve(state, max_states=MOST_STATES).best_of(state)
    except AnabranchError:  # too many states, or loops without a value
        return frozenset()
    return frozenset(int(action) for action in best[seats_of(state)[0]])


def _played(game: Game, number: int, random: Random) -> list[State]:
    """Return the positions of a random game in which somebody decides."""
    states: list[State] = []
    state = game.start(number)
    while not state.over and len(states) < 1000:
        if state.turn_bits == CHANCE:
            state, _ = state.step(state.sample(random))
            continue
        states.append(state)
        choices = [list(state.choices(seat)) for seat in seats_of(state)]
        state, _ = state.step([own[below(random, len(own))] for own in choices])
    return states
