// The graph of one root: nodes and edges as parallel arrays with 32-bit ids.
//
// A node is a record in `states`, a `Node` (what a walk reads), and 2·P doubles in `values`: Q, then U. Its edges lie in one
// block in creation order, the order in which sums run; a full block moves to one twice as large, and blocks left behind are
// used again. An `Edge` has its N(e) in `edge_visits` and P doubles
// in `edge_values`, its q(e) as of the parent's last refresh. Where the child has
// no other parent that is its q(e) now, because whatever changes the child goes on to refresh the parent; edges into shared
// children carry kShared and are recomputed before they are read. So most selections touch one node's memory only.
//
// Only the thread that owns the graph may touch it. Invariants are those of MODEL section 2; `check` in check.hpp tests them.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <unordered_map>
#include <vector>

#include "anabranch/column.hpp"
#include "anabranch/index.hpp"
#include "anabranch/rules.hpp"
#include "anabranch/states.hpp"

namespace anabranch {

using NodeId = std::uint32_t;
using EdgeId = std::uint32_t;
inline constexpr std::uint32_t kNone = UINT32_MAX;

enum class Kind : std::uint8_t { over, chance, decision };

// Flags of nodes.
inline constexpr std::uint8_t kOnPath = 1;     // in the path being walked
inline constexpr std::uint8_t kManyParents = 2;  // all edges into it carry kShared
inline constexpr std::uint8_t kSharedEdges = 8;  // some of its edges carry kShared
inline constexpr std::uint8_t kExact = 4;      // a chance node whose outcomes were all enumerated
// Flags of edges.
inline constexpr std::uint32_t kShared = 1;  // the child has another parent: q(e) may be stale
inline constexpr std::uint32_t kFrozen = 2;  // no child: q(e) is the frozen value

struct Node {
  std::uint32_t visits = 0;      // N(n)
  std::uint32_t edges = 0;       // the first edge of its block
  std::uint32_t edge_count = 0;  // how many edges it has
  std::uint32_t edge_room = 0;   // how many its block holds
  std::uint32_t choices = 0;     // one acting player: how many choices; several: a row of `tables`; chance: a distribution
  std::uint32_t priors = kNone;  // where its priors start, kNone if all choices are equally likely
  NodeId parent = kNone;         // the node whose edge reached it first
  Kind kind = Kind::over;
  std::uint8_t mover = 0;  // the acting player, if there is one
  std::uint8_t flags = 0;
  std::uint8_t acting = 0;  // how many players act
};

struct Edge {
  NodeId child;          // kNone if frozen
  std::uint32_t move;    // the choice; several acting: choices packed as bits; chance: the outcome's place in the list
  std::uint32_t reward;  // a row of `rewards`, kNone where all are 0
  std::uint32_t flags;
};

// Outcomes of chance states, each different list stored once.
struct Distribution {
  std::vector<std::int32_t> outcomes;
  std::vector<double> chances, cumulative;
};

// Several players acting at once: who they are, the ids that stand for their choices, and where a choice's bits lie in
// `Edge::move`. Few different ones occur in a game, and each is stored once.
struct Table {
  std::uint64_t turn = 0;
  std::vector<std::uint32_t> players, sizes, shifts, masks;  // one entry per acting player
  std::vector<std::int32_t> ids;                             // of all acting players, one after the other
  std::vector<std::uint32_t> starts;                         // where a player's ids (and its priors) begin

  std::uint32_t choice(std::uint32_t move, std::size_t index) const { return move >> shifts[index] & masks[index]; }
};

class Graph {
  friend class Archive;  // snapshot.hpp

 public:
  explicit Graph(const Rules& game)
      : rules(game),
        players(static_cast<std::size_t>(game.players)),
        states(game.state_size),
        keys(game.key ? game.key_size : 8) {
    low.assign(players, std::numeric_limits<double>::infinity());
    high.assign(players, -std::numeric_limits<double>::infinity());
  }

