// A graph as plain columns, to be kept and brought back.
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
#include <vector>

#include "anabranch/search.hpp"

namespace anabranch {

struct Damaged : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Snapshot {
  // One entry per node, in the order they were made.
  std::vector<std::uint32_t> visits, parents, edge_counts;
  std::vector<std::uint8_t> has_prior;
  std::vector<std::uint64_t> records;     // hashes of the states
  std::vector<double> means, evaluations;    // P a node
  // One entry per edge, node by node, in the order they were made.
  std::vector<std::uint32_t> edge_visits, children, moves, repeats;  // `repeats` only where they are counted
  std::vector<double> edge_values;                                   // P an edge
  std::vector<float> priors;              // of the nodes that have some, one after the other
  std::vector<double> low, high;          // P each: the scale `graph`
  std::array<std::uint32_t, 32> free{};   // blocks of 1, 2, 4, … edges that nobody uses
};

class Archive {
 public:
  static Snapshot take(const Search& search) {
    const Graph& g = search.graph_;
    require(!search.in_flight(), "a playout is in progress");
    require(!search.config_.keyed_by_path, "states are Python objects");
    Snapshot s;
    std::vector<std::uint64_t> record(g.rules.state_size / 8 + 1);
    auto* bytes = reinterpret_cast<std::byte*>(record.data());
    std::size_t slots = 0;
    for (NodeId id = 0; id < g.size(); ++id) {
      const Node& node = g.nodes[id];
      s.visits.push_back(node.visits);
      s.parents.push_back(node.parent);
      s.edge_counts.push_back(node.edge_count);
      g.states.load(id, bytes);
      s.records.push_back(key_of_bytes(bytes, g.rules.state_size));
      append(s.means, g.mean(id), g.players);
      append(s.evaluations, g.evaluation(id), g.players);
      s.has_prior.push_back(node.priors != kNone);
      const bool noised = id == 0 && search.noised();  // noise follows from seed and root number
      if (node.priors != kNone) append(s.priors, noised ? search.clean_.data() : &g.priors[node.priors], prior_count(g, node));
      for (EdgeId e = node.edges; e < node.edges + node.edge_count; ++e) {
        s.edge_visits.push_back(g.edges[e].visits);
        s.children.push_back(g.edges[e].child);
        s.moves.push_back(g.edges[e].move);
        if (g.count_repeats) s.repeats.push_back(g.repeats[e]);
        append(s.edge_values, g.value(e), g.players);
      }
      slots += room_for(node.edge_count);
    }
    s.low = g.low;
    s.high = g.high;
    // After playouts that were undone there may be more unused blocks than growth alone leaves: those are not kept.
    for (std::size_t k = 0; k < s.free.size(); ++k) {
      s.free[k] = static_cast<std::uint32_t>(std::min(g.free_[k].size(), slots >> k));
      slots -= std::size_t{s.free[k]} << k;
    }
    return s;
  }

  // Fill a search that was made for the snapshot's root and has not begun.
  static void restore(Search& search, const Snapshot& s) { Archive(search, s).restore(); }

 private:
  Archive(Search& search, const Snapshot& s) : search_(search), g_(search.graph_), s_(s) {}

  static void require(bool condition, const char* what) {
    if (!condition) throw Damaged(what);
  }

  template <class T>
  static void append(std::vector<T>& to, const T* from, std::size_t count) {
    to.insert(to.end(), from, from + count);
  }

  static std::size_t room_for(std::uint32_t edges) { return edges == 0 ? 0 : std::bit_ceil(std::size_t{edges}); }

  static std::size_t prior_count(const Graph& g, const Node& node) {
    return node.acting == 1 ? node.choices : g.tables[node.choices].ids.size();
  }

  static bool all_finite(const double* values, std::size_t count) {
    return std::all_of(values, values + count, [](double value) { return std::isfinite(value); });
  }
  static bool all_zero(const double* values, std::size_t count) {
    return std::all_of(values, values + count, [](double value) { return value == 0.0; });
  }

