// Solve the table of cells for an equilibrium, again whenever N has grown; play the last solution, report the average
// (docs/model.md section 9). It needs two acting players; the expander refuses more.
//
//   cell   q(a, b) = q(e) where visited, else U;   view u = ½·(q_1 − q_2)
//   Q_i = (U_i + ΣN·q̄_i) / (1 + ΣN),   q̄_i = Σ_e ρ(e)·q_i(e) / Σ_e ρ(e) over visited cells
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "anabranch/matrix_game.hpp"
#include "anabranch/select/averaging.hpp"

namespace anabranch {

class Matrix {
 public:
  static constexpr bool kKeepsChances = false;

  Matrix(const SelectorConfig& selector, const Context& context) : averaging(selector, context), selector_(selector), c(context) {}

  void expect(std::size_t ids, std::size_t cells) {
    averaging.expect(ids);
    game_.reserve(ids, cells);
    cells_.reserve(cells);
  }

  // From the strategies solved last; uniform before.
  template <std::size_t P>
  std::uint32_t choose_jointly(NodeId id, const Node& node, std::uint32_t& place) {
    const Graph& g = c.graph;
    const Table& table = g.table_of(node);
    const double* const current = &g.current[node.rows];
    if (g.solved_at[id] > 0) return averaging.draw<P>(id, node, table, current, as_they_are, place);
    return averaging.draw<P>(id, node, table, current, normalised, place);
  }

  // Solve the table again where N has grown enough, and sum the solution up by N(n).
  template <std::size_t P>
  void learn(Graph& g, NodeId id, const Node& node, const Edge&, const double*) {
    const Table& table = g.table_of(node);
    const double before = g.solved_at[id], grown = node.visits - before;
    if (before > 0.0 && !(grown >= std::max(1.0, selector_.growth * before))) return;
    const std::size_t columns = table.sizes[1];
    cells_.assign(std::size_t{table.sizes[0]} * columns, Averaging::payoff(table, 0, doubles_of(&node) + g.players, true));
    const Edge* edge = &g.edge<P>(node.edges);
    for (std::uint32_t e = 0; e < node.edge_count; ++e, edge = further(edge, edge_stride<P>(g)))
      if (edge->visits > 0)
        cells_[table.choice(edge->move, 0) * columns + table.choice(edge->move, 1)] = Averaging::payoff(table, 0, doubles_of(edge), true);
    game_.solve({cells_.data(), table.sizes[0], columns});
    double* const current = &g.current[node.rows];
    std::copy(game_.x.begin(), game_.x.end(), current);
    std::copy(game_.y.begin(), game_.y.end(), current + table.starts[1]);
    g.solved_at[id] = node.visits;
    Averaging::add_to_sums(g, node, table, current, node.visits);
  }

  template <std::size_t P>
  void value(Graph& g, Node& node) {
    const Table& table = g.table_of(node);
    if (!selector_.by_strategy || !Averaging::has_average(g, node, table)) return refresh_by_visits<P>(g, node);
    const double mass = averaging.visited_mean<P>(g, node, table);
    if (mass == 0.0) return refresh_by_visits<P>(g, node);  // the strategies' support was never visited
    double* mean = doubles_of(&node);
    const double* evaluation = mean + g.players;
    const double all = node.visits;
    for (std::size_t p = 0; p < g.players; ++p) mean[p] = ((all - 1.0) * (averaging.values()[p] / mass) + evaluation[p]) / all;
  }

  Averaging averaging;

 private:
  const SelectorConfig& selector_;
  const Context& c;
  MatrixGame game_;
  std::vector<double> cells_;
};

}  // namespace anabranch
