// What evaluators that need no Python compute of one state: hashes and random rollouts. Same as src/anabranch/evaluate/native.py.
#pragma once

#include <cstdint>
#include <vector>

#include "anabranch/position.hpp"
#include "anabranch/random.hpp"

namespace anabranch {

// A whole rollout in one compiled call, generated from the game's own verbs (src/anabranch/game/native/rollout.py): plays
// from `state` to the end or `max_depth`, adds discounted rewards to `totals` and changes the state. The other pointers are
// scratch memory of the sizes the rules declare. A status or a result other than 0 means that a verb failed.
using RolloutFunction = Status (*)(std::int64_t* result, void** error, const void* self, void* state, std::uint64_t* random,
                                   std::int32_t max_depth, double discount, std::int32_t* ids, std::int32_t* joint,
                                   std::int32_t* outcomes, double* chances, double* rewards, double* totals);

struct NativeEvaluator {
  enum class Kind : std::uint8_t { none, uniform, hashing, rollout };

  Kind kind = Kind::none;  // none: somebody else evaluates
  double value = 0.0;      // uniform
  std::uint64_t seed = 0;  // hashing
  std::int32_t count = 1, max_depth = 10000;  // rollout
  RolloutFunction rollout = nullptr;          // without it verbs are called one by one
};

// Scratch memory of compiled rollouts.
struct RolloutBuffers {
  explicit RolloutBuffers(const Rules& rules)
      : state(rules.state_size / 8 + 1), ids(size(rules.actions)), joint(size(rules.players)), outcomes(size(rules.outcomes)), chances(size(rules.outcomes)), rewards(size(rules.players)) {}

  std::vector<std::uint64_t> state;
  std::vector<std::int32_t> ids, joint, outcomes;
  std::vector<double> chances, rewards;

 private:
  static std::size_t size(std::int32_t count) { return count > 0 ? static_cast<std::size_t>(count) : 1; }
};

// Logits in [−2, 2) per player and action, values within the returns, from the node's key alone.
inline void evaluate_by_hash(const NativeEvaluator& evaluator, std::uint64_t key, std::size_t players, std::size_t actions,
                         double low, double high, double* logits, double* values) {
  for (std::size_t p = 0; p < players; ++p) {
    const std::uint64_t word = fold(fold(evaluator.seed, key), p);
    values[p] = low + (high - low) * unit(word);
    for (std::size_t a = 0; a < actions; ++a) logits[p * actions + a] = 4.0 * unit(fold(word, a)) - 2.0;
  }
}

// Play on at random, uniformly over choices, and add the discounted rewards to `totals`; chance steps are not discounted.
inline void rollout(Position& position, const Rules& rules, Random random, std::int32_t max_depth, double discount,
                    double* totals) {
  double weight = 1.0;
  for (std::int32_t depth = 0; depth < max_depth; ++depth) {
    const std::int64_t turn = position.turn();
    if (turn == kOver) return;
    if (turn == kChance) {
      position.step_outcome(position.draw(random));
    } else {
      for (std::int32_t p = 0; p < rules.players; ++p) {
        std::int32_t chosen = kIdle;
        if (turn >> p & 1) {
          position.read_choices(p);
          chosen = position.choices[static_cast<std::size_t>(random.below(static_cast<std::int32_t>(position.choices.size())))];
        }
        position.actions[static_cast<std::size_t>(p)] = chosen;
      }
      position.step();
    }
    for (std::size_t p = 0; p < position.rewards.size(); ++p) totals[p] += weight * static_cast<double>(position.rewards[p]);
    if (turn != kChance) weight *= discount;
  }
}

}  // namespace anabranch
