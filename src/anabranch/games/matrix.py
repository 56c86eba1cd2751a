"""Matrix games: all players choose at once, a table says what each gets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import permutations, product
from typing import Any

import numpy as np
import numpy.typing as npt

import anabranch as ab
from anabranch.draw.pieces import payoff_table
from anabranch.errors import UnknownNameError, UsageError
from anabranch.game.parameters import whole

#: name → (payoffs, names of the actions)
PRESETS: dict[str, tuple[list[Any], tuple[str, ...]]] = {
    "matching_pennies": ([[1, -1], [-1, 1]], ("heads", "tails")),
    "rock_paper_scissors": ([[0, -1, 1], [1, 0, -1], [-1, 1, 0]], ("rock", "paper", "scissors")),
    "prisoners_dilemma": ([[(3, 3), (0, 5)], [(5, 0), (1, 1)]], ("cooperate", "defect")),
    "biased": ([[2, -1], [-1, 1]], ("first", "second")),
    "odd_one_out": (
        [
            [[(0, 0, 0), (-1, -1, 2)], [(-1, 2, -1), (2, -1, -1)]],
            [[(2, -1, -1), (-1, 2, -1)], [(-1, -1, 2), (0, 0, 0)]],
        ],
        ("heads", "tails"),
    ),
}


class Matrix(ab.CompiledGame):
    """All players choose at once, and the table pays them; `rounds` such games are played one after the other.

    `payoffs` is a name (matching_pennies, rock_paper_scissors, prisoners_dilemma, biased, or odd_one_out for three), a
    matrix, or a table. A matrix holds what player 0, who chooses the row, gets from player 1, who chooses the column.
    A table of P players has P + 1 axes: payoffs[a_0, …, a_{P−1}, i] is what player i gets when player j plays a_j;
    players may have different numbers of actions.

    "biased" is [[2, −1], [−1, 1]]: worth 1/5 to player 0, both play their first action with probability 2/5. In
    "odd_one_out" three players show a side of a coin, and who shows another than both others gets 1 from each.

    A state is the number of rounds played: what was played in them changes nothing that follows, so it is not
    remembered. A player observes one number, the share of rounds left.
    """

    title = "matrix"

    def __init__(self, payoffs: str | npt.ArrayLike = "matching_pennies", rounds: int = 1) -> None:
        self._names: tuple[str, ...] = ()
        if isinstance(payoffs, str):
            if payoffs not in PRESETS:
                raise UnknownNameError("matrix game", payoffs, PRESETS)
            payoffs, self._names = PRESETS[payoffs]
        table = _table(payoffs)
        self.rounds = whole("rounds", rounds, 1, 1_000_000)
        self.players = table.shape[-1]
        self.counts = np.array(table.shape[:-1], np.int64)
        self.actions = int(self.counts.max())
        self.table = table.reshape(-1, self.players)
        self.lows, self.highs = self.table.min(axis=0), self.table.max(axis=0)
        self.returns = (self.rounds * float(table.min()), self.rounds * float(table.max()))
        self.rewards_along = self.rounds > 1
        self.zero_sum = self.players == 2 and bool((self.table.astype(np.float32).sum(axis=1) == 0.0).all())
        self.observation = (1,)
        self.state = ab.record(played=np.int32)

    def turn(self, state: Any) -> int:
        return ab.OVER if state.played >= self.rounds else (1 << self.players) - 1

    def legal(self, state: Any, player: int, actions: Any) -> int:
        for action in range(self.counts[player]):
            actions[action] = action
        return int(self.counts[player])

    def step(self, state: Any, actions: Any, rewards: Any) -> None:
        cell = 0
        for seat in range(self.players):
            cell = cell * self.counts[seat] + actions[seat]
        for seat in range(self.players):
            rewards[seat] = self.table[cell, seat]
        state.played += 1

    def bounds(self, state: Any, low: Any, high: Any) -> None:
        left = self.rounds - state.played
        for seat in range(self.players):
            low[seat] = left * self.lows[seat]
            high[seat] = left * self.highs[seat]

    def observe(self, state: Any, player: int, planes: Any) -> None:
        planes[0] = (self.rounds - state.played) / self.rounds

    @property
    def payoffs(self) -> npt.NDArray[np.float64]:
        """The table, one axis per player and one for whom it pays."""
        return np.array(self.table).reshape(*self.counts, self.players)

    def symmetries(self) -> Sequence[ab.Symmetry]:
        """Swaps of actions, of seats, or both that leave the table alone; not looked for in large tables."""
        if math.factorial(self.actions) * math.factorial(self.players) > 1000:
            return []
        table, found = self.payoffs, []
        for actions, seats in product(permutations(range(self.actions)), permutations(range(self.players))):
            still = actions == tuple(range(self.actions)) and seats == tuple(range(self.players))
            if not still and _unchanged(table, actions, seats):
                found.append(ab.Symmetry(actions=actions, players=seats))
        return found

    def text(self, state: ab.State) -> str:
        left = "over" if state.over else "all choose at once"
        heading = f"round {min(state.played + 1, self.rounds)} of {self.rounds}: {left}"
        if self.players != 2:
            return heading
        table = self.payoffs
        cells = [[", ".join(f"{x:g}" for x in pair) for pair in row] for row in table.tolist()]
        names = [self.action_name(action) for action in range(self.actions)]
        lines = [["", *names[: table.shape[1]]], *([names[row], *line] for row, line in enumerate(cells))]
        widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
        rows = ["  ".join(part.rjust(width) for part, width in zip(line, widths, strict=True)) for line in lines]
        return "\n".join([*rows, heading])

    def svg(self, state: ab.State) -> str | None:
        """Draw the table of payoffs; those of more than two players are left to the text, which has no table either."""
        if self.players != 2:
            return None
        names = [self.action_name(action) for action in range(self.actions)]
        rows, columns = self.counts.tolist()
        over = "over" if state.over else f"round {state.played + 1} of {self.rounds}"
        payoffs = [[(first, second) for first, second in row] for row in self.payoffs.tolist()]
        return payoff_table(names[:rows], names[:columns], payoffs, over)

    def action_name(self, action: int) -> str:
        return self._names[action] if self._names else str(action)


def _table(payoffs: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return payoffs as a table with one axis per player and a last one for whom they pay; refuse what is neither."""
    try:
        table = np.array(payoffs, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise UsageError("matrix: payoffs are a name, or numbers in rows of equal length") from None
    if table.ndim == 2:
        table = np.stack([table, 0.0 - table], axis=-1)
    if table.size == 0 or table.ndim < 3 or table.shape[-1] != table.ndim - 1 or table.ndim > 9:
        raise UsageError(
            f"matrix: payoffs are a matrix, or a table with one axis for each of 2 to 8 players "
            f"and a last one for whom they pay, found shape {table.shape}"
        )
    if not np.isfinite(table).all():
        raise UsageError("matrix: payoffs must be finite")
    return table


def _unchanged(table: npt.NDArray[np.float64], actions: Sequence[int], seats: Sequence[int]) -> bool:
    """Whether the table stays the same when action a is called actions[a] and player p takes seat seats[p]."""
    counts, players = table.shape[:-1], table.shape[-1]
    for joint in product(*(range(count) for count in counts)):
        moved = [0] * players
        for player, action in enumerate(joint):
            moved[seats[player]] = actions[action]
        if any(action >= count for action, count in zip(moved, counts, strict=True)):
            return False
        if any(table[joint][p] != table[tuple(moved)][seats[p]] for p in range(players)):
            return False
    return True
