// How widely the values met below a node scatter: the second moment of docs/model.md section 8, about the mean.
//
//   decision   M(n) = (Σ_e N(e)·m(e) + U) / (1 + Σ_e N(e)),   V(n) = (Σ_e N(e)·(V(e) + (m(e) − M)²) + (U − M)²) / (1 + Σ_e N(e))
//   chance     likewise without U, weighted as Q is: by n(o), or by p(o) where all outcomes were enumerated
//   edge       m(e) = r + d·M(child), V(e) = d²·V(child); u and 0 where frozen, since one evaluation tells no variance
//
// With M2(n) = (U² + Σ N(e)·E[(r + dX)²]) / (1 + ΣN) this is M2 − M², by the law of total variance; written so, nothing
// cancels and nothing is below 0. M is Q wherever Q is up to date; it is computed anew because a node off the last paths may
// be stale, and a variance about a mean that is not the mean would be too large. Reads a graph that nobody writes to, keeps
// nothing. The same in src/anabranch/search/results/moments.py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "anabranch/backup.hpp"
#include "anabranch/config.hpp"
#include "anabranch/graph.hpp"

namespace anabranch {

class Moments {
 public:
  struct Spread {
    double mean, variance;
  };

  // All nodes below the root, children first. Where a cycle leads back into a node in progress, that one counts as certain,
  // and worth its Q.
  Moments(const Graph& graph, const Config& config) : g_(graph), config_(config), spreads_(graph.size() * graph.players) {
    struct Frame {
      NodeId node;
      std::uint32_t next;  // the edge to go down next
    };
    std::vector<bool> met(graph.size(), false);
    std::vector<Frame> path;
    const auto enter = [&](NodeId node) {
      met[node] = true;
      for (std::size_t p = 0; p < graph.players; ++p) spreads_[node * graph.players + p] = {graph.mean(node)[p], 0.0};
      path.push_back({node, 0});
    };
    enter(0);
    while (!path.empty()) {
      Frame& frame = path.back();
      const Node& node = graph.nodes[frame.node];
      if (frame.next == node.edge_count) {
        if (node.kind != Kind::over && node.visits > 0) measure(frame.node);
        path.pop_back();
        continue;
      }
      const NodeId child = graph.edges[node.edges + frame.next++].child;
      if (child != kNone && !met[child]) enter(child);
    }
  }

  const Spread& node(NodeId id, std::size_t player) const { return spreads_[id * g_.players + player]; }

  Spread edge(const Node& parent, EdgeId e, std::size_t player) const {
    const Edge& edge = g_.edges[e];
    if (edge.is(kFrozen)) return {g_.value(e)[player], 0.0};
    const double discount = discount_of(g_, parent, e, config_);
    const double reward = static_cast<double>(g_.reward(e, player));
    const Spread& child = node(edge.child, player);
    const double known = reward + discount * child.mean, below = discount * discount * child.variance;
    if (!g_.repeats.kept() || g_.repeats[e] == 0 || edge.visits == 0) return {known, below};
    // Visits ended by a repetition are worth one number, all others scatter about another.
    const double repeated = reward + discount * config_.repetition;
    const double times = g_.repeats[e], others = edge.visits - g_.repeats[e];
    const double mean = (others * known + times * repeated) / edge.visits;
    return {mean, (others * (below + square(known - mean)) + times * square(repeated - mean)) / edge.visits};
  }

 private:
  static double square(double x) { return x * x; }

  void measure(NodeId id) {
    const Node& node = g_.nodes[id];
    const Distribution* list = node.kind == Kind::chance && node.is(kExact) ? &g_.outcomes_of(node) : nullptr;
    for (std::size_t p = 0; p < g_.players; ++p) {
      double mean = 0.0, variance = 0.0, weights = 0.0;
      const auto over_edges = [&](auto&& add) {
        for (const EdgeId e : EdgeIds(node)) {
          const double weight = list ? list->chances[g_.edges[e].move] : g_.edges[e].visits;
          if (weight > 0.0) add(weight, edge(node, e, p));
        }
      };
      over_edges([&](double weight, const Spread& found) {
        mean += weight * found.mean;
        weights += weight;
      });
      const bool decision = node.kind == Kind::decision;
      const double evaluation = g_.evaluation(id)[p];
      if (decision) mean = (mean + evaluation) / (1.0 + weights);
      else mean /= weights;
      over_edges([&](double weight, const Spread& found) { variance += weight * (found.variance + square(found.mean - mean)); });
      if (decision) variance = (variance + square(evaluation - mean)) / (1.0 + weights);
      else variance /= weights;
      spreads_[id * g_.players + p] = {mean, variance};
    }
  }

  const Graph& g_;
  const Config& config_;
  std::vector<Spread> spreads_;
};

}  // namespace anabranch
