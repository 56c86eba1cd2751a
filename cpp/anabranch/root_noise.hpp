// Noise on a root's priors: (1 − x)·P + x·Dir(α), drawn once per root number. The same numbers as
// src/anabranch/search/maths/policies.py, operation by operation, for many roots at once.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "anabranch/root_gumbel.hpp"
#include "anabranch/search.hpp"
#include "anabranch/select/prior.hpp"

namespace anabranch {

struct NoiseConfig {
  bool wanted = false;
  double weight = 0.0;  // x
  double alpha = 0.0;   // 0: `total` shared among the choices
  double total = 0.0;
};

// A standard normal number: Marsaglia's polar method (1964), of whose two numbers one is used.
inline double normal(Random& random) {
  for (;;) {
    const double x = 2.0 * random.uniform() - 1.0, y = 2.0 * random.uniform() - 1.0;
    const double square = x * x + y * y;
    if (0.0 < square && square < 1.0) return x * std::sqrt(-2.0 * std::log(square) / square);
  }
}

// The logarithm of a Gamma(α, 1) number: Marsaglia and Tsang 2000. In logarithms, because small α make tiny numbers.
inline double log_gamma_draw(double alpha, Random& random) {
  double boost = 0.0;
  if (alpha < 1.0) {
    boost = std::log(1.0 - random.uniform()) / alpha;
    alpha += 1.0;
  }
  const double d = alpha - 1.0 / 3.0, scale = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double x = normal(random), root = 1.0 + scale * x;
    if (root <= 0.0) continue;
    const double v = root * root * root, logarithm = std::log(v);
    if (std::log(1.0 - random.uniform()) < 0.5 * x * x + d * (1.0 - v + logarithm)) return std::log(d) + logarithm + boost;
  }
}

// One acting player's prior with noise, as nodes store priors.
inline void add_noise(const NoiseConfig& noise, Random random, float* prior, std::size_t size) {
  const double alpha = noise.alpha > 0.0 ? noise.alpha : noise.total / static_cast<double>(size);
  if (!(alpha >= 1e-9 && alpha <= 1e12)) throw std::domain_error("alpha must be in [1e-09, 1e+12], found " + std::to_string(alpha));
  std::vector<double> mixed(size);
  for (double& draw : mixed) draw = log_gamma_draw(alpha, random);
  double top = mixed[0], total = 0.0;
  for (const double draw : mixed) top = draw > top ? draw : top;
  for (double& draw : mixed) total += draw = std::exp(draw - top);
  for (std::size_t a = 0; a < size; ++a) mixed[a] = (1.0 - noise.weight) * static_cast<double>(prior[a]) + noise.weight * (mixed[a] / total);
  store_prior(mixed.data(), size, prior);
}

// Let a rule hold at a root: noise, unless some was drawn before, which stays, and forced visits; where Gumbel is in charge, its
// plan for a run until the root has `goal` visits.
inline void set_root_rule(Search& search, const NoiseConfig& noise, double forced, std::uint64_t goal) {
  const Graph& g = search.graph();
  const Node root = g.nodes[0];
  if (root.kind != Kind::decision || !search.root_ready()) return;
  const SelectorConfig& in_charge = root.acting > 1 ? search.config().simultaneous : search.config().selector;
  if (in_charge.rule == Rule::gumbel) {
    set_gumbel_plan(search, in_charge, goal);
    return;
  }
  RootRule& rule = search.unused_root_rule();
  rule.forced = forced;
  if (!search.root_rule().priors.empty()) {
    rule.priors = search.root_rule().priors;
  } else if (noise.wanted) {
    const std::span<const float> priors = search.root_priors();
    rule.priors.assign(priors.begin(), priors.end());
    for (std::size_t i = 0; i < root.acting; ++i) {
      const Table* table = root.acting > 1 ? &g.table_of(root) : nullptr;
      const std::size_t player = table ? table->players[i] : root.mover, start = table ? table->starts[i] : 0;
      const std::size_t size = table ? table->sizes[i] : rule.priors.size();
      add_noise(noise, Random{search.draws().key(Purpose::noise, player, g.key[0], 0)}, &rule.priors[start], size);
    }
  }
  search.use_root_rule();
}

}  // namespace anabranch
