// One state in hand: the verbs of a game called on it, with their answers checked.
//
// A thread has one Position, which all searches it works on share; a search whose verbs run Python has one of its own, since
// Python may search in turn. A verb that raises or answers nonsense ends in a Failure that holds
// the untouched record. Verbs other than `step` get a copy where the game could not be trusted to leave the state alone;
// `check` finds such games, so here the record is simply loaded anew for every node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "anabranch/failure.hpp"
#include "anabranch/random.hpp"
#include "anabranch/rules.hpp"

namespace anabranch {

class Position {
 public:
  Position() = default;
  Position(const Position&) = delete;
  Position& operator=(const Position&) = delete;

  // Hold states of a game from now on. Whoever begins to work on a search calls this.
  void use(const Rules& rules) {
    rules_ = &rules;
    const Sizes wanted{rules.state_size, rules.key_size, rules.players, rules.actions, rules.outcomes};
    if (wanted == sizes_) [[likely]] return;  // many roots abreast take turns
    sizes_ = Sizes();
    const auto size = [](std::int32_t count) { return static_cast<std::size_t>(count); };
    if (words_.size() < rules.state_size / 8 + 1) words_.resize(rules.state_size / 8 + 1);
    if (before_.size() < rules.state_size) before_.resize(rules.state_size);
    if (key_.size() != (rules.key_size + 7) / 8 + 1) key_.resize((rules.key_size + 7) / 8 + 1);
    if (ids_.size() < size(rules.actions)) ids_.resize(size(rules.actions));
    if (outcomes_.size() < size(rules.outcomes)) {
      chances_.resize(size(rules.outcomes));
      outcomes_.resize(size(rules.outcomes));  // last, as it says that both are large enough
    }
    if (actions.size() != size(rules.players)) {
      rewards.resize(size(rules.players));
      rewards_double_.resize(size(rules.players));
      actions.assign(size(rules.players), kIdle);
    }
    sizes_ = wanted;
  }

  // The one of this thread.
  static Position& here() {
    thread_local Position position;
    return position;
  }

  std::byte* state() { return reinterpret_cast<std::byte*>(words_.data()); }
  void set(const std::byte* record) { std::memcpy(state(), record, rules_->state_size); }

  std::int64_t turn() {
    std::int64_t turn = 0;
    if (!call(rules_->turn, turn, *rules_, state()) || !valid_turn(*rules_, turn)) fail("turn");
    return turn;
  }

  // Read a player's choices into `choices` (ids that stand for a choice, ascending) and `legal` / `group`.
  void read_choices(std::int32_t player) {
    const std::size_t count = read_legal(player);
    legal.assign(ids_.begin(), ids_.begin() + static_cast<std::ptrdiff_t>(count));
    group.resize(legal.size());
    if (!rules_->same) {
      choices = legal;
      for (std::size_t i = 0; i < legal.size(); ++i) group[i] = static_cast<std::uint32_t>(i);
      return;
    }
    choices.clear();
    append_choices(player, choices);
    for (std::size_t i = 0; i < legal.size(); ++i) {
      std::int64_t stands = 0;
      if (!call(rules_->same, stands, *rules_, state(), player, legal[i])) fail("same", player, legal[i]);
      std::uint32_t at = 0;
      while (at < choices.size() && choices[at] != stands) ++at;
      if (at == choices.size()) fail("same", player, legal[i]);
      group[i] = at;
    }
  }

  // The ids a player may choose, ascending; how many there are.
  std::size_t list_legal(std::int32_t player) { return read_legal(player); }
  const std::int32_t* listed() const { return ids_.data(); }
  bool has_same() const { return rules_->same != nullptr; }

  // Append the ids that stand for a player's choices, ascending.
  void append_choices(std::int32_t player, std::vector<std::int32_t>& to) {
    const std::size_t count = read_legal(player), before = to.size();
    for (std::size_t i = 0; i < count; ++i) {
      std::int64_t stands = ids_[i];
      if (rules_->same && !call(rules_->same, stands, *rules_, state(), player, ids_[i])) fail("same", player, ids_[i]);
      if (stands == ids_[i]) to.push_back(ids_[i]);
    }
    if (to.size() == before) fail("same", player, ids_[0]);  // every id is the same as another one: a lying game
  }

  // How many choices a player has.
  [[gnu::always_inline]] std::size_t count_choices(std::int32_t player) {
    if (!rules_->same) return read_legal(player);
    standing_.clear();
    append_choices(player, standing_);
    return standing_.size();
  }

  // The id that stands for one of the choices counted last.
  std::int32_t counted(std::uint32_t index) const { return rules_->same ? standing_[index] : ids_[index]; }

  // The id that stands for a player's choice.
  [[gnu::always_inline]] std::int32_t choice(std::int32_t player, std::uint32_t index) {
    if (!rules_->same) {
      std::int64_t count = 0;  // the list was checked when the node was made; a lying game may have changed its mind
      if (!call(rules_->legal, count, *rules_, state(), player, ids_.data()) || index >= count) fail("legal", player);
      return ids_[index];
    }
    standing_.clear();
    append_choices(player, standing_);
    if (index >= standing_.size()) fail("legal", player);
    return standing_[index];
  }

