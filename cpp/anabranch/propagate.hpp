// Refresh more than the path: parents, all ancestors, or the whole graph now and then (docs/model.md section 14).
//
// A refresh changes Q and nothing else. Where parents are kept, a visit that was backed up is followed by a refresh of
// those that depend on its nodes; nodes without visits are passed over.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "anabranch/backup.hpp"
#include "anabranch/context.hpp"
#include "anabranch/proof.hpp"
#include "anabranch/reconsider.hpp"
#include "anabranch/select/selector.hpp"

namespace anabranch {

class Propagation {
 public:
  Propagation(Context& context, Selectors& selectors)
      : proofs(context.graph, context.config), c(context), selectors_(selectors), acyclic_(context.config.cycles == Cycles::refused) {}

  Reconsider proofs;

  // Recompute Q of a node whose q(e) are up to date, but for those of shared children.
  template <std::size_t P = 0>
  void refresh(NodeId id) {
    Graph& g = c.graph;
    Node& node = g.node<P>(id);
    read_shared<P>(g, node, c.config);
    refresh_read<P>(id, node);
  }

  // The same where they are all up to date.
  template <std::size_t P = 0>
  [[gnu::always_inline]] void refresh_read(NodeId id, Node& node) {
    if (node.kind != Kind::decision) [[unlikely]] {
      if (node.kind == Kind::chance) refresh_chance(c.graph, node);
      if (node.is(kTight) && node.visits > 0) clip_tight(c.graph, c.config, id);
      return;
    }
    selectors_.value<P>(c.graph, node);
    if (node.is(kTight)) [[unlikely]] clip_tight(c.graph, c.config, id);
    if (keeps_range_) [[unlikely]] widen_range(c.graph, id, c.config);
  }

  bool follows() const { return c.config.refresh != Refresh::path; }

  // Make sure that refreshing in a graph of so many nodes takes no memory.
  void expect(std::size_t nodes) {
    if (changed_.capacity() < 2 * nodes + kLoops) changed_.reserve(4 * nodes + kLoops);
    if (order_.capacity() >= nodes && before_.capacity() >= c.graph.players) [[likely]] return;
    order_.reserve(2 * nodes);
    stack_.reserve(2 * nodes);
    before_.reserve(c.graph.players);
  }

  // Where more than the path is refreshed: list the nodes a visit changes, leaves first, and refresh the leaves' parents.
  __attribute__((noinline, cold)) void follow_leaves(const Path& path, const Visit& visit, bool nested) {
    changed_.clear();
    if (path.steps.size() == visit.path) return;
    const PathStep last = path.steps.back();
    const Node& node = c.graph.nodes[last.node];
    const auto add = [&](EdgeId e) {
      const NodeId child = c.graph.edges[e].child;
      if (child == kNone || c.graph.nodes[child].visits == 0) return;
      if (std::find(changed_.begin(), changed_.end(), child) == changed_.end()) changed_.push_back(child);
    };
    if (last.place != kNone) {
      add(node.edges + last.place);
    } else if (node.is(kExact)) {
      for (const EdgeId e : EdgeIds(node)) add(e);
    } else {
      for (std::size_t d = visit.drawn; d < path.drawn.size(); ++d) add(node.edges + path.drawn[d]);
    }
    if (c.config.refresh == Refresh::parents)
      for (const NodeId leaf : changed_) refresh_parents(leaf, last.node, nested);
    for (std::size_t i = path.steps.size(); i > visit.path; --i) changed_.push_back(path.steps[i - 1].node);
  }

  // After a visit was backed up: refresh what else depends on its nodes.
  __attribute__((noinline, cold)) void follow(bool nested, std::uint64_t root_visits) {
    if (c.config.refresh == Refresh::ancestors) refresh_ancestors(changed_, nested);
    else if (c.config.refresh == Refresh::sweep && !nested && root_visits % sweep_every() == 0) sweep();
  }

  // "parents": refresh the other parents of a node, `path_parent` being refreshed by the walk itself.
  void refresh_parents(NodeId id, NodeId path_parent, bool nested) {
    c.graph.each_parent(id, [&](NodeId above) {
      if (above == path_parent) return;
      refresh_anew(above, nested);
      c.graph.share(above);  // its own parents are not refreshed: their q(e) may be stale
    });
  }

