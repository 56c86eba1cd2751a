// Exact values of a finite game by dynamic programming:
//
//   over       V = 0
//   chance     V = Σ_o p(o)·(r(o) + V(child))
//   decision   V = r + γ·V(child) of the choice best for the player to move; the first one if several are
//   together   two players, constant sum: V of the equilibrium of the table r + γ·V
//
// `search/exact/` has the same in Python, and both add in the same order: without mixed strategies the values are the same
// to the last bit. States come in strongly connected components, children first; one that leads back to itself is iterated
// in the same order too.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "anabranch/beat.hpp"
#include "anabranch/column.hpp"
#include "anabranch/finite.hpp"
#include "anabranch/matrix_game.hpp"

namespace anabranch {

class Solver {
 public:
  // How it ended; `where` is then the loop, or the state.
  enum class Ended { solved, loop, unsettled, not_opposed };

  struct Settings {
    double discount = 1.0;
    bool iterate = false;  // loops, until no value changes by more than `tolerance` in a sweep
    double tolerance = 0.0;
    std::size_t sweeps = 0;  // over one loop, at most
  };

  explicit Solver(const FiniteGame& game) : game_(game), players_(game.players()) {}

  Ended solve(const Settings& settings, Beat& beat) {
    settings_ = settings;
    values_.fill(game_.size() * players_, 0.0);
    next_.resize(players_);
    try {
      return visit(beat);
    } catch (const NotOpposed& found) {
      where.assign(1, found.state);
      return Ended::not_opposed;
    }
  }

  std::size_t solved() const { return solved_; }
  std::size_t sweep() const { return sweep_; }  // over the loop at work
  std::size_t bytes() const { return values_.bytes(); }
  const Column<double>& values() const { return values_; }
  const double* value(std::uint32_t state) const { return values_.data() + state * players_; }

  // The smallest difference between two choices of a player who chooses alone; infinite without such choices.
  double gap(Beat& beat) {
    double smallest = std::numeric_limits<double>::infinity();
    for (std::uint32_t state = 0; state < game_.size(); ++state) {
      const FiniteGame::Act act = game_.act(state);
      const std::size_t first = game_.first_edge(state), last = game_.last_edge(state);
      beat.count(last - first + 1);
      if (act.kind != FiniteGame::Act::Kind::alone || last - first < 2) continue;
      entries_.clear();
      for (std::size_t edge = first; edge < last; ++edge) entries_.push_back(worth(edge, act.number));
      std::sort(entries_.begin(), entries_.end());
      for (std::size_t i = 1; i < entries_.size(); ++i) smallest = std::min(smallest, entries_[i] - entries_[i - 1]);
    }
    return smallest;
  }

  std::vector<std::uint32_t> where;

 private:
  static constexpr double kSame = 1e-9;  // sums of payoffs that differ by less, relative to their size, are the same sum

  struct NotOpposed {
    std::uint32_t state;
  };
  struct Step {
    std::uint32_t state;
    std::uint32_t edge;  // of its edges, the next to follow
  };

  // Go through strongly connected components, children before parents (Tarjan 1972, without recursion).
  Ended visit(Beat& beat) {
    constexpr std::uint32_t kUnmet = UINT32_MAX, kClosed = UINT32_MAX;
    Column<std::uint32_t> order, lowest, opened;  // when a state was first met; the earliest open state known to follow it
    Column<Step> path;
    order.fill(game_.size(), kUnmet);
    lowest.fill(game_.size(), 0);
    std::uint32_t clock = 0;
    path.push({0, 0});
    while (!path.empty()) {
      const auto [state, edge] = path.back();
      path.pop();
      if (edge == 0) {
        order[state] = lowest[state] = clock++;
        opened.push(state);
      }
      if (edge < game_.last_edge(state) - game_.first_edge(state)) {
        path.push({state, edge + 1});
        const std::uint32_t child = game_.child(game_.first_edge(state) + edge);
        if (order[child] == kUnmet) path.push({child, 0});
        else if (lowest[child] != kClosed) lowest[state] = std::min(lowest[state], order[child]);
        continue;
      }
      if (!path.empty()) {
        const std::uint32_t parent = path.back().state;
        lowest[parent] = std::min(lowest[parent], lowest[state]);
      }
      if (lowest[state] != order[state]) continue;
      where.clear();
      do {
        where.push_back(opened.back());
        lowest[opened.back()] = kClosed;
        opened.pop();
      } while (where.back() != state);
      const Ended ended = settle(beat);
      if (ended != Ended::solved) return ended;
      solved_ += where.size();
    }
    return Ended::solved;
  }

