// The graph of one root: nodes and edges as parallel arrays with 32-bit ids.
//
// A node is a record in `states` and a `Node` with 2·P doubles behind it: Q, then U. For two players that is one line of the
// processor's cache, all of it needed at once. Its edges lie in one block in creation order, the order in which sums run; a
// full block moves to one twice as large, and blocks left behind are used again. Behind an `Edge` lie P doubles, its q(e) as
// of the parent's last refresh. Where the child has no other parent that is its q(e) now, because whatever changes the child
// goes on to refresh the parent; edges into shared children carry kShared and are read again before they count. So a
// selection touches a node and its block, and mostly nothing else. What fewer playouts need lies in the columns that
// columns.hpp declares.
//
// Only the thread that owns the graph may touch it. The invariants are those of docs/model.md section 2; `Graph.check` in Python
// (src/anabranch/search/engine/graph.py) tests them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "anabranch/column_set.hpp"
#include "anabranch/config.hpp"
#include "anabranch/index.hpp"
#include "anabranch/node.hpp"
#include "anabranch/rules.hpp"
#include "anabranch/states.hpp"
#include "anabranch/tables.hpp"

namespace anabranch {

// How many there may be before a wave begins; tests have graphs that come to an end earlier.
#ifndef ANABRANCH_MOST_EDGES
#define ANABRANCH_MOST_EDGES (kNoReward - (std::size_t{1} << 24))
#endif
#ifndef ANABRANCH_MOST_ROWS
#define ANABRANCH_MOST_ROWS (kNone - (std::size_t{1} << 28))
#endif
inline constexpr std::size_t kMostEdges = ANABRANCH_MOST_EDGES, kMostRows = ANABRANCH_MOST_ROWS;

// Whether equal states find a node: not where the graph is a tree, nor dice that are rolled inside the transition.
[[gnu::always_inline]] inline bool is_found(const Node& node, const Config& config) {
  return config.merge && !(config.chance.in_transition && node.kind == Kind::chance);
}

class Graph : public ColumnSet {
 public:
  explicit Graph(const Rules& game, const Config& config = Config())
      : ColumnSet(game, static_cast<std::size_t>(game.players), config),
        rules(game),
        players(static_cast<std::size_t>(game.players)),
        nodes(2 * players),
        edges(players),
        states(game.state_size, game.model != nullptr),
        key_records(game.key ? game.key_size : 8) {
    std::size_t node_columns = 0, edge_columns = 0;
    each_node_column([&](const auto&) { ++node_columns; });
    each_edge_column([&](const auto&) { ++edge_columns; });
    few_columns_ = node_columns == (proof.kept() ? 3u : 2u) && edge_columns == 0;
    std::size_t choice_columns = 0;
    each_choice_column([&](const auto&) { ++choice_columns; });
    few_choice_columns_ = choice_columns == 1;
    begin();
  }

  // Forget all nodes and keep the memory for others.
  void clear() {
    nodes.clear();
    edges.clear();
    states.clear();
    key_records.clear();
    rewards.clear();
    links.clear();
    const auto clear_column = [](auto& column) { column.clear(); };
    each_node_column(clear_column);
    each_edge_column(clear_column);
    each_choice_column(clear_column);
    index = Index();
    if (!tables.empty()) tables = Tables();
    free_ = {};
    graded = true;
    begin();
  }

  Rules rules;
  std::size_t players;
  Records<Node> nodes;
  Records<Edge> edges;
  States states;
  Index index;
  Column<float> rewards;  // P a row
  Column<ParentLink> links;       // where parents are kept, all of them, in the order they were made
  States key_records;             // of games with a `key` verb
  Tables tables;
  std::vector<double> low, high;  // of q(e) seen at any refresh, per player: the scale `graph`
  bool graded = true;             // whether all ways to a node have the same length, as where the state counts the moves

  std::size_t size() const { return nodes.size(); }
  double* mean(NodeId node) { return nodes.doubles(node); }
  const double* mean(NodeId node) const { return nodes.doubles(node); }
  double* evaluation(NodeId node) { return mean(node) + players; }
  const double* evaluation(NodeId node) const { return mean(node) + players; }
  double* value(EdgeId edge) { return edges.doubles(edge); }
  const double* value(EdgeId edge) const { return edges.doubles(edge); }

