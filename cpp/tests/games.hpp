// Small games in C++ for tests of the engine without Python.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "anabranch/rules.hpp"

namespace games {

using namespace anabranch;

// Connect four 6×7 on bitboards: seven bits a column, the top one always free.
struct ConnectFour {
  struct State {
    std::int64_t stones[2];
    std::int8_t ply;
    bool over;
    std::int8_t unused[6];
  };
  static bool line(std::int64_t s) {
    for (int d : {1, 6, 7, 8}) {
      const std::int64_t pairs = s & (s >> d);
      if (pairs & (pairs >> (2 * d))) return true;
    }
    return false;
  }
  static Status turn(std::int64_t* result, void**, const void*, void* state) {
    const auto* s = static_cast<const State*>(state);
    *result = s->over ? kOver : std::int64_t{1} << (s->ply & 1);
    return 0;
  }
  static Status legal(std::int64_t* result, void**, const void*, void* state, std::int32_t, std::int32_t* actions) {
    const auto* s = static_cast<const State*>(state);
    const std::int64_t taken = s->stones[0] | s->stones[1];
    std::int64_t count = 0;
    for (std::int32_t c = 0; c < 7; ++c)
      if (!(taken >> (c * 7 + 5) & 1)) actions[count++] = c;
    *result = count;
    return 0;
  }
  static Status step(std::int64_t*, void**, const void*, void* state, const std::int32_t* actions, double* rewards) {
    auto* s = static_cast<State*>(state);
    const int mover = s->ply & 1;
    const std::int64_t taken = s->stones[0] | s->stones[1], bottom = std::int64_t{1} << (actions[mover] * 7);
    s->stones[mover] |= (taken + bottom) & (std::int64_t{0x3F} << (actions[mover] * 7));
    ++s->ply;
    if (line(s->stones[mover])) {
      s->over = true;
      rewards[mover] = 1.0;
      rewards[1 - mover] = -1.0;
    } else if (s->ply == 42) {
      s->over = true;
    }
    return 0;
  }
  static Rules rules() {
    Rules r;
    r.state_size = sizeof(State);
    r.players = 2;
    r.actions = 7;
    r.turn = turn;
    r.legal = legal;
    r.step = step;
    return r;
  }
};

}  // namespace games
