// Requests of roots searched together, as arrays; answers on their way back.
#include "anabranch/requests.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <vector>

#include "anabranch/forest.hpp"
#include "arrays.hpp"
#include "bindings.hpp"
#include "bound_rules.hpp"
#include "bound_search.hpp"

namespace {

using Array = nb::ndarray<nb::c_contig, nb::device::cpu, nb::ro>;

// Requests with what keeps their rules alive, and the states of object games.
struct BoundRequests {
  BoundRequests(const Rules& rules, nb::object held) : requests(rules), owner(std::move(held)) {}

  Requests requests;
  nb::object owner;
  nb::list states;
  std::uint64_t number = 0;  // which batch of its drive it is
};

template <class T, class Read>
nb::object column(const BoundRequests& r, const Read& read) {
  const std::size_t rows = r.requests.rows();
  Buffer<T> made(rows);
  for (std::size_t row = 0; row < rows; ++row) made.data()[row] = static_cast<T>(read(row));
  return made.array({rows});
}

nb::object records(const BoundRequests& r) {
  const std::size_t bytes = r.requests.rows() * r.requests.record_size();
  Buffer<std::uint8_t> made(bytes);
  if (bytes) std::memcpy(made.data(), r.requests.records(), bytes);
  return made.array({r.requests.rows(), r.requests.record_size()});
}

// An array of [rows, width] that compiled verbs fill, and the row where one failed.
template <class T, class Fill>
nb::tuple filled(const BoundRequests& r, std::size_t width, const Fill& fill) {
  Buffer<T> made(r.requests.rows() * width);
  std::int64_t failed = -1;
  {
    const nb::gil_scoped_release release;
    failed = fill(made.data());
  }
  return nb::make_tuple(made.array({r.requests.rows(), width}), failed);
}

Numbers numbers(const std::optional<Array>& given, std::size_t rows, const char* name) {
  Numbers made;
  if (!given) return made;
  if (given->dtype() == nb::dtype<float>()) made.single = static_cast<const float*>(given->data());
  else if (given->dtype() == nb::dtype<double>()) made.both = static_cast<const double*>(given->data());
  else throw nb::type_error((std::string(name) + " must be float32 or float64").c_str());
  made.wide = rows ? given->size() / rows : 0;
  if (given->size() != rows * made.wide) throw nb::value_error("one row of logits and values per request");
  return made;
}

// Roots searched together, with requests answered outside; the threads stay from wave to wave.
class Drive {
 public:
  Drive(const nb::list& searches, std::vector<std::uint64_t> goals, std::size_t threads) : owners_(searches), goals_(std::move(goals)) {
    for (const nb::handle& search : searches) bound_.push_back(nb::cast<BoundSearch*>(search));
    for (BoundSearch* s : bound_) roots_.push_back(s->search.get());
    if (goals_.size() != roots_.size()) throw nb::value_error("one goal per search");
    python_ = !bound_.empty() && bound_[0]->python;
    threads = std::min(threads, roots_.size());
    if (threads > 1 && !python_) team_ = std::make_unique<Team>(threads);
    for (std::size_t i = 0; i < roots_.size(); ++i) {  // columns that grow step by step are copied at every step
      Graph& graph = idle(*bound_[i]).graph();
      graph.reserve(graph.size() + std::min<std::uint64_t>(goals_[i], kExpected) + 1);
    }
  }

  // Let all roots go on until they ask: (what they ask or None, whether there is more to do without answers, a report or None).
  // Answers given before are used first, root by root: each graph is in the processor's caches once a wave.
  nb::tuple gather(bool late) {
    const std::vector<Given> given = std::move(given_);
    given_.clear();
    if (roots_.empty()) return nb::make_tuple(nb::none(), false, nb::none());
    auto made = std::make_unique<BoundRequests>(*bound_[0]->verbs, nb::tuple(owners_));  // as they are now: places change hands
    made->requests.reserve(roots_.size());
    const auto add = [&](std::size_t i) {
      const std::size_t first = made->requests.rows();
      made->requests.add(i, *roots_[i], *bound_[i]->verbs);
      if (bound_[i]->python && bound_[i]->python->of_objects())
        for (std::size_t row = first; row < made->requests.rows(); ++row)
          made->states.append(state_of(*bound_[i], made->requests.record(row), made->requests.record_size()));
    };
    const auto answered = [&](std::size_t i) {
      thread_local std::vector<double> buffer, other;
      for (const Given& each : given) {
        const auto [start, count] = each.rows[i];
        if (count > 0) roots_[i]->answer(each.logits.rows(start, count, buffer), each.logits.wide, each.values.rows(start, count, other));
      }
    };
    after_.assign(roots_.size(), Forest::After::rests);
    const bool at_once = !team_ && !python_;  // what a root asks is read while it is in the processor's caches
    nb::object told = attempt([&] {
      Forest::gather(roots_, goals_, late, team_.get(), answered, [&](std::size_t i) { if (at_once) add(i); }, after_);
    });
    if (!told.is_none()) {
      after_.clear();
      return nb::make_tuple(nb::none(), false, told);
    }
    bool more = false;
    for (std::size_t i = 0; i < roots_.size(); ++i) {
      more |= after_[i] == Forest::After::goes_on;
      if (!at_once && after_[i] == Forest::After::asks) add(i);
    }
    if (made->requests.rows() == 0) return nb::make_tuple(nb::none(), more, nb::none());
    made->number = asked_++;
    return nb::make_tuple(nb::cast(made.release(), nb::rv_policy::take_ownership), more, nb::none());
  }