  // Find the values of the component in `where`.
  Ended settle(Beat& beat) {
    if (where.size() == 1 && !follows_itself(where[0])) {
      back_up(where[0], beat);
      std::copy(next_.begin(), next_.end(), values_.data() + where[0] * players_);
      return Ended::solved;
    }
    if (!settings_.iterate) return Ended::loop;
    for (sweep_ = 1; sweep_ <= settings_.sweeps; ++sweep_) {
      double change = 0.0;
      for (const std::uint32_t state : where) {
        back_up(state, beat);
        double* value = values_.data() + state * players_;
        for (std::size_t p = 0; p < players_; ++p) {
          change = std::max(change, std::abs(next_[p] - value[p]));
          value[p] = next_[p];
        }
      }
      if (change <= settings_.tolerance) {
        sweep_ = 0;
        return Ended::solved;
      }
    }
    return Ended::unsettled;
  }

  bool follows_itself(std::uint32_t state) const {
    for (std::size_t edge = game_.first_edge(state); edge < game_.last_edge(state); ++edge)
      if (game_.child(edge) == state) return true;
    return false;
  }

  double worth(std::size_t edge, std::size_t player) const {
    return game_.rewards(edge)[player] + settings_.discount * value(game_.child(edge))[player];
  }

  // The value of a state from its children's, into `next_`.
  void back_up(std::uint32_t state, Beat& beat) {
    const FiniteGame::Act act = game_.act(state);
    const std::size_t first = game_.first_edge(state), last = game_.last_edge(state);
    beat.count((last - first) / 8 + 1);  // next to calls of verbs
    switch (act.kind) {
      case FiniteGame::Act::Kind::over:
        std::fill(next_.begin(), next_.end(), 0.0);
        return;
      case FiniteGame::Act::Kind::chance: {
        const std::vector<double>& chances = game_.outcomes(act).chances;
        std::fill(next_.begin(), next_.end(), 0.0);
        for (std::size_t edge = first; edge < last; ++edge)
          for (std::size_t p = 0; p < players_; ++p)
            next_[p] += chances[edge - first] * (game_.rewards(edge)[p] + value(game_.child(edge))[p]);
        return;
      }
      case FiniteGame::Act::Kind::alone: {
        std::size_t best = first;
        double most = worth(first, act.number);
        for (std::size_t edge = first + 1; edge < last; ++edge)
          if (const double found = worth(edge, act.number); found > most) best = edge, most = found;
        for (std::size_t p = 0; p < players_; ++p) next_[p] = worth(best, p);
        return;
      }
      case FiniteGame::Act::Kind::together:
        play_together(state, game_.table(act), beat);
        return;
    }
  }

  // Two players with opposite interests choose at once.
  void play_together(std::uint32_t state, const Table& table, Beat& beat) {
    const std::size_t first = game_.first_edge(state);
    if (players_ != 2) throw NotOpposed{state};
    const MatrixView matrix = read_table(first, table);
    if (!constant_sum(first, matrix.rows * matrix.columns)) throw NotOpposed{state};
    if (const auto meet = saddle(matrix)) {
      const std::size_t edge = first + meet->first * matrix.columns + meet->second;
      for (std::size_t p = 0; p < 2; ++p) next_[p] = worth(edge, p);
      return;
    }
    matrix_game_.solve(matrix);
    beat.count(matrix.rows * matrix.columns * (matrix.rows + matrix.columns));
    next_.assign(2, 0.0);
    for (std::size_t p = 0; p < 2; ++p)
      for (std::size_t i = 0; i < matrix.rows; ++i)
        for (std::size_t j = 0; j < matrix.columns; ++j)
          next_[p] += matrix_game_.x[i] * matrix_game_.y[j] * worth(first + i * matrix.columns + j, p);
  }

  // What the first player gets, one entry per joint choice.
  MatrixView read_table(std::size_t first, const Table& table) {
    const std::size_t rows = table.sizes[0], columns = table.sizes[1];
    entries_.clear();
    for (std::size_t edge = first; edge < first + rows * columns; ++edge) entries_.push_back(worth(edge, 0));
    return {entries_.data(), rows, columns};
  }

  bool constant_sum(std::size_t first, std::size_t count) const {
    double low = std::numeric_limits<double>::infinity(), high = -low, size = 1.0;
    for (std::size_t edge = first; edge < first + count; ++edge) {
      const double one = worth(edge, 0), other = worth(edge, 1);
      low = std::min(low, one + other);
      high = std::max(high, one + other);
      size = std::max({size, std::abs(one), std::abs(other)});
    }
    return high - low <= kSame * size;
  }

  const FiniteGame& game_;
  std::size_t players_;
  Settings settings_;
  Column<double> values_;
  std::size_t solved_ = 0, sweep_ = 0;
  std::vector<double> next_, entries_;
  MatrixGame matrix_game_;
};

}  // namespace anabranch
