// Choose: PUCT and UCB1 for one player acting alone or for each of several acting at once (MODEL section 4).
//
// Reads a node whose q(e) are up to date and changes nothing. Every sum runs in the order of src/anabranch/search/maths/formulas.py.
#pragma once

#include <algorithm>
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
  static constexpr std::uint32_t kFew = 64;  // choices that fit into a set of bits

 public:
  Chooser(const Selector& selector, const Config& config, bool bounds)
      : selector_(selector),
        config_(config),
        declared_(interval(config.returns_low, config.returns_high, 2.0, -1.0, -1.0)),
        by_range_(selector.scale == Scale::range && !bounds),
        plain_(selector.rule == Rule::puct && selector.w0 == 0.0 && !selector.random_ties),
        factors_(selector.factors ? selector.factors->data() : nullptr),
        factor_count_(selector.factors ? static_cast<std::uint32_t>(selector.factors->size()) : 0) {}

  // The choice of the only acting player; `place` is its edge's place in the block, kNone if nobody took it before.
  template <std::size_t P>
  std::uint32_t choose(const Graph& g, NodeId id, const Node& node, const Draws& draws, std::uint32_t& place) {
    if (plain_ && node.choices <= kFew && !(node.flags & (kMarked | kForced))) [[likely]] return choose_among_few<P>(g, id, node, place);
    const std::size_t size = node.choices, player = node.mover;
    clear(size);
    const bool marked = counts_marks(node);
    const Edge* edge = &g.edge<P>(node.edges);
    for (std::uint32_t e = 0; e < node.edge_count; ++e, edge = further(edge, edge_stride<P>(g))) {
      visits_[edge->move] = edge->visits;
      values_[edge->move] = doubles_of(edge)[player];
      places_[edge->move] = e;
      if (marked) flight_[edge->move] = g.marks[node.edges + e];
    }
    const float* prior = node.priors == kNone ? nullptr : &g.priors[node.priors];
    const std::uint32_t best = best_choice(g, id, player, size, {visits_.data(), values_.data(), flight_.data()}, prior, draws);
    place = places_[best];
    return best;
  }

  // The joint choice of several acting players, packed as edges pack it.
  template <std::size_t P>
  std::uint32_t choose_jointly(const Graph& g, NodeId id, const Node& node, const Draws& draws, std::uint32_t& place) {
    const Table& table = g.tables[node.choices];
    std::uint32_t move = 0;
    if (plain_ && table.few && selector_.weights == Weights::d && !(node.flags & (kMarked | kForced)))
      return choose_as_pair<P>(g, id, node, table, place);
    if (selector_.weights == Weights::d) gather<P>(g, node, table);
    for (std::size_t i = 0; i < table.sizes.size(); ++i) {
      if (selector_.weights != Weights::d) weigh_others(g, node, table, i);
      const float* prior = node.priors == kNone ? nullptr : &g.priors[node.priors + table.starts[i]];
      if (counts_marks(node)) gather_marks(g, node, table);
      const Seen seen{&visits_[table.starts[i]], &values_[table.starts[i]], &flight_[table.starts[i]]};
      move |= best_choice(g, id, table.players[i], table.sizes[i], seen, prior, draws) << table.shifts[i];
    }
    place = kNone;
    const Edge* edge = &g.edge<P>(node.edges);
    for (std::uint32_t e = 0; e < node.edge_count; ++e, edge = further(edge, edge_stride<P>(g)))
      if (edge->move == move) place = e;
    return move;
  }

  // The plain case of the same: two players with few choices each. Same sums in the same order, in arrays on the stack.
  template <std::size_t P>
  std::uint32_t choose_as_pair(const Graph& g, NodeId id, const Node& node, const Table& table, std::uint32_t& place) {
    struct Sum {
      double value, visits;
    };
    Sum first[Table::kFew], second[Table::kFew];
    for (std::uint32_t a = 0; a < table.sizes[0]; ++a) first[a] = {0.0, 0.0};
    for (std::uint32_t b = 0; b < table.sizes[1]; ++b) second[b] = {0.0, 0.0};
    const std::uint32_t shift = table.shifts[1], mask = table.masks[0], other_mask = table.masks[1];
    const std::size_t one = table.players[0], other = table.players[1];
    const Edge* edge = &g.edge<P>(node.edges);
    for (std::uint32_t e = 0; e < node.edge_count; ++e, edge = further(edge, edge_stride<P>(g))) {
      const double visits = static_cast<std::int32_t>(edge->visits);
      Sum& a = first[edge->move & mask];
      Sum& b = second[edge->move >> shift & other_mask];
      a.value += visits * doubles_of(edge)[one];
      a.visits += visits;
      b.value += visits * doubles_of(edge)[other];
      b.visits += visits;
    }
    const std::uint32_t mine = best_of_few(g, id, node, table, 0, first), theirs = best_of_few(g, id, node, table, 1, second);
    const std::uint32_t move = mine | theirs << shift;
    std::uint32_t at = kNone;
    edge = &g.edge<P>(node.edges);
    for (std::uint32_t e = 0; e < node.edge_count; ++e, edge = further(edge, edge_stride<P>(g))) at = edge->move == move ? e : at;
    place = at;
    return move;
  }

  double forced = 0.0;  // k of forced playouts, at nodes with kForced

  // The prior of each of `size` equally likely choices.
  float uniform_prior(std::size_t size) {
    if (size >= uniform_.size()) [[unlikely]] extend_uniform(size);
    return uniform_[size];
  }

 private:
  __attribute__((noinline)) void extend_uniform(std::size_t size) {
    if (uniform_.empty()) uniform_.push_back(0.0f);
    while (uniform_.size() <= size) uniform_.push_back(uniform_prior_of(uniform_.size()));
  }

  static float uniform_prior_of(std::size_t size) {
    const std::vector<double> equal(size, 1.0 / static_cast<double>(size));
    std::vector<float> stored(size);
    store_prior(equal.data(), size, stored.data());
    return stored[0];
  }

  // What one player sees of its choices: N_i(a), q_i(a) and v_i(a).
  struct Seen {
    const double* visits = nullptr;
    const double* values = nullptr;
    const double* flight = nullptr;
  };

  bool counts_marks(const Node& node) const { return node.flags & kMarked && config_.virtual_loss != VirtualLoss::off; }

  // A linear map of values to scaled units; constant 0 where the interval is a point.
  struct Map {
    double low = 0.0, factor = 1.0, shift = 0.0, lowest = 0.0;
    double operator()(double q) const { return (q - low) * factor + shift; }
  };

  // `best_choice` over sums of visits and of visits times value.
  template <class Sum>
  std::uint32_t best_of_few(const Graph& g, NodeId id, const Node& node, const Table& table, std::size_t index, const Sum* sums) {
    const std::size_t player = table.players[index];
    const std::uint32_t size = table.sizes[index];
    const double mean = doubles_of(&node)[player], factor = factor_of(node.visits - 1);
    const float* const prior = node.priors == kNone ? nullptr : &g.priors[node.priors + table.starts[index]];
    const Equal& equal = equal_choices(size);
    double values[Table::kFew], gains[Table::kFew], low = mean, high = mean, mass = 0.0;
    std::uint32_t tried = 0;
    for (std::uint32_t a = 0; a < size; ++a) {
      const double p = prior ? static_cast<double>(prior[a]) : equal.prior;
      gains[a] = factor * p;
      const bool seen = sums[a].visits > 0.0;
      const double quotient = sums[a].value / (seen ? sums[a].visits : 1.0);  // whether it is needed nobody can foresee
      const double q = seen ? quotient : mean;
      values[a] = q;
      low = q < low ? q : low;
      high = q > high ? q : high;
      mass += seen ? p : 0.0;
      tried += seen;
    }
    Map map = declared_;
    if (selector_.scale == Scale::range && !by_range_) {
      const double* range = &g.ranges[id * 2 * g.players];
      map = interval(range[player], range[g.players + player], 2.0, -1.0, -1.0);
    } else if (!by_range_) {
      map = selector_.scale == Scale::node ? interval(low, high, 1.0, 0.0, 0.0) : scale(g, id, player, 0, {});
    }
    const double untried = tried == size ? 0.0 : first_play_of(map, map(mean), prior ? std::sqrt(mass) : equal.roots[tried]);
    double top = -HUGE_VAL;
    std::uint32_t best = 0;
    for (std::uint32_t a = 0; a < size; ++a) {
      const double worth = sums[a].visits > 0.0 ? map(values[a]) : untried;
      const double score = worth + gains[a] / (1.0 + sums[a].visits);
      best = score > top ? a : best;
      top = score > top ? score : top;
    }
    return best;
  }

  // What is the same for all nodes with so many equally likely choices: the prior of one, and the roots of the mass of the
  // first n of them, added up one by one as sums run everywhere.
  struct Equal {
    double prior = 0.0;
    std::array<double, kFew + 1> roots{};
  };

  // One table for all searches: many roots abreast would fill the processor's caches with their own.
  static const Equal* all_equal() {
    static const std::vector<Equal> all = make_equal();
    return all.data();
  }
  const Equal& equal_choices(std::uint32_t size) const { return equal_[size]; }

  static std::vector<Equal> make_equal() {
    std::vector<Equal> all(kFew + 1);
    for (std::uint32_t size = 1; size <= kFew; ++size) {
      all[size].prior = static_cast<double>(uniform_prior_of(size));
      double mass = 0.0;
      for (std::uint32_t n = 0; n <= size; ++n, mass += all[size].prior) all[size].roots[n] = std::sqrt(mass);
    }
    return all;
  }

  // The plain case without scratch arrays: PUCT over at most 64 choices. Tried choices are scored edge by edge; of the
  // untried only the first can win where all are equally likely. Same scores and ties as `best_choice`.
  template <std::size_t P>
  [[gnu::always_inline]] std::uint32_t choose_among_few(const Graph& g, NodeId id, const Node& node, std::uint32_t& place) {
    const std::uint32_t size = node.choices, count = node.edge_count;
    const std::size_t mover = node.mover;
    const double mean = doubles_of(&node)[mover];
    const Edge* const edges = &g.edge<P>(node.edges);
    const Map map = by_range_ ? declared_ : other_scale<P>(g, id, node);
    const double factor = factor_of(node.visits - 1);
    if (node.priors != kNone) return choose_by_prior<P>(g, node, map, factor, place);
    const Equal& equal = equal_choices(size);
    const double bonus = factor * equal.prior;
    // Equally likely choices are tried in ascending order, because the first of equals wins: edge e is choice e.
    double top = -HUGE_VAL;
    std::uint32_t best = 0;
    const Edge* edge = edges;
    for (std::uint32_t e = 0; e < count; ++e, edge = further(edge, edge_stride<P>(g))) {
      const double score = map(doubles_of(edge)[mover]) + bonus / (1.0 + static_cast<double>(static_cast<std::int32_t>(edge->visits)));
      best = score > top ? e : best;
      top = score > top ? score : top;
    }
    if (count < size && (count == 0 || first_play_of(map, map(mean), equal.roots[count]) + bonus > top)) {
      place = kNone;
      return count;
    }
    place = best;
    return best;
  }

  template <std::size_t P>
  std::uint32_t choose_by_prior(const Graph& g, const Node& node, const Map& map, double factor, std::uint32_t& place) {
    const std::uint32_t size = node.choices, count = node.edge_count;
    const float* const prior = &g.priors[node.priors];
    double top = -HUGE_VAL, mass = 0.0;
    std::uint32_t best = kNone;
    std::uint64_t tried = 0;
    place = kNone;
    const Edge* edge = &g.edge<P>(node.edges);
    for (std::uint32_t e = 0; e < count; ++e, edge = further(edge, edge_stride<P>(g))) {
      const std::uint32_t move = edge->move;
      const double gain = factor * static_cast<double>(prior[move]);
      const double score = map(doubles_of(edge)[node.mover]) + gain / (1.0 + static_cast<double>(static_cast<std::int32_t>(edge->visits)));
      tried |= std::uint64_t{1} << move;
      if (score < top) continue;
      if (score > top || move < best) {
        top = score;
        best = move;
        place = e;
      }
    }
    if (count == size) return best;
    for (std::uint64_t rest = tried; rest; rest &= rest - 1) mass += static_cast<double>(prior[std::countr_zero(rest)]);
    const double first = first_play_of(map, map(doubles_of(&node)[node.mover]), std::sqrt(mass));
    const std::uint64_t all = size < 64 ? (std::uint64_t{1} << size) - 1 : ~std::uint64_t{0};
    for (std::uint64_t untried = all & ~tried; untried; untried &= untried - 1) {
      const auto choice = static_cast<std::uint32_t>(std::countr_zero(untried));
      const double score = first + factor * static_cast<double>(prior[choice]);
      if (score > top || (score == top && choice < best) || best == kNone) {
        top = score;
        best = choice;
        place = kNone;
      }
    }
    return best;
  }

  template <std::size_t P>
  __attribute__((noinline)) Map other_scale(const Graph& g, NodeId id, const Node& node) const {
    if (selector_.scale != Scale::node) return scale(g, id, node.mover, 0, {});
    double low = doubles_of(&node)[node.mover], high = low;
    const Edge* edge = &g.edge<P>(node.edges);
    for (std::uint32_t e = 0; e < node.edge_count; ++e, edge = further(edge, edge_stride<P>(g))) {
      const double q = doubles_of(edge)[node.mover];
      low = q < low ? q : low;
      high = q > high ? q : high;
    }
    return interval(low, high, 1.0, 0.0, 0.0);
  }

  // What an untried choice is worth; `root` is √ of the prior mass of the tried ones.
  double first_play_of(const Map& map, double parent, double root) const {
    switch (selector_.first_play) {
      case FirstPlay::parent:
        return parent;
      case FirstPlay::parent_minus:
        return parent - selector_.first_amount;
      case FirstPlay::reduced:
        return parent - selector_.first_amount * root;
      case FirstPlay::constant:
        return selector_.first_amount;
      case FirstPlay::lowest:
        return map.lowest;
    }
    return parent;
  }

  double factor_of(std::uint32_t total) const {
    return total < factor_count_ ? factors_[total] : selector_.exploration(total);
  }

  void clear(std::size_t size) {
    if (visits_.size() < size) {
      visits_.resize(size);
      values_.resize(size);
      places_.resize(size);
      scores_.resize(size);
      flight_.resize(size);
    }
    for (std::size_t a = 0; a < size; ++a) {
      visits_[a] = 0.0;
      values_[a] = 0.0;
      places_[a] = kNone;
      flight_[a] = 0.0;
    }
  }

  // For every acting player: N_i(a) = Σ N(e), q_i(a) = Σ N(e)·q_i(e) / Σ N(e), over edges with e_i = a.
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

  // For every acting player: v_i(a) = Σ v(e).
  void gather_marks(const Graph& g, const Node& node, const Table& table) {
    std::fill_n(flight_.begin(), table.ids.size(), 0.0);
    for (EdgeId e = node.edges; e < node.edges + node.edge_count; ++e)
      for (std::size_t i = 0; i < table.sizes.size(); ++i) flight_[table.starts[i] + table.choice(g.edges[e].move, i)] += g.marks[e];
  }

  // The same for one of them, with opponents weighed by prior (A), visits (B) or both (C).
  void weigh_others(const Graph& g, const Node& node, const Table& table, std::size_t index) {
    const std::size_t size = table.sizes[index], player = table.players[index], start = table.starts[index];
    clear(table.ids.size());
    others_.assign(table.ids.size(), 0.0);
    for (EdgeId e = node.edges; e < node.edges + node.edge_count; ++e)
      for (std::size_t j = 0; j < table.sizes.size(); ++j)
        others_[table.starts[j] + table.choice(g.edges[e].move, j)] += g.edges[e].visits;
    totals_.assign(size, 0.0);
    by_visits_.assign(size, 0.0);
    for (EdgeId e = node.edges; e < node.edges + node.edge_count; ++e) {
      const Edge& edge = g.edges[e];
      const double visits = g.edges[e].visits;
      if (visits == 0.0) continue;
      const std::uint32_t choice = table.choice(edge.move, index);
      const double q = g.value(e)[player];
      double weight = 1.0;
      for (std::size_t j = 0; j < table.sizes.size(); ++j) {
        if (j == index) continue;
        const std::size_t other = table.starts[j] + table.choice(edge.move, j);
        const double prior = node.priors == kNone ? uniform_prior(table.sizes[j]) : g.priors[node.priors + other];
        const double count = others_[other];
        weight *= selector_.weights == Weights::a ? prior : selector_.weights == Weights::b ? count : prior + count;
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

  static Map interval(double low, double high, double width, double shift, double lowest) {
    if (high > low) return {low, width / (high - low), shift, lowest};
    return {0.0, 0.0, 0.0, lowest};
  }

  Map scale(const Graph& g, NodeId id, std::size_t player, std::size_t size, const Seen& seen) const {
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
          if (seen.visits[a] == 0.0) continue;
          low = seen.values[a] < low ? seen.values[a] : low;
          high = seen.values[a] > high ? seen.values[a] : high;
        }
        return interval(low, high, 1.0, 0.0, 0.0);
      }
      case Scale::graph:
        return interval(g.low[player], g.high[player], 1.0, 0.0, 0.0);
    }
    return {};
  }

  double first_play(const Map& map, double parent, const float* prior, double equal, std::size_t size, const Seen& seen) const {
    double tried = 0.0;
    if (selector_.first_play == FirstPlay::reduced) {
      for (std::size_t a = 0; a < size; ++a)
        if (seen.visits[a] > 0.0) tried += prior ? static_cast<double>(prior[a]) : equal;
    }
    return first_play_of(map, parent, std::sqrt(tried));
  }

  std::uint32_t best_choice(const Graph& g, NodeId id, std::size_t player, std::size_t size, const Seen& seen,
                            const float* prior, const Draws& draws) {
    const Map map = scale(g, id, player, size, seen);
    const double equal = prior ? 0.0 : static_cast<double>(uniform_prior(size));
    const double first = first_play(map, map(g.mean(id)[player]), prior, equal, size, seen);
    const double loss = config_.virtual_loss == VirtualLoss::loss ? 1.0 : 0.0, w0 = selector_.w0;
    double total = 0.0;
    tried_.resize(size);
    for (std::size_t a = 0; a < size; ++a) {
      const double visits = seen.visits[a], flight = seen.flight[a];
      tried_[a] = visits + flight;
      total += tried_[a];
      if (w0 == 0.0 && (loss == 0.0 || flight == 0.0)) scores_[a] = visits > 0.0 ? map(seen.values[a]) : first;
      else scores_[a] = (w0 * first + visits * map(seen.values[a]) + loss * flight * map.lowest) / (w0 + visits + loss * flight);
    }
    if (g.nodes[id].flags & kForced) {
      for (std::size_t a = 0; a < size; ++a) {
        const double p = prior ? static_cast<double>(prior[a]) : equal;
        if (tried_[a] > 0.0 && tried_[a] < std::sqrt(forced * p * total)) return static_cast<std::uint32_t>(a);
      }
    }
    if (selector_.rule == Rule::ucb1) {
      const double logarithm = total > 0.0 ? std::log(total) : 0.0;
      for (std::size_t a = 0; a < size; ++a)
        scores_[a] = tried_[a] > 0.0 ? scores_[a] + selector_.c * std::sqrt(logarithm / tried_[a]) : HUGE_VAL;
    } else {
      const double factor = factor_of(static_cast<std::uint32_t>(total));
      for (std::size_t a = 0; a < size; ++a) {
        const double gain = factor * (prior ? static_cast<double>(prior[a]) : equal);
        scores_[a] = scores_[a] + gain / (1.0 + tried_[a]);
      }
    }
    std::size_t best = 0;
    for (std::size_t a = 1; a < size; ++a)
      if (scores_[a] > scores_[best]) best = a;
    if (!selector_.random_ties) return static_cast<std::uint32_t>(best);
    ties_.clear();
    for (std::size_t a = 0; a < size; ++a)
      if (scores_[a] == scores_[best]) ties_.push_back(static_cast<std::uint32_t>(a));
    const double u = draws.uniform(Purpose::ties, player, g.hashes[id], g.nodes[id].visits + g.in_flight(id));
    return ties_[static_cast<std::size_t>(u * static_cast<double>(ties_.size()))];
  }

  const Selector& selector_;
  const Config& config_;
  const Map declared_;  // the scale `range` of a game without a `bounds` verb
  const bool by_range_;  // whether that is the scale of all nodes
  const bool plain_;     // PUCT without first-play weight and random ties
  const double* const factors_;
  const std::uint32_t factor_count_;
  const Equal* const equal_ = all_equal();  // by the number of choices
  std::vector<double> visits_, values_, flight_, tried_, scores_, totals_, by_visits_, others_;
  std::vector<std::uint32_t> places_, ties_;
  std::vector<float> uniform_;
};

}  // namespace anabranch
