// Bring a graph back from a snapshot, into a search that has not begun; everything is checked before it is believed.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include "anabranch/root_gumbel.hpp"
#include "anabranch/snapshot.hpp"

namespace anabranch {

class Restore {
 public:
  // Fill a search that was made for the snapshot's root and has not begun.
  static void into(Search& search, const Snapshot& s) { Restore(search, s).restore(); }

 private:
  Restore(Search& search, const Snapshot& s) : search_(search), expander_(search.expander()), g_(search.graph()), s_(s) {}

  // Check the columns of one kind, which have so many rows.
  template <class T>
  void check_column(const Rows<T>& column, std::size_t rows) const {
    if (!column.saved) return;
    const SavedColumn* saved = s_.column(column.name);
    require(saved && saved->item == sizeof(T) && saved->floating == std::is_floating_point_v<T> && saved->width == column.width &&
                saved->bytes.size() == rows * column.width * sizeof(T),
            "a column is missing or has another length");
    if constexpr (std::is_floating_point_v<T>) {
      for (std::size_t i = 0; i < rows * column.width; ++i) {
        T value;
        std::memcpy(&value, saved->bytes.data() + i * sizeof(T), sizeof(T));
        require(std::isfinite(value) || (&column == static_cast<const void*>(&g_.proof) && !std::isnan(value)), "a value is not finite");
      }
    }
  }
  template <class T>
  void fill_rows(Rows<T>& column, std::size_t to, std::size_t from, std::size_t count) const {
    const std::size_t size = column.width * sizeof(T);
    if (column.saved && count > 0) std::memcpy(column.row(to), s_.column(column.name)->bytes.data() + from * size, count * size);
  }

  static bool all_finite(const double* values, std::size_t count) {
    return std::all_of(values, values + count, [](double value) { return std::isfinite(value); });
  }
  static bool all_zero(const double* values, std::size_t count) {
    return std::all_of(values, values + count, [](double value) { return value == 0.0; });
  }

  void restore() {
    require(g_.size() == 1 && g_.nodes[0].edge_count == 0 && !search_.in_flight(), "the search has already begun");
    require(!search_.config().keyed_by_path, "states are Python objects");
    check_sizes();
    find_creators();
    make_nodes();
    for (NodeId id = 0; id < g_.size(); ++id) fill(id);
    require(next_row_ == s_.column(g_.priors.name)->rows(), "there are priors that no node has");
    mark_shared();
    link_parents();
    leave_free_blocks();
    g_.graded = false;  // levels are not kept; this costs time only
    g_.low = s_.low;
    g_.high = s_.high;
    if (!s_.run.empty()) plan_run();
  }

  // Plan the last run of a Gumbel search again: its noise is drawn as it was.
  void plan_run() {
    const Node& root = g_.nodes[0];
    const SelectorConfig& selector = root.acting > 1 ? search_.config().simultaneous : search_.config().selector;
    require(root.kind == Kind::decision && search_.root_ready() && selector.rule == Rule::gumbel, "there is a plan of a run that none can have made");
    require(s_.run.size() == 1 && s_.run[0] < kNone, "a run has no number of simulations");
    const std::vector<std::uint32_t> now = root_choice_visits(search_);
    require(now.size() == s_.run_before.size(), "a run is planned for other choices");
    for (std::size_t a = 0; a < now.size(); ++a) require(s_.run_before[a] <= now[a], "a choice was visited less after a run than before");
    plan_gumbel_run(search_, selector, s_.run[0], s_.run_before);
  }

