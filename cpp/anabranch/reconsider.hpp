// What is certain of a node, from its children as they are (proof.hpp, docs/model.md section 14).
//
// A node is reconsidered when a child is proven, and now and then; that takes no memory, `expect` makes room before a path begins.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "anabranch/config.hpp"
#include "anabranch/graph.hpp"
#include "anabranch/matrix_game.hpp"
#include "anabranch/proof.hpp"

namespace anabranch {

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

  // Whether to reconsider a node after a visit over an edge (kNone: several were opened), just counted: at once if the child is
  // newly proven, for all else once in as many visits as there are edges, so that a visit looks at one of them on average.
  [[gnu::always_inline]] bool teaches(const Node& node, std::uint32_t place) const {
    if (node.is(kProven)) return false;
    if (place == kNone) return true;
    const Edge& edge = g_.edges[node.edges + place];
    if (proof_knows(node, edge) && g_.nodes[edge.child].is(kProven) && !edge.is(kSkip)) return true;
    return node.visits % node.edge_count == 0;
  }

  // Compute a node's intervals from its children's, and which edges are done with; whether the intervals changed. What is
  // proven stays as it is.
  __attribute__((noinline)) bool reconsider(NodeId id) {
    Node& node = g_.nodes[id];
    if (node.is(kProven) || node.visits == 0 || node.edge_count == 0) return false;
    if (node.kind == Kind::chance && !g_.rules.chance) return false;
    if (!is_told(id, node)) return false;
    if (node.kind == Kind::chance) find_expectation(id, node);
    else if (node.acting == 1) find_best(id, node);
    else find_joint(id, node);
    bool changed = false, tight = false;
    double* row = g_.proof.row(id);
    for (std::size_t p = 0; p < kept_; ++p) {
      const Interval first = first_interval(g_, config_, id, p), now = within(found_[p], first);
      changed |= !(now == Interval{row[p], row[kept_ + p]});
      tight |= !(now == first);
      row[p] = now.low;
      row[kept_ + p] = now.high;
    }
    node.clear(kTight);
    if (tight) node.set(kTight);
    if (is_proven(g_, config_, id)) {
      node.set(kProven | kTight);
      row[2 * kept_] = distance(id, node);
    }
    return changed;
  }

 private:
  // Whether a known edge says more than the node's first bounds do.
  [[gnu::always_inline]] bool tells(NodeId id, const Node& node, EdgeId e) const {
    const Edge& edge = g_.edges[e];
    if (!g_.nodes[edge.child].is(kTight) && (same_unless_tight_ || (plain_ && edge.reward() == kNoReward))) [[likely]] return false;
    return differs(id, node, e);
  }

  __attribute__((noinline)) bool differs(NodeId id, const Node& node, EdgeId e) const {
    for (std::size_t p = 0; p < kept_; ++p)
      if (!(edge_interval(g_, config_, node, e, p) == first_interval(g_, config_, id, p))) return true;
    return false;
  }

  // Whether any edge says so.
  bool is_told(NodeId id, const Node& node) const {
    for (const EdgeId e : EdgeIds(node))
      if (proof_knows(node, g_.edges[e]) && tells(id, node, e)) return true;
    return false;
  }

  bool is_closed(EdgeId e) const { return g_.nodes[g_.edges[e].child].is(kProven); }

  // Mark an edge or not; how many are.
  std::size_t mark(EdgeId e, bool skip) {
    g_.edges[e].bits = skip ? g_.edges[e].bits | kSkip : g_.edges[e].bits & ~kSkip;
    return skip;
  }

  // `skipped` edges are marked; where that leaves none to visit, none is.
  void note_marks(Node& node, std::size_t skipped, bool none_left) {
    if (none_left)
      for (const EdgeId e : EdgeIds(node)) mark(e, false);
    node.clear(kSkips);
    if (skipped > 0 && !none_left) node.set(kSkips);
  }

