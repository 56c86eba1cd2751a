// The engine without Python, to be timed or run under callgrind: search_benchmark uniform|rollout|simultaneous|learning
// SIMULATIONS REPEATS [proofs]. The first two play connect four, the others a simple PyRat: by PUCT, and by regret matching+.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

#include "../tests/games.hpp"
#include "anabranch/forest.hpp"

using namespace anabranch;

int main(int count, char** words) {
  if (count != 4 && count != 5) {
    std::fprintf(stderr, "usage: %s uniform|rollout|simultaneous|learning SIMULATIONS REPEATS [proofs]\n", words[0]);
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
