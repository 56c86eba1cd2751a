// Write evaluations into the graph: U, Q and priors of a node, the value of a frozen edge.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "anabranch/backup.hpp"
#include "anabranch/context.hpp"
#include "anabranch/kept.hpp"
#include "anabranch/model.hpp"
#include "anabranch/proof.hpp"
#include "anabranch/select/prior.hpp"

namespace anabranch {

class Settler {
 public:
  explicit Settler(Context& context) : c(context) {}

  // The evaluation of a node. `logits` are [players × actions], or of the only acting player alone; nullptr: every choice is
  // equally likely.
  void settle(NodeId id, const double* logits, bool of_all, const double* values) {
    Graph& g = c.graph;
    set_evaluation(id, values);
    if (logits && !all_equal(id, logits, of_all)) {
      c.load(id);
      const Node node = g.nodes[id];
      const std::uint64_t turn = g.turn_of(node);
      const auto start = static_cast<std::uint32_t>(g.choice_rows());
      const auto wide = static_cast<std::size_t>(g.rules.actions);
      std::size_t last = 0;
      for (std::int32_t p = 0; p < g.rules.players; ++p)
        if (turn >> p & 1) last = append_prior(p, of_all ? logits + static_cast<std::size_t>(p) * wide : logits);
      if (node.acting > 1 && g.choice_rows() - start != g.table_of(node).ids.size())
        c.position().fail("legal", node.mover);  // not as many choices as when the node was made: a lying game
      g.nodes[id].rows = start;
      if (node.acting == 1) g.nodes[id].choices = static_cast<std::uint32_t>(last);
    }
    learn_nothing_yet(id);
    g.nodes[id].visits = 1;
  }

  // What a learned model says of an edge: what the step pays, and what its child is. `latent` is the child's, where it lies in
  // the record. Most nodes are never selected at, so logits in single precision are kept as they are until one is.
  [[gnu::always_inline]] void settle_transition(NodeId at, std::uint32_t place, const Transition& t, const std::byte* latent = nullptr) {
    Graph& g = c.graph;
    const Model& model = *g.rules.model;
    const EdgeId e = g.nodes[at].edges + place;
    if (t.rewards) set_reward(e, t.rewards);
    if (g.discounts.kept()) g.discounts[e] = t.discount;
    const NodeId child = g.edges[e].child;
    if (child == kNone) {
      if (sums_.size() < g.players) sums_.resize(g.players);
      std::fill_n(sums_.begin(), g.players, 0.0);
      freeze(at, place, sums_.data(), t.values);
      return;
    }
    std::byte* record = g.states.at(child);
    LatentHead& head = Model::head(record);
    head.number = t.number;
    if (latent) copy_record(record + model.latent_at(), latent, model.latent_bytes);
    if (t.chances) {
      head.turn = static_cast<std::int8_t>(kChance);
      g.nodes[child].mover = g.nodes[at].mover;  // whose action it was
      settle_chance(child, t.chances);
    } else if (model.discounts && t.discount == 0.0) {
      head.turn = static_cast<std::int8_t>(kOver);
      arrived(g.nodes[child]);
      g.nodes[child].kind = Kind::over;
      g.nodes[child].acting = 0;
      g.nodes[child].visits = 1;
    } else {
      settle_decision(child, t);
    }
  }

  // The evaluation of a decision by a model.
  [[gnu::always_inline]] void settle_decision(NodeId id, const Transition& t) {
    Graph& g = c.graph;
    const Model& model = *g.rules.model;
    const auto wide = static_cast<std::size_t>(model.actions);
    std::byte* record = g.states.at(id);
    Model::head(record).turn = 1;
    Model::head(record).mover = t.mover;
    if (model.masks) model.write_mask(record, t.legal);
    if (t.single) {
      g.nodes[id].rows = g.add_choices(t.single, wide);
    } else if (t.both) {
      if (listed_.size() < wide) listed_.resize(wide);
      const std::size_t count = model.list_legal(record, listed_.data());
      append_softmax(listed_.data(), count, t.both);
      g.nodes[id].rows = static_cast<std::uint32_t>(g.choice_rows() - count);
      g.nodes[id].choices = static_cast<std::uint32_t>(count);
    }
    g.nodes[id].mover = t.mover;
    set_evaluation(id, t.values);
    g.nodes[id].visits = 1;
  }

  // One kept from before an advance.
  void recall(NodeId id, const KeptEvaluations& kept, std::uint32_t entry) {
    Graph& g = c.graph;
    set_evaluation(id, kept.evaluation(entry));
    const std::size_t count = kept.prior_count(entry);
    if (count > 0) {
      Node& node = g.nodes[id];
      node.rows = g.add_choices(count);
      std::copy_n(kept.priors(entry), count, &g.priors[node.rows]);
      if (node.acting == 1) node.choices = static_cast<std::uint32_t>(count);
    }
    learn_nothing_yet(id);
    g.nodes[id].visits = 1;
  }

  // Let an edge keep r + d·(rewards on the way + what the state there is worth).
  void freeze(NodeId at, std::uint32_t place, const double* collected, const double* worth) {
    Graph& g = c.graph;
    const EdgeId e = g.nodes[at].edges + place;
    g.edges[e].bits |= kFrozen;
    const double discount = discount_of(g, g.nodes[at], e, c.config);
    for (std::size_t p = 0; p < g.players; ++p)
      g.value(e)[p] = static_cast<double>(g.reward(e, p)) + discount * (collected[p] + worth[p]);
  }

