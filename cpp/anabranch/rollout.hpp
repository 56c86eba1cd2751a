// What evaluators that need no Python compute of one state: hashes and random rollouts. Same as src/anabranch/evaluate/native.py.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "anabranch/position.hpp"
#include "anabranch/random.hpp"
#include "anabranch/states.hpp"

namespace anabranch {

// A whole rollout in one call, compiled from the game's own verbs (src/anabranch/game/native/rollout.py) or, for games of
// Python objects, cpp/bindings/object_rules.hpp: plays from `state` to the end or `max_depth`, adds discounted rewards to
// `totals` and may change the state; `greedy` and `own` as in NativeEvaluator. The other pointers are scratch memory of the
// sizes the rules declare. A status or a result other than 0 means that a verb failed, and that verbs called one by one will
// show which; else it throws a Failure.
using RolloutFunction = Status (*)(std::int64_t* result, void** error, const void* self, void* state, std::uint64_t* random,
                                   std::int32_t max_depth, std::int32_t greedy, std::int32_t own, double discount, std::int32_t* ids, std::int32_t* joint,
                                   std::int32_t* outcomes, double* chances, double* rewards, double* totals, void* spare);

struct NativeEvaluator {
  enum class Kind : std::uint8_t { none, uniform, hashing, rollout, heuristic };

  Kind kind = Kind::none;  // none: somebody else evaluates
  double value = 0.0;      // uniform
  std::uint64_t seed = 0;  // hashing
  std::int32_t count = 1, max_depth = 10000;  // rollout
  std::int32_t greedy = 0;                    // plies in which a move that wins at once is taken
  bool own = false;                           // whether the game's own `rollout_action` chooses, where it has one
  RolloutFunction rollout = nullptr;          // without it verbs are called one by one
};

// Scratch memory of compiled rollouts.
struct RolloutBuffers {
  explicit RolloutBuffers(const Rules& rules)
      : state(rules.state_size / 8 + 1), spare(rules.state_size / 8 + 1), ids(size(rules.actions)), joint(size(rules.players)), outcomes(size(rules.outcomes)), chances(size(rules.outcomes)), rewards(size(rules.players)) {}

  std::vector<std::uint64_t> state, spare;
  std::vector<std::int32_t> ids, joint, outcomes;
  std::vector<double> chances, rewards;

 private:
  static std::size_t size(std::int32_t count) { return count > 0 ? static_cast<std::size_t>(count) : 1; }
};

// One compiled rollout from a state, added to `totals`; false if something failed.
inline bool play_compiled(const NativeEvaluator& evaluator, const Rules& rules, double discount, const std::byte* start, std::uint64_t random,
                          RolloutBuffers& b, double* totals) {
  copy_record(reinterpret_cast<std::byte*>(b.state.data()), start, rules.state_size);
  std::int64_t result = 0;
  void* error = nullptr;
  return evaluator.rollout(&result, &error, rules.instance, b.state.data(), &random, evaluator.max_depth, evaluator.greedy, evaluator.own, discount,
                           b.ids.data(), b.joint.data(), b.outcomes.data(), b.chances.data(), b.rewards.data(), totals, b.spare.data()) == 0 &&
         result == 0 && finite(totals, rules.players);
}

// Logits in [−2, 2) per player and action, values within the returns, from the node's key alone.
inline void evaluate_by_hash(const NativeEvaluator& evaluator, std::uint64_t key, std::size_t players, std::size_t actions,
                         double low, double high, double* logits, double* values) {
  for (std::size_t p = 0; p < players; ++p) {
    const std::uint64_t word = fold(fold(evaluator.seed, key), p);
    values[p] = low + (high - low) * unit(word);
    for (std::size_t a = 0; a < actions; ++a) logits[p * actions + a] = 4.0 * unit(fold(word, a)) - 2.0;
  }
}

// The first choice with which a player who acts alone ends the game and is paid; kIdle if there is none.
inline std::int32_t winning_choice(Position& position, const Rules& rules, std::int32_t player) {
  position.read_choices(player);
  const std::vector<std::int32_t> choices = position.choices;
  const std::vector<std::byte> start(position.state(), position.state() + rules.state_size);
  std::int32_t winning = kIdle;
  for (std::size_t i = 0; i < choices.size() && winning == kIdle; ++i) {
    std::fill(position.actions.begin(), position.actions.end(), kIdle);
    position.actions[static_cast<std::size_t>(player)] = choices[i];
    position.step();
    if (position.rewards[static_cast<std::size_t>(player)] > 0.0f && position.turn() == kOver) winning = choices[i];
    position.set(start.data());
  }
  return winning;
}

// What a player does in a rollout: what wins at once if it is `greedy`, else what the game's own policy says, else anything.
inline std::int32_t rollout_choice(Position& position, const Rules& rules, std::int32_t player, bool greedy, bool own, Random& random) {
  if (greedy) {
    const std::int32_t winning = winning_choice(position, rules, player);
    if (winning != kIdle) return winning;
  }
  position.read_choices(player);
  if (own && rules.rollout_action) return position.rollout_action(player, random);
  return position.choices[static_cast<std::size_t>(random.below(static_cast<std::int32_t>(position.choices.size())))];
}

// Play on at random and add the discounted rewards to `totals`; chance steps are not discounted.
inline void rollout(Position& position, const Rules& rules, const NativeEvaluator& how, Random random, double discount,
                    double* totals) {
  std::vector<std::int32_t> chosen;
  double weight = 1.0;
  for (std::int32_t depth = 0; depth < how.max_depth; ++depth) {
    const std::int64_t turn = position.turn();
    if (turn == kOver) return;
    if (turn == kChance) {
      position.step_outcome(position.draw(random));
    } else {
      const bool greedy = depth < how.greedy && (turn & (turn - 1)) == 0;  // one player acts alone
      chosen.assign(position.actions.size(), kIdle);
      for (std::int32_t p = 0; p < rules.players; ++p)
        if (turn >> p & 1) chosen[static_cast<std::size_t>(p)] = rollout_choice(position, rules, p, greedy, how.own, random);
      position.actions = chosen;
      position.step();
    }
    for (std::size_t p = 0; p < position.rewards.size(); ++p) totals[p] += weight * static_cast<double>(position.rewards[p]);
    if (turn != kChance) weight *= discount;
  }
}

}  // namespace anabranch
