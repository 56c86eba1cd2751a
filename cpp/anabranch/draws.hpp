// The random numbers of one search: a draw is a function of what it is for, never of when it is made. Same as
// src/anabranch/search/maths/draws.py.
#pragma once

#include <cstdint>

#include "anabranch/random.hpp"

namespace anabranch {

enum class Purpose : std::uint64_t { select = 1, ties, chance, spread, leak, freeze, evaluate, noise, cap, gumbel };

struct Draws {
  std::uint64_t root, graph;  // `graph` is for what must survive an advance

  Draws(std::uint64_t seed, std::uint64_t stream, std::uint64_t root_number) {
    const std::uint64_t now[3] = {seed, stream, root_number}, first[3] = {seed, stream, 0};
    root = key_of(now);
    graph = key_of(first);
  }

  std::uint64_t key(Purpose purpose, std::uint64_t player, std::uint64_t node, std::uint64_t count) const {
    return fold(fold(fold(fold(root, static_cast<std::uint64_t>(purpose)), player), node), count);
  }
  double uniform(Purpose purpose, std::uint64_t player, std::uint64_t node, std::uint64_t count) const {
    return unit(key(purpose, player, node, count));
  }
  // Where the spread of a chance node starts; it stays with the node when the root moves on.
  double offset(std::uint64_t node) const {
    return unit(fold(fold(graph, static_cast<std::uint64_t>(Purpose::spread)), node));
  }
  // What an evaluator mixes with a node's key for numbers of its own.
  std::uint64_t evaluation() const { return fold(root, static_cast<std::uint64_t>(Purpose::evaluate)); }
};

}  // namespace anabranch
