"""The value of a state from those of its children, in Python; cpp/anabranch/solve.hpp does the same natively."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from anabranch.errors import GameError, MissingExtraError, UsageError
from anabranch.game.game import Game
from anabranch.search.exact.finite import Position

Floats = npt.NDArray[np.float64]

SWEEPS = 1_000_000  # over one loop of states, before we give up
SAME = 1e-9  # sums of payoffs that differ by less, relative to their size, are the same sum


def cells(game: Game, position: Position, values: Floats) -> Floats:
    """Return r + γ·V of every joint choice, one axis per acting player and a last one over players."""
    worth: Floats = position.rewards + game.discount * values[position.children]
    return worth.reshape(*(len(choices) for choices in position.choices), game.players)


def play(game: Game, position: Position, values: Floats) -> tuple[Floats, list[Floats]]:
    """Return the cells of a decision and, per acting player, the strategy over its choices."""
    if not position.seats:
        return np.zeros(game.players), []
    table = cells(game, position, values)
    strategies = [np.ones(1)] * len(position.seats)
    wide = [axis for axis, choices in enumerate(position.choices) if len(choices) > 1]
    if len(wide) == 1:
        worth = table[..., position.seats[wide[0]]].reshape(-1)
        strategies[wide[0]] = _pure(len(worth), int(np.argmax(worth)))
    elif len(wide) > 1:
        if game.players != 2 or not _constant_sum(table):
            together = " and ".join(str(position.seats[axis]) for axis in wide)
            raise UsageError(
                f"{game.name}: players {together} choose at once and what they get does not add up to a constant; "
                "only two players with opposite interests have an exact value"
            )
        strategies = list(equilibrium_by_linear_programming(table[..., 0]))
    return table, strategies


def value_from(game: Game, position: Position, values: Floats) -> Floats:
    """Return the value vector of one state from its children's."""
    if not position.children:
        return np.zeros(game.players)
    if len(position.chances):
        shares = position.chances[:, None] * (position.rewards + values[position.children])
        return np.asarray(shares.cumsum(axis=0)[-1])  # one after the other, as the engine adds
    wide = [axis for axis, choices in enumerate(position.choices) if len(choices) > 1]
    if len(wide) <= 1:  # the common case, without the machinery below
        worth: Floats = position.rewards + game.discount * values[position.children]
        return np.asarray(worth[worth[:, position.seats[wide[0]]].argmax() if wide else 0])
    value, strategies = play(game, position, values)
    for strategy in strategies:
        value = np.tensordot(strategy, value, axes=(0, 0))
    return value


def iterate(
    game: Game,
    positions: Sequence[Position],
    loop: list[int],
    values: Floats,
    tolerance: float,
    beat: Callable[[int], None],
) -> None:
    """Sweep over states that follow each other until their values settle; in place."""
    for sweep in range(1, SWEEPS + 1):
        change = 0.0
        for number in loop:
            value = value_from(game, positions[number], values)
            change = max(change, float(np.abs(value - values[number]).max()))
            values[number] = value
            beat(sweep)
        if change <= tolerance:
            return
    raise unsettled(game, len(loop))


def smallest_gap(game: Game, positions: Sequence[Position], values: Floats) -> float:
    """Return the smallest difference between two choices of one player who moves alone; infinite without any."""
    smallest = np.inf
    for position in positions:
        wide = [axis for axis, choices in enumerate(position.choices) if len(choices) > 1]
        if len(wide) == 1:
            worth = np.sort(cells(game, position, values)[..., position.seats[wide[0]]].reshape(-1))
            smallest = min(smallest, float(np.diff(worth).min()))
    return smallest


def unsettled(game: Game, count: int) -> GameError:
    """Return what is said of a loop whose values go on changing."""
    return GameError(
        f"{game.name}: the values of a loop of {count:,} states had not settled after {SWEEPS:,} sweeps; does it pay "
        "without end? Give solve a larger tolerance, or the game a discount below 1"
    )


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
