// Answers to a wave's requests: made by native evaluators, and written into the graph.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "anabranch/context.hpp"
#include "anabranch/playout.hpp"

namespace anabranch {

class Answers {
 public:
  Answers(Context& context, Playout& playout) : c(context), playout_(playout) {}

  // Write answers into the graph: `wide` logits and as many values as players for every request, in order.
  void apply(Wave& wave, const double* logits, std::size_t wide, const double* values) {
    c.wave = &wave;
    const Graph& g = c.graph;
    const bool of_all = wide == g.players * static_cast<std::size_t>(g.rules.actions);
    for (const Request& request : wave.requests) {
      if (request.kind == Request::Kind::node) {
        playout_.settler.settle(request.node, wide ? logits : nullptr, of_all, values);
      } else {
        const Request::Frozen& frozen = wave.frozen[request.frozen];
        const bool still = g.edges[g.nodes[frozen.parent].edges + frozen.place].is(kFrozen);
        if (still) playout_.settler.freeze(frozen.parent, frozen.place, frozen.collected.data(), values);
      }
      logits += wide;
      values += g.players;
    }
    wave.requests.clear();
    wave.frozen.clear();
    wave.answers = 0;
  }

  // Evaluate all that a wave requests natively; its rollouts may be shared by a team.
  void evaluate(Wave& wave) {
    Evaluators& evaluators = playout_.evaluators;
    Position& position = c.position();
    const std::size_t size = c.graph.rules.state_size;
    if (evaluators.plays()) {
      states_.resize(wave.requests.size() * size);
      keys_.clear();
      for (const Request& request : wave.requests) {
        load(wave, request);
        std::copy_n(position.state(), size, states_.data() + keys_.size() * size);
        keys_.push_back(request.key);
      }
      evaluators.play_all(states_, keys_, c.draws);
    }
    wave.logits.clear();
    wave.values.clear();
    wave.wide = 0;
    for (std::size_t i = 0; i < wave.requests.size(); ++i) {
      const double* logits = nullptr;
      if (evaluators.needs_state()) load(wave, wave.requests[i]);
      if (evaluators.plays()) {
        evaluators.finish(position, i, wave.requests[i].key, c.draws);
      } else {
        logits = evaluators.evaluate(position, wave.requests[i].key, c.draws);
      }
      wave.values.insert(wave.values.end(), evaluators.values.begin(), evaluators.values.end());
      if (!logits) continue;
      wave.wide = c.graph.players * static_cast<std::size_t>(c.graph.rules.actions);
      wave.logits.insert(wave.logits.end(), logits, logits + wave.wide);
    }
    wave.answers = wave.requests.size();
  }

 private:
  void load(const Wave& wave, const Request& request) {
    if (request.kind == Request::Kind::node) c.load(request.node);
    else c.position().set(wave.frozen[request.frozen].state.data());
  }

  Context& c;
  Playout& playout_;
  std::vector<std::byte> states_;
  std::vector<std::uint64_t> keys_;
};

}  // namespace anabranch
