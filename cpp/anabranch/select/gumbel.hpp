// Gumbel (Danihelka et al. 2022; docs/model.md section 10): sequential halving among sampled choices at a root with a plan, the
// improved policy everywhere else. Same sums in the same order as src/anabranch/search/maths/gumbel.py.
//
//   σ(q) = (c_visit + max N)·c_scale·q̃(q),   v_mix = (ΣN·(Σ_vis P·q / Σ_vis P) + U) / (1 + ΣN),   π' = softmax(ln P + σ)
//   inside   argmax π'(a) − (N(a) + v(a)) / (1 + S)
//   root     argmax g + ln P + σ(q)   among considered choices with n(a) + v(a) = schedule[t]
//
// A player's choices are a list of those its edges tell of, in the order first tried: the edges themselves where one player acts
// and nothing is in flight. The untried share one completed value, so only the likeliest of them can be taken: one maximum.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "anabranch/context.hpp"
#include "anabranch/select/gumbel_choices.hpp"
#include "anabranch/select/marginals.hpp"
#include "anabranch/select/scale.hpp"

namespace anabranch {

class Gumbel {
 public:
  Gumbel(const SelectorConfig& selector, const Context& context) : selector_(selector), c(context) {}

  template <std::size_t P>
  std::uint32_t choose_alone(NodeId id, const Node& node, std::uint32_t& place) {
    const float* const priors = priors_of(node);
    const Player player{node.mover, 0, 0, node.choices, priors};
    Chosen best;
    if (node.is(kMarked) && (planned(node) || counts_marks())) {
      list_marked(node, player);
      best = choose(id, node, player, listed());
    } else {
      best = choose(id, node, player, Edges<P>{&c.graph.edge<P>(node.edges), node.edge_count, edge_stride<P>(c.graph), node.mover, priors,
                                               priors ? 0.0 : static_cast<double>(uniform_prior(node.choices))});
    }
    place = best.at;
    return best.choice;
  }

  template <std::size_t P>
  std::uint32_t choose_jointly(NodeId id, const Node& node, std::uint32_t& place) {
    const Graph& g = c.graph;
    const Table& table = g.table_of(node);
    const float* const priors = priors_of(node);
    std::uint32_t move = 0;
    marginals_.gather<P>(g, node, table);
    if (node.is(kMarked) && (planned(node) || counts_marks())) marginals_.gather_marks(g, node, table);
    for (std::size_t i = 0; i < table.sizes.size(); ++i) {
      const Seen seen = marginals_.seen(table.players[i], table.starts[i], table.sizes[i], priors ? priors + table.starts[i] : nullptr);
      const Player player{table.players[i], i, table.starts[i], table.sizes[i], seen.prior};
      list_jointly(node, table, player, seen.visits, seen.values, seen.flight);
      move |= choose(id, node, player, listed()).choice << table.shifts[i];
    }
    place = kNone;
    const Edge* edge = &g.edge<P>(node.edges);
    for (std::uint32_t e = 0; e < node.edge_count; ++e, edge = further(edge, edge_stride<P>(g)))
      if (edge->move == move) place = e;
    return move;
  }

  // One player's choices.
  struct Player {
    std::size_t player, index, start, size;  // seat; among the acting; its first row
    const float* prior;                      // nullptr: all choices are equally likely
  };