  // Take the answers to the oldest requests not answered yet: logits [rows, …] or None, values [rows, players]. Roots use them
  // when they go on.
  void answer(const BoundRequests& asked, const std::optional<Array>& logits, const std::optional<Array>& values) {
    const Requests& requests = asked.requests;
    if (asked.number != answered_ || answered_ == asked_) throw nb::value_error("these requests are no longer open");
    Given given{numbers(logits, requests.rows(), "logits"), numbers(values, requests.rows(), "values"), {}, {}};
    if (logits) given.arrays.push_back(*logits);
    if (values) given.arrays.push_back(*values);
    if (given.values.wide != requests.players()) throw nb::value_error("one value per player");
    given.rows.resize(roots_.size());
    std::size_t at = 0;
    for (const Requests::Root& root : requests.roots) {
      given.rows.at(root.index) = {at, root.count};
      at += root.count;
    }
    given_.push_back(std::move(given));
    ++answered_;
  }

  // Give a place to another root, or to the same one with another goal; nothing of the place may be in flight.
  void put(std::size_t place, const nb::object& search, std::uint64_t goal) {
    BoundSearch* bound = nb::cast<BoundSearch*>(search);
    if (place >= roots_.size()) throw nb::index_error("no such place");
    if (idle(*bound_[place]).in_flight() || idle(*bound).in_flight()) throw nb::value_error("its waves are in flight");
    if (!!bound->python != python_) throw nb::value_error("rules in Python and compiled ones");
    owners_[place] = search;
    bound_[place] = bound;
    roots_[place] = bound->search.get();
    goals_[place] = goal;
    if (!after_.empty()) after_[place] = Forest::After::rests;
  }

  // The places whose roots have nothing more to do: over, solved, or at their goal, and nothing in flight.
  std::vector<std::size_t> resting() const {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < roots_.size(); ++i)
      if (may_rest(i) && !roots_[i]->in_flight() &&
          (roots_[i]->over() || (roots_[i]->root_ready() && (roots_[i]->solved() || roots_[i]->root_visits() >= goals_[i]))))
        places.push_back(i);
    return places;
  }

  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(owners_.ptr());
    return 0;
  }
  void clear() { owners_ = nb::list(); }

 private:
  // Answers that roots have not used yet: the arrays stay alive until then.
  struct Given {
    Numbers logits, values;
    std::vector<Array> arrays;
    std::vector<std::pair<std::size_t, std::size_t>> rows;  // of each root: its first row, and how many
  };

  // Do something to all searches, without the GIL unless rules in Python need it; a report of what failed, or None.
  template <class Action>
  nb::object attempt(const Action& action) {
    std::optional<Failure> failed;
    {
      const Busy busy(bound_);
      std::optional<nb::gil_scoped_release> release;
      if (!python_) release.emplace();
      try {
        action();
      } catch (const Failure& failure) {
        failed = failure;
      }
    }
    if (!failed) return nb::none();
    std::size_t root = 0;
    while (roots_[root] != failed->search) ++root;
    nb::dict told = report(*failed, *bound_[root]);
    told["root"] = root;
    for (BoundSearch* s : bound_) s->forget();
    return told;
  }

  // Whether a root may have nothing more to do: most ask, or were interrupted, and need not be looked at.
  bool may_rest(std::size_t place) const { return after_.empty() || after_[place] == Forest::After::rests; }

  static constexpr std::uint64_t kExpected = 512;  // nodes to make room for at once

  nb::list owners_;
  std::vector<BoundSearch*> bound_;
  std::vector<Search*> roots_;
  std::vector<std::uint64_t> goals_;
  std::unique_ptr<Team> team_;
  bool python_ = false;  // whether rules run as Python
  std::vector<Forest::After> after_;  // what each root did last, or was put in its place (`rests`); empty: nobody knows
  std::vector<Given> given_;
  std::uint64_t asked_ = 0, answered_ = 0;  // batches of requests
};

}  // namespace

