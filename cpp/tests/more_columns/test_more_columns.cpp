// A column that one line declares is added, cut, moved, copied, saved, loaded, taken back and shown.
#include <algorithm>
#include <string>
#include <vector>

#include "../check.hpp"
#include "../games.hpp"
#include "anabranch/forest.hpp"
#include "anabranch/restore.hpp"

using namespace anabranch;

namespace {

const games::ConnectFour::State kStart{};

struct Made {
  Search search;

  Made() : search(games::ConnectFour::rules(), Config{}, hashing(), 3, reinterpret_cast<const std::byte*>(&kStart)) {}

  static NativeEvaluator hashing() {
    NativeEvaluator evaluator;
    evaluator.kind = NativeEvaluator::Kind::hashing;
    return evaluator;
  }
  Graph& graph() { return search.graph(); }
  void run(std::uint64_t visits) {
    Budget budget;
    budget.goals = {visits};
    Forest::run({&search}, budget, 1, [] { return true; });
  }
};

// Write numbers into the columns that tell where they belong: the node's key, the edge's move, the choice.
void label(Graph& g) {
  for (NodeId id = 0; id < g.size(); ++id) {
    const auto mark = static_cast<double>(g.key[id] >> 20);
    g.more_node.row(id)[0] = mark;
    g.more_node.row(id)[1] = -mark;
    for (const EdgeId e : EdgeIds(g.nodes[id])) g.more_edge[e] = static_cast<std::uint32_t>(g.key[id]) + g.edges[e].move;
    if (g.nodes[id].rows == kNone) continue;
    for (std::size_t a = 0; a < g.choices_of(g.nodes[id]); ++a) g.more_choice[g.nodes[id].rows + a] = mark + static_cast<double>(a);
  }
}

// Whether all nodes but those of at least `fresh` have their labels, and these what a column begins with.
bool labelled(const Graph& g, NodeId fresh) {
  bool good = g.more_node.size() == 2 * g.size() && g.more_edge.size() == g.edges.size() && g.more_choice.size() == g.priors.size();
  for (NodeId id = 0; id < g.size(); ++id) {
    const auto mark = static_cast<double>(g.key[id] >> 20);
    const bool old = id < fresh;
    good = good && g.more_node.row(id)[0] == (old ? mark : 0.5) && g.more_node.row(id)[1] == (old ? -mark : 0.5);
    for (const EdgeId e : EdgeIds(g.nodes[id])) {
      const std::uint32_t told = static_cast<std::uint32_t>(g.key[id]) + g.edges[e].move;
      good = good && (g.more_edge[e] == told || g.more_edge[e] == 7) && (old || g.more_edge[e] == 7);
    }
    if (g.nodes[id].rows == kNone) continue;
    for (std::size_t a = 0; a < g.choices_of(g.nodes[id]); ++a)
      good = good && g.more_choice[g.nodes[id].rows + a] == (old ? mark + static_cast<double>(a) : -1.0);
  }
  return good;
}

}  // namespace

TEST(rows_are_added_and_move_with_their_edges) {
  Made made;
  made.run(100);
  CHECK(labelled(made.graph(), 0));
  label(made.graph());
  const auto nodes = static_cast<NodeId>(made.graph().size());
  const std::size_t bytes = made.graph().bytes();
  made.run(800);
  CHECK(made.graph().size() > nodes && labelled(made.graph(), nodes));
  CHECK(made.graph().bytes() > bytes);
  std::size_t labels = 0;  // edges that were there before have theirs, wherever their blocks are now
  for (NodeId id = 0; id < nodes; ++id)
    for (const EdgeId e : EdgeIds(made.graph().nodes[id])) labels += made.graph().more_edge[e] != 7;
  CHECK(labels >= nodes - 1);
}

TEST(rows_are_copied_when_the_root_moves_on) {
  Made made;
  made.run(300);
  label(made.graph());
  NodeId child = 1;  // the most visited one
  for (const EdgeId e : EdgeIds(made.graph().nodes[0]))
    if (made.graph().nodes[made.graph().edges[e].child].visits > made.graph().nodes[child].visits) child = made.graph().edges[e].child;
  std::vector<std::uint64_t> record(made.graph().rules.state_size / 8 + 1);
  auto* state = reinterpret_cast<std::byte*>(record.data());
  made.graph().states.load(child, state);
  made.search.advance(child, state, Keep::graph);
  CHECK(made.graph().size() > 10 && labelled(made.graph(), static_cast<NodeId>(made.graph().size())));
}

TEST(rows_are_saved_and_loaded) {
  Made made, other;
  made.run(300);
  label(made.graph());
  const Snapshot taken = Snapshots::take(made.search);
  Restore::into(other.search, taken);
  CHECK(labelled(other.graph(), static_cast<NodeId>(other.graph().size())));
  Snapshot bad = taken;
  bad.column("more_edge")->bytes.pop_back();
  Made third;
  bool refused = false;
  try {
    Restore::into(third.search, bad);
  } catch (const Damaged&) {
    refused = true;
  }
  CHECK(refused);
}

TEST(rows_are_taken_back) {
  Made made;
  made.run(200);
  label(made.graph());
  Graph& g = made.graph();
  const auto nodes = static_cast<NodeId>(g.size());
  Undo undo;
  undo.begin(g, true);
  for (NodeId id = 0; id < nodes; ++id) undo.remember(g, id);
  for (std::size_t i = 0; i < g.more_node.size(); ++i) g.more_node[i] = 3.25;
  for (std::size_t i = 0; i < g.more_edge.size(); ++i) g.more_edge[i] = 99;
  for (std::size_t i = 0; i < g.more_choice.size(); ++i) g.more_choice[i] = 3.25;
  CHECK(!labelled(g, nodes));
  undo.take_back(g, [](NodeId) {});
  CHECK(labelled(g, nodes));
}

TEST(rows_of_a_playout_that_failed_are_cut) {
  games::TableGame game;
  game.draw(5, 6, false);
  Config config;
  config.chance.exact_up_to = 3;
  const std::vector<std::int64_t> start = game.start();
  for (std::int64_t call = 40; call < 200; call += 3) {
    Search search(game.rules(), config, Made::hashing(), 0, reinterpret_cast<const std::byte*>(start.data()));
    Budget budget;
    budget.goals = {60};
    game.calls = 0;
    game.fail_at = call;
    try {
      Forest::run({&search}, budget, 1, [] { return true; });
    } catch (const Failure&) {
    }
    game.fail_at = 0;
    const Graph& g = search.graph();
    CHECK(g.more_node.size() == 2 * g.size() && g.more_edge.size() == g.edges.size() && g.more_choice.size() == g.priors.size());
  }
}

TEST(declared_columns_are_named) {
  Made made;
  std::vector<std::string> names;
  const auto show = [&](const auto& column) { names.push_back(column.name); };
  made.graph().each_node_column(show);
  made.graph().each_edge_column(show);
  made.graph().each_choice_column(show);
  for (const char* name : {"more_node", "more_edge", "more_choice"}) CHECK(std::find(names.begin(), names.end(), name) != names.end());
}
