// The same engine where numbers of edges and of rows of choices end early: graphs are full then, and the search goes on.
#include <cstdint>
#include <vector>

#include "../check.hpp"
#include "../games.hpp"
#include "../said.hpp"

static_assert(kMostEdges == 500 && kMostRows == 900);

namespace {

constexpr std::uint64_t kGoal = 3000;

}  // namespace

// What one wave may add on top is little here: some paths, a few outcomes and choices each.
TEST(graphs_that_are_out_of_numbers_are_full) {
  std::uint64_t seed = 0;
  int full = 0;
  for (const Config& from : settings())
    for (const std::uint32_t width : {1u, 8u})
      for (const auto kind : {NativeEvaluator::Kind::hashing, NativeEvaluator::Kind::uniform}) {
        games::TableGame game;
        game.draw(++seed, 12, false);
        Config config = from;
        config.merge = false;  // a tree of it is large
        config.width = width;
        const std::vector<std::int64_t> start = game.start();
        Search search(game.rules(), config, evaluator_of(kind), 0, reinterpret_cast<const std::byte*>(start.data()));
        run(search, kGoal);
        const Graph& g = search.graph();
        CHECK(search.over() || search.root_visits() == kGoal);
        CHECK(g.edges.size() <= kMostEdges + 200 && g.choice_rows() <= kMostRows + 200);
        CHECK(sound(search));
        full += g.is_out_of_numbers();
        for (NodeId id = 0; id < g.size(); ++id)
          for (const EdgeId e : EdgeIds(g.nodes[id])) {
            const std::uint32_t row = g.edges[e].reward();
            CHECK(row == kNoReward || (row + 1) * g.players <= g.rewards.size());
          }
      }
  CHECK(full > 20);
}
