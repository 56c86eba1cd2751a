// One path: select and expand down to a leaf, have it evaluated, back up (docs/model.md sections 5 and 6). `walk` and `back` are the
// core of the search.
//
// A path is a loop with explicit memory, never a recursion, so depth has no limit and it can pause wherever evaluations are
// needed. Enumerating a chance node lets its chance children be visited first: that is a stack of visits, each with its own
// stretch of the path. Where waves are searched, a path marks the edges it walks until it is backed up, and waits with those
// inner visits until its wave has its first answers; a path alone goes straight on.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "anabranch/ask.hpp"
#include "anabranch/chance.hpp"
#include "anabranch/context.hpp"
#include "anabranch/evaluate.hpp"
#include "anabranch/expand.hpp"
#include "anabranch/kept.hpp"
#include "anabranch/propagate.hpp"
#include "anabranch/proven_child.hpp"
#include "anabranch/select/selector.hpp"
#include "anabranch/settle.hpp"

namespace anabranch {

class Playout {
 public:
  Playout(Context& context, const NativeEvaluator& evaluator)
      : c(context),
        expander(context),
        dice(context),
        settler(context),
        selectors(context),
        propagation(context, selectors),
        evaluators(evaluator, context.config, context.graph.rules),
        kept(context.graph.rules),
        asker(context, expander, settler, evaluators, kept),
        marking_(context.config.marks()) {}

  // Begin a path at the root.
  [[gnu::always_inline]] void begin() {
    c.crowded = c.is_crowded();
    if (learns_) [[unlikely]] selectors.together.expect(c.graph.tables);
    if (propagation.proofs.on()) propagation.proofs.expect(c.graph.tables);
    path.begin_visit(0);
    path.phase = Phase::walk;
  }

  // Go on with the path in hand until it must wait. A path alone waits only for answers (true) and is over when this returns
  // false; a path of a wave never backs its outermost visit up here.
  template <std::size_t P>
  [[gnu::always_inline]] bool proceed() {
    while (path.phase != Phase::done) {
      if (path.phase == Phase::walk) {
        walk<P>();
        if (!marking_) {
          if (!c.wave->requests.empty()) [[unlikely]] return true;
        } else if (path.phase == Phase::open || path.phase == Phase::walk || path.visits.size() > 1) {
          return true;  // the wave's answers come first
        }
      } else if (path.phase == Phase::open) {
        Visit& visit = path.visits.back();
        while (visit.next < path.fresh.size() && c.graph.nodes[path.fresh[visit.next]].visits > 0) ++visit.next;
        if (visit.next < path.fresh.size()) {
          path.begin_visit(path.fresh[visit.next++]);
          path.phase = Phase::walk;
        } else {
          path.phase = Phase::back;
          if (marking_ && path.visits.size() > 1) return true;  // an inner visit waits once more before it is backed up
        }
      } else {
        if (marking_ && path.visits.size() == 1) return false;
        back<P>();
        path.phase = path.visits.empty() ? Phase::done : Phase::open;
      }
    }
    return false;
  }

  // Add one to each edge the innermost visit walked and recompute each node, leaf first.
  template <std::size_t P>
  void back() {
    const Visit visit = path.visits.back();
    const bool nested = path.visits.size() > 1;
    if (nested || marking_ || propagation.follows()) [[unlikely]] back_watched<P>(visit, nested);
    else if (proves_) back_up<P, false, true>(visit, false);
    else back_up<P, false, false>(visit, false);
    path.end_visit();
    if (propagation.follows()) [[unlikely]] propagation.follow(nested, root_visits());
  }

  // Make sure that backing up takes no memory.
  void expect_back() {
    if (propagation.follows()) [[unlikely]] propagation.expect(c.graph.size());
  }

  // What counts as the root's visits: Σ N(e), or the completed visits of a chance node.
  std::uint64_t root_visits() const {
    const Node& root = c.graph.nodes[0];
    return root.kind == Kind::decision ? (root.visits ? root.visits - 1 : 0) : root.kind == Kind::chance ? root.visits : 0;
  }

  // Whether the path in hand walks through a node, for all its nodes.
  void set_on_path(bool on) {
    for (const PathStep& step : path.steps) {
      if (on) c.graph.nodes[step.node].set(kOnPath);
      else c.graph.nodes[step.node].clear(kOnPath);
    }
  }

  Context& c;
  Expander expander;
  Dice dice;
  Settler settler;
  Selectors selectors;
  Propagation propagation;
  Evaluators evaluators;
  KeptEvaluations kept;
  Asker asker;
  Path path;  // the one in hand

