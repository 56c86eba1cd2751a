// What Gumbel's rule sees of a player's choices: lists of those that edges tell of, what is added up over them, their completed values,
// and the likeliest of all others (docs/model.md section 10).
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "anabranch/graph.hpp"
#include "anabranch/select/prior.hpp"
#include "anabranch/select/scale.hpp"

namespace anabranch {

// A choice that an edge tells of.
struct TriedChoice {
  std::uint32_t choice;
  double visits, flight;  // N; v, as far as it counts
  double value, prior;
};

// Lists of choices: written down, with what is in flight; or the edges of the only acting player.
struct TriedList {
  static constexpr bool kFlies = true;
  const TriedChoice* first;
  std::size_t count;
  const TriedChoice& operator[](std::size_t at) const { return first[at]; }
};
template <std::size_t P>
struct TriedEdges {
  static constexpr bool kFlies = false;
  const Edge* first;
  std::size_t count, stride, mover;
  const float* prior;
  double equal;
  [[gnu::always_inline]] const Edge& edge(std::size_t at) const {
    return *further(first, at * (P ? sizeof(Edge) + P * sizeof(double) : stride));
  }
  [[gnu::always_inline]] double value(const Edge& of) const { return doubles_of(&of)[P == 1 ? 0 : mover]; }
  [[gnu::always_inline]] TriedChoice operator[](std::size_t at) const {
    const Edge& here = edge(at);
    return {here.move, static_cast<double>(static_cast<std::int32_t>(here.visits)), 0.0, value(here),
            prior ? static_cast<double>(prior[here.move]) : equal};  // counts stay below 2^31
  }
};
// N + v.
template <class List>
double times_of(const TriedChoice& tried) { return List::kFlies ? tried.visits + tried.flight : tried.visits; }

// What is added up over a list.
struct TriedSums {
  double mass = 0.0, weighted = 0.0, visits = 0.0;  // of the visited: Σ P, Σ P·q, Σ N
  double most = 0.0, low = HUGE_VAL, high = -HUGE_VAL;
  double times = 0.0;                  // Σ N + v
  std::size_t visited = 0, tried = 0;  // how many have N > 0, N + v > 0
};
// σ, and what it is for the choices never visited, which share it.
struct CompletedValues {
  double factor, low, width;
  bool by_node;       // scaled by what was seen at the node
  Scaling scaling;    // else
  double gain;        // σ of v_mix, where some choice has it
  bool complete;      // whether all choices were visited
  bool flat = false;  // scaled by the node, where all values are one: σ is 0

  [[gnu::always_inline]] double operator()(double value) const {
    if (flat) return 0.0;
    return by_node ? factor * ((value - low) / width) : factor * scaling(value);
  }
};
template <class List>
[[gnu::always_inline]] inline TriedSums add_up(const List& list) {
  TriedSums sums;
  for (std::size_t at = 0; at < list.count; ++at) {
    const TriedChoice tried = list[at];
    if (tried.visits > 0.0) [[likely]] {
      ++sums.visited;
      sums.mass += tried.prior;
      sums.weighted += tried.prior * tried.value;
      sums.visits += tried.visits;
      sums.most = tried.visits > sums.most ? tried.visits : sums.most;
      sums.low = tried.value < sums.low ? tried.value : sums.low;
      sums.high = tried.value > sums.high ? tried.value : sums.high;
    }
    if constexpr (List::kFlies) {
      sums.times += times_of<List>(tried);
      sums.tried += times_of<List>(tried) > 0.0;
    }
  }
  if constexpr (!List::kFlies) {
    sums.times = sums.visits;
    sums.tried = sums.visited;
  }
  return sums;
}

// Finds the first of the likeliest choices that were never tried. Priors are positive, so their bits are in the order of their values.
class Likeliest {
 public:
  // `prior`: nullptr where all are equally likely.
  template <class List>
  std::uint32_t untried(const List& list, std::size_t size, const float* prior) {
    if (size <= 64) {
      std::uint64_t rest = ~std::uint64_t{0} >> (64 - size);
      for (std::size_t at = 0; at < list.count; ++at)
        if (times_of<List>(list[at]) > 0.0) [[likely]] rest &= ~(std::uint64_t{1} << list[at].choice);
      return among(rest, prior);
    }
    if (bits_.size() < size) bits_.resize(size);
    std::int32_t* const bits = bits_.data();
    for (std::size_t a = 0; a < size; ++a) bits[a] = prior ? std::bit_cast<std::int32_t>(prior[a]) : 1;
    for (std::size_t at = 0; at < list.count; ++at)
      if (times_of<List>(list[at]) > 0.0) bits[list[at].choice] = 0;
    std::int32_t top = 0;
    for (std::size_t a = 0; a < size; ++a) top = bits[a] > top ? bits[a] : top;
    std::size_t best = 0;
    while (bits[best] != top) ++best;
    return static_cast<std::uint32_t>(best);
  }

  // The first of the likeliest among some of at most 64 choices.
  static std::uint32_t among(std::uint64_t rest, const float* prior) {
    auto best = static_cast<std::uint32_t>(std::countr_zero(rest));
    if (!prior) return best;
    float top = prior[best];
    for (rest &= rest - 1; rest; rest &= rest - 1) {
      const auto a = static_cast<std::uint32_t>(std::countr_zero(rest));
      best = prior[a] > top ? a : best;
      top = prior[a] > top ? prior[a] : top;
    }
    return best;
  }

 private:
  std::vector<std::int32_t> bits_;
};

}  // namespace anabranch
