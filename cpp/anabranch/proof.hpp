// Proofs: what is certain of a node, an interval that contains its exact value (docs/model.md section 14).
//
//   over           [0, 0]
//   edge           r + d·[lo, hi]
//   chance         the expectation; outcomes not known yet within the node's first bounds
//   decision       the best of both ends; choices not known yet within these bounds
//   simultaneous   lo = max_a min_b, hi = min_b max_a; the equilibrium where all cells are points
//
// Where players are opposed (one, or two with zero sum) player 0's interval is kept, else one per player. The same functions,
// with sums in the same order, are in src/anabranch/search/maths/proofs.py and reference/proofs.py. A node is reconsidered when
// a visit says something new of an edge; that takes no memory, `expect` makes room before a path begins.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "anabranch/backup.hpp"
#include "anabranch/config.hpp"
#include "anabranch/graph.hpp"
#include "anabranch/matrix_game.hpp"

namespace anabranch {

struct Interval {
  double low, high;

  bool operator==(const Interval&) const = default;
};

// What is left of an interval within bounds; its nearest end where they do not meet, by rounding.
inline Interval within(Interval found, Interval bounds) {
  return {std::min(std::max(found.low, bounds.low), found.high), std::max(std::min(found.high, bounds.high), found.low)};
}

// The proof of a node is a row of its column: the low ends of all players whose interval is kept, the high ends, the distance.
class ProofRow {
 public:
  ProofRow(const Graph& g, NodeId id) : row_(g.proof.row(id)), kept_(g.proof.width / 2) {}

  Interval operator[](std::size_t player) const { return {row_[player], row_[kept_ + player]}; }
  double distance() const { return row_[2 * kept_]; }

 private:
  const double* row_;
  std::size_t kept_;
};

// The interval of a player at a node before anything is known: what the game says of the remaining return.
inline Interval first_interval(const Graph& g, const Config& config, NodeId id, std::size_t player) {
  if (g.nodes[id].kind == Kind::over) return {0.0, 0.0};
  if (!g.range.kept()) return {config.proof_low, config.proof_high};
  const double* range = g.range.row(id);
  return {std::min(range[player], config.also_low), std::max(range[g.players + player], config.also_high)};
}

// Whether the intervals of a node are points.
inline bool is_proven(const Graph& g, const Config& config, NodeId id) {
  const ProofRow proof(g, id);
  for (std::size_t p = 0; p < g.proof.width / 2; ++p)
    if (!(proof[p].high - proof[p].low <= config.proof_width)) return false;
  return true;
}

// Write the proof of a new node.
inline void begin_proof(Graph& g, const Config& config, NodeId id) {
  const std::size_t kept = g.proof.width / 2;
  double* row = g.proof.row(id);
  for (std::size_t p = 0; p < kept; ++p) {
    const Interval first = first_interval(g, config, id, p);
    row[p] = first.low;
    row[kept + p] = first.high;
  }
  row[2 * kept] = 0.0;
  if (is_proven(g, config, id)) g.nodes[id].set(kProven | kTight);
}

// A player's interval of a node: where players are opposed, player 1's is player 0's turned round.
inline Interval seen_interval(const Graph& g, const Config& config, NodeId id, std::size_t player) {
  const ProofRow proof(g, id);
  if (config.proofs == Proofs::free || player == 0) return proof[player];
  return {0.0 - proof[0].high, 0.0 - proof[0].low};  // never −0
}

// Bring Q into the interval, where one is known that is tighter than at first.
inline void clip_tight(Graph& g, const Config& config, NodeId id) {
  for (std::size_t p = 0; p < g.players; ++p) {
    const Interval seen = seen_interval(g, config, id, p);
    g.mean(id)[p] = std::min(std::max(g.mean(id)[p], seen.low), seen.high);
  }
}

// Whether an edge leads to a child that counts: visited and backed up, or enumerated; not frozen.
inline bool proof_knows(const Node& node, const Edge& edge) {
  return edge.child != kNone && !edge.is(kFrozen) && (edge.visits > 0 || node.is(kExact));
}

// What is certain of q(e); where repetitions are worth a number, only a child's proven value counts.
inline Interval edge_interval(const Graph& g, const Config& config, const Node& node, EdgeId e, std::size_t player) {
  const NodeId child = g.edges[e].child;
  const bool counts = config.cycles != Cycles::valued || g.nodes[child].is(kProven);
  const Interval interval = counts ? ProofRow(g, child)[player] : first_interval(g, config, child, player);
  const double reward = static_cast<double>(g.reward(e, player)), discount = discount_of(g, node, e, config);
  if (discount == 0.0) return {reward, reward};
  return {reward + discount * interval.low, reward + discount * interval.high};
}

// Where two opposed players choose at once: which choices of the `index`-th are not worth another visit, because all their
// cells are closed now, or because they are worth less than is certain, whatever the other does; never all of them.
inline void pass_over_jointly(const Graph& g, const Config& config, NodeId id, const Table& table, std::size_t index, std::vector<char>& passed) {
  const Node& node = g.nodes[id];
  const std::size_t size = table.sizes[index], others = table.sizes[1 - index];
  std::vector<double> most(size, -std::numeric_limits<double>::infinity());
  std::vector<std::uint32_t> known(size, 0), closed(size, 0);
  for (const EdgeId e : EdgeIds(node)) {
    if (!proof_knows(node, g.edges[e])) continue;
    const std::uint32_t choice = table.choice(g.edges[e].move, index);
    const Interval cell = edge_interval(g, config, node, e, 0);
    most[choice] = std::max(most[choice], index == 0 ? cell.high : -cell.low);
    ++known[choice];
    if (g.nodes[g.edges[e].child].is(kProven)) ++closed[choice];
  }
  const Interval first = first_interval(g, config, id, 0);
  const double unknown = index == 0 ? first.high : -first.low, certain = seen_interval(g, config, id, index).low;
  passed.assign(size, 0);
  std::size_t count = 0;
  for (std::size_t a = 0; a < size; ++a) {
    if (known[a] < others) most[a] = std::max(most[a], unknown);
    passed[a] = closed[a] == others || most[a] < certain;
    count += static_cast<std::size_t>(passed[a]);
  }
  if (count == size) passed.assign(size, 0);
}

class Reconsider {
 public:
  Reconsider(Graph& graph, const Config& config)
      : g_(graph),
        config_(config),
        on_(config.proofs != Proofs::off),
        kept_(config.proofs == Proofs::free ? graph.players : 1),
        same_unless_tight_(!graph.rules.bounds && std::isinf(config.proof_low) && std::isinf(config.proof_high) && config.discount != 0.0),
        plain_(!graph.rules.bounds && config.discount == 1.0) {
    found_.resize(kept_);
  }

