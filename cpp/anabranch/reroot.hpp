// What stays of a graph when its root moves on: the part below the new root, copied into a graph of its own.
//
// The work is proportional to what is kept; the rest is given back block by block. The new root is node 0, the others follow
// breadth first. Edges keep their order, visits and values, so a search goes on where it was. Every column comes along.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "anabranch/backup.hpp"
#include "anabranch/config.hpp"
#include "anabranch/graph.hpp"

namespace anabranch {

template <class HashOf>
class Reroot {
 public:
  // `hash_of` is the hash a node of the old graph is indexed by.
  Reroot(const Graph& from, Graph& to, const Config& config, HashOf hash_of)
      : from_(from), to_(to), config_(config), hash_of_(std::move(hash_of)), moved_(from.size(), kNone) {}

  void keep_below(NodeId root) {
    find_below(root);
    to_.tables = from_.tables;
    for (const NodeId id : kept_) copy_node(id);
    for (const NodeId id : kept_) copy_edges(id);
    find_parents();
    mark_shared();
    to_.low = from_.low;
    to_.high = from_.high;
  }

 private:
  // Number what can be reached, breadth first.
  void find_below(NodeId root) {
    kept_.push_back(root);
    moved_[root] = 0;
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      const Node& node = from_.nodes[kept_[i]];
      for (const EdgeId e : EdgeIds(node)) {
        const NodeId child = from_.edges[e].child;
        if (child == kNone || moved_[child] != kNone) continue;
        moved_[child] = static_cast<NodeId>(kept_.size());
        kept_.push_back(child);
      }
    }
    to_.reserve(kept_.size());
  }

  void copy_node(NodeId id) {
    const Node& old = from_.nodes[id];
    offer(from_.states, to_.states, id, record_);
    if (from_.rules.key) offer(from_.key_records, to_.key_records, id, key_);
    Node made = old;
    made.edges = made.edge_count = made.level = 0;
    made.size_class = 0;
    made.flags = old.flags & (kExact | kProofs);
    made.rows = kNone;
    const NodeId now = to_.add(made, from_.key[id]);
    std::copy_n(from_.mean(id), 2 * from_.players, to_.mean(now));
    to_.each_node_column(from_, [&](auto& column, const auto& old_column) { column.copy_rows(now, old_column, id, 1); });
    to_.parent[now] = kNone;
    if (to_.last_link.kept()) to_.last_link[now] = kNone;
    if (old.rows != kNone) {
      const std::size_t count = from_.choices_of(old);
      const std::uint32_t at = to_.nodes[now].rows = to_.add_choices(count);
      to_.each_choice_column(from_, [&](auto& column, const auto& old_column) { column.copy_rows(at, old_column, old.rows, count); });
    }
    if (!is_found(old, config_)) return;
    const std::uint64_t hash = hash_of_(id);
    to_.index.find(hash, [](NodeId) { return false; });  // it is new, and `insert` wants to know where it goes
    to_.index.insert(hash, now, [&](NodeId node) { return hash_of_(kept_[node]); }, [&](NodeId node) { return is_found(to_.nodes[node], config_); });
  }

  static void offer(const States& from, States& to, NodeId id, std::vector<std::uint64_t>& memory) {
    memory.resize(from.record_size() / 8 + 1);
    auto* bytes = reinterpret_cast<std::byte*>(memory.data());
    from.load(id, bytes);
    to.offer(bytes);
  }

  void copy_edges(NodeId id) {
    const Node& old = from_.nodes[id];
    const NodeId now = moved_[id];
    std::vector<float> rewards(from_.players);
    for (const EdgeId e : EdgeIds(old)) {
      for (std::size_t p = 0; p < from_.players; ++p) rewards[p] = from_.reward(e, p);
      const std::uint32_t place = to_.add_edge(now, from_.edges[e].move, rewards.data());
      const EdgeId copy = to_.nodes[now].edges + place;
      Edge& edge = to_.edges[copy];
      edge.visits = from_.edges[e].visits;
      edge.bits |= from_.edges[e].bits & (kFrozen | kSkip);
      edge.child = from_.edges[e].child == kNone ? kNone : moved_[from_.edges[e].child];
      std::copy_n(from_.value(e), from_.players, to_.value(copy));
      to_.each_edge_column(from_, [&](auto& column, const auto& old_column) { column.copy_rows(copy, old_column, e, 1); });
      // q(e) of a shared child may be stale; it must not be once the child has this parent only.
      if (!from_.edges[e].is(kShared)) continue;
      read_child(to_, copy, discount_of(to_, to_.nodes[now], copy, config_), config_);
      if (!config_.keeps_range()) continue;
      edge.bits |= kShared;  // what was read has not widened the range yet
      to_.nodes[now].set(kSharedEdges);
    }
  }

  // Number nodes by their distance from the root, see whether all ways to a node have the same length, and list parents in
  // the order of the new numbers.
  void find_parents() {
    for (NodeId id = 0; id < to_.size(); ++id) {
      each_child(id, [&](EdgeId e, NodeId child) {
        if (child != 0 && to_.parent[child] == kNone) {
          to_.parent[child] = id;
          to_.nodes[child].level = to_.nodes[id].level + 1;
        } else if (to_.nodes[child].level != to_.nodes[id].level + 1) {
          to_.graded = false;
        }
        if (to_.last_link.kept() && !earlier_edge(id, e, child)) to_.add_parent(child, id);
      });
    }
  }

  // Edges into a node with several parents, and into the root, may become stale.
  void mark_shared() {
    std::vector<std::uint8_t> parents(to_.size(), 0);
    parents[0] = 2;
    for (NodeId id = 0; id < to_.size(); ++id) each_child(id, [&](EdgeId, NodeId child) { if (parents[child] < 2) ++parents[child]; });
    for (NodeId id = 0; id < to_.size(); ++id) {
      each_child(id, [&](EdgeId e, NodeId child) {
        if (parents[child] < 2) return;
        to_.edges[e].bits |= kShared;
        to_.nodes[id].set(kSharedEdges);
        to_.nodes[child].set(kManyParents);
        if (earlier_edge(id, e, child)) to_.nodes[id].set(kTwinEdges);
      });
    }
  }

  // Whether an edge before this one leads to the same child.
  bool earlier_edge(NodeId id, EdgeId e, NodeId child) const {
    for (EdgeId other = to_.nodes[id].edges; other < e; ++other)
      if (to_.edges[other].child == child) return true;
    return false;
  }

  template <class Action>
  void each_child(NodeId id, const Action& action) {
    const Node& node = to_.nodes[id];
    for (const EdgeId e : EdgeIds(node))
      if (to_.edges[e].child != kNone) action(e, to_.edges[e].child);
  }

  const Graph& from_;
  Graph& to_;
  const Config& config_;
  HashOf hash_of_;
  std::vector<NodeId> moved_, kept_;  // new numbers by old, old by new
  std::vector<std::uint64_t> record_, key_;
};

}  // namespace anabranch
