// The requests of many roots as columns, for evaluators outside: copied out of the graphs, so that they may be looked at
// while other waves are selected. And the answers on their way back, in single or double precision, checked.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include "anabranch/numbers.hpp"
#include "anabranch/search.hpp"

namespace anabranch {

class Requests {
 public:
  struct Root {
    std::size_t index, count;  // of the root among those gathered, and how many rows are its
  };

  static constexpr double kLargest = 1e100;  // of a value; means of millions of them stay finite
  static constexpr std::int64_t kUsable = -1, kOutside = -2;  // of first_bad, where no row is bad

  explicit Requests(const Rules& rules)
      : size_(rules.state_size), players_(static_cast<std::size_t>(rules.players)), actions_(static_cast<std::size_t>(rules.actions)),
        planes_(rules.planes) {}

  // Take over what a root requests; `verbs` are its rules as they are now.
  void add(std::size_t index, const Search& search, const Rules& verbs) {
    if (verbs.state_size != size_ || static_cast<std::size_t>(verbs.players) != players_ ||
        static_cast<std::size_t>(verbs.actions) != actions_ || verbs.planes != planes_)
      throw std::invalid_argument("roots of other sizes in one batch");  // Searcher.root refuses them before
    const Wave& wave = search.asking();
    const Graph& g = search.graph();
    const std::size_t first = rows(), count = wave.requests.size();
    records_.resize((first + count) * (size_ / 8));
    for (std::size_t i = 0; i < count; ++i) {
      const Request& request = wave.requests[i];
      auto* record = reinterpret_cast<std::byte*>(&records_[(first + i) * (size_ / 8)]);
      std::int64_t turn = 0;
      if (request.kind == Request::Kind::node) {
        g.states.load(request.node, record);
        turn = static_cast<std::int64_t>(g.turn_of(g.nodes[request.node]));
      } else {
        std::memcpy(record, wave.frozen[request.frozen].state.data(), size_);
        turn = wave.frozen[request.frozen].turn;
      }
      rows_.push_back({request.key, search.draws().evaluation(), turn, &verbs, static_cast<std::uint32_t>(roots.size())});
      joint_ |= (turn & (turn - 1)) != 0;
    }
    roots.push_back({index, count});
  }

  void reserve(std::size_t rows) {
    records_.reserve(rows * (size_ / 8));
    rows_.reserve(rows);
    roots.reserve(rows);
  }

  std::size_t rows() const { return rows_.size(); }
  std::size_t record_size() const { return size_; }
  std::size_t players() const { return players_; }
  std::size_t actions() const { return actions_; }
  bool joint() const { return joint_; }  // whether players choose at once in any of them
  std::size_t seats(bool joint) const { return joint ? players_ : 1; }
  std::size_t plane_floats() const { return planes_; }

  const std::byte* records() const { return reinterpret_cast<const std::byte*>(records_.data()); }
  const std::byte* record(std::size_t row) const { return records() + row * size_; }
  std::uint64_t key(std::size_t row) const { return rows_[row].key; }
  std::uint64_t seed(std::size_t row) const { return rows_[row].seed; }
  std::int64_t turn(std::size_t row) const { return rows_[row].turn; }
  std::uint32_t root_of(std::size_t row) const { return rows_[row].root; }
  std::size_t mover(std::size_t row) const { return static_cast<std::size_t>(std::countr_zero(static_cast<std::uint64_t>(rows_[row].turn))); }

  // What the first acting player of each state sees, [rows, planes]; with `joint`, what every player sees, [rows, players,
  // planes]. The row where the verb failed, −1 if it did not.
  std::int64_t observe(bool joint, float* planes) const {
    const std::size_t width = seats(joint) * planes_;
    std::memset(planes, 0, rows() * width * sizeof(float));
    return each_seat(joint, [&](std::size_t row, std::size_t seat, std::size_t player, void* state) {
      const Rules& rules = *rows_[row].rules;
      std::int64_t nothing = 0;
      return call(rules.observe, nothing, rules, state, static_cast<std::int32_t>(player), planes + row * width + seat * planes_);
    });
  }

  // Which ids are legal: [rows, actions] for the first acting player, with `joint` [rows, players, actions].
  std::int64_t legal(bool joint, bool* mask) const {
    const std::size_t width = seats(joint) * actions_;
    std::memset(mask, 0, rows() * width);
    return each_seat(joint, [&](std::size_t row, std::size_t seat, std::size_t player, void* state) {
      return !(rows_[row].turn >> player & 1) || mark_legal(row, player, state, mask + row * width + seat * actions_);
    });
  }

