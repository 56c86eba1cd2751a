// Variances below a node, by hand.
#include "anabranch/moments.hpp"

#include <cmath>

#include "check.hpp"
#include "games.hpp"

using namespace anabranch;

namespace {

bool near(double a, double b) { return std::abs(a - b) < 1e-12; }

}  // namespace

// The root thinks 9 and went three times to a node that thinks 1, which went twice to an end that pays 4: with a reward of 2
// on the way the child's values are {3, 6, 6}, mean 5 and variance 2; the root's are {9, 3, 6, 6}, mean 6, variance 4.5. Q is
// left at 0, as if stale: it is not read.
TEST(variance_is_that_of_all_values_met) {
  const Rules rules = games::ConnectFour::rules();
  Graph g(rules);
  const auto add = [&g](Kind kind, std::uint32_t visits, double evaluation) {
    games::ConnectFour::State state{};
    state.stones[0] = static_cast<std::int64_t>(g.size());
    g.states.offer(reinterpret_cast<const std::byte*>(&state));
    Node made;
    made.kind = kind;
    made.visits = visits;
    const NodeId id = g.add(made, 0);
    g.evaluation(id)[0] = evaluation;
    g.evaluation(id)[1] = -evaluation;
    return id;
  };
  const NodeId root = add(Kind::decision, 4, 9.0), child = add(Kind::decision, 3, 1.0), end = add(Kind::over, 1, 0.0);
  const auto link = [&g](NodeId from, NodeId to, float reward, std::uint32_t visits) {
    const float rewards[2] = {reward, -reward};
    g.add_edge(from, 0, rewards);
    g.link(from, g.nodes[from].edges, to);
    g.edges[g.nodes[from].edges].visits = visits;
  };
  link(root, child, 2.0f, 3);
  link(child, end, 4.0f, 2);
  const Config config;
  const Moments moments(g, config);
  for (std::size_t player : {0u, 1u}) {
    CHECK(near(moments.node(root, player).variance, 4.5) && near(moments.node(child, player).variance, 2.0));
    CHECK(near(moments.edge(g.nodes[root], g.nodes[root].edges, player).variance, 2.0));
    CHECK(near(moments.edge(g.nodes[root], g.nodes[root].edges, player).mean, player == 0 ? 5.0 : -5.0));
    CHECK(moments.node(end, player).variance == 0.0);
  }
}
