// Refresh one node: recompute Q from the children, never accumulate.
//
//   decision   Q(n) = (U(n) + Σ_e N(e)·q(e)) / (1 + Σ_e N(e))
//   chance     Q(n) = Σ_o n(o)·q(o) / Σ_o n(o), or Σ_o p(o)·q(o) where all outcomes were enumerated
//
// One such line per player, edges in creation order, U added last. Idempotent, so paths that meet at a shared node may
// refresh it in any order.
#pragma once

#include "anabranch/config.hpp"
#include "anabranch/graph.hpp"

namespace anabranch {

// q(e) = r(e) + d(e)·Q(child) for one player; visits ended by a repetition count as what the game says it is worth.
inline double child_value(const Graph& g, EdgeId e, std::size_t player, double discount, const Config& config) {
  const Edge& edge = g.edges[e];
  const double reward = edge.reward == kNone ? 0.0 : static_cast<double>(g.rewards[edge.reward * g.players + player]);
  const double known = reward + discount * g.mean(edge.child)[player];
  if (!g.count_repeats || g.repeats[e] == 0 || g.edge_visits[e] == 0) [[likely]] return known;
  const double times = g.repeats[e], others = g.edge_visits[e] - g.repeats[e];
  return (others * known + times * (reward + discount * config.repetition)) / g.edge_visits[e];
}

// Bring q(e) up to date for all players.
inline void read_child(Graph& g, EdgeId e, double discount, const Config& config) {
  if (g.edges[e].reward == kNone && !g.count_repeats) {
    const double* child = g.mean(g.edges[e].child);
    double* q = g.value(e);
    q[0] = 0.0 + discount * child[0];
    if (g.players == 1) return;
    q[1] = 0.0 + discount * child[1];
    for (std::size_t p = 2; p < g.players; ++p) q[p] = 0.0 + discount * child[p];
    return;
  }
  for (std::size_t p = 0; p < g.players; ++p) g.value(e)[p] = child_value(g, e, p, discount, config);
}

inline double discount_of(const Node& node, const Config& config) {
  return node.kind == Kind::decision ? config.discount : 1.0;
}

// Bring q(e) of shared children up to date; all others are.
inline void read_shared(Graph& g, const Node& node, const Config& config) {
  if (!(node.flags & kSharedEdges)) return;
  for (EdgeId e = node.edges; e < node.edges + node.edge_count; ++e)
    if (g.edges[e].flags & kShared) read_child(g, e, discount_of(node, config), config);
}

inline void read_children(Graph& g, const Node& node, const Config& config) {
  for (EdgeId e = node.edges; e < node.edges + node.edge_count; ++e)
    if (!(g.edges[e].flags & kFrozen)) read_child(g, e, discount_of(node, config), config);
}

// Recompute Q of a decision node from its q(e). P players if known, else 0.
template <std::size_t P>
inline void refresh_decision(Graph& g, NodeId id) {
  const Node& node = g.nodes[id];
  const std::size_t players = P ? P : g.players;
  const std::uint32_t* visits = g.edge_visits.data() + node.edges;
  const double* q = g.value(node.edges);
  double* mean = g.mean(id);
  const double* opinion = mean + players;
  const double all = static_cast<std::int32_t>(node.visits);  // N(n) = 1 + Σ N(e); counts stay below 2^31
  if constexpr (P > 0) {
    double totals[P] = {};
    for (std::uint32_t e = 0; e < node.edge_count; ++e) {
      const double times = static_cast<std::int32_t>(visits[e]);
      for (std::size_t p = 0; p < P; ++p) totals[p] += times * q[e * P + p];
    }
    for (std::size_t p = 0; p < P; ++p) mean[p] = (totals[p] + opinion[p]) / all;
  } else {
    for (std::size_t p = 0; p < players; ++p) {
      double total = 0.0;
      for (std::uint32_t e = 0; e < node.edge_count; ++e) total += visits[e] * q[e * players + p];
      mean[p] = (total + opinion[p]) / all;
    }
  }
}

inline void refresh_chance(Graph& g, NodeId id) {
  const Node& node = g.nodes[id];
  if (node.visits == 0) return;
  const Edge* edges = g.edges.data() + node.edges;
  const std::uint32_t* visits = g.edge_visits.data() + node.edges;
  const double* q = g.value(node.edges);
  double* mean = g.mean(id);
  const Distribution* list = node.flags & kExact ? &g.distributions[node.choices] : nullptr;
  std::uint64_t drawn = 0;
  for (std::uint32_t e = 0; e < node.edge_count; ++e) drawn += visits[e];
  for (std::size_t p = 0; p < g.players; ++p) {
    double total = 0.0;
    for (std::uint32_t e = 0; e < node.edge_count; ++e)
      total += (list ? list->chances[edges[e].move] : visits[e]) * q[e * g.players + p];
    mean[p] = list ? total : total / static_cast<double>(drawn);
  }
}

// Recompute Q of a node whose unshared q(e) the caller has brought up to date.
inline void refresh(Graph& g, NodeId id, const Config& config, bool keep_range) {
  const Node& node = g.nodes[id];
  read_shared(g, node, config);
  if (node.kind == Kind::chance) refresh_chance(g, id);
  if (node.kind != Kind::decision) return;
  if (g.players == 2) refresh_decision<2>(g, id);
  else if (g.players == 1) refresh_decision<1>(g, id);
  else refresh_decision<0>(g, id);
  if (!keep_range) return;
  for (EdgeId e = node.edges; e < node.edges + node.edge_count; ++e) {
    if (g.edge_visits[e] == 0) continue;
    for (std::size_t p = 0; p < g.players; ++p) {
      if (g.value(e)[p] < g.low[p]) g.low[p] = g.value(e)[p];
      if (g.value(e)[p] > g.high[p]) g.high[p] = g.value(e)[p];
    }
  }
}

}  // namespace anabranch
