// Zero-sum matrix games: a deterministic equilibrium. `search/maths/matrix_game.py` holds the same functions in Python,
// with their equations; both do the same operations in the same order, since a table may have many equilibria.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "anabranch/double_double.hpp"

namespace anabranch {

using Strategy = std::vector<double>;

// A table of what the row player gets and the column player pays, line by line.
struct MatrixView {
  const double* entries;
  std::size_t rows, columns;

  double operator()(std::size_t i, std::size_t j) const { return entries[i * columns + j]; }
};

// The first maximin row and the first minimax column if they meet: max_i min_j A = min_j max_i A.
inline std::optional<std::pair<std::size_t, std::size_t>> saddle(const MatrixView& matrix) {
  std::size_t best_row = 0, best_column = 0;
  double maximin = -std::numeric_limits<double>::infinity(), minimax = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < matrix.rows; ++i) {
    double worst = matrix(i, 0);
    for (std::size_t j = 1; j < matrix.columns; ++j) worst = std::min(worst, matrix(i, j));
    if (worst > maximin) best_row = i, maximin = worst;
  }
  for (std::size_t j = 0; j < matrix.columns; ++j) {
    double worst = matrix(0, j);
    for (std::size_t i = 1; i < matrix.rows; ++i) worst = std::max(worst, matrix(i, j));
    if (worst < minimax) best_column = j, minimax = worst;
  }
  if (maximin != minimax) return std::nullopt;
  return std::pair{best_row, best_column};
}

// The primal simplex method on a table of positive entries, in numbers of a kind; memory stays for the next table.
template <class Number>
class Simplex {
 public:
  // Make room for tables with at most so many rows, columns and cells.
  void reserve(std::size_t lines, std::size_t cells) {
    table_.reserve(cells);
    bound_.reserve(lines);
    cost_.reserve(lines);
    outside_.reserve(lines);
    basis_.reserve(lines);
  }

  void solve(const MatrixView& entries, double noise, Strategy& x, Strategy& y) {
    rows_ = entries.rows, columns_ = entries.columns, small_ = Number(noise);
    table_.resize(rows_ * columns_);
    for (std::size_t at = 0; at < table_.size(); ++at) table_[at] = Number(entries.entries[at]);
    bound_.assign(rows_, Number(1.0));
    cost_.assign(columns_, Number(1.0));
    outside_.resize(columns_);  // the non-basic variable of each column
    basis_.resize(rows_);       // the basic variable of each line
    for (std::size_t j = 0; j < columns_; ++j) outside_[j] = j;
    for (std::size_t i = 0; i < rows_; ++i) basis_[i] = columns_ + i;
    bool bland = false;
    for (std::size_t round = 0; round < 100 * (rows_ + columns_); ++round) {  // far beyond what was ever seen
      const std::size_t entering = choose_entering(bland);
      if (entering == kNowhere) break;
      const std::size_t leaving = choose_leaving(entering, bland);
      if (leaving == kNowhere) break;
      bland = bound_[leaving] <= small_;
      pivot(leaving, entering);
      std::swap(outside_[entering], basis_[leaving]);
    }
    x.assign(rows_, 0.0);
    y.assign(columns_, 0.0);
    for (std::size_t i = 0; i < rows_; ++i)
      if (basis_[i] < columns_) y[basis_[i]] = static_cast<double>(bound_[i]);
    for (std::size_t j = 0; j < columns_; ++j)
      if (outside_[j] >= columns_) x[outside_[j] - columns_] = static_cast<double>(-cost_[j]);
    normalise(x);
    normalise(y);
  }

 private:
  static constexpr std::size_t kNowhere = SIZE_MAX;

  Number& at(std::size_t i, std::size_t j) { return table_[i * columns_ + j]; }

  std::size_t choose_entering(bool bland) const {
    std::size_t chosen = kNowhere;
    for (std::size_t j = 0; j < columns_; ++j) {
      if (cost_[j] <= small_) continue;
      if (chosen == kNowhere || (!bland && cost_[j] > cost_[chosen]) ||
          ((bland || cost_[j] == cost_[chosen]) && outside_[j] < outside_[chosen]))
        chosen = j;
    }
    return chosen;
  }

  std::size_t choose_leaving(std::size_t entering, bool bland) {
    std::optional<Number> smallest;
    for (std::size_t i = 0; i < rows_; ++i) {
      if (!(at(i, entering) > small_)) continue;
      const Number ratio = bound_[i] / at(i, entering);
      if (!smallest || ratio < *smallest) smallest = ratio;
    }
    std::size_t chosen = kNowhere;
    for (std::size_t i = 0; i < rows_; ++i) {
      if (!smallest || at(i, entering) <= small_ || bound_[i] / at(i, entering) - *smallest > small_) continue;
      if (chosen == kNowhere || (!bland && at(i, entering) > at(chosen, entering)) ||
          ((bland || at(i, entering) == at(chosen, entering)) && basis_[i] < basis_[chosen]))
        chosen = i;
    }
    return chosen;
  }

