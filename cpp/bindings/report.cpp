// What a search found, as arrays: tables of the root, edges, the principal variation, columns, variances.
#include "anabranch/targets.hpp"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "anabranch/moments.hpp"
#include "arrays.hpp"
#include "bindings.hpp"
#include "bound_search.hpp"

namespace {

// A column of the graph for NumPy, without a copy; the memory lives as long as the view.
template <class T, class Item>
nb::object view(const Column<T>& column, const Item* first, std::size_t count, std::size_t width, std::size_t stride_items) {
  auto* kept = new std::shared_ptr<void>(column.owner());
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::shared_ptr<void>*>(p); });
  const std::size_t shape[2] = {count, width};
  const std::int64_t strides[2] = {static_cast<std::int64_t>(stride_items), 1};
  return nb::cast(nb::ndarray<nb::numpy, const Item>(first, width == 1 ? 1 : 2, shape, owner, strides));
}

template <class T, class Item>
nb::object field(const Records<T>& records, const Item T::*member) {
  const Item* first = records.size() ? &(records[0].*member) : nullptr;
  return view(records.memory(), first, records.size(), 1, records.stride() / sizeof(Item));
}

template <class T>
nb::object doubles(const Records<T>& records, std::size_t offset, std::size_t count) {
  return view(records.memory(), records.size() ? records.doubles(0) + offset : nullptr, records.size(), count,
              records.stride() / sizeof(double));
}

// An array of [rows, width] out of what rows() copies, edge by edge: node by node, in the order they were made. Blocks of edges
// have room for more, and lie where it was free; none of that is shown.
template <class T, class Copy>
nb::object gathered(const Graph& g, std::size_t count, std::size_t width, const Copy& copy) {
  Buffer<T> made(count * width);
  T* to = made.data();
  for (NodeId id = 0; id < g.size(); ++id)
    for (const EdgeId e : EdgeIds(g.nodes[id])) {
      copy(id, e, to);
      to += width;
    }
  return width == 1 ? made.array({count}) : made.array({count, width});
}

// The records field by field, and every declared column under its name. What nodes have is shown without a copy.
nb::dict columns(const BoundSearch& s) {
  Search& search = idle(s);
  if (search.graph().rules.model)  // logits of nodes never selected at become priors
    for (NodeId id = 0; id < search.graph().size(); ++id)
      if (search.graph().nodes[id].kind == Kind::decision) search.expander().count_choices(id, search.graph().nodes[id]);
  const Graph& g = search.graph();
  nb::dict d;
  Buffer<std::uint64_t> starts(g.size());
  std::size_t count = 0;
  for (NodeId id = 0; id < g.size(); ++id) {
    starts.data()[id] = count;
    count += g.nodes[id].edge_count;
  }
  d["visits"] = field(g.nodes, &Node::visits);
  d["edges"] = starts.array({g.size()});
  d["edge_count"] = field(g.nodes, &Node::edge_count);
  d["choices"] = field(g.nodes, &Node::choices);
  d["rows"] = field(g.nodes, &Node::rows);
  const auto* kinds = reinterpret_cast<const std::uint8_t*>(&g.nodes[0].kind);
  d["kind"] = view(g.nodes.memory(), kinds, g.nodes.size(), 1, g.nodes.stride());
  d["mover"] = field(g.nodes, &Node::mover);
  d["value"] = doubles(g.nodes, 0, g.players);
  d["evaluation"] = doubles(g.nodes, g.players, g.players);
  d["edge_parent"] = gathered<std::uint32_t>(g, count, 1, [](NodeId id, EdgeId, std::uint32_t* to) { *to = id; });
  d["edge_visits"] = gathered<std::uint32_t>(g, count, 1, [&](NodeId, EdgeId e, std::uint32_t* to) { *to = g.edges[e].visits; });
  d["edge_child"] = gathered<std::uint32_t>(g, count, 1, [&](NodeId, EdgeId e, std::uint32_t* to) { *to = g.edges[e].child; });
  d["edge_move"] = gathered<std::uint32_t>(g, count, 1, [&](NodeId, EdgeId e, std::uint32_t* to) { *to = g.edges[e].move; });
  d["edge_flags"] = gathered<std::uint32_t>(g, count, 1, [&](NodeId, EdgeId e, std::uint32_t* to) { *to = g.edges[e].bits; });
  d["edge_value"] = gathered<double>(g, count, g.players, [&](NodeId id, EdgeId e, double* to) {
    for (std::size_t p = 0; p < g.players; ++p) to[p] = current_value(search, g.nodes[id], e, p);
  });
  const auto show = [&d](const auto& column) {
    d[column.name] = view(column, column.data(), column.size() / column.width, column.width, column.width);
  };
  g.each_node_column(show);
  g.each_choice_column(show);
  g.each_edge_column([&](const auto& column) {
    using Value = typename std::decay_t<decltype(column)>::Value;
    d[column.name] = gathered<Value>(g, count, column.width, [&](NodeId, EdgeId e, Value* to) { std::copy_n(column.row(e), column.width, to); });
  });
  return d;
}

