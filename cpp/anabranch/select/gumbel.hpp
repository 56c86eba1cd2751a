// Gumbel (Danihelka et al. 2022; docs/model.md section 10): sequential halving among sampled choices at a root with a plan, the
// improved policy everywhere else. Same sums in the same order as src/anabranch/search/maths/gumbel.py.
//
//   σ(q) = (c_visit + max N)·c_scale·q̃(q),   v_mix = (ΣN·(Σ_vis P·q / Σ_vis P) + U) / (1 + ΣN),   π' = softmax(ln P + σ)
//   inside   argmax π'(a) − (N(a) + v(a)) / (1 + S)
//   root     argmax g + ln P + σ(q)   among considered choices with n(a) + v(a) = schedule[t]
//
// A player's choices are a list of those its edges tell of, in the order first tried. All others share one completed value, so
// that of the untried only the one with the largest prior can be taken: a choice costs the edges and one maximum.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "anabranch/context.hpp"
#include "anabranch/select/marginals.hpp"
#include "anabranch/select/scale.hpp"

namespace anabranch {

// A choice that an edge tells of.
struct TriedChoice {
  std::uint32_t choice, place;  // of its edge, where one player acts
  double visits, flight;        // N; v, as far as it counts
  double value, prior;
  double weight = 0.0;  // σ, then exp(σ − max σ)
};

class Gumbel {
 public:
  Gumbel(const SelectorConfig& selector, const Context& context) : selector_(selector), c(context) {}

  template <std::size_t P>
  std::uint32_t choose_alone(NodeId id, const Node& node, std::uint32_t& place) {
    const float* const priors = priors_of(node);
    list_alone<P>(node, priors, planned(node) || counts_marks());
    const std::uint32_t best = choose(id, node, {node.mover, 0, 0, node.choices, priors});
    place = kNone;
    for (std::size_t at = 0; at < tried_.size() && place == kNone; ++at)
      if (tried_[at].choice == best) place = tried_[at].place;
    return best;
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
      list_jointly(node, table, i, seen.visits, seen.values, seen.flight, seen.prior);
      move |= choose(id, node, {table.players[i], i, table.starts[i], table.sizes[i], seen.prior}) << table.shifts[i];
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
      list_jointly(node, *table, player.index, visits, values, nullptr, player.prior);
      return;
    }
    tried_.clear();
    for (const EdgeId e : EdgeIds(node)) {
      const std::uint32_t a = c.graph.edges[e].move;
      tried_.push_back({a, kNone, visits[a], 0.0, values[a], prior_of(player.prior, a, player.size)});
    }
  }
  void improve(NodeId id, const Player& player, double* policy) {
    const Completed found = complete(id, player);
    for (std::size_t a = 0; a < player.size; ++a) policy[a] = prior_of(player.prior, a, player.size);
    if (found.visited == 0) return;
    const double mixed = exponentiate(found);
    if (weights_.size() < player.size) weights_.resize(player.size);
    for (std::size_t a = 0; a < player.size; ++a) weights_[a] = mixed;
    for (const TriedChoice& tried : tried_) weights_[tried.choice] = tried.weight;
    double total = 0.0;
    for (std::size_t a = 0; a < player.size; ++a) total += policy[a] = policy[a] * weights_[a];
    for (std::size_t a = 0; a < player.size; ++a) policy[a] /= total;
  }
  std::uint32_t winner(NodeId id, const Node& node, const Player& player) {
    if (!planned(node)) return kNone;
    const GumbelPlan& plan = c.root.plan;
    const Completed found = complete(id, player);
    spread(found, player);
    double most = 0.0;
    for (const std::uint32_t a : plan.listed[player.index]) most = std::max(most, counts_[a]);
    return best_considered(player, most);
  }

 private:
  // What the choices never visited share, and how values are scaled.
  struct Completed {
    std::size_t visited;  // how many choices were
    double mass;          // Σ_vis P
    double gain;          // σ of v_mix
    bool complete;        // whether all choices were visited
  };

  bool counts_marks() const { return c.config.virtual_loss != VirtualLoss::off; }
  bool planned(const Node& node) const { return node.is(kRuled) && !c.root.plan.scores.empty(); }
  const float* priors_of(const Node& node) const { return node.rows == kNone ? nullptr : &c.graph.priors[node.rows]; }
  static double prior_of(const float* prior, std::size_t choice, std::size_t size) {
    return static_cast<double>(prior ? prior[choice] : uniform_prior(size));
  }

