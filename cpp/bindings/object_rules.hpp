// Object games as the engine sees them: records are numbers of state objects, verbs are calls of the game's methods.
//
// What a state's turn and legal ids are is remembered for states met lately, since selection asks again and again about the
// same ones. A random rollout is one call: its states are passed on from step to step and never get numbers.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "anabranch/failure.hpp"
#include "anabranch/random.hpp"
#include "object_states.hpp"
#include "object_verbs.hpp"
#include "python_rules.hpp"

class ObjectRules : public PythonRules {
 public:
  ObjectRules(const nb::object& game, const nb::object& checked, std::int32_t players, std::int32_t actions, std::int32_t outcomes,
              bool has_chance, bool has_draw, bool has_same, bool has_bounds, bool has_key, bool has_playout) {
    describe<ObjectRules>(sizeof(std::uint64_t), players, actions, outcomes, {has_chance, has_draw, has_same, has_bounds});
    verbs_.emplace(game, checked, rules, has_key, has_playout);
    most_known_ = std::bit_floor(std::clamp<std::size_t>(kKnownIds / static_cast<std::size_t>(actions), 16, 4096));
  }

  void write(const nb::object& state, std::byte* record) override { store(record, state); }
  nb::object read(const std::byte* record) const override { return states_.state(number_of(record)); }
  bool of_objects() const override { return true; }

  // States whose numbers no record of the search holds are let go of, once there are more of them than of the others.
  void tidy(Search& search) override {
    if (states_.size() < kFew || states_.size() < 2 * search.records()) return;
    try {
      std::vector<char> marked(states_.numbers(), 0);
      search.each_record([&](const std::byte* record) { marked[number_of(record)] = 1; });
      states_.keep(marked);
    } catch (const std::bad_alloc&) {
      return;  // another time
    }
  }
  std::size_t held() const { return states_.size(); }

  int traverse(visitproc visit, void* arg) const override {
    if (verbs_)
      if (const int stopped = verbs_->traverse(visit, arg)) return stopped;
    if (const int stopped = states_.traverse(visit, arg)) return stopped;
    return PythonRules::traverse(visit, arg);
  }
  void clear() override {
    if (verbs_) verbs_->clear();
    states_.clear();
    PythonRules::clear();
  }

  // A whole rollout, as RolloutFunction says. What Python raises, and what only the rules can break, is thrown as a Failure:
  // unlike compiled code it must not be called again to find out where.
  static Status rollout(std::int64_t* result, void**, const void* self, void* state, std::uint64_t* random, std::int32_t max_depth,
                        std::int32_t greedy, std::int32_t own, double discount, std::int32_t* ids, std::int32_t* joint,
                        std::int32_t* outcomes, double* chances, double* rewards, double* totals, void* /*spare*/) {
    ObjectRules& r = me(self);
    Failure failure;
    failure.verb = "rollout";
    failure.state.assign(static_cast<std::byte*>(state), static_cast<std::byte*>(state) + r.rules.state_size);
    bool sound = false;
    const Status status = r.guarded([&] {
      Random numbers{*random};
      sound = r.verbs_->playout(r.object(state), &numbers.word, max_depth, totals) ||
              r.play_on(number_of(state), numbers, {max_depth, greedy, own != 0, discount}, {ids, joint, outcomes, chances, rewards}, totals, failure);
    });
    if (status != 0 || !sound) throw failure;
    *result = 0;
    return 0;
  }

 private:
  friend PythonRules;
  static constexpr std::int64_t kUnknown = -2;

  // What is known of a state.
  struct Known {
    std::uint64_t number = UINT64_MAX;
    std::int64_t turn = kUnknown;
    std::int32_t player = -1;  // whose ids they are
    std::vector<std::int32_t> ids;

    void forget() {
      turn = kUnknown;
      player = -1;
    }
  };
  static constexpr std::size_t kKnownIds = 1 << 20;  // ids remembered at the most
  static constexpr std::size_t kFew = 64;            // states that are not worth looking through

