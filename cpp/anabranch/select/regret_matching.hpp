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
    double* const old = averaging.played();
    double* const regrets = &g.regrets[node.rows];
    normalise(regrets, table, old);
    if (table.sizes.size() != 2) expect_payoffs<P>(g, node, table, old);
    else if (selector_.difference) expect_payoffs_of_two<P, true>(g, node, table, old);
    else expect_payoffs_of_two<P, false>(g, node, table, old);
    const double* unseen = doubles_of(&node) + g.players;  // U
    Expected* const expected = expected_.data();
    for (std::size_t i = 0, acting = table.sizes.size(); i < acting; ++i) {
      const double u = Averaging::payoff(table, i, unseen, selector_.difference);
      const std::size_t first = table.starts[i], end = first + table.sizes[i];
      double mean = 0.0;
      for (std::size_t at = first; at < end; ++at) {
        const double payoff = expected[at].payoff + (1.0 - expected[at].mass) * u;
        expected[at].payoff = payoff;
        mean += old[at] * payoff;
      }
      for (std::size_t at = first; at < end; ++at) {
        const double regret = regrets[at] + expected[at].payoff - mean;
        regrets[at] = regret > 0.0 ? regret : 0.0;
      }
    }
    Averaging::add_to_sums(g, node, table, old, node.visits);
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

  // Of every acting player's choices, as their rows are.
  template <std::size_t P>
  void expect_payoffs(const Graph& g, const Node& node, const Table& table, const double* played) {
    const std::size_t acting = table.sizes.size();
    std::fill_n(expected_.begin(), table.ids.size(), Expected{0.0, 0.0});
    const Edge* edge = &g.edge<P>(node.edges);
    for (std::uint32_t e = 0; e < node.edge_count; ++e, edge = further(edge, edge_stride<P>(g))) {
      if (edge->visits == 0) continue;
      for (std::size_t i = 0; i < acting; ++i) {
        Expected& expected = expected_[table.starts[i] + table.choice(edge->move, i)];
        double reach = 1.0;
        for (std::size_t j = 0; j < acting; ++j)
          if (j != i) reach *= played[table.starts[j] + table.choice(edge->move, j)];
        expected.payoff += reach * Averaging::payoff(table, i, doubles_of(edge), selector_.difference);
        expected.mass += reach;
      }
    }
  }

  // The same where the product has one factor, both sums at once.
  template <std::size_t P, bool Difference>
  void expect_payoffs_of_two(const Graph& g, const Node& node, const Table& table, const double* played) {
    const std::size_t one = table.players[0], other = table.players[1], start = table.starts[1];
    const std::uint32_t shift = table.shifts[1], mask = table.masks[0], other_mask = table.masks[1];
    Expected* const mine = expected_.data();
    Expected* const theirs = mine + start;
    std::fill_n(mine, table.ids.size(), Expected{0.0, 0.0});
    const Edge* edge = &g.edge<P>(node.edges);
    for (std::uint32_t e = node.edge_count; e > 0; --e, edge = further(edge, edge_stride<P>(g))) {
      if (edge->visits == 0) [[unlikely]] continue;
      const std::size_t a = edge->move & mask, b = edge->move >> shift & other_mask;
      const double p = played[a], q = played[start + b], own = doubles_of(edge)[one], lost = doubles_of(edge)[other];
      const Pair u{Difference ? 0.5 * (own - lost) : own, 1.0};
      store_pair(&mine[a].payoff, load_pair(&mine[a].payoff) + Pair{q, q} * u);
      if constexpr (Difference) store_pair(&theirs[b].payoff, load_pair(&theirs[b].payoff) + Pair{-p, p} * u);
      else store_pair(&theirs[b].payoff, load_pair(&theirs[b].payoff) + Pair{p, p} * Pair{lost, 1.0});
    }
  }

  const SelectorConfig& selector_;
  const Context& c;
  std::vector<Expected> expected_;
};

}  // namespace anabranch
