"""Numbers with twice the digits of a double, from + − · / on doubles alone, so that they are the same everywhere."""

from __future__ import annotations

from typing import NamedTuple


class DoubleDouble(NamedTuple):
    """The unevaluated sum `high + low` of two doubles, |low| at most half the last digit of `high` (Dekker 1971)."""

    high: float
    low: float = 0.0

    def __sub__(self, other: DoubleDouble) -> DoubleDouble:
        return _add(self, -other)

    def __mul__(self, other: DoubleDouble) -> DoubleDouble:  # type: ignore[override]
        product, error = _two_product(self.high, other.high)
        return DoubleDouble(*_quick_two_sum(product, error + (self.high * other.low + self.low * other.high)))

    def __truediv__(self, other: DoubleDouble) -> DoubleDouble:
        first = self.high / other.high
        rest = self - other * DoubleDouble(first)
        second = rest.high / other.high
        rest = rest - other * DoubleDouble(second)
        third = rest.high / other.high
        return _add(DoubleDouble(*_quick_two_sum(first, second)), DoubleDouble(third))

    def __neg__(self) -> DoubleDouble:
        return DoubleDouble(-self.high, -self.low)

    def __float__(self) -> float:
        return self.high


def _add(a: DoubleDouble, b: DoubleDouble) -> DoubleDouble:
    high, error = _two_sum(a.high, b.high)
    low, rest = _two_sum(a.low, b.low)
    high, error = _quick_two_sum(high, error + low)
    return DoubleDouble(*_quick_two_sum(high, error + rest))


def _two_sum(a: float, b: float) -> tuple[float, float]:
    """Return the rounded sum and its exact error (Knuth)."""
    total = a + b
    from_b = total - a
    return total, (a - (total - from_b)) + (b - from_b)


def _quick_two_sum(a: float, b: float) -> tuple[float, float]:
    """Return the same where |a| ≥ |b| or a = 0."""
    total = a + b
    return total, b - (total - a)


def _two_product(a: float, b: float) -> tuple[float, float]:
    """Return the rounded product and its exact error (Dekker, Veltkamp): every factor is cut into two halves."""
    product = a * b
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(b)
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _halves(a: float) -> tuple[float, float]:
    shifted = 134217729.0 * a  # 2^27 + 1
    high = shifted - (shifted - a)
    return high, a - high
