// The graph of one root: nodes and edges as parallel arrays with 32-bit ids.
//
// A node is a record in `states` and a `Node` with 2·P doubles behind it: Q, then U. For two players that is one line of the
// processor's cache, all of it needed at once. Its edges lie in one block in creation order, the order in which sums run; a
// full block moves to one twice as large, and blocks left behind are used again. Behind an `Edge` lie P doubles, its q(e) as
// of the parent's last refresh. Where the child has no other parent that is its q(e) now, because whatever changes the child
// goes on to refresh the parent; edges into shared children carry kShared and are recomputed before they are read. So a
// selection touches a node and its block, and mostly nothing else.
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
inline constexpr std::uint8_t kTwinEdges = 16;  // two of its edges lead to one child
inline constexpr std::uint8_t kPending = 32;    // asked about, but not answered yet
inline constexpr std::uint8_t kMarked = 64;     // visits in flight walk through it
inline constexpr std::uint8_t kForced = 128;    // a root whose choices are forced to be tried again
// Flags of edges, in the two highest bits of `Edge::bits`.
inline constexpr std::uint32_t kShared = 1u << 30;  // the child has another parent: q(e) may be stale
inline constexpr std::uint32_t kFrozen = 1u << 31;  // q(e) is the frozen value: no child, or one that nobody knows yet
inline constexpr std::uint32_t kNoReward = kShared - 1;

struct Node {  // then Q and U of all players
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

struct Edge {  // then q(e) of all players
  NodeId child;          // kNone if frozen
  std::uint32_t move;    // the choice; several acting: choices packed as bits; chance: the outcome's place in the list
  std::uint32_t visits;  // N(e)
  std::uint32_t bits;    // a row of `rewards`, kNoReward where all are 0; and flags

  std::uint32_t reward() const { return bits & kNoReward; }
  bool is(std::uint32_t flag) const { return bits & flag; }
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
  bool few = false;                                          // two players with at most kFew choices each

  static constexpr std::uint32_t kFew = 16;

  std::uint32_t choice(std::uint32_t move, std::size_t index) const { return move >> shifts[index] & masks[index]; }
};

class Graph {
  friend class Archive;  // snapshot.hpp

 public:
  explicit Graph(const Rules& game)
      : rules(game),
        players(static_cast<std::size_t>(game.players)),
        states(game.state_size),
        keys(game.key ? game.key_size : 8),
        nodes(2 * players),
        edges(players) {
    edges.reserve(1);  // so that a node without edges has a place where they would be
    low.assign(players, std::numeric_limits<double>::infinity());
    high.assign(players, -std::numeric_limits<double>::infinity());
  }

  Rules rules;
  std::size_t players;
  States states, keys;  // `keys` is used only by games with a `key` verb
  Index index;
  Records<Node> nodes;
  Column<std::uint64_t> hashes;  // node keys: what random draws depend on
  Column<std::uint32_t> levels;  // how many edges the first way to a node has
  Column<double> ranges;         // 2·P a node, for games with a `bounds` verb: low, high of the remaining return
  Records<Edge> edges;
  Column<std::uint32_t> passing;    // visits in flight that walk through a node, only where waves are searched
  Column<std::uint32_t> marks;      // v(e), likewise
  Column<std::uint32_t> repeats;    // C(e), only where repetitions have a value of their own
  Column<float> rewards;            // P a row
  Column<float> priors;
  std::vector<Distribution> distributions;
  std::vector<Table> tables;
  std::vector<double> low, high;  // of q(e) seen at any refresh, per player: the scale `graph`

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
  Edge& edge(EdgeId e) { return edges.at<P>(e); }
  template <std::size_t P>
  const Edge& edge(EdgeId e) const { return edges.at<P>(e); }

  // Everything the graph holds, in bytes.
  std::size_t bytes() const {
    return states.bytes() + keys.bytes() + index.bytes() + nodes.bytes() + hashes.bytes() + levels.bytes() + ranges.bytes() + edges.bytes() +
           passing.bytes() + marks.bytes() + repeats.bytes() + rewards.bytes() + priors.bytes() + extra_bytes_;
  }

  // Make room for so many nodes at once; what is not used is never touched.
  void reserve(std::size_t count) {
    nodes.reserve(count);
    hashes.reserve(count);
    levels.reserve(count);
    states.reserve(count);
    edges.reserve(count * 3 / 2);
  }

  // Add a node for the record offered to `states` (and `keys`).
  NodeId add(const Node& made, std::uint64_t hash) {
    const auto id = static_cast<NodeId>(nodes.extend(1));
    nodes[id] = made;
    double* value = nodes.doubles(id);
    for (std::size_t i = 0; i < 2 * players; ++i) value[i] = 0.0;
    hashes.push(hash);
    levels.push(0);
    if (rules.bounds) ranges.fill(2 * players, 0.0);
    if (count_marks) passing.push(0);
    states.append();
    if (rules.key) keys.append();
    return id;
  }

  // Forget the node made last; the caller has taken it out of the index.
  void remove_last() {
    const std::size_t last = size() - 1;
    release_edges(nodes[last]);
    nodes.cut(last);
    hashes.cut(last);
    levels.cut(last);
    if (rules.bounds) ranges.cut(last * 2 * players);
    if (count_marks) passing.cut(last);
    states.cut(last);
    if (rules.key) keys.cut(last);
  }

  // v(n): visits in flight that N(n) will count.
  std::uint32_t in_flight(NodeId id) const {
    return count_marks ? passing[id] + (nodes[id].flags & kPending ? 1 : 0) : 0;
  }