  // Write out the priors of a root whose choices are all equally likely.
  void write_priors(NodeId id) {
    Graph& g = c.graph;
    Node& node = g.nodes[id];
    if (node.rows != kNone) return;
    node.rows = g.add_choices(g.choices_of(node));
    float* prior = &g.priors[node.rows];
    if (node.acting == 1) {
      std::fill_n(prior, node.choices, uniform_prior(node.choices));
      return;
    }
    for (const std::uint32_t size : g.table_of(node).sizes) prior = std::fill_n(prior, size, uniform_prior(size));
  }

 private:
  // Make rows for what a selector will learn.
  void learn_nothing_yet(NodeId id) {
    if (c.config.learns() && c.graph.nodes[id].acting > 1) [[unlikely]] write_priors(id);
  }

  // What a step paid, where that is known later than the edge.
  void set_reward(EdgeId e, const double* paid) {
    Graph& g = c.graph;
    std::uint32_t row = g.edges[e].reward();
    if (row == kNoReward) {
      if (std::all_of(paid, paid + g.players, [](double each) { return static_cast<float>(each) == 0.0f; })) return;
      row = static_cast<std::uint32_t>(g.rewards.size() / g.players);
      g.rewards.extend(g.players);
      g.edges[e].bits = (g.edges[e].bits & ~kNoReward) | row;
    }
    for (std::size_t p = 0; p < g.players; ++p) g.rewards[row * g.players + p] = static_cast<float>(paid[p]);
  }

  // An afterstate: its outcomes, of which those that cannot be are left out.
  void settle_chance(NodeId id, const double* chances) {
    Graph& g = c.graph;
    listed_.clear();
    weights_.clear();
    for (std::int32_t outcome = 0; outcome < g.rules.model->outcomes; ++outcome) {
      if (!(chances[outcome] > 0.0)) continue;
      listed_.push_back(outcome);
      weights_.push_back(chances[outcome]);
    }
    const std::uint32_t list = g.tables.intern(listed_.data(), weights_.data(), listed_.size());
    Node& node = g.nodes[id];
    arrived(node);
    node.kind = Kind::chance;
    node.acting = 0;
    node.choices = list;
  }

  void arrived(Node& node) {
    if (!node.is(kPending)) return;
    node.clear(kPending);
    if (c.config.marks()) --c.awaited;
  }

  [[gnu::always_inline]] void set_evaluation(NodeId id, const double* values) {
    Node& node = c.graph.nodes[id];
    if (!node.is(kPending) && !c.undo().made(id)) c.undo().asked(id);
    arrived(node);
    if (c.graph.players == 1) {  // one number: no call to copy it
      *c.graph.mean(id) = *c.graph.evaluation(id) = *values;
    } else {
      std::copy_n(values, c.graph.players, c.graph.mean(id));
      std::copy_n(values, c.graph.players, c.graph.evaluation(id));
    }
    if (node.is(kTight)) [[unlikely]] clip_tight(c.graph, c.config, id);
  }

  // Whether the only acting player has one logit for all ids: then every choice is equally likely, which needs no priors. Where
  // some ids do the same, choices with more of them are likelier.
  bool all_equal(NodeId id, const double* logits, bool of_all) const {
    const Graph& g = c.graph;
    const Node& node = g.nodes[id];
    if (node.acting > 1 || g.rules.same) return false;
    const auto wide = static_cast<std::size_t>(g.rules.actions);
    const double* row = of_all ? logits + node.mover * wide : logits;
    for (std::size_t i = 1; i < wide; ++i)
      if (row[i] != row[0]) return false;
    return std::isfinite(row[0]);
  }

  // A softmax over legal ids, summed over ids that do the same.
  __attribute__((noinline)) std::size_t append_prior(std::int32_t player, const double* logits) {
    Position& position = c.position();
    if (!position.has_same()) {
      const std::size_t count = position.list_legal(player);
      append_softmax(position.listed(), count, logits);
      return count;
    }
    position.read_choices(player);
    double top = logits[position.legal[0]];
    for (const std::int32_t id : position.legal) top = logits[id] > top ? logits[id] : top;
    weights_.clear();
    double total = 0.0;
    for (const std::int32_t id : position.legal) {
      weights_.push_back(std::exp(logits[id] - top));
      total += weights_.back();
    }
    sums_.assign(position.choices.size(), 0.0);
    for (std::size_t i = 0; i < weights_.size(); ++i) sums_[position.group[i]] += weights_[i] / total;
    const std::uint32_t at = c.graph.add_choices(sums_.size());
    store_prior(sums_.data(), sums_.size(), &c.graph.priors[at]);
    return sums_.size();
  }

  // The same where every id is a choice of its own.
  void append_softmax(const std::int32_t* ids, std::size_t count, const double* logits) {
    if (sums_.size() < count) sums_.resize(count);
    softmax(ids, count, logits, sums_.data());
    const std::uint32_t at = c.graph.add_choices(count);
    store_prior(sums_.data(), count, &c.graph.priors[at]);
  }

  Context& c;
  std::vector<double> weights_, sums_;
  std::vector<std::int32_t> listed_;
};

}  // namespace anabranch
