// What a graph says, to compare graphs; the settings that tests walk through.
#pragma once

#include <cstdint>
#include <vector>

#include "anabranch/forest.hpp"

using namespace anabranch;

inline NativeEvaluator evaluator_of(NativeEvaluator::Kind kind) {
  NativeEvaluator evaluator;
  evaluator.kind = kind;
  return evaluator;
}

// All a graph says, apart from where its edges lie and which of them are marked as shared.
struct Said {
  struct Edge {
    std::uint32_t move, visits, repeats, child;
    bool frozen, shared;
    std::vector<double> value;
  };
  struct Node {
    Kind kind;
    std::uint32_t visits;
    std::uint64_t hash;
    std::vector<double> values;
    std::vector<Edge> edges;
    std::vector<double> learned;  // by selectors that learn strategies
  };
  std::vector<Node> nodes;
  std::size_t rewards = 0, priors = 0, states = 0;
  std::vector<double> low, high;
};

inline Said said(const Search& search) {
  const Graph& g = search.graph();
  Said all{{}, g.rewards.size(), g.priors.size(), g.states.size(), g.low, g.high};
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& node = g.nodes[id];
    Said::Node one{node.kind, node.visits, g.key[id], {g.mean(id), g.mean(id) + 2 * g.players}, {}, {}};
    for (EdgeId e = node.edges; e < node.edges + node.edge_count; ++e)
      one.edges.push_back({g.edges[e].move, g.edges[e].visits, g.repeats.kept() ? g.repeats[e] : 0, g.edges[e].child, (g.edges[e].is(kFrozen)) != 0,
                           (g.edges[e].is(kShared)) != 0, {g.value(e), g.value(e) + g.players}});
    if (g.sums.kept() && node.rows != kNone)
      for (std::uint32_t row = node.rows; row < node.rows + g.choices_of(node); ++row)
        one.learned.insert(one.learned.end(), {g.sums[row], g.regrets.kept() ? g.regrets[row] : g.current[row]});
    if (g.solved_at.kept()) one.learned.push_back(g.solved_at[id]);
    all.nodes.push_back(std::move(one));
  }
  return all;
}

inline bool same(const Said& a, const Said& b) {
  if (a.nodes.size() != b.nodes.size() || a.rewards != b.rewards || a.priors != b.priors || a.states != b.states) return false;
  if (a.low != b.low || a.high != b.high) return false;
  for (std::size_t n = 0; n < a.nodes.size(); ++n) {
    const Said::Node &x = a.nodes[n], &y = b.nodes[n];
    if (x.kind != y.kind || x.visits != y.visits || x.hash != y.hash || x.values != y.values || x.edges.size() != y.edges.size() || x.learned != y.learned)
      return false;
    for (std::size_t e = 0; e < x.edges.size(); ++e) {
      const Said::Edge &p = x.edges[e], &q = y.edges[e];
      if (p.move != q.move || p.visits != q.visits || p.repeats != q.repeats || p.child != q.child || p.frozen != q.frozen) return false;
      if (!p.shared && !q.shared && p.value != q.value) return false;  // of shared children it may be stale
    }
  }
  return true;
}

// N(n) = 1 + Σ N(e); edges with visits lead to evaluated nodes or are frozen; nothing is on a path. An outcome that was given a
// child keeps its frozen value until a visit to that child counts (docs/model.md section 6).
inline bool sound(const Search& search) {
  const Graph& g = search.graph();
  bool good = true;
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& node = g.nodes[id];
    std::uint64_t total = 0;
    for (EdgeId e = node.edges; e < node.edges + node.edge_count; ++e) {
      total += g.edges[e].visits;
      const bool frozen = g.edges[e].is(kFrozen);
      good = good && (frozen ? g.edges[e].child == kNone || node.kind == Kind::chance : g.edges[e].child != kNone);
      if (!frozen && g.edges[e].visits > 0) good = good && g.nodes[g.edges[e].child].visits > 0;
    }
    if (node.kind == Kind::decision && node.visits > 0) good = good && node.visits == 1 + total;
    good = good && !(node.flags & kOnPath);
    for (std::size_t p = 0; p < 2 * g.players; ++p) good = good && g.mean(id)[p] - g.mean(id)[p] == 0.0;
  }
  return good;
}

inline void run(Search& search, std::uint64_t visits) {
  Budget budget;
  budget.goals = {visits};
  Forest::run({&search}, budget, 1, [] { return true; });
}

inline std::vector<Config> settings() {
  std::vector<Config> all(16);
  all[1].chance.exact_up_to = 3;
  all[2].chance.exact_up_to = 3;
  all[2].stop = true;
  all[2].selector.scale = all[2].simultaneous.scale = Scale::graph;
  all[3].chance.draws = 3;
  all[3].chance.widen = 1.0;
  all[4].chance.widen_cap = 1;
  all[4].chance.sampled = true;
  all[4].stop = true;
  all[4].rho = 0.5;
  all[4].leak = 0.3;
  all[5].max_nodes = 9;
  all[5].chance.exact_up_to = 2;
  all[6].merge = false;
  all[6].chance.exact_up_to = 3;
  all[6].selector.rule = all[6].simultaneous.rule = Rule::ucb1;
  all[7].selector.scale = all[7].simultaneous.scale = Scale::node;
  all[7].selector.random_ties = true;
  all[7].simultaneous.weights = Weights::c;
  all[7].chance.draws = 2;
  all[8].chance.exact_up_to = 2;  // visits of an enumeration walk on through nodes that were there before
  all[9].chance.exact_up_to = 2;
  all[9].selector.scale = all[9].simultaneous.scale = Scale::graph;
  all[9].stop = true;
  all[9].rho = 0.4;
  all[10].chance.draws = 6;  // of which the fifth may have a child that the fourth could not
  all[10].chance.widen = 0.5;
  all[11].simultaneous.rule = Rule::regret_matching;
  all[11].chance.exact_up_to = 2;
  all[12].simultaneous.rule = Rule::exp3;
  all[12].chance.draws = 2;
  all[12].stop = true;
  all[13].simultaneous.rule = Rule::matrix;
  all[13].chance.exact_up_to = 3;
  all[13].max_nodes = 20;
  all[14].selector.rule = all[14].simultaneous.rule = Rule::gumbel;
  all[14].selector.scale = all[14].simultaneous.scale = Scale::node;
  all[14].chance.exact_up_to = 3;
  all[15].selector.rule = Rule::gumbel;
  all[15].selector.scale = Scale::graph;
  all[15].chance.draws = 2;
  return all;
}