  void pivot(std::size_t leaving, std::size_t entering) {
    const Number pivot = at(leaving, entering), zero(0.0);
    Number* line = &at(leaving, 0);
    for (std::size_t j = 0; j < columns_; ++j)
      if (j != entering) line[j] = line[j] / pivot;
    bound_[leaving] = bound_[leaving] / pivot;
    for (std::size_t i = 0; i < rows_; ++i) {
      const Number factor = at(i, entering);
      if (i == leaving || factor == zero) continue;
      for (std::size_t j = 0; j < columns_; ++j)
        if (j != entering) at(i, j) = at(i, j) - factor * line[j];
      at(i, entering) = -(factor / pivot);
      bound_[i] = bound_[i] - factor * bound_[leaving];
      if (bound_[i] < zero) bound_[i] = zero;  // by rounding only
    }
    const Number factor = cost_[entering];
    for (std::size_t j = 0; j < columns_; ++j)
      if (j != entering) cost_[j] = cost_[j] - factor * line[j];
    cost_[entering] = -(factor / pivot);
    line[entering] = Number(1.0) / pivot;
  }

  // Weights as probabilities; what rounding pushed below 0 is 0.
  static void normalise(Strategy& weights) {
    double total = 0.0;
    for (double& weight : weights) total += weight = std::max(0.0, weight);
    for (double& weight : weights) weight /= total;
  }

  std::size_t rows_ = 0, columns_ = 0;
  Number small_{0.0};
  std::vector<Number> table_, bound_, cost_;
  std::vector<std::size_t> outside_, basis_;
};

// Solves one table after the other; `x` and `y` are the strategies of the last one.
class MatrixGame {
 public:
  Strategy x, y;

  // Make room for tables with at most so many rows, columns and cells: solving them takes no memory then.
  void reserve(std::size_t lines, std::size_t cells) {
    x.reserve(lines);
    y.reserve(lines);
    scaled_.reserve(cells);
    doubles_.reserve(lines, cells);
    twice_.reserve(lines, cells);
  }

  // Find optimal strategies of a table whose entries are finite, and not further apart than doubles reach.
  void solve(const MatrixView& matrix) {
    const std::size_t count = matrix.rows * matrix.columns;
    const auto [low, high] = std::minmax_element(matrix.entries, matrix.entries + count);
    if (*low == *high) {
      x.assign(matrix.rows, 1.0 / static_cast<double>(matrix.rows));
      y.assign(matrix.columns, 1.0 / static_cast<double>(matrix.columns));
      return;
    }
    if (const auto meet = saddle(matrix)) {
      x.assign(matrix.rows, 0.0);
      y.assign(matrix.columns, 0.0);
      x[meet->first] = y[meet->second] = 1.0;
      return;
    }
    scaled_.resize(count);
    for (std::size_t at = 0; at < count; ++at) scaled_[at] = 1.0 + (matrix.entries[at] - *low) / (*high - *low);
    const MatrixView scaled{scaled_.data(), matrix.rows, matrix.columns};
    doubles_.solve(scaled, kNoise, x, y);
    if (!(exploitability(scaled) <= kGood)) twice_.solve(scaled, kNoiseTwice, x, y);
  }

  // The value of a table: what its equilibrium pays.
  double value_of(const MatrixView& matrix) {
    const auto [low, high] = std::minmax_element(matrix.entries, matrix.entries + matrix.rows * matrix.columns);
    if (*low == *high) return *low;
    if (const auto meet = saddle(matrix)) return matrix(meet->first, meet->second);
    solve(matrix);
    double value = 0.0;
    for (std::size_t i = 0; i < matrix.rows; ++i) {
      double total = 0.0;
      for (std::size_t j = 0; j < matrix.columns; ++j) total += matrix(i, j) * y[j];
      value += x[i] * total;
    }
    return value;
  }

 private:
  static constexpr double kNoise = 1e-12, kNoiseTwice = 1e-22, kGood = 1e-11;

  // How much a best reply gains on average over the two seats.
  double exploitability(const MatrixView& matrix) const {
    double best_row = -std::numeric_limits<double>::infinity(), best_column = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < matrix.rows; ++i) {
      double total = 0.0;
      for (std::size_t j = 0; j < matrix.columns; ++j) total += matrix(i, j) * y[j];
      best_row = std::max(best_row, total);
    }
    for (std::size_t j = 0; j < matrix.columns; ++j) {
      double total = 0.0;
      for (std::size_t i = 0; i < matrix.rows; ++i) total += x[i] * matrix(i, j);
      best_column = std::min(best_column, total);
    }
    return (best_row - best_column) / 2.0;
  }

  std::vector<double> scaled_;
  Simplex<double> doubles_;
  Simplex<DoubleDouble> twice_;
};

}  // namespace anabranch
