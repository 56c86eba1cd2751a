// Choose: PUCT and UCB1 for one player acting alone or for each of several acting at once (MODEL section 4).
//
// Changes nothing. Every sum runs in the order of src/anabranch/search/formulas.py.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "anabranch/backup.hpp"
#include "anabranch/config.hpp"
#include "anabranch/draws.hpp"
#include "anabranch/graph.hpp"

namespace anabranch {

inline constexpr double kPriorFloor = 1e-6;

// A prior as nodes store it: in float32, nothing below a millionth of the mass, summing to 1.
inline void store_prior(const double* prior, std::size_t size, float* stored) {
  double mass = 0.0;
  for (std::size_t i = 0; i < size; ++i) mass += static_cast<double>(static_cast<float>(prior[i]));
  const double floor = kPriorFloor * mass;
  double total = 0.0;
  for (std::size_t i = 0; i < size; ++i) {
    const double rounded = static_cast<float>(prior[i]);
    total += rounded < floor ? floor : rounded;
  }
  for (std::size_t i = 0; i < size; ++i) {
    const double rounded = static_cast<float>(prior[i]);
    stored[i] = static_cast<float>((rounded < floor ? floor : rounded) / total);
  }
}

class Chooser {
 public:
  Chooser(const Selector& selector, const Config& config)
      : selector_(selector), config_(config), declared_(interval(config.returns_low, config.returns_high, 2.0, -1.0, -1.0)) {}

  // The choice of the only acting player; `place` is its edge's place in the block, kNone if nobody took it before.
  std::uint32_t choose(const Graph& g, NodeId id, const Draws& draws, std::uint32_t& place) {
    const Node& node = g.nodes[id];
    if (node.choices <= 64 && selector_.rule == Rule::puct && selector_.w0 == 0.0 && !selector_.random_ties)
      return choose_among_few(g, id, place);
    const std::size_t size = node.choices, player = node.mover;
    clear(size);
    const Edge* edges = g.edges.data() + node.edges;
    for (std::uint32_t e = 0; e < node.edge_count; ++e) {
      const std::uint32_t choice = edges[e].move;
      visits_[choice] = edges[e].visits;
      values_[choice] = value_now(g, node.edges + e, player);
      places_[choice] = e;
    }
    const float* prior = node.priors == kNone ? nullptr : &g.priors[node.priors];
    const std::uint32_t best = best_choice(g, id, player, size, prior, node.visits - 1, draws);
    place = places_[best];
    return best;
  }

  // The joint choice of several acting players, packed as edges pack it.
  std::uint32_t choose_jointly(const Graph& g, NodeId id, const Draws& draws, std::uint32_t& place) {
    const Node& node = g.nodes[id];
    const Table& table = g.tables[node.choices];
    std::uint32_t move = 0;
    for (std::size_t i = 0; i < table.sizes.size(); ++i) {
      marginals(g, node, table, i);
      const float* prior = node.priors == kNone ? nullptr : &g.priors[node.priors + table.starts[i]];
      move |= best_choice(g, id, table.players[i], table.sizes[i], prior, node.visits - 1, draws) << table.shifts[i];
    }
    place = kNone;
    for (std::uint32_t e = 0; e < node.edge_count; ++e)
      if (g.edges[node.edges + e].move == move) place = e;
    return move;
  }

  // N_i(a) = Σ N(e), q_i(a) = Σ w(e)·q_i(e) / Σ w(e), over edges with e_i = a.
  void marginals(const Graph& g, const Node& node, const Table& table, std::size_t index) {
    const std::size_t size = table.sizes[index], player = table.players[index];
    clear(size);
    if (selector_.weights != Weights::d) return weigh_others(g, node, table, index);
    for (EdgeId e = node.edges; e < node.edges + node.edge_count; ++e) {
      const std::uint32_t choice = table.choice(g.edges[e].move, index);
      const double visits = g.edges[e].visits;
      values_[choice] += visits * value_now(g, e, player);
      visits_[choice] += visits;
    }
    for (std::size_t a = 0; a < size; ++a)
      if (visits_[a] > 0.0) values_[a] /= visits_[a];
  }

  // The prior of each of `size` equally likely choices.
  float uniform_prior(std::size_t size) {
    if (size >= uniform_.size()) [[unlikely]] extend_uniform(size);
    return uniform_[size];
  }

