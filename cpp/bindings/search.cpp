// Searches: one graph per root, driven from Python.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <vector>

#include "anabranch/forest.hpp"
#include "bindings.hpp"
#include "bound_rules.hpp"
#include "bound_search.hpp"

namespace {

std::vector<std::byte> root_record(const Rules& rules, const nb::object& state, PythonRules* python) {
  std::vector<std::byte> record(rules.state_size);
  if (python && python->numbered()) {
    const std::uint64_t number = python->number(state);
    std::memcpy(record.data(), &number, 8);
  } else {
    const auto data = nb::cast<nb::bytes>(state);
    if (data.size() != rules.state_size) throw nb::value_error("the state does not have the size of the game's records");
    std::memcpy(record.data(), data.data(), data.size());
  }
  return record;
}

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

nb::dict columns(const BoundSearch& s) {
  const Graph& g = idle(s).graph();
  nb::dict d;
  d["visits"] = field(g.nodes, &Node::visits);
  d["edges"] = field(g.nodes, &Node::edges);
  d["edge_count"] = field(g.nodes, &Node::edge_count);
  d["choices"] = field(g.nodes, &Node::choices);
  d["parent"] = field(g.nodes, &Node::parent);
  const auto* kinds = reinterpret_cast<const std::uint8_t*>(&g.nodes[0].kind);
  d["kind"] = view(g.nodes.memory(), kinds, g.nodes.size(), 1, g.nodes.stride());
  d["mover"] = field(g.nodes, &Node::mover);
  d["key"] = view(g.hashes, g.hashes.data(), g.hashes.size(), 1, 1);
  d["value"] = doubles(g.nodes, 0, g.players);
  d["evaluation"] = doubles(g.nodes, g.players, g.players);
  d["edge_visits"] = field(g.edges, &Edge::visits);
  d["edge_child"] = field(g.edges, &Edge::child);
  d["edge_move"] = field(g.edges, &Edge::move);
  d["edge_flags"] = field(g.edges, &Edge::bits);
  d["edge_value"] = doubles(g.edges, 0, g.players);
  return d;
}

// What the root knows, one row per player and one column per action: policy, prior and q (0, 0 and NaN where there is nothing
// to tell), and visits.
nb::tuple tables_of(BoundSearch& s) {
  Search& search = *s.search;
  const Graph& g = search.graph();
  const auto actions = static_cast<std::size_t>(g.rules.actions);
  const std::size_t cells = g.players * actions;
  auto numbers = std::make_unique<double[]>(3 * cells);
  auto counts = std::make_unique<std::int64_t[]>(cells);
  std::fill_n(&numbers[2 * cells], cells, std::nan(""));
  const Node node = g.nodes[0];
  if (node.kind == Kind::decision && search.root_ready()) {
    search.load(0);
    Table alone;
    alone.players = {node.mover};
    alone.starts = {0};
    const Table& table = node.acting == 1 ? alone : g.tables[node.choices];
    for (std::size_t i = 0; i < table.players.size(); ++i) {
      const std::size_t player = table.players[i];
      std::vector<std::int32_t> ids;
      search.position().append_choices(static_cast<std::int32_t>(player), ids);
      const std::size_t known = node.acting > 1 ? table.sizes[i] : node.choices;  // 0: not selected at yet
      if (known != 0 && ids.size() != known) search.position().fail("legal", static_cast<std::int32_t>(player));  // a lying game
      std::vector<double> visits(ids.size(), 0.0), totals(ids.size(), 0.0);
      double all = 0.0;
      for (EdgeId e = node.edges; e < node.edges + node.edge_count; ++e) {
        const double times = g.edges[e].visits;
        if (times == 0.0) continue;
        const std::uint32_t choice = node.acting == 1 ? g.edges[e].move : table.choice(g.edges[e].move, i);
        const double q = g.edges[e].is(kShared) ? child_value(g, e, player, search.config().discount, search.config()) : g.value(e)[player];
        visits[choice] += times;
        totals[choice] += node.acting == 1 ? q : times * q;
        all += times;
      }
      for (std::size_t a = 0; a < ids.size(); ++a) {
        const std::size_t at = player * actions + static_cast<std::size_t>(ids[a]);
        const double prior = static_cast<double>(node.priors == kNone ? search.chooser().uniform_prior(ids.size())
                                                                      : g.priors[node.priors + table.starts[i] + a]);
        numbers[at] = all > 0.0 ? visits[a] / all : prior;
        numbers[cells + at] = prior;
        if (visits[a] > 0.0) numbers[2 * cells + at] = node.acting == 1 ? totals[a] : totals[a] / visits[a];
        counts[at] = static_cast<std::int64_t>(visits[a]);
      }
    }
  }
  const nb::capsule own_numbers(numbers.get(), [](void* p) noexcept { delete[] static_cast<double*>(p); });
  const nb::capsule own_counts(counts.get(), [](void* p) noexcept { delete[] static_cast<std::int64_t*>(p); });
  return nb::make_tuple(nb::ndarray<nb::numpy, double>(numbers.release(), {3, g.players, actions}, own_numbers),
                        nb::ndarray<nb::numpy, std::int64_t>(counts.release(), {g.players, actions}, own_counts));
}

// The line the search expects: from the root along the most visited edge, the first of equals.
nb::list line_of(BoundSearch& s) {
  Search& search = *s.search;
  const Graph& g = search.graph();
  nb::list line;
  std::unordered_set<NodeId> seen;
  for (NodeId at = 0; at != kNone && seen.insert(at).second;) {
    const Node& node = g.nodes[at];
    EdgeId best = node.edges;
    for (EdgeId e = node.edges; e < node.edges + node.edge_count; ++e)
      if (g.edges[e].visits > g.edges[best].visits) best = e;
    if (node.edge_count == 0 || g.edges[best].visits == 0) break;
    line.append(search.actions_of(at, g.edges[best].move));
    at = g.edges[best].child;
  }
  return line;
}

// The edges of a node: (actions, visits, child or None, value per player, probability).
nb::list edges_of(BoundSearch& s, NodeId id) {
  Search& search = *s.search;
  Graph& g = search.graph();
  if (id >= g.size()) throw nb::index_error("no such node");
  nb::list rows;
  const Node node = g.nodes[id];
  for (EdgeId e = node.edges; e < node.edges + node.edge_count; ++e) {
    const Edge edge = g.edges[e];
    nb::object child = nb::none();
    if (edge.child != kNone) {
      read_child(g, e, discount_of(node, search.config()), search.config());
      child = nb::int_(edge.child);
    }
    std::vector<double> q(g.value(e), g.value(e) + g.players);
    double chance = 1.0;
    if (node.kind == Kind::chance) chance = g.rules.chance ? g.distributions[node.choices].chances[edge.move] : std::nan("");
    rows.append(nb::make_tuple(search.actions_of(id, edge.move), g.edges[e].visits, child, q, chance));
  }
  return rows;
}

// Run searches with native evaluators: (simulations per search, None or a report of what failed).
nb::object run(const std::vector<BoundSearch*>& searches, std::vector<std::uint64_t> goals, std::optional<double> seconds,
               std::size_t threads) {
  if (goals.size() != searches.size()) throw nb::value_error("one goal per search");
  std::vector<Search*> roots;
  for (BoundSearch* s : searches) roots.push_back(s->search.get());
  Budget budget;
  budget.goals = std::move(goals);
  if (seconds && *seconds < 1e9)  // else longer than anybody waits, and more than a clock holds
    budget.deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(*seconds));
  std::optional<nb::python_error> interrupted;
  std::vector<std::uint64_t> done;
  std::optional<Failure> failed;
  const Busy busy(searches);
  {
    const nb::gil_scoped_release release;
    try {
      done = Forest::run(roots, budget, threads, [&interrupted] {
        const nb::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() == 0) return true;
        interrupted.emplace();  // takes the exception over; verbs called meanwhile must not see it
        return false;
      });
    } catch (const Failure& failure) {
      failed = failure;
    }
  }
  if (interrupted) throw std::move(*interrupted);
  if (!failed) return nb::make_tuple(done, nb::none());
  std::size_t root = 0;
  while (root < searches.size() && searches[root]->search.get() != failed->search) ++root;
  nb::dict told = report(*failed, *searches[root]);
  told["root"] = root;
  for (BoundSearch* s : searches) s->forget();  // others may have failed too
  return nb::make_tuple(nb::none(), told);
}

