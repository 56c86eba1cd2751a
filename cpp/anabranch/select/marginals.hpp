// What acting players see of their choices: joint edges summed into one number per player and choice (docs/model.md section 4).
//
//   N_i(a) = Σ N(e),   v_i(a) = Σ v(e),   q_i(a) = Σ w(e)·q_i(e) / Σ w(e)      over edges with e_i = a
//
// With one acting player q(a) = q(e). Every sum runs in the order of src/anabranch/search/reference/.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "anabranch/backup.hpp"
#include "anabranch/graph.hpp"
#include "anabranch/select/prior.hpp"

namespace anabranch {

// One player's part.
struct Seen {
  std::size_t player, size;
  const double* visits;
  const double* values;
  const double* flight;
  const float* prior;  // nullptr: all choices are equally likely
};

class Marginals {
 public:
  // Of the only acting player; `place(a)` is the place of a choice's edge then.
  template <std::size_t P>
  void gather_alone(const Graph& g, const Node& node, bool marked) {
    clear(node.choices);
    const Edge* edge = &g.edge<P>(node.edges);
    for (std::uint32_t e = 0; e < node.edge_count; ++e, edge = further(edge, edge_stride<P>(g))) {
      visits_[edge->move] = edge->visits;
      values_[edge->move] = doubles_of(edge)[node.mover];
      places_[edge->move] = e;
      if (marked) flight_[edge->move] = g.marks[node.edges + e];
    }
  }
  std::uint32_t place(std::size_t choice) const { return places_[choice]; }

  // Of all acting players, opponents weighed by visits (D).
  template <std::size_t P>
  void gather(const Graph& g, const Node& node, const Table& table) {
    clear(table.ids.size());
    const std::size_t acting = table.sizes.size();
    const Edge* edge = &g.edge<P>(node.edges);
    for (std::uint32_t e = 0; e < node.edge_count; ++e, edge = further(edge, edge_stride<P>(g))) {
      const double visits = static_cast<std::int32_t>(edge->visits);
      for (std::size_t i = 0; i < acting; ++i) {
        const std::size_t at = table.starts[i] + table.choice(edge->move, i);
        values_[at] += visits * doubles_of(edge)[table.players[i]];
        visits_[at] += visits;
      }
    }
    for (std::size_t at = 0; at < table.ids.size(); ++at)
      if (visits_[at] > 0.0) values_[at] /= visits_[at];
  }

  // Of one of them, with opponents weighed by prior (A), visits (B) or both (C). `priors` are the node's rows, or nullptr.
  void gather_weighed(const Graph& g, const Node& node, const Table& table, std::size_t index, Weights weights, const float* priors) {
    const std::size_t size = table.sizes[index], player = table.players[index], start = table.starts[index];
    clear(table.ids.size());
    others_.assign(table.ids.size(), 0.0);
    for (const EdgeId e : EdgeIds(node))
      for (std::size_t j = 0; j < table.sizes.size(); ++j)
        others_[table.starts[j] + table.choice(g.edges[e].move, j)] += g.edges[e].visits;
    totals_.assign(size, 0.0);
    by_visits_.assign(size, 0.0);
    for (const EdgeId e : EdgeIds(node)) {
      const Edge& edge = g.edges[e];
      const double visits = edge.visits;
      if (visits == 0.0) continue;
      const std::uint32_t choice = table.choice(edge.move, index);
      const double q = g.value(e)[player];
      double weight = 1.0;
      for (std::size_t j = 0; j < table.sizes.size(); ++j) {
        if (j == index) continue;
        const std::size_t other = table.starts[j] + table.choice(edge.move, j);
        const double prior = priors ? priors[other] : uniform_prior(table.sizes[j]);
        const double count = others_[other];
        weight *= weights == Weights::a ? prior : weights == Weights::b ? count : prior + count;
      }
      values_[start + choice] += weight * q;
      totals_[choice] += weight;
      by_visits_[choice] += visits * q;
      visits_[start + choice] += visits;
    }
    for (std::size_t a = 0; a < size; ++a) {
      if (totals_[a] > 0.0) values_[start + a] /= totals_[a];
      else if (visits_[start + a] > 0.0) values_[start + a] = by_visits_[a] / visits_[start + a];
    }
  }

  // v_i(a) of all acting players.
  void gather_marks(const Graph& g, const Node& node, const Table& table) {
    std::fill_n(flight_.begin(), table.ids.size(), 0.0);
    for (const EdgeId e : EdgeIds(node))
      for (std::size_t i = 0; i < table.sizes.size(); ++i) flight_[table.starts[i] + table.choice(g.edges[e].move, i)] += g.marks[e];
  }

  Seen seen(std::size_t player, std::size_t start, std::size_t size, const float* prior) const {
    return {player, size, &visits_[start], &values_[start], &flight_[start], prior};
  }

 private:
  void clear(std::size_t size) {
    if (visits_.size() < size) {
      values_.resize(size);
      places_.resize(size);
      flight_.resize(size);
      visits_.resize(size);  // last: the others are large enough then, even where memory ran out before
    }
    for (std::size_t a = 0; a < size; ++a) {
      visits_[a] = 0.0;
      values_[a] = 0.0;
      places_[a] = kNone;
      flight_[a] = 0.0;
    }
  }

  std::vector<double> visits_, values_, flight_, totals_, by_visits_, others_;
  std::vector<std::uint32_t> places_;
};

}  // namespace anabranch