  bool on() const { return on_; }

  // Make room for every table there is.
  void expect(const Tables& tables) {
    if (tables.most_cells() <= cells_.size()) [[likely]] return;
    game_.reserve(tables.most_ids(), tables.most_cells());
    values_.resize(tables.most_cells());
    cells_.resize(tables.most_cells());
  }

  // Whether a visit over an edge (kNone: several were opened), just counted, says something new: a first visit, or a proven child.
  // Always where values go round in loops: there intervals tighten a little every time.
  [[gnu::always_inline]] bool teaches(NodeId id, const Node& node, std::uint32_t place) const {
    if (node.is(kProven)) return false;
    if (place == kNone || config_.cycles == Cycles::bootstrap) return true;
    const EdgeId e = node.edges + place;
    const Edge& edge = g_.edges[e];
    if (!proof_knows(node, edge)) return false;
    const Node& child = g_.nodes[edge.child];
    if (edge.visits != 1) return child.is(kProven) && !edge.is(kSkip);
    if (!child.is(kTight) && (same_unless_tight_ || (plain_ && edge.reward() == kNoReward))) [[likely]] return false;
    return differs(id, node, e);
  }

  // Compute a node's intervals from its children's, and which edges are done with; whether the intervals changed. What is
  // proven stays as it is.
  __attribute__((noinline)) bool reconsider(NodeId id) {
    Node& node = g_.nodes[id];
    if (node.is(kProven) || node.visits == 0 || node.edge_count == 0) return false;
    if (node.kind == Kind::chance && !g_.rules.chance) return false;
    std::size_t known = 0;
    for (const EdgeId e : EdgeIds(node)) {
      g_.edges[e].bits &= ~kSkip;
      known += proof_knows(node, g_.edges[e]);
    }
    if (node.kind == Kind::chance) find_expectation(id, node, known);
    else if (node.acting == 1) find_best(id, node, known);
    else find_joint(id, node, known);
    bool changed = false, tight = false;
    double* row = g_.proof.row(id);
    for (std::size_t p = 0; p < kept_; ++p) {
      const Interval first = first_interval(g_, config_, id, p), now = within(found_[p], first);
      changed |= !(now == Interval{row[p], row[kept_ + p]});
      tight |= !(now == first);
      row[p] = now.low;
      row[kept_ + p] = now.high;
    }
    node.clear(kTight | kSkips);
    if (tight) node.set(kTight);
    for (const EdgeId e : EdgeIds(node))
      if (g_.edges[e].is(kSkip)) node.set(kSkips);
    if (is_proven(g_, config_, id)) {
      node.set(kProven | kTight);
      row[2 * kept_] = distance(id, node);
    }
    return changed;
  }