  void find_expectation(NodeId id, Node& node) {
    const Distribution& list = g_.outcomes_of(node);
    std::fill(found_.begin(), found_.end(), Interval{0.0, 0.0});
    std::size_t known = 0, skipped = 0;
    double mass = 0.0;
    for (const EdgeId e : EdgeIds(node)) {
      if (!proof_knows(node, g_.edges[e])) continue;
      const double chance = list.chances[g_.edges[e].move];
      ++known;
      mass += chance;
      skipped += mark(e, is_closed(e));
      if (!(chance > 0.0)) continue;
      for (std::size_t p = 0; p < kept_; ++p) {
        const Interval each = edge_interval(g_, config_, node, e, p);
        found_[p] = {found_[p].low + chance * each.low, found_[p].high + chance * each.high};
      }
    }
    const bool complete = known == list.outcomes.size();
    note_marks(node, skipped, complete && skipped == known);
    if (complete) return;
    const double rest = std::max(list.cumulative.back() - mass, 0.0);
    for (std::size_t p = 0; p < kept_; ++p) {
      const Interval first = first_interval(g_, config_, id, p);
      found_[p].low = std::isfinite(first.low) ? found_[p].low + rest * first.low : first.low;
      found_[p].high = std::isfinite(first.high) ? found_[p].high + rest * first.high : first.high;
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

  void find_best(NodeId id, Node& node) {
    if (config_.proofs == Proofs::free) return find_free(id, node);
    const bool maximises = node.mover == 0;
    const double infinity = std::numeric_limits<double>::infinity();
    Interval best{0.0, 0.0}, nearest{infinity, -infinity};  // of the worst choice: its high end, or its low end
    std::size_t known = 0, closed = 0;
    bool any = false;
    for (const EdgeId e : EdgeIds(node)) {
      if (!proof_knows(node, g_.edges[e])) continue;
      const Interval mine = edge_interval(g_, config_, node, e, 0);
      fold_best(best, any, mine, maximises);
      nearest = {std::min(nearest.low, mine.high), std::max(nearest.high, mine.low)};
      ++known;
      closed += is_closed(e);
    }
    const bool untried = known < node.choices;
    if (untried) fold_best(best, any, first_interval(g_, config_, id, 0), maximises);
    found_[0] = best;
    if (closed == 0 && !node.is(kSkips) && (maximises ? nearest.low > best.low : nearest.high < best.high)) return;
    std::size_t skipped = 0;
    for (const EdgeId e : EdgeIds(node)) {
      if (!proof_knows(node, g_.edges[e])) continue;
      const Interval mine = edge_interval(g_, config_, node, e, 0);
      skipped += mark(e, is_closed(e) || (maximises ? mine.high <= best.low : mine.low >= best.high));
    }
    note_marks(node, skipped, !untried && skipped == known);
  }

  // Where players are not opposed: of others than the mover the hull over what the mover may still take.
  void find_free(NodeId id, Node& node) {
    const std::size_t own = node.mover;
    Interval best{0.0, 0.0};
    std::size_t known = 0, skipped = 0;
    bool any = false;
    for (const EdgeId e : EdgeIds(node)) {
      if (!proof_knows(node, g_.edges[e])) continue;
      fold_best(best, any, edge_interval(g_, config_, node, e, own), true);
      ++known;
    }
    const bool untried = known < node.choices;
    if (untried) fold_best(best, any, first_interval(g_, config_, id, own), true);
    const double certain = best.low - config_.proof_apart;
    bool others = untried;  // whether the other players' hulls have begun
    for (std::size_t p = 0; untried && p < kept_; ++p) found_[p] = first_interval(g_, config_, id, p);
    for (const EdgeId e : EdgeIds(node)) {
      if (!proof_knows(node, g_.edges[e])) continue;
      const bool worse = edge_interval(g_, config_, node, e, own).high < certain;
      skipped += mark(e, worse || is_closed(e));
      if (worse) continue;
      for (std::size_t p = 0; p < kept_; ++p) {
        bool begun = others;
        fold_hull(found_[p], begun, edge_interval(g_, config_, node, e, p));
      }
      others = true;
    }
    note_marks(node, skipped, !untried && skipped == known);
    found_[own] = best;
  }

  void find_joint(NodeId id, Node& node) {
    const Table& table = g_.table_of(node);
    std::size_t cells = 1, known = 0, closed = 0;
    for (const std::uint32_t size : table.sizes) cells *= size;
    for (const EdgeId e : EdgeIds(node)) {
      if (!proof_knows(node, g_.edges[e])) continue;
      ++known;
      closed += mark(e, is_closed(e));
    }
    note_marks(node, closed, false);
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
    for (const EdgeId e : EdgeIds(node)) {
      if (!proof_knows(node, g_.edges[e])) continue;
      cells_[table.choice(g_.edges[e].move, 0) * columns + table.choice(g_.edges[e].move, 1)] = edge_interval(g_, config_, node, e, 0);
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