  // Reports: list what a player sees, given its visits and values as they are now; then the improved policy over its choices
  // (the prior before any visit) and the choice that the last run ended with (kNone: none was begun).
  void see(const Node& node, const Table* table, const Player& player, const double* visits, const double* values) {
    if (table) {
      list_jointly(node, *table, player, visits, values, nullptr);
      return;
    }
    tried_.clear();
    for (const EdgeId e : EdgeIds(node)) {
      const std::uint32_t a = c.graph.edges[e].move;
      tried_.push_back({a, visits[a], 0.0, values[a], prior_of(player, a)});
    }
  }
  void improve(NodeId id, const Player& player, double* policy) {
    const Listed list = listed();
    const Sums sums = add_up(list);
    for (std::size_t a = 0; a < player.size; ++a) policy[a] = prior_of(player, a);
    if (sums.visited == 0) return;
    double visited;
    const double mixed = exponentiate(list, complete(id, player, sums), visited);
    factors_.assign(player.size, mixed);
    for (std::size_t at = 0; at < list.count; ++at)
      if (list[at].visits > 0.0) factors_[list[at].choice] = weights_[at];
    double total = 0.0;
    for (std::size_t a = 0; a < player.size; ++a) total += policy[a] = policy[a] * factors_[a];
    for (std::size_t a = 0; a < player.size; ++a) policy[a] /= total;
  }
  std::uint32_t winner(NodeId id, const Node& node, const Player& player) {
    if (!planned(node)) return kNone;
    const Listed list = listed();
    double most = 0.0;
    for (std::size_t at = 0; at < list.count; ++at)
      if (c.root.plan.considered[player.start + list[at].choice]) most = std::max(most, times_in_run<Listed>(player, list[at]));
    return best_considered(id, list, player, most).choice;
  }

 private:
  using Listed = TriedList;
  template <std::size_t P>
  using Edges = TriedEdges<P>;
  using Sums = TriedSums;
  using Completed = CompletedValues;
  struct Chosen {
    std::uint32_t choice = kNone, at = kNone;  // its place in the list; kNone: it is not there
  };

  bool counts_marks() const { return c.config.virtual_loss != VirtualLoss::off; }
  bool planned(const Node& node) const { return node.is(kRuled) && !c.root.plan.scores.empty(); }
  const float* priors_of(const Node& node) const { return node.rows == kNone ? nullptr : &c.graph.priors[node.rows]; }
  static double prior_of(const Player& player, std::size_t choice) {
    return static_cast<double>(player.prior ? player.prior[choice] : uniform_prior(player.size));
  }

  Listed listed() const { return {tried_.data(), tried_.size()}; }

  void list_marked(const Node& node, const Player& player) {
    const Graph& g = c.graph;
    tried_.clear();
    for (const EdgeId e : EdgeIds(node)) {
      const Edge& edge = g.edges[e];
      tried_.push_back({edge.move, static_cast<double>(edge.visits), static_cast<double>(g.marks[e]), g.value(e)[node.mover], prior_of(player, edge.move)});
    }
  }

  void list_jointly(const Node& node, const Table& table, const Player& player, const double* visits, const double* values, const double* flight) {
    tried_.clear();
    seen_.assign(player.size, 0);
    for (const EdgeId e : EdgeIds(node)) {
      const std::uint32_t a = table.choice(c.graph.edges[e].move, player.index);
      if (seen_[a]) continue;
      seen_[a] = 1;
      tried_.push_back({a, visits[a], flight ? flight[a] : 0.0, values[a], prior_of(player, a)});
    }
  }

  template <class List>
  [[gnu::always_inline]] Chosen choose(NodeId id, const Node& node, const Player& player, const List& list) {
    if (planned(node)) return choose_planned(id, node, list, player);
    if constexpr (!List::kFlies) {
      const Chosen best = choose_visited(id, player, list);
      if (best.choice != kNone) [[likely]] return best;
    }
    const Sums sums = add_up(list);
    return choose_inside(list, sums, complete(id, player, sums), player);
  }