 private:
  __attribute__((noinline)) bool differs(NodeId id, const Node& node, EdgeId e) const {
    for (std::size_t p = 0; p < kept_; ++p)
      if (!(edge_interval(g_, config_, node, e, p) == first_interval(g_, config_, id, p))) return true;
    return false;
  }

  bool is_closed(EdgeId e) const { return g_.nodes[g_.edges[e].child].is(kProven); }

  void skip_closed(const Node& node) {
    for (const EdgeId e : EdgeIds(node))
      if (proof_knows(node, g_.edges[e]) && is_closed(e)) g_.edges[e].bits |= kSkip;
  }

  // Where nothing is left, nothing is skipped.
  void skip_not_all(const Node& node, std::size_t known) {
    std::size_t skipped = 0;
    for (const EdgeId e : EdgeIds(node)) skipped += g_.edges[e].is(kSkip);
    if (skipped < known) return;
    for (const EdgeId e : EdgeIds(node)) g_.edges[e].bits &= ~kSkip;
  }

  void find_expectation(NodeId id, const Node& node, std::size_t known) {
    const Distribution& list = g_.outcomes_of(node);
    const bool complete = known == list.outcomes.size();
    skip_closed(node);
    if (complete) skip_not_all(node, known);
    double mass = 0.0;
    for (const EdgeId e : EdgeIds(node))
      if (proof_knows(node, g_.edges[e])) mass += list.chances[g_.edges[e].move];
    const double rest = std::max(list.cumulative.back() - mass, 0.0);
    for (std::size_t p = 0; p < kept_; ++p) {
      Interval total{0.0, 0.0};
      for (const EdgeId e : EdgeIds(node)) {
        if (!proof_knows(node, g_.edges[e])) continue;
        const double chance = list.chances[g_.edges[e].move];
        if (!(chance > 0.0)) continue;
        const Interval each = edge_interval(g_, config_, node, e, p);
        total = {total.low + chance * each.low, total.high + chance * each.high};
      }
      if (!complete) {
        const Interval first = first_interval(g_, config_, id, p);
        total.low = std::isfinite(first.low) ? total.low + rest * first.low : first.low;
        total.high = std::isfinite(first.high) ? total.high + rest * first.high : first.high;
      }
      found_[p] = total;
    }
  }

  // Fold intervals into the largest of both ends, or the smallest.
  static void fold_best(Interval& best, bool& any, Interval other, bool maximises) {
    if (!any) best = other;
    else if (maximises) best = {std::max(best.low, other.low), std::max(best.high, other.high)};
    else best = {std::min(best.low, other.low), std::min(best.high, other.high)};
    any = true;
  }
  static void fold_hull(Interval& hull, bool& any, Interval other) {
    hull = any ? Interval{std::min(hull.low, other.low), std::max(hull.high, other.high)} : other;
    any = true;
  }

  void find_best(NodeId id, const Node& node, std::size_t known) {
    const bool opposed = config_.proofs == Proofs::opposed, untried = known < node.choices;
    const bool maximises = !opposed || node.mover == 0;
    const std::size_t own = opposed ? 0 : node.mover;
    Interval best{0.0, 0.0};
    bool any = false;
    if (untried) fold_best(best, any, first_interval(g_, config_, id, own), maximises);
    for (const EdgeId e : EdgeIds(node))
      if (proof_knows(node, g_.edges[e])) fold_best(best, any, edge_interval(g_, config_, node, e, own), maximises);
    const double certain = best.low - (opposed ? 0.0 : config_.proof_apart);
    bool others = false;  // whether the other players' hulls have begun
    if (!opposed && untried) {
      for (std::size_t p = 0; p < kept_; ++p) found_[p] = first_interval(g_, config_, id, p);
      others = true;
    }
    for (const EdgeId e : EdgeIds(node)) {
      if (!proof_knows(node, g_.edges[e])) continue;
      const Interval mine = edge_interval(g_, config_, node, e, own);
      const bool worse = maximises ? mine.high < certain : mine.low > best.high;
      if (worse || is_closed(e)) g_.edges[e].bits |= kSkip;
      if (opposed || worse) continue;
      for (std::size_t p = 0; p < kept_; ++p) {
        bool begun = others;
        fold_hull(found_[p], begun, edge_interval(g_, config_, node, e, p));
      }
      others = true;
    }
    if (!untried) skip_not_all(node, known);
    found_[own] = best;
  }

