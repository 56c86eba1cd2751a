// A finite game written out: every state that can follow a start, numbered as they are found, breadth first, and what leads
// where. What `solve.hpp` works on.
//
// A state is a record in `states`, its first edge, and a word that says who acts. An edge is a child and the number of a row
// of rewards; rows are stored once, since few games pay in many different ways. Edges of a state lie together: outcomes in
// the order of the game's list, or joint choices, the last player's running fastest. What choices are called is not kept:
// the rules say it again. Only one thread may touch it, and it has a Position of its own: whoever is told how far it is may
// search meanwhile.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "anabranch/beat.hpp"
#include "anabranch/column.hpp"
#include "anabranch/failure.hpp"
#include "anabranch/index.hpp"
#include "anabranch/position.hpp"
#include "anabranch/states.hpp"
#include "anabranch/tables.hpp"

namespace anabranch {

class FiniteGame {
 public:
  // Who acts in a state; `number` is a list of outcomes, the only player with a choice, or a table of several.
  struct Act {
    enum class Kind : std::uint32_t { over, chance, alone, together };
    static constexpr std::uint32_t kNumbers = std::uint32_t{1} << 30;

    Act(Kind who, std::uint32_t what) : kind(who), number(what & (kNumbers - 1)) {}

    Kind kind : 2;
    std::uint32_t number : 30;
  };

  static constexpr std::size_t kMost = Index::kEmpty - 1;  // states that numbers of 32 bits tell apart

  FiniteGame(const Rules& rules, const std::byte* start)
      : rules_(rules), states_(rules.state_size), keys_(rules.key_size) {
    position_.use(rules);
    here_.resize(rules.state_size);
    record_.resize((std::max(rules.state_size, rules.key_size) + 7) / 8 + 1);
    position_.set(start);
    find_or_add(kMost);
  }

  // Find every state that can follow. False where there are more than `most`: then that many were found. A verb that fails
  // comes out as a Failure with the line of play to it.
  bool explore(std::size_t most, Beat& beat) {
    while (expanded_ < size()) {
      try {
        if (!expand(most, beat)) return false;
      } catch (Failure& failure) {
        failure.line = line_to(expanded_);
        if (failure.verb == "key") failure.line.push_back(acting_entries());  // of the state after that
        throw;
      }
      ++expanded_;
    }
    starts_.push(children_.size());
    return true;
  }

  std::size_t size() const { return states_.size(); }
  std::size_t expanded() const { return expanded_; }
  std::size_t players() const { return static_cast<std::size_t>(rules_.players); }
  std::size_t record_size() const { return rules_.state_size; }
  std::size_t key_size() const { return rules_.key ? rules_.key_size : rules_.state_size; }
  std::size_t bytes() const {
    return states_.bytes() + keys_.bytes() + rows_.bytes() + index_.bytes() + row_index_.bytes() + tables_.bytes() +
           starts_.bytes() + acts_.bytes() + children_.bytes() + paid_.bytes();
  }

  // Of a state: its edges are those from `first_edge` up to `last_edge`.
  Act act(std::uint32_t state) const { return acts_[state]; }
  std::size_t first_edge(std::uint32_t state) const { return starts_[state]; }
  std::size_t last_edge(std::uint32_t state) const { return starts_[state + 1]; }
  void load(std::uint32_t state, std::byte* record) const { states_.load(state, record); }
  const Distribution& outcomes(Act act) const { return tables_.outcomes(act.number); }
  const Table& table(Act act) const { return tables_.joint(act.number); }

  // Of an edge.
  std::uint32_t child(std::size_t edge) const { return children_[edge]; }
  const double* rewards(std::size_t edge) const { return rows_.data() + paid_[edge] * players(); }

  // The state with a key, or kNone.
  std::uint32_t find(const std::byte* key) {
    std::memset(record_.data(), 0, record_.size() * 8);
    std::memcpy(record_.data(), key, key_size());
    States& compared = rules_.key ? keys_ : states_;
    const std::uint64_t hash = compared.offer(reinterpret_cast<const std::byte*>(record_.data()));
    return index_.find(hash, [&](std::uint32_t id) { return compared.equals(id); });
  }

