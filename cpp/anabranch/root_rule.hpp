// What only a root does: priors of its own (noise), visits that are forced. Made in Python by pure functions
// (src/anabranch/search/maths/root_rule.py), consulted where the node chosen at is the root, gone when the root moves on.
#pragma once

#include <vector>

namespace anabranch {

struct RootRule {
  std::vector<float> priors;  // of all acting players one after the other; empty: those of the node
  double forced = 0.0;        // every choice tried once gets at least √(k·P·ΣN) visits, with this k; 0: none

  bool holds() const { return !priors.empty() || forced > 0.0; }
};

}  // namespace anabranch
