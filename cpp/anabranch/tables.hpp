// Lists that many nodes of a graph share, each stored once: outcomes with their probabilities, and who chooses at once
// among what. A node holds the number of its list.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "anabranch/random.hpp"

namespace anabranch {

inline constexpr std::uint32_t kNone = UINT32_MAX;

// The outcomes of chance states.
struct Distribution {
  std::vector<std::int32_t> outcomes;
  std::vector<double> chances, cumulative;
};

// Several players acting at once: who they are, the ids that stand for their choices, and where a choice's bits lie in
// `Edge::move`.
struct Table {
  std::uint64_t turn = 0;
  std::vector<std::uint32_t> players, sizes, shifts, masks;  // one entry per acting player
  std::vector<std::int32_t> ids;                             // of all acting players, one after the other
  std::vector<std::uint32_t> starts;                         // where a player's ids (and its rows) begin
  bool few = false;                                          // two players with at most kFew choices each

  static constexpr std::uint32_t kFew = 16;

  std::uint32_t choice(std::uint32_t move, std::size_t index) const { return move >> shifts[index] & masks[index]; }
};

class Tables {
 public:
  const Distribution& outcomes(std::uint32_t number) const { return distributions_[number]; }
  const Table& joint(std::uint32_t number) const { return tables_[number]; }
  std::size_t lists() const { return distributions_.size(); }
  std::size_t bytes() const { return bytes_; }
  // Of the joint tables there are, the most choices of all acting players, and the most cells.
  std::size_t most_ids() const { return most_ids_; }
  std::size_t most_cells() const { return most_cells_; }

  // Find or store a list of outcomes; its number.
  std::uint32_t intern(const std::int32_t* outcomes, const double* chances, std::size_t count) {
    std::vector<std::uint64_t> words(count * 2);
    for (std::size_t i = 0; i < count; ++i) {
      words[2 * i] = static_cast<std::uint64_t>(outcomes[i]);
      words[2 * i + 1] = std::bit_cast<std::uint64_t>(chances[i]);
    }
    const auto known = interned_.find(words);
    if (known != interned_.end()) return known->second;
    Distribution list;
    double total = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
      list.outcomes.push_back(outcomes[i]);
      list.chances.push_back(chances[i]);
      list.cumulative.push_back(total += chances[i]);
    }
    const auto number = static_cast<std::uint32_t>(distributions_.size());
    distributions_.push_back(std::move(list));
    try {
      interned_.emplace(std::move(words), number);
    } catch (...) {  // no memory: all of it is stored, or nothing
      distributions_.pop_back();
      throw;
    }
    bytes_ += count * 40 + 128;
    return number;
  }

  // Find or store who acts at once with which choices (`ids` of all, `sizes` of each); its number, kNone if the joint
  // choices do not fit into 32 bits.
  std::uint32_t intern(std::uint64_t turn, const std::vector<std::uint32_t>& sizes, const std::vector<std::int32_t>& ids) {
    const auto same = [&](const Table& known) { return known.turn == turn && known.sizes == sizes && known.ids == ids; };
    if (last_ < tables_.size() && same(tables_[last_])) return last_;  // mostly as at the node before
    std::uint64_t hash = turn;  // finds candidates; contents are compared
    for (const std::uint32_t size : sizes) hash = hash * kGolden + size;
    for (const std::int32_t id : ids) hash = hash * kGolden + static_cast<std::uint64_t>(id);
    for (auto [place, end] = places_.equal_range(hash); place != end; ++place)
      if (same(tables_[place->second])) return last_ = place->second;
    Table table;
    table.turn = turn;
    table.sizes = sizes;
    table.ids = ids;
    std::uint32_t shift = 0, start = 0, player = 0;
    for (const std::uint32_t size : sizes) {
      const auto width = static_cast<std::uint32_t>(std::bit_width(size - 1));
      while (!(turn >> player & 1)) ++player;
      table.players.push_back(player++);
      table.shifts.push_back(width == 0 ? 0 : shift);
      table.masks.push_back(width == 0 ? 0 : 0xFFFFFFFFu >> (32 - width));
      table.starts.push_back(start);
      shift += width;
      start += size;
    }
    if (shift > 32) return kNone;
    table.few = sizes.size() == 2 && sizes[0] <= Table::kFew && sizes[1] <= Table::kFew;
    const auto place = static_cast<std::uint32_t>(tables_.size());
    tables_.push_back(std::move(table));
    try {
      places_.emplace(hash, place);
    } catch (...) {
      tables_.pop_back();
      throw;
    }
    bytes_ += sizes.size() * 32 + ids.size() * 4 + 256;
    std::size_t cells = 1;
    for (const std::uint32_t size : sizes) cells *= size;
    most_ids_ = std::max(most_ids_, ids.size());
    most_cells_ = std::max(most_cells_, cells);
    return last_ = place;
  }

  bool empty() const { return distributions_.empty() && tables_.empty(); }

 private:
  std::vector<Distribution> distributions_;
  std::vector<Table> tables_;
  std::map<std::vector<std::uint64_t>, std::uint32_t> interned_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> places_;
  std::uint32_t last_ = 0;
  std::size_t bytes_ = 0, most_ids_ = 0, most_cells_ = 0;
};

}  // namespace anabranch
