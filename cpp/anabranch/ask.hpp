// Ask for evaluations: of nodes, and of states that an edge will keep frozen; of a learned model for transitions. Native
// evaluators and compiled models answer at once where paths are searched one at a time; else a request is left with the wave.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "anabranch/context.hpp"
#include "anabranch/evaluate.hpp"
#include "anabranch/expand.hpp"
#include "anabranch/foresee.hpp"
#include "anabranch/kept.hpp"
#include "anabranch/settle.hpp"

namespace anabranch {

inline constexpr std::size_t kLongest = 100000;  // states on one way: where dice lead to dice for ever, a search must end

[[noreturn]] __attribute__((noinline, cold)) inline void fail_endless() {
  Failure failure;
  failure.cause = Failure::Cause::endless;
  throw failure;
}

class Asker {
 public:
  Asker(Context& context, Expander& expander, Settler& settler, Evaluators& evaluators, KeptEvaluations& kept)
      : c(context), expander_(expander), settler_(settler), evaluators_(evaluators), kept_(kept), marking_(context.config.marks()),
        learned_(context.graph.rules.model != nullptr), foresight(context), deferred_(marking_ || !(evaluators.native() || foresight.native())) {}

  // Request the evaluation of a decision node, unless it was requested already and the answer is on its way.
  void request(NodeId id) {
    if (learned_) [[unlikely]] {
      request_transition(id);
      return;
    }
    if (!kept_.empty()) [[unlikely]] {
      c.load(id);
      const std::uint32_t known = kept_.find(c.position().state());
      if (known != kNone) {
        if (marking_) wait_for(id, [&] { c.wave->noting().recalled.emplace_back(id, known); });
        else settler_.recall(id, kept_, known);
        return;
      }
    }
    if (deferred_) {
      wait_for(id, [&] { c.wave->requests.push_back({Request::Kind::node, id, kNone, c.graph.key[id]}); });
      return;
    }
    if (evaluators_.needs_state()) c.load(id);
    const double* logits = evaluators_.evaluate(c.position(), c.graph.key[id], c.draws);
    settler_.settle(id, logits, true, evaluators_.values.data());
  }

  // Evaluate the state in hand, which gets no node: walk on through chance by drawing; a known state lends its Q.
  __attribute__((noinline, cold)) void freeze(NodeId at, std::uint32_t place) {
    Graph& g = c.graph;
    if (learned_) {
      g.edges[g.nodes[at].edges + place].bits |= kFrozen;
      if (deferred_) c.wave->requests.push_back({Request::Kind::transition, at, place, 0});
      else foresee(at, place);
      return;
    }
    Position& position = c.position();
    std::uint64_t hash = expander_.offer();
    std::uint64_t key = expander_.child_key(hash, at);
    Random random{c.draws.key(Purpose::freeze, 0, key, g.nodes[at].visits + g.in_flight(at))};
    std::vector<double> collected(g.players, 0.0);
    std::int64_t turn = 0;
    for (std::size_t drawn = 0;; ++drawn) {
      if (drawn > kLongest) fail_endless();
      const NodeId known = expander_.find(hash);
      if (known != kNone && g.nodes[known].visits > 0) {
        settler_.freeze(at, place, collected.data(), g.mean(known));
        return;
      }
      turn = position.turn();
      if (turn == kOver) {
        const std::vector<double> nothing(g.players, 0.0);
        settler_.freeze(at, place, collected.data(), nothing.data());
        return;
      }
      if (turn != kChance) break;
      position.step_outcome(position.draw(random));
      for (std::size_t p = 0; p < g.players; ++p) collected[p] += static_cast<double>(position.rewards[p]);
      hash = expander_.offer();
      if (c.config.keyed_by_path) key = fold(key, static_cast<std::uint64_t>(static_cast<std::int64_t>(position.actions[0])));
      else key = hash;
    }
    if (deferred_) {
      g.edges[g.nodes[at].edges + place].bits |= kFrozen;  // from now on; its value comes with the answer
      Wave& wave = c.wave->noting();
      wave.requests.push_back({Request::Kind::frozen, kNone, static_cast<std::uint32_t>(wave.frozen.size()), key});
      wave.frozen.push_back({at, place, {position.state(), position.state() + g.rules.state_size}, std::move(collected), turn});
      return;
    }
    evaluators_.evaluate(position, key, c.draws);
    settler_.freeze(at, place, collected.data(), evaluators_.values.data());
  }

  // Call a compiled model for an edge, and use what it says.
  void foresee(NodeId at, std::uint32_t place) {
    const Transition told = foresight.ask(at, place);
    settler_.settle_transition(at, place, told, foresight.latent());
  }

 private:
  // Request where the edge leads that a leaf hangs on.
  void request_transition(NodeId id) {
    const Graph& g = c.graph;
    const NodeId at = g.parent[id];
    const Node& above = g.nodes[at];
    std::uint32_t place = above.edge_count - 1;  // mostly the edge was just made
    while (g.edges[above.edges + place].child != id) --place;
    if (deferred_) wait_for(id, [&] { c.wave->requests.push_back({Request::Kind::transition, at, place, g.key[id]}); });
    else foresee(at, place);
  }

  // Note that a node waits for an answer, and who it is to come from; once.
  template <class Note>
  void wait_for(NodeId id, const Note& note) {
    Node& node = c.graph.nodes[id];
    if (node.is(kPending)) return;
    if (!c.undo().made(id)) c.undo().asked(id);
    note();
    node.set(kPending);
    if (marking_) ++c.awaited;
  }

  Context& c;
  Expander& expander_;
  Settler& settler_;
  Evaluators& evaluators_;
  KeptEvaluations& kept_;
  const bool marking_;   // whether visits may be in flight together
  const bool learned_;   // whether children are a model's

 public:
  Foresight foresight;

 private:
  const bool deferred_;  // whether evaluations come later
};

}  // namespace anabranch