  // Scratch memory of a rollout.
  struct Scratch {
    std::int32_t *ids, *joint, *outcomes;
    double *chances, *rewards;
  };

  // How a rollout is played.
  struct Manner {
    std::int32_t max_depth, greedy;
    bool own;
    double discount;
  };

  static ObjectRules& me(const void* self) { return *const_cast<ObjectRules*>(static_cast<const ObjectRules*>(self)); }

  static std::uint64_t number_of(const void* record) {
    std::uint64_t number;
    std::memcpy(&number, record, sizeof number);
    return number;
  }
  const nb::object& object(const void* record) const { return states_.state(number_of(record)); }

  void store(void* record, const nb::object& state) {
    const auto [number, fresh] = states_.number(verbs_->key(state), state);
    if (fresh) known_of(number).forget();  // what was known of another state that had its number
    std::memcpy(record, &number, sizeof number);
  }

  // What is known of a state; of one met before whose number ends like its, that is forgotten.
  Known& known_of(std::uint64_t number) {
    if (number >= known_.size() && known_.size() < most_known_)
      known_.resize(std::min(most_known_, std::bit_ceil(static_cast<std::size_t>(number) + 16)));
    Known& known = known_[number & (known_.size() - 1)];
    if (known.number != number) {
      known.number = number;
      known.forget();
    }
    return known;
  }

  std::int64_t turn_of(std::uint64_t number) {
    if (const Known& known = known_of(number); known.turn != kUnknown) return known.turn;
    const std::int64_t turn = verbs_->turn(states_.state(number));
    return known_of(number).turn = turn;
  }

  std::int64_t legal_of(std::uint64_t number, std::int32_t player, std::int32_t* ids) {
    if (const Known& known = known_of(number); known.player == player) {
      std::copy(known.ids.begin(), known.ids.end(), ids);
      return static_cast<std::int64_t>(known.ids.size());
    }
    const std::int64_t count = verbs_->legal(states_.state(number), player, ids);
    Known& known = known_of(number);
    known.player = -1;
    known.ids.assign(ids, ids + count);
    known.player = player;
    return count;
  }

  // Play on at random: the same as `rollout` in cpp/anabranch/rollout.hpp. False, with the verb in `failure`, where there is
  // nothing to choose or to draw from.
  bool play_on(std::uint64_t start, Random random, const Manner& how, const Scratch& s, double* totals, Failure& failure) {
    nb::object state = states_.state(start);
    double weight = 1.0;
    for (std::int32_t depth = 0; depth < how.max_depth; ++depth) {
      const std::int64_t turn = depth == 0 ? turn_of(start) : verbs_->turn(state);
      if (turn == kOver) break;
      std::fill_n(s.joint, rules.players, kIdle);
      if (turn == kChance) {
        if (!rules.draw && !rules.chance) return broken("chance", state, failure);
        s.joint[0] = drawn(state, random, s);
      } else {
        for (std::int32_t p = 0; p < rules.players; ++p) {
          if (!(turn >> p & 1)) continue;
          const std::int64_t count = depth == 0 ? legal_of(start, p, s.ids) : verbs_->legal(state, p, s.ids);
          const std::int64_t choices = rules.same ? standing(state, p, s.ids, count) : count;
          if (choices == 0) {
            failure.player = p;
            failure.action = count == 0 ? 0 : s.ids[0];
            return broken(count == 0 ? "legal" : "same", state, failure);
          }
          const bool wins = depth < how.greedy && (turn & (turn - 1)) == 0 && win(state, p, choices, s);
          if (wins) continue;
          if (how.own) {
            const std::uint64_t before = random.word;
            const std::int64_t action = verbs_->rollout_action(state, p, &random.word);
            if (std::find(s.ids, s.ids + choices, action) == s.ids + choices) {
              failure.player = p;
              failure.random = before;
              return broken("rollout_action", state, failure);
            }
            s.joint[p] = static_cast<std::int32_t>(action);
          } else {
            s.joint[p] = s.ids[random.below(static_cast<std::int32_t>(choices))];
          }
        }
      }
      state = verbs_->step(state, s.joint, s.rewards);
      for (std::int32_t p = 0; p < rules.players; ++p) totals[p] += weight * static_cast<double>(static_cast<float>(s.rewards[p]));
      if (turn != kChance) weight *= how.discount;
    }
    return true;
  }

