// Follow the largest score: what PUCT and UCB1 share. Each acting player chooses alone (docs/model.md section 4).
//
//   score(a) = x(a) + bonus(a),   x(a) = (w0·f + N(a)·s(q(a)) + L·v(a)·ℓ) / (w0 + N(a) + L·v(a)),   f where that is 0/0
//
// A rule says what the bonus is: rule.add_bonuses(scores, tried, total, prior). Reads a node whose q(e) are up to date and
// changes nothing.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "anabranch/context.hpp"
#include "anabranch/proof.hpp"
#include "anabranch/select/marginals.hpp"
#include "anabranch/select/scale.hpp"

namespace anabranch {

class Scored {
 public:
  Scored(const SelectorConfig& selector, const Context& context) : selector_(selector), c(context) {}

  // The choice of the only acting player; `place` is its edge's place in the block, kNone if it was never taken.
  template <std::size_t P, class Rule>
  std::uint32_t choose_alone(const Rule& rule, NodeId id, const Node& node, std::uint32_t& place) {
    marginals_.gather_alone<P>(c.graph, node, counts_marks(node));
    passed_.assign(node.choices, 0);
    if (proves_)
      for (const EdgeId e : EdgeIds(node)) passed_[c.graph.edges[e].move] = c.graph.edges[e].is(kSkip);
    const std::uint32_t best = best_choice(rule, id, marginals_.seen(node.mover, 0, node.choices, priors_at(node)));
    place = marginals_.place(best);
    return best;
  }

  // The joint choice of several acting players, packed as edges pack it.
  template <std::size_t P, class Rule>
  std::uint32_t choose_jointly(const Rule& rule, NodeId id, const Node& node, std::uint32_t& place) {
    const Graph& g = c.graph;
    const Table& table = g.table_of(node);
    const float* const priors = priors_at(node);
    std::uint32_t move = 0;
    if (selector_.weights == Weights::d) marginals_.gather<P>(g, node, table);
    for (std::size_t i = 0; i < table.sizes.size(); ++i) {
      if (selector_.weights != Weights::d) marginals_.gather_weighed(g, node, table, i, selector_.weights, priors);
      if (counts_marks(node)) marginals_.gather_marks(g, node, table);
      passed_.assign(table.sizes[i], 0);  // visits are the policy: nothing is passed over where players mix
      const Seen seen = marginals_.seen(table.players[i], table.starts[i], table.sizes[i], priors ? priors + table.starts[i] : nullptr);
      move |= best_choice(rule, id, seen) << table.shifts[i];
    }
    place = kNone;
    const Edge* edge = &g.edge<P>(node.edges);
    for (std::uint32_t e = 0; e < node.edge_count; ++e, edge = further(edge, edge_stride<P>(g)))
      if (edge->move == move) place = e;
    return move;
  }

  // The priors in use at a node: the root's rule may have its own. nullptr: all choices are equally likely.
  const float* priors_at(const Node& node) const {
    if (node.is(kRuled) && !c.root.priors.empty()) [[unlikely]] return c.root.priors.data();
    return node.rows == kNone ? nullptr : &c.graph.priors[node.rows];
  }

  // Which of so many equals a player takes.
  std::uint32_t drawn_tie(NodeId id, std::size_t player, std::uint32_t equals) const {
    const double u = c.draws.uniform(Purpose::ties, player, c.graph.key[id], c.graph.nodes[id].visits + c.graph.in_flight(id));
    return static_cast<std::uint32_t>(u * static_cast<double>(equals));
  }

 private:
  bool counts_marks(const Node& node) const { return node.is(kMarked) && c.config.virtual_loss != VirtualLoss::off; }

  Scaling scale(NodeId id, const Seen& seen) const {
    if (selector_.scale != Scale::node) return fixed_scale(selector_, c.config, c.graph, id, seen.player);
    double low = c.graph.mean(id)[seen.player], high = low;
    for (std::size_t a = 0; a < seen.size; ++a) {
      if (seen.visits[a] == 0.0) continue;
      low = seen.values[a] < low ? seen.values[a] : low;
      high = seen.values[a] > high ? seen.values[a] : high;
    }
    return Scaling::to_unit(low, high);
  }

  double untried_worth(const Scaling& scaled, NodeId id, const Seen& seen, double equal) const {
    double mass = 0.0;
    if (selector_.first_play == FirstPlay::reduced) {
      for (std::size_t a = 0; a < seen.size; ++a)
        if (seen.visits[a] > 0.0) mass += seen.prior ? static_cast<double>(seen.prior[a]) : equal;
    }
    return first_play(selector_, scaled, scaled(c.graph.mean(id)[seen.player]), std::sqrt(mass));
  }

  template <class Rule>
  std::uint32_t best_choice(const Rule& rule, NodeId id, const Seen& seen) {
    const std::size_t size = seen.size;
    const Scaling scaled = scale(id, seen);
    const double equal = seen.prior ? 0.0 : static_cast<double>(uniform_prior(size));
    const double first = untried_worth(scaled, id, seen, equal);
    const double loss = c.config.virtual_loss == VirtualLoss::loss ? 1.0 : 0.0, w0 = selector_.w0;
    double total = 0.0;
    tried_.resize(size);
    scores_.resize(size);
    for (std::size_t a = 0; a < size; ++a) {
      const double visits = seen.visits[a], flight = seen.flight[a];
      tried_[a] = visits + flight;
      total += tried_[a];
      if (w0 == 0.0 && (loss == 0.0 || flight == 0.0)) scores_[a] = visits > 0.0 ? scaled(seen.values[a]) : first;
      else scores_[a] = (w0 * first + visits * scaled(seen.values[a]) + loss * flight * scaled.lowest) / (w0 + visits + loss * flight);
    }
    const Node& node = c.graph.nodes[id];
    if (node.is(kRuled) && c.root.forced > 0.0) {
      for (std::size_t a = 0; a < size; ++a) {
        const double p = seen.prior ? static_cast<double>(seen.prior[a]) : equal;
        if (!passed_[a] && tried_[a] > 0.0 && tried_[a] < std::sqrt(c.root.forced * p * total)) return static_cast<std::uint32_t>(a);
      }
    }
    rule.add_bonuses(scores_, tried_, total, seen.prior, equal);
    for (std::size_t a = 0; a < size; ++a)
      if (passed_[a]) scores_[a] = -HUGE_VAL;
    std::size_t best = 0;
    for (std::size_t a = 1; a < size; ++a)
      if (scores_[a] > scores_[best]) best = a;
    if (!selector_.random_ties) return static_cast<std::uint32_t>(best);
    ties_.clear();
    for (std::size_t a = 0; a < size; ++a)
      if (scores_[a] == scores_[best]) ties_.push_back(static_cast<std::uint32_t>(a));
    return ties_.size() == 1 ? ties_[0] : ties_[drawn_tie(id, seen.player, static_cast<std::uint32_t>(ties_.size()))];
  }

  const SelectorConfig& selector_;
  const Context& c;
  Marginals marginals_;
  std::vector<double> tried_, scores_;
  std::vector<std::uint32_t> ties_;
  std::vector<char> passed_;  // choices that are not worth another visit
  const bool proves_ = c.config.proofs != Proofs::off;
};

}  // namespace anabranch