 private:
  // Walk down to where the visit ends; the next phase is then `back` or `open`.
  template <std::size_t P>
  void walk() {
    Graph& g = c.graph;
    NodeId at = path.visits.back().at;
    path.phase = Phase::back;
    for (;;) {
      Node& node = g.node<P>(at);
      std::uint32_t place;
      if (node.kind == Kind::decision) [[likely]] {
        if (node.visits == 0) {
          asker.request(at);
          if (stochastic_ && g.nodes[g.parent[at]].kind == Kind::decision) [[unlikely]] {  // an afterstate: the walk goes on there
            path.visits.back().at = at;
            path.phase = Phase::walk;
          }
          return;
        }
        path.steps.push({at, kNone});
        node.set(kOnPath);
        place = select<P>(at);
      } else {
        if (node.kind == Kind::over) return;
        path.steps.push({at, kNone});
        node.set(kOnPath);
        if (path.steps.size() > kLongest) [[unlikely]] fail_endless();
        if (node.visits == 0 && g.in_flight(at) == 0 && c.may_open(at) && dice.opens_at_once(node)) {
          open(at);
          return;
        }
        const std::uint32_t number = dice.next_draw(at);
        place = take_outcome(at, dice.drawn(at, number), number);
      }
      if (place == kNone) [[unlikely]] {  // no room for an edge: the playout ends before this node, which lends its Q
        path.steps.pop();
        g.nodes[at].clear(kOnPath);
        if (keeps_chances_ && node.acting > 1) path.chances.cut(path.chances.size() - node.acting);
        path.visits.back().ends_at = at;
        return;
      }
      path.steps.back().place = place;
      const NodeId child = g.edge<P>(g.node<P>(at).edges + place).child;
      const bool on = child == kNone || goes_on<P>(at, place, child);
      if (marking_) [[unlikely]] mark(c.graph, path, path.steps.back(), 0, 1);
      if (child == kNone) return;  // frozen, or about to be
      if (!on) {
        if (!settles_ || !c.graph.node<P>(child).is(kProven)) [[likely]] return;
        at = go_on_from_proven<P>(c, path, propagation);
        if (at == kNone) return;
        continue;
      }
      at = child;
    }
  }

  // For a path alone, `select` has just read a decision's shared children, and in a graded graph nothing since then has
  // changed any of them but the one walked to: what changed lies deeper. Only a second edge to that one is left to read.
  // `Watched`: it is in flight, or inside another visit, or more than the path is refreshed. `Proves`: what is certain is kept.
  template <std::size_t P, bool Watched, bool Proves>
  [[gnu::always_inline]] void back_up(const Visit& visit, bool nested) {
    Graph& g = c.graph;
    const bool read = !Watched && g.graded;
    if (visit.ends_at != kNone) [[unlikely]] {
      if (Watched && nested) read_children(g, g.nodes[visit.ends_at], c.config);  // as below
      if constexpr (Proves) propagation.proofs.reconsider(visit.ends_at);
      propagation.refresh(visit.ends_at);
    }
    if constexpr (Watched)
      if (propagation.follows()) propagation.follow_leaves(path, visit, nested);
    for (std::size_t i = visit.repeated; i < path.repeated.size(); ++i)
      ++g.repeats[g.nodes[path.repeated[i].node].edges + path.repeated[i].place];
    for (std::size_t i = path.steps.size(); i > visit.path; --i) {
      const PathStep step = path.steps[i - 1];
      if constexpr (Watched)
        if (marking_) mark(g, path, step, visit.drawn, -1);
      Node& node = g.node<P>(step.node);
      if (step.place != kNone) [[likely]] {
        const EdgeId e = node.edges + step.place;
        Edge& edge = g.edge<P>(e);
        if (count_visit<P>(g, edge)) [[likely]] read_known<P>(g, e, edge, discount_of(g, node, e, c.config), c.config);
      } else {
        for (std::size_t d = visit.drawn; d < path.drawn.size(); ++d) count_visit<P>(g, g.edges[node.edges + path.drawn[d]]);
        read_children(g, node, c.config);
      }
      if constexpr (Watched)  // what another path of the wave has opened and not backed up was never read
        if (nested && node.kind == Kind::chance) read_children(g, node, c.config);
      ++node.visits;
      node.clear(kOnPath);
      if (learns_ && node.acting > 1) [[unlikely]] learn<P>(step, read);
      if (Proves && propagation.proofs.teaches(node, step.place)) [[unlikely]] propagation.proofs.reconsider(step.node);
      if (read && node.kind == Kind::decision && !node.is(kTwinEdges)) [[likely]] {
        selectors.value<P>(g, node);
        if (Proves && node.is(kTight)) [[unlikely]] clip_tight(g, c.config, step.node);
        if (keeps_range_) widen_range_by_path<P>(g, node, step.place);
      } else {
        propagation.refresh<P>(step.node);
      }
      if constexpr (Watched)
        if (c.config.refresh == Refresh::parents)
          propagation.refresh_parents(step.node, i - 1 > visit.path ? path.steps[i - 2].node : kNone, nested);
    }
  }