  void check_sizes() {
    const std::size_t nodes = s_.visits.size(), edges = s_.children.size(), players = g_.players;
    require(nodes >= 1 && nodes < kNone && edges < kNone, "there are no nodes, or more than numbers for them");
    require(s_.parents.size() == nodes && s_.edge_counts.size() == nodes && s_.has_rows.size() == nodes &&
                s_.records.size() == nodes && s_.means.size() == nodes * players && s_.evaluations.size() == nodes * players,
            "the columns of nodes differ in length");
    require(s_.edge_visits.size() == edges && s_.moves.size() == edges && s_.edge_values.size() == edges * players &&
                s_.frozen.size() == edges,
            "the columns of edges differ in length");
    g_.each_node_column([&](const auto& column) { check_column(column, nodes); });
    g_.each_edge_column([&](const auto& column) { check_column(column, edges); });
    const SavedColumn* priors = s_.column(g_.priors.name);
    require(priors && priors->item > 0 && priors->width > 0, "there are no priors");
    const std::size_t rows = priors->rows();
    g_.each_choice_column([&](const auto& column) { check_column(column, rows); });
    require(s_.low.size() == players && s_.high.size() == players, "the range of values is not one per player");
    std::size_t counted = 0, slots = 0;
    first_.reserve(nodes + 1);
    for (const std::uint32_t count : s_.edge_counts) {
      first_.push_back(counted);
      counted += count;
      slots += room_for(count);
      require(counted <= edges, "nodes claim more edges than there are");
    }
    first_.push_back(counted);
    require(counted == edges, "there are edges that no node has");
    std::size_t unused = 0;
    for (std::size_t k = 0; k < s_.free.size(); ++k) unused += std::size_t{s_.free[k]} << k;
    require(unused <= slots && slots + unused < kNone, "there are more unused edges than a search leaves");
    require(all_finite(s_.means.data(), s_.means.size()) && all_finite(s_.evaluations.data(), s_.evaluations.size()) &&
                all_finite(s_.edge_values.data(), s_.edge_values.size()),
            "a value is not finite");
    for (std::size_t p = 0; p < players; ++p)
      require((std::isfinite(s_.low[p]) && std::isfinite(s_.high[p])) || (s_.low[p] == g_.low[p] && s_.high[p] == g_.high[p]),
              "the range of values is not finite");
  }

  // Note, for each node, the first edge of its parent that leads to it.
  void find_creators() {
    const auto nodes = static_cast<NodeId>(s_.visits.size());
    creators_.assign(nodes, SIZE_MAX);
    incoming_.assign(nodes, 0);
    for (NodeId id = 0; id < nodes; ++id) {
      for (std::size_t e = first_[id]; e < first_[id + 1]; ++e) {
        const NodeId child = s_.children[e];
        if (child == kNone) continue;
        require(child < nodes, "an edge leads to a node that does not exist");
        if (incoming_[child] < 2) ++incoming_[child];
        if (s_.parents[child] == id && creators_[child] == SIZE_MAX) creators_[child] = e;
        require(s_.edge_visits[e] == 0 || s_.visits[child] > 0, "an edge has visits, its child has none");
      }
    }
    require(s_.parents[0] == kNone, "the root has a parent");
    for (NodeId id = 1; id < nodes; ++id)
      require(s_.parents[id] < id && creators_[id] != SIZE_MAX, "a node was not made by an edge of an earlier one");
  }

  // Step from a node along a move; the state reached is in hand then, and the rewards are its position's.
  void play(NodeId id, std::uint32_t move) {
    const Node& node = g_.nodes[id];
    require(node.kind != Kind::over, "the game goes on after its end");
    if (node.kind == Kind::chance) {
      if (g_.rules.chance) require(move < g_.outcomes_of(node).outcomes.size(), "there is no such outcome");
    } else if (node.acting > 1) {
      require(is_joint(g_.table_of(node), move), "there is no such joint choice");
    }
    expander_.step(id, move);  // of one player, the position refuses what is not there
  }

  static bool is_joint(const Table& table, std::uint32_t move) {
    std::uint64_t again = 0;
    for (std::size_t i = 0; i < table.sizes.size(); ++i) {
      const std::uint32_t choice = table.choice(move, i);
      if (choice >= table.sizes[i]) return false;
      again |= std::uint64_t{choice} << table.shifts[i];
    }
    return again == move;
  }

  std::uint64_t record_in_hand() { return key_of_bytes(search_.position().state(), g_.rules.state_size); }

  void make_nodes() {
    const auto nodes = static_cast<NodeId>(s_.visits.size());
    search_.load(0);
    require(record_in_hand() == s_.records[0], "the root is another state");
    g_.reserve(nodes);
    for (NodeId id = 1; id < nodes; ++id) {
      const NodeId parent = s_.parents[id];
      std::uint64_t hash = 0;
      bool found = false;
      // Mostly the first edge to a node made it. Where several states share a key, the one kept is told by its own hash.
      for (std::size_t e = creators_[id]; e < first_[parent + 1] && !found; ++e) {
        if (s_.children[e] != id) continue;
        play(parent, s_.moves[e]);
        hash = expander_.offer();
        found = record_in_hand() == s_.records[id];
      }
      require(found, "the rules lead to other states than those that were searched");
      require(expander_.find(hash) == kNone, "two nodes are the same state");
      expander_.add_node(expander_.child_key(hash, parent), hash);
      g_.parent[id] = parent;
    }
  }

