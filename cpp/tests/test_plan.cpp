// Children of a learned model: asked for in batches, or made by a compiled function; what fails is taken back.
#include <cstdint>
#include <memory>
#include <vector>

#include "check.hpp"
#include "models.hpp"
#include "said.hpp"

namespace {

constexpr std::pair<std::uint32_t, std::uint32_t> kShapes[] = {{1, 1}, {4, 1}, {3, 2}, {2, 3}};
const std::vector<std::int64_t> kLatents{3, 1, 4, 15, 9};

struct Roots {
  explicit Roots(const models::Hashed& hashed, const Config& config) {
    for (std::size_t i = 0; i < kLatents.size(); ++i) {
      held.push_back(hashed.root(config, kLatents[i], static_cast<std::uint32_t>(i)));
      all.push_back(held.back().get());
    }
  }
  std::vector<Said> said() const {
    std::vector<Said> each;
    for (const Search* root : all) each.push_back(::said(*root));
    return each;
  }
  std::vector<std::unique_ptr<Search>> held;
  std::vector<Search*> all;
};

bool same_all(const std::vector<Said>& a, const std::vector<Said>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!same(a[i], b[i])) return false;
  return a.size() == b.size();
}

void run(const std::vector<Search*>& roots, std::uint64_t goal, std::size_t threads = 1) {
  Budget budget;
  budget.goals.assign(roots.size(), goal);
  Forest::run(roots, budget, threads, [] { return true; });
}

}  // namespace

TEST(a_model_asked_from_outside_equals_a_compiled_one) {
  const models::Hashed asked(false), compiled(true);
  for (const auto& [width, depth] : kShapes) {
    const Config config = models::config_of(width, depth);
    const Roots ours(asked, config), theirs(compiled, config), again(compiled, config), shared(asked, config);
    models::Asking(asked, ours.all, kLatents).run(60, depth);
    models::Asking(asked, shared.all, kLatents, 2).run(60, depth);
    run(theirs.all, 60);
    run(again.all, 60, 2);
    for (const Search* root : ours.all) CHECK(sound(*root) && root->root_visits() == 60);
    CHECK(same_all(ours.said(), theirs.said()));
    CHECK(same_all(again.said(), theirs.said()));
    CHECK(same_all(shared.said(), theirs.said()));
  }
}

TEST(a_full_graph_keeps_transitions_frozen) {
  const models::Hashed asked(false), compiled(true);
  for (const auto& [width, depth] : kShapes) {
    Config config = models::config_of(width, depth);
    config.max_nodes = 9;
    const Roots ours(asked, config), theirs(compiled, config);
    models::Asking(asked, ours.all, kLatents).run(80, depth);
    run(theirs.all, 80);
    CHECK(ours.all[0]->graph().size() == 9);
    CHECK(same_all(ours.said(), theirs.said()));
  }
}

TEST(what_was_asked_can_be_dropped) {
  for (const bool dice : {false, true}) {
    const models::Hashed model(false, dice);
    for (const auto& [width, depth] : kShapes) {
      const Config config = models::config_of(width, dice ? 1 : depth);
      const Roots ours(model, config), twins(model, config);
      models::Asking asking(model, ours.all, kLatents), twin(model, twins.all, kLatents);
      asking.run(20, config.depth);
      twin.run(20, config.depth);
      CHECK(same_all(ours.said(), twins.said()));
      const std::vector<std::uint64_t> goals(kLatents.size(), 40);
      for (std::uint32_t i = 0; i < config.depth; ++i) asking.plan().gather(goals, false);
      CHECK(asking.plan().waits());
      asking.plan().drop();
      std::vector<std::uint64_t> visits;  // some came further: visits of what is over ask nothing
      for (const Search* root : ours.all) visits.push_back(root->root_visits());
      twin.run(visits, config.depth);
      CHECK(same_all(ours.said(), twins.said()));
      asking.run(40, config.depth);
      twin.run(40, config.depth);
      CHECK(same_all(ours.said(), twins.said()));
    }
  }
}

TEST(a_model_that_raises_changes_nothing) {
  models::Hashed broken(true);
  for (const auto& [width, depth] : kShapes) {
    const Config config = models::config_of(width, depth);
    bool raised = false;
    for (std::int64_t at = 0; at < 1000 && !raised; ++at) {
      broken.fails_at = -1;
      const auto search = broken.root(config, 3);
      broken.fails_at = at;
      const std::vector<Search*> roots{search.get()};
      try {
        run(roots, 60);
      } catch (const Failure& failure) {
        raised = !failure.line.empty() && failure.verb == "recurrent" && failure.search == search.get();
        CHECK(!search->in_flight() && sound(*search));
        const auto twin = broken.root(config, 3);
        const std::vector<Search*> twins{twin.get()};
        broken.fails_at = -1;
        if (search->root_visits()) run(twins, search->root_visits());
        CHECK(same(said(*search), said(*twin)));
        run(roots, 60);
        run(twins, 60);
        CHECK(same(said(*search), said(*twin)));
      }
    }
    CHECK(raised);
  }
}

TEST(a_stochastic_model_pauses_at_afterstates) {
  const models::Hashed model(false, true);
  for (const std::uint32_t width : {1u, 4u})
    for (const std::size_t exact : {std::size_t{0}, std::size_t{3}}) {
      Config config = models::config_of(width, 1);
      config.chance.exact_up_to = exact;
      const Roots ours(model, config), shared(model, config);
      models::Asking(model, ours.all, kLatents).run(60, 1);
      models::Asking(model, shared.all, kLatents, 2).run(60, 1);
      CHECK(same_all(ours.said(), shared.said()));
      for (const Search* root : ours.all) {
        CHECK(sound(*root) && root->root_visits() == 60);
        const Graph& g = root->graph();
        std::size_t dice = 0;
        for (NodeId id = 1; id < g.size(); ++id) {
          CHECK((g.nodes[id].kind == Kind::chance) == (g.nodes[g.parent[id]].kind == Kind::decision));
          dice += g.nodes[id].kind == Kind::chance;
        }
        CHECK(dice > 10);
      }
    }
}
