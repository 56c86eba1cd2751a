#include <memory>
#include <vector>

#include "anabranch/forest.hpp"
#include "check.hpp"
#include "games.hpp"

using namespace anabranch;

namespace {

std::vector<std::uint32_t> root_visits(const Search& search) {
  std::vector<std::uint32_t> visits(7, 0);
  const Node& root = search.graph().nodes[0];
  for (EdgeId e = root.edges; e < root.edges + root.edge_count; ++e) visits[search.graph().edges[e].move] = search.graph().edge_visits[e];
  return visits;
}

}  // namespace

TEST(connect_four_visits_do_not_depend_on_threads_or_hashes) {
  const Rules rules = games::ConnectFour::rules();
  const games::ConnectFour::State start{};
  NativeEvaluator evaluator;
  evaluator.kind = NativeEvaluator::Kind::rollout;
  std::vector<std::vector<std::uint32_t>> expected;
  for (std::size_t threads : {1, 2, 4}) {
    for (std::uint64_t mask : {~std::uint64_t{0}, std::uint64_t{0xFF}}) {
      Config config;
      config.hash_mask = mask;
      std::vector<std::unique_ptr<Search>> made;
      std::vector<Search*> roots;
      for (std::uint64_t stream = 0; stream < 6; ++stream) {
        made.push_back(std::make_unique<Search>(rules, config, evaluator, stream, reinterpret_cast<const std::byte*>(&start)));
        roots.push_back(made.back().get());
      }
      Budget budget;
      budget.goals.assign(roots.size(), 500);
      Forest::run(roots, budget, threads, [] { return true; });
      std::vector<std::vector<std::uint32_t>> found;
      for (const Search* root : roots) found.push_back(root_visits(*root));
      if (expected.empty()) expected = found;
      CHECK(found == expected);
    }
  }
  CHECK(expected[0] != expected[1]);  // streams differ
}

TEST(a_node_of_connect_four_takes_at_most_200_bytes) {
  const Rules rules = games::ConnectFour::rules();
  const games::ConnectFour::State start{};
  NativeEvaluator evaluator;
  evaluator.kind = NativeEvaluator::Kind::uniform;
  Search search(rules, Config{}, evaluator, 0, reinterpret_cast<const std::byte*>(&start));
  Budget budget;
  budget.goals = {100000};
  Forest::run({&search}, budget, 1, [] { return true; });
  CHECK(search.graph().bytes() <= 200 * search.graph().size());
}