  // The same where the number of players is known to the compiler, unless P is 0.
  template <std::size_t P>
  Node& node(NodeId id) { return nodes.at<2 * P>(id); }
  template <std::size_t P>
  const Node& node(NodeId id) const { return nodes.at<2 * P>(id); }
  template <std::size_t P>
  Edge& edge(EdgeId e) { return edges.at<P>(e); }
  template <std::size_t P>
  const Edge& edge(EdgeId e) const { return edges.at<P>(e); }

  const Distribution& outcomes_of(const Node& node) const { return tables.outcomes(node.choices); }
  const Table& table_of(const Node& node) const { return tables.joint(node.choices); }
  // How many choices the acting players have, all together: as many rows a node has, if any.
  std::size_t choices_of(const Node& node) const { return node.acting == 1 ? node.choices : table_of(node).ids.size(); }
  // The acting players as bits.
  std::uint64_t turn_of(const Node& node) const {
    return node.acting == 1 ? std::uint64_t{1} << node.mover : table_of(node).turn;
  }

  // v(n): visits in flight that N(n) will count; v(e).
  std::uint32_t in_flight(NodeId id) const { return passing.kept() ? passing[id] + (nodes[id].is(kPending) ? 1 : 0) : 0; }
  std::uint32_t edge_in_flight(EdgeId e) const { return marks.kept() ? marks[e] : 0; }

  float reward(EdgeId edge, std::size_t player) const {
    const std::uint32_t row = edges[edge].reward();
    return row == kNoReward ? 0.0f : rewards[row * players + player];
  }

  // Whether edges or rows of choices are so many that their numbers might not suffice for what one wave adds. Rewards, which
  // have a row for an edge at the most, are numbered by the 29 bits that an edge has left.
  bool is_out_of_numbers() const { return edges.size() > kMostEdges || choice_rows() > kMostRows; }

  // Everything the graph holds, in bytes.
  std::size_t bytes() const {
    std::size_t total = nodes.bytes() + edges.bytes() + states.bytes() + key_records.bytes() + index.bytes() + rewards.bytes() +
                        links.bytes() + tables.bytes();
    const auto add_bytes = [&total](const auto& column) { total += column.bytes(); };
    each_node_column(add_bytes);
    each_edge_column(add_bytes);
    each_choice_column(add_bytes);
    return total;
  }

  // Make room for so many nodes at once; what is not used is never touched.
  void reserve(std::size_t count) {
    nodes.reserve_rows(count);
    states.reserve(count);
    edges.reserve_rows(count * 3 / 2);
    each_node_column([count](auto& column) { column.reserve_rows(count); });
  }

  // Add a node for the record offered to `states` (and `key_records`).
  // The record of the node comes last: if memory runs out before, there is no node, and `trim` cuts off what was added.
  template <std::size_t P = 0>
  NodeId add(const Node& made, std::uint64_t hash) {
    if (few_columns_) [[likely]] {
      key.push(hash);
      parent.push(kNone);
      if (proof.kept()) proof.extend(proof.width);  // written by `begin_proof`
    } else {
      each_node_column([](auto& column) { column.add_rows(1); });
      key[size()] = hash;
    }
    states.append();
    if (rules.key) key_records.append();
    const auto id = static_cast<NodeId>(nodes.extend(1));
    Node& added = node<P>(id);
    added = made;
    double* value = doubles_of(&added);
    for (std::size_t i = 0; i < 2 * (P ? P : players); ++i) value[i] = 0.0;
    return id;
  }

  // Cut off rows that no node and no edge has, left where memory ran out.
  void trim() {
    const std::size_t count = size(), slots = edges.size();
    each_node_column([count](auto& column) { column.cut_rows(count); });
    each_edge_column([slots](auto& column) { column.cut_rows(slots); });
    states.cut(count);
    if (rules.key) key_records.cut(count);
  }

  // Forget the node made last; the caller has taken it out of the index.
  void remove_last() {
    const std::size_t last = size() - 1;
    release_edges(nodes[last]);
    nodes.cut_rows(last);
    each_node_column([last](auto& column) { column.cut_rows(last); });
    states.cut(last);
    if (rules.key) key_records.cut(last);
  }