 private:
  // Try everything that can happen in the first state whose edges are not known.
  bool expand(std::size_t most, Beat& beat) {
    const auto at = static_cast<std::uint32_t>(expanded_);
    states_.load(at, here_.data());
    position_.set(here_.data());
    const std::int64_t turn = position_.turn();
    Act act(Act::Kind::over, 0);
    if (turn == kChance) {
      const std::size_t count = position_.read_chances();
      act = Act(Act::Kind::chance, checked(tables_.intern(position_.outcomes(), position_.chances(), count)));
    } else if (turn != kOver) {
      act = read_choices(static_cast<std::uint64_t>(turn));
    }
    starts_.push(children_.size());
    acts_.push(act);
    beat.count(1);
    if (act.kind == Act::Kind::over) return true;
    if (act.kind == Act::Kind::chance) {
      const std::vector<std::int32_t>& outcomes = tables_.outcomes(act.number).outcomes;
      for (const std::int32_t outcome : outcomes) {
        position_.set_outcome(outcome);
        if (!follow(most, beat)) return false;
      }
      return true;
    }
    chosen_.assign(seats_.size(), 0);
    do {
      spread_choices();
      if (!follow(most, beat)) return false;
    } while (next_joint());
    return true;
  }

  // Read who acts and among what into `seats_`, `sizes_` and `ids_`.
  Act read_choices(std::uint64_t turn) {
    seats_.clear();
    sizes_.clear();
    ids_.clear();
    std::size_t wide = 0, mover = 0;
    for (std::uint64_t rest = turn; rest; rest &= rest - 1) {
      const auto seat = static_cast<std::uint32_t>(std::countr_zero(rest));
      const std::size_t before = ids_.size();
      position_.append_choices(static_cast<std::int32_t>(seat), ids_);
      seats_.push_back(seat);
      sizes_.push_back(static_cast<std::uint32_t>(ids_.size() - before));
      if (sizes_.back() > 1 && wide++ == 0) mover = seat;
    }
    if (wide <= 1) return {Act::Kind::alone, static_cast<std::uint32_t>(mover)};
    return {Act::Kind::together, checked(tables_.intern(turn, sizes_, ids_))};
  }

  // Step from the state in `here_` with the actions in the position; an edge to the state reached.
  bool follow(std::size_t most, Beat& beat) {
    position_.set(here_.data());
    position_.step();
    const std::uint32_t child = find_or_add(most);
    if (child == kNone) return false;
    const std::uint32_t row = intern_rewards(position_.paid());
    children_.push(child);
    paid_.push(row);
    beat.count(1);
    return true;
  }

  // The number of the state in the position, found or made; kNone where there would be more than `most`.
  std::uint32_t find_or_add(std::size_t most) {
    std::uint64_t hash = states_.offer(position_.state());
    if (rules_.key) hash = keys_.offer(position_.key());
    const States& compared = rules_.key ? keys_ : states_;
    std::uint32_t number = index_.find(hash, [&](std::uint32_t id) { return compared.equals(id); });
    if (number != Index::kEmpty) return number;
    if (size() >= most) return kNone;
    number = static_cast<std::uint32_t>(size());
    if (rules_.key) keys_.append();
    states_.append();
    index_.insert(hash, number, [&](std::uint32_t id) {
      auto* record = reinterpret_cast<std::byte*>(record_.data());
      compared.load(id, record);
      return key_of_bytes(record, compared.record_size());
    });
    return number;
  }

