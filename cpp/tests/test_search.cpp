#include <algorithm>
#include <chrono>
#include <cstring>
#include <iterator>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "anabranch/forest.hpp"
#include "check.hpp"
#include "games.hpp"
#include "said.hpp"

using namespace anabranch;

namespace {

std::vector<std::uint32_t> root_visits(const Search& search) {
  std::vector<std::uint32_t> visits(7, 0);
  const Node& root = search.graph().nodes[0];
  for (EdgeId e = root.edges; e < root.edges + root.edge_count; ++e) visits[search.graph().edges[e].move] = search.graph().edges[e].visits;
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

namespace {

constexpr std::uint64_t kGoal = 60;

}  // namespace

// Let every so many-th call fail, one search each: the graph must then be as it was before that playout, and the next run end
// where an undisturbed one does. How many failed.
static int disturb(games::TableGame& game, const Config& config, const NativeEvaluator& evaluator, std::int64_t sparse) {
  const std::vector<std::int64_t> start = game.start();
  const auto make = [&] {
    return std::make_unique<Search>(game.rules(), config, evaluator, 0, reinterpret_cast<const std::byte*>(start.data()));
  };
  const auto clean = make();
  std::vector<Said> after{said(*clean)};
  for (std::uint64_t visits = 0; visits <= kGoal; ++visits) {
    run(*clean, visits);
    after.push_back(said(*clean));
  }
  CHECK(sound(*clean));
  int accidents = 0;
  for (std::int64_t call = 1; call < 3000; call += 1 + call / sparse) {
    const auto search = make();
    game.calls = 0;
    game.fail_at = call;
    bool failed = false;
    try {
      run(*search, kGoal);
    } catch (const Failure& failure) {
      failed = true;
      CHECK(failure.cause == Failure::Cause::verb && failure.search == search.get());
      CHECK(failure.state.size() == game.bytes());
      std::int64_t number = -1;  // of the state the verb was called on, not of what it left behind
      std::memcpy(&number, failure.state.data(), 8);
      CHECK(number >= 0 && number < static_cast<std::int64_t>(game.nodes.size()));
    }
    game.fail_at = 0;
    if (!failed) break;
    ++accidents;
    const std::size_t done = search->root_ready() ? static_cast<std::size_t>(search->root_visits()) + 1 : 0;
    CHECK(same(said(*search), after[done]) || (done == 1 && same(said(*search), after[0])));
    run(*search, kGoal);
    CHECK(same(said(*search), after.back()));
  }
  return accidents;
}

// Decisions of one and of two players, chance, repetitions, and every setting.
TEST(a_failure_at_any_call_leaves_the_graph_as_it_was) {
  int accidents = 0;
  std::uint64_t seed = 0;
  for (const Cycles cycles : {Cycles::refused, Cycles::bootstrap, Cycles::valued}) {
    for (Config config : settings()) {
      if (!config.merge && cycles != Cycles::refused) continue;  // a tree of a game that comes back has no end
      for (const auto kind : {NativeEvaluator::Kind::hashing, NativeEvaluator::Kind::uniform, NativeEvaluator::Kind::rollout}) {
        games::TableGame game;
        game.draw(++seed, 7, cycles != Cycles::refused);
        game.ballast = seed % 3 == 0 ? 40 : 0;  // records above 256 bytes are kept as differences
        config.cycles = cycles;
        config.repetition = 0.25;
        NativeEvaluator evaluator = evaluator_of(kind);
        evaluator.max_depth = 30;
        accidents += disturb(game, config, evaluator, 8);
      }
    }
  }
  CHECK(accidents > 2000);
}

// Enumerating one chance node visits two others: the first goes on through nodes that were there before, the second fails.
TEST(a_failure_after_other_visits_of_one_playout_undoes_those_too) {
  constexpr std::int64_t kRoot = 0, kDecision = 1, kEnumerated = 2, kFirst = 3, kSecond = 4, kEarly = 5, kLate = 6, kEnd = 7, kOther = 8;
  int accidents = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    for (const Cycles cycles : {Cycles::refused, Cycles::bootstrap, Cycles::valued}) {
      games::TableGame game;
      game.nodes.resize(9);
      Random random{seed};
      const auto decide = [&](std::int64_t node, int player, std::initializer_list<std::int64_t> children) {
        game.nodes[static_cast<std::size_t>(node)].turn = std::int64_t{1} << player;
        game.nodes[static_cast<std::size_t>(node)].counts[player] = static_cast<std::int32_t>(children.size());
        for (const std::int64_t child : children)
          game.nodes[static_cast<std::size_t>(node)].edges.push_back({child, {random.uniform() - 0.5, random.uniform() - 0.5}});
      };
      const auto roll = [&](std::int64_t node, std::initializer_list<std::int64_t> children) {
        decide(node, 0, children);
        game.nodes[static_cast<std::size_t>(node)].turn = kChance;
        game.nodes[static_cast<std::size_t>(node)].chances = children.size() == 2 ? std::vector<double>{0.5, 0.5} : std::vector<double>{0.5, 0.25, 0.25};
      };
      decide(kRoot, 0, {kDecision, kEnumerated, kLate});
      if (seed % 4 == 0) decide(kDecision, 1, {kEarly});
      else if (seed % 4 == 1 && cycles != Cycles::refused) decide(kDecision, 1, {kRoot});
      else decide(kDecision, 1, {kEarly, cycles == Cycles::refused ? kLate : kRoot, kLate});
      roll(kEnumerated, {kFirst, kSecond});
      roll(kFirst, {kDecision, kDecision, kEarly});
      roll(kSecond, {kEnd, kOther, kEnd});
      decide(kEarly, 0, {kLate, kEnd});
      decide(kLate, 1, {kOther, kEnd, kEnd});
      decide(kOther, 0, {kEnd, kEnd});
      Config config;
      config.cycles = cycles;
      config.repetition = 0.25;
      config.chance.exact_up_to = 2;
      config.selector.c_init = 0.2 + 0.1 * static_cast<double>(seed % 12);  // so that the enumerated node is tried early or late
      config.stop = seed % 3 != 0;
      config.rho = 0.4;
      if (seed % 2) config.selector.scale = Scale::graph;
      accidents += disturb(game, config, evaluator_of(NativeEvaluator::Kind::hashing), 1000000);
    }
  }
  CHECK(accidents > 2000);
}

TEST(repeated_failures_do_not_make_a_graph_grow) {
  games::TableGame game;
  game.draw(11, 6, false);
  Config config;
  config.chance.exact_up_to = 3;
  const std::vector<std::int64_t> start = game.start();
  Search search(game.rules(), config, evaluator_of(NativeEvaluator::Kind::hashing), 0, reinterpret_cast<const std::byte*>(start.data()));
  run(search, 3);
  const auto fail = [&](std::int64_t call) {
    game.calls = 0;
    game.fail_at = call;
    try {
      run(search, search.root_visits() + 1);
      CHECK(false);
    } catch (const Failure&) {
    }
    game.fail_at = 0;
  };
  std::int64_t calls = 0;  // how many calls the next playout takes
  {
    Search other(game.rules(), config, evaluator_of(NativeEvaluator::Kind::hashing), 0, reinterpret_cast<const std::byte*>(start.data()));
    run(other, 3);
    game.calls = 0;
    game.fail_at = INT64_MAX;
    run(other, 4);
    calls = game.calls;
    game.fail_at = 0;
  }
  CHECK(calls > 2);
  for (std::int64_t call = 1; call <= calls; ++call) fail(call);
  const std::size_t held = search.graph().bytes();
  for (int i = 0; i < 2000; ++i) fail(1 + i % calls);
  CHECK(search.graph().bytes() == held);
}

// The same waves, once by the engine's own evaluator and once by asking somebody who says the same. Waves given up are begun
// anew as if they had never been; with several in flight, those begun anew would see others before them.
TEST(asking_for_evaluations_equals_evaluating) {
  std::uint64_t seed = 100;
  const std::pair<std::uint32_t, std::uint32_t> shapes[] = {{1, 1}, {1, 1}, {3, 1}, {8, 1}, {1, 2}, {4, 3}};
  for (const bool loops : {false, true}) {
    for (Config config : settings()) {
      if (!config.merge && loops) continue;
      for (std::size_t trial = 0; trial < std::size(shapes); ++trial) {
        games::TableGame game;
        game.draw(++seed, 5, loops);
        config.cycles = loops ? Cycles::bootstrap : Cycles::refused;
        std::tie(config.width, config.depth) = shapes[trial];
        const std::vector<std::int64_t> start = game.start();
        const auto* root = reinterpret_cast<const std::byte*>(start.data());
        const NativeEvaluator hashing = evaluator_of(NativeEvaluator::Kind::hashing);
        Search own(game.rules(), config, hashing, 0, root);
        Search asking(game.rules(), config, evaluator_of(NativeEvaluator::Kind::none), 0, root);
        run(own, 60);
        bool patient = config.depth > 1 || trial % 2 == 0;
        std::vector<std::vector<std::uint64_t>> keys;  // asked about and not answered, wave by wave
        for (;;) {
          if (asking.proceed(60, false, [] { return true; })) {
            if (!patient && asking.graph().size() % 3 == 0) {
              patient = true;
              asking.undo();
              CHECK(!asking.in_flight());
              continue;
            }
            asking.handed_out();
            keys.emplace_back();
            for (const Request& request : asking.asking().requests) keys.back().push_back(request.key);
            if (keys.size() < config.depth) continue;
          } else if (keys.empty()) {
            break;
          }
          std::vector<double> logits(keys[0].size() * 6), values(keys[0].size() * 2);
          for (std::size_t i = 0; i < keys[0].size(); ++i)
            evaluate_by_hash(hashing, keys[0][i], 2, 3, config.returns_low, config.returns_high, &logits[i * 6], &values[i * 2]);
          CHECK(asking.awaited() == keys[0].size());
          asking.answer(logits.data(), 6, values.data());
          keys.erase(keys.begin());
        }
        asking.undo();  // nothing is in progress: nothing happens
        CHECK(asking.root_visits() == own.root_visits());
        CHECK(same(said(asking), said(own)));
      }
    }
  }
}

// A root that moves on keeps what is below its child: the same nodes and edges, to be searched on; and waves given up in it
// leave it as it was.
TEST(a_root_that_moves_on_keeps_what_is_below) {
  std::uint64_t seed = 900;
  for (Config config : settings()) {
    for (const std::uint32_t width : {1u, 4u}) {
      games::TableGame game;
      game.draw(++seed, 5, false);
      config.width = width;
      const std::vector<std::int64_t> start = game.start();
      Search search(game.rules(), config, evaluator_of(NativeEvaluator::Kind::hashing), 0, reinterpret_cast<const std::byte*>(start.data()));
      run(search, 200);
      const Node& root = search.graph().nodes[0];
      NodeId child = kNone;
      for (EdgeId e = root.edges; e < root.edges + root.edge_count; ++e)
        if (search.graph().edges[e].child != kNone) child = search.graph().edges[e].child;
      if (child == kNone) continue;
      const std::uint32_t visits = search.graph().nodes[child].visits;
      const double value = search.graph().mean(child)[0];
      std::vector<std::uint64_t> record(game.rules().state_size / 8 + 1);
      search.graph().states.load(child, reinterpret_cast<std::byte*>(record.data()));
      for (const Keep keep : {Keep::graph, Keep::evaluations, Keep::nothing}) {
        search.advance(keep == Keep::graph ? child : kNone, reinterpret_cast<const std::byte*>(record.data()), keep);
        if (keep == Keep::graph) {
          CHECK(search.graph().nodes[0].visits == visits);
          CHECK(search.graph().mean(0)[0] == value);
        } else {
          CHECK(search.graph().size() == 1);
        }
        const std::uint64_t before = search.root_visits();
        run(search, before + 100);
        CHECK(search.over() || search.root_visits() == before + 100);
      }
      CHECK(search.root_number() == 3);
    }
  }
}

TEST(an_undeclared_cycle_is_a_failure) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    games::TableGame game;
    game.draw(seed, 5, true);
    const std::vector<std::int64_t> start = game.start();
    Search search(game.rules(), Config{}, evaluator_of(NativeEvaluator::Kind::uniform), 0, reinterpret_cast<const std::byte*>(start.data()));
    try {
      run(search, 2000);
    } catch (const Failure& failure) {
      ++found;
      CHECK(failure.cause == Failure::Cause::cycle && !failure.line.empty());
    }
    CHECK(sound(search));
  }
  CHECK(found > 5);
}