  Rules rules;
  std::size_t players;
  States states, keys;  // `keys` is used only by games with a `key` verb
  Index index;
  Column<Node> nodes;
  Column<double> values;         // 2·P a node: Q, U
  Column<std::uint64_t> hashes;  // node keys: what random draws depend on
  Column<double> ranges;         // 2·P a node, for games with a `bounds` verb: low, high of the remaining return
  Column<Edge> edges;
  Column<std::uint32_t> edge_visits;  // N(e), apart from the rest: selections and backups read nothing else of most edges
  Column<double> edge_values;       // P an edge: q(e)
  Column<std::uint32_t> repeats;    // C(e), only where repetitions have a value of their own
  Column<float> rewards;            // P a row
  Column<float> priors;
  std::vector<Distribution> distributions;
  std::vector<Table> tables;
  std::vector<double> low, high;  // of q(e) seen at any refresh, per player: the scale `graph`

  std::size_t size() const { return nodes.size(); }
  double* mean(NodeId node) { return values.data() + node * 2 * players; }
  const double* mean(NodeId node) const { return values.data() + node * 2 * players; }
  double* opinion(NodeId node) { return mean(node) + players; }
  const double* opinion(NodeId node) const { return mean(node) + players; }
  double* value(EdgeId edge) { return edge_values.data() + edge * players; }
  const double* value(EdgeId edge) const { return edge_values.data() + edge * players; }

  // Everything the graph holds, in bytes.
  std::size_t bytes() const {
    return states.bytes() + keys.bytes() + index.bytes() + nodes.bytes() + values.bytes() + hashes.bytes() +
           ranges.bytes() + edges.bytes() + edge_visits.bytes() + edge_values.bytes() + repeats.bytes() + rewards.bytes() + priors.bytes() +
           extra_bytes_;
  }

  // Make room for so many nodes at once; what is not used is never touched.
  void reserve(std::size_t count) {
    nodes.reserve(count);
    values.reserve(count * 2 * players);
    hashes.reserve(count);
    states.reserve(count);
    edges.reserve(count * 3 / 2);
    edge_visits.reserve(count * 3 / 2);
    edge_values.reserve(count * 3 / 2 * players);
  }

  // Add a node for the record offered to `states` (and `keys`).
  NodeId add(const Node& made, std::uint64_t hash) {
    const auto id = static_cast<NodeId>(nodes.size());
    nodes.push(made);
    const std::size_t first = values.extend(2 * players);
    for (std::size_t i = first; i < first + 2 * players; ++i) values[i] = 0.0;
    hashes.push(hash);
    if (rules.bounds) ranges.fill(2 * players, 0.0);
    states.append();
    if (rules.key) keys.append();
    return id;
  }

  // Append an edge to a node; its place in the node's block. Visits are 0 and nothing hangs on it yet.
  std::uint32_t add_edge(NodeId id, std::uint32_t move, const float* reward) {
    Node& node = nodes[id];
    const std::uint32_t count = node.edge_count;
    if (count == node.edge_room) move_block(node, count == 0 ? 1 : count * 2);
    std::uint32_t row = kNone;
    for (std::size_t p = 0; p < players; ++p) {
      if (reward[p] == 0.0f) continue;
      row = static_cast<std::uint32_t>(rewards.size() / players);
      const std::size_t at = rewards.extend(players);
      std::memcpy(&rewards[at], reward, players * sizeof(float));
      break;
    }
    edges[node.edges + count] = Edge{kNone, move, row, 0};
    edge_visits[node.edges + count] = 0;
    for (std::size_t p = 0; p < players; ++p) value(node.edges + count)[p] = 0.0;
    if (count_repeats) repeats[node.edges + count] = 0;
    ++node.edge_count;
    return count;
  }

  // Hang a child under an edge. A child with several parents changes behind their backs: all its edges become shared.
  void link(NodeId parent, EdgeId edge, NodeId child) {
    edges[edge].child = child;
    edges[edge].flags &= ~kFrozen;
    Node& node = nodes[child];
    if (node.parent == kNone && child != 0) {
      node.parent = parent;
      return;
    }
    edges[edge].flags |= kShared;
    nodes[parent].flags |= kSharedEdges;
    if (node.flags & kManyParents) return;
    node.flags |= kManyParents;
    if (node.parent == kNone) return;
    Node& first = nodes[node.parent];
    first.flags |= kSharedEdges;
    for (EdgeId e = first.edges; e < first.edges + first.edge_count; ++e)
      if (edges[e].child == child) edges[e].flags |= kShared;
  }

  // Call for the memory of a node's children before it is known which one is needed.
  void prefetch_children(const Node& node) const {
    for (EdgeId e = node.edges; e < node.edges + node.edge_count; ++e) {
      const NodeId child = edges[e].child;
      if (child == kNone) continue;
      __builtin_prefetch(&nodes[child]);
      __builtin_prefetch(mean(child));
    }
  }

