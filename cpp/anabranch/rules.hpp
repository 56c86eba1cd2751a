// A game as the engine sees it: plain functions over fixed-size records, their sizes, and one instance's record.
//
// Verbs follow one convention, which is that of functions compiled by Numba: the first argument takes the result, the
// second a description of the error (never read here), and the value returned is a status, 0 if all went well and anything
// else if the verb raised. Games written in Python fill the struct with compiled addresses, tests with C++ functions. A verb
// may keep no memory of its calls, so any thread may call it; what it does to `state` besides `step` and `setup` is undone by
// whoever owns the state. `rewards`, `key`, `values` and `planes` are zeroed before the call. Records are aligned to 8 bytes.
//
// The struct owns nothing: whoever filled it keeps the code and the instance alive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace anabranch {

inline constexpr std::int64_t kOver = 0;             // turn: nobody acts any more
inline constexpr std::int64_t kChance = -1;          // turn: the dice act
inline constexpr std::int32_t kIdle = INT32_MIN;     // step: the entry of a player who is not acting
inline constexpr std::size_t kEventWords = 4;        // how many integers `event` may write

using Status = std::int32_t;

template <class... Arguments>
using Verb = Status (*)(std::int64_t* result, void** error, const void* self, void* state, Arguments...);

struct Model;

struct Rules {
  const void* instance = nullptr;  // `self`: the numbers and arrays of this instance
  std::size_t state_size = 0;      // bytes
  std::size_t key_size = 0;        // bytes; 0 without a `key` verb
  std::size_t planes = 0;          // floats of one observation; 0 without an `observe` verb
  std::int32_t players = 0;
  std::int32_t actions = 0;   // the size of `legal`'s buffer
  std::int32_t outcomes = 0;  // the size of `chance`'s buffers
  bool runs_python = false;   // verbs take the GIL, and may do anything Python can
  const Model* model = nullptr;  // where children are a learned model's (model.hpp): there is no `step` then

  Verb<> turn = nullptr;                                              // → kOver, kChance or acting players as bits
  Verb<std::int32_t /*player*/, std::int32_t* /*actions*/> legal = nullptr;  // → how many ids were written, ascending
  Verb<const std::int32_t* /*actions*/, double* /*rewards*/> step = nullptr;
  // Optional from here on.
  Verb<std::uint64_t* /*random*/> setup = nullptr;  // without it a game starts on zeros
  Verb<std::int32_t* /*outcomes*/, double* /*chances*/> chance = nullptr;  // → how many were written
  Verb<std::uint64_t* /*random*/> draw = nullptr;                          // → outcome
  Verb<std::int32_t /*player*/, std::int32_t /*action*/> same = nullptr;   // → the id that stands for the choice
  Verb<void* /*key*/> key = nullptr;                                       // without it the state is its own key
  Verb<double* /*low*/, double* /*high*/> bounds = nullptr;
  Verb<std::int64_t* /*words*/> event = nullptr;
  Verb<std::int32_t /*player*/, std::uint64_t* /*random*/> rollout_action = nullptr;  // → what a player does in a rollout
  Verb<double* /*values*/> heuristic = nullptr;  // what the state is worth to each player from here on
  Verb<std::int32_t /*player*/, float* /*planes*/> observe = nullptr;
};

// Call a verb; false if it raised, and then `result` means nothing.
template <class... Formal, class... Actual>
bool call(Verb<Formal...> verb, std::int64_t& result, const Rules& rules, void* state, Actual... arguments) {
  void* error = nullptr;
  result = 0;
  return verb(&result, &error, rules.instance, state, arguments...) == 0;
}

// What verbs may answer; the promises the engine builds on.

constexpr bool valid_turn(const Rules& rules, std::int64_t turn) {
  return turn >= kChance && turn < (std::int64_t{1} << rules.players);
}

// Ids from 0 up, strictly ascending, below the limit.
constexpr bool valid_ids(const std::int32_t* ids, std::int64_t count, std::int32_t limit) {
  if (count < 0 || count > limit) return false;
  std::int32_t previous = -1;
  for (std::int64_t i = 0; i < count; ++i) {
    if (ids[i] <= previous) return false;
    previous = ids[i];
  }
  return previous < limit;
}

// Neither infinite nor NaN: only for those is x - x not zero.
constexpr bool finite(const double* values, std::int32_t count) {
  for (std::int32_t i = 0; i < count; ++i)
    if (values[i] - values[i] != 0.0) return false;
  return true;
}

// Numbers that float32, in which rewards are kept, can hold; neither NaN nor infinity is.
constexpr bool valid_rewards(const double* rewards, std::int32_t count) {
  constexpr double most = std::numeric_limits<float>::max();
  for (std::int32_t i = 0; i < count; ++i)
    if (!(rewards[i] >= -most && rewards[i] <= most)) return false;
  return true;
}

// Distinct outcomes with positive probabilities that sum to 1.
constexpr bool valid_chances(const Rules& rules, const std::int32_t* outcomes, const double* chances, std::int64_t count) {
  if (count < 1 || count > rules.outcomes) return false;
  double total = 0.0;
  bool ascending = true;
  for (std::int64_t i = 0; i < count; ++i) {
    if (!(chances[i] > 0.0)) return false;
    total += chances[i];
    if (i > 0 && outcomes[i] <= outcomes[i - 1]) ascending = false;
  }
  if (!(total - 1.0 <= 1e-6 && total - 1.0 >= -1e-6)) return false;
  if (ascending) return true;  // as most games list them: no need to compare all pairs
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t j = 0; j < i; ++j)
      if (outcomes[i] == outcomes[j]) return false;
  return true;
}

}  // namespace anabranch
