// Proofs: what is certain of a node, an interval that contains its exact value (docs/model.md section 14).
//
//   over           [0, 0]
//   edge           r + d·[lo, hi]
//   chance         the expectation; outcomes not known yet within the node's first bounds
//   decision       the best of both ends; choices not known yet within these bounds
//   simultaneous   lo = max_a min_b, hi = min_b max_a; the equilibrium where all cells are points
//
// Where players are opposed (one, or two with zero sum) player 0's interval is kept, else one per player. The same functions,
// with sums in the same order, are in src/anabranch/search/maths/proofs.py and reference/proofs.py. Here is how intervals are
// kept and read; reconsider.hpp computes them.
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

}  // namespace anabranch