  // Find or store a row of rewards; its number.
  std::uint32_t intern_rewards(const double* rewards) {
    const std::size_t size = players() * sizeof(double);
    const auto bytes_of = [&](std::uint32_t row) { return reinterpret_cast<const std::byte*>(rows_.data() + row * players()); };
    const auto equals = [&](std::uint32_t row) { return std::memcmp(bytes_of(row), rewards, size) == 0; };
    if (!rows_.empty() && equals(last_row_)) return last_row_;  // mostly as on the edge before
    const std::uint64_t hash = key_of_bytes(reinterpret_cast<const std::byte*>(rewards), size);
    const std::uint32_t known = row_index_.find(hash, equals);
    if (known != Index::kEmpty) return last_row_ = known;
    last_row_ = static_cast<std::uint32_t>(rows_.size() / players());
    rows_.extend(players());
    std::copy(rewards, rewards + players(), rows_.data() + last_row_ * players());
    row_index_.insert(hash, last_row_, [&](std::uint32_t row) { return key_of_bytes(bytes_of(row), size); });
    return last_row_;
  }

  void spread_choices() {
    std::fill(position_.actions.begin(), position_.actions.end(), kIdle);
    std::size_t start = 0;
    for (std::size_t i = 0; i < seats_.size(); start += sizes_[i++]) position_.actions[seats_[i]] = ids_[start + chosen_[i]];
  }

  // Go on to the next joint choice, the last player's running fastest; false after the last.
  bool next_joint() {
    for (std::size_t i = seats_.size(); i-- > 0; chosen_[i] = 0)
      if (++chosen_[i] < sizes_[i]) return true;
    return false;
  }

  // The number of a list that has to fit beside the kind.
  std::uint32_t checked(std::uint32_t number) {
    if (number < Act::kNumbers) return number;
    Failure failure;
    failure.cause = Failure::Cause::too_many_choices;
    failure.state.assign(here_.begin(), here_.end());
    throw failure;
  }

  std::vector<std::int32_t> acting_entries() const {
    std::vector<std::int32_t> entries;
    for (const std::int32_t action : position_.actions)
      if (action != kIdle) entries.push_back(action);
    return entries;
  }

  // The actions from the start to a state, by the edges it was found along: the first that lead to each.
  std::vector<std::vector<std::int32_t>> line_to(std::size_t state) {
    std::vector<std::size_t> found_by(state + 1);
    for (std::size_t edge = 0, next = 1; next <= state; ++edge)
      if (children_[edge] == next) found_by[next++] = edge;
    std::vector<std::vector<std::int32_t>> line;
    const std::vector<std::int32_t> kept = position_.actions;
    while (state != 0) {
      const std::size_t edge = found_by[state];
      const auto* after = std::upper_bound(starts_.begin(), starts_.end(), edge);
      state = static_cast<std::size_t>(after - starts_.begin()) - 1;
      line.push_back(actions_of(static_cast<std::uint32_t>(state), edge - starts_[state]));
    }
    position_.actions = kept;
    std::reverse(line.begin(), line.end());
    return line;
  }

  std::vector<std::int32_t> actions_of(std::uint32_t state, std::size_t index) {
    if (acts_[state].kind == Act::Kind::chance) return {tables_.outcomes(acts_[state].number).outcomes[index]};
    states_.load(state, here_.data());
    position_.set(here_.data());
    read_choices(static_cast<std::uint64_t>(position_.turn()));
    chosen_.assign(seats_.size(), 0);
    for (std::size_t i = 0; i < index; ++i) next_joint();
    spread_choices();
    return acting_entries();
  }

  const Rules& rules_;
  Position position_;
  States states_, keys_;
  Index index_, row_index_;
  Tables tables_;
  Column<std::uint64_t> starts_;
  Column<Act> acts_;
  Column<std::uint32_t> children_, paid_;
  Column<double> rows_;  // of rewards, each once
  std::size_t expanded_ = 0;
  std::uint32_t last_row_ = 0;
  std::vector<std::byte> here_;         // the state whose edges are being found
  std::vector<std::uint64_t> record_;   // of a state or a key that is hashed anew
  std::vector<std::uint32_t> seats_, sizes_, chosen_;
  std::vector<std::int32_t> ids_;
};

}  // namespace anabranch
