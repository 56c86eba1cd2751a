// State → node: an open-addressed table of node numbers. A hash finds candidates; the caller always compares the states, so
// a collision can never merge two of them. Entries are only ever removed newest first, when a wave is undone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "anabranch/column.hpp"

namespace anabranch {

class Index {
 public:
  static constexpr std::uint32_t kEmpty = UINT32_MAX;

  struct All {
    bool operator()(std::uint32_t) const { return true; }
  };

  std::size_t bytes() const { return slots_.bytes(); }
  // What the next insertion takes on top of that: nothing, or a larger table, made while the old one is still there.
  std::size_t growth() const { return is_full() ? next_size() * sizeof(Slot) : 0; }

  // The node whose state equals the one sought, or kEmpty; `insert` may follow at once then.
  template <class Equals>
  std::uint32_t find(std::uint64_t hash, Equals&& equals) {
    if (slots_.size() == 0) return kEmpty;
    const auto tag = static_cast<std::uint32_t>(hash >> 32);
    for (free_ = hash & mask_;; free_ = (free_ + 1) & mask_) {
      const Slot& slot = slots_[free_];
      if (slot.node == kEmpty) return kEmpty;
      if (slot.tag == tag && equals(slot.node)) return slot.node;
    }
  }

  // Add a node that `find` has just not found. `hash_of(node)` gives hashes again when the table grows, of the nodes it `holds`.
  template <class HashOf, class Holds = All>
  void insert(std::uint64_t hash, std::uint32_t node, HashOf&& hash_of, Holds&& holds = {}) {
    if (is_full()) [[unlikely]] {
      grow(node, hash_of, holds);
      place(hash, node);
      ++count_;
    } else {
      insert(hash, node);
    }
  }
  // The same in two steps: make room, before `find`, and insert, which allocates nothing then.
  template <class HashOf>
  void make_room(std::uint32_t nodes, HashOf&& hash_of) {
    if (is_full()) [[unlikely]] grow(nodes, hash_of, All{});
  }
  void insert(std::uint64_t hash, std::uint32_t node) {
    slots_[free_] = {node, static_cast<std::uint32_t>(hash >> 32)};
    ++count_;
  }

  // Forget the node inserted last, if it was: memory may have run out before. Nothing was placed behind it since, so emptying its slot breaks no chain.
  void remove(std::uint64_t hash, std::uint32_t node) {
    if (slots_.size() == 0) return;
    for (std::size_t at = hash & mask_; slots_[at].node != kEmpty; at = (at + 1) & mask_) {
      if (slots_[at].node == node) {
        slots_[at].node = kEmpty;
        --count_;
        return;
      }
    }
  }

  void prefetch(std::uint64_t hash) const {
    if (slots_.size()) __builtin_prefetch(slots_.data() + (hash & mask_));
  }

 private:
  struct Slot {
    std::uint32_t node, tag;
  };

  bool is_full() const { return (count_ + 1) * 8 > slots_.size() * 5; }

  void place(std::uint64_t hash, std::uint32_t node) {
    std::size_t at = hash & mask_;
    while (slots_[at].node != kEmpty) at = (at + 1) & mask_;
    slots_[at] = {node, static_cast<std::uint32_t>(hash >> 32)};
  }

  // Small tables grow fast: filling one anew costs more than its memory.
  std::size_t next_size() const { return slots_.size() == 0 ? 64 : slots_.size() * (slots_.size() < 4096 ? 4 : 2); }

  template <class HashOf, class Holds>
  __attribute__((noinline)) void grow(std::uint32_t nodes, HashOf&& hash_of, Holds&& holds) {
    const std::size_t size = next_size();
    Column<Slot> fresh;
    fresh.fill(size, Slot{kEmpty, 0});
    slots_ = std::move(fresh);
    mask_ = size - 1;
    for (std::uint32_t node = 0; node < nodes; ++node)  // in order: what was inserted last stays last in its chain
      if (holds(node)) place(hash_of(node), node);
  }

  Column<Slot> slots_;
  std::size_t mask_ = 0, count_ = 0;
  std::size_t free_ = 0;  // where the last search for a node ended
};

}  // namespace anabranch
