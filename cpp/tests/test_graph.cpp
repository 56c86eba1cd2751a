// Blocks of edges and marks of shared children.
#include "anabranch/graph.hpp"

#include <vector>

#include "check.hpp"
#include "games.hpp"

using namespace anabranch;

namespace {

// A graph without a game: nodes are numbers.
struct Plain {
  Rules rules = games::ConnectFour::rules();
  Graph graph{rules};

  NodeId add() {
    games::ConnectFour::State state{};
    state.stones[0] = static_cast<std::int64_t>(graph.size());
    graph.states.offer(reinterpret_cast<const std::byte*>(&state));
    return graph.add(Node{}, 0);
  }
  EdgeId edge(NodeId node, std::uint32_t move, float reward = 0.0f) {
    const float rewards[2] = {reward, -reward};
    const std::uint32_t place = graph.add_edge(node, move, rewards);  // which may move the block
    return graph.nodes[node].edges + place;
  }
};

}  // namespace

TEST(edges_keep_order_visits_values_and_rewards_when_their_block_moves) {
  Plain plain;
  Graph& g = plain.graph;
  for (int n = 0; n < 5; ++n) plain.add();
  for (std::uint32_t move = 0; move < 50; ++move) {
    for (NodeId node = 0; node < 5; ++node) {  // all grow abreast, so all blocks move
      const EdgeId e = plain.edge(node, move, move % 3 == 0 ? 0.0f : static_cast<float>(move));
      g.edges[e].visits = move + node;
      g.value(e)[0] = move + 0.5;
      g.value(e)[1] = node;
    }
  }
  for (NodeId node = 0; node < 5; ++node) {
    CHECK(g.nodes[node].edge_count == 50 && g.nodes[node].room() == 64);
    for (std::uint32_t move = 0; move < 50; ++move) {
      const EdgeId e = g.nodes[node].edges + move;
      CHECK(g.edges[e].move == move && g.edges[e].child == kNone && g.edges[e].visits == move + node);
      CHECK(g.value(e)[0] == move + 0.5 && g.value(e)[1] == node);
      CHECK(g.reward(e, 0) == (move % 3 == 0 ? 0.0f : static_cast<float>(move)) && g.reward(e, 1) == -g.reward(e, 0));
      CHECK((g.edges[e].reward() == kNoReward) == (move % 3 == 0));
    }
  }
}

TEST(blocks_left_behind_are_used_again) {
  Plain plain;
  Graph& g = plain.graph;
  const NodeId first = plain.add();
  for (std::uint32_t move = 0; move < 9; ++move) plain.edge(first, move);  // leaves blocks of 1, 2, 4 and 8
  const std::size_t held = g.edges.size();
  for (const std::uint32_t count : {1u, 1u, 2u, 4u}) {
    const NodeId node = plain.add();
    for (std::uint32_t move = 0; move < count; ++move) plain.edge(node, move);
  }
  CHECK(g.edges.size() <= held + 4);
  for (std::uint32_t move = 0; move < 9; ++move) CHECK(g.edges[g.nodes[first].edges + move].move == move);
  for (NodeId one = 0; one < g.size(); ++one)  // no two blocks overlap
    for (NodeId other = 0; other < one; ++other)
      CHECK(g.nodes[one].edges + g.nodes[one].room() <= g.nodes[other].edges ||
            g.nodes[other].edges + g.nodes[other].room() <= g.nodes[one].edges);
}

TEST(a_block_given_back_is_the_next_one_taken) {
  Plain plain;
  Graph& g = plain.graph;
  const NodeId kept = plain.add(), gone = plain.add();
  for (std::uint32_t move = 0; move < 4; ++move) plain.edge(kept, move);
  for (std::uint32_t move = 0; move < 4; ++move) plain.edge(gone, move);
  const std::size_t held = g.edges.size();
  for (int i = 0; i < 100; ++i) {
    g.release_edges(g.nodes[gone]);
    g.nodes[gone].edge_count = 0;
    g.nodes[gone].size_class = 0;
    for (std::uint32_t move = 0; move < 4; ++move) plain.edge(gone, move);
  }
  CHECK(g.edges.size() <= held + 4);
}