  float reward(EdgeId edge, std::size_t player) const {
    const std::uint32_t row = edges[edge].reward;
    return row == kNone ? 0.0f : rewards[row * players + player];
  }

  // Find or store a list of outcomes.
  std::uint32_t intern(const std::int32_t* outcomes, const double* chances, std::size_t count) {
    std::vector<std::uint64_t> words(count * 2);
    for (std::size_t i = 0; i < count; ++i) {
      words[2 * i] = static_cast<std::uint64_t>(outcomes[i]);
      words[2 * i + 1] = std::bit_cast<std::uint64_t>(chances[i]);
    }
    const auto [place, fresh] = interned_.try_emplace(std::move(words), static_cast<std::uint32_t>(distributions.size()));
    if (fresh) {
      Distribution list;
      double total = 0.0;
      for (std::size_t i = 0; i < count; ++i) {
        list.outcomes.push_back(outcomes[i]);
        list.chances.push_back(chances[i]);
        list.cumulative.push_back(total += chances[i]);
      }
      distributions.push_back(std::move(list));
      extra_bytes_ += count * 40 + 128;
    }
    return place->second;
  }

  // Find or store who acts at once with which choices (`ids` of all, `sizes` of each); kNone if the joint choices do not
  // fit into 32 bits.
  std::uint32_t intern(std::uint64_t turn, const std::vector<std::uint32_t>& sizes, const std::vector<std::int32_t>& ids) {
    std::uint64_t hash = turn;  // finds candidates; contents are compared
    for (const std::uint32_t size : sizes) hash = hash * kGolden + size;
    for (const std::int32_t id : ids) hash = hash * kGolden + static_cast<std::uint64_t>(id);
    for (auto [place, end] = table_places_.equal_range(hash); place != end; ++place) {
      const Table& known = tables[place->second];
      if (known.turn == turn && known.sizes == sizes && known.ids == ids) return place->second;
    }
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
    const auto place = static_cast<std::uint32_t>(tables.size());
    table_places_.emplace(hash, place);
    tables.push_back(std::move(table));
    extra_bytes_ += sizes.size() * 32 + ids.size() * 4 + 256;
    return place;
  }

  // Give back the block of a node that is about to be cut off.
  void release_edges(const Node& node) {
    if (node.edge_room > 0) free_[static_cast<std::size_t>(std::countr_zero(node.edge_room))].push_back(node.edges);
  }

  bool count_repeats = false;  // whether `repeats` is kept

 private:
  // Blocks hold 1, 2, 4, … edges; one left behind waits in `free_` for the next node that needs its size.
  __attribute__((noinline)) void move_block(Node& node, std::uint32_t capacity) {
    const auto size_class = static_cast<std::size_t>(std::countr_zero(capacity));
    std::uint32_t place;
    if (!free_[size_class].empty()) {
      place = free_[size_class].back();
      free_[size_class].pop_back();
    } else {
      place = static_cast<std::uint32_t>(edges.extend(capacity));
      edge_visits.extend(capacity);
      edge_values.extend(capacity * players);
      if (count_repeats) repeats.extend(capacity);
      std::memset(static_cast<void*>(&edges[place]), 0, capacity * sizeof(Edge));  // views may look at unused edges
      std::memset(&edge_visits[place], 0, capacity * sizeof(std::uint32_t));
    }
    if (node.edge_count > 0) {
      std::memcpy(&edges[place], &edges[node.edges], node.edge_count * sizeof(Edge));
      std::memcpy(&edge_visits[place], &edge_visits[node.edges], node.edge_count * sizeof(std::uint32_t));
      std::memcpy(value(place), value(node.edges), node.edge_count * players * sizeof(double));
      if (count_repeats) std::memcpy(&repeats[place], &repeats[node.edges], node.edge_count * sizeof(std::uint32_t));
      free_[size_class - 1].push_back(node.edges);
    }
    node.edges = place;
    node.edge_room = capacity;
  }

  std::array<std::vector<std::uint32_t>, 32> free_;
  std::map<std::vector<std::uint64_t>, std::uint32_t> interned_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> table_places_;
  std::size_t extra_bytes_ = 0;
};

}  // namespace anabranch
