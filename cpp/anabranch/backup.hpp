// Refresh one node: recompute Q from the children, never accumulate.
//
//   decision   Q(n) = (U(n) + Σ_e N(e)·q(e)) / (1 + Σ_e N(e))
//   best       Q(n) = (U(n) + ΣN·q(b)) / (1 + ΣN), b the best choice among those visited a tenth as often as the most visited
//   chance     Q(n) = Σ_o n(o)·q(o) / Σ_o n(o), or Σ_o p(o)·q(o) where all outcomes were enumerated
//
// One such line per player, edges in creation order, U added last. Idempotent, so paths that meet at a shared node may
// refresh it in any order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "anabranch/config.hpp"
#include "anabranch/graph.hpp"

namespace anabranch {

// Functions that run at every step of every playout are templates of the number of players, 0 for any other number than
// those compiled for. The number is known to the compiler then, and so is where the next edge lies.
template <class Function>
inline decltype(auto) with_players(std::size_t players, Function&& function) {
  if (players == 2) return function(std::integral_constant<std::size_t, 2>());
  if (players == 1) return function(std::integral_constant<std::size_t, 1>());
  return function(std::integral_constant<std::size_t, 0>());
}

template <std::size_t P>
inline std::size_t edge_stride(const Graph& g) {
  return P ? sizeof(Edge) + P * sizeof(double) : g.edges.stride();
}

// d(e): the game's, 1 where dice are rolled, or what a model said.
inline double discount_of(const Graph& g, const Node& node, EdgeId e, const Config& config) {
  if (config.edge_discounts) [[unlikely]] return g.discounts[e];
  return node.kind == Kind::decision ? config.discount : 1.0;
}

// q(e) = r(e) + d(e)·Q(child) for one player; visits ended by a repetition count as what the game says it is worth.
inline double child_value(const Graph& g, EdgeId e, std::size_t player, double discount, const Config& config) {
  const Edge& edge = g.edges[e];
  const double reward = static_cast<double>(g.reward(e, player));
  const double known = reward + discount * g.mean(edge.child)[player];
  if (!g.repeats.kept() || g.repeats[e] == 0 || edge.visits == 0) [[likely]] return known;
  const double times = g.repeats[e], others = edge.visits - g.repeats[e];
  return (others * known + times * (reward + discount * config.repetition)) / edge.visits;
}

// Bring q(e) up to date for all players. A frozen outcome that was given a child keeps its value until a visit is counted;
// all edges that are not frozen have a child.
template <std::size_t P>
[[gnu::always_inline]] inline void read_known(Graph& g, EdgeId e, Edge& edge, double discount, const Config& config) {
  const std::size_t players = P ? P : g.players;
  double* q = doubles_of(&edge);
  if (g.repeats.kept()) [[unlikely]] {
    for (std::size_t p = 0; p < players; ++p) q[p] = child_value(g, e, p, discount, config);
    return;
  }
  const double* child = doubles_of(&g.node<P>(edge.child));
  const std::uint32_t row = edge.reward();
  if constexpr (P > 0) {  // read all, then write all at once: what follows reads them so, and would wait for parts
    double now[P];
    if (row == kNoReward) {
      for (std::size_t p = 0; p < P; ++p) now[p] = 0.0 + discount * child[p];
    } else {
      const float* reward = &g.rewards[row * P];
      for (std::size_t p = 0; p < P; ++p) now[p] = static_cast<double>(reward[p]) + discount * child[p];
    }
    std::memcpy(q, now, sizeof(now));
  } else {
    for (std::size_t p = 0; p < players; ++p) q[p] = static_cast<double>(g.reward(e, p)) + discount * child[p];
  }
}

template <std::size_t P = 0>
[[gnu::always_inline]] inline void read_child(Graph& g, EdgeId e, double discount, const Config& config) {
  Edge& edge = g.edge<P>(e);
  if (!edge.is(kFrozen)) [[likely]] read_known<P>(g, e, edge, discount, config);
}

// Count a visit; whether the edge has the value of a child, not a frozen one. What was frozen before the edge was given a
// child ends with the first visit to this child, if it is known.
template <std::size_t P>
[[gnu::always_inline]] inline bool count_visit(Graph& g, Edge& edge) {
  ++edge.visits;
  if (!edge.is(kFrozen)) [[likely]] return true;
  if (edge.child == kNone || g.node<P>(edge.child).visits == 0) return false;
  edge.bits &= ~kFrozen;
  return true;
}

// Bring q(e) of shared children up to date; all others are.
template <std::size_t P = 0>
inline void read_shared(Graph& g, const Node& node, const Config& config) {
  if (!node.is(kSharedEdges)) return;
  const Edge* edge = &g.edge<P>(node.edges);
  for (EdgeId e = node.edges; e < node.edges + node.edge_count; ++e, edge = further(edge, edge_stride<P>(g)))
    if (edge->is(kShared)) read_child<P>(g, e, discount_of(g, node, e, config), config);
}

template <std::size_t P = 0>
inline void read_children(Graph& g, const Node& node, const Config& config) {
  for (const EdgeId e : EdgeIds(node))
    if (g.edge<P>(e).child != kNone) read_child<P>(g, e, discount_of(g, node, e, config), config);
}

// The value of a decision node by its visits, from its q(e) as they are; what selectors that keep no strategy report.
template <std::size_t P>
inline void refresh_by_visits(Graph& g, Node& node) {
  const std::size_t players = P ? P : g.players;
  double* mean = doubles_of(&node);
  const double* evaluation = mean + players;
  const Edge* edge = &g.edge<P>(node.edges);
  const double all = static_cast<std::int32_t>(node.visits);  // N(n) = 1 + Σ N(e); counts stay below 2^31
  if constexpr (P > 0) {
    double totals[P] = {};
    for (std::uint32_t e = 0; e < node.edge_count; ++e, edge = further(edge, edge_stride<P>(g))) {
      const double times = static_cast<std::int32_t>(edge->visits);
      for (std::size_t p = 0; p < P; ++p) totals[p] += times * doubles_of(edge)[p];
    }
    for (std::size_t p = 0; p < P; ++p) mean[p] = (totals[p] + evaluation[p]) / all;
  } else {
    for (std::size_t p = 0; p < players; ++p) mean[p] = 0.0;
    for (std::uint32_t e = 0; e < node.edge_count; ++e, edge = further(edge, edge_stride<P>(g))) {
      const double times = static_cast<std::int32_t>(edge->visits);
      for (std::size_t p = 0; p < players; ++p) mean[p] += times * doubles_of(edge)[p];
    }
    for (std::size_t p = 0; p < players; ++p) mean[p] = (mean[p] + evaluation[p]) / all;
  }
}

// The value of a decision of one player by its best choice: of those with at least a tenth of the most visited one's visits the
// one with the largest q(e), the first of equals.
inline constexpr std::uint64_t kSupport = 10;
inline void refresh_by_best(Graph& g, Node& node) {
  double* mean = doubles_of(&node);
  const double* evaluation = mean + g.players;
  std::uint64_t most = 0;
  for (const EdgeId e : EdgeIds(node)) most = std::max<std::uint64_t>(most, g.edges[e].visits);
  const double* best = nullptr;
  for (const EdgeId e : EdgeIds(node))
    if (g.edges[e].visits > 0 && g.edges[e].visits * kSupport >= most && (!best || g.value(e)[node.mover] > best[node.mover])) best = g.value(e);
  const double all = static_cast<std::int32_t>(node.visits);
  for (std::size_t p = 0; p < g.players; ++p) mean[p] = best ? ((all - 1.0) * best[p] + evaluation[p]) / all : evaluation[p];
}

// Drawn outcomes that are proven, and not drawn any more, count by their chances: Q = Σ_C p·q + (1 − Σ_C p)·(mean of the draws of
// others). False where these chances are 0.
__attribute__((noinline)) inline bool refresh_beside_proven(Graph& g, Node& node) {
  const std::vector<double>& chances = g.outcomes_of(node).chances;
  double mass = 0.0, *mean = doubles_of(&node);
  std::uint64_t others = 0;
  for (const EdgeId e : EdgeIds(node)) {
    const Edge& edge = g.edges[e];
    if (!edge.is(kSkip)) others += edge.visits;
    else if (edge.visits > 0) mass += chances[edge.move];
  }
  if (mass <= 0.0) return false;
  for (std::size_t p = 0; p < g.players; ++p) {
    double certain = 0.0, total = 0.0;
    for (const EdgeId e : EdgeIds(node)) {
      const Edge& edge = g.edges[e];
      if (edge.visits == 0) continue;
      if (edge.is(kSkip)) certain += chances[edge.move] * g.value(e)[p];
      else total += edge.visits * g.value(e)[p];
    }
    mean[p] = others == 0 ? certain / mass : certain + (1.0 - mass) * (total / static_cast<double>(others));
  }
  return true;
}

inline void refresh_chance(Graph& g, Node& node) {
  if (node.visits == 0) return;
  double* mean = doubles_of(&node);
  const Distribution* list = node.is(kExact) ? &g.outcomes_of(node) : nullptr;
  std::uint64_t drawn = 0;
  bool skips = false;
  for (const EdgeId e : EdgeIds(node)) {
    drawn += g.edges[e].visits;
    skips |= g.edges[e].is(kSkip) && g.edges[e].visits > 0;
  }
  if (skips && !list && refresh_beside_proven(g, node)) return;
  for (std::size_t p = 0; p < g.players; ++p) {
    double total = 0.0;
    for (const EdgeId e : EdgeIds(node)) total += (list ? list->chances[g.edges[e].move] : g.edges[e].visits) * g.value(e)[p];
    mean[p] = list ? total : total / static_cast<double>(drawn);
  }
}

// The scale `graph`: take in one q(e).
template <std::size_t P>
inline void widen_range_by(Graph& g, const Edge& edge) {
  const std::size_t players = P ? P : g.players;
  for (std::size_t p = 0; p < players; ++p) {
    const double value = doubles_of(&edge)[p];
    if (value < g.low[p]) g.low[p] = value;
    if (value > g.high[p]) g.high[p] = value;
  }
}

// The scale `graph`: take in q(e) of a decision's visited edges. An edge from the node to itself counts with the new Q.
inline void widen_range(Graph& g, NodeId id, const Config& config) {
  const Node& node = g.nodes[id];
  for (const EdgeId e : EdgeIds(node)) {
    if (g.edges[e].visits == 0) continue;
    if (g.edges[e].child == id) read_child(g, e, config.discount, config);
    widen_range_by<0>(g, g.edges[e]);
  }
}

// The same for a decision of which only the edge walked, and those to shared children, can have changed since it was last
// done. No edge leads from the node to itself.
template <std::size_t P>
inline void widen_range_by_path(Graph& g, const Node& node, std::uint32_t place) {
  widen_range_by<P>(g, g.edge<P>(node.edges + place));
  if (!node.is(kSharedEdges)) return;
  const Edge* edge = &g.edge<P>(node.edges);
  for (std::uint32_t e = 0; e < node.edge_count; ++e, edge = further(edge, edge_stride<P>(g)))
    if (edge->is(kShared) && edge->visits > 0) widen_range_by<P>(g, *edge);
}

}  // namespace anabranch