  // Add so many rows of choices; the first.
  std::uint32_t add_choices(std::size_t count) {
    const std::size_t first = choice_rows();
    each_choice_column([count](auto& column) { column.add_rows(count); });
    return static_cast<std::uint32_t>(first);
  }
  // The same with these priors.
  std::uint32_t add_choices(const float* prior, std::size_t count) {
    if (!few_choice_columns_) [[unlikely]] {
      const std::uint32_t first = add_choices(count);
      std::copy_n(prior, count, &priors[first]);
      return first;
    }
    const std::size_t first = priors.extend(count);
    std::memcpy(&priors[first], prior, count * sizeof(float));
    return static_cast<std::uint32_t>(first);
  }
  std::size_t choice_rows() const { return priors.size(); }
  // Bytes of a row.
  std::size_t choice_bytes() const { return sizeof(float) + (sums.kept() ? 2 * sizeof(double) : 0); }
  void cut_choices(std::size_t rows) {
    each_choice_column([rows](auto& column) { column.cut_rows(rows); });
  }

  // Append an edge to a node; its place in the node's block. Visits are 0 and nothing hangs on it yet.
  template <std::size_t P = 0>
  [[gnu::always_inline]] std::uint32_t add_edge(NodeId id, std::uint32_t move, const float* reward) {
    Node& owner = node<P>(id);
    const std::uint32_t count = owner.edge_count;
    if (count == owner.room()) move_block(owner);
    std::uint32_t row = kNoReward;
    for (std::size_t p = 0; p < (P ? P : players); ++p) {
      if (reward[p] == 0.0f) continue;
      row = static_cast<std::uint32_t>(rewards.size() / players);
      const std::size_t at = rewards.extend(players);
      std::memcpy(&rewards[at], reward, players * sizeof(float));
      break;
    }
    const EdgeId e = owner.edges + count;
    clear_edge<P>(e);
    Edge& added = edge<P>(e);
    added.move = move;
    added.bits = row;
    ++owner.edge_count;
    return count;
  }

  // Take back the edge added last to a node.
  void remove_edge(NodeId id) {
    Node& node = nodes[id];
    --node.edge_count;
    clear_edge(node.edges + node.edge_count);
  }

  // Hang a child under an edge. A child with several parents changes behind their backs: all its edges become shared.
  template <std::size_t P = 0>
  [[gnu::always_inline]] void link(NodeId above, EdgeId e, NodeId child) {
    Edge& led = edge<P>(e);
    led.child = child;
    led.bits &= ~kFrozen;
    if (parent[child] == kNone && child != 0) {
      parent[child] = above;
      node<P>(child).level = node<P>(above).level + 1;
      if (last_link.kept()) [[unlikely]] add_parent(child, above);
      return;
    }
    link_again(above, e, child);
  }
  __attribute__((noinline)) void link_again(NodeId above, EdgeId e, NodeId child) {
    Node& node = nodes[child];
    if (node.level != nodes[above].level + 1) graded = false;
    bool twin = false;
    for (const EdgeId other : EdgeIds(nodes[above])) twin |= other != e && edges[other].child == child;
    if (twin) nodes[above].set(kTwinEdges);
    else if (last_link.kept()) add_parent(child, above);
    edges[e].bits |= kShared;
    nodes[above].set(kSharedEdges);
    if (node.is(kManyParents)) return;
    node.set(kManyParents);
    if (parent[child] == kNone) return;
    Node& first = nodes[parent[child]];
    first.set(kSharedEdges);
    for (const EdgeId other : EdgeIds(first))
      if (edges[other].child == child) edges[other].bits |= kShared;
  }

  // Mark all edges into a node as shared; only where parents are kept.
  void share(NodeId child) {
    if (nodes[child].is(kManyParents)) return;
    nodes[child].set(kManyParents);
    each_parent(child, [&](NodeId above) {
      nodes[above].set(kSharedEdges);
      for (const EdgeId e : EdgeIds(nodes[above]))
        if (edges[e].child == child) edges[e].bits |= kShared;
    });
  }

