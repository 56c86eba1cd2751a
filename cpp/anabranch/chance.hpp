// Chance nodes: which outcome the k-th visit draws, and what an outcome's edge leads to (docs/model.md section 6).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "anabranch/context.hpp"

namespace anabranch {

inline constexpr double kGoldenStep = 0.61803398874989484820;  // (√5 − 1) / 2

class Dice {
 public:
  explicit Dice(Context& context) : left_(), c(context) {}

  // Whether the first visit of a chance node makes several children as one batch: all outcomes, or several draws.
  bool opens_at_once(Node& node) const {
    const bool exact = c.graph.rules.chance && c.graph.outcomes_of(node).outcomes.size() <= c.config.chance.exact_up_to;
    if (exact) node.set(kExact);
    return exact || c.config.chance.draws > 1;
  }

  // How many children or draws that is.
  std::size_t first_batch(const Node& node) const {
    return node.is(kExact) ? c.graph.outcomes_of(node).outcomes.size() : c.config.chance.draws;
  }

  // Which draw this visit makes, 1 for the first; those in flight have made theirs.
  std::uint32_t next_draw(NodeId at) const {
    const Graph& g = c.graph;
    const Node& node = g.nodes[at];
    if (node.is(kExact)) return node.visits + (g.passing.kept() ? g.passing[at] : 0) + 1;
    std::uint32_t drawn = 0;
    for (const EdgeId e : EdgeIds(node)) drawn += g.edges[e].visits + g.edge_in_flight(e);
    return drawn + 1;
  }

  // The outcome of the `number`-th draw: its place in the list, or its id where only `draw` knows.
  std::uint32_t drawn(NodeId at, std::uint32_t number) {
    const std::uint64_t key = c.graph.key[at];
    if (!c.graph.rules.chance) {
      c.load(at);
      Random random{c.draws.key(Purpose::chance, 0, key, number)};
      return static_cast<std::uint32_t>(c.position().draw(random));
    }
    const Distribution& list = c.graph.outcomes_of(c.graph.nodes[at]);
    double point;
    if (c.config.chance.sampled) {
      point = c.draws.uniform(Purpose::chance, 0, key, number);
    } else {
      const double offset = c.config.chance.offset < 0.0 ? c.draws.offset(key) : c.config.chance.offset;
      point = offset + number * kGoldenStep;
      point -= std::floor(point);
    }
    bool skips = false;
    for (const EdgeId e : EdgeIds(c.graph.nodes[at])) skips |= c.graph.edges[e].is(kSkip);
    if (skips) [[unlikely]] return drawn_beside_proven(c.graph.nodes[at], list, point);
    return place_at(list, point);
  }
  static std::uint32_t place_at(const Distribution& list, double point) {
    const auto above = std::upper_bound(list.cumulative.begin(), list.cumulative.end(), point);
    const auto place = static_cast<std::size_t>(above - list.cumulative.begin());
    return static_cast<std::uint32_t>(std::min(place, list.cumulative.size() - 1));
  }

  // The place of an outcome's edge, kNone if it has none.
  std::uint32_t place_of(const Node& node, std::uint32_t outcome) const {
    std::uint32_t place = kNone;
    for (std::uint32_t e = 0; e < node.edge_count; ++e)
      if (c.graph.edges[node.edges + e].move == outcome) place = e;
    return place;
  }

  // Whether widening allows a node another child at the `number`-th draw.
  bool widens(const Node& node, std::uint32_t number) const {
    std::size_t limit = c.config.chance.widen_cap;
    if (c.config.chance.widen > 0.0) {
      const double wanted = std::ceil(c.config.chance.widen * std::pow(static_cast<double>(number), c.config.chance.widen_power));
      limit = std::min(limit, static_cast<std::size_t>(wanted));
    }
    if (limit == std::numeric_limits<std::size_t>::max()) return true;
    std::size_t children = 0;
    for (const EdgeId e : EdgeIds(node)) children += c.graph.edges[e].child != kNone;
    return children < limit;
  }

 private:
  // The same among the outcomes that are not proven.
  __attribute__((noinline)) std::uint32_t drawn_beside_proven(const Node& node, const Distribution& list, double point) {
    left_ = list.chances;
    for (const EdgeId e : EdgeIds(node))
      if (c.graph.edges[e].is(kSkip)) left_[c.graph.edges[e].move] = 0.0;
    double total = 0.0, reached = 0.0;
    for (const double chance : left_) total += chance;
    if (!(total > 0.0)) return place_at(list, point);
    const double target = point * total;
    for (std::size_t place = 0; place < left_.size(); ++place)
      if ((reached += left_[place]) > target) return static_cast<std::uint32_t>(place);
    return static_cast<std::uint32_t>(left_.size() - 1);
  }

  std::vector<double> left_;
  Context& c;
};

}  // namespace anabranch
