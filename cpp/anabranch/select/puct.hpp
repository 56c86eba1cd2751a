// PUCT: score(a) = x(a) + c·P(a)·√(S + ε) / (1 + N(a)) (Silver et al. 2018; docs/model.md section 4).
//
// `Scored` has the general case. Here are the plain ones, without scratch arrays: one player, or two at once, with few
// choices each, nothing in flight and no weight of first play; one player without random ties. Same sums in the same order,
// same ties.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "anabranch/pair.hpp"
#include "anabranch/select/scored.hpp"

namespace anabranch {

class Puct {
 public:
  Puct(const SelectorConfig& selector, const Context& context)
      : selector_(selector),
        c(context),
        declared_(Scaling::to_signed(context.config.returns_low, context.config.returns_high)),
        by_range_(selector.scale == Scale::range && !context.graph.rules.bounds),
        plain_(selector.w0 == 0.0 && !selector.random_ties),
        plain_pairs_(selector.w0 == 0.0 && selector.weights == Weights::d),
        factors_(selector.factors ? selector.factors->data() : nullptr),
        factor_count_(selector.factors ? static_cast<std::uint32_t>(selector.factors->size()) : 0),
        scored_(selector, context) {}

  template <std::size_t P>
  [[gnu::always_inline]] std::uint32_t choose_alone(NodeId id, const Node& node, std::uint32_t& place) {
    if (plain_ && node.choices <= EqualChoices::kMost && !node.is(kMarked | kRuled | kSkips)) [[likely]]
      return choose_among_few<P, false>(id, node, place);
    return choose_otherwise<P>(id, node, place);
  }

  template <std::size_t P>
  std::uint32_t choose_jointly(NodeId id, const Node& node, std::uint32_t& place) {
    const Table& table = c.graph.table_of(node);
    if (plain_pairs_ && table.few && !node.is(kMarked | kRuled))
      return choose_as_pair<P>(id, node, table, place);
    return scored_.choose_jointly<P>(*this, id, node, place);
  }

  void add_bonuses(std::vector<double>& scores, const std::vector<double>& tried, double total, const float* prior, double equal) const {
    const double factor = factor_of(static_cast<std::uint32_t>(total));
    for (std::size_t a = 0; a < tried.size(); ++a) {
      const double gain = factor * (prior ? static_cast<double>(prior[a]) : equal);
      scores[a] = scores[a] + gain / (1.0 + tried[a]);
    }
  }

 private:
  // Tried choices are scored edge by edge; of the untried only the first can win where all are equally likely.
  // `Skips`: some edges have nothing to learn behind them.
  template <std::size_t P, bool Skips>
  [[gnu::always_inline]] std::uint32_t choose_among_few(NodeId id, const Node& node, std::uint32_t& place) {
    const Graph& g = c.graph;
    const std::uint32_t size = node.choices, count = node.edge_count;
    const std::size_t mover = node.mover;
    const double mean = doubles_of(&node)[mover];
    const Scaling scaled = by_range_ ? declared_ : other_scale<P>(id, node);
    const double factor = factor_of(node.visits - 1);
    if (node.rows != kNone) return choose_by_prior<P>(node, &g.priors[node.rows], scaled, factor, place);
    const EqualChoices& equal = equal_[size];
    const double bonus = factor * equal.prior;
    // Equally likely choices are tried in ascending order, because the first of equals wins: edge e is choice e.
    double top = -HUGE_VAL;
    std::uint32_t best = 0;
    const Edge* edge = &g.edge<P>(node.edges);
    for (std::uint32_t e = 0; e < count; ++e, edge = further(edge, edge_stride<P>(g))) {
      double score = scaled(doubles_of(edge)[mover]) + bonus / (1.0 + static_cast<double>(static_cast<std::int32_t>(edge->visits)));
      if constexpr (Skips) score = edge->is(kSkip) ? -HUGE_VAL : score;
      best = score > top ? e : best;
      top = score > top ? score : top;
    }
    if (count < size && (count == 0 || first_play(selector_, scaled, scaled(mean), equal.roots[count]) + bonus > top)) {
      place = kNone;
      return count;
    }
    place = best;
    return best;
  }