  // The mean of compiled rollouts from each state, [rows, players], with the numbers that the search itself would give them. The
  // row where one failed, −1 if none did.
  std::int64_t roll_out(const NativeEvaluator& evaluator, double discount, double* values) const {
    if (rows() == 0) return -1;
    RolloutBuffers buffers(*rows_[0].rules);
    std::vector<double> totals(players_);
    for (std::size_t row = 0; row < rows(); ++row) {
      double* mean = values + row * players_;
      std::fill_n(mean, players_, 0.0);
      const std::uint64_t seed = fold(rows_[row].seed, rows_[row].key);
      for (std::int32_t i = 0; i < evaluator.count; ++i) {
        std::fill(totals.begin(), totals.end(), 0.0);
        if (!play_compiled(evaluator, *rows_[row].rules, discount, record(row), fold(seed, static_cast<std::uint64_t>(i)), buffers, totals.data()))
          return static_cast<std::int64_t>(row);
        for (std::size_t p = 0; p < players_; ++p) mean[p] += totals[p];
      }
      for (std::size_t p = 0; p < players_; ++p) mean[p] /= evaluator.count;
    }
    return -1;
  }

  // The first row whose values are not finite or too large, or whose logits are not finite; −∞ is right where an id is
  // illegal, since so networks mask. None: kUsable, or kOutside where a value lies outside of [low, high].
  std::int64_t first_bad(const Numbers& logits, const Numbers& values, double low = -HUGE_VAL, double high = HUGE_VAL) const {
    std::int64_t usable = kUsable;
    for (std::size_t i = 0; i < rows() * players_; ++i) {
      const double value = values.at(i);
      if (!(std::abs(value) <= kLargest)) return static_cast<std::int64_t>(i / players_);
      if (value < low || value > high) usable = kOutside;
    }
    if (!logits.given()) return usable;
    for (std::size_t row = 0; row < rows(); ++row) {
      bool plain = true;
      for (std::size_t i = row * logits.wide; i < (row + 1) * logits.wide; ++i) plain &= std::isfinite(logits.at(i));
      if (!plain && !rightly_masked(row, logits)) return static_cast<std::int64_t>(row);
    }
    return usable;
  }

  std::vector<Root> roots;

 private:
  struct Row {
    std::uint64_t key, seed;
    std::int64_t turn;
    const Rules* rules;  // of a search that the caller keeps alive
    std::uint32_t root;  // its place in `roots`
  };

  // Call work(row, seat, player, a copy of the state) for the first acting player of each row, or for all players; the row
  // where it first returned false, −1 if it did not.
  template <class Work>
  std::int64_t each_seat(bool joint, const Work& work) const {
    std::vector<std::uint64_t> state(size_ / 8 + 1);
    for (std::size_t row = 0; row < rows(); ++row) {
      for (std::size_t seat = 0; seat < seats(joint); ++seat) {
        std::memcpy(state.data(), record(row), size_);
        if (!work(row, seat, joint ? seat : mover(row), static_cast<void*>(state.data()))) return static_cast<std::int64_t>(row);
      }
    }
    return -1;
  }

  bool mark_legal(std::size_t row, std::size_t player, void* state, bool* mask) const {
    const Rules& rules = *rows_[row].rules;
    std::vector<std::int32_t> ids(actions_);
    std::int64_t count = 0;
    if (!call(rules.legal, count, rules, state, static_cast<std::int32_t>(player), ids.data()) || !valid_ids(ids.data(), count, rules.actions))
      return false;
    for (std::int64_t i = 0; i < count; ++i) mask[ids[static_cast<std::size_t>(i)]] = true;
    return true;
  }

  bool rightly_masked(std::size_t row, const Numbers& logits) const {
    const bool of_all = logits.wide != actions_;
    std::vector<std::uint64_t> state(size_ / 8 + 1);
    for (std::size_t player = 0; player < players_; ++player) {
      if (!(rows_[row].turn >> player & 1)) continue;
      std::memcpy(state.data(), record(row), size_);
      const auto mask = std::make_unique<bool[]>(actions_);
      if (!mark_legal(row, player, state.data(), mask.get())) return false;
      for (std::size_t a = 0; a < actions_; ++a) {
        const double logit = logits.at(row * logits.wide + (of_all ? player * actions_ : 0) + a);
        if (!std::isfinite(logit) && (mask[a] || logit != -HUGE_VAL)) return false;
      }
    }
    return true;
  }

  std::size_t size_, players_, actions_, planes_;
  std::vector<std::uint64_t> records_;
  std::vector<Row> rows_;
  bool joint_ = false;
};

}  // namespace anabranch