 private:
  __attribute__((noinline)) void extend_uniform(std::size_t size) {
    while (uniform_.size() <= size) {
      const std::size_t n = uniform_.size();
      if (n == 0) {
        uniform_.push_back(0.0f);
        continue;
      }
      const std::vector<double> equal(n, 1.0 / static_cast<double>(n));
      std::vector<float> stored(n);
      store_prior(equal.data(), n, stored.data());
      uniform_.push_back(stored[0]);
    }
  }

  static constexpr std::size_t kFactors = 4096;

  // A linear map of values to scaled units; constant 0 where the interval is a point.
  struct Map {
    double low = 0.0, factor = 1.0, shift = 0.0, lowest = 0.0;
    double operator()(double q) const { return (q - low) * factor + shift; }
  };

  // The plain case without scratch arrays: PUCT over at most 64 choices. Tried choices are scored edge by edge; of the
  // untried only the first can win where all are equally likely. Same scores and ties as `best_choice`.
  std::uint32_t choose_among_few(const Graph& g, NodeId id, std::uint32_t& place) {
    const Node& node = g.nodes[id];
    const std::uint32_t size = node.choices, count = node.edge_count;
    const double mean = g.mean(id)[node.mover];
    Map map = declared_;
    if (selector_.scale == Scale::node) {
      double low = mean, high = mean;
      for (EdgeId e = node.edges; e < node.edges + count; ++e) {
        const double q = value_now(g, e, node.mover);
        low = q < low ? q : low;
        high = q > high ? q : high;
      }
      map = interval(low, high, 1.0, 0.0, 0.0);
    } else if (selector_.scale != Scale::range || g.rules.bounds) {
      map = scale(g, id, node.mover, 0);
    }
    const double factor = factor_of(node.visits - 1);
    const float* prior = node.priors == kNone ? nullptr : &g.priors[node.priors];
    const double bonus = prior ? 0.0 : factor * static_cast<double>(uniform_prior(size));
    Best best;
    if (prior) best_tried<true>(g, node, map, factor, prior, best);
    else best_tried<false>(g, node, map, bonus, nullptr, best);
    place = best.place;
    if (count == size) return best.choice;
    const double first = first_play_of(map, map(mean), prior, best.tried, size, count);
    std::uint64_t untried = ~best.tried;
    if (size < 64) untried &= (std::uint64_t{1} << size) - 1;
    if (!prior) untried &= ~untried + 1;  // equally likely: only the first can win
    for (; untried; untried &= untried - 1) {
      const auto choice = static_cast<std::uint32_t>(std::countr_zero(untried));
      const double score = first + (prior ? factor * static_cast<double>(prior[choice]) : bonus);
      if (score > best.score || (score == best.score && choice < best.choice)) {
        best.score = score;
        best.choice = choice;
        place = kNone;
      }
    }
    return best.choice;
  }

  struct Best {
    double score = -HUGE_VAL;
    std::uint32_t choice = 0, place = kNone;
    std::uint64_t tried = 0;  // the choices that have an edge, as bits
  };

  // The best of the tried choices; `weight` is c·√(S + ε), times the prior where that is the same for all.
  template <bool kPrior>
  void best_tried(const Graph& g, const Node& node, const Map& map, double weight, const float* prior, Best& best) const {
    const std::size_t players = g.players;
    const Edge* edge = g.edges.data() + node.edges;
    const double* q = g.value(node.edges) + node.mover;
    for (std::uint32_t e = 0; e < node.edge_count; ++e, ++edge, q += players) {
      const double value = edge->flags & kShared ? child_value(g, node.edges + e, node.mover, config_.discount, config_) : *q;
      const double gain = kPrior ? weight * static_cast<double>(prior[edge->move]) : weight;
      const double score = map(value) + gain / (1.0 + static_cast<double>(static_cast<std::int32_t>(edge->visits)));
      best.tried |= std::uint64_t{1} << edge->move;
      if (score > best.score || (score == best.score && edge->move < best.choice)) {
        best.score = score;
        best.choice = edge->move;
        best.place = e;
      }
    }
  }

  // q(e) of a visited edge as it is now.
  double value_now(const Graph& g, EdgeId e, std::size_t player) const {
    return g.edges[e].flags & kShared ? child_value(g, e, player, config_.discount, config_) : g.value(e)[player];
  }