TEST(an_only_child_is_not_shared_and_all_edges_of_others_are) {
  Plain plain;
  Graph& g = plain.graph;
  const NodeId root = plain.add(), left = plain.add(), right = plain.add(), child = plain.add();
  g.link(root, plain.edge(root, 0), left);
  g.link(root, plain.edge(root, 1), right);
  g.link(left, plain.edge(left, 0), child);
  const EdgeId first = g.nodes[left].edges;
  CHECK(!(g.edges[first].is(kShared)) && g.parent[child] == left);
  g.link(right, plain.edge(right, 0), child);
  const EdgeId second = g.nodes[right].edges;
  CHECK((g.edges[first].is(kShared)) && (g.edges[second].is(kShared)));
  CHECK((g.nodes[left].flags & kSharedEdges) && (g.nodes[right].flags & kSharedEdges));
  CHECK(!(g.edges[g.nodes[root].edges].is(kShared)) && !(g.nodes[root].flags & kSharedEdges));
  CHECK(g.parent[child] == left);  // the first one
  g.link(left, plain.edge(left, 1), child);
  CHECK(g.edges[g.nodes[left].edges + 1].is(kShared));
}

TEST(two_edges_of_one_parent_share_their_child) {
  Plain plain;
  Graph& g = plain.graph;
  const NodeId root = plain.add(), child = plain.add();
  g.link(root, plain.edge(root, 0), child);
  g.link(root, plain.edge(root, 1), child);
  for (EdgeId e = g.nodes[root].edges; e < g.nodes[root].edges + 2; ++e) CHECK(g.edges[e].is(kShared));
}

TEST(an_edge_back_to_the_root_is_shared) {
  Plain plain;
  Graph& g = plain.graph;
  const NodeId root = plain.add(), child = plain.add();
  g.link(root, plain.edge(root, 0), child);
  g.link(child, plain.edge(child, 0), root);
  CHECK(g.edges[g.nodes[child].edges].is(kShared));
  CHECK(g.parent[root] == kNone);
}

TEST(a_frozen_edge_that_gets_a_child_is_frozen_no_more) {
  Plain plain;
  Graph& g = plain.graph;
  const NodeId root = plain.add(), child = plain.add();
  const EdgeId e = plain.edge(root, 0);
  g.edges[e].bits |= kFrozen;
  g.link(root, e, child);
  CHECK(!(g.edges[e].is(kFrozen)) && g.edges[e].child == child);
}

TEST(lists_of_outcomes_are_stored_once) {
  Plain plain;
  Graph& g = plain.graph;
  const std::int32_t dice[3] = {1, 2, 3}, others[3] = {1, 2, 4};
  const double even[3] = {0.5, 0.25, 0.25}, odd[3] = {0.25, 0.5, 0.25};
  const std::uint32_t first = g.tables.intern(dice, even, 3);
  const std::size_t held = g.bytes();
  CHECK(g.tables.intern(dice, even, 3) == first && g.bytes() == held);
  CHECK(g.tables.intern(dice, odd, 3) != first && g.tables.intern(others, even, 3) != first && g.tables.intern(dice, even, 2) != first);
  CHECK(g.tables.lists() == 4);
  CHECK(g.tables.outcomes(first).cumulative == (std::vector<double>{0.5, 0.75, 1.0}));
}

TEST(parents_are_listed_in_the_order_they_were_linked_and_links_can_be_taken_back) {
  Config config;
  config.refresh = Refresh::parents;
  Plain plain;
  plain.graph = Graph(plain.rules, config);
  Graph& g = plain.graph;
  const NodeId root = plain.add(), left = plain.add(), right = plain.add(), child = plain.add();
  const auto parents = [&](NodeId id) {
    std::vector<NodeId> found;
    g.each_parent(id, [&](NodeId above) { found.push_back(above); });
    return found;
  };
  g.link(root, plain.edge(root, 0), left);
  g.link(root, plain.edge(root, 1), right);
  g.link(right, plain.edge(right, 0), child);
  const std::size_t before = g.links.size();
  g.link(left, plain.edge(left, 0), child);
  g.link(left, plain.edge(left, 1), child);  // a twin edge is no other parent
  g.link(root, plain.edge(root, 2), child);
  CHECK(parents(child) == (std::vector<NodeId>{right, left, root}));
  CHECK(parents(root).empty() && parents(left) == std::vector<NodeId>{root});
  g.cut_links(before);
  CHECK(parents(child) == std::vector<NodeId>{right});
  g.add_parent(child, root);
  CHECK(parents(child) == (std::vector<NodeId>{right, root}));
}
