// The rule in charge of a node, four verbs behind one name. Which one is decided when a search is made, for nodes where one
// player acts and for nodes where several do; src/anabranch/search/reference/select/ has the same verbs.
//
//   choose   the joint choice of the acting players; reads only
//   learn    after N(e) += 1, before the refresh: what averaging rules learn from a visit
//   value    Q of a node from its q(e)
//   policy   what is reported and played
//
// Another rule is another header beside this one, and a line in `Rules` here.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "anabranch/backup.hpp"
#include "anabranch/select/exp3.hpp"
#include "anabranch/select/gumbel.hpp"
#include "anabranch/select/matrix.hpp"
#include "anabranch/select/puct.hpp"
#include "anabranch/select/regret_matching.hpp"
#include "anabranch/select/ucb1.hpp"

namespace anabranch {

// A rule that learns strategies from visits, where several players act (averaging.hpp).
template <class Rule>
concept Learning = requires { Rule::kKeepsChances; };

class Selector {
 public:
  Selector(const SelectorConfig& selector, const Context& context)
      : c(context), rule_(made(selector, context)), learns_(selector.learns()) {}

  // The choice at a node, as edges tell it; `place` is its edge's place in the block, kNone if it was never taken.
  template <std::size_t P>
  [[gnu::always_inline]] std::uint32_t choose_alone(NodeId id, const Node& node, std::uint32_t& place) {
    if (Puct* puct = std::get_if<Puct>(&rule_)) [[likely]] return puct->choose_alone<P>(id, node, place);
    if (Gumbel* gumbel = std::get_if<Gumbel>(&rule_)) return gumbel->choose_alone<P>(id, node, place);
    return std::get<Ucb1>(rule_).choose_alone<P>(id, node, place);
  }
  template <std::size_t P>
  std::uint32_t choose_jointly(NodeId id, const Node& node, std::uint32_t& place) {
    return std::visit([&](auto& rule) { return rule.template choose_jointly<P>(id, node, place); }, rule_);
  }

  // Whether it learns anything but visits.
  bool learns() const { return learns_; }
  // Whether `learn` needs the probabilities that choices were drawn with.
  bool keeps_chances() const { return std::holds_alternative<Exp3>(rule_); }
  // With which probability each acting player drew its part of the last choice.
  const double* chances() const { return std::get<Exp3>(rule_).averaging.chances(); }

  // Make room for what is learned in every table there is.
  void expect(const Tables& tables) {
    if (tables.most_ids() <= ids_ && tables.most_cells() <= cells_) [[likely]] return;
    const std::size_t ids = std::max(ids_, tables.most_ids()), cells = std::max(cells_, tables.most_cells());
    std::visit([&](auto& rule) { if constexpr (Learning<std::decay_t<decltype(rule)>>) rule.expect(ids, cells); }, rule_);
    ids_ = ids;
    cells_ = cells;
  }
  // Of a node where several act, whose q(e) are up to date.
  template <std::size_t P>
  void learn(Graph& g, NodeId id, const Node& node, const Edge& edge, const double* chances) {
    std::visit([&](auto& rule) { if constexpr (Learning<std::decay_t<decltype(rule)>>) rule.template learn<P>(g, id, node, edge, chances); }, rule_);
  }
  template <std::size_t P>
  void value(Graph& g, Node& node) {
    std::visit(
        [&](auto& rule) {
          if constexpr (Learning<std::decay_t<decltype(rule)>>) rule.template value<P>(g, node);
          else refresh_by_visits<P>(g, node);
        },
        rule_);
  }

  // Over the choices of the acting player whose rows begin at `start`, given its visits: the average strategy, else their
  // shares, or the prior before any.
  std::vector<double> policy(const Node& node, std::size_t start, const std::vector<double>& visits) const {
    double all = 0.0;
    for (const double times : visits) all += times;
    std::vector<double> shares(visits.size());
    if (learns_ && all > 0.0) {
      const double* sums = &c.graph.sums[node.rows + start];
      if (std::any_of(sums, sums + visits.size(), [](double sum) { return sum > 0.0; })) {
        normalise(sums, visits.size(), shares.data());
        return shares;
      }
    }
    for (std::size_t a = 0; a < visits.size(); ++a) shares[a] = all > 0.0 ? visits[a] / all : prior(node, start, a, visits.size());
    return shares;
  }

  // Gumbel, where it is in charge: it reports the improved policy, and what a run ended with.
  Gumbel* gumbel() { return std::get_if<Gumbel>(&rule_); }

  // The prior in use of one of a player's choices.
  double prior(const Node& node, std::size_t start, std::size_t choice, std::size_t size) const {
    if (node.is(kRuled) && !c.root.priors.empty()) return c.root.priors[start + choice];
    return own_prior(node, start, choice, size);
  }

  // The same without a root's noise.
  double own_prior(const Node& node, std::size_t start, std::size_t choice, std::size_t size) const {
    return node.rows == kNone ? uniform_prior(size) : c.graph.priors[node.rows + start + choice];
  }

 private:
  using Rules = std::variant<Puct, Ucb1, Gumbel, RegretMatching, Exp3, Matrix>;

  static Rules made(const SelectorConfig& selector, const Context& context) {
    switch (selector.rule) {
      case Rule::ucb1:
        return Rules(std::in_place_type<Ucb1>, selector, context);
      case Rule::gumbel:
        return Rules(std::in_place_type<Gumbel>, selector, context);
      case Rule::regret_matching:
        return Rules(std::in_place_type<RegretMatching>, selector, context);
      case Rule::exp3:
        return Rules(std::in_place_type<Exp3>, selector, context);
      case Rule::matrix:
        return Rules(std::in_place_type<Matrix>, selector, context);
      case Rule::puct:
        break;
    }
    return Rules(std::in_place_type<Puct>, selector, context);
  }

  const Context& c;
  Rules rule_;
  const bool learns_;
  std::size_t ids_ = 0, cells_ = 0;  // for which there is room
};

// Who chooses where.
struct Selectors {
  explicit Selectors(const Context& context)
      : alone(context.config.selector, context),
        together(context.config.simultaneous, context),
        best_(context.config.best),
        by_visits_(!best_ && !together.learns()) {}

  // Q of a decision node from its q(e): mostly by its visits, whoever is in charge.
  template <std::size_t P>
  void value(Graph& g, Node& node) {
    if (by_visits_) [[likely]] refresh_by_visits<P>(g, node);
    else if (node.acting > 1) together.value<P>(g, node);
    else if (best_) refresh_by_best(g, node);
    else refresh_by_visits<P>(g, node);
  }

  Selector alone, together;

 private:
  const bool best_, by_visits_;
};

}  // namespace anabranch
