// Kept evaluations: what stays of a graph after an advance that forgets visits. States, their evaluations, and what follows
// them.
//
// A search that needs the evaluation of a state held here takes it from here; so it does what a search with nothing but a
// perfect cache would do. `keep_below` frees what can no longer be reached.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "anabranch/graph.hpp"
#include "anabranch/index.hpp"
#include "anabranch/states.hpp"

namespace anabranch {

class KeptEvaluations {
 public:
  explicit KeptEvaluations(const Rules& rules) : players_(static_cast<std::size_t>(rules.players)), states_(rules.state_size) {}

  bool empty() const { return known_ == 0; }
  std::size_t size() const { return entries_.size(); }

  // The entry of a state whose evaluation is held, or kNone.
  std::uint32_t find(const std::byte* record) {
    const std::uint32_t entry = look_up(states_.offer(record));
    return entry != kNone && entries_[entry].known ? entry : kNone;
  }
  const double* evaluation(std::uint32_t entry) const { return entries_[entry].evaluation.data(); }
  const std::vector<float>& priors(std::uint32_t entry) const { return entries_[entry].priors; }

  // Take in all that a graph knows.
  void absorb(const Graph& g) {
    std::vector<std::uint32_t> places;
    for (NodeId id = 0; id < g.size(); ++id) places.push_back(place_of(record(g, id)));
    for (NodeId id = 0; id < g.size(); ++id) {
      const Node& node = g.nodes[id];
      Entry& entry = entries_[places[id]];
      if (node.kind == Kind::decision && node.visits > 0) {
        known_ += !entry.known;
        entry.known = true;
        entry.evaluation.assign(g.evaluation(id), g.evaluation(id) + players_);
        entry.priors.clear();
        if (node.rows != kNone) entry.priors.assign(&g.priors[node.rows], &g.priors[node.rows] + g.choices_of(node));
      }
      for (const EdgeId e : EdgeIds(node))
        if (g.edges[e].child != kNone) entry.children.push_back(places[g.edges[e].child]);
    }
  }

  // Forget all but some states and what can be reached from them.
  void keep_below(const std::vector<std::vector<std::byte>>& roots) {
    std::vector<std::uint32_t> waiting;
    std::vector<char> kept(entries_.size(), 0);
    const auto reach = [&](std::uint32_t entry) {
      if (entry == kNone || kept[entry]) return;
      kept[entry] = 1;
      waiting.push_back(entry);
    };
    for (const std::vector<std::byte>& root : roots) {
      aligned_.resize(root.size() / 8 + 1);
      std::memcpy(aligned_.data(), root.data(), root.size());
      reach(look_up(states_.offer(reinterpret_cast<const std::byte*>(aligned_.data()))));
    }
    while (!waiting.empty()) {
      const std::uint32_t entry = waiting.back();
      waiting.pop_back();
      for (const std::uint32_t child : entries_[entry].children) reach(child);
    }
    States old_states = std::exchange(states_, States(states_.record_size()));
    std::vector<Entry> old = std::exchange(entries_, {});
    index_ = Index();
    known_ = 0;
    std::vector<std::uint32_t> moved(old.size(), kNone);
    for (std::uint32_t entry = 0; entry < old.size(); ++entry) {
      if (!kept[entry]) continue;
      old_states.load(entry, scratch());
      moved[entry] = place_of(scratch());
    }
    for (std::uint32_t entry = 0; entry < old.size(); ++entry) {
      if (!kept[entry]) continue;
      Entry& now = entries_[moved[entry]];
      now = std::move(old[entry]);
      known_ += now.known;
      std::size_t count = 0;
      for (std::size_t i = 0; i < now.children.size(); ++i) {  // each child once: they were added at every advance
        const std::uint32_t child = moved[now.children[i]];
        bool known = false;
        for (std::size_t j = 0; j < count; ++j) known |= now.children[j] == child;
        if (!known) now.children[count++] = child;
      }
      now.children.resize(count);
    }
  }

  void clear() {
    states_ = States(states_.record_size());
    index_ = Index();
    entries_.clear();
    known_ = 0;
  }

 private:
  struct Entry {
    std::vector<double> evaluation;
    std::vector<float> priors;  // empty where every choice is equally likely
    std::vector<std::uint32_t> children;
    std::uint64_t hash = 0;
    bool known = false;
  };

  std::byte* scratch() {
    aligned_.resize(states_.record_size() / 8 + 1);
    return reinterpret_cast<std::byte*>(aligned_.data());
  }

  const std::byte* record(const Graph& g, NodeId id) {
    g.states.load(id, scratch());
    return scratch();
  }

  std::uint32_t look_up(std::uint64_t hash) {
    return index_.find(hash, [&](std::uint32_t entry) { return states_.equals(entry); });
  }

  // The entry of a state, made if there is none.
  std::uint32_t place_of(const std::byte* state) {
    const std::uint64_t hash = states_.offer(state);
    const std::uint32_t known = look_up(hash);
    if (known != kNone) return known;
    const auto entry = static_cast<std::uint32_t>(entries_.size());
    states_.append();
    entries_.emplace_back();
    entries_.back().hash = hash;
    index_.insert(hash, entry, [&](std::uint32_t node) { return entries_[node].hash; });
    return entry;
  }

  std::size_t players_, known_ = 0;
  States states_;
  Index index_;
  std::vector<Entry> entries_;
  std::vector<std::uint64_t> aligned_;
};

}  // namespace anabranch
