// A graph as plain columns, to be saved and brought back.
//
// A snapshot holds what a search found and nothing that follows from the rules. Restoring plays every edge again: states,
// turns, choices, probabilities, rewards and keys come from the game itself, so a snapshot of another game, or of rules that
// have changed since, is found out, and no record that play cannot reach ever meets a verb. Whatever the columns hold,
// `restore` either leaves a graph as it was when it was taken or throws, Damaged or a Failure of the game; the search is of
// no use then. Node numbers, the order of edges and the bytes counted stay the same, so a search goes on as if it had never stopped.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "anabranch/search.hpp"

namespace anabranch {

struct Damaged : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void require(bool condition, const char* what) {
  if (!condition) throw Damaged(what);
}

// How many edges the block of a node holds that has grown to so many.
inline std::size_t room_for(std::uint32_t edges) { return edges == 0 ? 0 : std::bit_ceil(std::size_t{edges}); }

// A declared column (columns.hpp) that files hold, as bytes: rows of nodes, of edges node by node in the order they were
// made, or of the choices of nodes that have rows.
struct SavedColumn {
  std::string name;
  bool floating = false;
  std::size_t item = 0, width = 0;  // bytes of a value, values of a row
  std::vector<std::byte> bytes;

  std::size_t rows() const { return bytes.size() / (item * width); }
};

struct Snapshot {
  // One entry per node, in the order they were made.
  std::vector<std::uint32_t> visits, parents, edge_counts;
  std::vector<std::uint8_t> has_rows;
  std::vector<std::uint64_t> records;     // hashes of the states
  std::vector<double> means, evaluations;  // P a node
  // One entry per edge, node by node, in the order they were made.
  std::vector<std::uint32_t> edge_visits, children, moves;
  std::vector<double> edge_values;        // P an edge
  std::vector<std::uint8_t> frozen;       // 1: that is the frozen value; without a child it is. 2: skipped (proof.hpp)
  std::vector<double> low, high;          // P each: the scale `graph`
  std::array<std::uint32_t, 32> free{};   // unused blocks of 1, 2, 4, … edges
  std::vector<std::uint32_t> link_parents, link_children;  // where parents are kept, in the order they were linked
  // Of the last run of a Gumbel search, if there was one: how many simulations were planned (one number), and how often each
  // choice of the root had been visited before it.
  std::vector<std::uint64_t> run;
  std::vector<std::uint32_t> run_before;
  std::vector<SavedColumn> columns;

  SavedColumn* column(const std::string& name) {
    for (SavedColumn& each : columns)
      if (each.name == name) return &each;
    return nullptr;
  }
  const SavedColumn* column(const std::string& name) const { return const_cast<Snapshot*>(this)->column(name); }
};

class Snapshots {
 public:
  static Snapshot take(const Search& search) {
    const Graph& g = search.graph();
    require(!search.in_flight(), "a playout is in progress");
    require(!search.config().keyed_by_path, "states are Python objects");
    Snapshot s;
    std::vector<std::uint64_t> record(g.rules.state_size / 8 + 1);
    auto* bytes = reinterpret_cast<std::byte*>(record.data());
    std::size_t slots = 0;
    for (NodeId id = 0; id < g.size(); ++id) {
      const Node& node = g.nodes[id];
      s.visits.push_back(node.visits);
      s.parents.push_back(g.parent[id]);
      s.edge_counts.push_back(node.edge_count);
      g.states.load(id, bytes);
      s.records.push_back(key_of_bytes(bytes, g.rules.state_size));
      append(s.means, g.mean(id), g.players);
      append(s.evaluations, g.evaluation(id), g.players);
      s.has_rows.push_back(node.rows != kNone);
      for (const EdgeId e : EdgeIds(node)) {
        s.edge_visits.push_back(g.edges[e].visits);
        s.children.push_back(g.edges[e].child);
        s.moves.push_back(g.edges[e].move);
        append(s.edge_values, g.value(e), g.players);
        s.frozen.push_back(static_cast<std::uint8_t>((g.edges[e].is(kFrozen) ? 1 : 0) | (g.edges[e].is(kSkip) ? 2 : 0)));
      }
      slots += room_for(node.edge_count);
    }
    take_columns(g, s);
    for (const ParentLink& link : g.links) {
      s.link_parents.push_back(link.parent);
      s.link_children.push_back(link.child);
    }
    s.low = g.low;
    s.high = g.high;
    if (const GumbelPlan& plan = search.root_rule().plan; !plan.scores.empty()) {
      s.run = {plan.simulations};
      s.run_before = plan.before;
    }
    // After playouts that were undone there may be more unused blocks than growth alone leaves: those are not kept.
    for (std::size_t k = 0; k < s.free.size(); ++k) {
      s.free[k] = static_cast<std::uint32_t>(std::min(g.free_blocks(k), slots >> k));
      slots -= std::size_t{s.free[k]} << k;
    }
    return s;
  }

 private:
  // The columns that files hold, in the order in which they are declared.
  static void take_columns(const Graph& g, Snapshot& s) {
    g.each_node_column([&](const auto& column) {
      if (!column.saved) return;
      SavedColumn& saved = begin_column(s, column);
      for (NodeId id = 0; id < g.size(); ++id) append_rows(saved, column, id, 1);
    });
    g.each_edge_column([&](const auto& column) {
      if (!column.saved) return;
      SavedColumn& saved = begin_column(s, column);
      for (NodeId id = 0; id < g.size(); ++id) append_rows(saved, column, g.nodes[id].edges, g.nodes[id].edge_count);
    });
    g.each_choice_column([&](const auto& column) {
      if (!column.saved) return;
      SavedColumn& saved = begin_column(s, column);
      for (NodeId id = 0; id < g.size(); ++id)
        if (g.nodes[id].rows != kNone) append_rows(saved, column, g.nodes[id].rows, g.choices_of(g.nodes[id]));
    });
  }

  template <class T>
  static SavedColumn& begin_column(Snapshot& s, const Rows<T>& column) {
    s.columns.push_back({column.name, std::is_floating_point_v<T>, sizeof(T), column.width, {}});
    return s.columns.back();
  }
  template <class T>
  static void append_rows(SavedColumn& saved, const Rows<T>& column, std::size_t first, std::size_t count) {
    append(saved.bytes, reinterpret_cast<const std::byte*>(column.row(first)), count * column.width * sizeof(T));
  }

  template <class T>
  static void append(std::vector<T>& to, const T* from, std::size_t count) {
    to.insert(to.end(), from, from + count);
  }
};

}  // namespace anabranch
