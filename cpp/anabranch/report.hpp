// What a search found, told: tables of its root, its edges, its principal variation, lines of play; the one home of all that
// is read off a graph for people. Where a verb is called, it may fail.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_set>
#include <vector>

#include "anabranch/search.hpp"

namespace anabranch {

// q(e) as it is now; what an edge to a shared child holds may be stale.
inline double current_value(const Search& search, const Node& node, EdgeId e, std::size_t player) {
  const Graph& g = search.graph();
  const bool stale = g.edges[e].is(kShared) && !g.edges[e].is(kFrozen);
  return stale ? child_value(g, e, player, discount_of(g, node, e, search.config()), search.config()) : g.value(e)[player];
}

// What the root knows of every player and action, P × A each: policy, prior and q (0, 0 and NaN where there is nothing to
// tell), visits.
struct RootTables {
  double* policy;
  double* prior;
  double* q;
  std::int64_t* visits;
  std::int64_t* chosen;  // by player: the action that a Gumbel search ended with; -1 where there is none
  double* own = nullptr;  // the prior without a root's noise; nullptr: nobody asks
};

inline void tell_root(Search& search, const RootTables& to) {
  const Graph& g = search.graph();
  const auto actions = static_cast<std::size_t>(g.rules.actions);
  const std::size_t cells = g.players * actions;
  std::fill_n(to.policy, cells, 0.0);
  std::fill_n(to.prior, cells, 0.0);
  if (to.own != nullptr) std::fill_n(to.own, cells, 0.0);
  std::fill_n(to.q, cells, std::nan(""));
  std::fill_n(to.visits, cells, 0);
  std::fill_n(to.chosen, g.players, -1);
  if (g.rules.model) search.expander().count_choices(0, search.graph().nodes[0]);  // a model's logits become priors
  const Node node = g.nodes[0];
  if (node.kind != Kind::decision || !search.root_ready()) return;
  search.load(0);
  Selector& selector = node.acting > 1 ? search.selectors().together : search.selectors().alone;
  const Table* const table = node.acting > 1 ? &g.table_of(node) : nullptr;
  for (std::size_t i = 0; i < node.acting; ++i) {
    const std::size_t player = table ? table->players[i] : node.mover, start = table ? table->starts[i] : 0;
    std::vector<std::int32_t> ids;
    search.position().append_choices(static_cast<std::int32_t>(player), ids);
    const std::size_t known = table ? table->sizes[i] : node.choices;  // 0: not selected at yet
    if (known != 0 && ids.size() != known) search.position().fail("legal", static_cast<std::int32_t>(player));  // a lying game
    std::vector<double> visits(ids.size(), 0.0), totals(ids.size(), 0.0);
    for (const EdgeId e : EdgeIds(node)) {
      const double times = g.edges[e].visits;
      if (times == 0.0) continue;
      const std::uint32_t choice = table ? table->choice(g.edges[e].move, i) : g.edges[e].move;
      const double q = current_value(search, node, e, player);
      visits[choice] += times;
      totals[choice] += table ? times * q : q;
    }
    std::vector<double> policy = selector.policy(node, start, visits);
    if (Gumbel* gumbel = selector.gumbel()) {
      std::vector<double> values = totals;
      for (std::size_t a = 0; table && a < ids.size(); ++a)
        if (visits[a] > 0.0) values[a] /= visits[a];
      const Gumbel::Player seat{player, i, start, ids.size(), node.rows == kNone ? nullptr : &g.priors[node.rows + start]};
      gumbel->see(node, table, seat, visits.data(), values.data());
      const std::uint32_t winner = gumbel->winner(0, node, seat);
      if (winner != kNone) to.chosen[player] = ids[winner];
      gumbel->improve(0, seat, policy.data());
    }
    for (std::size_t a = 0; a < ids.size(); ++a) {
      const std::size_t at = player * actions + static_cast<std::size_t>(ids[a]);
      to.policy[at] = policy[a];
      to.prior[at] = selector.prior(node, start, a, ids.size());
      if (to.own != nullptr) to.own[at] = selector.own_prior(node, start, a, ids.size());
      if (visits[a] > 0.0) to.q[at] = table ? totals[a] / visits[a] : totals[a];
      to.visits[at] = static_cast<std::int64_t>(visits[a]);
    }
  }
}

// An edge as it is now.
struct EdgeReport {
  Actions actions;
  std::uint32_t visits;
  NodeId child;  // kNone where it is frozen
  std::vector<double> value;
  double chance;  // of an outcome, NaN where only `draw` knows; 1 elsewhere
  std::vector<double> rewards;
};

// The edges of a node, in creation order.
inline std::vector<EdgeReport> edges_of(Search& search, NodeId id) {
  Graph& g = search.graph();
  const Node node = g.nodes[id];
  std::vector<EdgeReport> rows;
  for (const EdgeId e : EdgeIds(node)) {
    const Edge edge = g.edges[e];
    if (edge.child != kNone) read_child(g, e, discount_of(g, node, e, search.config()), search.config());
    double chance = 1.0;
    if (node.kind == Kind::chance) chance = g.rules.chance ? g.outcomes_of(node).chances[edge.move] : std::nan("");
    std::vector<double> rewards;
    for (std::size_t p = 0; p < g.players; ++p) rewards.push_back(static_cast<double>(g.reward(e, p)));
    rows.push_back({search.expander().actions_of(id, edge.move), edge.visits, edge.child, {g.value(e), g.value(e) + g.players}, chance, std::move(rewards)});
  }
  return rows;
}

// Of the chance nodes that list so many outcomes (0 where the game only draws): how many there are, how many were enumerated,
// their visits, and of their outcomes those that have a node and those that are frozen. Few outcomes first.
using ChanceCount = std::array<std::uint64_t, 6>;

inline std::vector<ChanceCount> chance_counts(const Graph& g) {
  std::map<std::uint64_t, ChanceCount> counts;
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& node = g.nodes[id];
    if (node.kind != Kind::chance) continue;
    const std::uint64_t outcomes = g.rules.chance ? g.outcomes_of(node).outcomes.size() : 0;
    ChanceCount& of = counts.try_emplace(outcomes, ChanceCount{outcomes}).first->second;
    ++of[1];
    of[2] += node.is(kExact);
    of[3] += node.visits;
    for (const EdgeId e : EdgeIds(node)) ++of[g.edges[e].child == kNone ? 5 : 4];
  }
  std::vector<ChanceCount> rows;
  for (const auto& [outcomes, of] : counts) rows.push_back(of);
  return rows;
}

