// Exact solutions without Python: games done by hand, failures, limits, and work that is stopped.
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "anabranch/solve.hpp"
#include "check.hpp"
#include "games.hpp"

using namespace anabranch;

namespace {

const std::byte* bytes(const std::vector<std::int64_t>& words) { return reinterpret_cast<const std::byte*>(words.data()); }

Beat quiet() { return Beat([] { return true; }); }

}  // namespace

TEST(a_table_above_dice_has_the_value_done_by_hand) {
  games::TableGame game;  // both choose at once whether the dice are thrown, which pay 3/4 · 1 + 1/4 · (−1)
  game.nodes.resize(3);
  game.nodes[0] = {3, {2, 2}, {{2, {0, 0}}, {1, {0, 0}}, {1, {0, 0}}, {2, {0, 0}}}, {}};
  game.nodes[1] = {kChance, {0, 0}, {{2, {1, -1}}, {2, {-1, 1}}}, {0.75, 0.25}};
  const Rules rules = game.rules();
  FiniteGame finite(rules, bytes(game.start()));
  Beat beat = quiet();
  CHECK(finite.explore(100, beat));
  CHECK(finite.size() == 3);
  Solver solver(finite);
  CHECK(solver.solve({1.0, false, 0.0, 0}, beat) == Solver::Ended::solved);
  CHECK(std::abs(solver.value(0)[0] - 0.25) < 1e-15);  // half of 1/2
  CHECK(std::abs(solver.value(0)[1] + 0.25) < 1e-15);
  CHECK(solver.gap(beat) == std::numeric_limits<double>::infinity());
}

TEST(a_loop_needs_iteration_and_then_has_its_geometric_value) {
  games::TableGame game;
  game.nodes.resize(2);
  game.nodes[0] = {kChance, {0, 0}, {{0, {1, 0}}, {1, {1, 0}}}, {0.75, 0.25}};
  const Rules rules = game.rules();
  FiniteGame finite(rules, bytes(game.start()));
  Beat beat = quiet();
  CHECK(finite.explore(100, beat));
  Solver strict(finite), iterating(finite), impatient(finite);
  CHECK(strict.solve({1.0, false, 0.0, 0}, beat) == Solver::Ended::loop);
  CHECK(strict.where == std::vector<std::uint32_t>{0});
  CHECK(iterating.solve({1.0, true, 1e-13, 1000}, beat) == Solver::Ended::solved);
  CHECK(std::abs(iterating.value(0)[0] - 4.0) < 1e-11);
  CHECK(impatient.solve({1.0, true, 1e-13, 10}, beat) == Solver::Ended::unsettled);
}

TEST(states_beyond_the_limit_are_not_stored) {
  const Rules rules = games::ConnectFour::rules();
  const games::ConnectFour::State start{};
  FiniteGame finite(rules, reinterpret_cast<const std::byte*>(&start));
  Beat beat = quiet();
  CHECK(!finite.explore(1000, beat));
  CHECK(finite.size() == 1000);
  CHECK(finite.expanded() < 1000);
  CHECK(finite.bytes() < 200 * 1000);
}

TEST(work_that_is_told_to_stop_stops) {
  const Rules rules = games::ConnectFour::rules();
  const games::ConnectFour::State start{};
  FiniteGame finite(rules, reinterpret_cast<const std::byte*>(&start));
  Beat beat([] { return false; });
  bool stopped = false;
  try {
    finite.explore(FiniteGame::kMost, beat);
  } catch (const Stopped&) {
    stopped = true;
  }
  CHECK(stopped);
}

// Whichever call of a verb fails, the report has a state of the game and a line of play that leads to it.
TEST(failures_come_with_the_line_of_play) {
  for (std::size_t ballast : {0, 40}) {
    games::TableGame game;
    game.ballast = ballast;
    game.draw(7, 4, true);
    const Rules rules = game.rules();
    int failed = 0;
    for (std::int64_t number = 1;; ++number) {
      game.calls = 0;
      game.fail_at = number;
      FiniteGame finite(rules, bytes(game.start()));
      Beat beat = quiet();
      try {
        CHECK(finite.explore(10000, beat));
        break;
      } catch (const Failure& failure) {
        ++failed;
        game.fail_at = 0;
        std::vector<std::int64_t> state = game.start();
        for (const std::vector<std::int32_t>& move : failure.line) {
          std::vector<std::int32_t> actions(2, kIdle);
          const std::int64_t turn = game.at(state.data()).turn;
          std::size_t at = 0;
          if (turn == kChance) actions[0] = move[0];
          else
            for (std::size_t p = 0; p < 2; ++p)
              if (turn >> p & 1) actions[p] = move[at++];
          double rewards[2];
          std::int64_t nothing = 0;
          call(rules.step, nothing, rules, state.data(), static_cast<const std::int32_t*>(actions.data()), rewards);
        }
        CHECK(std::memcmp(state.data(), failure.state.data(), failure.state.size()) == 0);
      }
    }
    CHECK(failed > 20);
  }
}
