// The engine without Python, to be timed or run under callgrind: search_benchmark uniform|rollout|simultaneous|learning|gumbel|muzero
// SIMULATIONS REPEATS [proofs|ACTIONS]. The first two play connect four, the next two a simple PyRat: by PUCT, and by regret
// matching+. The last two plan in a learned model that costs nothing: that of benchmarks/peers/toy.py, all values 0.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "../tests/games.hpp"
#include "anabranch/forest.hpp"
#include "anabranch/root_gumbel.hpp"

using namespace anabranch;

namespace {

constexpr std::size_t kLatents = 64;

// A table of logits; a latent is a place in it.
struct Toy {
  std::size_t actions;
  std::vector<float> logits;

  explicit Toy(std::size_t wide) : actions(wide), logits(kLatents * wide) {
    std::mt19937 dice(0);
    std::normal_distribution<float> normal;
    for (float& each : logits) each = normal(dice);
  }

  // Rewards and values (one player) are 0 beforehand; behind them, discount and mover comes the latent, then the logits.
  static Status recurrent(std::int64_t*, void**, const void* self, void* latent, std::int32_t action, void* answer) {
    const Toy& toy = *static_cast<const Toy*>(self);
    const std::uint64_t place = (31 * *static_cast<const std::uint64_t*>(latent) + static_cast<std::uint64_t>(action) + 1) % kLatents;
    auto* words = static_cast<std::uint64_t*>(answer);
    words[4] = place;
    std::copy_n(&toy.logits[place * toy.actions], toy.actions, reinterpret_cast<float*>(words + 5));
    return 0;
  }
};

// Plan for root after root, as a batch is planned for; the numbers of all roots, told in tables.
std::size_t plan(bool gumbel, std::size_t actions, std::uint64_t simulations, std::uint64_t repeats) {
  const Toy toy(actions);
  Model model;
  model.actions = static_cast<std::int32_t>(actions);
  model.latent_bytes = 8;
  model.instance = &toy;
  model.recurrent = Toy::recurrent;
  const Rules rules = model.rules();
  Config config;
  config.merge = false;
  config.proofs = Proofs::off;
  config.discount = 0.997;
  config.selector.rule = gumbel ? Rule::gumbel : Rule::puct;
  config.selector.scale = Scale::node;
  if (!gumbel) {
    config.selector.c_init = 1.25;
    config.selector.c_off = 2.0;
    config.selector.first_play = FirstPlay::lowest;
  }
  config.selector.prepare();
  config.simultaneous.prepare();
  std::vector<double> policy(actions), prior(actions), q(actions);
  std::vector<std::int64_t> visits(actions), chosen(1);
  std::size_t nodes = 0;
  for (std::uint64_t i = 0; i < repeats; ++i) {
    std::uint64_t record[2] = {0, i % kLatents};
    Model::head(reinterpret_cast<std::byte*>(record)).turn = 1;
    Search search(rules, config, NativeEvaluator(), i, reinterpret_cast<std::byte*>(record));
    const double nothing = 0.0;
    Transition said;
    said.single = &toy.logits[i % kLatents * actions];
    said.values = &nothing;
    search.begin(said);
    if (gumbel) set_gumbel_plan(search, config.selector, simulations);
    Budget budget;
    budget.goals = {simulations};
    Forest::run({&search}, budget, 1, [] { return true; });
    tell_root(search, {policy.data(), prior.data(), q.data(), visits.data(), chosen.data()});
    nodes += search.graph().size();
  }
  return nodes;
}

}  // namespace

int main(int count, char** words) {
  if (count != 4 && count != 5) {
    std::fprintf(stderr, "usage: %s uniform|rollout|simultaneous|learning|gumbel|muzero SIMULATIONS REPEATS [proofs|ACTIONS]\n", words[0]);
    return 2;
  }
  NativeEvaluator evaluator;
  evaluator.kind = std::string(words[1]) == "rollout" ? NativeEvaluator::Kind::rollout : NativeEvaluator::Kind::uniform;
  const std::uint64_t simulations = std::strtoull(words[2], nullptr, 10), repeats = std::strtoull(words[3], nullptr, 10);
  const bool learning = std::string(words[1]) == "learning", simultaneous = learning || std::string(words[1]) == "simultaneous";
  const Rules rules = simultaneous ? games::Cheese::rules() : games::ConnectFour::rules();
  const games::ConnectFour::State board{};
  const games::Cheese::State maze = games::Cheese::start();
  const auto* start = simultaneous ? reinterpret_cast<const std::byte*>(&maze) : reinterpret_cast<const std::byte*>(&board);
  std::size_t nodes = 0;
  Config config;
  config.selector.prepare();
  config.simultaneous.prepare();
  if (learning) config.simultaneous.rule = Rule::regret_matching;
  if (simultaneous) config.simultaneous.scale = Scale::node;  // the default of games that pay on the way
  if (count == 5) {
    config.proofs = Proofs::opposed;
    config.proof_width = 1e-12;
    if (simultaneous) {  // nothing is known at first of what is paid on the way
      config.proof_low = -std::numeric_limits<double>::infinity();
      config.proof_high = std::numeric_limits<double>::infinity();
    }
  }
  const auto began = Clock::now();
  const bool gumbel = std::string(words[1]) == "gumbel";
  if (gumbel || std::string(words[1]) == "muzero") nodes = plan(gumbel, count == 5 ? std::strtoull(words[4], nullptr, 10) : 9, simulations, repeats);
  else
  for (std::uint64_t i = 0; i < repeats; ++i) {
    Search search(rules, config, evaluator, i, start);
    Budget budget;
    budget.goals = {simulations};
    Forest::run({&search}, budget, 1, [] { return true; });
    nodes = search.graph().size();
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
  std::printf("%zu nodes, %.0f simulations/s\n", nodes, static_cast<double>(simulations * repeats) / seconds);
  return 0;
}