  // A root with noise is as plain, but for where its priors are. Of many choices most are never tried.
  template <std::size_t P>
  __attribute__((noinline)) std::uint32_t choose_otherwise(NodeId id, const Node& node, std::uint32_t& place) {
    if (plain_ && node.choices > EqualChoices::kMost && !node.is(kMarked | kRuled | kSkips)) {
      const std::uint32_t chosen = choose_among_many<P>(id, node, place);
      if (chosen != kNone) [[likely]] return chosen;
    }
    if (plain_ && node.choices <= EqualChoices::kMost && !node.is(kMarked | kRuled)) return choose_among_few<P, true>(id, node, place);
    if (plain_ && node.choices <= EqualChoices::kMost && !node.is(kMarked) && c.root.forced == 0.0)
      return choose_by_prior<P>(node, scored_.priors_at(node), by_range_ ? declared_ : other_scale<P>(id, node), factor_of(node.visits - 1), place);
    return scored_.choose_alone<P>(*this, id, node, place);
  }

  // Untried choices differ in their priors alone, so they are tried in the order of these, the first of equals first: of those
  // left only the next one can win, and while even a choice as likely as the last one would not, nobody need look for it. kNone
  // where that order does not hold, or where rounding might make two of their scores equal: then all are scored.
  template <std::size_t P>
  std::uint32_t choose_among_many(NodeId id, const Node& node, std::uint32_t& place) {
    const Graph& g = c.graph;
    const std::uint32_t size = node.choices, count = node.edge_count;
    const float* const prior = node.rows == kNone ? nullptr : &g.priors[node.rows];
    const float equal = prior ? 0.0f : uniform_prior(size);
    const Scaling scaled = by_range_ ? declared_ : other_scale<P>(id, node);
    const double factor = factor_of(node.visits - 1);
    if (!(factor >= 0.5)) return kNone;
    double top = -HUGE_VAL;
    std::uint32_t best = kNone, last = kNone;
    float least = HUGE_VALF;
    place = kNone;
    const Edge* edge = &g.edge<P>(node.edges);
    for (std::uint32_t e = 0; e < count; ++e, edge = further(edge, edge_stride<P>(g))) {
      const std::uint32_t move = edge->move;
      const float likely = prior ? prior[move] : equal;
      if (!(likely < least || (likely == least && move > last))) return kNone;
      least = likely;
      last = move;
      const double gain = factor * static_cast<double>(likely);
      const double score = scaled(doubles_of(edge)[node.mover]) + gain / (1.0 + static_cast<double>(static_cast<std::int32_t>(edge->visits)));
      if (score < top) continue;
      if (score > top || move < best) {
        top = score;
        best = move;
        place = e;
      }
    }
    if (count == size) return best;
    const double root = selector_.first_play == FirstPlay::reduced ? std::sqrt(tried_mass<P>(node, prior, equal)) : 0.0;
    const double first = first_play(selector_, scaled, scaled(doubles_of(&node)[node.mover]), root);
    if (!(std::abs(first) <= 64.0)) return kNone;
    if (count > 0 && first + factor * static_cast<double>(least) < top) return best;
    const std::uint32_t next = prior ? next_likely(prior, size, least, last) : count;
    const double score = first + factor * static_cast<double>(prior ? prior[next] : equal);
    if (score > top || (score == top && next < best) || best == kNone) {
      place = kNone;
      return next;
    }
    return best;
  }

  // The likeliest choice after the one tried last, in that order: the next one as likely, else the first of the less likely.
  static std::uint32_t next_likely(const float* prior, std::uint32_t size, float least, std::uint32_t last) {
    for (std::uint32_t a = last + 1; a < size; ++a)  // `last` is kNone, −1, before any was tried
      if (prior[a] == least) return a;
    std::int32_t most = 0;  // priors are positive, so their bits are in the order of their values
    const auto bits = std::bit_cast<std::int32_t>(least);
    for (std::uint32_t a = 0; a < size; ++a) {
      const auto here = std::bit_cast<std::int32_t>(prior[a]);
      const std::int32_t counted = here < bits ? here : 0;
      most = counted > most ? counted : most;
    }
    for (std::uint32_t a = 0; a < size; ++a)
      if (std::bit_cast<std::int32_t>(prior[a]) == most) return a;
    return 0;
  }