TEST(roots_on_many_threads_fail_one_by_one) {
  games::TableGame game;
  game.draw(5, 6, false);
  Config config;
  config.chance.exact_up_to = 3;
  const std::vector<std::int64_t> start = game.start();
  const auto* root = reinterpret_cast<const std::byte*>(start.data());
  std::vector<std::unique_ptr<Search>> made;
  std::vector<Search*> roots;
  for (std::uint64_t stream = 0; stream < 8; ++stream) {
    made.push_back(std::make_unique<Search>(game.rules(), config, evaluator_of(NativeEvaluator::Kind::rollout), stream, root));
    roots.push_back(made.back().get());
  }
  Budget budget;
  budget.goals.assign(roots.size(), 200);
  for (const std::int64_t call : {3, 50, 400, 900}) {
    game.calls = 0;
    game.fail_at = call;
    bool failed = false;
    try {
      Forest::run(roots, budget, 4, [] { return true; });
    } catch (const Failure&) {
      failed = true;
    }
    game.fail_at = 0;
    CHECK(failed);
    for (const Search* search : roots) CHECK(sound(*search));
  }
  Forest::run(roots, budget, 4, [] { return true; });
  for (std::uint64_t stream = 0; stream < 8; ++stream) {
    Search alone(game.rules(), config, evaluator_of(NativeEvaluator::Kind::rollout), stream, root);
    run(alone, 200);
    CHECK(same(said(*roots[stream]), said(alone)));
  }
}

