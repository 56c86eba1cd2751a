// Kept evaluations: what stays of a graph after an advance that forgets visits. States, their evaluations, and what follows
// them.
//
// A search that needs the evaluation of a state held here takes it from here; so it does what a search with nothing but a
// perfect cache would do. What can no longer be reached from the new root is freed; where the settings limit the graph, so
// much is kept as fits, what is nearest to the root first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "anabranch/config.hpp"
#include "anabranch/graph.hpp"
#include "anabranch/index.hpp"
#include "anabranch/states.hpp"

namespace anabranch {

class KeptEvaluations {
 public:
  explicit KeptEvaluations(const Rules& rules)
      : players_(static_cast<std::size_t>(rules.players)), record_(rules.state_size / 8 + 1), states_(rules.state_size) {}

  bool empty() const { return known_ == 0; }
  std::size_t size() const { return entries_.size(); }
  std::size_t bytes() const {
    return states_.bytes() + index_.bytes() + entries_.bytes() + evaluations_.bytes() + priors_.bytes() + children_.bytes();
  }

  // Every state that is held, one after the other in the memory of one record.
  template <class Action>
  void each_record(std::byte* record, const Action& action) const {
    for (std::size_t entry = 0; entry < entries_.size(); ++entry) {
      states_.load(entry, record);
      action(record);
    }
  }

  // The entry of a state whose evaluation is held, or kNone.
  std::uint32_t find(const std::byte* record) {
    const std::uint32_t entry = look_up(states_.offer(record));
    return entry != kNone && entries_[entry].known ? entry : kNone;
  }
  const double* evaluation(std::uint32_t entry) const { return evaluations_.data() + entry * players_; }
  // None where every choice is equally likely.
  const float* priors(std::uint32_t entry) const { return priors_.data() + entries_[entry].priors; }
  std::size_t prior_count(std::uint32_t entry) const { return entries_[entry].prior_count; }

  // What these evaluations and a graph know of some states and of all that can be reached from them. This one stays as it is,
  // but for states it gets to know of.
  KeptEvaluations below(const Graph& g, const std::vector<std::vector<std::byte>>& roots, const Config& config) {
    const Known known(*this, g);
    const std::vector<std::uint32_t> kept = nearest(known, g, roots, config);
    std::vector<std::uint32_t> moved(entries_.size(), kNone);  // new numbers by old
    for (std::uint32_t now = 0; now < kept.size(); ++now) moved[kept[now]] = now;
    KeptEvaluations made(g.rules);
    for (const std::uint32_t entry : kept) {
      states_.load(entry, made.scratch());
      made.place_of(made.scratch());
      made.take_evaluation(*this, known, g, entry);
      Entry& now = made.entries_.back();
      now.children = made.children_.size();
      each_child(known, g, entry, [&](std::uint32_t child) {
        if (moved[child] == kNone) return;
        for (std::size_t i = now.children; i < made.children_.size(); ++i)
          if (made.children_[i] == moved[child]) return;  // each once: old graphs knew it too
        made.children_.push(moved[child]);
      });
      now.child_count = static_cast<std::uint32_t>(made.children_.size() - now.children);
    }
    return made;
  }

 private:
  struct Entry {
    std::uint64_t hash = 0;
    std::size_t priors = 0, children = 0;  // where its own begin
    std::uint32_t prior_count = 0, child_count = 0;
    bool known = false;
  };

  // Which nodes of a graph are of which entry: several where equal states have nodes of their own.
  struct Known {
    Known(KeptEvaluations& all, const Graph& g) : following(g.size(), kNone) {
      for (NodeId id = 0; id < g.size(); ++id) {
        g.states.load(id, all.scratch());
        entry.push_back(all.place_of(all.scratch()));
      }
      first.assign(all.size(), kNone);
      for (NodeId id = static_cast<NodeId>(g.size()); id-- > 0;) {
        following[id] = first[entry[id]];
        first[entry[id]] = id;
      }
    }
    std::vector<std::uint32_t> entry;      // of each node
    std::vector<NodeId> first, following;  // the first node of an entry, and the next one of the same
  };

