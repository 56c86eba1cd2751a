// Searches: one graph per root, driven from Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "anabranch/forest.hpp"
#include "anabranch/report.hpp"
#include "anabranch/root_noise.hpp"
#include "bindings.hpp"
#include "bound_rules.hpp"
#include "bound_search.hpp"
#include "object_rules.hpp"

namespace {

std::vector<std::byte> root_record(const Rules& rules, const nb::object& state, PythonRules* python) {
  std::vector<std::byte> record(rules.state_size);
  if (python) {
    python->write(state, record.data());
  } else {
    const auto data = nb::cast<nb::bytes>(state);
    if (data.size() != rules.state_size) throw nb::value_error("the state does not have the size of the game's records");
    std::memcpy(record.data(), data.data(), data.size());
  }
  return record;
}

void advance(BoundSearch& s, const std::vector<std::int32_t>& actions, const nb::object& state, const std::string& keep) {
  Search& search = idle(s);
  const std::vector<std::byte> record = root_record(search.graph().rules, state, s.python);
  const Keep kept = keep == "graph" ? Keep::graph : keep == "evaluations" ? Keep::evaluations : Keep::nothing;
  if (actions.size() != search.graph().players) throw nb::value_error("one action per player");
  reporting(s, [&] {
    search.advance(search.child_of(actions), record.data(), kept);
    s.tidy();
  });
}

// Give a root the Gumbel noise of its acting players' choices, one after the other, in place of what it would draw.
void set_gumbel(BoundSearch& s, const std::vector<double>& noise) {
  Search& search = idle(s);
  RootRule& rule = search.unused_root_rule();
  rule = search.root_rule();
  rule.gumbel = noise;
  search.use_root_rule();
}

}  // namespace