  // Append an edge to a node; its place in the node's block. Visits are 0 and nothing hangs on it yet.
  std::uint32_t add_edge(NodeId id, std::uint32_t move, const float* reward) {
    Node& node = nodes[id];
    const std::uint32_t count = node.edge_count;
    if (count == node.edge_room) move_block(node, count == 0 ? 1 : count * 2);
    std::uint32_t row = kNoReward;
    for (std::size_t p = 0; p < players; ++p) {
      if (reward[p] == 0.0f) continue;
      row = static_cast<std::uint32_t>(rewards.size() / players);
      const std::size_t at = rewards.extend(players);
      std::memcpy(&rewards[at], reward, players * sizeof(float));
      break;
    }
    const EdgeId e = node.edges + count;
    clear_edge(e);
    edges[e].move = move;
    edges[e].bits = row;
    if (count_repeats) repeats[e] = 0;
    if (count_marks) marks[e] = 0;
    ++node.edge_count;
    return count;
  }

  // Hang a child under an edge. A child with several parents changes behind their backs: all its edges become shared.
  void link(NodeId parent, EdgeId edge, NodeId child) {
    edges[edge].child = child;
    edges[edge].bits &= ~kFrozen;
    Node& node = nodes[child];
    if (node.parent == kNone && child != 0) {
      node.parent = parent;
      levels[child] = levels[parent] + 1;
      return;
    }
    if (levels[child] != levels[parent] + 1) graded = false;
    const Node& above = nodes[parent];
    for (EdgeId e = above.edges; e < above.edges + above.edge_count; ++e)
      if (e != edge && edges[e].child == child) nodes[parent].flags |= kTwinEdges;
    edges[edge].bits |= kShared;
    nodes[parent].flags |= kSharedEdges;
    if (node.flags & kManyParents) return;
    node.flags |= kManyParents;
    if (node.parent == kNone) return;
    Node& first = nodes[node.parent];
    first.flags |= kSharedEdges;
    for (EdgeId e = first.edges; e < first.edges + first.edge_count; ++e)
      if (edges[e].child == child) edges[e].bits |= kShared;
  }

  // Call for the memory of a node's children before it is known which one is needed.
  template <std::size_t P>
  void prefetch_children(const Node& node) const {
    for (EdgeId e = node.edges; e < node.edges + node.edge_count; ++e) __builtin_prefetch(&nodes.at<2 * P>(edge<P>(e).child));
  }

  float reward(EdgeId edge, std::size_t player) const {
    const std::uint32_t row = edges[edge].reward();
    return row == kNoReward ? 0.0f : rewards[row * players + player];
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
    if (last_table_ < tables.size()) {  // mostly as at the node before
      const Table& last = tables[last_table_];
      if (last.turn == turn && last.sizes == sizes && last.ids == ids) return last_table_;
    }
    std::uint64_t hash = turn;  // finds candidates; contents are compared
    for (const std::uint32_t size : sizes) hash = hash * kGolden + size;
    for (const std::int32_t id : ids) hash = hash * kGolden + static_cast<std::uint64_t>(id);
    for (auto [place, end] = table_places_.equal_range(hash); place != end; ++place) {
      const Table& known = tables[place->second];
      if (known.turn == turn && known.sizes == sizes && known.ids == ids) return last_table_ = place->second;
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
    table.few = sizes.size() == 2 && sizes[0] <= Table::kFew && sizes[1] <= Table::kFew;
    const auto place = static_cast<std::uint32_t>(tables.size());
    table_places_.emplace(hash, place);
    tables.push_back(std::move(table));
    extra_bytes_ += sizes.size() * 32 + ids.size() * 4 + 256;
    return last_table_ = place;
  }

  // Know the same lists of outcomes and tables of choices as another graph, under the same numbers.
  void share_tables(const Graph& other) {
    distributions = other.distributions;
    tables = other.tables;
    interned_ = other.interned_;
    table_places_ = other.table_places_;
    extra_bytes_ = other.extra_bytes_;
  }

  void clear_edge(EdgeId e) {
    edges[e] = Edge{kNone, 0, 0, kNoReward};
    for (std::size_t p = 0; p < players; ++p) value(e)[p] = 0.0;
  }

  // Give back the block of a node that is about to be cut off.
  void release_edges(const Node& node) {
    if (node.edge_room > 0) free_[static_cast<std::size_t>(std::countr_zero(node.edge_room))].push_back(node.edges);
  }

  bool count_repeats = false;  // whether `repeats` is kept
  bool count_marks = false;    // whether `passing` and `marks` are
  bool graded = true;          // whether all ways to a node have the same length, as where the state counts the moves

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
      if (count_repeats) repeats.extend(capacity);
      if (count_marks) marks.extend(capacity);
      for (EdgeId e = place; e < place + capacity; ++e) clear_edge(e);  // views may look at unused ones
    }
    if (node.edge_count > 0) {
      copy_record(reinterpret_cast<std::byte*>(&edges[place]), reinterpret_cast<const std::byte*>(&edges[node.edges]),
                  node.edge_count * edges.stride());
      if (count_repeats) std::memcpy(&repeats[place], &repeats[node.edges], node.edge_count * sizeof(std::uint32_t));
      if (count_marks) std::memcpy(&marks[place], &marks[node.edges], node.edge_count * sizeof(std::uint32_t));
      free_[size_class - 1].push_back(node.edges);
    }
    node.edges = place;
    node.edge_room = capacity;
  }

  std::array<std::vector<std::uint32_t>, 32> free_;
  std::map<std::vector<std::uint64_t>, std::uint32_t> interned_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> table_places_;
  std::uint32_t last_table_ = 0;
  std::size_t extra_bytes_ = 0;
};

}  // namespace anabranch
