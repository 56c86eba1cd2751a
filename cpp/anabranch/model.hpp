// A learned model as the engine sees it: another source of children (docs/model.md section 11).
//
// A transition (a parent's latent, an action) gives the child's latent, what the step paid, how it is discounted, who moves
// then, what is legal, and an evaluation, all at once. A node exists before its transition is known: a leaf like any other,
// whose request is a transition instead of an evaluation.
//
// The record of a node begins with a `LatentHead`; then come the legal actions as bits, where the model says which they are;
// then, where the model is a compiled function, the latent itself. Latents of other models lie outside, under numbers. `turn`
// and `legal` read the record, so whatever asks rules for them need not know. There is no `step`.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "anabranch/numbers.hpp"
#include "anabranch/rules.hpp"
#include "anabranch/states.hpp"

namespace anabranch {

struct LatentHead {
  std::uint32_t number = UINT32_MAX;  // of the latent, where latents lie outside
  std::int8_t turn = 0;               // kOver, kChance, or 1: the mover acts
  std::uint8_t mover = 0;
  std::uint16_t unused = 0;
};
static_assert(sizeof(LatentHead) == 8);

// What a model says of one transition. `single` or `both` are the logits of the mover's actions.
struct Transition {
  const float* single = nullptr;
  const double* both = nullptr;
  const double* values = nullptr;   // one per player; nullptr: an afterstate, which is not evaluated
  const double* rewards = nullptr;  // one per player; nullptr: nothing was paid
  const double* chances = nullptr;  // of an afterstate: the probabilities of its outcomes
  const bool* legal = nullptr;      // nullptr: every action is
  double discount = 1.0;            // 0: it ends here
  std::uint32_t number = UINT32_MAX;
  std::uint8_t mover = 0;
};

struct Model {
  // A compiled transition, by the convention of verbs: `latent` and `answer` are buffers, the latter as `Answer` lays it out.
  using Function = Status (*)(std::int64_t* result, void** error, const void* self, void* latent, std::int32_t action, void* answer);

  std::int32_t players = 1, actions = 1, outcomes = 0;
  bool masks = false;            // says which actions are legal
  bool discounts = false;        // says how steps are discounted, each by itself
  std::size_t latent_bytes = 0;  // of a latent inside records; a multiple of 8
  const void* instance = nullptr;
  Function recurrent = nullptr;  // where the model is compiled

  bool stochastic() const { return outcomes > 0; }
  std::size_t mask_words() const { return masks ? (static_cast<std::size_t>(actions) + 63) / 64 : 0; }
  std::size_t latent_at() const { return sizeof(LatentHead) + 8 * mask_words(); }
  std::size_t record_size() const { return latent_at() + latent_bytes; }

  // Parts of a record.
  static LatentHead& head(std::byte* record) { return *reinterpret_cast<LatentHead*>(record); }
  static const LatentHead& head(const std::byte* record) { return *reinterpret_cast<const LatentHead*>(record); }
  static std::uint64_t* mask(std::byte* record) { return reinterpret_cast<std::uint64_t*>(record + sizeof(LatentHead)); }
  static const std::uint64_t* mask(const std::byte* record) { return reinterpret_cast<const std::uint64_t*>(record + sizeof(LatentHead)); }

  void write_mask(std::byte* record, const bool* legal) const {
    std::uint64_t* words = mask(record);
    for (std::size_t i = 0; i < mask_words(); ++i) words[i] = 0;
    for (std::size_t a = 0; a < static_cast<std::size_t>(actions); ++a)
      if (!legal || legal[a]) words[a / 64] |= std::uint64_t{1} << a % 64;
  }

  // Write the legal actions of a record in ascending order; how many there are.
  std::size_t list_legal(const std::byte* record, std::int32_t* ids) const {
    std::size_t count = 0;
    if (!masks) {
      for (std::int32_t a = 0; a < actions; ++a) ids[count++] = a;
      return count;
    }
    for (std::size_t i = 0; i < mask_words(); ++i)
      for (std::uint64_t rest = mask(record)[i]; rest; rest &= rest - 1)
        ids[count++] = static_cast<std::int32_t>(i * 64 + static_cast<std::size_t>(std::countr_zero(rest)));
    return count;
  }

  // The action of a choice.
  std::int32_t action(const std::byte* record, std::uint32_t choice) const {
    if (!masks) return static_cast<std::int32_t>(choice);
    for (std::size_t i = 0; i < mask_words(); ++i) {
      std::uint64_t word = mask(record)[i];
      const auto here = static_cast<std::uint32_t>(std::popcount(word));
      if (choice >= here) {
        choice -= here;
        continue;
      }
      for (; choice > 0; --choice) word &= word - 1;
      return static_cast<std::int32_t>(i * 64 + static_cast<std::size_t>(std::countr_zero(word)));
    }
    return 0;
  }

