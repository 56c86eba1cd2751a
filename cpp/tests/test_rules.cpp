// A small game written in C++ fills the same struct as compiled Python: take 1 to 3 of the stones; whoever takes the last wins.
#include "anabranch/rules.hpp"

#include <limits>

#include "check.hpp"

using namespace anabranch;

namespace {

struct Stones {
  std::int64_t left;
  std::int64_t mover;
};

struct Limits {
  std::int64_t most;
};

Status turn(std::int64_t* result, void**, const void*, void* state) {
  const auto& stones = *static_cast<const Stones*>(state);
  *result = stones.left == 0 ? kOver : std::int64_t{1} << stones.mover;
  return 0;
}

Status legal(std::int64_t* result, void**, const void* self, void* state, std::int32_t, std::int32_t* actions) {
  const auto& stones = *static_cast<const Stones*>(state);
  std::int32_t count = 0;
  for (std::int32_t take = 1; take <= static_cast<const Limits*>(self)->most && take <= stones.left; ++take)
    actions[count++] = take - 1;
  *result = count;
  return 0;
}

Status step(std::int64_t*, void**, const void*, void* state, const std::int32_t* actions, double* rewards) {
  auto& stones = *static_cast<Stones*>(state);
  const std::int64_t mover = stones.mover, take = actions[mover] + 1;
  if (take > stones.left) return 1;  // as a verb that raises
  stones.left -= take;
  stones.mover = 1 - mover;
  if (stones.left == 0) {
    rewards[mover] = 1.0;
    rewards[1 - mover] = -1.0;
  }
  return 0;
}

const Limits limits{3};

Rules take_away() {
  Rules rules;
  rules.instance = &limits;
  rules.state_size = sizeof(Stones);
  rules.players = 2;
  rules.actions = 3;
  rules.turn = turn;
  rules.legal = legal;
  rules.step = step;
  return rules;
}

// Whether the mover wins, by trying every line of play.
bool wins(const Rules& rules, const Stones& start) {
  Stones now = start;
  std::int64_t bits = 0, count = 0, ignored = 0;
  if (!call(rules.turn, bits, rules, &now) || bits == kOver) return false;
  std::int32_t actions[3];
  CHECK(call(rules.legal, count, rules, &now, static_cast<std::int32_t>(now.mover), actions));
  CHECK(valid_ids(actions, count, rules.actions));
  for (std::int64_t i = 0; i < count; ++i) {
    Stones after = start;
    std::int32_t joint[2] = {kIdle, kIdle};
    joint[start.mover] = actions[i];
    double rewards[2] = {0.0, 0.0};
    CHECK(call(rules.step, ignored, rules, &after, joint, rewards));
    if (rewards[start.mover] == 1.0 || (after.left > 0 && !wins(rules, after))) return true;
  }
  return false;
}

}  // namespace

// Bouton 1901, in the form every schoolbook has: the mover loses exactly when four divides the stones.
TEST(rules_in_cpp_play_take_away) {
  const Rules rules = take_away();
  for (std::int64_t left = 1; left <= 12; ++left) CHECK(wins(rules, {left, 0}) == (left % 4 != 0));
}

TEST(a_verb_that_raises_says_so) {
  const Rules rules = take_away();
  Stones stones{1, 0};
  const std::int32_t too_many[2] = {2, kIdle};
  double rewards[2] = {0.0, 0.0};
  std::int64_t ignored = 0;
  CHECK(!call(rules.step, ignored, rules, &stones, too_many, rewards));
}

TEST(turns_name_existing_players) {
  const Rules rules = take_away();
  CHECK(valid_turn(rules, kOver) && valid_turn(rules, kChance) && valid_turn(rules, 3));
  CHECK(!valid_turn(rules, 4) && !valid_turn(rules, -2));
}

TEST(ids_ascend_and_stay_below_their_limit) {
  const std::int32_t good[3] = {0, 2, 4}, equal[2] = {1, 1}, negative[1] = {-1};
  CHECK(valid_ids(good, 3, 5) && valid_ids(good, 0, 5));
  CHECK(!valid_ids(good, 3, 4) && !valid_ids(good, -1, 5) && !valid_ids(good, 6, 5));
  CHECK(!valid_ids(equal, 2, 5) && !valid_ids(negative, 1, 5));
}

TEST(chances_are_a_distribution) {
  Rules rules = take_away();
  rules.outcomes = 3;
  const std::int32_t ids[3] = {4, 0, 2}, twice[3] = {4, 0, 4};
  const double fair[3] = {0.25, 0.5, 0.25}, short_of_one[3] = {0.25, 0.5, 0.15}, zero[3] = {0.5, 0.5, 0.0};
  const double nan[3] = {std::numeric_limits<double>::quiet_NaN(), 0.5, 0.5};
  CHECK(valid_chances(rules, ids, fair, 3));
  CHECK(!valid_chances(rules, twice, fair, 3) && !valid_chances(rules, ids, short_of_one, 3));
  CHECK(!valid_chances(rules, ids, zero, 3) && !valid_chances(rules, ids, nan, 3));
  CHECK(!valid_chances(rules, ids, fair, 0) && !valid_chances(rules, ids, fair, 4));
}

TEST(rewards_are_finite) {
  const double good[2] = {-1e308, 0.0}, infinite[1] = {std::numeric_limits<double>::infinity()};
  const double nan[1] = {std::numeric_limits<double>::quiet_NaN()};
  CHECK(finite(good, 2) && !finite(infinite, 1) && !finite(nan, 1));
}