  template <std::size_t P>
  void list_alone(const Node& node, const float* priors, bool marked) {
    const Graph& g = c.graph;
    const double equal = priors ? 0.0 : static_cast<double>(uniform_prior(node.choices));
    marked = marked && node.is(kMarked);
    tried_.clear();
    const Edge* edge = &g.edge<P>(node.edges);
    for (std::uint32_t e = 0; e < node.edge_count; ++e, edge = further(edge, edge_stride<P>(g))) {
      const double flight = marked ? g.marks[node.edges + e] : 0.0;
      tried_.push_back({edge->move, e, static_cast<double>(edge->visits), flight, doubles_of(edge)[node.mover],
                        priors ? static_cast<double>(priors[edge->move]) : equal});
    }
  }

  void list_jointly(const Node& node, const Table& table, std::size_t index, const double* visits, const double* values, const double* flight,
                    const float* prior) {
    const std::size_t size = table.sizes[index];
    tried_.clear();
    seen_.assign(size, 0);
    for (const EdgeId e : EdgeIds(node)) {
      const std::uint32_t a = table.choice(c.graph.edges[e].move, index);
      if (seen_[a]) continue;
      seen_[a] = 1;
      tried_.push_back({a, kNone, visits[a], flight ? flight[a] : 0.0, values[a], prior_of(prior, a, size)});
    }
  }

  std::uint32_t choose(NodeId id, const Node& node, const Player& player) {
    const Completed found = complete(id, player);
    return planned(node) ? choose_planned(found, player) : choose_inside(found, player);
  }

  // Write σ of the visited choices, and σ of v_mix.
  Completed complete(NodeId id, const Player& player) {
    double mass = 0.0, weighted = 0.0, total = 0.0, most = 0.0, low = HUGE_VAL, high = -HUGE_VAL;
    std::size_t visited = 0;
    for (const TriedChoice& tried : tried_) {
      if (tried.visits == 0.0) continue;
      ++visited;
      mass += tried.prior;
      weighted += tried.prior * tried.value;
      total += tried.visits;
      most = tried.visits > most ? tried.visits : most;
      low = tried.value < low ? tried.value : low;
      high = tried.value > high ? tried.value : high;
    }
    const Graph& g = c.graph;
    const double evaluation = g.evaluation(id)[player.player];
    const double mixed = visited == 0 ? evaluation : (total * (weighted / mass) + evaluation) / (1.0 + total);
    const bool all = visited == player.size;
    if (!all) {
      low = mixed < low ? mixed : low;
      high = mixed > high ? mixed : high;
    }
    const double factor = (selector_.c_visit + most) * selector_.c_scale;
    if (selector_.scale == Scale::node) {
      const double width = high - low > kNarrowest ? high - low : kNarrowest;
      for (TriedChoice& tried : tried_) tried.weight = factor * ((tried.value - low) / width);
      return {visited, mass, factor * ((mixed - low) / width), all};
    }
    Scaling scaled;  // `none`: the value itself
    if (selector_.scale == Scale::graph) scaled = Scaling::to_unit(g.low[player.player], g.high[player.player]);
    if (selector_.scale == Scale::range) {
      const double* const range = g.range.kept() ? g.range.row(id) : nullptr;
      scaled = range ? Scaling::to_unit(range[player.player], range[g.players + player.player]) : Scaling::to_unit(c.config.returns_low, c.config.returns_high);
    }
    for (TriedChoice& tried : tried_) tried.weight = factor * scaled(tried.value);
    return {visited, mass, factor * scaled(mixed), all};
  }

  // Turn σ into exp(σ − max σ), also of choices that were not visited; return that of all others.
  double exponentiate(const Completed& found) {
    double top = found.complete ? -HUGE_VAL : found.gain;
    for (const TriedChoice& tried : tried_)
      if (tried.visits > 0.0) top = tried.weight > top ? tried.weight : top;
    const double mixed = found.complete ? 0.0 : std::exp(found.gain - top);
    for (TriedChoice& tried : tried_) tried.weight = tried.visits > 0.0 ? std::exp(tried.weight - top) : mixed;
    return mixed;
  }

