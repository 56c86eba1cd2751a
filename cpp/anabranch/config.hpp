// The settings of a search as the engine reads them; src/anabranch/search/settings/config.py declares and explains them.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include "anabranch/process_lock.hpp"

namespace anabranch {

enum class Rule : std::uint8_t { puct, ucb1, gumbel, regret_matching, exp3, matrix };
enum class Scale : std::uint8_t { range, node, graph, none };
enum class FirstPlay : std::uint8_t { parent, parent_minus, reduced, constant, lowest };
enum class Weights : std::uint8_t { d, a, b, c };
enum class VirtualLoss : std::uint8_t { loss, visits, off };
enum class Cycles : std::uint8_t { refused, bootstrap, valued };
enum class Proofs : std::uint8_t { off, opposed, free };
enum class Refresh : std::uint8_t { path, parents, ancestors, sweep };

struct SelectorConfig {
  Rule rule = Rule::puct;
  double c_init = 1.25, c_log = 1.0, c_base = 19652.0, c_off = 1.0, epsilon = 1.0;  // PUCT
  double c = 1.4142135623730951;                                                     // UCB1
  std::size_t considered = 16;                                                       // Gumbel
  double c_visit = 50.0, c_scale = 0.1, noise = 1.0;
  double share = 0.2, growth = 0.05;           // rules that learn: of uniform play; of N until a table is solved again
  bool difference = true, by_strategy = true;  // what a player maximises; what a node is worth
  Scale scale = Scale::range;
  FirstPlay first_play = FirstPlay::reduced;
  double first_amount = 0.2;
  double w0 = 0.0;
  Weights weights = Weights::d;
  bool random_ties = false;
  std::shared_ptr<const std::vector<double>> factors;  // c·√(S + ε) for the S that occur most, made by `prepare`

  // PUCT's weight of the prior after S visits: c·√(S + ε), c = c_init + c_log·ln((S + c_off + c_base) / c_base).
  double exploration(double visits) const {
    const double weight = c_init + c_log * std::log((visits + c_off + c_base) / c_base);
    return weight * std::sqrt(visits + epsilon);
  }

  void prepare() {
    static std::shared_ptr<const std::vector<double>> last;  // settings differ rarely, so it is kept for the next search
    static std::array<double, 5> made_for;
    const std::array<double, 5> wanted{c_init, c_log, c_base, c_off, epsilon};
    const std::lock_guard<std::mutex> guard(ProcessLock::mutex());
    if (!last || made_for != wanted) {
      auto table = std::make_shared<std::vector<double>>();
      for (int visits = 0; visits < kFactors; ++visits) table->push_back(exploration(visits));
      last = std::move(table);
      made_for = wanted;
    }
    factors = last;
  }

  bool operator==(const SelectorConfig&) const = default;

  // Whether it learns strategies from visits.
  bool learns() const { return rule == Rule::regret_matching || rule == Rule::exp3 || rule == Rule::matrix; }
  // The most players that may choose at once.
  std::uint32_t most_acting() const { return rule == Rule::matrix ? 2 : 64; }

  static constexpr int kFactors = 4096;
};

struct ChanceConfig {
  bool sampled = false;
  bool in_transition = false;  // rolled inside it: equal afterstates share nothing
  std::size_t exact_up_to = 0;
  std::uint32_t draws = 1;
  double widen = 0.0;  // 0: every outcome may have a child
  double widen_power = 0.5;
  std::size_t widen_cap = std::numeric_limits<std::size_t>::max();
  double offset = -1.0;  // below 0: drawn for each node

  bool operator==(const ChanceConfig&) const = default;
};

struct Config {
  SelectorConfig selector, simultaneous;  // where one player acts, and where several do
  ChanceConfig chance;
  bool merge = true;
  VirtualLoss virtual_loss = VirtualLoss::loss;
  std::uint32_t width = 1, depth = 1;  // paths a wave, waves in flight
  bool stop = false;
  double rho = 1.0, leak = 0.0;
  bool best = false;  // a node where one player acts is worth what its best choice is, not the mean of its visits
  Refresh refresh = Refresh::path;  // which nodes are recomputed besides those of the path
  std::uint64_t sweep_every = 0;  // visits of the root between sweeps; 0: the nodes there are, rounded up to a power of two
  Proofs proofs = Proofs::off;
  double proof_low = -1.0, proof_high = 1.0;  // of the remaining return, where the game has no `bounds`
  double also_low = std::numeric_limits<double>::infinity(), also_high = -also_low;  // what `bounds` need not contain
  double proof_width = 0.0, proof_apart = 0.0;  // an interval no wider is a point; choices no further apart may tie
  std::size_t max_nodes = std::numeric_limits<std::uint32_t>::max() - 1;
  std::size_t max_bytes = std::numeric_limits<std::size_t>::max();
  std::uint64_t seed = 0;
  std::uint64_t hash_mask = ~std::uint64_t{0};  // tests force collisions with it; results must not change
  // What the game declares.
  double discount = 1.0;
  double returns_low = -1.0, returns_high = 1.0;
  Cycles cycles = Cycles::refused;
  double repetition = 0.0;
  bool keyed_by_path = false;  // object games, models: a node's key mixes its creator's key and the edge
  bool edge_discounts = false;  // a model says how each step is discounted

  bool operator==(const Config&) const = default;

  // One path at a time, that meets no node twice: nothing is ever in flight.
  bool sequential() const { return width == 1 && depth == 1 && cycles != Cycles::bootstrap; }
  // Which optional columns a graph keeps (columns.hpp).
  bool marks() const { return !sequential(); }
  bool counts_repeats() const { return cycles == Cycles::valued; }
  bool learns() const { return simultaneous.learns(); }
  bool keeps_parents() const { return refresh == Refresh::parents || refresh == Refresh::ancestors; }
  bool keeps_range() const { return selector.scale == Scale::graph || simultaneous.scale == Scale::graph; }
};

}  // namespace anabranch