// What a result tells: (policy, prior, q, policy to learn from), visits, Q of the root, how many nodes, whether the root is
// chance, the action of each player that a Gumbel search ended with (-1: none).
nb::tuple summary(BoundSearch& s) {
  Search& search = *s.search;
  const std::size_t players = search.graph().players, actions = static_cast<std::size_t>(search.graph().rules.actions), cells = players * actions;
  Buffer<double> numbers(4 * cells);
  Buffer<std::int64_t> counts(cells), chosen(players);
  const RootTables told{numbers.data(), numbers.data() + cells, numbers.data() + 2 * cells, counts.data(), chosen.data()};
  tell_root(search, told);
  tell_target(search, told, numbers.data() + 3 * cells);
  Buffer<double> value(players);
  std::copy_n(search.graph().mean(0), players, value.data());
  return nb::make_tuple(numbers.array({4, players, actions}), counts.array({players, actions}), value.array({players}),
                        search.graph().size(), search.graph().nodes[0].kind == Kind::chance, chosen.array({players}));
}

nb::list line_of_play(BoundSearch& s, const Actions& first) {
  nb::list line;
  for (const Actions& step : principal_variation(*s.search, first))
    line.append(step.size() == 1 ? nb::object(nb::int_(step[0])) : nb::object(nb::tuple(nb::cast(step))));
  return line;
}

// What many roots found, for who plays their games on: policies [N, P, A], policies to learn from [N, P, A], values [N, P], visits [N],
// priors without noise [N, P, A].
nb::tuple root_policies(const std::vector<BoundSearch*>& searches) {
  if (searches.empty()) throw nb::value_error("at least one search");
  const Graph& first = searches[0]->search->graph();
  const std::size_t count = searches.size(), players = first.players, actions = static_cast<std::size_t>(first.rules.actions), cells = players * actions;
  Buffer<double> policies(count * cells), targets(count * cells), values(count * players), priors(count * cells);
  Buffer<std::int64_t> visits(count);
  std::vector<double> unused(2 * cells);
  std::vector<std::int64_t> counts(cells), chosen(players);
  for (std::size_t i = 0; i < count; ++i)
    reporting(*searches[i], [&] {
      Search& search = *searches[i]->search;
      if (search.graph().players != players || static_cast<std::size_t>(search.graph().rules.actions) != actions)
        throw nb::value_error("searches of one number of players and actions");
      const RootTables told{policies.data() + i * cells, unused.data(), unused.data() + cells, counts.data(), chosen.data(), priors.data() + i * cells};
      tell_root(search, told);
      tell_target(search, told, targets.data() + i * cells);
      std::copy_n(search.graph().mean(0), players, values.data() + i * players);
      visits.data()[i] = static_cast<std::int64_t>(search.root_visits());
    });
  return nb::make_tuple(policies.array({count, players, actions}), targets.array({count, players, actions}), values.array({count, players}),
                        visits.array({count}), priors.array({count, players, actions}));
}

nb::list edges(BoundSearch& s, NodeId id) {
  if (id >= s.search->graph().size()) throw nb::index_error("no such node");
  nb::list rows;
  for (const EdgeReport& edge : edges_of(*s.search, id)) {
    const nb::object child = edge.child == kNone ? nb::none() : nb::object(nb::int_(edge.child));
    rows.append(nb::make_tuple(edge.actions, edge.visits, child, edge.value, edge.chance, edge.rewards));
  }
  return rows;
}

// None where no more is certain than at first; else (proven, distance, intervals, first intervals, width of a point) of the root and
// (actions, intervals, proven, distance) of its edges.
nb::object root_proof(BoundSearch& s) {
  Search& search = *s.search;
  if (!tells_proof(search)) return nb::none();
  const RootProof told = proof_of_root(search);
  nb::list edges;
  for (const ProofReport& edge : told.edges) edges.append(nb::make_tuple(edge.actions, edge.intervals, edge.proven, edge.distance));
  return nb::make_tuple(told.root.proven, told.root.distance, told.root.intervals, told.first.intervals, search.config().proof_width, edges);
}

// (kind, visits, value, evaluation, whether its outcomes were enumerated, intervals, whether it is proven) of a node.
nb::tuple node(const BoundSearch& s, NodeId id) {
  const Graph& g = idle(s).graph();
  if (id >= g.size()) throw nb::index_error("no such node");
  const char* const kinds[] = {"over", "chance", "decision"};
  const std::vector<double> value(g.mean(id), g.mean(id) + g.players), evaluation(g.evaluation(id), g.evaluation(id) + g.players);
  const Node& found = g.nodes[id];
  return nb::make_tuple(kinds[static_cast<std::size_t>(found.kind)], found.visits, value, evaluation, found.is(kExact), intervals_of(idle(s), id), found.is(kProven));
}