  // "ancestors": refresh all that lies above some nodes, these included, children before parents.
  void refresh_ancestors(const std::vector<NodeId>& changed, bool nested) {
    order_.clear();
    for (const NodeId id : changed) climb(id);
    if (nested) remember_all();
    if (acyclic_)
      for (const NodeId id : changed) c.graph.nodes[id].set(kChanged);
    for (auto id = order_.rbegin(); id != order_.rend(); ++id) {
      Node& node = c.graph.nodes[*id];
      // In a graph without cycles a node is up to date unless one of its children changed.
      if (!acyclic_ || node.is(kChanged) || child_changed(node)) {
        if (refresh_anew(*id, false)) c.graph.nodes[*id].set(kChanged);
      }
    }
    if (!acyclic_) read_again();
    for (const NodeId id : order_) c.graph.nodes[id].clear(kMet | kChanged);
  }

  // "sweep": refresh all nodes, children before parents.
  void sweep() {
    order_.clear();
    descend(0);
    for (const NodeId id : order_) {
      c.graph.nodes[id].clear(kMet);
      refresh_anew(id, false);
    }
    if (!acyclic_) read_again();
  }

 private:
  // A sweep costs about as much as the visits since the last one, however large the graph is.
  std::uint64_t sweep_every() const {
    return c.config.sweep_every ? c.config.sweep_every : std::bit_ceil(std::max<std::uint64_t>(kFewVisits, c.graph.size()));
  }

  struct Frame {
    NodeId node;
    std::uint32_t next;  // the link or the edge to follow next
  };

  // Read all children anew and recompute; whether Q changed, or what is certain.
  bool refresh_anew(NodeId id, bool nested) {
    Graph& g = c.graph;
    Node& node = g.nodes[id];
    if (node.visits == 0 || node.kind == Kind::over) return false;
    if (nested) c.undo().remember(g, id);
    read_children(g, node, c.config);
    before_.assign(g.mean(id), g.mean(id) + g.players);
    const bool learnt = proofs.on() && proofs.reconsider(id);
    refresh_read(id, node);
    return learnt || !std::equal(before_.begin(), before_.end(), g.mean(id));
  }

  // Where a cycle closes, a child was refreshed after the node that read it.
  void read_again() {
    for (const NodeId id : order_)
      if (c.graph.nodes[id].visits > 0) read_children(c.graph, c.graph.nodes[id], c.config);
  }

  // Visits inside others may have to be taken back.
  void remember_all() {
    try {
      for (const NodeId id : order_)
        if (c.graph.nodes[id].visits > 0 && c.graph.nodes[id].kind != Kind::over) c.undo().remember(c.graph, id);
    } catch (...) {  // no memory
      for (const NodeId id : order_) c.graph.nodes[id].clear(kMet);
      throw;
    }
  }

  bool child_changed(const Node& node) const {
    for (const EdgeId e : EdgeIds(node)) {
      const NodeId child = c.graph.edges[e].child;
      if (child != kNone && c.graph.nodes[child].is(kChanged)) return true;
    }
    return false;
  }

  // Append a node and what lies above it to `order_`, parents first, each once.
  void climb(NodeId from) {
    Graph& g = c.graph;
    const auto enter = [&](NodeId id) {
      if (g.nodes[id].is(kMet)) return;
      g.nodes[id].set(kMet);
      const std::uint32_t last = g.last_link[id];
      stack_.push_back({id, last == kNone ? kNone : g.links[last].next});
    };
    enter(from);
    while (!stack_.empty()) {
      Frame& frame = stack_.back();
      if (frame.next == kNone) {
        order_.push_back(frame.node);
        stack_.pop_back();
        continue;
      }
      const std::uint32_t link = frame.next;
      frame.next = link == g.last_link[frame.node] ? kNone : g.links[link].next;
      enter(g.links[link].parent);
    }
  }

  // Append a node and what lies below it to `order_`, children first, each once.
  void descend(NodeId from) {
    Graph& g = c.graph;
    const auto enter = [&](NodeId id) {
      if (g.nodes[id].is(kMet)) return;
      g.nodes[id].set(kMet);
      stack_.push_back({id, 0});
    };
    enter(from);
    while (!stack_.empty()) {
      Frame& frame = stack_.back();
      const Node& node = g.nodes[frame.node];
      if (frame.next == node.edge_count) {
        order_.push_back(frame.node);
        stack_.pop_back();
        continue;
      }
      const NodeId child = g.edges[node.edges + frame.next++].child;
      if (child != kNone) enter(child);
    }
  }

  Context& c;
  Selectors& selectors_;
  static constexpr std::uint64_t kFewVisits = 64;
  const bool acyclic_;
  const bool keeps_range_ = c.config.keeps_range();
  std::vector<NodeId> order_, changed_;
  std::vector<Frame> stack_;
  std::vector<double> before_;
};

}  // namespace anabranch