  // The verbs that read records, and sizes. What a search does to a model it does through these.
  Rules rules() const {
    Rules r;
    r.instance = this;
    r.model = this;
    r.state_size = record_size();
    r.players = players;
    r.actions = actions;
    r.outcomes = outcomes;
    r.turn = [](std::int64_t* result, void**, const void*, void* state) -> Status {
      const LatentHead& here = head(static_cast<const std::byte*>(state));
      *result = here.turn > 0 ? std::int64_t{1} << here.mover : here.turn;
      return 0;
    };
    r.legal = [](std::int64_t* result, void**, const void* self, void* state, std::int32_t, std::int32_t* ids) -> Status {
      *result = static_cast<std::int64_t>(static_cast<const Model*>(self)->list_legal(static_cast<const std::byte*>(state), ids));
      return 0;
    };
    r.step = [](std::int64_t*, void**, const void*, void*, const std::int32_t*, double*) -> Status { return 1; };
    if (stochastic()) r.chance = [](std::int64_t*, void**, const void*, void*, std::int32_t*, double*) -> Status { return 1; };
    return r;
  }
};

// The buffer that a compiled transition writes into:
//   reward f64[players], value f64[players], discount f64, mover i64, latent, logits f32[actions], legal bool[actions]
// each part from a multiple of 8 bytes on. Before every call it holds what holds where nothing is said.
class Answer {
 public:
  explicit Answer(const Model& model) : model_(model), players_(static_cast<std::size_t>(model.players)), actions_(static_cast<std::size_t>(model.actions)) {
    logits_at_ = 8 * (2 * players_ + 2) + model.latent_bytes;
    legal_at_ = logits_at_ + (actions_ * sizeof(float) + 7) / 8 * 8;
    words_.resize((legal_at_ + actions_ + 7) / 8);
    std::memset(bytes() + legal_at_, 1, actions_);
    blank_ = words_;
  }

  std::size_t size() const { return words_.size() * 8; }
  void* data() { return words_.data(); }

  void clear(double discount, std::int64_t mover) {
    copy_record(bytes(), reinterpret_cast<const std::byte*>(blank_.data()), size());
    doubles()[2 * players_] = discount;
    std::memcpy(doubles() + 2 * players_ + 1, &mover, 8);
  }

  const std::byte* latent() const { return reinterpret_cast<const std::byte*>(words_.data() + 2 * players_ + 2); }

  // What it holds; `discount` and `legal` where the model says them.
  Transition read() const {
    Transition t;
    t.rewards = doubles();
    t.values = doubles() + players_;
    t.discount = doubles()[2 * players_];
    std::int64_t mover;
    std::memcpy(&mover, doubles() + 2 * players_ + 1, 8);
    t.mover = mover >= 0 && mover < model_.players ? static_cast<std::uint8_t>(mover) : std::uint8_t{255};
    t.single = reinterpret_cast<const float*>(bytes() + logits_at_);
    if (model_.masks) t.legal = reinterpret_cast<const bool*>(bytes() + legal_at_);
    return t;
  }

 private:
  double* doubles() { return reinterpret_cast<double*>(words_.data()); }
  const double* doubles() const { return reinterpret_cast<const double*>(words_.data()); }
  std::byte* bytes() { return reinterpret_cast<std::byte*>(words_.data()); }
  const std::byte* bytes() const { return reinterpret_cast<const std::byte*>(words_.data()); }

  const Model& model_;
  std::size_t players_, actions_, logits_at_, legal_at_;
  std::vector<std::uint64_t> words_, blank_;  // the buffer; what it holds where nothing is said
};

// The answers to transitions, as columns: one row each, of which some columns may be missing.
struct Transitions {
  Numbers logits, values, rewards, discounts, chances;
  const std::int64_t* movers = nullptr;
  const bool* legal = nullptr;
  const bool* after = nullptr;  // of stochastic models: whether the row is an afterstate
  std::uint32_t number = 0;     // of the first row's latent; the others follow
};

// A copy of such answers, kept until their wave lands.
class KeptTransitions {
 public:
  // So many rows from `first` on.
  void take(const Transitions& given, std::size_t first, std::size_t rows, const Model& model) {
    const auto copy = [first, rows](const Numbers& all, std::vector<float>* single, std::vector<double>& both) {
      Numbers kept;
      if (!all.given()) return kept;
      const Numbers from = all.from(first);
      kept.wide = from.wide;
      if (from.single && single) {
        single->assign(from.single, from.single + rows * from.wide);
        kept.single = single->data();
        return kept;
      }
      both.resize(rows * from.wide);
      for (std::size_t i = 0; i < rows * from.wide; ++i) both[i] = from.at(i);
      kept.both = both.data();
      return kept;
    };
    view_ = Transitions();
    view_.logits = copy(given.logits, &single_, logits_);
    view_.values = copy(given.values, nullptr, values_);
    view_.rewards = copy(given.rewards, nullptr, rewards_);
    view_.discounts = copy(given.discounts, nullptr, discounts_);
    view_.chances = copy(given.chances, nullptr, chances_);
    view_.number = given.number + static_cast<std::uint32_t>(first);
    if (given.movers) {
      movers_.assign(given.movers + first, given.movers + first + rows);
      view_.movers = movers_.data();
    }
    const auto copy_flags = [](const bool* from, std::size_t count, std::vector<std::uint8_t>& to) -> const bool* {
      if (!from) return nullptr;
      to.resize(count + 1);
      std::memcpy(to.data(), from, count);
      return reinterpret_cast<const bool*>(to.data());
    };
    const auto actions = static_cast<std::size_t>(model.actions);
    view_.legal = copy_flags(given.legal ? given.legal + first * actions : nullptr, rows * actions, legal_);
    view_.after = copy_flags(given.after ? given.after + first : nullptr, rows, after_);
  }

