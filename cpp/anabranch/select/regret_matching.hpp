// Regret matching+ (Tammelin 2014): play what one regrets not having played, report the average (docs/model.md section 9).
//
//   σ_i(a) = R_i(a) / ΣR_i,   u_i(a) = Σ_e ρ_i(e)·u_i(e) + (1 − Σ_e ρ_i(e))·u_i(U),   ρ_i(e) = Π_{j≠i} σ_j(e_j)
//   R_i(a) ← max(0, R_i(a) + u_i(a) − Σ σ_i·u_i),   S_i ← S_i + N(n)·σ_i
//
// Sums run over the visited edges with e_i = a in creation order; U stands for all cells nobody visited.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "anabranch/select/averaging.hpp"

namespace anabranch {

class RegretMatching {
 public:
  static constexpr bool kKeepsChances = false;

  RegretMatching(const SelectorConfig& selector, const Context& context) : averaging(selector, context), selector_(selector), c(context) {}

  void expect(std::size_t ids, std::size_t) {
    averaging.expect(ids);
    expected_.resize(ids);
  }

  template <std::size_t P>
  std::uint32_t choose_jointly(NodeId id, const Node& node, std::uint32_t& place) {
    const Graph& g = c.graph;
    const Table& table = g.table_of(node);
    return averaging.draw<P>(id, node, table, &g.regrets[node.rows], normalised, place);
  }

  // Update all regrets from fresh cells, all players from the old strategies; sum these up by N(n).
  template <std::size_t P>
  void learn(Graph& g, NodeId, const Node& node, const Edge&, const double*) {
    const Table& table = g.table_of(node);
    if (!table.few) return learn_in_general<P>(g, node, table);
    if (selector_.difference) learn_as_pair<P, true>(g, node, table);
    else learn_as_pair<P, false>(g, node, table);
  }

  // Q_i = Σ_e ρ(e)·q_i(e) + (1 − Σ_e ρ(e))·U_i for the average strategies; without U's visit.
  template <std::size_t P>
  void value(Graph& g, Node& node) {
    const Table& table = g.table_of(node);
    if (!selector_.by_strategy || !Averaging::has_average(g, node, table)) return refresh_by_visits<P>(g, node);
    const double mass = averaging.visited_mean<P>(g, node, table);
    double* mean = doubles_of(&node);
    const double* evaluation = mean + g.players;
    for (std::size_t p = 0; p < g.players; ++p) mean[p] = averaging.values()[p] + (1.0 - mass) * evaluation[p];
  }

  Averaging averaging;

 private:
  // Of one choice: Σ_e ρ_i(e)·u_i(e) and Σ_e ρ_i(e).
  struct Expected {
    double payoff, mass;
  };

  template <std::size_t P>
  __attribute__((noinline)) void learn_in_general(Graph& g, const Node& node, const Table& table) {
    const std::size_t acting = table.sizes.size();
    double* const old = averaging.played();
    double* const regrets = &g.regrets[node.rows];
    normalise(regrets, table, old);
    std::fill_n(expected_.begin(), table.ids.size(), Expected{0.0, 0.0});
    const Edge* edge = &g.edge<P>(node.edges);
    for (std::uint32_t e = 0; e < node.edge_count; ++e, edge = further(edge, edge_stride<P>(g))) {
      if (edge->visits == 0) continue;
      for (std::size_t i = 0; i < acting; ++i) {
        Expected& expected = expected_[table.starts[i] + table.choice(edge->move, i)];
        double reach = 1.0;
        for (std::size_t j = 0; j < acting; ++j)
          if (j != i) reach *= old[table.starts[j] + table.choice(edge->move, j)];
        expected.payoff += reach * Averaging::payoff(table, i, doubles_of(edge), selector_.difference);
        expected.mass += reach;
      }
    }
    const double* unseen = doubles_of(&node) + g.players;  // U
    for (std::size_t i = 0; i < acting; ++i) {
      const double u = Averaging::payoff(table, i, unseen, selector_.difference);
      regret(expected_.data() + table.starts[i], table.sizes[i], old + table.starts[i], u, regrets + table.starts[i]);
    }
    Averaging::add_to_sums(g, node, table, old, node.visits);
  }

  // The same for two players with few choices each, where the product has one factor, with both sums of a choice at once.
  template <std::size_t P, bool Difference>
  void learn_as_pair(Graph& g, const Node& node, const Table& table) {
    double old[2 * Table::kFew];
    Expected expected[2 * Table::kFew];
    const std::size_t one = table.players[0], other = table.players[1], start = table.sizes[0], end = start + table.sizes[1];
    const std::uint32_t shift = table.shifts[1], mask = table.masks[0], other_mask = table.masks[1];
    double* const regrets = &g.regrets[node.rows];
    normalise(regrets, start, old);
    normalise(regrets + start, end - start, old + start);
    for (std::size_t at = 0; at < end; ++at) expected[at] = {0.0, 0.0};
    const Edge* edge = &g.edge<P>(node.edges);
    for (std::uint32_t e = node.edge_count; e > 0; --e, edge = further(edge, edge_stride<P>(g))) {
      if (edge->visits == 0) [[unlikely]] continue;
      const std::size_t a = edge->move & mask, b = start + (edge->move >> shift & other_mask);
      const double own = doubles_of(edge)[one], lost = doubles_of(edge)[other], u = Difference ? 0.5 * (own - lost) : own;
      add(expected[a], old[b], u);
      add(expected[b], old[a], Difference ? -u : lost);
    }
    const double own = doubles_of(&node)[g.players + one], lost = doubles_of(&node)[g.players + other];  // U
    regret(expected, start, old, Difference ? 0.5 * (own - lost) : own, regrets);
    regret(expected + start, end - start, old + start, Difference ? 0.5 * (lost - own) : lost, regrets + start);
    double* const sums = &g.sums[node.rows];
    const double weight = node.visits;
    for (std::size_t at = 0; at < end; ++at) sums[at] += weight * old[at];
  }

  // One more cell: the other's chance of it, and what it is worth.
  static void add(Expected& expected, double reach, double u) {
    store_pair(&expected.payoff, load_pair(&expected.payoff) + both(reach) * Pair{u, 1.0});
  }

  // One player's new regrets; u is worth what nobody visited.
  static void regret(Expected* expected, std::size_t size, const double* old, double u, double* regrets) {
    double mean = 0.0;
    for (std::size_t a = 0; a < size; ++a) {
      expected[a].payoff = expected[a].payoff + (1.0 - expected[a].mass) * u;
      mean += old[a] * expected[a].payoff;
    }
    for (std::size_t a = 0; a < size; ++a) {
      const double regret = regrets[a] + expected[a].payoff - mean;
      regrets[a] = regret > 0.0 ? regret : 0.0;
    }
  }

  const SelectorConfig& selector_;
  const Context& c;
  std::vector<Expected> expected_;
};

}  // namespace anabranch
