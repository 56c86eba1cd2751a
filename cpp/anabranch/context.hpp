// What all parts of one root's search share: settings, random numbers, the graph, a state in hand.
//
// Parts (expand, select, chance, evaluate, backup, propagate, root) hold a reference to it and little of their own. A part
// that changes the graph announces the change to `undo`, which belongs to the wave at work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "anabranch/config.hpp"
#include "anabranch/draws.hpp"
#include "anabranch/graph.hpp"
#include "anabranch/position.hpp"
#include "anabranch/root_rule.hpp"
#include "anabranch/wave.hpp"

namespace anabranch {

struct Context {
  Context(const Rules& rules, const Config& settings, std::uint64_t which)
      : config(settings), stream(which), draws(settings.seed, which, 0), graph(rules, settings) {
    enter();
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Config config;
  std::uint64_t stream;
  std::uint64_t root_number = 0;  // how often the root moved on
  Draws draws;
  Graph graph;
  RootRule root;      // what only the root does
  RootRule unused_root;  // memory for the next one: many short plans make one each
  Wave* wave = nullptr;              // the one at work
  PathStep reaching{kNone, kNone};   // the edge whose state is in hand, where it is not yet part of the path
  std::size_t kept_bytes = 0;        // of evaluations kept from before an advance
  std::size_t awaited = 0;           // answers on their way, where waves are searched
  bool crowded = false;              // whether the memory was used up when the path in hand began

  // Forget everything but the settings; random numbers are another stream's.
  void restart(std::uint64_t which) {
    stream = which;
    root_number = 0;
    draws = Draws(config.seed, which, 0);
    graph.clear();
    std::swap(root, unused_root);
    root.clear();
    reaching = {kNone, kNone};
    kept_bytes = awaited = 0;
    crowded = false;
    enter();
  }

  Undo& undo() { return wave->undo; }
  // Begin to work on this search on this thread.
  void enter() {
    hand_ = graph.rules.runs_python ? &own_ : &Position::here();
    hand_->use(graph.rules);
  }
  // The state in hand.
  Position& position() { return *hand_; }
  void load(NodeId id) { graph.states.load(id, hand_->state()); }

  // Limits

  // All that a search holds of what it found.
  std::size_t bytes() const { return graph.bytes() + kept_bytes; }
  bool limited() const { return config.max_bytes != std::numeric_limits<std::size_t>::max(); }

  // Whether not even an edge may be added to a node. The root's always may: without them nothing would go on. So may the first
  // of a chance node, which was made when there was room: it has no value without.
  bool has_no_room(NodeId at) const { return crowded && at != 0 && graph.nodes[at].visits > 0; }
  bool may_open(NodeId at) const { return !crowded || at == 0; }
  bool is_crowded() const {
    return graph.is_out_of_numbers() || (limited() && bytes() + kReserve + awaited_bytes() > config.max_bytes);
  }

  // Whether no node may be added. An eighth of the memory is left for edges that new leaves get instead of nodes.
  bool full() const {
    if (graph.size() >= config.max_nodes || graph.is_out_of_numbers()) return true;
    return limited() && bytes() + graph.index.growth() + kReserve + awaited_bytes() + config.max_bytes / 8 > config.max_bytes;
  }

 private:
  // Bytes that answers on their way will take: a row for every choice, at the most.
  std::size_t awaited_bytes() const { return awaited * static_cast<std::size_t>(graph.rules.actions) * graph.choice_bytes(); }

  Position* hand_ = nullptr;
  Position own_;  // where verbs run Python

  static constexpr std::size_t kReserve = 4096;  // what one playout may add to a graph that is nearly full
};

}  // namespace anabranch
