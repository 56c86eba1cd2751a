// Let every allocation of the engine fail, one after the other: the graph is then as it was before the waves in flight, the
// next run ends where an undisturbed one does, and nothing leaks. Its own program: it replaces `new` and wraps malloc.
#include <cstdio>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "../check.hpp"
#include "../games.hpp"
#include "../models.hpp"
#include "../said.hpp"
#include "anabranch/restore.hpp"
#include "anabranch/snapshot.hpp"
#include "trouble.hpp"

namespace {

constexpr std::uint64_t kGoal = 40;
constexpr std::pair<std::uint32_t, std::uint32_t> kShapes[] = {{1, 1}, {4, 1}, {3, 2}};

// A game, settings and how allocations fail, all of them walked through.
struct Case {
  games::TableGame game;
  Config config;
  Fails kind;

  std::unique_ptr<Search> search() const {
    const std::vector<std::int64_t> start = game.start();
    return std::make_unique<Search>(game.rules(), config, evaluator_of(NativeEvaluator::Kind::hashing), 0,
                                    reinterpret_cast<const std::byte*>(start.data()));
  }
};

template <class Action>
void each_case(const Action& action) {
  std::uint64_t seed = 0;
  for (const Fails kind : {Fails::once, Fails::from_then_on})
    for (const int ballast : {0, 40})  // records above 256 bytes are kept as differences
      for (const auto& [width, depth] : kShapes)
        for (const Config& config : settings())
          for (const Refresh refresh : {Refresh::path, Refresh::ancestors}) {
            Case one;
            one.game.draw(++seed, 6, false);
            one.game.ballast = ballast;
            one.config = config;
            one.config.width = width;
            one.config.depth = depth;
            one.config.refresh = refresh;
            one.kind = kind;
            action(one);
          }
}

// Whether an action ran out of memory where it was made to.
template <class Action>
bool ran_out(Fails kind, long at, const Action& action) {
  const Trouble trouble(kind, at);
  try {
    action();
    return false;
  } catch (const std::bad_alloc&) {
    return true;
  }
}

long next(long at) { return at + 1 + at / 12; }

}  // namespace

TEST(a_run_that_is_out_of_memory_leaves_the_graph_as_it_was) {
  int accidents = 0;
  each_case([&](const Case& one) {
    for (long at = 1;; at = next(at)) {
      const auto search = one.search();
      if (!ran_out(one.kind, at, [&] { run(*search, kGoal); })) break;
      ++accidents;
      CHECK(!search->in_flight());
      CHECK(sound(*search));
      const auto twin = one.search();
      if (search->root_ready()) run(*twin, search->root_visits());
      CHECK(same(said(*search), said(*twin)));
      run(*search, kGoal);
      run(*twin, kGoal);
      CHECK(same(said(*search), said(*twin)));
    }
  });
  std::printf("%d runs out of memory\n", accidents);
  CHECK(accidents > 5000);
}

// Children of a model: made by a compiled function, and asked for from outside, with dice too.
TEST(a_plan_that_is_out_of_memory_leaves_the_graph_as_it_was) {
  int accidents = 0;
  for (const Fails kind : {Fails::once, Fails::from_then_on})
    for (const int how : {0, 1, 2})
      for (const auto& [width, depth] : kShapes) {
        if (how == 2 && depth > 1) continue;
        const models::Hashed model(how == 0, how == 2);
        Config config = models::config_of(width, depth);
        config.chance.exact_up_to = width == 1 ? 0 : 3;
        const std::vector<std::int64_t> latents{5};
        const auto go_on = [&](Search& search, models::Asking& asking, std::uint64_t goal) {
          if (how == 0) run(search, goal);
          else asking.run(goal, depth);
        };
        for (long at = 1;; at = next(at)) {
          const auto search = model.root(config, 5), twin = model.root(config, 5);
          models::Asking asking(model, {search.get()}, latents), other(model, {twin.get()}, latents);
          if (!ran_out(kind, at, [&] { go_on(*search, asking, kGoal); })) break;
          ++accidents;
          CHECK(!search->in_flight());
          CHECK(sound(*search));
          go_on(*twin, other, search->root_visits());
          CHECK(same(said(*search), said(*twin)));
          go_on(*search, asking, kGoal);
          go_on(*twin, other, kGoal);
          CHECK(same(said(*search), said(*twin)));
          CHECK(search->root_visits() == kGoal);
        }
      }
  std::printf("%d plans out of memory\n", accidents);
  CHECK(accidents > 500);
}

TEST(a_root_that_cannot_move_on_stays) {
  int accidents = 0;
  each_case([&](const Case& one) {
    for (const Keep keep : {Keep::graph, Keep::evaluations, Keep::nothing}) {
      const auto search = one.search();
      run(*search, kGoal);
      const auto twin = one.search();
      run(*twin, kGoal);
      const Graph& g = search->graph();
      NodeId child = kNone;
      for (const EdgeId e : EdgeIds(g.nodes[0]))
        if (g.edges[e].child != kNone) child = g.edges[e].child;
      if (child == kNone) continue;
      std::vector<std::uint64_t> record(g.rules.state_size / 8 + 1);
      g.states.load(child, reinterpret_cast<std::byte*>(record.data()));
      const auto* state = reinterpret_cast<const std::byte*>(record.data());
      for (long at = 1;; at = next(at)) {
        if (!ran_out(one.kind, at, [&] { search->advance(child, state, keep); })) break;
        ++accidents;
        CHECK(same(said(*search), said(*twin)));
      }
      twin->advance(child, state, keep);
      CHECK(search->root_number() == 1 && same(said(*search), said(*twin)));
      run(*search, kGoal);
      run(*twin, kGoal);
      CHECK(same(said(*search), said(*twin)));
    }
  });
  std::printf("%d advances out of memory\n", accidents);
  CHECK(accidents > 5000);
}

TEST(making_saving_and_loading_may_run_out_of_memory) {
  int accidents = 0;
  each_case([&](const Case& one) {
    for (long at = 1; ran_out(one.kind, at, [&] { one.search(); }); at = next(at)) ++accidents;
    const auto search = one.search();
    run(*search, kGoal);
    Snapshot taken;
    for (long at = 1; ran_out(one.kind, at, [&] { taken = Snapshots::take(*search); }); at = next(at)) ++accidents;
    for (long at = 1;; at = next(at)) {
      const auto empty = one.search();
      if (!ran_out(one.kind, at, [&] { Restore::into(*empty, taken); })) {
        CHECK(same(said(*empty), said(*search)));
        break;
      }
      ++accidents;
    }
  });
  std::printf("%d searches made, saved or loaded out of memory\n", accidents);
  CHECK(accidents > 5000);
}
