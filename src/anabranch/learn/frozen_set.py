"""The frozen positions of a run, whose best moves are known: the same game and seed always give the same ones.

Where a game has an oracle of its own they come from random and from strong play, as two sets; those of connect four
were made once and are stored in the package, since a position at ply 8 takes seconds. Else they come from random play
and are those whose whole future `ab.solve` can go through: all of a small game, the endings of a larger one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from anabranch.errors import AnabranchError, DataError, TooManyStatesError, UsageError, reason
from anabranch.files import DATA, read_file
from anabranch.game.compiled import CompiledGame
from anabranch.game.environment import EnvironmentGame
from anabranch.game.game import Game
from anabranch.game.random import Random, below, key_of
from anabranch.game.state import State
from anabranch.learn.records import random_line, seats_of
from anabranch.play.agent import Move
from anabranch.play.fixed_set import fixed_set
from anabranch.search.exact.oracle import EQUAL, Oracle, SolvedOracle, own_oracle
from anabranch.search.exact.solve import solve

STORED = DATA / "positions"
KIND, FORMAT, LARGEST = "anabranch frozen positions", 1, 2**22
MOST_STATES, EFFORT = 50_000, 10_000_000  # that may follow a position without an oracle, and all that are looked at
MOST_SLOW, EFFORT_SLOW = 6_000, 100_000  # the same of rules that are not compiled: about ten seconds
LONGEST = 1000  # decisions of a random game
MOST_GAMES = 20  # random games per position wanted, before the set stays smaller
FEWEST = 10  # positions that say anything
TRIED = 3  # positions drawn for each one wanted: in some of them all moves are equally good
STRONG = "search:simulations=200,temperature=0.7"  # who plays the games of a strong set


@dataclass(frozen=True)
class Solved:
    """A position where one player decides, and what each choice is worth to it; not all are worth the same."""

    state: State
    worth: dict[int, float]

    @property
    def best(self) -> frozenset[int]:
        """The choices that lose nothing."""
        return frozenset(action for action in self.worth if self.regret(action) <= EQUAL)

    def regret(self, action: int) -> float:
        """Return what a choice loses."""
        return max(self.worth.values()) - self.worth[action]


Sets = dict[str, list[Solved]]  # by who played the games that positions are from


class Row(msgspec.Struct, forbid_unknown_fields=True):
    """A stored position: the moves from the start that lead there, and what each choice is worth."""

    moves: tuple[Move, ...]
    worth: dict[int, float]


class Stored(msgspec.Struct, forbid_unknown_fields=True):
    """What a file of the package says."""

    kind: str
    format: int
    game: str
    made_by: dict[str, str]
    sets: dict[str, list[Row]]


def frozen_positions(game: Game, count: int, seed: int = 0) -> Sets:
    """Return about so many positions, in sets of one size; fewer, or none, where positions cannot be solved."""
    if count < 1:
        return {}
    found = stored(game, count)
    if not found:
        oracle = own_oracle(game)
        found = _by_play(game, count, seed) if oracle is None else _by_oracle(game, oracle, count, seed)
    each = -(-count // max(1, len(found)))
    return {name: positions[:each] for name, positions in found.items() if len(positions) >= min(FEWEST, count)}


def stored(game: Game, most: int | None = None) -> Sets:
    """Return the sets of a game that come with the package, or so many of each; none for most games."""
    path = STORED / f"{game.name}.json"
    if not path.is_file():
        return {}
    try:
        said = msgspec.json.decode(read_file(path, LARGEST), type=Stored)
    except msgspec.DecodeError as error:
        raise DataError(f"{path} is no file of frozen positions: {reason(error)}") from None
    if (said.kind, said.format) != (KIND, FORMAT):
        raise DataError(f"{path} is no file of frozen positions that this version reads")
    if said.game != game.written_out:  # of another size
        return {}
    return {
        name: [Solved(_reached(game, row.moves), row.worth) for row in rows[:most]] for name, rows in said.sets.items()
    }


def _reached(game: Game, moves: Iterable[Move]) -> State:
    state = game.start()
    for move in moves:
        state, _ = state.step(move)
    return state


def solved(oracle: Oracle, state: State) -> Solved | None:
    """Return a position as its oracle knows it; None where all choices are worth the same."""
    worth = oracle.action_values(state)
    return Solved(state, worth) if max(worth.values()) - min(worth.values()) > EQUAL else None


def _by_oracle(game: Game, oracle: Oracle, count: int, seed: int) -> Sets:
    """Draw positions that an oracle answers quickly, from random and strong play; in solitaires that is its own."""
    found: Sets = {}
    for name, agent in (("random", "random"), ("strong", STRONG if game.players > 1 else "oracle")):
        wanted = -(-count // 2)
        try:
            drawn: Sequence[State] = fixed_set(
                game, TRIED * wanted, seed=seed, agent=agent, where=oracle.is_quick
            ).states
        except UsageError:  # there are not so many
            continue
        known = (solved(oracle, state) for state in drawn)
        found[name] = [each for each in known if each is not None][:wanted]
    return found


def _by_play(game: Game, count: int, seed: int) -> Sets:
    """Draw positions from random play and solve all that can follow each, as long as that takes no more than EFFORT.

    Where that is too much, only positions nearer to the end of their game are tried from then on.
    """
    if isinstance(game, EnvironmentGame):  # which cannot be copied, so every step of a solver begins an episode again
        return {}
    compiled = isinstance(game, CompiledGame) and game.compiled
    most, left = (MOST_STATES, EFFORT) if compiled else (MOST_SLOW, EFFORT_SLOW)
    near = LONGEST  # so many decisions before the end
    found: dict[Any, Solved] = {}
    for number in range(MOST_GAMES * count):
        if len(found) >= count or left <= 0 or (number >= MOST_GAMES and not found):
            break
        random = Random(key_of((seed, number, 0x736F6C76)))
        states = [state for state in random_line(game, number, random, LONGEST) if len(seats_of(state)) == 1]
        if not states:
            break
        at = max(0, len(states) - near)
        at += below(random, len(states) - at)
        try:
            solution = solve(states[at], max_states=most)
        except TooManyStatesError:
            left -= most
            near = max(1, len(states) - at - 1)
            continue
        except AnabranchError:  # loops without a value
            left -= most
            continue
        left -= solution.states
        known = solved(SolvedOracle(solution), states[at])
        if known is not None:
            found.setdefault(states[at].data, known)
    return {"random": [*found.values()]}
