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

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "anabranch/backup.hpp"
#include "anabranch/select/puct.hpp"
#include "anabranch/select/ucb1.hpp"

namespace anabranch {

class Selector {
 public:
  Selector(const SelectorConfig& selector, const Context& context) : c(context), rule_(made(selector, context)) {}

  // The choice at a node, as edges tell it; `place` is its edge's place in the block, kNone if it was never taken.
  template <std::size_t P>
  [[gnu::always_inline]] std::uint32_t choose_alone(NodeId id, const Node& node, std::uint32_t& place) {
    if (Puct* puct = std::get_if<Puct>(&rule_)) [[likely]] return puct->choose_alone<P>(id, node, place);
    return std::get<Ucb1>(rule_).choose_alone<P>(id, node, place);
  }
  template <std::size_t P>
  std::uint32_t choose_jointly(NodeId id, const Node& node, std::uint32_t& place) {
    return std::visit([&](auto& rule) { return rule.template choose_jointly<P>(id, node, place); }, rule_);
  }

  // PUCT and UCB1 learn nothing but visits, and a node is worth what its visits found.
  void learn(NodeId, const Edge&) const {}
  template <std::size_t P>
  void value(Graph& g, Node& node) const {
    refresh_by_visits<P>(g, node);
  }

  // Over the choices of the `index`-th acting player, given its visits: their shares, or the prior before any.
  std::vector<double> policy(const Node& node, std::size_t start, const std::vector<double>& visits) const {
    double all = 0.0;
    for (const double times : visits) all += times;
    std::vector<double> shares(visits.size());
    for (std::size_t a = 0; a < visits.size(); ++a) shares[a] = all > 0.0 ? visits[a] / all : prior(node, start, a, visits.size());
    return shares;
  }

  // The prior in use of one of a player's choices.
  double prior(const Node& node, std::size_t start, std::size_t choice, std::size_t size) const {
    if (node.is(kRuled) && !c.root.priors.empty()) return c.root.priors[start + choice];
    return node.rows == kNone ? uniform_prior(size) : c.graph.priors[node.rows + start + choice];
  }

 private:
  using Rules = std::variant<Puct, Ucb1>;

  static Rules made(const SelectorConfig& selector, const Context& context) {
    if (selector.rule == Rule::ucb1) return Rules(std::in_place_type<Ucb1>, selector, context);
    return Rules(std::in_place_type<Puct>, selector, context);
  }

  const Context& c;
  Rules rule_;
};

// Who chooses where.
struct Selectors {
  explicit Selectors(const Context& context)
      : alone(context.config.selector, context), together(context.config.simultaneous, context), best_(context.config.best) {}

  // Q of a decision node from its q(e). All rules so far value a node by its visits, whoever is in charge.
  template <std::size_t P>
  void value(Graph& g, Node& node) const {
    if (best_ && node.acting == 1) [[unlikely]] refresh_by_best(g, node);
    else alone.value<P>(g, node);
  }

  Selector alone, together;

 private:
  const bool best_;
};

}  // namespace anabranch