  const Transitions& view() const { return view_; }

 private:
  Transitions view_;
  std::vector<float> single_;
  std::vector<double> logits_, values_, rewards_, discounts_, chances_;
  std::vector<std::int64_t> movers_;
  std::vector<std::uint8_t> legal_, after_;
};

// What can be wrong with an answer.
enum class Wrong : std::uint8_t { nothing, value, reward, discount, mover, legal, logits, chances };

inline constexpr double kLargestValue = 1e100;  // means of millions of values stay finite

// Whether all are finite: the bits of the exponent are never all 1.
inline bool all_finite(const float* numbers, std::size_t count) {
  std::uint32_t odd = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t bits;
    std::memcpy(&bits, numbers + i, sizeof(bits));
    odd |= (bits & 0x7F800000u) == 0x7F800000u;
  }
  return odd == 0;
}
inline bool all_finite(const double* numbers, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (!std::isfinite(numbers[i])) return false;
  return true;
}

// Look at one transition. A logit of −∞ is right where an action is not legal: so networks mask.
inline Wrong wrong_with(const Model& model, const Transition& t) {
  const auto players = static_cast<std::size_t>(model.players), actions = static_cast<std::size_t>(model.actions);
  if (t.rewards && !valid_rewards(t.rewards, model.players)) return Wrong::reward;
  if (!(t.discount >= 0.0 && t.discount <= 1.0)) return Wrong::discount;
  if (t.chances) {
    double total = 0.0;
    for (std::size_t o = 0; o < static_cast<std::size_t>(model.outcomes); ++o) {
      if (!(t.chances[o] >= 0.0)) return Wrong::chances;
      total += t.chances[o];
    }
    return total > 1.0 - 1e-5 && total < 1.0 + 1e-5 ? Wrong::nothing : Wrong::chances;
  }
  for (std::size_t p = 0; p < players; ++p)
    if (!(std::abs(t.values[p]) <= kLargestValue)) return Wrong::value;
  if (t.mover >= players) return Wrong::mover;
  if (t.discount == 0.0) return Wrong::nothing;
  if (t.legal && std::none_of(t.legal, t.legal + actions, [](bool each) { return each; })) return Wrong::legal;
  if (t.single ? all_finite(t.single, actions) : !t.both || all_finite(t.both, actions)) [[likely]] return Wrong::nothing;
  for (std::size_t a = 0; a < actions; ++a) {
    const double logit = t.single ? static_cast<double>(t.single[a]) : t.both[a];
    if (!std::isfinite(logit) && !(t.legal && !t.legal[a] && logit == -HUGE_VAL)) return Wrong::logits;
  }
  return Wrong::nothing;
}

// Look at many at once that say no more than values, rewards and logits. False: look at one after the other.
inline bool surely_right(const Transitions& given, std::size_t rows) {
  if (given.discounts.given() || given.chances.given() || given.movers || given.legal || given.after) return false;
  const auto within = [rows](const Numbers& numbers, double most) {
    bool good = true;
    const std::size_t count = numbers.given() ? rows * numbers.wide : 0;
    if (numbers.single)
      for (std::size_t i = 0; i < count; ++i) good &= std::abs(static_cast<double>(numbers.single[i])) <= most;
    else
      for (std::size_t i = 0; i < count; ++i) good &= std::abs(numbers.both[i]) <= most;
    return good;
  };
  const Numbers& logits = given.logits;
  return within(given.values, kLargestValue) && within(given.rewards, static_cast<double>(std::numeric_limits<float>::max())) &&
         (logits.single ? all_finite(logits.single, rows * logits.wide) : !logits.both || all_finite(logits.both, rows * logits.wide));
}

}  // namespace anabranch