void advance(BoundSearch& s, const std::vector<std::int32_t>& actions, const nb::object& state, const std::string& keep) {
  Search& search = idle(s);
  const std::vector<std::byte> record = root_record(search.graph().rules, state, s.python);
  const Keep kept = keep == "graph" ? Keep::graph : keep == "evaluations" ? Keep::evaluations : Keep::nothing;
  if (actions.size() != search.graph().players) throw nb::value_error("one action per player");
  reporting(s, [&] { search.advance(search.child_of(actions), record.data(), kept); });
}

std::vector<std::vector<float>> root_priors(BoundSearch& s) {
  Search& search = *s.search;
  if (!search.root_ready() || search.graph().nodes[0].kind != Kind::decision) return {};
  const std::vector<float> all = search.root_priors();
  const Node& root = search.graph().nodes[0];
  if (root.acting == 1) return {all};
  std::vector<std::vector<float>> rows;
  const Table& table = search.graph().tables[root.choices];
  for (std::size_t i = 0; i < table.sizes.size(); ++i)
    rows.emplace_back(all.begin() + table.starts[i], all.begin() + table.starts[i] + table.sizes[i]);
  return rows;
}

void set_root_priors(BoundSearch& s, const std::vector<std::vector<float>>& priors) {
  std::vector<float> all;
  for (const std::vector<float>& row : priors) all.insert(all.end(), row.begin(), row.end());
  reporting(s, [&] {
    if (all.size() != s.search->root_priors().size()) throw nb::value_error("one prior per choice of the root");
    s.search->set_root_priors(all);
  });
}

}  // namespace