  // What `choose_inside` takes, where every edge was visited, as all are while nothing is in flight; kNone elsewhere. Edges become
  // columns first, of which several numbers are divided at once.
  template <class List>
  [[gnu::always_inline]] Chosen choose_visited(NodeId id, const Player& player, const List& list) {
    const std::size_t count = list.count;
    if (count == 0) return {untried(list, 0, player), kNone};  // π' is the prior
    double few[4 * kFew];  // hundreds of searches would each have to fetch memory of their own
    if (count > kFew && weights_.size() < 4 * count) [[unlikely]] weights_.resize(8 * count);
    double* __restrict const prior = count > kFew ? weights_.data() : few;
    double* __restrict const value = prior + count;
    double* __restrict const times = value + count;
    double* __restrict const weight = times + count;
    Sums sums;
    std::uint64_t tried = 0;
    bool all = true;
    for (std::size_t at = 0; at < count; ++at) {
      const TriedChoice each = list[at];
      prior[at] = each.prior;
      value[at] = each.value;
      times[at] = each.visits;
      tried |= std::uint64_t{1} << (each.choice & 63);
      all &= each.visits > 0.0;
      sums.mass += each.prior;
      sums.weighted += each.prior * each.value;
      sums.visits += each.visits;
      sums.most = each.visits > sums.most ? each.visits : sums.most;
      sums.low = each.value < sums.low ? each.value : sums.low;
      sums.high = each.value > sums.high ? each.value : sums.high;
    }
    if (!all) [[unlikely]] return {};
    sums.visited = count;
    const Completed found = complete(id, player, sums);
    double mixed = found.complete ? 0.0 : 1.0, total = sums.mass;  // where σ is 0 for all: Σ P·1 is Σ P
    if (!found.flat) {
      double top = found.complete ? -HUGE_VAL : found.gain;
      for (std::size_t at = 0; at < count; ++at) weight[at] = found(value[at]);
      for (std::size_t at = 0; at < count; ++at) top = weight[at] > top ? weight[at] : top;
      total = 0.0;
      for (std::size_t at = 0; at < count; ++at) {
        prior[at] *= exponential(weight[at] - top);
        total += prior[at];
      }
      if (!found.complete) mixed = exponential(found.gain - top);
    }
    if (!found.complete) total += (1.0 - sums.mass) * mixed;
    const double everywhere = 1.0 + sums.visits;
    for (std::size_t at = 0; at < count; ++at) weight[at] = prior[at] / total - times[at] / everywhere;
    double top = -HUGE_VAL;
    Chosen best;
    for (std::size_t at = 0; at < count; ++at) {  // which is larger nobody foresees: no branches
      const std::uint32_t choice = list.edge(at).move;
      const bool better = (weight[at] > top) | ((weight[at] == top) & (choice < best.choice));
      top = better ? weight[at] : top;
      best.choice = better ? choice : best.choice;
      best.at = better ? static_cast<std::uint32_t>(at) : best.at;
    }
    if (!found.complete) {
      const std::uint32_t newest = untried(list, tried, player);
      const double score = prior_of(player, newest) * mixed / total - 0.0 / everywhere;
      if (score > top || (score == top && newest < best.choice)) best = {newest, kNone};
    }
    return best;
  }

  // The likeliest choice that was never tried; `tried`: those that were as bits, where there are at most 64 choices.
  template <class List>
  [[gnu::always_inline]] std::uint32_t untried(const List& list, std::uint64_t tried, const Player& player) {
    if (player.size <= 64) return Likeliest::among(~tried & ~std::uint64_t{0} >> (64 - player.size), player.prior);
    return likeliest_.untried(list, player.size, player.prior);
  }

  [[gnu::always_inline]] Completed complete(NodeId id, const Player& player, const Sums& sums) const {
    const Graph& g = c.graph;
    double low = sums.low, high = sums.high, mixed = 0.0;
    const bool all = sums.visited == player.size;
    if (!all) {
      const double evaluation = g.evaluation(id)[player.player];
      mixed = sums.visited == 0 ? evaluation : (sums.visits * (sums.weighted / sums.mass) + evaluation) / (1.0 + sums.visits);
      low = mixed < low ? mixed : low;
      high = mixed > high ? mixed : high;
    }
    Completed found{(selector_.c_visit + sums.most) * selector_.c_scale, low, 0.0, selector_.scale == Scale::node, {}, 0.0, all};
    if (found.by_node) {
      found.width = high - low > kNarrowest ? high - low : kNarrowest;
      found.flat = low == high;
    } else if (selector_.scale == Scale::graph) found.scaling = Scaling::to_unit(g.low[player.player], g.high[player.player]);
    else if (selector_.scale == Scale::range) {
      const double* const range = g.range.kept() ? g.range.row(id) : nullptr;
      found.scaling = range ? Scaling::to_unit(range[player.player], range[g.players + player.player]) : Scaling::to_unit(c.config.returns_low, c.config.returns_high);
    }  // `none`: the value itself
    if (!all) found.gain = found(mixed);
    return found;
  }

