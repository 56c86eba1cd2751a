// What rules that learn strategies share: draw from them, sum them up, report their mean (docs/model.md section 9). Each of
// regret_matching.hpp, exp3.hpp and matrix.hpp says what is learned; src/anabranch/search/reference/select/averaging.py has the
// same functions, with sums in the same order.
//
// The rows of a node hold what its acting players learned, one after the other as in its table. Learning takes no memory:
// `expect` makes room before a path begins.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "anabranch/backup.hpp"
#include "anabranch/context.hpp"
#include "anabranch/pair.hpp"

namespace anabranch {

// w / Σw, uniform where that is 0.
inline void normalise(const double* weights, std::size_t size, double* shares) {
  double total = 0.0;
  for (std::size_t a = 0; a < size; ++a) total += weights[a];
  if (total > 0.0) [[likely]] {
    std::size_t a = 0;
    for (; a + 1 < size; a += 2) store_pair(shares + a, load_pair(weights + a) / both(total));
    if (a < size) shares[a] = weights[a] / total;
  } else {
    std::fill_n(shares, size, 1.0 / static_cast<double>(size));
  }
}

// The same, each choice's when it is asked for.
inline auto normalised(const double* weights, std::size_t size) {
  double total = 0.0;
  for (std::size_t a = 0; a < size; ++a) total += weights[a];
  const double equal = 1.0 / static_cast<double>(size);
  return [=](std::size_t a) { return total > 0.0 ? weights[a] / total : equal; };
}

// Strategies that need no more work.
inline auto as_they_are(const double* shares, std::size_t) {
  return [=](std::size_t a) { return shares[a]; };
}

// `normalise` for every acting player of a table.
inline void normalise(const double* weights, const Table& table, double* shares) {
  const std::uint32_t* const starts = table.starts.data();
  const std::uint32_t* const sizes = table.sizes.data();
  for (std::size_t i = 0, acting = table.sizes.size(); i < acting; ++i) normalise(weights + starts[i], sizes[i], shares + starts[i]);
}

class Averaging {
 public:
  Averaging(const SelectorConfig& selector, const Context& context) : selector_(selector), c(context) {}

  // Make room for tables with so many choices of all acting players together.
  void expect(std::size_t ids) {
    played_.resize(ids);
    average_.resize(ids);
    chances_.resize(c.graph.players);
    values_.resize(c.graph.players);
  }

  // With which probability each acting player drew its part of the last choice.
  const double* chances() const { return chances_.data(); }

  // Room for strategies of all acting players, as their rows are.
  double* played() { return played_.data(); }

  // Draw every acting player's choice from (1 − x)·σ + x/|A|, where `strategy_of(weights, size)` makes σ of a player's row;
  // the joint choice, packed as edges pack it, and its edge's place.
  template <std::size_t P, class StrategyOf>
  std::uint32_t draw(NodeId id, const Node& node, const Table& table, const double* rows, StrategyOf strategy_of, std::uint32_t& place) {
    const Graph& g = c.graph;
    const double exploration = selector_.share;
    const std::uint64_t key = g.key[id], count = node.visits + g.in_flight(id);
    std::uint32_t move = 0;
    for (std::size_t i = 0, acting = table.sizes.size(); i < acting; ++i) {
      const std::size_t size = table.sizes[i];
      const auto strategy = strategy_of(rows + table.starts[i], size);
      const double equal = exploration / static_cast<double>(size);
      const double point = c.draws.uniform(Purpose::select, table.players[i], key, count);
      double total = 0.0, chance = 0.0;
      std::size_t choice = 0;
      for (;; ++choice) {
        chance = (1.0 - exploration) * strategy(choice) + equal;
        total += chance;
        if (total > point || choice + 1 == size) break;
      }
      chances_[i] = chance;
      move |= static_cast<std::uint32_t>(choice) << table.shifts[i];
    }
    place = kNone;
    const Edge* edge = &g.edge<P>(node.edges);
    for (std::uint32_t e = 0; e < node.edge_count; ++e, edge = further(edge, edge_stride<P>(g))) place = edge->move == move ? e : place;
    return move;
  }

  // S_i += weight·σ_i for every acting player.
  static void add_to_sums(Graph& g, const Node& node, const Table& table, const double* strategies, double weight) {
    double* const sums = &g.sums[node.rows];
    for (std::size_t at = 0, size = table.ids.size(); at < size; ++at) sums[at] += weight * strategies[at];
  }

  // Whether a player summed anything up yet; whether anybody did.
  static bool has_average(const Graph& g, const Node& node, const Table& table, std::size_t index) {
    const double* sums = &g.sums[node.rows + table.starts[index]];
    return std::any_of(sums, sums + table.sizes[index], [](double sum) { return sum > 0.0; });
  }
  static bool has_average(const Graph& g, const Node& node, const Table& table) {
    for (std::size_t i = 0; i < table.sizes.size(); ++i)
      if (has_average(g, node, table, i)) return true;
    return false;
  }

  // Σ_e ρ(e)·q(e) per player in `values`, and Σ_e ρ(e), over visited cells, ρ(e) = Π_i σ̄_i(e_i).
  template <std::size_t P>
  double visited_mean(const Graph& g, const Node& node, const Table& table) {
    const std::size_t players = P ? P : g.players;
    double* const average = average_.data();
    double* const values = values_.data();
    normalise(&g.sums[node.rows], table, average);
    double mass = 0.0;
    for (std::size_t p = 0; p < players; ++p) values[p] = 0.0;
    const Edge* edge = &g.edge<P>(node.edges);
    if constexpr (P == 2) {  // both act; as below, without loops over players
      const std::uint32_t shift = table.shifts[1], mask = table.masks[0], other_mask = table.masks[1], start = table.starts[1];
      Pair sums{0.0, 0.0};
      for (std::uint32_t e = 0; e < node.edge_count; ++e, edge = further(edge, edge_stride<P>(g))) {
        if (edge->visits == 0) [[unlikely]] continue;
        const double reach = average[edge->move & mask] * average[start + (edge->move >> shift & other_mask)];
        sums += both(reach) * load_pair(doubles_of(edge));
        mass += reach;
      }
      store_pair(values, sums);
      return mass;
    }
    for (std::uint32_t e = 0; e < node.edge_count; ++e, edge = further(edge, edge_stride<P>(g))) {
      if (edge->visits == 0) continue;
      double reach = 1.0;
      for (std::size_t i = 0; i < table.sizes.size(); ++i) reach *= average[table.starts[i] + table.choice(edge->move, i)];
      for (std::size_t p = 0; p < players; ++p) values[p] += reach * doubles_of(edge)[p];
      mass += reach;
    }
    return mass;
  }

  const double* values() const { return values_.data(); }

  // u_i of a cell worth `values`: ½·(q_i − q_j) where two act and the view is `difference`, else q_i.
  static double payoff(const Table& table, std::size_t index, const double* values, bool difference) {
    const double own = values[table.players[index]];
    return difference && table.sizes.size() == 2 ? 0.5 * (own - values[table.players[1 - index]]) : own;
  }

 private:
  const SelectorConfig& selector_;
  const Context& c;
  std::vector<double> played_, average_, chances_, values_;
};

}  // namespace anabranch
