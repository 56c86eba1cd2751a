#include <cstring>
#include <functional>
#include <vector>

#include "anabranch/forest.hpp"
#include "anabranch/restore.hpp"
#include "check.hpp"
#include "games.hpp"

using namespace anabranch;

namespace {

const games::ConnectFour::State kStart{};

NativeEvaluator hashing() {
  NativeEvaluator evaluator;
  evaluator.kind = NativeEvaluator::Kind::hashing;
  return evaluator;
}

// A search of connect four, begun or not.
struct Made {
  Config config;
  Search search;

  explicit Made(Config wanted = Config{})
      : config(wanted), search(games::ConnectFour::rules(), config, hashing(), 3, reinterpret_cast<const std::byte*>(&kStart)) {}

  void run(std::uint64_t visits) {
    Budget budget;
    budget.goals = {visits};
    Forest::run({&search}, budget, 1, [] { return true; });
  }
};

bool same(const std::vector<SavedColumn>& a, const std::vector<SavedColumn>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i].name != b[i].name || a[i].bytes != b[i].bytes) return false;
  return true;
}

bool same(const Snapshot& a, const Snapshot& b) {
  return a.visits == b.visits && a.parents == b.parents && a.edge_counts == b.edge_counts && a.has_rows == b.has_rows &&
         a.records == b.records && a.means == b.means && a.evaluations == b.evaluations && a.edge_visits == b.edge_visits &&
         a.children == b.children && a.moves == b.moves && a.edge_values == b.edge_values && same(a.columns, b.columns);
}

template <class T>
void flip(std::vector<T>& column, std::uint64_t& random) {
  if (column.empty()) return;
  random = mix(random + kGolden);
  const std::size_t bit = random % (column.size() * sizeof(T) * 8);
  auto* bytes = reinterpret_cast<unsigned char*>(column.data());
  bytes[bit / 8] = static_cast<unsigned char>(bytes[bit / 8] ^ (1u << (bit % 8)));
}

}  // namespace

TEST(a_restored_search_goes_on_as_if_it_had_never_stopped) {
  for (const std::size_t limit : {std::size_t{1} << 40, std::size_t{150000}}) {
    Config config;
    config.max_bytes = limit;
    Made whole(config), half(config), restored(config);
    whole.run(3000);
    half.run(1200);
    Restore::into(restored.search, Snapshots::take(half.search));
    CHECK(restored.search.graph().bytes() == half.search.graph().bytes());
    restored.run(3000);
    CHECK(same(Snapshots::take(restored.search), Snapshots::take(whole.search)));
    CHECK(restored.search.graph().bytes() == whole.search.graph().bytes());
  }
}

// Columns changed at random: refused, or else a graph that can be searched; under sanitizers this shows that none crashes.
TEST(no_snapshot_crashes_the_engine) {
  Made made;
  made.run(400);
  const Snapshot good = Snapshots::take(made.search);
  std::uint64_t random = 1;
  int refused = 0;
  for (int trial = 0; trial < 1500; ++trial) {
    Snapshot bad = good;
    const std::vector<std::function<void()>> changes{
        [&] { flip(bad.visits, random); },      [&] { flip(bad.parents, random); },     [&] { flip(bad.edge_counts, random); },
        [&] { flip(bad.has_rows, random); },   [&] { flip(bad.records, random); },     [&] { flip(bad.means, random); },
        [&] { flip(bad.evaluations, random); },    [&] { flip(bad.edge_visits, random); }, [&] { flip(bad.children, random); },
        [&] { flip(bad.moves, random); },       [&] { flip(bad.edge_values, random); }, [&] { flip(bad.column("priors")->bytes, random); },
        [&] { bad.visits.pop_back(); },         [&] { bad.children.pop_back(); },       [&] { bad.column("priors")->bytes.pop_back(); },
        [&] { bad.free[random % 32] += static_cast<std::uint32_t>(random >> 40); },
        [&] { std::swap(bad.children[0], bad.children.back()); },
        [&] { bad.low.pop_back(); }};
    changes[static_cast<std::size_t>(trial) % changes.size()]();
    Made fresh;
    try {
      Restore::into(fresh.search, bad);
      fresh.run(600);
    } catch (const Damaged&) {
      ++refused;
    } catch (const Failure&) {
      ++refused;
    }
  }
  CHECK(refused > 1000);
}
