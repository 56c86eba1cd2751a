// The plan of a root that Gumbel is in charge of: noise, drawn once per root number, the considered choices, the schedule of one
// run. The same numbers as src/anabranch/search/maths/gumbel.py, operation by operation.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "anabranch/search.hpp"

namespace anabranch {

// The phases of sequential halving (Karnin, Koren and Somekh 2013) over so many choices.
inline void plan_halving(std::uint64_t considered, std::uint64_t simulations, std::vector<HalvingPhase>& phases) {
  if (considered <= 1) {
    phases.push_back({0, 1, 0});
    return;
  }
  std::uint64_t rounds = 0;
  while ((considered - 1) >> rounds) ++rounds;
  for (std::uint64_t start = 0, width = considered, base = 0; start < simulations || phases.empty(); width = std::max<std::uint64_t>(2, width / 2)) {
    phases.push_back({start, width, base});
    const std::uint64_t extra = std::max<std::uint64_t>(1, simulations / (rounds * width));
    start += extra * width;
    base += extra;
  }
}

// g = −ln(−ln u); 2^-54 stands for a uniform number of 0, so that every draw is finite.
inline double gumbel_draw(Random& random) {
  const double u = random.uniform();
  return -std::log(-std::log(u > 0x1p-54 ? u : 0x1p-54));
}

// How often each choice of a root's players was visited, one after the other.
inline std::vector<std::uint32_t> root_choice_visits(Search& search) {
  const Graph& g = search.graph();
  std::vector<std::uint32_t> visits(search.root_priors().size(), 0);
  const Node root = g.nodes[0];
  const Table* const table = root.acting > 1 ? &g.table_of(root) : nullptr;
  for (std::size_t i = 0; i < root.acting; ++i)
    for (const EdgeId e : EdgeIds(root)) visits[table ? table->starts[i] + table->choice(g.edges[e].move, i) : g.edges[e].move] += g.edges[e].visits;
  return visits;
}

// Plan a run of so many simulations that begins, or began, where choices had `before` visits.
inline void plan_gumbel_run(Search& search, const SelectorConfig& selector, std::uint64_t simulations, const std::vector<std::uint32_t>& before) {
  const Graph& g = search.graph();
  const std::span<const float> priors = search.root_priors();
  const Node root = g.nodes[0];
  RootRule& rule = search.unused_root_rule();
  rule.gumbel.assign(search.root_rule().gumbel.begin(), search.root_rule().gumbel.end());
  const Table* const table = root.acting > 1 ? &g.table_of(root) : nullptr;
  if (rule.gumbel.empty()) {
    for (std::size_t i = 0; i < root.acting; ++i) {
      Random random{search.draws().key(Purpose::gumbel, table ? table->players[i] : root.mover, g.key[0], 0)};
      for (std::size_t a = table ? table->sizes[i] : priors.size(); a > 0; --a) rule.gumbel.push_back(gumbel_draw(random));
    }
  }
  if (rule.gumbel.size() != priors.size()) throw std::domain_error("as many numbers of Gumbel noise as the root's players have choices");
  GumbelPlan& plan = rule.plan;
  plan.simulations = simulations;
  plan.before = before;
  plan.considered.assign(priors.size(), 0);
  for (std::size_t a = 0; a < priors.size(); ++a)
    plan.scores.push_back(selector.noise * rule.gumbel[a] + std::log(static_cast<double>(priors[a])));
  plan.listed.resize(root.acting);
  plan.phases.resize(root.acting);
  for (std::size_t i = 0; i < root.acting; ++i) {
    const std::size_t start = table ? table->starts[i] : 0, size = table ? table->sizes[i] : priors.size();
    const std::size_t most = std::min(selector.considered, size);
    std::vector<std::uint32_t>& listed = plan.listed[i];
    listed.resize(size);
    std::iota(listed.begin(), listed.end(), 0u);
    if (most < size) {
      const double* const scores = &plan.scores[start];
      const auto last = listed.begin() + static_cast<std::ptrdiff_t>(most);
      std::partial_sort(listed.begin(), last, listed.end(),
                        [scores](std::uint32_t a, std::uint32_t b) { return scores[a] > scores[b] || (scores[a] == scores[b] && a < b); });
      listed.resize(most);
      std::sort(listed.begin(), listed.end());
    }
    for (const std::uint32_t a : listed) plan.considered[start + a] = 1;
    plan.begun.push_back(0.0);
    for (std::size_t a = 0; a < size; ++a) plan.begun.back() += plan.before[start + a];
    plan_halving(most, simulations, plan.phases[i]);
  }
  for (std::size_t a = 0; a < priors.size(); ++a) plan.since.push_back(plan.before[a] + (plan.considered[a] ? 0u : 1u << 31));
  search.use_root_rule();
}

// Plan a run until the root has `goal` visits; one without a simulation leaves the plan before it.
inline void set_gumbel_plan(Search& search, const SelectorConfig& selector, std::uint64_t goal) {
  const std::uint64_t now = search.root_visits(), simulations = goal > now ? goal - now : 0;
  if (simulations > 0 || search.root_rule().plan.scores.empty()) plan_gumbel_run(search, selector, simulations, root_choice_visits(search));
}

}  // namespace anabranch