nb::tuple variances(const BoundSearch& s) {
  const Search& search = idle(s);
  const Graph& g = search.graph();
  const Moments moments(g, search.config());
  const Node& root = g.nodes[0];
  std::vector<double> nodes, edges;
  for (NodeId id = 0; id < g.size(); ++id)
    for (std::size_t p = 0; p < g.players; ++p) nodes.push_back(moments.node(id, p).variance);
  for (const EdgeId e : EdgeIds(root))
    for (std::size_t p = 0; p < g.players; ++p) edges.push_back(moments.edge(root, e, p).variance);
  const auto rows = [&g](std::vector<double>&& values) {
    Buffer<double> made(values.size());
    std::copy(values.begin(), values.end(), made.data());
    return made.array({values.size() / g.players, g.players});
  };
  return nb::make_tuple(rows(std::move(nodes)), rows(std::move(edges)));
}

nb::object value_range(const BoundSearch& s) {
  const Graph& g = idle(s).graph();
  Buffer<double> ends(2 * g.players);
  std::copy(g.low.begin(), g.low.end(), ends.data());
  std::copy(g.high.begin(), g.high.end(), ends.data() + g.players);
  return ends.array({2, g.players});
}

}  // namespace

void bind_report(nb::module_& m) {
  m.def("columns", &columns, nb::arg("search"), nb::sig("def columns(search: Search) -> dict[str, object]"), "The graph as NumPy views.");
  m.def("summary", [](BoundSearch& s) { return reporting(s, [&] { return summary(s); }); }, nb::arg("search"),
        nb::sig("def summary(search: Search) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int64], "
                "numpy.typing.NDArray[numpy.float64], int, bool, numpy.typing.NDArray[numpy.int64]]"),
        "(policy, prior, q, policy to learn from) and visits by player and action, the root's value, how many nodes, whether it is chance, what a Gumbel search ended with.");
  m.def("principal_variation", [](BoundSearch& s, const Actions& first) { return reporting(s, [&] { return line_of_play(s, first); }); },
        nb::arg("search"), nb::arg("first"), nb::sig("def principal_variation(search: Search, first: Sequence[int]) -> list[int | tuple[int, ...]]"),
        "The line that a search expects after what is played first; none: the most visited outcome.");
  m.def("root_policies", &root_policies, nb::arg("searches"),
        nb::sig("def root_policies(searches: Sequence[Search]) -> tuple[numpy.typing.NDArray[numpy.float64], "
                "numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int64], "
                "numpy.typing.NDArray[numpy.float64]]"),
        "Policies and policies to learn from by root, player and action, values by root and player, visits of the roots, priors without noise.");
  m.def("node", &node, nb::arg("search"), nb::arg("node"), nb::sig("def node(search: Search, node: int) -> tuple[str, int, list[float], list[float], bool, list[float], bool]"),
        "Kind, visits, value and evaluation of a node, whether its outcomes were enumerated, intervals (low and high of every player; none where proofs are off), whether it is proven.");
  m.def("chance_counts", [](const BoundSearch& s) {
          nb::list rows;
          for (const ChanceCount& row : chance_counts(idle(s).graph())) rows.append(nb::make_tuple(row[0], row[1], row[2], row[3], row[4], row[5]));
          return rows;
        }, nb::arg("search"), nb::sig("def chance_counts(search: Search) -> list[tuple[int, int, int, int, int, int]]"),
        "[(outcomes, nodes, enumerated, visits, stored, frozen)] of the chance nodes.");
  m.def("root_proof", [](BoundSearch& s) { return reporting(s, [&] { return root_proof(s); }); }, nb::arg("search"),
        nb::sig("def root_proof(search: Search) -> tuple[bool, float, list[float], list[float], float, list[tuple[list[int], list[float], bool, float]]] | None"),
        "What is certain of the root and its edges; None where no more is than at first.");
  m.def("edges", [](BoundSearch& s, NodeId id) { return reporting(s, [&] { return edges(s, id); }); }, nb::arg("search"), nb::arg("node"),
        nb::sig("def edges(search: Search, node: int) -> list[tuple[list[int], int, int | None, list[float], float, list[float]]]"),
        "[(actions, visits, child, value, probability, rewards)] in creation order.");
  m.def("variances", &variances, nb::arg("search"),
        nb::sig("def variances(search: Search) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]"),
        "The variance of the values below every node [nodes, P], and over every edge of the root [edges, P].");
  m.def("value_range", &value_range, nb::arg("search"),
        nb::sig("def value_range(search: Search) -> numpy.typing.NDArray[numpy.float64]"),
        "The least and the largest q(e) that the scale `graph` has seen [2, P]; infinite where it is not in use.");
}
