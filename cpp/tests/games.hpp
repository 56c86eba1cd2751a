// Small games in C++ for tests of the engine without Python.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "anabranch/random.hpp"
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

// Two players who move at once on a board of 7 × 7 without walls and collect pieces of cheese, a simple PyRat: rewards on the
// way, a horizon in the state, and moves off the board that are the same as staying.
struct Cheese {
  struct State {
    std::int64_t cheese;  // cells that still have a piece, as bits
    std::int8_t at[2], turns, unused[5];
  };
  static constexpr int kSize = 7, kTurns = 30;

  static State start() {
    State s{};
    for (const int cell : {3, 8, 12, 17, 22, 24, 26, 31, 36, 40, 45}) s.cheese |= std::int64_t{1} << cell;
    s.at[1] = kSize * kSize - 1;
    return s;
  }
  static int target(int cell, std::int32_t action) {  // stay, up, right, down, left
    const int row = cell / kSize, column = cell % kSize;
    if (action == 1 && row > 0) return cell - kSize;
    if (action == 2 && column < kSize - 1) return cell + 1;
    if (action == 3 && row < kSize - 1) return cell + kSize;
    if (action == 4 && column > 0) return cell - 1;
    return cell;
  }
  static Status turn(std::int64_t* result, void**, const void*, void* state) {
    const auto* s = static_cast<const State*>(state);
    *result = s->turns == kTurns || s->cheese == 0 ? kOver : 3;
    return 0;
  }
  static Status legal(std::int64_t* result, void**, const void*, void*, std::int32_t, std::int32_t* actions) {
    for (std::int32_t a = 0; a < 5; ++a) actions[a] = a;
    *result = 5;
    return 0;
  }
  static Status same(std::int64_t* result, void**, const void*, void* state, std::int32_t player, std::int32_t action) {
    const int cell = static_cast<const State*>(state)->at[player];
    *result = target(cell, action) == cell ? 0 : action;
    return 0;
  }
  static Status step(std::int64_t*, void**, const void*, void* state, const std::int32_t* actions, double* rewards) {
    auto* s = static_cast<State*>(state);
    for (int p = 0; p < 2; ++p) s->at[p] = static_cast<std::int8_t>(target(s->at[p], actions[p]));
    for (int p = 0; p < 2; ++p)
      if (s->cheese >> s->at[p] & 1) rewards[p] = s->at[0] == s->at[1] ? 0.5 : 1.0;
    for (int p = 0; p < 2; ++p) s->cheese &= ~(std::int64_t{1} << s->at[p]);
    ++s->turns;
    return 0;
  }
  static Rules rules() {
    Rules r;
    r.state_size = sizeof(State);
    r.players = 2;
    r.actions = 5;
    r.turn = turn;
    r.legal = legal;
    r.step = step;
    r.same = same;
    return r;
  }
};

// A finite game as a table: decisions of one or two players, and chance. Nodes are numbered; the state is a number, followed
// by as many words of ballast as wanted. The k-th call of any verb may be made to fail.
struct TableGame {
  struct Edge {
    std::int64_t child;
    double rewards[2];
  };
  struct Node {
    std::int64_t turn = kOver;
    std::int32_t counts[2] = {0, 0};  // choices of each player
    std::vector<Edge> edges;          // one per joint choice, the second player's running fastest, or per outcome
    std::vector<double> chances;
  };
  std::vector<Node> nodes;
  std::size_t ballast = 0;                       // words after the node's number
  mutable std::atomic<std::int64_t> calls{0};
  std::atomic<std::int64_t> fail_at{0};          // 0: never

  static const TableGame& of(const void* self) { return *static_cast<const TableGame*>(self); }
  bool fails() const {
    const std::int64_t limit = fail_at.load(std::memory_order_relaxed);
    return limit > 0 && ++calls == limit;
  }
  const Node& at(const void* state) const { return nodes[static_cast<std::size_t>(*static_cast<const std::int64_t*>(state))]; }

