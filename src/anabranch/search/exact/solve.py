"""Exact solutions of finite games by dynamic programming: what every search should converge to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from anabranch.errors import CycleError, GameError, MissingExtraError, UsageError
from anabranch.game.game import Game
from anabranch.game.state import State
from anabranch.search.exact.finite import FiniteGame, Position, components, describe_loop, explore
from anabranch.search.settings.arguments import checked_state

Floats = npt.NDArray[np.float64]

SWEEPS = 1_000_000  # over one loop of states, before we give up
SAME = 1e-9  # sums of payoffs that differ by less, relative to their size, are the same sum
NO_VALUE = {
    True: "declare self.cycles = 'bootstrap' if such loops end by chance, and it is solved by iteration",
    False: "a fixed value for repetitions depends on the path, so a state alone has no value",
}


def solve(start: State | Game, max_states: int = 1_000_000, tolerance: float = 1e-12) -> Solution:
    """Solve everything that can follow a state (or a game's first state) and return the exact values.

        over       V = 0
        chance     V = Σ_o p(o)·(r(o) + V(child))
        decision   V = r + γ·V(child) of the choice best for the player to move (max^n); the first one if several are
        together   two players, constant sum: V of the equilibrium of the table r + γ·V (needs scipy)

    For one player that is the maximum, for two with opposite payoffs minimax. With more players, or payoffs that are
    not opposite, another tie rule may have another value. States are merged by their key. Values are doubles; rewards
    are taken as the game gives them (a search rounds them to float32).

    A game whose `cycles` are "bootstrap" is iterated, loop by loop, until no value of the loop changes by more than
    `tolerance` in a sweep, from 0: the limit of longer and longer games. Other cycles are a CycleError.
    """
    finite = explore(start.start() if isinstance(start, Game) else checked_state(start), max_states)
    game, _, _, positions = finite
    values = np.zeros((len(positions), game.players))
    for component in components(positions):
        first = component[0]
        if len(component) == 1 and first not in positions[first].children:
            values[first] = _value(game, positions[first], values)
        elif game.cycles == "bootstrap":
            _iterate(game, positions, component, values, tolerance)
        else:
            raise CycleError(f"{describe_loop(finite, set(component))}\n{NO_VALUE[game.cycles is None]}")
    return Solution(finite, values)


class Solution:
    """The exact values and best play of every state that can follow the one that was solved."""

    def __init__(self, finite: FiniteGame, values: Floats) -> None:
        self.game = finite.game
        self._numbers, self._positions, self._values = finite.numbers, finite.positions, values

    @property
    def states(self) -> int:
        """How many different states there are, game-over ones included."""
        return len(self._positions)

    @property
    def value(self) -> Floats:
        """What the start is worth to each player."""
        return np.array(self._values[0])

    def __contains__(self, state: State) -> bool:
        return state.game == self.game and state.key in self._numbers

    def value_of(self, state: State) -> Floats:
        """Return what a state is worth to each player from here on."""
        return np.array(self._values[self._find(state)])

    def policy_of(self, state: State) -> dict[int, Floats]:
        """Return each acting player's best strategy, as probabilities over action ids.

        Where one player moves, all mass is on the first best choice (`best_of` lists them all); where two choose at
        once, it is an equilibrium. The mass of a choice is on its representative id.
        """
        position = self._positions[self._find(state)]
        policy = {}
        _, strategies = _play(self.game, position, self._values)
        for seat, choices, strategy in zip(position.seats, position.choices, strategies, strict=True):
            policy[seat] = np.zeros(self.game.actions)
            policy[seat][list(choices)] = strategy
        return policy

    def action_values_of(self, state: State) -> dict[int, Floats]:
        """Return what each acting player's choices are worth to that player, others playing `policy_of`.

        One array per acting player over action ids; NaN where an id is not the representative of a legal choice.
        """
        position = self._positions[self._find(state)]
        cells, strategies = _play(self.game, position, self._values)
        answer = {}
        for axis, (seat, choices) in enumerate(zip(position.seats, position.choices, strict=True)):
            worth = cells[..., seat]
            for other in reversed(range(len(position.seats))):  # from the last axis on, so that earlier ones stay put
                if other != axis:
                    worth = np.tensordot(worth, strategies[other], axes=(other, 0))
            answer[seat] = np.full(self.game.actions, np.nan)
            answer[seat][list(choices)] = worth
        return answer

    def best_of(self, state: State, within: float = 1e-9) -> dict[int, list[int]]:
        """Return, per acting player, the action ids that lose nothing (at most `within`) against `policy_of`."""
        best = {}
        for seat, worth in self.action_values_of(state).items():
            groups = state.choices(seat)
            best[seat] = sorted(
                a for choice in groups if worth[choice] >= np.nanmax(worth) - within for a in groups[choice]
            )
        return best

    def gap(self) -> float:
        """Return the smallest difference between two choices of one player who moves alone; 0 means a tie somewhere.

        Infinite if nobody ever moves alone with two choices. A positive gap makes max^n values unique.
        """
        smallest = np.inf
        for position in self._positions:
            wide = [axis for axis, choices in enumerate(position.choices) if len(choices) > 1]
            if len(wide) == 1:
                worth = np.sort(_cells(self.game, position, self._values)[..., position.seats[wide[0]]].reshape(-1))
                smallest = min(smallest, float(np.diff(worth).min()))
        return smallest

    def _find(self, state: State) -> int:
        if state.game != self.game:
            raise UsageError(f"this is a solution of {self.game!r}, the state belongs to {state.game!r}")
        number = self._numbers.get(state.key)
        if number is None:
            raise UsageError(f"this state cannot follow the one that was solved:\n{state}")
        return number

    def __repr__(self) -> str:
        return f"<Solution of {self.game!r}: {self.states} states, value {self.value.tolist()}>"


def _cells(game: Game, position: Position, values: Floats) -> Floats:
    """Return r + γ·V of every joint choice, one axis per acting player and a last one over players."""
    cells: Floats = position.rewards + game.discount * values[position.children]
    return cells.reshape(*(len(choices) for choices in position.choices), game.players)


def _play(game: Game, position: Position, values: Floats) -> tuple[Floats, list[Floats]]:
    """Return the cells of a decision and, per acting player, the strategy over its choices."""
    if not position.seats:
        return np.zeros(game.players), []
    cells = _cells(game, position, values)
    strategies = [np.ones(1)] * len(position.seats)
    wide = [axis for axis, choices in enumerate(position.choices) if len(choices) > 1]
    if len(wide) == 1:
        worth = cells[..., position.seats[wide[0]]].reshape(-1)
        strategies[wide[0]] = _pure(len(worth), int(np.argmax(worth)))
    elif len(wide) > 1:
        if game.players != 2 or not _constant_sum(cells):
            together = " and ".join(str(position.seats[axis]) for axis in wide)
            raise UsageError(
                f"{game.name}: players {together} choose at once and what they get does not add up to a constant; "
                "only two players with opposite interests have an exact value"
            )
        strategies = list(equilibrium_by_linear_programming(cells[..., 0]))
    return cells, strategies


def _value(game: Game, position: Position, values: Floats) -> Floats:
    """Return the value vector of one state from its children's."""
    if not position.children:
        return np.zeros(game.players)
    if len(position.chances):
        return np.asarray(position.chances @ (position.rewards + values[position.children]))
    wide = [axis for axis, choices in enumerate(position.choices) if len(choices) > 1]
    if len(wide) <= 1:  # the common case, without the machinery below
        worth: Floats = position.rewards + game.discount * values[position.children]
        return np.asarray(worth[worth[:, position.seats[wide[0]]].argmax() if wide else 0])
    value, strategies = _play(game, position, values)
    for strategy in strategies:
        value = np.tensordot(strategy, value, axes=(0, 0))
    return value


def _iterate(game: Game, positions: Sequence[Position], loop: list[int], values: Floats, tolerance: float) -> None:
    """Sweep over states that follow each other until their values settle; in place."""
    for _ in range(SWEEPS):
        change = 0.0
        for number in loop:
            value = _value(game, positions[number], values)
            change = max(change, float(np.abs(value - values[number]).max()))
            values[number] = value
        if change <= tolerance:
            return
    raise GameError(f"{game.name}: the values of a loop of {len(loop)} states had not settled after {SWEEPS} sweeps")


def equilibrium_by_linear_programming(matrix: Floats) -> tuple[Floats, Floats]:
    """Return optimal strategies (rows, columns) of a zero-sum table of what the row player gets.

        maximise v   subject to   Σ_i x_i·A(i, j) ≥ v for every column j,  Σx = 1,  x ≥ 0;      y = the duals

    Independent of `matrix_game.equilibrium`, so that each can be tested against the other.
    """
    rows, columns = matrix.shape
    best_row, best_column = int(np.argmax(matrix.min(axis=1))), int(np.argmin(matrix.max(axis=0)))
    if matrix[best_row].min() == matrix[:, best_column].max():
        return _pure(rows, best_row), _pure(columns, best_column)
    try:
        from scipy.optimize import linprog
    except ImportError:
        raise MissingExtraError("scipy", "exact", "solving states where two players choose at once") from None
    scaled = (matrix - matrix.min()) / (matrix.max() - matrix.min())
    for tolerance in (1e-10, 1e-7):  # nearly tied tables may be infeasible to the tighter one
        answer = linprog(
            np.append(np.zeros(rows), -1.0),
            A_ub=np.column_stack([-scaled.T, np.ones(columns)]),
            b_ub=np.zeros(columns),
            A_eq=np.append(np.ones(rows), 0.0)[None],
            b_eq=[1.0],
            bounds=[(0.0, None)] * rows + [(None, None)],
            method="highs",
            options={"primal_feasibility_tolerance": tolerance, "dual_feasibility_tolerance": tolerance},
        )
        if answer.status == 0:
            break
    else:
        raise GameError(f"the linear program of a {rows} × {columns} table was not solved: {answer.message}")
    x, y = np.maximum(np.asarray(answer.x)[:rows], 0.0), np.maximum(-answer.ineqlin.marginals, 0.0)
    return x / x.sum(), y / y.sum()


def _constant_sum(cells: Floats) -> bool:
    total = cells.sum(axis=-1)
    return bool(np.ptp(total) <= SAME * max(1.0, float(np.abs(cells).max())))


def _pure(count: int, index: int) -> Floats:
    strategy = np.zeros(count)
    strategy[index] = 1.0
    return strategy