  double first_play_of(const Map& map, double parent, const float* prior, std::uint64_t tried, std::uint32_t size, std::uint32_t count) {
    switch (selector_.first_play) {
      case FirstPlay::parent:
        return parent;
      case FirstPlay::parent_minus:
        return parent - selector_.first_amount;
      case FirstPlay::reduced: {
        if (!prior) return parent - selector_.first_amount * root_of_mass(size, count);
        double mass = 0.0;
        for (std::uint64_t rest = tried; rest; rest &= rest - 1) mass += static_cast<double>(prior[std::countr_zero(rest)]);
        return parent - selector_.first_amount * std::sqrt(mass);
      }
      case FirstPlay::constant:
        return selector_.first_amount;
      case FirstPlay::lowest:
        return map.lowest;
    }
    return parent;
  }

  // √ of the prior mass of `count` of `size` equally likely choices, added up one by one as sums run everywhere.
  double root_of_mass(std::uint32_t size, std::uint32_t count) {
    std::vector<double>& row = roots_[size];
    if (row.empty()) {
      const double equal = uniform_prior(size);
      double mass = 0.0;
      for (std::uint32_t n = 0; n <= size; ++n, mass += equal) row.push_back(std::sqrt(mass));
    }
    return row[count];
  }

  double factor_of(std::uint32_t total) {
    if (total < factors_.size()) [[likely]] return factors_[total];
    return extend_factors(total);
  }

  __attribute__((noinline)) double extend_factors(std::uint32_t total) {
    if (total >= kFactors) return exploration(total);
    while (factors_.size() <= total) factors_.push_back(exploration(static_cast<double>(factors_.size())));
    return factors_[total];
  }

  double exploration(double visits) const {
    const double c = selector_.c_init + selector_.c_log * std::log((visits + selector_.c_off + selector_.c_base) / selector_.c_base);
    return c * std::sqrt(visits + selector_.epsilon);
  }

  void clear(std::size_t size) {
    if (visits_.size() < size) {
      visits_.resize(size);
      values_.resize(size);
      places_.resize(size);
      scores_.resize(size);
    }
    for (std::size_t a = 0; a < size; ++a) {
      visits_[a] = 0.0;
      values_[a] = 0.0;
      places_[a] = kNone;
    }
  }

  // The same with opponents weighed by prior (A), visits (B) or both (C).
  void weigh_others(const Graph& g, const Node& node, const Table& table, std::size_t index) {
    const std::size_t size = table.sizes[index], player = table.players[index];
    others_.assign(table.ids.size(), 0.0);
    for (EdgeId e = node.edges; e < node.edges + node.edge_count; ++e)
      for (std::size_t j = 0; j < table.sizes.size(); ++j)
        others_[table.starts[j] + table.choice(g.edges[e].move, j)] += g.edges[e].visits;
    totals_.assign(size, 0.0);
    by_visits_.assign(size, 0.0);
    for (EdgeId e = node.edges; e < node.edges + node.edge_count; ++e) {
      const Edge& edge = g.edges[e];
      if (edge.visits == 0) continue;
      const std::uint32_t choice = table.choice(edge.move, index);
      const double q = value_now(g, e, player);
      double weight = 1.0;
      for (std::size_t j = 0; j < table.sizes.size(); ++j) {
        if (j == index) continue;
        const std::size_t other = table.starts[j] + table.choice(edge.move, j);
        const double prior = node.priors == kNone ? uniform_prior(table.sizes[j]) : g.priors[node.priors + other];
        const double count = others_[other];
        weight *= selector_.weights == Weights::a ? prior : selector_.weights == Weights::b ? count : prior + count;
      }
      values_[choice] += weight * q;
      totals_[choice] += weight;
      by_visits_[choice] += edge.visits * q;
      visits_[choice] += edge.visits;
    }
    for (std::size_t a = 0; a < size; ++a) {
      if (totals_[a] > 0.0) values_[a] /= totals_[a];
      else if (visits_[a] > 0.0) values_[a] = by_visits_[a] / visits_[a];
    }
  }

  static Map interval(double low, double high, double width, double shift, double lowest) {
    if (high > low) return {low, width / (high - low), shift, lowest};
    return {0.0, 0.0, 0.0, lowest};
  }