  // Let the selector in charge of a node where several act learn from a visit that was counted. `read`: as above.
  template <std::size_t P>
  __attribute__((noinline)) void learn(const PathStep& step, bool read) {
    Graph& g = c.graph;
    Node& node = g.node<P>(step.node);
    if (!read || node.is(kTwinEdges)) read_shared<P>(g, node, c.config);
    const std::size_t before = keeps_chances_ ? path.chances.size() - node.acting : 0;
    selectors.together.learn<P>(g, step.node, node, g.edge<P>(node.edges + step.place), path.chances.data() + before);
    if (keeps_chances_) path.chances.cut(before);
  }

  template <std::size_t P>
  __attribute__((noinline)) void back_watched(const Visit& visit, bool nested) {
    expect_back();
    if (nested) remember(visit);
    if (proves_) back_up<P, true, true>(visit, nested);
    else back_up<P, true, false>(visit, nested);
  }

  // Whether the walk goes on at a child.
  template <std::size_t P>
  [[gnu::always_inline]] bool goes_on(NodeId at, std::uint32_t place, NodeId child) {
    const Node& node = c.graph.node<P>(child);
    if (node.is(kOnPath | kProven)) [[unlikely]] {
      if (node.is(kOnPath)) return repeat(at, place) && child != 0 && path.visits.size() == 1 && path.steps.size() < kLoops;
      if (node.visits > 0) return false;
    }
    if (c.config.stop && stops(at, place, child)) {
      path.visits.back().ends_at = child;
      return false;
    }
    return true;
  }

  // Whether a playout ends at a child that has seen more visits than the edge to it.
  __attribute__((noinline)) bool stops(NodeId at, std::uint32_t place, NodeId child) const {
    const Graph& g = c.graph;
    const Node& node = g.nodes[at];
    const EdgeId e = node.edges + place;
    const double known = g.nodes[child].visits + g.in_flight(child);
    const double asked = g.edges[e].visits + g.edge_in_flight(e);
    return node.kind == Kind::decision && known > c.config.rho * asked &&
           (c.config.leak == 0.0 || c.draws.uniform(Purpose::leak, 0, g.key[at], node.visits + g.in_flight(at)) >= c.config.leak);
  }

  // An edge that leads back into the path: whether it may go round.
  bool repeat(NodeId at, std::uint32_t place) {
    if (c.config.cycles == Cycles::refused) {
      Failure failure;
      failure.cause = Failure::Cause::cycle;
      throw failure;
    }
    if (c.config.cycles == Cycles::valued) path.repeated.push({at, place});
    return c.config.cycles == Cycles::bootstrap;
  }

  // Choose at a decision node: the place of the edge taken, which may be new; kNone if there is no room for a new one.
  template <std::size_t P>
  [[gnu::always_inline]] std::uint32_t select(NodeId at) {
    Graph& g = c.graph;
    Node& node = g.node<P>(at);
    if (g.size() > kCached) g.prefetch_children<P>(node);
    read_shared<P>(g, node, c.config);
    std::uint32_t place = kNone;
    if (node.acting > 1) [[unlikely]] {
      if (learns_) [[unlikely]] selectors.together.expect(g.tables);
      if (proves_) propagation.proofs.expect(g.tables);
      const std::uint32_t move = selectors.together.choose_jointly<P>(at, node, place);
      if (keeps_chances_) [[unlikely]]
        for (std::size_t i = 0; i < node.acting; ++i) path.chances.push(selectors.together.chances()[i]);
      return place != kNone ? place : take<P>(at, move, false);
    }
    const bool counted = expander.count_choices(at, node);
    const std::uint32_t move = selectors.alone.choose_alone<P>(at, node, place);
    return place != kNone ? place : take<P>(at, move, counted);
  }

  // Make the edge of a move that was never taken.
  template <std::size_t P>
  __attribute__((noinline)) std::uint32_t take(NodeId at, std::uint32_t move, bool counted) {
    if (c.has_no_room(at)) return kNone;
    expander.step(at, move, counted);
    return add_edge<P>(at, move, true);
  }