TEST(against_the_clock_roots_take_turns) {
  const Rules rules = games::ConnectFour::rules();
  const games::ConnectFour::State start{};
  for (const std::size_t threads : {1u, 3u}) {
    std::vector<std::unique_ptr<Search>> made;
    std::vector<Search*> roots;
    for (std::uint64_t stream = 0; stream < 7; ++stream) {
      made.push_back(std::make_unique<Search>(rules, Config{}, evaluator_of(NativeEvaluator::Kind::uniform), stream, reinterpret_cast<const std::byte*>(&start)));
      roots.push_back(made.back().get());
    }
    Budget budget;
    budget.goals.assign(roots.size(), 1u << 30);
    budget.deadline = Clock::now() + std::chrono::milliseconds(100);
    const std::vector<std::uint64_t> done = Forest::run(roots, budget, threads, [] { return true; });
    for (const std::uint64_t count : done) CHECK(count > 0);
    if (threads == 1) CHECK(*std::max_element(done.begin(), done.end()) - *std::min_element(done.begin(), done.end()) <= 16);
  }
}

TEST(a_poll_that_says_stop_stops_the_work) {
  const Rules rules = games::ConnectFour::rules();
  const games::ConnectFour::State start{};
  for (const std::size_t threads : {1u, 3u}) {
    std::vector<std::unique_ptr<Search>> made;
    std::vector<Search*> roots;
    for (std::uint64_t stream = 0; stream < 4; ++stream) {
      made.push_back(std::make_unique<Search>(rules, Config{}, evaluator_of(NativeEvaluator::Kind::uniform), stream, reinterpret_cast<const std::byte*>(&start)));
      roots.push_back(made.back().get());
    }
    Budget budget;
    budget.goals.assign(roots.size(), 1u << 30);
    int polls = 0;
    std::uint64_t then = 0;
    Forest::run(roots, budget, threads, [&] {
      if (threads == 1) then = roots[0]->root_visits();  // with more, another thread may be at it
      return ++polls < 5;
    });
    CHECK(polls == 5);
    CHECK(threads > 1 || roots[0]->root_visits() == then);
    for (const Search* search : roots) CHECK(sound(*search));
  }
}

TEST(memory_stays_within_its_limit_and_the_search_goes_on) {
  const Rules rules = games::ConnectFour::rules();
  const games::ConnectFour::State start{};
  for (const std::size_t limit : {65536u, 200000u, 210000u, 1000000u}) {
    Config config;
    config.max_bytes = limit;
    Search search(rules, config, evaluator_of(NativeEvaluator::Kind::uniform), 0, reinterpret_cast<const std::byte*>(&start));
    for (const std::uint64_t visits : {2000u, 10000u, 40000u}) {
      run(search, visits);
      CHECK(search.root_visits() == visits);
      CHECK(search.graph().bytes() <= limit + limit / 20);
    }
    CHECK(sound(search));
  }
}
