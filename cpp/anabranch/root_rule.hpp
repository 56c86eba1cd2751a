// What only a root does: priors of its own (noise), visits that are forced, the plan of a Gumbel search. Made in Python by pure
// functions (src/anabranch/search/maths/root_rule.py) or natively by the same numbers, consulted where the node chosen at is the
// root, gone when the root moves on.
#pragma once

#include <cstdint>
#include <vector>

namespace anabranch {

// A stretch of the schedule of sequential halving: from simulation `start` on, `width` choices with `base` visits each are visited.
struct HalvingPhase {
  std::uint64_t start, width, base;
};

// What acting players do in one run: columns over the choices of all of them one after the other.
struct GumbelPlan {
  std::vector<double> scores;                     // g + ln P; empty: no run was begun
  std::vector<std::uint8_t> considered;
  std::vector<std::uint32_t> before;              // N₀, the visits when the run began
  std::vector<std::uint32_t> since;               // the same where a choice is considered; elsewhere 2^31 more, so that N − it is no count
  std::vector<std::vector<std::uint32_t>> listed;  // the considered choices of each acting player, ascending
  std::vector<double> begun;                      // Σ N₀ of each
  std::uint64_t simulations = 0;                  // that were planned
  std::vector<std::vector<HalvingPhase>> phases;  // of each acting player

  // Forget everything and keep the memory.
  void clear() {
    scores.clear();
    considered.clear();
    before.clear();
    since.clear();
    begun.clear();
    for (auto& each : listed) each.clear();
    for (auto& each : phases) each.clear();
  }

  // The visits that the choice taken by simulation t has before it.
  std::uint64_t scheduled(std::size_t player, std::uint64_t t) const {
    const std::vector<HalvingPhase>& all = phases[player];
    std::size_t at = all.size() - 1;
    while (all[at].start > t) --at;
    return all[at].base + (t - all[at].start) / all[at].width;
  }
};

struct RootRule {
  std::vector<float> priors;   // of all acting players one after the other; empty: those of the node
  double forced = 0.0;         // every choice tried once gets at least √(k·P·ΣN) visits, with this k; 0: none
  std::vector<double> gumbel;  // noise that choices are sampled by, drawn once per root number; as `priors`
  GumbelPlan plan;             // of the last run

  // Forget everything and keep the memory.
  void clear() {
    priors.clear();
    forced = 0.0;
    gumbel.clear();
    plan.clear();
  }

  bool holds() const { return !priors.empty() || forced > 0.0 || !plan.scores.empty(); }
};

}  // namespace anabranch