  // Append an edge to the state in hand: to its node, found or made; frozen where there is no room for one.
  template <std::size_t P = 0>
  [[gnu::always_inline]] std::uint32_t add_edge(NodeId at, std::uint32_t move, bool room) {
    c.undo().expect_edge();
    const std::uint32_t place = c.graph.add_edge<P>(at, move, c.position().rewards.data());
    c.undo().edge_added(at);
    c.reaching = {at, place};
    if (!(room && expander.attach<P>(at, place))) asker.freeze(at, place);
    c.reaching.node = kNone;
    return place;
  }

  // The edge of an outcome, with a child if widening allows one at the `number`-th draw (0: always), else frozen.
  __attribute__((noinline)) std::uint32_t take_outcome(NodeId at, std::uint32_t outcome, std::uint32_t number) {
    const Node& node = c.graph.nodes[at];
    const bool room = number == 0 || dice.widens(node, number);
    const std::uint32_t place = dice.place_of(node, outcome);
    if (place != kNone && !(gives_child(c.graph, node.edges + place) && room)) return place;
    if (place == kNone && c.has_no_room(at)) return kNone;
    expander.step(at, outcome);
    if (place == kNone) return add_edge(at, outcome, room);
    thaw(at, place);
    return place;
  }

  // Whether a frozen edge may get a child: nobody is under way to its frozen value.
  static bool gives_child(const Graph& g, EdgeId e) { return g.edges[e].child == kNone && g.edge_in_flight(e) == 0; }

  // Give a frozen edge the node of the state in hand, if there is room. It keeps its value until a visit through it is backed
  // up: waves selected before may still be under way, and do not depend on what comes after them.
  void thaw(NodeId at, std::uint32_t place) {
    Graph& g = c.graph;
    c.undo().thawed(at, place);
    c.reaching = {at, place};
    const bool attached = expander.attach(at, place);
    c.reaching.node = kNone;
    if (attached) g.edges[g.nodes[at].edges + place].bits |= kFrozen;
  }

  // Make the first children of a chance node, all outcomes or several draws, and request evaluations of the decisions.
  __attribute__((noinline)) void open(NodeId at) {
    Graph& g = c.graph;
    const bool exact = g.nodes[at].is(kExact);
    const std::size_t before = g.size(), count = dice.first_batch(g.nodes[at]);
    std::vector<std::uint32_t> places;
    for (std::uint32_t number = 1; number <= count; ++number) {
      places.push_back(exact ? take_outcome(at, number - 1, 0) : take_outcome(at, dice.drawn(at, number), number));
      if (!exact) path.drawn.push(places.back());
    }
    std::vector<NodeId> unknown;
    for (const std::uint32_t place : places) {  // after all draws: a later one may have given an earlier one a child
      const NodeId child = g.edges[g.nodes[at].edges + place].child;
      if (child == kNone) continue;
      const Node& node = g.nodes[child];
      if (node.is(kOnPath) && !(exact && c.config.cycles != Cycles::refused)) repeat(at, place);
      if (node.visits == 0 && node.kind != Kind::over && std::find(unknown.begin(), unknown.end(), child) == unknown.end())
        unknown.push_back(child);
    }
    for (const NodeId child : unknown) {
      if (g.nodes[child].kind == Kind::decision) asker.request(child);
      else if (child >= before) path.fresh.push(child);
    }
    if (marking_) mark(g, path, path.steps.back(), path.visits.back().drawn, 1);
    if (!marking_ || path.fresh.size() > path.visits.back().fresh) path.phase = Phase::open;
  }

  // A visit inside another is backed up before its wave's turn, and may have to be taken back.
  __attribute__((noinline, cold)) void remember(const Visit& visit) {
    if (visit.ends_at != kNone) c.undo().remember(c.graph, visit.ends_at);
    for (std::size_t i = visit.path; i < path.steps.size(); ++i) c.undo().remember(c.graph, path.steps[i].node);
  }

  static constexpr std::size_t kCached = 4096;  // nodes of a graph that stays in the processor's caches anyway

  const bool marking_;   // whether visits may be in flight together
  const bool keeps_range_ = c.config.keeps_range();
  const bool learns_ = c.config.learns();
  const bool proves_ = c.config.proofs != Proofs::off;
  const bool settles_ = proves_ && !marking_ && c.config.refresh == Refresh::path;  // see proven_child.hpp
  const bool stochastic_ = c.graph.rules.model && c.graph.rules.model->stochastic();
  const bool keeps_chances_ = selectors.together.keeps_chances();
};

}  // namespace anabranch