  // The prior mass of the tried choices, summed in ascending order as sums run everywhere.
  template <std::size_t P>
  double tried_mass(const Node& node, const float* prior, float equal) {
    tried_.assign((node.choices + 63) / 64, 0);
    const Edge* edge = &c.graph.edge<P>(node.edges);
    for (std::uint32_t e = 0; e < node.edge_count; ++e, edge = further(edge, edge_stride<P>(c.graph))) tried_[edge->move / 64] |= std::uint64_t{1} << edge->move % 64;
    double mass = 0.0;
    for (std::size_t i = 0; i < tried_.size(); ++i)
      for (std::uint64_t rest = tried_[i]; rest; rest &= rest - 1)
        mass += static_cast<double>(prior ? prior[i * 64 + static_cast<std::size_t>(std::countr_zero(rest))] : equal);
    return mass;
  }

  template <std::size_t P>
  std::uint32_t choose_by_prior(const Node& node, const float* prior, const Scaling& scaled, double factor, std::uint32_t& place) {
    const Graph& g = c.graph;
    const std::uint32_t size = node.choices, count = node.edge_count;
    double top = -HUGE_VAL, mass = 0.0;
    std::uint32_t best = kNone;
    std::uint64_t tried = 0;
    place = kNone;
    const Edge* edge = &g.edge<P>(node.edges);
    for (std::uint32_t e = 0; e < count; ++e, edge = further(edge, edge_stride<P>(g))) {
      const std::uint32_t move = edge->move;
      const double gain = factor * static_cast<double>(prior[move]);
      const double score = scaled(doubles_of(edge)[node.mover]) + gain / (1.0 + static_cast<double>(static_cast<std::int32_t>(edge->visits)));
      tried |= std::uint64_t{1} << move;
      if (score < top || edge->is(kSkip)) continue;
      if (score > top || move < best) {
        top = score;
        best = move;
        place = e;
      }
    }
    if (count == size) return best;
    for (std::uint64_t rest = tried; rest; rest &= rest - 1) mass += static_cast<double>(prior[std::countr_zero(rest)]);
    const double first = first_play(selector_, scaled, scaled(doubles_of(&node)[node.mover]), std::sqrt(mass));
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
  __attribute__((noinline)) Scaling other_scale(NodeId id, const Node& node) const {
    if (selector_.scale != Scale::node) return fixed_scale(selector_, c.config, c.graph, id, node.mover);
    double low = doubles_of(&node)[node.mover], high = low;
    const Edge* edge = &c.graph.edge<P>(node.edges);
    for (std::uint32_t e = 0; e < node.edge_count; ++e, edge = further(edge, edge_stride<P>(c.graph))) {
      const double q = doubles_of(edge)[node.mover];
      low = q < low ? q : low;
      high = q > high ? q : high;
    }
    return Scaling::to_unit(low, high);
  }

  struct Sum {
    double value, visits;
  };

  // Two players with few choices each.
  template <std::size_t P>
  std::uint32_t choose_as_pair(NodeId id, const Node& node, const Table& table, std::uint32_t& place) {
    static_assert(Table::kFew % 2 == 0 && sizeof(Sum) == sizeof(Pair));
    const Graph& g = c.graph;
    Sum first[Table::kFew], second[Table::kFew];
    for (std::uint32_t a = 0; a < table.sizes[0]; a += 2) first[a] = first[a + 1] = {0.0, 0.0};
    for (std::uint32_t b = 0; b < table.sizes[1]; b += 2) second[b] = second[b + 1] = {0.0, 0.0};
    const std::uint32_t shift = table.shifts[1], mask = table.masks[0], other_mask = table.masks[1];
    const std::size_t one = table.players[0], other = table.players[1];
    const Edge* edge = &g.edge<P>(node.edges);
    for (std::uint32_t e = 0; e < node.edge_count; ++e, edge = further(edge, edge_stride<P>(g))) {
      const Pair visits = both(static_cast<std::int32_t>(edge->visits));
      add(first[edge->move & mask], visits * Pair{doubles_of(edge)[one], 1.0});
      add(second[edge->move >> shift & other_mask], visits * Pair{doubles_of(edge)[other], 1.0});
    }
    const std::uint32_t mine = best_of_few(id, node, table, 0, first), theirs = best_of_few(id, node, table, 1, second);
    const std::uint32_t move = mine | theirs << shift;
    std::uint32_t at = kNone;
    edge = &g.edge<P>(node.edges);
    for (std::uint32_t e = 0; e < node.edge_count; ++e, edge = further(edge, edge_stride<P>(g))) at = edge->move == move ? e : at;
    place = at;
    return move;
  }

  static void add(Sum& sum, Pair more) { store_pair(&sum.value, load_pair(&sum.value) + more); }

  // Of one of them, two choices at a time; where their number is odd, one that nobody has fills the last pair.
  std::uint32_t best_of_few(NodeId id, const Node& node, const Table& table, std::size_t index, const Sum* sums) {
    const Graph& g = c.graph;
    const std::size_t player = table.players[index];
    const std::uint32_t size = table.sizes[index];
    const double mean = doubles_of(&node)[player], factor = factor_of(node.visits - 1);
    const float* const prior = node.rows == kNone ? nullptr : &g.priors[node.rows + table.starts[index]];
    const EqualChoices& equal = equal_[size];
    double values[Table::kFew], visits[Table::kFew], scores[Table::kFew];
    std::uint32_t tried = 0;
    for (std::uint32_t a = 0; a < size; a += 2) {
      const Pair times{sums[a].visits, sums[a + 1].visits};
      const Pair known = Pair{sums[a].value, sums[a + 1].value} / (times > 0.0 ? times : both(1.0));
      store_pair(visits + a, times);
      store_pair(values + a, times > 0.0 ? known : both(mean));
      tried += (times[0] > 0.0) + (times[1] > 0.0);
    }
    Scaling scaled = declared_;
    if (!by_range_) scaled = selector_.scale == Scale::node ? scale_of(values, size, mean) : fixed_scale(selector_, c.config, g, id, player);
    double untried = 0.0;
    if (tried < size) untried = first_play(selector_, scaled, scaled(mean), prior ? std::sqrt(mass_of(prior, visits, size)) : equal.roots[tried]);
    const double gain = factor * equal.prior;
    for (std::uint32_t a = 0; a < size; a += 2) {
      const Pair times = load_pair(visits + a);
      const Pair worth = (load_pair(values + a) - scaled.low) * scaled.factor + scaled.shift;
      Pair gains = both(gain);
      if (prior) gains = Pair{factor * static_cast<double>(prior[a]), a + 1 < size ? factor * static_cast<double>(prior[a + 1]) : 0.0};
      store_pair(scores + a, (times > 0.0 ? worth : both(untried)) + gains / (times + 1.0));
    }
    double top = -HUGE_VAL;
    std::uint32_t best = 0, equals = 0;
    for (std::uint32_t a = 0; a < size; ++a) {
      equals = scores[a] > top ? 1 : equals + (scores[a] == top);
      best = scores[a] > top ? a : best;
      top = scores[a] > top ? scores[a] : top;
    }
    if (equals < 2 || !selector_.random_ties) return best;
    for (std::uint32_t skip = scored_.drawn_tie(id, player, equals);; ++best)
      if (scores[best] == top && skip-- == 0) return best;
  }

  static Scaling scale_of(const double* values, std::uint32_t size, double mean) {
    double low = mean, high = mean;
    for (std::uint32_t a = 0; a < size; ++a) {
      low = values[a] < low ? values[a] : low;
      high = values[a] > high ? values[a] : high;
    }
    return Scaling::to_unit(low, high);
  }

  static double mass_of(const float* prior, const double* visits, std::uint32_t size) {
    double mass = 0.0;
    for (std::uint32_t a = 0; a < size; ++a) mass += visits[a] > 0.0 ? static_cast<double>(prior[a]) : 0.0;
    return mass;
  }

  // c·√(S + ε)
  double factor_of(std::uint32_t total) const { return total < factor_count_ ? factors_[total] : selector_.exploration(total); }

  const SelectorConfig& selector_;
  const Context& c;
  const Scaling declared_;  // the scale `range` of a game without a `bounds` verb
  const bool by_range_;     // whether that is the scale of all nodes
  const bool plain_;        // no weight of first play, no random ties
  const bool plain_pairs_;  // no weight of first play, replies weighed by visits
  const double* const factors_;
  const std::uint32_t factor_count_;
  const EqualChoices* const equal_ = EqualChoices::all();
  Scored scored_;
  std::vector<std::uint64_t> tried_;  // bits
};

}  // namespace anabranch