  Map scale(const Graph& g, NodeId id, std::size_t player, std::size_t size) const {
    switch (selector_.scale) {
      case Scale::none:
        return {0.0, 1.0, 0.0, config_.returns_low};
      case Scale::range: {
        if (!g.rules.bounds) return declared_;
        const double* range = &g.ranges[id * 2 * g.players];
        return interval(range[player], range[g.players + player], 2.0, -1.0, -1.0);
      }
      case Scale::node: {
        double low = g.mean(id)[player], high = low;
        for (std::size_t a = 0; a < size; ++a) {
          if (visits_[a] == 0.0) continue;
          low = values_[a] < low ? values_[a] : low;
          high = values_[a] > high ? values_[a] : high;
        }
        return interval(low, high, 1.0, 0.0, 0.0);
      }
      case Scale::graph:
        return interval(g.low[player], g.high[player], 1.0, 0.0, 0.0);
    }
    return {};
  }

  double first_play(const Map& map, double parent, const float* prior, double equal, std::size_t size) const {
    switch (selector_.first_play) {
      case FirstPlay::parent:
        return parent;
      case FirstPlay::parent_minus:
        return parent - selector_.first_amount;
      case FirstPlay::reduced: {
        double tried = 0.0;
        for (std::size_t a = 0; a < size; ++a)
          if (visits_[a] > 0.0) tried += prior ? static_cast<double>(prior[a]) : equal;
        return parent - selector_.first_amount * std::sqrt(tried);
      }
      case FirstPlay::constant:
        return selector_.first_amount;
      case FirstPlay::lowest:
        return map.lowest;
    }
    return parent;
  }

  std::uint32_t best_choice(const Graph& g, NodeId id, std::size_t player, std::size_t size, const float* prior,
                            std::uint32_t total, const Draws& draws) {
    const Map map = scale(g, id, player, size);
    const double equal = prior ? 0.0 : static_cast<double>(uniform_prior(size));
    const double first = first_play(map, map(g.mean(id)[player]), prior, equal, size);
    if (selector_.w0 == 0.0) {
      for (std::size_t a = 0; a < size; ++a) scores_[a] = visits_[a] > 0.0 ? map(values_[a]) : first;
    } else {
      for (std::size_t a = 0; a < size; ++a)
        scores_[a] = (selector_.w0 * first + visits_[a] * map(values_[a])) / (selector_.w0 + visits_[a]);
    }
    if (selector_.rule == Rule::ucb1) {
      const double logarithm = total > 0 ? std::log(static_cast<double>(total)) : 0.0;
      for (std::size_t a = 0; a < size; ++a)
        scores_[a] = visits_[a] > 0.0 ? scores_[a] + selector_.c * std::sqrt(logarithm / visits_[a]) : HUGE_VAL;
    } else {
      const double factor = factor_of(total);
      if (prior) {
        for (std::size_t a = 0; a < size; ++a)
          scores_[a] = scores_[a] + factor * static_cast<double>(prior[a]) / (1.0 + visits_[a]);
      } else {
        const double bonus = factor * equal;
        for (std::size_t a = 0; a < size; ++a) scores_[a] = scores_[a] + bonus / (1.0 + visits_[a]);
      }
    }
    std::size_t best = 0;
    for (std::size_t a = 1; a < size; ++a)
      if (scores_[a] > scores_[best]) best = a;
    if (!selector_.random_ties) return static_cast<std::uint32_t>(best);
    ties_.clear();
    for (std::size_t a = 0; a < size; ++a)
      if (scores_[a] == scores_[best]) ties_.push_back(static_cast<std::uint32_t>(a));
    const double u = draws.uniform(Purpose::ties, player, g.hashes[id], g.nodes[id].visits);
    return ties_[static_cast<std::size_t>(u * static_cast<double>(ties_.size()))];
  }

  const Selector& selector_;
  const Config& config_;
  const Map declared_;  // the scale `range` of a game without a `bounds` verb
  std::vector<double> factors_, visits_, values_, scores_, totals_, by_visits_, others_;
  std::vector<std::uint32_t> places_, ties_;
  std::vector<float> uniform_;
  std::array<std::vector<double>, 65> roots_;
};

}  // namespace anabranch
