// Exp3 (Auer, Cesa-Bianchi, Freund and Schapire 2002): exponential weights on payoffs divided by the probabilities they were
// drawn with (docs/model.md section 9).
//
//   σ(a) = softmax(x·G(a)/|A|),   p = (1 − x)·σ + x/|A|,   G(a) ← G(a) + y/p(a) for the choice taken,   S ← S + σ
//
// p stays with the path: in a wave the gains may have moved on since the draw. Values are those of visits.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "anabranch/select/averaging.hpp"
#include "anabranch/select/scale.hpp"

namespace anabranch {

class Exp3 {
 public:
  static constexpr bool kKeepsChances = true;

  Exp3(const SelectorConfig& selector, const Context& context) : averaging(selector, context), selector_(selector), c(context) {}

  void expect(std::size_t ids, std::size_t) { averaging.expect(ids); }

  template <std::size_t P>
  std::uint32_t choose_jointly(NodeId id, const Node& node, std::uint32_t& place) {
    const Table& table = c.graph.table_of(node);
    play(&c.graph.regrets[node.rows], table, averaging.played());
    return averaging.draw<P>(id, node, table, averaging.played(), as_they_are, place);
  }

  // Add y / p(a) to the gain of what was played, y in [0, 1], and sum up the exploration-free part.
  template <std::size_t P>
  void learn(Graph& g, NodeId id, const Node& node, const Edge& edge, const double* chances) {
    const Table& table = g.table_of(node);
    double* const gains = &g.regrets[node.rows];
    double* const old = averaging.played();
    play(gains, table, old);
    const double* range = g.range.kept() ? g.range.row(id) : nullptr;
    for (std::size_t i = 0; i < table.sizes.size(); ++i) {
      const std::size_t player = table.players[i];
      const double low = range ? range[player] : c.config.returns_low, high = range ? range[g.players + player] : c.config.returns_high;
      const double scaled = Scaling::to_unit(low, high)(doubles_of(&edge)[player]);
      gains[table.starts[i] + table.choice(edge.move, i)] += scaled / chances[i];
    }
    Averaging::add_to_sums(g, node, table, old, 1.0);
  }

  template <std::size_t P>
  void value(Graph& g, Node& node) {
    refresh_by_visits<P>(g, node);
  }

  Averaging averaging;

 private:
  // softmax(x·G/|A|) of every acting player.
  void play(const double* gains, const Table& table, double* strategies) const {
    for (std::size_t i = 0; i < table.sizes.size(); ++i) {
      const std::size_t first = table.starts[i], end = first + table.sizes[i];
      const double rate = selector_.share / static_cast<double>(table.sizes[i]);
      double top = rate * gains[first], total = 0.0;
      for (std::size_t at = first; at < end; ++at) {
        strategies[at] = rate * gains[at];
        top = strategies[at] > top ? strategies[at] : top;
      }
      for (std::size_t at = first; at < end; ++at) total += strategies[at] = std::exp(strategies[at] - top);
      for (std::size_t at = first; at < end; ++at) strategies[at] = strategies[at] / total;
    }
  }

  const SelectorConfig& selector_;
  const Context& c;
};

}  // namespace anabranch