  // The entries that can be reached, breadth first, as many as the settings have room for.
  std::vector<std::uint32_t> nearest(const Known& known, const Graph& g, const std::vector<std::vector<std::byte>>& roots, const Config& config) {
    std::vector<std::uint32_t> found;
    std::vector<char> met(entries_.size(), 0);
    const auto meet = [&](std::uint32_t entry) {
      if (entry == kNone || met[entry]) return;
      met[entry] = 1;
      found.push_back(entry);
    };
    for (const std::vector<std::byte>& root : roots) {
      std::memcpy(scratch(), root.data(), root.size());
      meet(look_up(states_.offer(scratch())));
    }
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (i >= config.max_nodes) found.resize(i);
      if (i >= found.size()) break;
      std::size_t children = 0;
      each_child(known, g, found[i], [&](std::uint32_t child) {
        meet(child);
        ++children;
      });
      bytes += cost(known, g, found[i], children);
      if (bytes > config.max_bytes / 4) found.resize(i);  // the graph of the next search has the rest
    }
    return found;
  }

  // Bytes of an entry, at the most.
  std::size_t cost(const Known& known, const Graph& g, std::uint32_t entry, std::size_t children) const {
    constexpr std::size_t kSlots = 32;  // in the index, which is never full
    std::size_t priors = entries_[entry].prior_count;
    for (NodeId id = known.first[entry]; id != kNone; id = known.following[id])
      if (g.nodes[id].rows != kNone) priors = g.choices_of(g.nodes[id]);
    return states_.record_size() + sizeof(Entry) + kSlots + players_ * sizeof(double) + priors * sizeof(float) + children * sizeof(std::uint32_t);
  }

  // Call f(entry) for all that follows an entry: as it was known before, then as a graph knows it.
  template <class F>
  void each_child(const Known& known, const Graph& g, std::uint32_t entry, const F& f) const {
    const Entry& from = entries_[entry];
    for (std::size_t i = 0; i < from.child_count; ++i) f(children_[from.children + i]);
    for (NodeId id = known.first[entry]; id != kNone; id = known.following[id])
      for (const EdgeId e : EdgeIds(g.nodes[id]))
        if (g.edges[e].child != kNone) f(known.entry[g.edges[e].child]);
  }

  // Give the newest entry the evaluation of another's: the graph's, else the one held.
  void take_evaluation(const KeptEvaluations& from, const Known& known, const Graph& g, std::uint32_t old) {
    Entry& now = entries_.back();
    const double* values = from.entries_[old].known ? from.evaluation(old) : nullptr;
    const float* priors = from.priors(old);
    std::size_t count = from.prior_count(old);
    for (NodeId id = known.first[old]; id != kNone; id = known.following[id]) {
      const Node& node = g.nodes[id];
      if (node.kind != Kind::decision || node.visits == 0) continue;
      values = g.evaluation(id);
      count = node.rows == kNone ? 0 : g.choices_of(node);
      priors = count ? &g.priors[node.rows] : nullptr;
    }
    if (!values) return;
    now.known = true;
    ++known_;
    std::copy_n(values, players_, evaluations_.data() + evaluations_.size() - players_);
    now.priors = priors_.extend(count);
    now.prior_count = static_cast<std::uint32_t>(count);
    if (count) std::copy_n(priors, count, priors_.data() + now.priors);
  }

  std::byte* scratch() { return reinterpret_cast<std::byte*>(record_.data()); }

  std::uint32_t look_up(std::uint64_t hash) {
    return index_.find(hash, [&](std::uint32_t entry) { return states_.equals(entry); });
  }

  // The entry of a state, made if there is none; all of it, or nothing.
  std::uint32_t place_of(const std::byte* state) {
    const std::uint64_t hash = states_.offer(state);
    const std::uint32_t known = look_up(hash);
    if (known != kNone) return known;
    const auto entry = static_cast<std::uint32_t>(entries_.size());
    entries_.reserve(entry + 1);
    evaluations_.reserve((entry + 1) * players_);
    index_.make_room(entry, [&](std::uint32_t node) { return entries_[node].hash; });
    states_.append();
    Entry made;
    made.hash = hash;
    entries_.push(made);
    evaluations_.fill(players_, 0.0);
    look_up(hash);  // where it goes
    index_.insert(hash, entry);
    return entry;
  }

  std::size_t players_, known_ = 0;
  std::vector<std::uint64_t> record_;
  States states_;
  Index index_;
  Column<Entry> entries_;
  Column<double> evaluations_;  // one per player and entry
  Column<float> priors_;
  Column<std::uint32_t> children_;
};

}  // namespace anabranch