  // Of the largest of all it is 1, and often others are equal.
  [[gnu::always_inline]] static double exponential(double below) { return below == 0.0 ? 1.0 : std::exp(below); }

  // Write exp(σ − max σ) of the visited choices into `weights_`; return that of all others. `total` is Σ_vis P·exp(σ − max σ).
  template <class List>
  [[gnu::always_inline]] double exponentiate(const List& list, const Completed& found, double& total) {
    if (weights_.size() < list.count) [[unlikely]] weights_.resize(2 * list.count);
    double* const weights = weights_.data();
    double top = found.complete ? -HUGE_VAL : found.gain;
    for (std::size_t at = 0; at < list.count; ++at) {
      const TriedChoice tried = list[at];
      if (!(tried.visits > 0.0)) [[unlikely]] continue;
      weights[at] = found(tried.value);
      top = weights[at] > top ? weights[at] : top;
    }
    total = 0.0;
    for (std::size_t at = 0; at < list.count; ++at) {
      const TriedChoice tried = list[at];
      if (!(tried.visits > 0.0)) [[unlikely]] continue;
      weights[at] = exponential(weights[at] - top);
      total += tried.prior * weights[at];
    }
    return found.complete ? 0.0 : exponential(found.gain - top);
  }

  template <class List>
  [[gnu::always_inline]] Chosen choose_inside(const List& list, const Sums& sums, const Completed& found, const Player& player) {
    double total;
    const double mixed = exponentiate(list, found, total);
    if (!found.complete) total += (1.0 - sums.mass) * mixed;
    const double everywhere = 1.0 + sums.times;
    double top = -HUGE_VAL;
    Chosen best;
    for (std::size_t at = 0; at < list.count; ++at) {
      const TriedChoice tried = list[at];
      const double times = times_of<List>(tried);
      if (!(times > 0.0)) [[unlikely]] continue;
      const double score = tried.prior * (tried.visits > 0.0 ? weights_[at] : mixed) / total - times / everywhere;
      if (score > top || (score == top && tried.choice < best.choice)) {
        top = score;
        best = {tried.choice, static_cast<std::uint32_t>(at)};
      }
    }
    if (sums.tried < player.size) {
      const std::uint32_t newest = likeliest_.untried(list, player.size, player.prior);
      const double score = prior_of(player, newest) * mixed / total - 0.0 / everywhere;
      if (score > top || (score == top && newest < best.choice)) {
        best = {newest, kNone};
        for (std::size_t at = 0; sums.tried < list.count && at < list.count; ++at)  // an edge that nobody has walked yet
          if (list[at].choice == newest) best.at = static_cast<std::uint32_t>(at);
      }
    }
    return best;
  }

  // n + v of this run.
  template <class List>
  double times_in_run(const Player& player, const TriedChoice& tried) const {
    return times_of<List>(tried) - static_cast<double>(c.root.plan.before[player.start + tried.choice]);
  }

  // The choice that the schedule allows next.
  template <class List>
  [[gnu::always_inline]] Chosen choose_planned(NodeId id, const Node& node, const List& list, const Player& player) {
    const GumbelPlan& plan = c.root.plan;
    double times = 0.0;
    if constexpr (List::kFlies)
      for (std::size_t at = 0; at < list.count; ++at) times += times_of<List>(list[at]);
    else times = static_cast<std::int32_t>(node.visits - 1);  // N(n) = 1 + Σ N(e)
    const auto t = static_cast<std::uint64_t>(times - plan.begun[player.index]);
    return best_considered(id, list, player, static_cast<double>(plan.scheduled(player.index, t)));
  }

