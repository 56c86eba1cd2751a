"""Zero-sum matrix games: a deterministic equilibrium, and how far strategies are from one.

Plain doubles, only + − · / and comparisons, every loop in a fixed order: the engine repeats these functions operation
by operation, since a table may have many equilibria and both must find the same one. (No `sum()`: from Python 3.12 on
it compensates rounding, so the same floats add up differently between versions.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeVar

from anabranch.errors import UsageError
from anabranch.search.maths.double_double import DoubleDouble

Matrix = Sequence[Sequence[float]]
Strategy = list[float]
Number = TypeVar("Number", float, DoubleDouble)

#: Below this, next to entries of size 1, a number is taken for rounding noise of 0: reduced costs, pivots, differences
#: of ratios. Tables that tie only up to 1e-9 or so (searched values do) may need pivots near that, and lose as many
#: digits; where a strategy found in doubles can be exploited by more than GOOD, it is sought again in double-doubles.
NOISE = 1e-12
NOISE_TWICE = 1e-22
GOOD = 1e-11


def exploitability(matrix: Matrix, row: Sequence[float], column: Sequence[float]) -> float:
    """Return how much a best reply gains on average over the two seats; 0 exactly at an equilibrium.

        NashConv / 2 = ( max_i (A·y)_i − min_j (xᵀ·A)_j ) / 2

    `matrix` holds what the row player gets and the column player pays.
    """
    rows, columns = _shape(matrix)
    best_row, best_column = -math.inf, math.inf
    for i in range(rows):
        best_row = max(best_row, _dot(matrix[i], column))
    for j in range(columns):
        total = 0.0
        for i in range(rows):
            total += row[i] * matrix[i][j]
        best_column = min(best_column, total)
    return (best_row - best_column) / 2.0


def equilibrium(matrix: Matrix) -> tuple[Strategy, Strategy, float]:
    """Return (x, y, value): optimal strategies of the row player, who gets the entries, and of the other, who pays.

    In this order: a constant table gives both players the uniform strategy; a table with a saddle point gives the
    first maximin row and the first minimax column, pure; any other table is mapped linearly onto [1, 2] and goes
    through the simplex method, in doubles and, where they do not do (see GOOD), in double-doubles. The value is
    xᵀ·A·y. Both strategies are unexploitable to about 1e-11 of the table's range.
    """
    rows, columns = _shape(matrix)
    low, high = matrix[0][0], matrix[0][0]
    for i in range(rows):
        for j in range(columns):
            low, high = min(low, matrix[i][j]), max(high, matrix[i][j])
    if not math.isfinite(high - low):
        raise UsageError(f"the entries of a matrix game lie too far apart for doubles: {low} to {high}")
    if low == high:
        return [1.0 / rows] * rows, [1.0 / columns] * columns, float(low)
    saddle = _saddle(matrix)
    if saddle is not None:
        i, j = saddle
        return _pure(rows, i), _pure(columns, j), float(matrix[i][j])
    table = [[1.0 + (entry - low) / (high - low) for entry in line] for line in matrix]
    x, y = _simplex(table, float, NOISE)
    if not exploitability(table, x, y) <= GOOD:
        x, y = _simplex(table, DoubleDouble, NOISE_TWICE)
    value = 0.0
    for i in range(rows):
        value += x[i] * _dot(matrix[i], y)
    return x, y, value


def _saddle(matrix: Matrix) -> tuple[int, int] | None:
    """Return the first maximin row and the first minimax column if they meet: max_i min_j A = min_j max_i A."""
    rows, columns = len(matrix), len(matrix[0])
    best_row, maximin = 0, -math.inf
    for i in range(rows):
        worst = matrix[i][0]
        for j in range(1, columns):
            worst = min(worst, matrix[i][j])
        if worst > maximin:
            best_row, maximin = i, worst
    best_column, minimax = 0, math.inf
    for j in range(columns):
        worst = matrix[0][j]
        for i in range(1, rows):
            worst = max(worst, matrix[i][j])
        if worst < minimax:
            best_column, minimax = j, worst
    return (best_row, best_column) if maximin == minimax else None


def _simplex(entries: Matrix, number: Callable[[float], Number], noise: float) -> tuple[Strategy, Strategy]:
    """Return optimal strategies for a table of positive entries by the primal simplex method (Dantzig 1951).

        maximise Σ_j w_j   subject to   B·w ≤ 1, w ≥ 0;      y = w / Σw,   x = duals / Σ duals,   value = 1 / Σw

    The origin is feasible and, all entries being positive, the maximum is finite. The tableau is condensed: one line
    per basic variable, one column per non-basic one; variables 0 … n−1 are the w, then come the slacks. The entering
    variable has the largest reduced cost, the leaving one the smallest ratio, then the largest pivot; remaining ties
    go to the smaller variable. After a pivot that did not raise Σw, Bland's rule (1977: the smallest variable both
    times) takes over until Σw rises, so that degenerate tables cannot make it turn in circles.
    """
    rows, columns = len(entries), len(entries[0])
    zero, small = number(0.0), number(noise)
    table = [[number(entry) for entry in line] for line in entries]
    bound, cost = [number(1.0)] * rows, [number(1.0)] * columns
    outside = list(range(columns))  # the non-basic variable of each column
    basis = list(range(columns, columns + rows))  # the basic variable of each line
    bland = False
    for _ in range(100 * (rows + columns)):  # far beyond what was ever seen; the strategies are then the best so far
        entering = _entering(cost, outside, small, bland)
        if entering is None:
            break
        leaving = _leaving(table, bound, basis, entering, small, bland)
        if leaving is None:
            break
        bland = bound[leaving] <= small
        _pivot(table, bound, cost, leaving, entering, number(1.0), zero)
        outside[entering], basis[leaving] = basis[leaving], outside[entering]
    x, y = [0.0] * rows, [0.0] * columns
    for i in range(rows):
        if basis[i] < columns:
            y[basis[i]] = float(bound[i])
    for j in range(columns):
        if outside[j] >= columns:
            x[outside[j] - columns] = float(-cost[j])
    return _normalised(x), _normalised(y)


def _entering(cost: list[Number], outside: list[int], small: Number, bland: bool) -> int | None:
    """Return the column whose variable enters the basis, None at the optimum."""
    chosen = None
    for j in range(len(cost)):
        if cost[j] <= small:
            continue
        if (
            chosen is None
            or (not bland and cost[j] > cost[chosen])
            or ((bland or cost[j] == cost[chosen]) and outside[j] < outside[chosen])
        ):
            chosen = j
    return chosen


def _leaving(
    table: list[list[Number]], bound: list[Number], basis: list[int], entering: int, small: Number, bland: bool
) -> int | None:
    """Return the line whose variable leaves the basis: the one that reaches 0 first as the entering variable grows."""
    smallest: Number | None = None
    for i in range(len(bound)):
        if table[i][entering] > small:
            ratio = bound[i] / table[i][entering]
            if smallest is None or ratio < smallest:
                smallest = ratio
    chosen = None
    for i in range(len(bound)):
        if smallest is None or table[i][entering] <= small or bound[i] / table[i][entering] - smallest > small:
            continue
        if (
            chosen is None
            or (not bland and table[i][entering] > table[chosen][entering])
            or ((bland or table[i][entering] == table[chosen][entering]) and basis[i] < basis[chosen])
        ):
            chosen = i
    return chosen


def _pivot(
    table: list[list[Number]],
    bound: list[Number],
    cost: list[Number],
    leaving: int,
    entering: int,
    one: Number,
    zero: Number,
) -> None:
    """Exchange a basic and a non-basic variable; in place."""
    line, pivot = table[leaving], table[leaving][entering]
    for j in range(len(cost)):
        if j != entering:
            line[j] = line[j] / pivot
    bound[leaving] = bound[leaving] / pivot
    for i in range(len(bound)):
        factor = table[i][entering]
        if i == leaving or factor == zero:
            continue
        for j in range(len(cost)):
            if j != entering:
                table[i][j] = table[i][j] - factor * line[j]
        table[i][entering] = -(factor / pivot)
        bound[i] = bound[i] - factor * bound[leaving]
        if bound[i] < zero:  # by rounding only
            bound[i] = zero
    factor = cost[entering]
    for j in range(len(cost)):
        if j != entering:
            cost[j] = cost[j] - factor * line[j]
    cost[entering] = -(factor / pivot)
    line[entering] = one / pivot


def _normalised(weights: list[float]) -> Strategy:
    """Return weights as probabilities; what rounding pushed below 0 is 0."""
    total = 0.0
    for i in range(len(weights)):
        weights[i] = max(0.0, weights[i])
        total += weights[i]
    return [weight / total for weight in weights]


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    total = 0.0
    for i in range(len(left)):
        total += left[i] * right[i]
    return total


def _pure(count: int, index: int) -> Strategy:
    strategy = [0.0] * count
    strategy[index] = 1.0
    return strategy


def _shape(matrix: Matrix) -> tuple[int, int]:
    """Return (rows, columns) of a full table of finite numbers."""
    rows = len(matrix)
    columns = len(matrix[0]) if rows else 0
    if not columns or any(len(line) != columns for line in matrix):
        raise UsageError("a matrix game needs at least one row and one column, and rows of equal length")
    if not all(math.isfinite(entry) for line in matrix for entry in line):
        raise UsageError("a matrix game needs finite entries")
    return rows, columns