  // Let a player who acts alone take the first choice that ends the game and pays; false, with nobody acting, if there is none.
  bool win(const nb::object& state, std::int32_t player, std::int64_t choices, const Scratch& s) {
    for (std::int64_t i = 0; i < choices; ++i) {
      s.joint[player] = s.ids[i];
      const nb::object next = verbs_->step(state, s.joint, s.rewards);
      if (static_cast<float>(s.rewards[player]) > 0.0f && verbs_->turn(next) == kOver) return true;
    }
    s.joint[player] = kIdle;
    return false;
  }

  bool broken(const char* verb, const nb::object& state, Failure& failure) {
    failure.verb = verb;
    store(failure.state.data(), state);
    return false;
  }

  // Leave only ids that stand for themselves; how many there are.
  std::int64_t standing(const nb::object& state, std::int32_t player, std::int32_t* ids, std::int64_t count) {
    std::int64_t kept = 0;
    for (std::int64_t i = 0; i < count; ++i)
      if (verbs_->same(state, player, ids[i]) == ids[i]) ids[kept++] = ids[i];
    return kept;
  }

  std::int32_t drawn(const nb::object& state, Random& random, const Scratch& s) {
    if (rules.draw) return static_cast<std::int32_t>(verbs_->draw(state, &random.word));
    const std::int64_t count = verbs_->chance(state, s.outcomes, s.chances);
    const double threshold = random.uniform();
    double total = 0.0;
    for (std::int64_t i = 0; i < count; ++i) {
      total += s.chances[i];
      if (total > threshold) return s.outcomes[i];
    }
    return s.outcomes[count - 1];
  }

  static Status turn(std::int64_t* result, void**, const void* self, void* state) {
    ObjectRules& r = me(self);
    return r.guarded([&] { *result = r.turn_of(number_of(state)); });
  }
  static Status legal(std::int64_t* result, void**, const void* self, void* state, std::int32_t player, std::int32_t* actions) {
    ObjectRules& r = me(self);
    return r.guarded([&] { *result = r.legal_of(number_of(state), player, actions); });
  }
  static Status step(std::int64_t*, void**, const void* self, void* state, const std::int32_t* actions, double* rewards) {
    ObjectRules& r = me(self);
    return r.guarded([&] { r.store(state, r.verbs_->step(r.object(state), actions, rewards)); });
  }
  static Status chance(std::int64_t* result, void**, const void* self, void* state, std::int32_t* outcomes, double* chances) {
    ObjectRules& r = me(self);
    return r.guarded([&] { *result = r.verbs_->chance(r.object(state), outcomes, chances); });
  }
  static Status draw(std::int64_t* result, void**, const void* self, void* state, std::uint64_t* random) {
    ObjectRules& r = me(self);
    return r.guarded([&] { *result = r.verbs_->draw(r.object(state), random); });
  }
  static Status same(std::int64_t* result, void**, const void* self, void* state, std::int32_t player, std::int32_t action) {
    ObjectRules& r = me(self);
    return r.guarded([&] { *result = r.verbs_->same(r.object(state), player, action); });
  }
  static Status bounds(std::int64_t*, void**, const void* self, void* state, double* low, double* high) {
    ObjectRules& r = me(self);
    return r.guarded([&] { r.verbs_->bounds(r.object(state), low, high); });
  }

  std::optional<ObjectVerbs> verbs_;
  ObjectStates states_;
  std::vector<Known> known_;
  std::size_t most_known_ = 0;
};