  // The first of the considered choices with so many visits whose g + ln P + σ is largest. What was never tried has none. Where
  // there is only one, nothing else matters.
  template <class List>
  __attribute__((noinline)) Chosen best_considered(NodeId id, const List& list, const Player& player, double wanted) {
    const GumbelPlan& plan = c.root.plan;
    const std::vector<std::uint32_t>& considered = plan.listed[player.index];
    std::uint32_t few[kFew];
    const bool many = list.count + considered.size() > kFew;
    if (many && allowed_.size() < list.count + considered.size()) [[unlikely]] allowed_.resize(list.count + considered.size());
    std::uint32_t* const allowed = many ? allowed_.data() : few;  // places of tried choices, then untried choices
    std::size_t tried = 0;
    Sums sums;  // where all choices were visited; else more must be added up
    if constexpr (List::kFlies) {
      for (std::size_t at = 0; at < list.count; ++at) {
        const TriedChoice each = list[at];
        allowed[tried] = static_cast<std::uint32_t>(at);
        tried += times_in_run<List>(player, each) == wanted && plan.considered[player.start + each.choice];
      }
    } else {
      const auto times = static_cast<std::uint32_t>(wanted);
      const std::uint32_t* const since = plan.since.data() + player.start;
      std::uint32_t most = 0, least = UINT32_MAX;
      for (std::size_t at = 0; at < list.count; ++at) {
        const Edge& edge = list.edge(at);
        const double value = list.value(edge);
        allowed[tried] = static_cast<std::uint32_t>(at);
        tried += edge.visits - since[edge.move] == times;
        most = edge.visits > most ? edge.visits : most;
        least = edge.visits < least ? edge.visits : least;
        sums.low = value < sums.low ? value : sums.low;
        sums.high = value > sums.high ? value : sums.high;
      }
      sums.most = static_cast<std::int32_t>(most);
      sums.visited = least > 0 ? list.count : 0;
    }
    std::size_t count = tried;
    if (wanted == 0.0) {
      seen_.assign(player.size, 0);
      for (std::size_t at = 0; at < list.count; ++at) seen_[list[at].choice] = 1;
      for (const std::uint32_t a : considered)
        if (!seen_[a]) allowed[count++] = a;
    }
    if (count == 0) [[unlikely]] throw std::logic_error("a root has other visits than its plan of a Gumbel search");
    if (count == 1) return tried ? Chosen{list[allowed[0]].choice, allowed[0]} : Chosen{allowed[0], kNone};
    if (sums.visited != player.size) sums = add_up(list);
    const Completed found = complete(id, player, sums);
    const double* const scores = plan.scores.data() + player.start;
    double top = -HUGE_VAL;
    Chosen best;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t at = i < tried ? allowed[i] : kNone;
      const std::uint32_t choice = i < tried ? list[at].choice : allowed[i];
      const double score = scores[choice] + (i < tried && list[at].visits > 0.0 ? found(list[at].value) : found.gain);
      const bool better = (score > top) | ((score == top) & (choice < best.choice));
      top = better ? score : top;
      best.choice = better ? choice : best.choice;
      best.at = better ? at : best.at;
    }
    return best;
  }

  static constexpr double kNarrowest = 1e-8;
  static constexpr std::size_t kFew = 32;

  const SelectorConfig& selector_;
  const Context& c;
  Marginals marginals_;
  std::vector<TriedChoice> tried_;         // a list written down
  std::vector<double> weights_, factors_;  // by place in a list; by choice
  Likeliest likeliest_;
  std::vector<std::uint8_t> seen_;
  std::vector<std::uint32_t> allowed_;  // by the schedule
};

}  // namespace anabranch
