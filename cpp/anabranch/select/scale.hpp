// The scale: a linear map of values to units in which exploration means the same in every game; and first play, which is
// told in these units (docs/model.md section 4).
#pragma once

#include <cstddef>

#include "anabranch/config.hpp"
#include "anabranch/graph.hpp"

namespace anabranch {

// Constant 0 where the interval is a point.
struct Scaling {
  double low = 0.0, factor = 1.0, shift = 0.0, lowest = 0.0;

  double operator()(double q) const { return (q - low) * factor + shift; }

  static Scaling to_unit(double low, double high) { return interval(low, high, 1.0, 0.0, 0.0); }
  static Scaling to_signed(double low, double high) { return interval(low, high, 2.0, -1.0, -1.0); }

 private:
  static Scaling interval(double low, double high, double width, double shift, double lowest) {
    if (high > low) return {low, width / (high - low), shift, lowest};
    return {0.0, 0.0, 0.0, lowest};
  }
};

// The scale of a node for one player, whichever it is but `node`, which depends on what was visited there.
inline Scaling fixed_scale(const SelectorConfig& selector, const Config& config, const Graph& g, NodeId id, std::size_t player) {
  switch (selector.scale) {
    case Scale::range:
      if (!g.range.kept()) return Scaling::to_signed(config.returns_low, config.returns_high);
      return Scaling::to_signed(g.range.row(id)[player], g.range.row(id)[g.players + player]);
    case Scale::graph:
      return Scaling::to_unit(g.low[player], g.high[player]);
    default:
      return {0.0, 1.0, 0.0, config.returns_low};
  }
}

// What an untried choice is worth; `root` is √ of the prior mass of the tried ones.
inline double first_play(const SelectorConfig& selector, const Scaling& scale, double parent, double root) {
  switch (selector.first_play) {
    case FirstPlay::parent:
      return parent;
    case FirstPlay::parent_minus:
      return parent - selector.first_amount;
    case FirstPlay::reduced:
      return parent - selector.first_amount * root;
    case FirstPlay::constant:
      return selector.first_amount;
    case FirstPlay::lowest:
      return scale.lowest;
  }
  return parent;
}

}  // namespace anabranch