  // Bring back what a node knew, and its edges.
  void fill(NodeId id) {
    const std::size_t players = g_.players;
    const std::uint32_t count = s_.edge_counts[id];
    std::copy_n(&s_.means[id * players], players, g_.mean(id));
    std::copy_n(&s_.evaluations[id * players], players, g_.evaluation(id));
    g_.each_node_column([&](auto& column) { fill_rows(column, id, id, 1); });
    check_visits(id);
    g_.nodes[id].visits = s_.visits[id];
    if (g_.proof.kept()) fill_proof(id);
    if (s_.has_rows[id] || count > 0 || (g_.sums.kept() && g_.nodes[id].acting > 1)) fill_choices(id);
    if (count == 0) return;
    const auto size_class = static_cast<std::size_t>(std::countr_zero(room_for(count)));
    g_.nodes[id].edges = g_.add_block(size_class);
    g_.nodes[id].size_class = static_cast<std::uint8_t>(size_class + 1);
    for (std::size_t e = first_[id]; e < first_[id + 1]; ++e) fill_edge(id, e);
    std::vector<std::uint32_t> moves(s_.moves.begin() + static_cast<std::ptrdiff_t>(first_[id]),
                                     s_.moves.begin() + static_cast<std::ptrdiff_t>(first_[id + 1]));
    std::sort(moves.begin(), moves.end());
    require(std::adjacent_find(moves.begin(), moves.end()) == moves.end(), "two edges of a node are the same move");
  }

  // What was certain of a node lies within what is certain at first; a node nobody visited knows no more than that.
  void fill_proof(NodeId id) {
    const ProofRow proof(g_, id);
    Node& node = g_.nodes[id];
    bool tight = false;
    for (std::size_t p = 0; p < g_.proof.width / 2; ++p) {
      const Interval first = first_interval(g_, search_.config(), id, p);
      require(proof[p].low <= proof[p].high, "an interval has no inside");
      tight |= !(proof[p] == first);
    }
    require(std::isfinite(proof.distance()) && proof.distance() >= 0.0, "a distance to the end is none");
    require(!tight || (node.visits > 0 && node.kind != Kind::over), "something is certain that nobody saw");
    node.clear(kTight | kProven);
    if (tight) node.set(kTight);
    if (is_proven(g_, search_.config(), id)) node.set(kProven | kTight);
  }

  // N(n) = 1 + Σ N(e) for a decision with an evaluation; chance counts its completed visits, the first of which may draw none
  // (all outcomes were enumerated) or several.
  void check_visits(NodeId id) {
    Node& node = g_.nodes[id];
    const std::uint32_t visits = s_.visits[id];
    std::uint64_t walked = 0;
    for (std::size_t e = first_[id]; e < first_[id + 1]; ++e) walked += s_.edge_visits[e];
    const bool decision = node.kind == Kind::decision;
    require(!s_.has_rows[id] || (decision && visits > 0), "a prior without an evaluation");
    require((decision && visits > 0) || all_zero(g_.evaluation(id), g_.players), "an evaluation where none was asked");
    if (node.kind == Kind::over) {
      require(visits == 1 && walked == 0 && s_.edge_counts[id] == 0 && all_zero(g_.mean(id), g_.players), "the end of a game is worth 0");
    } else if (visits == 0) {
      require(walked == 0 && s_.edge_counts[id] == 0 && all_zero(g_.mean(id), g_.players), "values without visits");
    } else if (decision) {
      require(visits == walked + 1, "the visits of a decision are not those of its edges");
    } else {
      const bool exact = search_.dice().opens_at_once(node) && node.is(kExact);
      const std::uint64_t first = exact ? 0 : search_.config().chance.draws;
      require(walked == first + visits - 1, "the visits of a chance node are not those of its edges");
    }
  }

