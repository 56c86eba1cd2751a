// A learned model of tables for tests: as a compiled function, and asked from outside.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "anabranch/plan.hpp"
#include "anabranch/random.hpp"

namespace models {

using namespace anabranch;

// Two players, masks, discounts of their own, ends; everything follows from a hash of (latent, action).
struct Hashed {
  static constexpr std::int32_t kActions = 5, kPlayers = 2, kOutcomes = 3;

  bool stochastic = false;
  std::int64_t fails_at = -1;  // a latent that raises
  Model model;

  explicit Hashed(bool compiled, bool dice = false) : stochastic(dice) {
    model.players = kPlayers;
    model.actions = kActions;
    model.outcomes = dice ? kOutcomes : 0;
    model.masks = model.discounts = true;
    model.instance = this;
    if (compiled) {
      model.latent_bytes = 8;
      model.recurrent = recurrent;
    }
  }
  Hashed(const Hashed&) = delete;  // the model points here
  Hashed& operator=(const Hashed&) = delete;

  // One row of what it says.
  struct Row {
    std::int64_t latent = 0, mover = 0;
    double rewards[kPlayers] = {}, values[kPlayers] = {}, discount = 1.0, chances[kOutcomes] = {};
    float logits[kActions] = {};
    bool legal[kActions] = {};
  };
  static Row say(std::int64_t latent, std::int64_t action) {
    Row row;
    Random random{fold(static_cast<std::uint64_t>(latent), static_cast<std::uint64_t>(action))};
    row.latent = static_cast<std::int64_t>(random.next() % 1000);
    row.mover = row.latent % kPlayers;
    for (int p = 0; p < kPlayers; ++p) {
      row.rewards[p] = row.latent % 4 == 0 ? 0.0 : random.uniform() - 0.5;
      row.values[p] = random.uniform() - 0.5;
    }
    row.discount = row.latent % 7 == 0 ? 0.0 : 0.9;
    for (int a = 0; a < kActions; ++a) {
      row.logits[a] = static_cast<float>(random.uniform());
      row.legal[a] = a == row.latent % kActions || random.uniform() < 0.5;
    }
    double total = 0.0;
    for (double& chance : row.chances) total += chance = random.uniform();
    for (double& chance : row.chances) chance /= total;
    return row;
  }

  static Status recurrent(std::int64_t*, void**, const void* self, void* latent, std::int32_t action, void* answer) {
    std::int64_t at;
    std::memcpy(&at, latent, 8);
    if (at == static_cast<const Hashed*>(self)->fails_at) return 1;
    const Row row = say(at, action);
    auto* to = static_cast<double*>(answer);
    std::memcpy(to, row.rewards, sizeof(row.rewards));
    std::memcpy(to + kPlayers, row.values, sizeof(row.values));
    to[2 * kPlayers] = row.discount;
    std::memcpy(to + 2 * kPlayers + 1, &row.mover, 8);
    std::memcpy(to + 2 * kPlayers + 2, &row.latent, 8);
    std::memcpy(to + 2 * kPlayers + 3, row.logits, sizeof(row.logits));
    std::memcpy(to + 2 * kPlayers + 3 + (kActions * 4 + 7) / 8, row.legal, kActions);
    return 0;
  }