  // Call f(parent) for all parents of a node, in the order they were linked; only where they are kept.
  template <class F>
  void each_parent(NodeId child, F&& f) const {
    const std::uint32_t last = last_link[child];
    if (last == kNone) return;
    for (std::uint32_t at = links[last].next;; at = links[at].next) {
      f(links[at].parent);
      if (at == last) return;
    }
  }

  void add_parent(NodeId child, NodeId above) {
    const auto link = static_cast<std::uint32_t>(links.size());
    const std::uint32_t last = last_link[child];
    links.push({above, child, last == kNone ? link : links[last].next, last});
    if (last != kNone) links[last].next = link;
    last_link[child] = link;
  }

  // Take back the newest links until so many are left; children that are gone need nothing.
  void cut_links(std::size_t count) {
    while (links.size() > count) {
      const ParentLink link = links.back();
      links.pop();
      if (link.child >= size()) continue;
      if (link.before != kNone) links[link.before].next = link.next;
      last_link[link.child] = link.before;
    }
  }

  // Call for the memory of a node's children before it is known which one is needed.
  template <std::size_t P>
  void prefetch_children(const Node& node) const {
    for (const EdgeId e : EdgeIds(node)) __builtin_prefetch(&nodes.at<2 * P>(edge<P>(e).child));
  }

  template <std::size_t P = 0>
  void clear_edge(EdgeId e) {
    Edge& cleared = edge<P>(e);
    cleared = Edge{kNone, 0, 0, kNoReward};
    for (std::size_t p = 0; p < (P ? P : players); ++p) doubles_of(&cleared)[p] = 0.0;
    if (!few_columns_) [[unlikely]] each_edge_column([e](auto& column) { column.clear_row(e); });
  }

  // Give back the block of a node that is about to be cut off.
  void release_edges(const Node& node) {
    if (node.size_class > 0) free_block(node.size_class - 1u, node.edges);
  }

  // A fresh block of 2^size_class edges.
  EdgeId add_block(std::size_t size_class) {
    const std::size_t capacity = std::size_t{1} << size_class;
    each_edge_column([capacity](auto& column) { column.add_rows(capacity); });
    const auto place = static_cast<EdgeId>(edges.extend(capacity));  // the last that may fail, as in `add`
    for (std::size_t i = 0; i < capacity; ++i) clear_edge(place + static_cast<EdgeId>(i));  // views may look at unused ones
    return place;
  }

  // Blocks of 1, 2, 4, … edges wait for the next node that needs their size. Each holds the place of the next one, so that
  // giving one back takes no memory.
  void free_block(std::size_t size_class, EdgeId place) {
    edges[place].child = free_[size_class].first;
    free_[size_class].first = place;
    ++free_[size_class].count;
  }
  std::size_t free_blocks(std::size_t size_class) const { return free_[size_class].count; }

 private:
  void begin() {
    edges.reserve_rows(1);  // so that a node without edges has a place where they would be
    low.assign(players, std::numeric_limits<double>::infinity());
    high.assign(players, -std::numeric_limits<double>::infinity());
  }

  // Give a node a block twice as large.
  __attribute__((noinline)) void move_block(Node& node) {
    const std::size_t size_class = node.size_class;
    EdgeId place = free_[size_class].first;
    if (place == kNone) {
      place = add_block(size_class);
    } else {
      free_[size_class].first = edges[place].child;
      --free_[size_class].count;
    }
    if (node.edge_count > 0) {
      edges.copy_rows(place, edges, node.edges, node.edge_count);
      each_edge_column([&](auto& column) { column.copy_rows(place, column, node.edges, node.edge_count); });
      free_block(size_class - 1, node.edges);
    }
    node.edges = place;
    ++node.size_class;
  }

  struct FreeBlocks {
    EdgeId first = kNone;
    std::uint32_t count = 0;
  };

  std::array<FreeBlocks, 32> free_{};
  bool few_choice_columns_ = false;  // `priors` is the only one
  bool few_columns_ = false;  // `key`, `parent` and `proof` are the only ones of nodes, and edges have none: one path at a time
};

}  // namespace anabranch