nb::object run(const std::vector<BoundSearch*>& searches, std::vector<std::uint64_t> goals, std::optional<double> seconds,
               std::size_t threads) {
  if (goals.size() != searches.size()) throw nb::value_error("one goal per search");
  std::vector<Search*> roots;
  for (BoundSearch* s : searches) roots.push_back(s->search.get());
  Budget budget;
  budget.goals = std::move(goals);
  if (seconds && *seconds < 1e9)  // else longer than anybody waits, and more than a clock holds
    budget.deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(*seconds));
  // Rules in Python need the GIL at every step, so this thread keeps it, and others would only wait for it.
  const bool python = std::any_of(searches.begin(), searches.end(), [](const BoundSearch* s) { return s->python; });
  if (python) threads = 1;
  std::optional<nb::python_error> interrupted;
  std::vector<std::uint64_t> done;
  std::optional<Failure> failed;
  const Busy busy(searches);
  {
    std::optional<nb::gil_scoped_release> release;
    if (!python) release.emplace();
    try {
      done = Forest::run(roots, budget, threads, [&] {
        if (python) {
          const nb::gil_scoped_release others_first;
        }
        const nb::gil_scoped_acquire gil;
        for (BoundSearch* s : searches) s->tidy();
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

void set_root_rules(const std::vector<BoundSearch*>& searches, const std::vector<std::uint64_t>& goals, bool noise, double weight, double alpha,
                    double total, double forced) {
  if (goals.size() != searches.size()) throw nb::value_error("one goal per search");
  const Busy busy(searches);
  for (std::size_t i = 0; i < searches.size(); ++i) {
    searches[i]->search->enter();
    try {
      set_root_rule(*searches[i]->search, {noise, weight, alpha, total}, forced, goals[i]);
    } catch (const Failure& failure) {
      raise_report(failure, *searches[i]);
    }
  }
}

void bind_search(nb::module_& m) {
  const auto name = nb::cast<std::string>(m.attr("__name__")) + ".SearchFailed";
  search_failed = PyErr_NewException(name.c_str(), nullptr, nullptr);
  m.attr("SearchFailed") = nb::borrow(search_failed);
  nb::class_<PythonRules>(m, "PythonRules", nb::type_slots(Collected<PythonRules>::slots), "Rules that run as Python, for the engine.");
  nb::class_<RecordRules, PythonRules>(m, "RecordRules", nb::type_slots(Collected<RecordRules>::slots), "Of a record game that is not compiled.")
      .def(nb::init<nb::object, std::size_t, std::size_t, std::int32_t, std::int32_t, std::int32_t, bool, bool, bool, bool>(),
           nb::arg("verbs"), nb::arg("state_size"), nb::arg("key_size"), nb::arg("players"), nb::arg("actions"),
           nb::arg("outcomes"), nb::arg("has_chance"), nb::arg("has_draw"), nb::arg("has_same"), nb::arg("has_bounds"));
  nb::class_<ObjectRules, PythonRules>(m, "ObjectRules", nb::type_slots(Collected<ObjectRules>::slots), "Of a game of Python objects.")
      .def(nb::init<const nb::object&, const nb::object&, std::int32_t, std::int32_t, std::int32_t, bool, bool, bool, bool, bool, bool>(),
           nb::arg("game"), nb::arg("checked"), nb::arg("players"), nb::arg("actions"), nb::arg("outcomes"), nb::arg("has_chance"),
           nb::arg("has_draw"), nb::arg("has_same"), nb::arg("has_bounds"), nb::arg("has_key"), nb::arg("has_playout"))
      .def_prop_ro("held", &ObjectRules::held, "How many states there are that a search may come back to.")
      .def_prop_ro_static("rollout", [](nb::handle) { return reinterpret_cast<std::uintptr_t>(&ObjectRules::rollout); },
                          "The address of their rollout, for an evaluator.");

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
             try {
               made.search = std::make_unique<Search>(verbs, config, evaluator, stream, record.data());
             } catch (const Failure& failure) {
               raise_report(failure, made);
             }
             new (self) BoundSearch(std::move(made));
           },
           nb::arg("rules"), nb::arg("config"), nb::arg("evaluator"), nb::arg("stream"), nb::arg("state"), nb::arg("owner").none())
      .def_prop_ro("nodes", [](const BoundSearch& s) { return idle(s).graph().size(); })
      .def_prop_ro("bytes", [](const BoundSearch& s) { return idle(s).bytes(); })
      .def_prop_ro("over", [](const BoundSearch& s) { return idle(s).over(); })
      .def_prop_ro("solved", [](const BoundSearch& s) { return idle(s).solved(); }, "Whether the root's exact value is known.")
      .def_prop_ro("ready", [](const BoundSearch& s) { return idle(s).root_ready(); })
      .def_prop_ro("root_visits", [](const BoundSearch& s) { return idle(s).root_visits(); })
      .def_prop_ro("evaluation_seed", [](const BoundSearch& s) { return s.search->draws().evaluation(); })
      .def("state", [](BoundSearch& s, NodeId id) {
             if (id >= idle(s).graph().size()) throw nb::index_error("no such node");
             idle(s).load(id);
             return state_of(s, s.search->position().state(), s.search->graph().rules.state_size);
           }, nb::arg("node"))
      .def("line", [](BoundSearch& s) { return reporting(s, [&] { return line_of_request(*s.search); }); },
           "The actions from the root to the first state it asks about.")
      .def("hold", [](BoundSearch& s) { s.holder = PyThread_get_thread_ident(); }, "Keep other threads away until it is let go.")
      .def("let_go", [](BoundSearch& s) { s.holder = 0; })
      .def("undo", [](BoundSearch& s) { idle(s).undo(); }, "Drop the waves in flight.")
      .def_prop_ro("in_flight", [](const BoundSearch& s) { return idle(s).in_flight(); }, "Whether waves wait for answers.")
      .def_prop_rw("root_number", [](const BoundSearch& s) { return idle(s).root_number(); },
                   [](BoundSearch& s, std::uint64_t number) { idle(s).set_root_number(number); }, "How often the root moved on.")
      .def("advance", &advance, nb::arg("actions"), nb::arg("state"), nb::arg("keep"),
           "Make the state after the actions of all players (or an outcome, as the first) the root.")
      .def_prop_ro("ruled", [](const BoundSearch& s) { return idle(s).root_rule().holds(); }, "Whether a rule of its own holds at the root.")
      .def_prop_ro("noised", [](const BoundSearch& s) { return !idle(s).root_rule().priors.empty(); }, "Whether the root has priors of its own.");

  m.def("set_gumbel", &set_gumbel, nb::arg("search"), nb::arg("noise"),
        "Give a root the Gumbel noise of its acting players' choices in place of what it would draw, until it moves on.");
  m.def("set_root_rules", &set_root_rules, nb::arg("searches"), nb::arg("goals"), nb::arg("noise"), nb::arg("weight"), nb::arg("alpha"), nb::arg("total"),
        nb::arg("forced"), "What holds at roots until they move on: noise on their priors, drawn once, the k of forced visits, plans towards goals.");
  m.def("run", &run, nb::arg("searches"), nb::arg("goals"), nb::arg("seconds").none(), nb::arg("threads"),
        nb::sig("def run(searches: Sequence[Search], goals: Sequence[int], seconds: float | None, threads: int) -> "
                "tuple[list[int], None] | tuple[None, dict[str, object]]"),
        "Search with native evaluators: (simulations per search, None), or (None, a report of what failed).");
}