  // A root at a latent; `number` is where its latent lies outside.
  std::unique_ptr<Search> root(const Config& config, std::int64_t latent, std::uint32_t number = 0) const {
    const Row row = say(latent, 99);
    std::vector<std::uint64_t> words(model.record_size() / 8 + 1);
    auto* record = reinterpret_cast<std::byte*>(words.data());
    LatentHead& head = Model::head(record);
    head = LatentHead();
    head.number = number;
    head.turn = 1;
    head.mover = static_cast<std::uint8_t>(row.mover);
    model.write_mask(record, row.legal);
    if (model.latent_bytes) std::memcpy(record + model.latent_at(), &row.latent, 8);
    auto made = std::make_unique<Search>(model.rules(), config, NativeEvaluator(), 0, record);
    Transition said;
    said.single = row.logits;
    said.values = row.values;
    said.legal = row.legal;
    said.mover = head.mover;
    said.number = number;
    made->begin(said);
    return made;
  }
};

inline Config config_of(std::uint32_t width, std::uint32_t depth) {
  Config config;
  config.merge = false;
  config.keyed_by_path = config.edge_discounts = true;
  config.selector.scale = Scale::node;
  config.selector.first_play = FirstPlay::lowest;
  config.width = width;
  config.depth = depth;
  return config;
}

// Answers what roots ask, as the Python driver does: latents in rows under numbers, `depth` batches in flight.
class Asking {
 public:
  Asking(const Hashed& hashed, const std::vector<Search*>& roots, const std::vector<std::int64_t>& latents, std::size_t threads = 1)
      : hashed_(hashed), plan_(hashed.model, roots, static_cast<std::uint32_t>(roots.size()), threads), roots_(roots.size()) {
    for (const std::int64_t latent : latents) latents_.push_back(Hashed::say(latent, 99).latent);
  }

  void run(std::uint64_t goal, std::size_t depth) { run(std::vector<std::uint64_t>(roots_, goal), depth); }
  void run(const std::vector<std::uint64_t>& goals, std::size_t depth) {
    std::vector<Answered> waiting;
    try {
      for (;;) {
        bool asked = false;
        if (waiting.size() < depth) {
          while (plan_.gather(goals, false) && plan_.parents.empty()) {
          }
          used_.clear();
          asked = !plan_.parents.empty();
        }
        if (asked) {
          waiting.push_back(answer());
        } else if (!waiting.empty()) {
          used_.push_back(std::move(waiting.front()));
          waiting.erase(waiting.begin());
          plan_.answer(used_.back().given());
        } else {
          return;
        }
      }
    } catch (...) {
      plan_.drop();
      throw;
    }
  }

  Plan& plan() { return plan_; }

 private:
  struct Answered {
    std::vector<float> logits;
    std::vector<double> values, rewards, discounts, chances;
    std::vector<std::int64_t> movers;
    std::vector<std::uint8_t> legal;

    Transitions given() const {
      Transitions t;
      t.logits = {logits.data(), nullptr, Hashed::kActions};
      t.values = {nullptr, values.data(), Hashed::kPlayers};
      t.rewards = {nullptr, rewards.data(), Hashed::kPlayers};
      t.discounts = {nullptr, discounts.data(), 1};
      t.chances = {nullptr, chances.data(), Hashed::kOutcomes};
      t.movers = movers.data();
      t.legal = reinterpret_cast<const bool*>(legal.data());
      return t;
    }
  };

  Answered answer() {
    Answered made;
    for (std::size_t i = 0; i < plan_.parents.size(); ++i) {
      const Hashed::Row row = Hashed::say(latents_[static_cast<std::size_t>(plan_.parents[i])], plan_.actions[i]);
      latents_.resize(std::max<std::size_t>(latents_.size(), plan_.first_number() + i + 1));
      latents_[plan_.first_number() + i] = row.latent;
      made.logits.insert(made.logits.end(), row.logits, row.logits + Hashed::kActions);
      made.values.insert(made.values.end(), row.values, row.values + Hashed::kPlayers);
      made.rewards.insert(made.rewards.end(), row.rewards, row.rewards + Hashed::kPlayers);
      made.discounts.push_back(plan_.after[i] ? 1.0 : row.discount);
      made.chances.insert(made.chances.end(), row.chances, row.chances + Hashed::kOutcomes);
      made.movers.push_back(row.mover);
      for (const bool each : row.legal) made.legal.push_back(each);
    }
    return made;
  }

  const Hashed& hashed_;
  Plan plan_;
  std::size_t roots_;
  std::vector<std::int64_t> latents_;
  std::vector<Answered> used_;
};

}  // namespace models
