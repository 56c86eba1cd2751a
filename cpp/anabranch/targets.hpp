// Policies to learn from: a root's visits less those that were only forced (Wu 2019, section 3.2). The same numbers as
// src/anabranch/search/results/move_rules.py and maths/policies.py, operation by operation.
//
// With S = ΣN and the most visited choice a* held as they are, every other choice keeps the fewest visits n(a) with
//
//   n(a) ≥ N(a) − ⌈√(k·P(a)·S)⌉      and      x(a) + c·P(a)·√(S + ε) / (1 + n(a)) < score(a*)
//
// or all of them where its score reaches that of a* anyway; those reduced to a single visit lose it too.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "anabranch/report.hpp"

namespace anabranch {

// x(a) of a player's choices at the root, scaled as PUCT sees them, those never visited at their first-play value.
inline std::vector<double> scaled_values(const Search& search, const SelectorConfig& selector, std::size_t player, const std::vector<double>& visits,
                                         const std::vector<double>& q, const std::vector<double>& prior) {
  const Graph& g = search.graph();
  const double parent = g.mean(0)[player];
  Scaling scaled = fixed_scale(selector, search.config(), g, 0, player);
  if (selector.scale == Scale::node) {
    double low = parent, high = parent;
    for (std::size_t a = 0; a < visits.size(); ++a) {
      if (visits[a] == 0.0) continue;
      low = q[a] < low ? q[a] : low;
      high = q[a] > high ? q[a] : high;
    }
    scaled = Scaling::to_unit(low, high);
  }
  double tried = 0.0;
  for (std::size_t a = 0; a < visits.size(); ++a)
    if (visits[a] > 0.0) tried += prior[a];
  const double first = first_play(selector, scaled, scaled(parent), std::sqrt(tried)), w0 = selector.w0;
  std::vector<double> values(visits.size());
  for (std::size_t a = 0; a < visits.size(); ++a) {
    const double x = visits[a] > 0.0 ? scaled(q[a]) : 0.0;
    if (w0 == 0.0) values[a] = visits[a] > 0.0 ? x : first;
    else values[a] = (w0 * first + visits[a] * x) / (w0 + visits[a]);
  }
  return values;
}

inline std::vector<double> pruned_visits(const std::vector<double>& visits, const std::vector<double>& values, const std::vector<double>& prior,
                                         double factor, double k) {
  double total = 0.0;
  std::size_t best = 0;
  for (std::size_t a = 0; a < visits.size(); ++a) {
    total += visits[a];
    if (visits[a] > visits[best]) best = a;
  }
  const double limit = values[best] + factor * prior[best] / (1.0 + visits[best]);
  std::vector<double> kept = visits;
  for (std::size_t a = 0; a < visits.size(); ++a) {
    if (a == best || visits[a] == 0.0) continue;
    const double bonus = factor * prior[a], forced = std::ceil(std::sqrt(k * prior[a] * total));
    double low = visits[a] > forced ? visits[a] - forced : 0.0, high = visits[a];
    while (low < high) {  // the score falls as visits grow, so the fewest are found by halving
      const double middle = std::floor((low + high) / 2.0);
      if (values[a] + bonus / (1.0 + middle) < limit) high = middle;
      else low = middle + 1.0;
    }
    kept[a] = low == 1.0 && visits[a] > 1.0 ? 0.0 : low;
  }
  return kept;
}

// The policy to learn from, P × A: what the tables report where nothing was forced or PUCT did not choose.
inline void tell_target(Search& search, const RootTables& tables, double* target) {
  const Graph& g = search.graph();
  const auto actions = static_cast<std::size_t>(g.rules.actions);
  std::copy_n(tables.policy, g.players * actions, target);
  const Node node = g.nodes[0];
  const double k = search.root_rule().forced;
  if (node.kind != Kind::decision || !search.root_ready() || k == 0.0) return;
  const SelectorConfig& selector = node.acting > 1 ? search.config().simultaneous : search.config().selector;
  if (selector.rule != Rule::puct) return;
  for (std::size_t player = 0; player < g.players; ++player) {
    if (!(g.turn_of(node) >> player & 1)) continue;
    std::vector<std::size_t> ids;
    std::vector<double> visits, q, prior;
    double total = 0.0;
    for (std::size_t at = player * actions; at < (player + 1) * actions; ++at) {
      if (tables.prior[at] == 0.0) continue;  // priors have a floor: this id stands for no choice
      ids.push_back(at);
      visits.push_back(static_cast<double>(tables.visits[at]));
      q.push_back(tables.q[at]);
      prior.push_back(tables.prior[at]);
      total += visits.back();
    }
    if (total == 0.0) continue;
    const std::vector<double> values = scaled_values(search, selector, player, visits, q, prior);
    const std::vector<double> kept = pruned_visits(visits, values, prior, selector.exploration(total), k);
    double all = 0.0;
    for (const double n : kept) all += n;
    for (std::size_t i = 0; i < ids.size(); ++i) target[ids[i]] = kept[i] / all;
  }
}

}  // namespace anabranch