// What is certain of an edge that counts, or of a node: the intervals of all players, low and high of each.
struct ProofReport {
  Actions actions;
  std::vector<double> intervals;
  bool proven;
  double distance;
};

// The proof of the root, and those of its edges; nothing where no more is certain than at first.
struct RootProof {
  ProofReport root, first;
  std::vector<ProofReport> edges;
};

inline void append_interval(const Config& config, std::size_t player, std::vector<double>& to, Interval kept) {
  const bool turned = config.proofs == Proofs::opposed && player > 0;
  to.push_back(turned ? 0.0 - kept.high : kept.low);
  to.push_back(turned ? 0.0 - kept.low : kept.high);
}

inline std::vector<double> intervals_of(const Search& search, NodeId id) {
  const Graph& g = search.graph();
  std::vector<double> found;
  if (!g.proof.kept()) return found;
  const bool opposed = search.config().proofs == Proofs::opposed;
  for (std::size_t p = 0; p < g.players; ++p) append_interval(search.config(), p, found, ProofRow(g, id)[opposed ? 0 : p]);
  return found;
}

inline bool tells_proof(const Search& search) {
  const Graph& g = search.graph();
  const Node& root = g.nodes[0];
  if (!g.proof.kept() || root.kind == Kind::over) return false;
  if (root.is(kTight)) return true;
  for (const EdgeId e : EdgeIds(root))
    if (g.edges[e].is(kSkip)) return true;
  return false;
}

inline RootProof proof_of_root(Search& search) {
  const Graph& g = search.graph();
  const Config& config = search.config();
  const Node root = g.nodes[0];
  const bool opposed = config.proofs == Proofs::opposed;
  RootProof told;
  told.root = {{}, intervals_of(search, 0), root.is(kProven), ProofRow(g, 0).distance()};
  told.first = {{}, {}, false, 0.0};
  for (std::size_t p = 0; p < g.players; ++p) append_interval(config, p, told.first.intervals, first_interval(g, config, 0, opposed ? 0 : p));
  for (const EdgeId e : EdgeIds(root)) {
    if (!proof_knows(root, g.edges[e])) continue;
    const NodeId child = g.edges[e].child;
    ProofReport each{search.expander().actions_of(0, g.edges[e].move), {}, g.nodes[child].is(kProven), ProofRow(g, child).distance()};
    for (std::size_t p = 0; p < g.players; ++p) append_interval(config, p, each.intervals, edge_interval(g, config, root, e, opposed ? 0 : p));
    told.edges.push_back(std::move(each));
  }
  return told;
}

