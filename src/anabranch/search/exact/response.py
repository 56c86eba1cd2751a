"""What strategies are worth in a finite game, and what a best response to them gets: exact, level by level.

A strategy gives every choice of every state a probability. With the joint probability of an edge e of state n,

    P(e) = chance(e) · Π_i σ_i(e_i),        P_−i(e) the same without player i's factor,

the profile is worth V_i, and the best that player i can do against the others B_i:

    V_i(n) = Σ_e P(e)·(r_i(e) + d(e)·V_i(child))
    B_i(n) = max_a Σ_{e: e_i = a} P_−i(e)·(r_i(e) + d(e)·B_i(child))

A player who does not act has one choice, so both lines hold at chance and wherever others move. States are merged, as
everywhere: a best response to strategies that depend on the state alone needs nothing else either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from anabranch.game.compiled import CompiledGame
from anabranch.game.state import State
from anabranch.search.exact.backup import SWEEPS, unsettled
from anabranch.search.exact.finite import FiniteGame, Position, components, explore
from anabranch.search.exact.native import explore_natively
from anabranch.search.exact.progress import Teller
from anabranch.search.exact.solve import cycle_error

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
View: TypeAlias = Literal["difference", "own"]


@dataclass(frozen=True)
class Responses:
    """What a profile is worth and what best responses to it get, per state and player; states as the game has them."""

    values: Floats  # V [states, P]
    best: Floats  # B [states, P]
    choices: Integers  # the first best choice of a player, by its place among the state's choices [states, P]


@dataclass(frozen=True)
class Level:
    """States whose children lie in earlier levels, or, where it loops, in this one too."""

    states: slice
    edges: slice
    first_edges: Integers  # of each state, counted from the level's first
    rows: list[slice]  # per player
    first_rows: list[Integers]  # per player and state, counted from the level's first
    loops: bool


class WrittenGame:
    """A finite game as arrays, to be played through with one strategy after another.

    A player has a row for each choice of each state, one where it has none to make: `rows_of` says which, and a
    strategy is one array over rows per player.
    """

    def __init__(self, finite: FiniteGame, tolerance: float = 1e-12) -> None:
        self.finite, self.tolerance = finite, tolerance
        game = self.game = finite.game
        positions = [finite.position(number) for number in range(len(finite))]
        heights, looping = self._heights(positions)
        self._order = np.argsort(heights, kind="stable")
        place = np.empty(len(positions), np.int64)
        place[self._order] = np.arange(len(positions))
        self.seats = [position.seats for position in positions]
        self.choices = [position.choices for position in positions]

        players = range(game.players)
        first_edge, first_row = [0], [[0] * game.players]
        children: list[int] = []
        rewards, chances, discounts, rows = [], [], [], []
        for number in self._order.tolist():
            position = positions[number]
            count, row = len(position.children), list(first_row[-1])
            if count:
                children += position.children
                rewards.append(position.rewards)
                chances.append(position.chances if len(position.chances) else np.ones(count))
                discounts.append(np.full(count, 1.0 if len(position.chances) else game.discount))
                sizes = dict(zip(position.seats, map(len, position.choices), strict=True))
                taken = np.tile(np.array(row), (count, 1))
                if sizes:
                    taken[:, position.seats] += np.column_stack(np.unravel_index(np.arange(count), (*sizes.values(),)))
                rows.append(taken)
                row = [row[player] + sizes.get(player, 1) for player in players]
            first_edge.append(len(children))
            first_row.append(row)
        self._first_row = np.array(first_row)
        self._place = place
        self._children = place[np.array(children, np.int64)]
        self._rewards = np.concatenate([np.zeros((0, game.players)), *rewards])
        self._chances = np.concatenate([np.zeros(0), *chances])
        self._discounts = np.concatenate([np.zeros(0), *discounts])
        self._rows = np.concatenate([np.zeros((0, game.players), np.int64), *rows])
        self._levels = self._cut(heights[self._order], looping, np.array(first_edge))

    def __len__(self) -> int:
        return len(self.seats)

    @property
    def opposite(self) -> bool:
        """Whether there are two players and what one is paid, the other pays."""
        return self.game.players == 2 and bool((self._rewards.sum(axis=1) == 0.0).all())

    def uniform(self) -> list[Floats]:
        """Return the strategy that takes every choice equally often: rows to write others into."""
        strategy = []
        for player in range(self.game.players):
            sizes = np.diff(self._first_row[:, player])
            strategy.append(np.repeat(1.0 / np.maximum(sizes, 1), sizes))
        return strategy

    def rows_of(self, number: int, player: int) -> slice:
        """Return the rows of a player's choices in a state."""
        place = self._place[number]
        return slice(int(self._first_row[place, player]), int(self._first_row[place + 1, player]))

    def responses(self, strategy: Sequence[Floats], view: View = "own") -> Responses:
        """Return what a profile is worth in every state, and what each player could have by a best response."""
        game, count = self.game, len(self)
        paid = self._rewards
        if view == "difference":
            assert game.players == 2
            half = 0.5 * (paid[:, 0] - paid[:, 1])
            paid = np.column_stack([half, -half])
        taken = np.column_stack([strategy[player][self._rows[:, player]] for player in range(game.players)])
        joint = self._chances * taken.prod(axis=1)
        others = [self._chances * np.delete(taken, player, axis=1).prod(axis=1) for player in range(game.players)]
        values, best = np.zeros((count, game.players)), np.zeros((count, game.players))
        worth = [np.zeros(len(rows)) for rows in strategy]  # of every choice, against the others' strategies
        for level in self._levels:
            for _ in range(SWEEPS):
                before = values[level.states].copy(), best[level.states].copy()
                below, edges = self._children[level.edges], level.edges
                d = self._discounts[edges]
                shares = joint[edges, None] * (paid[edges] + d[:, None] * values[below])
                values[level.states] = np.add.reduceat(shares, level.first_edges)
                for player in range(game.players):
                    rows = level.rows[player]
                    got = others[player][edges] * (paid[edges, player] + d * best[below, player])
                    worth[player][rows] = np.bincount(
                        self._rows[edges, player] - rows.start, weights=got, minlength=rows.stop - rows.start
                    )
                    best[level.states, player] = np.maximum.reduceat(worth[player][rows], level.first_rows[player])
                after = values[level.states], best[level.states]
                if not level.loops or all(
                    np.abs(new - old).max() <= self.tolerance for new, old in zip(after, before, strict=True)
                ):
                    break
            else:
                raise unsettled(game, level.states.stop - level.states.start)
        choices = np.zeros((count, game.players), np.int64)
        for player, first in enumerate(self._first_row.T):
            for place in np.flatnonzero(np.diff(first) > 1):
                choices[place, player] = int(np.argmax(worth[player][first[place] : first[place + 1]]))
        back = self._place
        return Responses(values[back], best[back], choices[back])

    def _heights(self, positions: Sequence[Position]) -> tuple[Integers, set[int]]:
        """Return the level of every state, 0 where nothing follows, and the levels that loop."""
        heights = np.zeros(len(positions), np.int64)
        looping: set[int] = set()
        for component in components(positions):
            members = set(component)
            following = [child for number in component for child in positions[number].children]
            height = max((int(heights[child]) + 1 for child in following if child not in members), default=0)
            if any(child in members for child in following):
                if self.game.cycles != "bootstrap":
                    raise cycle_error(self.finite, component)
                height = max(height, 1)  # a loop without a way out
                looping.add(height)
            heights[component] = height
        return heights, looping

    def _cut(self, heights: Integers, looping: set[int], first_edge: Integers) -> list[Level]:
        """Cut states, in the order of their levels, into levels; that of states where all is over is left out."""
        levels = []
        for height in range(1, int(heights[-1]) + 1):
            begin, end = (int(np.searchsorted(heights, height, side)) for side in ("left", "right"))
            rows = self._first_row[begin:end]
            levels.append(
                Level(
                    slice(begin, end),
                    slice(int(first_edge[begin]), int(first_edge[end])),
                    first_edge[begin:end] - first_edge[begin],
                    [slice(int(first[begin]), int(first[end])) for first in self._first_row.T],
                    [column - column[0] for column in rows.T],
                    height in looping,
                )
            )
        return levels


def written_out(start: State, max_states: int, teller: Teller, tolerance: float = 1e-12) -> WrittenGame:
    """Find every state that can follow and write the game down as arrays."""
    compiled = isinstance(start.game, CompiledGame) and start.game.compiled
    finite: FiniteGame = (
        explore_natively(start, max_states, tolerance, teller) if compiled else explore(start, max_states, teller)
    )
    return WrittenGame(finite, tolerance)