void bind_search(nb::module_& m) {
  const auto name = nb::cast<std::string>(m.attr("__name__")) + ".SearchFailed";
  search_failed = PyErr_NewException(name.c_str(), nullptr, nullptr);
  m.attr("SearchFailed") = nb::borrow(search_failed);
  nb::class_<PythonRules>(m, "PythonRules", nb::type_slots(Collected<PythonRules>::slots), "Rules that run as Python, for the engine.")
      .def(nb::init<nb::object, std::size_t, std::size_t, std::int32_t, std::int32_t, std::int32_t, bool, bool, bool, bool>(),
           nb::arg("verbs"), nb::arg("state_size"), nb::arg("key_size"), nb::arg("players"), nb::arg("actions"),
           nb::arg("outcomes"), nb::arg("has_chance"), nb::arg("has_draw"), nb::arg("has_same"), nb::arg("has_bounds"));

  nb::class_<BoundSearch>(m, "Search", nb::type_slots(Collected<BoundSearch>::slots), "One root and its graph.")
      .def("__init__",
           [](BoundSearch* self, nb::object rules, const Config& config, const NativeEvaluator& evaluator, std::uint64_t stream,
              const nb::object& state, nb::object owner) {
             BoundSearch made;
             made.owner = nb::make_tuple(rules, owner);
             if (nb::isinstance<PythonRules>(rules)) made.python = nb::cast<PythonRules*>(rules);
             const Rules& verbs = made.python ? made.python->rules : nb::cast<BoundRules*>(rules)->rules;
             made.verbs = &verbs;
             const std::vector<std::byte> record = root_record(verbs, state, made.python);
             reporting(made, [&] {
               made.search = std::make_unique<Search>(verbs, config, evaluator, stream, record.data());
             });
             new (self) BoundSearch(std::move(made));
           },
           nb::arg("rules"), nb::arg("config"), nb::arg("evaluator"), nb::arg("stream"), nb::arg("state"), nb::arg("owner").none())
      .def_prop_ro("nodes", [](const BoundSearch& s) { return idle(s).graph().size(); })
      .def_prop_ro("bytes", [](const BoundSearch& s) { return idle(s).graph().bytes(); })
      .def_prop_ro("over", [](const BoundSearch& s) { return idle(s).over(); })
      .def_prop_ro("ready", [](const BoundSearch& s) { return idle(s).root_ready(); })
      .def_prop_ro("root_visits", [](const BoundSearch& s) { return idle(s).root_visits(); })
      .def_prop_ro("evaluation_seed", [](const BoundSearch& s) { return s.search->draws().evaluation(); })
      .def("columns", &columns, nb::sig("def columns(self) -> dict[str, object]"), "The graph as NumPy views.")
      .def("tables", [](BoundSearch& s) { return reporting(s, [&] { return tables_of(s); }); },
           nb::sig("def tables(self) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int64]]"),
           "(policy, prior, q) and visits of the root's players, by player and action.")
      .def("expected_line", [](BoundSearch& s) { return reporting(s, [&] { return line_of(s); }); },
           nb::sig("def expected_line(self) -> list[list[int]]"), "The actions along the most visited edges.")
      .def_prop_ro("value",
                   [](const BoundSearch& s) {
                     const Graph& g = s.search->graph();
                     return std::vector<double>(g.mean(0), g.mean(0) + g.players);
                   },
                   "Q of the root.")
      .def("edges", [](BoundSearch& s, NodeId id) { return reporting(s, [&] { return edges_of(s, id); }); }, nb::arg("node"),
           nb::sig("def edges(self, node: int) -> list[tuple[list[int], int, int | None, list[float], float]]"),
           "[(actions, visits, child, value, probability)] in creation order.")
      .def("state", [](BoundSearch& s, NodeId id) {
             if (id >= idle(s).graph().size()) throw nb::index_error("no such node");
             s.search->load(id);
             return state_of(s, s.search->position().state(), s.search->graph().rules.state_size);
           }, nb::arg("node"))
      .def("line", [](BoundSearch& s) { return reporting(s, [&] { return s.search->line_of_question(); }); },
           "The actions from the root to the first state it asks about.")
      .def("undo", [](BoundSearch& s) { idle(s).undo(); }, "Drop the waves in flight.")
      .def_prop_ro("in_flight", [](const BoundSearch& s) { return idle(s).in_flight(); }, "Whether waves wait for answers.")
      .def_prop_rw("root_number", [](const BoundSearch& s) { return idle(s).root_number(); },
                   [](BoundSearch& s, std::uint64_t number) { idle(s).set_root_number(number); }, "How often the root moved on.")
      .def("advance", &advance, nb::arg("actions"), nb::arg("state"), nb::arg("keep"),
           "Make the state after the actions of all players (or an outcome, as the first) the root.")
      .def_prop_ro("noised", [](const BoundSearch& s) { return idle(s).noised(); }, "Whether other priors are used at the root.")
      .def("root_priors", [](BoundSearch& s) { return reporting(s, [&] { return root_priors(s); }); },
           nb::sig("def root_priors(self) -> list[list[float]]"), "The root's priors, one list per acting player, over its choices.")
      .def("set_root_priors", &set_root_priors, nb::arg("priors"), "Use other priors at the root until it moves on.")
      .def("set_forced", [](BoundSearch& s, double k) { reporting(s, [&] { s.search->set_forced(k); }); }, nb::arg("k"),
           "Force visits at the root, as k of sqrt(k P N); 0: none.");

  m.def("run", &run, nb::arg("searches"), nb::arg("goals"), nb::arg("seconds").none(), nb::arg("threads"),
        nb::sig("def run(searches: Sequence[Search], goals: Sequence[int], seconds: float | None, threads: int) -> "
                "tuple[list[int], None] | tuple[None, dict[str, object]]"),
        "Search with native evaluators: (simulations per search, None), or (None, a report of what failed).");
}