// The most visited edge of a node, the first of equals; kNone where nothing was visited.
inline EdgeId most_visited(const Graph& g, const Node& node) {
  EdgeId best = kNone;
  for (const EdgeId e : EdgeIds(node))
    if (g.edges[e].visits > (best == kNone ? 0 : g.edges[best].visits)) best = e;
  return best;
}

// The principal variation: what is played at the root (where nobody acts, the most visited outcome), then along the most visited
// edges. Empty while nothing was visited; the first step alone where players never chose it together.
inline std::vector<Actions> principal_variation(Search& search, const Actions& first) {
  const Graph& g = search.graph();
  EdgeId e = most_visited(g, g.nodes[0]);
  if (e == kNone) return {};
  const auto played = [&](EdgeId edge) { return search.expander().actions_of(0, g.edges[edge].move) == first; };
  if (!first.empty() && !played(e)) {
    e = kNone;
    for (const EdgeId edge : EdgeIds(g.nodes[0]))
      if (g.edges[edge].visits > 0 && played(edge)) e = edge;
    if (e == kNone) return {first};
  }
  std::vector<Actions> line;
  std::unordered_set<NodeId> seen;
  for (NodeId at = 0; e != kNone && seen.insert(at).second;) {
    line.push_back(search.expander().actions_of(at, g.edges[e].move));
    at = g.edges[e].child;
    e = at == kNone ? kNone : most_visited(g, g.nodes[at]);
  }
  return line;
}

// The actions of steps; where a verb fails here too, what is known so far must do.
inline std::vector<Actions> spelled(Search& search, const std::vector<PathStep>& steps) {
  const Graph& g = search.graph();
  std::vector<Actions> actions;
  try {
    for (const PathStep& step : steps)
      actions.push_back(search.expander().actions_of(step.node, g.edges[g.nodes[step.node].edges + step.place].move));
  } catch (const Failure&) {
  }
  return actions;
}

// The actions from the root down to where the playout is now.
inline std::vector<Actions> line_in_hand(Search& search) {
  const Graph& g = search.graph();
  const Path& path = search.path_in_hand();
  std::vector<PathStep> steps(path.steps.begin(), path.steps.end());
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {  // an opened node: which of its children is being visited?
    const Node& node = g.nodes[steps[i].node];
    for (std::uint32_t e = 0; steps[i].place == kNone && e < node.edge_count; ++e)
      if (g.edges[node.edges + e].child == steps[i + 1].node) steps[i].place = e;
  }
  if (!steps.empty() && steps.back().place == kNone) steps.pop_back();
  if (search.reaching().node != kNone) steps.push_back(search.reaching());
  return spelled(search, steps);
}

// The actions from the root to a node, by the first way to it that was found; and one more step, if there is one.
inline std::vector<Actions> line_to(Search& search, NodeId id, PathStep last) {
  const Graph& g = search.graph();
  std::vector<PathStep> steps;
  if (last.node != kNone) steps.push_back(last);
  while (id != 0 && g.parent[id] != kNone) {
    const NodeId above = g.parent[id];
    const Node& node = g.nodes[above];
    std::uint32_t place = 0;
    while (place < node.edge_count && g.edges[node.edges + place].child != id) ++place;
    if (place == node.edge_count || steps.size() > g.size()) break;
    steps.push_back({above, place});
    id = above;
  }
  std::reverse(steps.begin(), steps.end());
  return spelled(search, steps);
}

// The actions from the root to the first state of the oldest wave that waits, by the first way to it that was found.
inline std::vector<Actions> line_of_request(Search& search) {
  const Wave* wave = search.waiting();
  if (!wave || wave->requests.empty()) return {};
  const Request& request = wave->requests[0];
  if (request.kind == Request::Kind::transition) return line_to(search, request.node, {request.node, request.frozen});
  if (request.kind == Request::Kind::node) return line_to(search, request.node, {kNone, kNone});
  const Request::Frozen& frozen = wave->frozen[request.frozen];
  return line_to(search, frozen.parent, {frozen.parent, frozen.place});
}

}  // namespace anabranch
