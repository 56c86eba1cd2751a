// Evaluate states without Python: uniform, hashing, the game's own heuristic, random rollouts; those of a wave may be shared by a team of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "anabranch/config.hpp"
#include "anabranch/draws.hpp"
#include "anabranch/rollout.hpp"
#include "anabranch/position.hpp"
#include "anabranch/states.hpp"
#include "anabranch/team.hpp"

namespace anabranch {

class Evaluators {
 public:
  Evaluators(const NativeEvaluator& evaluator, const Config& config, const Rules& rules)
      : values(static_cast<std::size_t>(rules.players)),
        evaluator_(evaluator),
        config_(config),
        rules_(rules),
        players_(static_cast<std::size_t>(rules.players)),
        logits_(evaluator.kind == NativeEvaluator::Kind::hashing ? players_ * static_cast<std::size_t>(rules.actions) : 0),
        buffers_(1, RolloutBuffers(rules)) {}

  bool native() const { return evaluator_.kind != NativeEvaluator::Kind::none; }
  bool plays() const { return evaluator_.kind == NativeEvaluator::Kind::rollout; }
  bool needs_state() const { return plays() || evaluator_.kind == NativeEvaluator::Kind::heuristic; }

  // Let a team share rollouts from now on; nullptr: play them alone.
  void set_team(Team* team) {
    team_ = team;
    buffers_.resize(team ? team->members() : 1, RolloutBuffers(rules_));
  }
  bool shares_rollouts(std::size_t leaves) const {
    const std::size_t all = static_cast<std::size_t>(evaluator_.count) * leaves;
    return evaluator_.rollout && !rules_.runs_python && all > 1;
  }

  // Evaluate the state in hand into `values`; its logits, or nullptr where every choice is equally likely.
  const double* evaluate(Position& position, std::uint64_t key, const Draws& draws) {
    switch (evaluator_.kind) {
      case NativeEvaluator::Kind::uniform:
        std::fill(values.begin(), values.end(), evaluator_.value);
        break;
      case NativeEvaluator::Kind::hashing:
        evaluate_by_hash(evaluator_, key, players_, static_cast<std::size_t>(rules_.actions), config_.returns_low, config_.returns_high,
                     logits_.data(), values.data());
        return logits_.data();
      case NativeEvaluator::Kind::rollout:
        roll_out(position, key, draws);
        break;
      case NativeEvaluator::Kind::heuristic:
        position.heuristic(values.data());
        break;
      case NativeEvaluator::Kind::none:
        break;
    }
    return nullptr;
  }

  // Play the rollouts of several states at once, for `finish` to collect one after the other. Each rollout has numbers and a
  // result of its own, so it does not matter who plays it; results are added up in order.
  void play_all(const std::vector<std::byte>& states, const std::vector<std::uint64_t>& keys, const Draws& draws) {
    const std::size_t size = rules_.state_size, count = static_cast<std::size_t>(evaluator_.count), items = keys.size() * count;
    totals_.assign(items * players_, 0.0);
    failed_.assign(items, evaluator_.rollout == nullptr);
    if (!evaluator_.rollout) return;
    const std::uint64_t seed = draws.evaluation();
    const auto play = [&](std::size_t i, std::size_t member) {
      failed_[i] = !play_rollout(states.data() + i / count * size, fold(fold(seed, keys[i / count]), i % count), buffers_[member],
                                 &totals_[i * players_]);
    };
    if (team_ && items > 1) team_->each(items, play);
    else
      for (std::size_t i = 0; i < items; ++i) play(i, 0);
  }

  // The mean of the rollouts of one of those states, which is in hand, into `values`.
  void finish(Position& position, std::size_t index, std::uint64_t key, const Draws& draws) {
    const auto count = static_cast<std::size_t>(evaluator_.count);
    start_.assign(position.state(), position.state() + rules_.state_size);
    std::fill(values.begin(), values.end(), 0.0);
    for (std::size_t i = index * count; i < (index + 1) * count; ++i) {
      if (failed_[i]) {
        // There is no compiled rollout, or something failed on its way: play it verb by verb, which finds where.
        position.set(start_.data());
        std::fill_n(&totals_[i * players_], players_, 0.0);
        rollout(position, rules_, evaluator_, Random{fold(fold(draws.evaluation(), key), i - index * count)}, config_.discount,
                &totals_[i * players_]);
      }
      for (std::size_t p = 0; p < players_; ++p) values[p] += totals_[i * players_ + p];
    }
    for (double& value : values) value /= evaluator_.count;
    position.set(start_.data());
  }

  std::vector<double> values;  // the last evaluation

 private:
  void roll_out(Position& position, std::uint64_t key, const Draws& draws) {
    if (evaluator_.count == 1 && evaluator_.rollout) [[likely]] {
      for (double& value : values) value = 0.0;
      if (play_rollout(position.state(), fold(fold(draws.evaluation(), key), 0), buffers_[0], values.data())) [[likely]] return;
    }
    roll_out_many(position, key, draws);
  }

  __attribute__((noinline)) void roll_out_many(Position& position, std::uint64_t key, const Draws& draws) {
    one_state_.assign(position.state(), position.state() + rules_.state_size);
    one_key_.assign(1, key);
    play_all(one_state_, one_key_, draws);
    finish(position, 0, key, draws);
  }

  bool play_rollout(const std::byte* start, std::uint64_t random, RolloutBuffers& b, double* totals) const {
    return play_compiled(evaluator_, rules_, config_.discount, start, random, b, totals);
  }

  const NativeEvaluator evaluator_;
  const Config& config_;
  const Rules& rules_;
  const std::size_t players_;
  Team* team_ = nullptr;
  std::vector<double> logits_, totals_;
  std::vector<RolloutBuffers> buffers_;  // one for each member of the team
  std::vector<char> failed_;
  std::vector<std::byte> start_, one_state_;
  std::vector<std::uint64_t> one_key_;
};

}  // namespace anabranch
