// Numbers with twice the digits of a double, from + − · / on doubles alone, so that they are the same everywhere.
// `search/maths/double_double.py` holds the same operations in Python, in the same order.
#pragma once

#include <compare>

namespace anabranch {

// The unevaluated sum high + low of two doubles, |low| at most half the last digit of `high` (Dekker 1971).
struct DoubleDouble {
  double high = 0.0, low = 0.0;

  DoubleDouble() = default;
  explicit DoubleDouble(double value) : high(value) {}
  DoubleDouble(double h, double l) : high(h), low(l) {}
  explicit operator double() const { return high; }

  friend auto operator<=>(const DoubleDouble&, const DoubleDouble&) = default;
  DoubleDouble operator-() const { return {-high, -low}; }

  friend DoubleDouble operator-(const DoubleDouble& a, const DoubleDouble& b) { return add(a, -b); }

  friend DoubleDouble operator*(const DoubleDouble& a, const DoubleDouble& b) {
    const DoubleDouble product = two_product(a.high, b.high);
    return quick_two_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
  }

  friend DoubleDouble operator/(const DoubleDouble& a, const DoubleDouble& b) {
    const double first = a.high / b.high;
    DoubleDouble rest = a - b * DoubleDouble(first);
    const double second = rest.high / b.high;
    rest = rest - b * DoubleDouble(second);
    const double third = rest.high / b.high;
    return add(quick_two_sum(first, second), DoubleDouble(third));
  }

 private:
  static DoubleDouble add(const DoubleDouble& a, const DoubleDouble& b) {
    const DoubleDouble highs = two_sum(a.high, b.high), lows = two_sum(a.low, b.low);
    const DoubleDouble sum = quick_two_sum(highs.high, highs.low + lows.high);
    return quick_two_sum(sum.high, sum.low + lows.low);
  }

  // The rounded sum and its exact error (Knuth).
  static DoubleDouble two_sum(double a, double b) {
    const double total = a + b, from_b = total - a;
    return {total, (a - (total - from_b)) + (b - from_b)};
  }

  // The same where |a| ≥ |b| or a = 0.
  static DoubleDouble quick_two_sum(double a, double b) {
    const double total = a + b;
    return {total, b - (total - a)};
  }

  // The rounded product and its exact error (Dekker, Veltkamp): every factor is cut into two halves.
  static DoubleDouble two_product(double a, double b) {
    const double product = a * b;
    const DoubleDouble x = halves(a), y = halves(b);
    return {product, ((x.high * y.high - product) + x.high * y.low + x.low * y.high) + x.low * y.low};
  }

  static DoubleDouble halves(double a) {
    const double shifted = 134217729.0 * a;  // 2^27 + 1
    const double high = shifted - (shifted - a);
    return {high, a - high};
  }
};

}  // namespace anabranch