  // Step with `actions`; `rewards` are what it gave, rounded to float32. False if that failed: the state is then spoilt.
  [[gnu::always_inline]] bool try_step() {
    for (double& reward : rewards_double_) reward = 0.0;
    std::int64_t nothing = 0;
    if (!call(rules_->step, nothing, *rules_, state(), static_cast<const std::int32_t*>(actions.data()), rewards_double_.data()) ||
        !valid_rewards(rewards_double_.data(), rules_->players))
      return false;
    for (std::size_t p = 0; p < rewards.size(); ++p) rewards[p] = static_cast<float>(rewards_double_[p]);
    return true;
  }

  // The same, keeping the state before it for the report of a failure.
  void step() {
    std::memcpy(before_.data(), state(), rules_->state_size);
    if (try_step()) return;
    set(before_.data());
    fail("step");
  }

  // What the last step gave, as the game gave it.
  const double* paid() const { return rewards_double_.data(); }

  void set_outcome(std::int32_t outcome) {
    for (std::int32_t& action : actions) action = kIdle;
    actions[0] = outcome;
  }

  void step_outcome(std::int32_t outcome) {
    set_outcome(outcome);
    step();
  }

  std::size_t read_chances() {
    std::int64_t count = 0;
    if (!rules_->chance || !call(rules_->chance, count, *rules_, state(), outcomes_.data(), chances_.data()) ||
        !valid_chances(*rules_, outcomes_.data(), chances_.data(), count))
      fail("chance");
    return static_cast<std::size_t>(count);
  }
  const std::int32_t* outcomes() const { return outcomes_.data(); }
  const double* chances() const { return chances_.data(); }

  // Draw an outcome: by the game's own `draw`, else from its list.
  std::int32_t draw(Random& random) {
    if (rules_->draw) {
      std::int64_t outcome = 0;
      const std::uint64_t before = random.word;
      if (!call(rules_->draw, outcome, *rules_, state(), &random.word) || outcome != static_cast<std::int32_t>(outcome))
        fail("draw", 0, 0, before);
      return static_cast<std::int32_t>(outcome);
    }
    const std::size_t count = read_chances();
    const double threshold = random.uniform();
    double total = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
      total += chances_[i];
      if (total > threshold) return outcomes_[i];
    }
    return outcomes_[count - 1];
  }

  // What the game's own policy lets a player do in a rollout: one of `choices`, which were read before.
  std::int32_t rollout_action(std::int32_t player, Random& random) {
    std::int64_t action = 0;
    const std::uint64_t before = random.word;
    if (!call(rules_->rollout_action, action, *rules_, state(), player, &random.word) ||
        std::find(choices.begin(), choices.end(), action) == choices.end())
      fail("rollout_action", player, 0, before);
    return static_cast<std::int32_t>(action);
  }

  // What decides whether two states are one node: the game's key, else the whole record.
  const std::byte* key() {
    if (!rules_->key) return state();
    std::memset(key_.data(), 0, key_.size() * 8);
    std::int64_t nothing = 0;
    if (!call(rules_->key, nothing, *rules_, state(), static_cast<void*>(key_.data()))) fail("key");
    return reinterpret_cast<const std::byte*>(key_.data());
  }

  void bounds(double* low, double* high) {
    for (std::int32_t p = 0; p < rules_->players; ++p) low[p] = high[p] = 0.0;
    std::int64_t nothing = 0;
    if (!call(rules_->bounds, nothing, *rules_, state(), low, high) || !finite(low, rules_->players) ||
        !finite(high, rules_->players))
      fail("bounds");
  }

  // What the game says the state is worth to each player.
  void heuristic(double* values) {
    for (std::int32_t p = 0; p < rules_->players; ++p) values[p] = 0.0;
    std::int64_t nothing = 0;
    if (!call(rules_->heuristic, nothing, *rules_, state(), values) || !finite(values, rules_->players)) fail("heuristic");
  }

  [[noreturn]] __attribute__((noinline, cold)) void fail(const char* verb, std::int32_t player = 0, std::int32_t action = 0, std::uint64_t random = 0) {
    Failure failure;
    failure.verb = verb;
    failure.state.assign(state(), state() + rules_->state_size);
    failure.actions = actions;
    failure.player = player;
    failure.action = action;
    failure.random = random;
    throw failure;
  }

 private:
  // Fill `ids_` with what a player may choose; how many there are.
  [[gnu::always_inline]] std::size_t read_legal(std::int32_t player) {
    std::int64_t count = 0;
    if (!call(rules_->legal, count, *rules_, state(), player, ids_.data()) ||
        !valid_ids(ids_.data(), count, rules_->actions) || count == 0)
      fail("legal", player);
    return static_cast<std::size_t>(count);
  }

  // What there is room for.
  struct Sizes {
    std::size_t state = 0, key = 0;
    std::int32_t players = -1, actions = 0, outcomes = 0;
    bool operator==(const Sizes&) const = default;
  };

  const Rules* rules_ = nullptr;
  Sizes sizes_;
  std::vector<std::uint64_t> words_;
  std::vector<std::byte> before_;
  std::vector<std::uint64_t> key_;
  std::vector<std::int32_t> ids_, outcomes_, standing_;
  std::vector<double> chances_;

 public:
  std::vector<std::int32_t> actions;  // of the next step, one per player
  std::vector<float> rewards;         // of the last step
  std::vector<std::int32_t> legal, choices;
  std::vector<std::uint32_t> group;  // which choice each legal id belongs to

 private:
  std::vector<double> rewards_double_;
};

}  // namespace anabranch
