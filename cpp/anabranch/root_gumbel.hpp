// The plan of a root that Gumbel is in charge of: noise, drawn once per root number, the considered choices, the schedule of one
// run. The same numbers as src/anabranch/search/maths/gumbel.py, operation by operation.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "anabranch/search.hpp"

namespace anabranch {

// The phases of sequential halving (Karnin, Koren and Somekh 2013) over so many choices.
inline std::vector<HalvingPhase> halving(std::uint64_t considered, std::uint64_t simulations) {
  if (considered <= 1) return {{0, 1, 0}};
  std::uint64_t rounds = 0;
  while ((considered - 1) >> rounds) ++rounds;
  std::vector<HalvingPhase> phases;
  for (std::uint64_t start = 0, width = considered, base = 0; start < simulations || phases.empty(); width = std::max<std::uint64_t>(2, width / 2)) {
    phases.push_back({start, width, base});
    const std::uint64_t extra = std::max<std::uint64_t>(1, simulations / (rounds * width));
    start += extra * width;
    base += extra;
  }
  return phases;
}

// g = −ln(−ln u); 2^-54 stands for a uniform number of 0, so that every draw is finite.
inline double gumbel_draw(Random& random) {
  const double u = random.uniform();
  return -std::log(-std::log(u > 0x1p-54 ? u : 0x1p-54));
}

// Plan a run until the root has `goal` visits; one without a simulation leaves the plan before it.
inline void set_gumbel_plan(Search& search, const SelectorConfig& selector, std::uint64_t goal) {
  const Graph& g = search.graph();
  const Node root = g.nodes[0];
  const std::uint64_t now = search.root_visits(), simulations = goal > now ? goal - now : 0;
  RootRule rule;
  rule.gumbel = search.root_rule().gumbel;
  const std::vector<float> priors = search.root_priors();
  const Table* const table = root.acting > 1 ? &g.table_of(root) : nullptr;
  if (rule.gumbel.empty()) {
    for (std::size_t i = 0; i < root.acting; ++i) {
      Random random{search.draws().key(Purpose::gumbel, table ? table->players[i] : root.mover, g.key[0], 0)};
      for (std::size_t a = table ? table->sizes[i] : priors.size(); a > 0; --a) rule.gumbel.push_back(gumbel_draw(random));
    }
  }
  if (rule.gumbel.size() != priors.size()) throw std::domain_error("as many numbers of Gumbel noise as the root's players have choices");
  GumbelPlan& plan = rule.plan;
  if (simulations == 0 && !search.root_rule().plan.scores.empty()) return;
  plan.before.assign(priors.size(), 0);
  plan.considered.assign(priors.size(), 0);
  for (std::size_t a = 0; a < priors.size(); ++a)
    plan.scores.push_back(selector.noise * rule.gumbel[a] + std::log(static_cast<double>(priors[a])));
  for (std::size_t i = 0; i < root.acting; ++i) {
    const std::size_t start = table ? table->starts[i] : 0, size = table ? table->sizes[i] : priors.size();
    const std::size_t most = std::min(selector.considered, size);
    std::vector<std::size_t> order(size);
    std::iota(order.begin(), order.end(), start);
    const auto last = order.begin() + static_cast<std::ptrdiff_t>(most);
    std::partial_sort(order.begin(), last, order.end(),
                      [&](std::size_t a, std::size_t b) { return plan.scores[a] > plan.scores[b] || (plan.scores[a] == plan.scores[b] && a < b); });
    std::sort(order.begin(), last);
    plan.listed.emplace_back();
    for (auto at = order.begin(); at != last; ++at) {
      plan.considered[*at] = 1;
      plan.listed.back().push_back(static_cast<std::uint32_t>(*at - start));
    }
    for (const EdgeId e : EdgeIds(root)) plan.before[start + (table ? table->choice(g.edges[e].move, i) : g.edges[e].move)] += g.edges[e].visits;
    plan.begun.push_back(0.0);
    for (std::size_t a = 0; a < size; ++a) plan.begun.back() += plan.before[start + a];
    plan.phases.push_back(halving(most, simulations));
  }
  search.set_root_rule(std::move(rule));
}

}  // namespace anabranch
