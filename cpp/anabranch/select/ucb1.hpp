// UCB1, for search without priors: score(a) = x(a) + c·√(ln S / N(a)), untried choices first (Auer et al. 2002).
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "anabranch/select/scored.hpp"

namespace anabranch {

class Ucb1 {
 public:
  Ucb1(const SelectorConfig& selector, const Context& context) : c_(selector.c), scored_(selector, context) {}

  template <std::size_t P>
  std::uint32_t choose_alone(NodeId id, const Node& node, std::uint32_t& place) {
    return scored_.choose_alone<P>(*this, id, node, place);
  }
  template <std::size_t P>
  std::uint32_t choose_jointly(NodeId id, const Node& node, std::uint32_t& place) {
    return scored_.choose_jointly<P>(*this, id, node, place);
  }

  void add_bonuses(std::vector<double>& scores, const std::vector<double>& tried, double total, const float*, double) const {
    const double logarithm = total > 0.0 ? std::log(total) : 0.0;
    for (std::size_t a = 0; a < tried.size(); ++a)
      scores[a] = tried[a] > 0.0 ? scores[a] + c_ * std::sqrt(logarithm / tried[a]) : HUGE_VAL;
  }

 private:
  double c_;
  Scored scored_;
};

}  // namespace anabranch
