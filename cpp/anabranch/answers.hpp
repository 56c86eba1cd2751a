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

  // The same for what a model was asked; the answers are the rows from `first` on.
  void apply(Wave& wave, const Transitions& given, std::size_t first) {
    c.wave = &wave;
    const Graph& g = c.graph;
    const Model& model = *g.rules.model;
    const std::size_t players = g.players;
    if (values_.size() < players) values_.resize(players);
    if (rewards_.size() < players) rewards_.resize(players);
    if (chances_.size() < given.chances.wide) chances_.resize(given.chances.wide);
    for (std::size_t row = 0; row < wave.requests.size(); ++row) {
      const Request& request = wave.requests[row];
      const Transition t = transition(given, first + row, model, g.nodes[request.node]);
      playout_.settler.settle_transition(request.node, request.frozen, t);
    }
    wave.requests.clear();
    wave.answers = 0;
  }

  // Let a compiled model answer all that a wave requests.
  void foresee(Wave& wave) {
    c.wave = &wave;
    for (const Request& request : wave.requests) playout_.asker.foresee(request.node, request.frozen);
    wave.requests.clear();
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
  // A row of what a model answered.
  Transition transition(const Transitions& given, std::size_t row, const Model& model, const Node& parent) {
    const auto doubles = [row](const Numbers& numbers, std::vector<double>& buffer) -> const double* {
      if (!numbers.given()) return nullptr;
      if (numbers.both) return numbers.both + row * numbers.wide;
      for (std::size_t i = 0; i < numbers.wide; ++i) buffer[i] = static_cast<double>(numbers.single[row * numbers.wide + i]);
      return buffer.data();
    };
    const auto actions = static_cast<std::size_t>(model.actions);
    Transition t;
    t.number = given.number + static_cast<std::uint32_t>(row);
    t.rewards = doubles(given.rewards, rewards_);
    t.discount = given.discounts.given() ? given.discounts.at(row) : parent.kind == Kind::decision ? c.config.discount : 1.0;
    if (given.after && given.after[row]) {
      t.chances = doubles(given.chances, chances_);
      return t;
    }
    const Numbers logits = given.logits.from(row);
    t.single = logits.single;
    t.both = logits.both;
    t.values = doubles(given.values, values_);
    t.legal = given.legal ? given.legal + row * actions : nullptr;
    t.mover = given.movers ? static_cast<std::uint8_t>(given.movers[row]) : static_cast<std::uint8_t>((parent.mover + 1) % model.players);
    return t;
  }

  void load(const Wave& wave, const Request& request) {
    if (request.kind == Request::Kind::node) c.load(request.node);
    else c.position().set(wave.frozen[request.frozen].state.data());
  }

  Context& c;
  Playout& playout_;
  std::vector<std::byte> states_;
  std::vector<std::uint64_t> keys_;
  std::vector<double> values_, rewards_, chances_;  // of one row
};

}  // namespace anabranch
