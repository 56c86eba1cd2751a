"""The equilibrium of a matrix game, against linear programming and against what is known by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from anabranch.errors import UsageError
from anabranch.game.random import Random, below
from anabranch.search.exact.backup import equilibrium_by_linear_programming
from anabranch.search.maths.double_double import DoubleDouble
from anabranch.search.maths.matrix_game import GOOD, NOISE, NOISE_TWICE, _simplex, equilibrium, exploitability

KINDS: dict[str, Callable[[np.random.Generator, int, int], Any]] = {
    "normal": lambda random, rows, columns: random.normal(size=(rows, columns)),
    "integers": lambda random, rows, columns: whole(random, rows, columns),
    "wins and losses": lambda random, rows, columns: np.sign(whole(random, rows, columns)),
    "repeated": lambda random, rows, columns: np.repeat(whole(random, rows, columns), 2, axis=random.integers(2)),
    "antisymmetric": lambda random, rows, columns: (lambda table: table - table.T)(whole(random, rows, rows)),
    "of rank two": lambda random, rows, columns: random.normal(size=(rows, 2)) @ random.normal(size=(2, columns)),
    "nearly tied": lambda random, rows, columns: whole(random, rows, columns) + noise(random, rows, columns),
    "nearly tied thirds": lambda random, rows, columns: (
        (whole(random, rows, columns) + noise(random, rows, columns)) / 3
    ),
    "of all sizes": lambda random, rows, columns: (
        whole(random, rows, columns) * 10.0 ** -random.integers(0, 7, columns)
    ),
}


def whole(random: np.random.Generator, rows: int, columns: int) -> Any:
    return random.integers(-2, 3, (rows, columns)).astype(float)


def noise(random: np.random.Generator, rows: int, columns: int) -> Any:
    return random.normal(size=(rows, columns)) * 10.0 ** random.integers(-16, -4)


@pytest.mark.parametrize("kind", KINDS)
def test_equilibrium_is_unexploitable_and_worth_what_linear_programming_says(kind):
    """Theorem (von Neumann): optimal strategies guarantee both players the value, and the value is one number."""
    random = np.random.default_rng(sum(map(ord, kind)))
    for _ in range(250):
        rows, columns = random.integers(1, 50 if random.random() < 0.05 else 8, 2).tolist()
        table = KINDS[kind](random, rows, columns)
        x, y, value = equilibrium(table.tolist())
        for strategy in (x, y):
            assert min(strategy) >= 0.0
            assert math.fsum(strategy) == pytest.approx(1.0, abs=1e-12)
        scale = max(1.0, float(np.abs(table).max()))
        assert -1e-12 * scale <= exploitability(table.tolist(), x, y) <= 1e-10 * scale
        x_linear, y_linear = equilibrium_by_linear_programming(table)
        assert value == pytest.approx(
            float(x_linear @ table @ y_linear), abs=(1e-7 if "nearly" in kind else 1e-9) * scale
        )
        if kind == "antisymmetric":  # a game that treats both players alike is worth nothing
            assert value == pytest.approx(0.0, abs=1e-10)


@pytest.mark.parametrize(
    ("table", "x", "y", "value"),
    [
        ([[1, -1], [-1, 1]], [1 / 2, 1 / 2], [1 / 2, 1 / 2], 0),  # matching pennies
        ([[0, -1, 1], [1, 0, -1], [-1, 1, 0]], [1 / 3] * 3, [1 / 3] * 3, 0),  # rock, paper, scissors
        ([[2, -1], [-1, 1]], [2 / 5, 3 / 5], [2 / 5, 3 / 5], 1 / 5),
        ([[0, 2, -1], [-1, 0, 1], [1, -1, 0]], [1 / 4, 1 / 3, 5 / 12], [1 / 3, 1 / 4, 5 / 12], 1 / 12),
        ([[3, 1], [0, -2]], [1, 0], [0, 1], 1),  # a saddle point
        ([[4, 2, 3]], [1], [0, 1, 0], 2),
        ([[4], [2], [5], [5]], [0, 0, 1, 0], [1], 5),
        ([[0, 0], [0, 0], [0, 0]], [1 / 3] * 3, [1 / 2] * 2, 0),
        ([[7]], [1], [1], 7),
    ],
)
def test_equilibrium_by_hand(table, x, y, value):
    found_x, found_y, found_value = equilibrium(table)
    assert found_x == pytest.approx(x)
    assert found_y == pytest.approx(y)
    assert found_value == pytest.approx(value)


def test_exploitability_by_hand():
    """Always heads: the other side wins 1 by always answering tails; half of that is the average over the seats."""
    assert exploitability([[1, -1], [-1, 1]], [1, 0], [0.5, 0.5]) == 0.5
    assert exploitability([[1, -1], [-1, 1]], [1, 0], [1, 0]) == 1.0


@pytest.mark.parametrize("factor", [1e-9, 3.0, 1e12])
def test_equilibrium_does_not_depend_on_the_scale(factor):
    """Law: y = a·x + b with a > 0 changes the value alone."""
    random = np.random.default_rng(7)
    table = random.integers(-4, 5, (6, 5)).astype(float)
    x, y, value = equilibrium(table.tolist())
    x_scaled, y_scaled, value_scaled = equilibrium((factor * table + factor).tolist())
    assert x_scaled == pytest.approx(x, abs=1e-9)
    assert y_scaled == pytest.approx(y, abs=1e-9)
    assert value_scaled == pytest.approx(factor * value + factor, rel=1e-9)


def test_equilibrium_is_the_same_to_the_last_bit():
    """The engine copies this function operation by operation; these digits change only when an operation does."""
    random = Random(2026)
    digits = 0.0
    for size in range(2, 20):
        table = [[below(random, 19) - 9.0 for _ in range(size + 1)] for _ in range(size)]
        x, y, value = equilibrium(table)
        for weight, probability in enumerate([*x, *y, value]):
            digits += weight * probability
    assert digits.hex() == "0x1.86382c2a081bep+8"


def test_nearly_tied_tables_need_double_doubles():
    """A table whose basis has a pivot of 1e-9 is solved wrongly in doubles alone: the second try must be there."""
    random = np.random.default_rng(5)
    worst_once, worst_twice = 0.0, 0.0
    for _ in range(150):
        table = (1.5 + random.integers(-1, 2, (7, 10)) / 2 + random.normal(size=(7, 10)) * 1e-9).tolist()
        worst_once = max(worst_once, exploitability(table, *_simplex(table, float, NOISE)))
        worst_twice = max(worst_twice, exploitability(table, *_simplex(table, DoubleDouble, NOISE_TWICE)))
    assert worst_once > 100 * GOOD
    assert worst_twice < GOOD


@pytest.mark.parametrize("table", [[], [[]], [[1.0, 2.0], [1.0]], [[math.nan]], [[1.0, math.inf]], [[-1e308, 1e308]]])
def test_what_is_no_matrix_game_is_refused(table):
    with pytest.raises(UsageError):
        equilibrium(table)


fractions = some.builds(
    lambda high, low: DoubleDouble(high) - DoubleDouble(low * 2.0**-60),
    some.integers(-(2**40), 2**40).filter(bool).map(float),
    some.integers(-(2**10), 2**10).map(float),
)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(fractions, fractions)
def test_double_doubles_have_a_hundred_bits(a, b):
    """Law: + − · / of numbers with 106 bits are right to about that many, measured with exact fractions."""
    exact_a, exact_b = (Fraction(number.high) + Fraction(number.low) for number in (a, b))
    for found, exact in ((a - b, exact_a - exact_b), (a * b, exact_a * exact_b), (a / b, exact_a / exact_b)):
        error = abs(Fraction(found.high) + Fraction(found.low) - exact)
        assert error <= abs(exact) * Fraction(1, 2**98)
        assert abs(found.low) <= abs(found.high) * 2.0**-52