  void fill_choices(NodeId id) {
    Node& node = g_.nodes[id];
    if (node.kind != Kind::decision) return;
    if (node.acting == 1) expander_.count_choices(id, node);
    require(s_.has_rows[id] || !g_.sums.kept() || node.acting == 1 || s_.visits[id] == 0, "a node without what its selector learned");
    if (!s_.has_rows[id]) return;
    const std::size_t size = g_.choices_of(node), rows = s_.column(g_.priors.name)->rows();
    require(next_row_ + size <= rows, "there are fewer priors than choices");
    node.rows = g_.add_choices(size);
    g_.each_choice_column([&](auto& column) { fill_rows(column, node.rows, next_row_, size); });
    next_row_ += size;
    const float* prior = &g_.priors[node.rows];
    const std::size_t seats = node.acting == 1 ? 1 : g_.table_of(node).sizes.size();
    for (std::size_t seat = 0; seat < seats; ++seat) {
      const std::size_t choices = node.acting == 1 ? size : g_.table_of(node).sizes[seat];
      double total = 0.0;
      for (std::size_t a = 0; a < choices; ++a, ++prior) {
        require(*prior > 0.0f && *prior <= 1.0f, "a prior is no probability");
        total += static_cast<double>(*prior);
      }
      require(std::abs(total - 1.0) < 1e-3, "the priors of a player do not sum to 1");
    }
  }

  void fill_edge(NodeId id, std::size_t from) {
    play(id, s_.moves[from]);
    const NodeId child = s_.children[from];
    if (child != kNone) {
      expander_.offer();
      require((g_.rules.key ? g_.key_records : g_.states).equals(child), "the rules lead from a node to another child");
    }
    const std::size_t players = g_.players;
    const EdgeId e = g_.nodes[id].edges + g_.add_edge(id, s_.moves[from], search_.position().rewards.data());
    g_.edges[e].child = child;
    const bool frozen = s_.frozen[from] & 1, skipped = s_.frozen[from] & 2;
    require(s_.frozen[from] <= 3 && (child != kNone || frozen), "an edge is neither frozen nor leads to a node");
    require(child == kNone || !frozen || g_.nodes[id].kind == Kind::chance, "a frozen decision has a child");
    require(!skipped || (g_.proof.kept() && child != kNone && !frozen), "an edge is skipped without a proof");
    if (frozen) g_.edges[e].bits |= kFrozen;
    if (skipped) {
      g_.edges[e].bits |= kSkip;
      g_.nodes[id].set(kSkips);
    }
    g_.edges[e].visits = s_.edge_visits[from];
    std::copy_n(&s_.edge_values[from * players], players, g_.value(e));
    g_.each_edge_column([&](auto& column) { fill_rows(column, e, from, 1); });
    require(!g_.repeats.kept() || g_.repeats[e] <= g_.edges[e].visits, "more repetitions than visits");
  }

  // Edges into a node with several parents, and into the root, may be stale.
  void mark_shared() {
    for (NodeId id = 0; id < g_.size(); ++id) {
      Node& node = g_.nodes[id];
      for (const EdgeId e : EdgeIds(node)) {
        const NodeId child = g_.edges[e].child;
        if (child == kNone || (child != 0 && incoming_[child] < 2)) continue;
        g_.edges[e].bits |= kShared;
        node.set(kSharedEdges);
        g_.nodes[child].set(kManyParents);
      }
    }
  }

  // Every parent of every child once, in the order they were linked.
  void link_parents() {
    require(s_.link_parents.size() == s_.link_children.size() && (g_.last_link.kept() || s_.link_parents.empty()), "the links of parents");
    if (!g_.last_link.kept()) return;
    std::set<std::pair<NodeId, NodeId>> wanted;
    for (NodeId id = 0; id < g_.size(); ++id)
      for (const EdgeId e : EdgeIds(g_.nodes[id]))
        if (g_.edges[e].child != kNone) wanted.emplace(id, g_.edges[e].child);
    for (std::size_t i = 0; i < s_.link_parents.size(); ++i) {
      require(wanted.erase({s_.link_parents[i], s_.link_children[i]}) == 1, "a link of a parent without an edge");
      g_.add_parent(s_.link_children[i], s_.link_parents[i]);
    }
    require(wanted.empty(), "an edge without a link of its parent");
  }

  void leave_free_blocks() {
    for (std::size_t k = 0; k < s_.free.size(); ++k)
      for (std::uint32_t i = 0; i < s_.free[k]; ++i) g_.free_block(k, g_.add_block(k));
  }

  Search& search_;
  Expander& expander_;
  Graph& g_;
  const Snapshot& s_;
  std::vector<std::size_t> first_, creators_;
  std::vector<std::uint8_t> incoming_;
  std::size_t next_row_ = 0;
};

}  // namespace anabranch
