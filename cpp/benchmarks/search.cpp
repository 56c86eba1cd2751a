// The engine without Python, to be timed or run under callgrind: search_benchmark uniform|rollout SIMULATIONS REPEATS.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "../tests/games.hpp"
#include "anabranch/forest.hpp"

using namespace anabranch;

int main(int count, char** words) {
  if (count != 4) {
    std::fprintf(stderr, "usage: %s uniform|rollout SIMULATIONS REPEATS\n", words[0]);
    return 2;
  }
  NativeEvaluator evaluator;
  evaluator.kind = std::string(words[1]) == "rollout" ? NativeEvaluator::Kind::rollout : NativeEvaluator::Kind::uniform;
  const std::uint64_t simulations = std::strtoull(words[2], nullptr, 10), repeats = std::strtoull(words[3], nullptr, 10);
  const Rules rules = games::ConnectFour::rules();
  const games::ConnectFour::State start{};
  std::size_t nodes = 0;
  Config config;
  config.selector.prepare();
  const auto began = Clock::now();
  for (std::uint64_t i = 0; i < repeats; ++i) {
    Search search(rules, config, evaluator, i, reinterpret_cast<const std::byte*>(&start));
    Budget budget;
    budget.goals = {simulations};
    Forest::run({&search}, budget, 1, [] { return true; });
    nodes = search.graph().size();
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
  std::printf("%zu nodes, %.0f simulations/s\n", nodes, static_cast<double>(simulations * repeats) / seconds);
  return 0;
}