void bind_requests(nb::module_& m) {
  nb::class_<BoundRequests>(m, "Requests", "States that need evaluations, as columns.")
      .def("__len__", [](const BoundRequests& r) { return r.requests.rows(); })
      .def_prop_ro("records", &records, nb::sig("def records(self) -> numpy.typing.NDArray[numpy.uint8]"))
      .def_prop_ro("keys", [](const BoundRequests& r) { return column<std::uint64_t>(r, [&](std::size_t row) { return r.requests.key(row); }); },
                   nb::sig("def keys(self) -> numpy.typing.NDArray[numpy.uint64]"))
      .def_prop_ro("seeds", [](const BoundRequests& r) { return column<std::uint64_t>(r, [&](std::size_t row) { return r.requests.seed(row); }); },
                   nb::sig("def seeds(self) -> numpy.typing.NDArray[numpy.uint64]"))
      .def_prop_ro("turns", [](const BoundRequests& r) { return column<std::int64_t>(r, [&](std::size_t row) { return r.requests.turn(row); }); },
                   nb::sig("def turns(self) -> numpy.typing.NDArray[numpy.int64]"))
      .def_prop_ro("movers", [](const BoundRequests& r) { return column<std::int64_t>(r, [&](std::size_t row) { return r.requests.mover(row); }); },
                   nb::sig("def movers(self) -> numpy.typing.NDArray[numpy.int64]"))
      .def_prop_ro("root_of_rows",
                   [](const BoundRequests& r) { return column<std::uint32_t>(r, [&](std::size_t row) { return r.requests.root_of(row); }); },
                   nb::sig("def root_of_rows(self) -> numpy.typing.NDArray[numpy.uint32]"))
      .def_prop_ro("first_root", [](const BoundRequests& r) { return r.requests.roots[0].index; }, "The first of the roots that have rows.")
      .def_prop_ro("joint", [](const BoundRequests& r) { return r.requests.joint(); }, "Whether players choose at once in any of them.")
      .def_prop_ro("states", [](const BoundRequests& r) { return r.states; }, nb::sig("def states(self) -> list[object]"), "Of object games.")
      .def_prop_ro("roots",
                   [](const BoundRequests& r) {
                     std::vector<std::size_t> indices;
                     for (const Requests::Root& root : r.requests.roots) indices.push_back(root.index);
                     return indices;
                   },
                   "Which of the searches gathered have rows.")
      .def("observe",
           [](const BoundRequests& r, bool joint) {
             const std::size_t width = r.requests.seats(joint) * r.requests.plane_floats();
             return filled<float>(r, width, [&](float* to) { return r.requests.observe(joint, to); });
           },
           nb::arg("joint"), nb::sig("def observe(self, joint: bool) -> tuple[numpy.typing.NDArray[numpy.float32], int]"))
      .def("roll_out",
           [](const BoundRequests& r, const NativeEvaluator& evaluator, double discount) {
             return filled<double>(r, r.requests.players(), [&](double* to) { return r.requests.roll_out(evaluator, discount, to); });
           },
           nb::arg("evaluator"), nb::arg("discount"),
           nb::sig("def roll_out(self, evaluator: NativeEvaluator, discount: float) -> tuple[numpy.typing.NDArray[numpy.float64], int]"))
      .def("legal",
           [](const BoundRequests& r, bool joint) {
             const std::size_t width = r.requests.seats(joint) * r.requests.actions();
             return filled<bool>(r, width, [&](bool* to) { return r.requests.legal(joint, to); });
           },
           nb::arg("joint"), nb::sig("def legal(self, joint: bool) -> tuple[numpy.typing.NDArray[numpy.bool_], int]"))
      .def("first_bad",
           [](const BoundRequests& r, const std::optional<Array>& logits, const std::optional<Array>& values, double low, double high) {
             const std::size_t rows = r.requests.rows();
             return r.requests.first_bad(numbers(logits, rows, "logits"), numbers(values, rows, "values"), low, high);
           },
           nb::arg("logits").none(), nb::arg("values"), nb::arg("low"), nb::arg("high"),
           nb::sig("def first_bad(self, logits: numpy.typing.NDArray[numpy.floating] | None, "
                   "values: numpy.typing.NDArray[numpy.floating], low: float, high: float) -> int"),
           "The first row whose numbers cannot be used, -1 if all can, -2 if all can and a value lies outside of [low, high].");
  nb::class_<Drive>(m, "Drive", nb::type_slots(Collected<Drive>::slots), "Roots searched together, with requests answered outside.")
      .def(nb::init<const nb::list&, std::vector<std::uint64_t>, std::size_t>(), nb::arg("searches"), nb::arg("goals"), nb::arg("threads"),
           nb::sig("def __init__(self, searches: list[Search], goals: Sequence[int], threads: int) -> None"))
      .def("gather", &Drive::gather, nb::arg("late"),
           nb::sig("def gather(self, late: bool) -> tuple[Requests | None, bool, dict[str, object] | None]"),
           "Go on until roots ask: (what they ask, whether there is more to do without answers, a report of what failed).")
      .def("answer", &Drive::answer, nb::arg("requests"), nb::arg("logits").none(), nb::arg("values"),
           nb::sig("def answer(self, requests: Requests, logits: numpy.typing.NDArray[numpy.floating] | None, "
                   "values: numpy.typing.NDArray[numpy.floating]) -> None"),
           "Give roots the evaluations they asked for, which they use when they go on.")
      .def("put", &Drive::put, nb::arg("place"), nb::arg("search"), nb::arg("goal"),
           nb::sig("def put(self, place: int, search: Search, goal: int) -> None"),
           "Give a place to another root, or to the same one with another goal.")
      .def("resting", &Drive::resting, "The places whose roots are over or at their goals, with nothing in flight.");
}