  void find_joint(NodeId id, const Node& node, std::size_t known) {
    const Table& table = g_.table_of(node);
    std::size_t cells = 1;
    for (const std::uint32_t size : table.sizes) cells *= size;
    skip_closed(node);
    if (config_.proofs == Proofs::free) {
      for (std::size_t p = 0; p < kept_; ++p) {
        bool any = false;
        if (known < cells) fold_hull(found_[p], any, first_interval(g_, config_, id, p));
        for (const EdgeId e : EdgeIds(node))
          if (proof_knows(node, g_.edges[e])) fold_hull(found_[p], any, edge_interval(g_, config_, node, e, p));
      }
      return;
    }
    const std::size_t rows = table.sizes[0], columns = table.sizes[1];
    std::fill_n(cells_.begin(), cells, first_interval(g_, config_, id, 0));
    std::size_t closed = 0;
    for (const EdgeId e : EdgeIds(node)) {
      if (!proof_knows(node, g_.edges[e])) continue;
      cells_[table.choice(g_.edges[e].move, 0) * columns + table.choice(g_.edges[e].move, 1)] = edge_interval(g_, config_, node, e, 0);
      closed += is_closed(e);
    }
    found_[0] = closed == cells ? in_equilibrium(rows, columns) : in_pure_strategies(rows, columns);
  }

  Interval in_pure_strategies(std::size_t rows, std::size_t columns) const {
    Interval found{-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    for (std::size_t i = 0; i < rows; ++i) {
      double worst = cells_[i * columns].low;
      for (std::size_t j = 1; j < columns; ++j) worst = std::min(worst, cells_[i * columns + j].low);
      found.low = std::max(found.low, worst);
    }
    for (std::size_t j = 0; j < columns; ++j) {
      double worst = cells_[j].high;
      for (std::size_t i = 1; i < rows; ++i) worst = std::max(worst, cells_[i * columns + j].high);
      found.high = std::min(found.high, worst);
    }
    return found;
  }

  // The value of a table all of whose cells are points.
  Interval in_equilibrium(std::size_t rows, std::size_t columns) {
    for (std::size_t at = 0; at < rows * columns; ++at) values_[at] = cells_[at].low;
    const double value = game_.value_of({values_.data(), rows, columns});
    return {value, value};
  }

  // In how many steps the game ends: winners hurry, others take their time; of proven children.
  double distance(NodeId id, const Node& node) const {
    double best = 0.0;
    bool any = false;
    if (node.kind == Kind::chance || node.acting != 1) {
      for (const EdgeId e : EdgeIds(node))
        if (proof_knows(node, g_.edges[e]) && is_closed(e)) best = std::max(best, ProofRow(g_, g_.edges[e].child).distance());
      return 1.0 + best;
    }
    const bool opposed = config_.proofs == Proofs::opposed, maximises = !opposed || node.mover == 0;
    const std::size_t own = opposed ? 0 : node.mover;
    const Interval proof = ProofRow(g_, id)[own];
    const double worth = maximises ? proof.low : -proof.high;
    for (const EdgeId e : EdgeIds(node)) {
      if (!proof_knows(node, g_.edges[e]) || !is_closed(e)) continue;
      const Interval mine = edge_interval(g_, config_, node, e, own);
      if (!((maximises ? mine.low : -mine.high) >= worth - config_.proof_width)) continue;
      const double steps = ProofRow(g_, g_.edges[e].child).distance();
      best = !any ? steps : worth > 0.0 ? std::min(best, steps) : std::max(best, steps);
      any = true;
    }
    return 1.0 + (any ? best : 0.0);
  }

  Graph& g_;
  const Config& config_;
  const bool on_;
  const std::size_t kept_;
  const bool same_unless_tight_;  // nothing is known at first, whatever edges pay
  const bool plain_;              // all nodes know the same at first, and edges that pay nothing add nothing
  std::vector<Interval> found_, cells_;
  std::vector<double> values_;
  MatrixGame game_;
};

}  // namespace anabranch