  std::uint32_t choose_inside(const Completed& found, const Player& player) {
    const double mixed = exponentiate(found);
    double total = 0.0, all = 0.0;
    std::size_t count = 0;
    for (const TriedChoice& tried : tried_) {
      if (tried.visits > 0.0) total += tried.prior * tried.weight;
      all += tried.visits + tried.flight;
      count += tried.visits + tried.flight > 0.0;
    }
    if (!found.complete) total += (1.0 - found.mass) * mixed;
    const double everywhere = 1.0 + all;
    double top = -HUGE_VAL;
    std::uint32_t best = 0;
    const auto offer = [&](std::uint32_t choice, double score) {
      if (score > top || (score == top && choice < best)) {
        top = score;
        best = choice;
      }
    };
    for (const TriedChoice& tried : tried_) {
      const double times = tried.visits + tried.flight;
      if (times > 0.0) offer(tried.choice, tried.prior * tried.weight / total - times / everywhere);
    }
    if (count < player.size) {
      const std::uint32_t newest = likeliest_untried(player);
      offer(newest, prior_of(player.prior, newest, player.size) * mixed / total - 0.0 / everywhere);
    }
    return best;
  }

  // The first of the likeliest choices that were never tried. Priors are positive, so their bits are in the order of their values.
  std::uint32_t likeliest_untried(const Player& player) {
    if (bits_.size() < player.size) bits_.resize(player.size);
    std::int32_t* const bits = bits_.data();
    const std::size_t size = player.size;
    for (std::size_t a = 0; a < size; ++a) bits[a] = player.prior ? std::bit_cast<std::int32_t>(player.prior[a]) : 1;
    for (const TriedChoice& tried : tried_)
      if (tried.visits + tried.flight > 0.0) bits[tried.choice] = 0;
    std::int32_t top = 0;
    for (std::size_t a = 0; a < size; ++a) top = bits[a] > top ? bits[a] : top;
    std::size_t first = 0;
    while (bits[first] != top) ++first;
    return static_cast<std::uint32_t>(first);
  }

  std::uint32_t choose_planned(const Completed& found, const Player& player) {
    spread(found, player);
    double t = -c.root.plan.begun[player.index];
    for (const TriedChoice& tried : tried_) t += tried.visits + tried.flight;
    return best_considered(player, static_cast<double>(c.root.plan.scheduled(player.index, static_cast<std::uint64_t>(t))));
  }

  // Write σ of every considered choice, and its visits in this run, those in flight counted.
  void spread(const Completed& found, const Player& player) {
    if (weights_.size() < player.size) weights_.resize(player.size);
    if (counts_.size() < player.size) counts_.resize(player.size);
    const GumbelPlan& plan = c.root.plan;
    for (const std::uint32_t a : plan.listed[player.index]) {
      weights_[a] = found.gain;
      counts_[a] = -static_cast<double>(plan.before[player.start + a]);
    }
    for (const TriedChoice& tried : tried_) {
      if (!plan.considered[player.start + tried.choice]) continue;
      if (tried.visits > 0.0) weights_[tried.choice] = tried.weight;
      counts_[tried.choice] += tried.visits + tried.flight;
    }
  }

  // The first of the considered choices with so many visits whose g + ln P + σ is largest.
  std::uint32_t best_considered(const Player& player, double wanted) const {
    const GumbelPlan& plan = c.root.plan;
    double top = 0.0;
    std::uint32_t best = kNone;
    for (const std::uint32_t a : plan.listed[player.index]) {
      if (counts_[a] != wanted) continue;
      const double score = plan.scores[player.start + a] + weights_[a];
      if (best == kNone || score > top) {
        top = score;
        best = a;
      }
    }
    if (best == kNone) [[unlikely]] throw std::logic_error("a root has other visits than its plan of a Gumbel search");
    return best;
  }

  static constexpr double kNarrowest = 1e-8;

  const SelectorConfig& selector_;
  const Context& c;
  Marginals marginals_;
  std::vector<TriedChoice> tried_;
  std::vector<double> weights_, counts_;
  std::vector<std::int32_t> bits_;
  std::vector<std::uint8_t> seen_;
};

}  // namespace anabranch
