// Where a path goes on that came to a proven child (docs/model.md section 14): nothing is to be learnt there, so the visit counts at
// the node it was chosen at, and its mover chooses again.
#pragma once

#include "anabranch/context.hpp"
#include "anabranch/propagate.hpp"
#include "anabranch/wave.hpp"

namespace anabranch {

// If a single player chose the child, below the root and for the first time since it is proven, the visit counts at this node alone,
// which passes the edge over from now on; a node proven by that is such a child itself. Returns where the walk goes on; kNone:
// it ends with the steps that are left. For a path alone: others in flight would see the visit before its turn.
template <std::size_t P>
__attribute__((noinline)) NodeId go_on_from_proven(Context& c, Path& path, Propagation& propagation) {
  Graph& g = c.graph;
  while (path.visits.size() == 1 && path.steps.size() > 1) {
    const PathStep step = path.steps.back();
    Node& node = g.node<P>(step.node);
    const EdgeId e = node.edges + step.place;
    Edge& edge = g.edge<P>(e);
    if (node.kind != Kind::decision || node.acting != 1 || edge.is(kSkip)) return kNone;
    c.undo().remember(g, step.node);
    path.steps.pop();
    node.clear(kOnPath);
    if (count_visit<P>(g, edge)) read_known<P>(g, e, edge, discount_of(g, node, e, c.config), c.config);
    ++node.visits;
    propagation.proofs.reconsider(step.node);
    propagation.refresh<P>(step.node);
    if (!node.is(kProven)) return edge.is(kSkip) ? step.node : kNone;
  }
  return kNone;
}

}  // namespace anabranch