  static Status turn(std::int64_t* result, void**, const void* self, void* state) {
    if (of(self).fails()) return 1;
    *result = of(self).at(state).turn;
    return 0;
  }
  static Status legal(std::int64_t* result, void**, const void* self, void* state, std::int32_t player, std::int32_t* actions) {
    if (of(self).fails()) return 1;
    const std::int32_t count = of(self).at(state).counts[player];
    for (std::int32_t a = 0; a < count; ++a) actions[a] = a;
    *result = count;
    return 0;
  }
  static Status step(std::int64_t*, void**, const void* self, void* state, const std::int32_t* actions, double* rewards) {
    const TableGame& game = of(self);
    if (game.fails()) {
      std::memset(state, 0xEE, game.bytes());  // a verb that raises may leave anything behind
      return 1;
    }
    const Node& node = game.at(state);
    std::int32_t index = 0;
    if (node.turn == kChance) index = actions[0];
    else
      for (int p = 0; p < 2; ++p)
        if (node.turn >> p & 1) index = index * node.counts[p] + actions[p];
    const Edge& edge = node.edges[static_cast<std::size_t>(index)];
    for (int p = 0; p < 2; ++p) rewards[p] = edge.rewards[p];
    auto* words = static_cast<std::int64_t*>(state);
    words[0] = edge.child;
    if (game.ballast > 0) words[1 + static_cast<std::size_t>(edge.child) % game.ballast] = edge.child * 3;
    return 0;
  }
  static Status chance(std::int64_t* result, void**, const void* self, void* state, std::int32_t* outcomes, double* chances) {
    if (of(self).fails()) return 1;
    const Node& node = of(self).at(state);
    for (std::size_t o = 0; o < node.chances.size(); ++o) {
      outcomes[o] = static_cast<std::int32_t>(o);
      chances[o] = node.chances[o];
    }
    *result = static_cast<std::int64_t>(node.chances.size());
    return 0;
  }

  std::size_t bytes() const { return 8 * (1 + ballast); }
  std::vector<std::int64_t> start() const { return std::vector<std::int64_t>(1 + ballast, 0); }
  Rules rules() const {
    Rules r;
    r.instance = this;
    r.state_size = bytes();
    r.players = 2;
    r.actions = 3;
    r.outcomes = 3;
    r.turn = turn;
    r.legal = legal;
    r.step = step;
    r.chance = chance;
    return r;
  }

  // Draw a game in layers of six; the last layer is over. Much chance, so that enumerations nest; with `loops` some edges
  // lead back.
  void draw(std::uint64_t seed, int layers, bool loops) {
    constexpr int kWidth = 6;
    Random random{seed};
    nodes.assign(static_cast<std::size_t>(layers * kWidth + 1), Node{});
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      Node& node = nodes[n];
      const int layer = n == 0 ? 0 : 1 + static_cast<int>(n - 1) / kWidth;
      if (layer == layers) continue;
      const double kind = random.uniform();
      std::size_t edges = 1;
      if (n > 0 && kind < 0.45) {
        node.turn = kChance;
        edges = 2 + static_cast<std::size_t>(random.below(2));
        for (std::size_t o = 0; o < edges; ++o) node.chances.push_back(edges == 2 ? 0.5 : o == 0 ? 0.5 : 0.25);
      } else {
        node.turn = kind < 0.65 ? 3 : 1 + random.below(2);
        for (int p = 0; p < 2; ++p)
          if (node.turn >> p & 1) edges *= static_cast<std::size_t>(node.counts[p] = 1 + random.below(3));
      }
      for (std::size_t e = 0; e < edges; ++e) {
        const int to = loops && random.uniform() < 0.15 ? 1 + random.below(layer + 1) : layer + 1;
        const int child = 1 + (to - 1) * kWidth + random.below(kWidth);
        const double reward = (random.below(17) - 8) / 16.0;
        node.edges.push_back({child, {random.uniform() < 0.5 ? 0.0 : reward, -reward}});
      }
    }
  }
};

}  // namespace games
