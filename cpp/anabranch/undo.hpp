// Everything a wave changes, and how all of it is taken back (docs/model.md section 7: a wave is all or nothing).
//
// What a wave makes is appended to columns, the newest wave's last, and is cut off again. What it changes in nodes that were
// there before, ahead of its turn to be backed up, is announced here first: whole nodes are remembered, with their rows of
// every column. Backing up paths calls no verb and takes no memory, so it cannot fail and is not announced, except for visits
// inside others. Nor does taking back take memory: there may be none left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "anabranch/column.hpp"
#include "anabranch/graph.hpp"

namespace anabranch {

class Undo {
 public:
  // `answers`: whether answers are used as soon as they are there. A model's bring rewards too.
  void begin(const Graph& g, bool answers) {
    first_node_ = g.size();
    first_reward_ = answers || !g.rules.model ? g.rewards.size() : SIZE_MAX;
    first_link_ = g.links.size();
    first_row_ = answers ? g.choice_rows() : SIZE_MAX;
    added_.cut(0);
    if (more_) [[unlikely]] clear_more();
  }

  bool made(NodeId id) const { return id >= first_node_; }

  // Announced as they happen:
  void expect_edge() { added_.reserve(added_.size() + 1); }
  void edge_added(NodeId owner) { added_.append(owner); }
  void answers_begin(const Graph& g) {
    if (first_row_ == SIZE_MAX) first_row_ = g.choice_rows();
    if (first_reward_ == SIZE_MAX) first_reward_ = g.rewards.size();
  }
  // A node that was there before is asked about.
  void asked(NodeId id) {
    more_ = true;
    asked_.push_back(id);
  }
  void thawed(NodeId id, std::uint32_t place) {
    more_ = true;
    thawed_.emplace_back(id, place);
  }
  // All that a refresh, a count of visits or a selector's learning may change of a node.
  __attribute__((noinline, cold)) void remember(const Graph& g, NodeId id) {
    more_ = true;
    if (low_.empty()) {
      high_ = g.high;
      low_ = g.low;  // last, as it says that both are there
    }
    const Node& node = g.nodes[id];
    Before before{id, node.visits, node.edge_count, node.rows, node.flags, node.rows == kNone ? 0 : g.choices_of(node), {}};
    const auto keep = [&before](const void* from, std::size_t size) {
      const auto* bytes = static_cast<const std::byte*>(from);
      before.bytes.insert(before.bytes.end(), bytes, bytes + size);
    };
    each_part(g, before, keep);
    before_.push_back(std::move(before));
  }

  // Bring the graph back to where it was when the wave began. `forget(id)` takes the newest node out of the index.
  template <class Forget>
  void take_back(Graph& g, Forget&& forget) {
    for (auto before = before_.rbegin(); before != before_.rend(); ++before) {
      Node& node = g.nodes[before->node];
      const std::byte* at = before->bytes.data();
      each_part(g, *before, [&at](void* to, std::size_t size) {
        std::memcpy(to, at, size);
        at += size;
      });
      // What was found to be shared stays so: kManyParents of the child says that all its edges carry kShared.
      for (std::uint32_t place = 0; place < before->edge_count; ++place) {
        Edge& edge = g.edges[node.edges + place];
        if (edge.child != kNone && g.nodes[edge.child].is(kManyParents)) edge.bits |= kShared;
      }
      node.visits = before->visits;
      node.clear(kProofs);
      node.set(before->flags & kProofs);
      if (!g.passing.kept()) continue;
      g.passing[before->node] = 0;  // whatever was in flight is not any more
      for (const EdgeId e : EdgeIds(node)) g.marks[e] = 0;
    }
    for (const NodeId id : asked_) {
      Node& node = g.nodes[id];
      node.clear(kPending);
      node.visits = 0;
      node.rows = kNone;
      for (std::size_t i = 0; i < 2 * g.players; ++i) g.mean(id)[i] = 0.0;
    }
    for (std::size_t i = added_.size(); i > 0; --i) g.remove_edge(added_[i - 1]);
    for (const auto& [id, place] : thawed_) {  // their values are as they were: a visit that changed one was remembered
      Edge& edge = g.edges[g.nodes[id].edges + place];
      edge.child = kNone;
      edge.bits = (edge.bits & kNoReward) | kFrozen;
    }
    while (g.size() > first_node_) {
      forget(static_cast<NodeId>(g.size() - 1));
      g.remove_last();
    }
    g.trim();
    if (first_reward_ != SIZE_MAX) g.rewards.cut(first_reward_);
    g.cut_links(first_link_);
    if (first_row_ != SIZE_MAX) g.cut_choices(first_row_);
    if (!low_.empty()) {
      g.low = low_;
      g.high = high_;
    }
  }

 private:
  // A node as it was: its values, its rows of all columns, its edges with theirs, its choices.
  struct Before {
    NodeId node;
    std::uint32_t visits, edge_count, rows;
    std::uint16_t flags;
    std::size_t choices;  // it may know more of them by the time it is taken back
    std::vector<std::byte> bytes;
  };

  // Call part(memory, size) for all that is remembered of a node, in one order for both directions.
  template <class G, class Part>
  static void each_part(G& g, const Before& before, const Part& part) {
    auto& node = g.nodes[before.node];
    part(g.mean(before.node), 2 * g.players * sizeof(double));
    g.each_node_column([&](auto& column) { part(column.row(before.node), column.width * sizeof(*column.data())); });
    const std::size_t count = before.edge_count;
    if (count > 0) {
      part(&g.edges[node.edges], count * g.edges.stride());
      g.each_edge_column([&](auto& column) { part(column.row(node.edges), count * column.width * sizeof(*column.data())); });
    }
    if (before.rows == kNone) return;
    g.each_choice_column([&](auto& column) { part(column.row(before.rows), before.choices * column.width * sizeof(*column.data())); });
  }

  __attribute__((noinline)) void clear_more() {
    more_ = false;
    asked_.clear();
    thawed_.clear();
    before_.clear();
    low_.clear();
    high_.clear();
  }

  std::size_t first_node_ = 0, first_reward_ = 0, first_link_ = 0;
  std::size_t first_row_ = SIZE_MAX;  // since the wave's first answers: those behind it may have theirs later
  Column<NodeId> added_;              // owners of new edges, in order
  std::vector<NodeId> asked_;
  std::vector<std::pair<NodeId, std::uint32_t>> thawed_;
  std::vector<double> low_, high_;
  std::vector<Before> before_;
  bool more_ = false;  // whether something was announced that most waves never announce
};

}  // namespace anabranch