  void restore() {
    require(g_.size() == 1 && g_.nodes[0].edge_count == 0 && !search_.in_flight(), "the search has already begun");
    require(!search_.config_.keyed_by_path, "states are Python objects");
    check_sizes();
    find_creators();
    make_nodes();
    for (NodeId id = 0; id < g_.size(); ++id) fill(id);
    require(next_prior_ == s_.priors.size(), "there are priors that no node has");
    mark_shared();
    leave_free_blocks();
    g_.graded = false;  // levels are not kept; this costs time only
    g_.low = s_.low;
    g_.high = s_.high;
  }

  void check_sizes() {
    const std::size_t nodes = s_.visits.size(), edges = s_.children.size(), players = g_.players;
    require(nodes >= 1 && nodes < kNone && edges < kNone, "there are no nodes, or more than numbers for them");
    require(s_.parents.size() == nodes && s_.edge_counts.size() == nodes && s_.has_prior.size() == nodes &&
                s_.records.size() == nodes && s_.means.size() == nodes * players && s_.evaluations.size() == nodes * players,
            "the columns of nodes differ in length");
    require(s_.edge_visits.size() == edges && s_.moves.size() == edges && s_.edge_values.size() == edges * players &&
                s_.repeats.size() == (g_.count_repeats ? edges : 0),
            "the columns of edges differ in length");
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
    search_.load(id);
    if (node.kind == Kind::chance) {
      if (g_.rules.chance) require(move < g_.distributions[node.choices].outcomes.size(), "there is no such outcome");
      const std::vector<std::int32_t> outcome = search_.actions_of(id, move);
      search_.position_.set_outcome(outcome[0]);
    } else {
      if (node.acting > 1) require(is_joint(g_.tables[node.choices], move), "there is no such joint choice");
      search_.spread_move(id, move);  // of one player, the position refuses what is not there
    }
    search_.step(id);
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

  std::uint64_t record_in_hand() { return key_of_bytes(search_.position_.state(), g_.rules.state_size); }

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
        hash = search_.offer();
        found = record_in_hand() == s_.records[id];
      }
      require(found, "the rules lead to other states than those that were searched");
      require(search_.find(hash) == kNone, "two nodes are the same state");
      search_.add_node(hash, hash);
      g_.nodes[id].parent = parent;
    }
  }

  // Bring back what a node knew, and its edges.
  void fill(NodeId id) {
    const std::size_t players = g_.players;
    const std::uint32_t count = s_.edge_counts[id];
    std::copy_n(&s_.means[id * players], players, g_.mean(id));
    std::copy_n(&s_.evaluations[id * players], players, g_.evaluation(id));
    check_visits(id);
    g_.nodes[id].visits = s_.visits[id];
    if (s_.has_prior[id] || count > 0) fill_choices(id);
    if (count == 0) return;
    const auto room = static_cast<std::uint32_t>(room_for(count));
    g_.nodes[id].edges = add_block(room);
    g_.nodes[id].edge_room = room;
    for (std::size_t e = first_[id]; e < first_[id + 1]; ++e) fill_edge(id, e);
    std::vector<std::uint32_t> moves(s_.moves.begin() + static_cast<std::ptrdiff_t>(first_[id]),
                                     s_.moves.begin() + static_cast<std::ptrdiff_t>(first_[id + 1]));
    std::sort(moves.begin(), moves.end());
    require(std::adjacent_find(moves.begin(), moves.end()) == moves.end(), "two edges of a node are the same move");
  }

  // N(n) = 1 + Σ N(e) for a decision with an evaluation; chance counts its completed visits, the first of which may draw none
  // (all outcomes were enumerated) or several.
  void check_visits(NodeId id) {
    Node& node = g_.nodes[id];
    const std::uint32_t visits = s_.visits[id];
    std::uint64_t walked = 0;
    for (std::size_t e = first_[id]; e < first_[id + 1]; ++e) walked += s_.edge_visits[e];
    const bool decision = node.kind == Kind::decision;
    require(!s_.has_prior[id] || (decision && visits > 0), "a prior without an evaluation");
    require((decision && visits > 0) || all_zero(g_.evaluation(id), g_.players), "an evaluation where none was asked");
    if (node.kind == Kind::over) {
      require(visits == 1 && walked == 0 && s_.edge_counts[id] == 0 && all_zero(g_.mean(id), g_.players), "the end of a game is worth 0");
    } else if (visits == 0) {
      require(walked == 0 && s_.edge_counts[id] == 0 && all_zero(g_.mean(id), g_.players), "values without visits");
    } else if (decision) {
      require(visits == walked + 1, "the visits of a decision are not those of its edges");
    } else {
      const bool exact = search_.opens_at_once(id) && (node.flags & kExact);
      const std::uint64_t first = exact ? 0 : search_.config_.chance.draws;
      require(walked == first + visits - 1, "the visits of a chance node are not those of its edges");
    }
  }

  void fill_choices(NodeId id) {
    Node& node = g_.nodes[id];
    if (node.kind != Kind::decision) return;
    if (node.acting == 1) {
      search_.load(id);
      node.choices = static_cast<std::uint32_t>(search_.position_.count_choices(node.mover));
    }
    if (!s_.has_prior[id]) return;
    const std::size_t size = prior_count(g_, node);
    require(next_prior_ + size <= s_.priors.size(), "there are fewer priors than choices");
    const float* prior = &s_.priors[next_prior_];
    const std::size_t seats = node.acting == 1 ? 1 : g_.tables[node.choices].sizes.size();
    for (std::size_t seat = 0; seat < seats; ++seat) {
      const std::size_t choices = node.acting == 1 ? size : g_.tables[node.choices].sizes[seat];
      double total = 0.0;
      for (std::size_t a = 0; a < choices; ++a, ++prior) {
        require(*prior > 0.0f && *prior <= 1.0f, "a prior is no probability");
        total += static_cast<double>(*prior);
      }
      require(std::abs(total - 1.0) < 1e-3, "the priors of a player do not sum to 1");
    }
    node.priors = static_cast<std::uint32_t>(g_.priors.extend(size));
    std::copy_n(&s_.priors[next_prior_], size, &g_.priors[node.priors]);
    next_prior_ += size;
  }

  void fill_edge(NodeId id, std::size_t from) {
    play(id, s_.moves[from]);
    const NodeId child = s_.children[from];
    if (child != kNone) {
      search_.offer();
      require((g_.rules.key ? g_.keys : g_.states).equals(child), "the rules lead from a node to another child");
    }
    const std::size_t players = g_.players;
    const EdgeId e = g_.nodes[id].edges + g_.add_edge(id, s_.moves[from], search_.position_.rewards.data());
    g_.edges[e].child = child;
    if (child == kNone) g_.edges[e].bits |= kFrozen;
    g_.edges[e].visits = s_.edge_visits[from];
    std::copy_n(&s_.edge_values[from * players], players, g_.value(e));
    if (!g_.count_repeats) return;
    require(s_.repeats[from] <= s_.edge_visits[from], "more repetitions than visits");
    g_.repeats[e] = s_.repeats[from];
  }

  // Edges into a node with several parents, and into the root, may be stale.
  void mark_shared() {
    for (NodeId id = 0; id < g_.size(); ++id) {
      Node& node = g_.nodes[id];
      for (EdgeId e = node.edges; e < node.edges + node.edge_count; ++e) {
        const NodeId child = g_.edges[e].child;
        if (child == kNone || (child != 0 && incoming_[child] < 2)) continue;
        g_.edges[e].bits |= kShared;
        node.flags |= kSharedEdges;
        g_.nodes[child].flags |= kManyParents;
      }
    }
  }

  EdgeId add_block(std::uint32_t room) {
    const auto place = static_cast<EdgeId>(g_.edges.extend(room));
    if (g_.count_repeats) g_.repeats.extend(room);
    if (g_.count_marks) g_.marks.extend(room);
    std::fill_n(&g_.edges[place], room, Edge{kNone, 0, kNone, 0});
    std::fill_n(&g_.edges[place].visits, room, 0);
    return place;
  }

  void leave_free_blocks() {
    for (std::size_t k = 0; k < s_.free.size(); ++k)
      for (std::uint32_t i = 0; i < s_.free[k]; ++i) g_.free_[k].push_back(add_block(std::uint32_t{1} << k));
  }

  Search& search_;
  Graph& g_;
  const Snapshot& s_;
  std::vector<std::size_t> first_, creators_;
  std::vector<std::uint8_t> incoming_;
  std::size_t next_prior_ = 0;
};

}  // namespace anabranch
