// Learned models: what is known of one, roots planned in it together, transitions as arrays.
#include "anabranch/plan.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "anabranch/report.hpp"
#include "arrays.hpp"
#include "bindings.hpp"
#include "bound_search.hpp"

namespace {

using Array = nb::ndarray<nb::c_contig, nb::device::cpu, nb::ro>;

// A model with what keeps its function and its numbers alive.
struct BoundModel {
  BoundModel(std::int32_t players, std::int32_t actions, std::int32_t outcomes, bool masks, bool discounts) {
    model.players = players;
    model.actions = actions;
    model.outcomes = outcomes;
    model.masks = masks;
    model.discounts = discounts;
    rules = model.rules();
  }
  BoundModel(const BoundModel&) = delete;  // `rules` point to `model`
  BoundModel& operator=(const BoundModel&) = delete;

  // A compiled function, the record of its instance, how many bytes a latent has.
  void compile(std::uintptr_t recurrent, const nb::bytes& instance, std::size_t latent_bytes, nb::object held) {
    if (recurrent == 0 || latent_bytes % 8 != 0) throw nb::value_error("a function and whole words");
    words.resize(instance.size() / 8 + 1);
    std::memcpy(words.data(), instance.data(), instance.size());
    model.instance = words.data();
    model.latent_bytes = latent_bytes;
    model.recurrent = reinterpret_cast<Model::Function>(recurrent);
    rules = model.rules();
    left_.clear();
    owner = std::move(held);
  }

  // Which settings these are; searches are kept for those asked about last.
  std::uint64_t number_of(const Config& config) {
    if (!kept_for_ || !(*kept_for_ == config)) {
      left_.clear();
      kept_for_.emplace(config);
      ++number_;
    }
    return number_;
  }
  // A search with settings that were just numbered, at a root: one that a plan left, or a new one.
  std::unique_ptr<Search> search(const Config& config, std::uint64_t stream, const std::byte* record) {
    if (left_.empty()) return std::make_unique<Search>(rules, config, NativeEvaluator(), stream, record);
    std::unique_ptr<Search> again = std::move(left_.back());
    left_.pop_back();
    again->restart(stream, record);
    return again;
  }
  // Keep a few small ones for the next plan: making them costs as much as a short search.
  void leave(std::unique_ptr<Search> search, std::uint64_t number) {
    if (number == number_ && left_.size() < kMostLeft && !search->in_flight() && search->bytes() <= kSmall) left_.push_back(std::move(search));
  }

  Model model;
  Rules rules;
  std::vector<std::uint64_t> words;
  nb::object owner;

 private:
  static constexpr std::size_t kMostLeft = 256, kSmall = std::size_t{1} << 16;
  std::vector<std::unique_ptr<Search>> left_;
  std::optional<Config> kept_for_;  // their settings
  std::uint64_t number_ = 0;        // of these
};

// One column of answers as it was given: of float32 or float64, with `wide` numbers a row. False where it cannot be used as it is.
bool read_numbers(const std::optional<Array>& given, std::size_t rows, std::size_t wide, Numbers& to) {
  to = Numbers();
  if (!given) return true;
  if (given->size() != rows * wide || given->ndim() == 0 || given->shape(0) != rows) return false;
  if (given->ndim() != (wide == 1 && given->ndim() == 1 ? 1u : 2u)) return false;
  if (given->dtype() == nb::dtype<float>()) to.single = static_cast<const float*>(given->data());
  else if (given->dtype() == nb::dtype<double>()) to.both = static_cast<const double*>(given->data());
  else return false;
  to.wide = wide;
  return true;
}

template <class T>
bool read_plain(const std::optional<Array>& given, std::size_t rows, std::size_t wide, const T*& to) {
  to = nullptr;
  if (!given) return true;
  if (given->size() != rows * wide || given->ndim() == 0 || given->shape(0) != rows || given->dtype() != nb::dtype<T>()) return false;
  to = static_cast<const T*>(given->data());
  return true;
}

// A column as an array, which is the same one as before where there are as many rows: it is asked for at every step.
template <class T>
class Shown {
 public:
  const nb::object& array() const { return array_; }
  const nb::object& array(const std::vector<T>& values) {
    if (!memory_ || values.size() != memory_->size()) {
      memory_ = std::make_shared<std::vector<T>>(values);
      auto* kept = new std::shared_ptr<std::vector<T>>(memory_);
      const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::shared_ptr<std::vector<T>>*>(p); });
      const std::size_t shape[1] = {values.size()};
      array_ = nb::cast(nb::ndarray<nb::numpy, const T>(memory_->data(), 1, shape, owner));
    } else {
      std::copy(values.begin(), values.end(), memory_->begin());
    }
    return array_;
  }

 private:
  std::shared_ptr<std::vector<T>> memory_;
  nb::object array_;
};

// Answers as they are given: logits, values, rewards, discounts, movers, legal, chances.
using Columns = std::array<const std::optional<Array>*, 7>;
using Fault = std::pair<std::int64_t, std::int64_t>;

class BoundPlan {
 public:
  BoundPlan(nb::object model, const Config& config, const std::vector<std::uint64_t>& streams, const std::optional<Array>& logits,
            const std::optional<Array>& values, const std::optional<Array>& movers, const std::optional<Array>& legal,
            const std::optional<Array>& latents, std::size_t threads)
      : owner_(model), bound_(nb::cast<BoundModel*>(model)), number_(bound_->number_of(config)) {
    const Model& m = bound_->model;
    const std::size_t roots = streams.size();
    Transitions given;
    const std::uint8_t* latent = nullptr;
    if (!read_columns(given, roots, logits, values, std::nullopt, std::nullopt, movers, legal, std::nullopt) ||
        !read_plain(latents, roots, m.latent_bytes, latent))
      throw nb::value_error("columns of the roots do not fit");
    std::vector<std::uint64_t> words(m.record_size() / 8 + 1);
    auto* record = reinterpret_cast<std::byte*>(words.data());
    std::vector<double> buffer(static_cast<std::size_t>(m.players));
    for (std::size_t i = 0; i < roots; ++i) {
      const Transition said = row(given, i, 0, buffer);
      LatentHead& head = Model::head(record);
      head = LatentHead();
      head.number = static_cast<std::uint32_t>(i);
      head.turn = 1;
      head.mover = said.mover;
      if (m.masks) m.write_mask(record, said.legal);
      if (latent) std::memcpy(record + m.latent_at(), latent + i * m.latent_bytes, m.latent_bytes);
      auto made = std::make_unique<BoundSearch>();
      made->verbs = &bound_->rules;
      made->search = bound_->search(config, streams[i], record);
      made->search->begin(said);
      roots_.push_back(made->search.get());
      searches_.push_back(made.get());
      owned_.push_back(std::move(made));
    }
    plan_ = std::make_unique<Plan>(m, roots_, static_cast<std::uint32_t>(roots), threads);
  }
  BoundPlan(const BoundPlan&) = delete;
  BoundPlan& operator=(const BoundPlan&) = delete;
  ~BoundPlan() {
    plan_.reset();
    if (owner_.is_valid())
      for (const auto& each : owned_) bound_->leave(std::move(each->search), number_);
  }

  // Objects of Python's, made when somebody wants them.
  const nb::list& searches() {
    for (auto& each : owned_) {
      each->owner = owner_;
      held_.append(nb::cast(each.release(), nb::rv_policy::take_ownership));
    }
    owned_.clear();
    return held_;
  }
  std::size_t size() const { return roots_.size(); }

  // Σ N(e) of every root.
  nb::object visits() {
    Buffer<std::int64_t> counts(roots_.size());
    for (std::size_t i = 0; i < roots_.size(); ++i) counts.data()[i] = static_cast<std::int64_t>(idle(*searches_[i]).root_visits());
    return counts.array({roots_.size()});
  }
  std::size_t bytes() {
    std::size_t total = 0;
    for (const BoundSearch* each : searches_) total += idle(*each).bytes();
    return total;
  }
  void explore(const std::vector<std::uint64_t>& goals, bool noise, double weight, double alpha, double total, double forced) {
    set_root_rules(searches_, goals, noise, weight, alpha, total, forced);
  }
  nb::object run_natively(const std::vector<std::uint64_t>& goals, std::optional<double> seconds, std::size_t threads) {
    return run(searches_, goals, seconds, threads);
  }

  void aim(const std::vector<std::uint64_t>& goals) {
    if (goals.size() != roots_.size()) throw nb::value_error("one goal per root");
    goals_ = goals;
    for (std::size_t i = 0; i < roots_.size(); ++i) {
      Graph& graph = idle(*searches_[i]).graph();
      graph.reserve(graph.size() + std::min<std::uint64_t>(goals_[i], kExpected) + 1);
    }
  }

  // Go on until roots ask: how many rows there are; 0 where all is done, or something must be answered first.
  std::size_t gather(bool late) {
    {
      const Busy busy(searches_);
      std::optional<nb::gil_scoped_release> release;
      if (searches_.size() > 8) release.emplace();  // a few roots are sooner done than others are let in
      while (plan_->gather(goals_, late) && plan_->parents.empty()) {
        std::optional<nb::gil_scoped_acquire> gil;
        if (release) gil.emplace();
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
      }
    }
    kept_.clear();
    parents_.array(plan_->parents);
    actions_.array(plan_->actions);
    return plan_->parents.size();
  }

  // Of the rows gathered last; the arrays are the same as long as there are as many rows.
  nb::object parents() { return parents_.array(); }
  nb::object actions() { return actions_.array(); }
  nb::object movers() { return movers_.array(plan_->movers); }
  nb::object after() { return after_.array(plan_->after); }
  std::uint32_t first() const { return plan_->first_number(); }

  // Whether answers to the rows gathered last can be used: (−1, 0). Else the row that cannot and what is wrong with it; (0, −1):
  // shapes or types are other than wanted.
  Fault look(const Columns& columns) {
    Transitions given;
    return checked(columns, plan_->parents.size(), plan_->newest_after(), given);
  }

  // The same for the oldest rows not answered yet, whose answers are taken if they can be used.
  Fault answer(const Columns& columns) {
    if (!plan_->waits()) throw nb::value_error("nothing was asked");
    Transitions given;
    const Fault fault = checked(columns, plan_->waiting_rows(), plan_->waiting_after(), given);
    if (fault.first >= 0) return fault;
    for (const auto* each : columns)
      if (*each) kept_.push_back(**each);
    plan_->answer(given);
    return fault;
  }

  std::size_t root_of(std::size_t row_number) const { return plan_->root_of(row_number); }

  void drop() {
    const Busy busy(searches_);
    plan_->drop();
    kept_.clear();
  }

  // What the roots found, [roots, actions] of each one's mover: (policy, prior, q), visits; values [roots, players]; the actions that
  // Gumbel searches ended with, else −1.
  nb::tuple tables() {
    const std::size_t players = static_cast<std::size_t>(bound_->model.players), actions = static_cast<std::size_t>(bound_->model.actions);
    const std::size_t cells = roots_.size() * actions;
    Buffer<double> numbers(4 * cells), values(roots_.size() * players);
    Buffer<std::int64_t> counts(cells), ends(roots_.size());
    std::vector<std::int64_t> chosen(players);
    std::vector<double> table(4 * players * actions);
    std::vector<std::int64_t> visits(players * actions);
    const std::size_t part = players * actions;
    for (std::size_t i = 0; i < roots_.size(); ++i) {
      Search& root = idle(*searches_[i]);
      tell_root(root, {table.data(), table.data() + part, table.data() + 2 * part, visits.data(), chosen.data(), table.data() + 3 * part});
      ends.data()[i] = chosen[root.graph().nodes[0].mover];
      const std::size_t at = root.graph().nodes[0].mover * actions;
      for (std::size_t k = 0; k < 4; ++k) std::copy_n(table.data() + k * part + at, actions, numbers.data() + k * cells + i * actions);
      std::copy_n(visits.data() + at, actions, counts.data() + i * actions);
      std::copy_n(root.graph().mean(0), players, values.data() + i * players);
    }
    return nb::make_tuple(numbers.array({4, roots_.size(), actions}), counts.array({roots_.size(), actions}),
                          values.array({roots_.size(), players}), ends.array({roots_.size()}));
  }

  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(owner_.ptr());
    Py_VISIT(held_.ptr());
    return 0;
  }
  void clear() {
    held_ = nb::list();
    owner_.reset();
  }

 private:
  static constexpr std::uint64_t kExpected = 512;  // nodes to make room for at once

  Fault checked(const Columns& c, std::size_t rows, const bool* after, Transitions& given) {
    if (!read_columns(given, rows, *c[0], *c[1], *c[2], *c[3], *c[4], *c[5], *c[6]) || !*c[1]) return {0, -1};
    const Model& m = bound_->model;
    given.after = after;
    if (surely_right(given, rows)) [[likely]] return {-1, 0};
    buffer_.resize(2 * static_cast<std::size_t>(m.players) + static_cast<std::size_t>(m.outcomes));
    for (std::size_t i = 0; i < rows; ++i) {
      const Wrong wrong = wrong_with(m, row(given, i, 0, buffer_));
      if (wrong != Wrong::nothing) return {static_cast<std::int64_t>(i), static_cast<std::int64_t>(wrong)};
    }
    return {-1, 0};
  }

  bool read_columns(Transitions& to, std::size_t rows, const std::optional<Array>& logits, const std::optional<Array>& values,
                    const std::optional<Array>& rewards, const std::optional<Array>& discounts, const std::optional<Array>& movers,
                    const std::optional<Array>& legal, const std::optional<Array>& chances) const {
    const Model& m = bound_->model;
    const auto players = static_cast<std::size_t>(m.players), actions = static_cast<std::size_t>(m.actions);
    return read_numbers(logits, rows, actions, to.logits) && read_numbers(values, rows, players, to.values) &&
           read_numbers(rewards, rows, players, to.rewards) && read_numbers(discounts, rows, 1, to.discounts) &&
           read_plain(movers, rows, 1, to.movers) && read_plain(legal, rows, actions, to.legal) &&
           read_numbers(chances, rows, static_cast<std::size_t>(m.outcomes), to.chances) && (!legal || m.masks) && (!discounts || m.discounts);
  }

  // One row, with numbers of a player each in `buffer` where they are not doubles.
  Transition row(const Transitions& given, std::size_t i, std::uint8_t mover, std::vector<double>& buffer) const {
    double* at = buffer.data();
    const auto doubles = [&](const Numbers& numbers) -> const double* {
      if (!numbers.given()) return nullptr;
      if (numbers.both) return numbers.both + i * numbers.wide;
      double* const first = at;
      for (std::size_t k = 0; k < numbers.wide; ++k) *at++ = static_cast<double>(numbers.single[i * numbers.wide + k]);
      return first;
    };
    const Model& m = bound_->model;
    Transition t;
    t.rewards = doubles(given.rewards);
    t.discount = given.discounts.given() ? given.discounts.at(i) : 1.0;
    if (given.after && given.after[i]) {
      t.chances = doubles(given.chances);
      return t;
    }
    const Numbers logits = given.logits.from(i);
    t.single = logits.single;
    t.both = logits.both;
    t.values = doubles(given.values);
    t.legal = given.legal ? given.legal + i * static_cast<std::size_t>(m.actions) : nullptr;
    if (given.movers) t.mover = given.movers[i] >= 0 && given.movers[i] < m.players ? static_cast<std::uint8_t>(given.movers[i]) : std::uint8_t{255};
    else t.mover = mover;
    return t;
  }

  nb::object owner_;
  BoundModel* bound_;
  std::uint64_t number_;  // of the settings
  nb::list held_;
  std::vector<std::unique_ptr<BoundSearch>> owned_;  // until Python has them
  std::vector<BoundSearch*> searches_;
  std::vector<Search*> roots_;
  std::vector<std::uint64_t> goals_;
  std::unique_ptr<Plan> plan_;
  std::vector<Array> kept_;  // answers that roots have not used yet
  Shown<std::int64_t> parents_, actions_, movers_;
  Shown<std::uint8_t> after_;
  std::vector<double> buffer_;
};

}  // namespace

void bind_plan(nb::module_& m) {

  nb::class_<BoundModel>(m, "Model", "A learned model: its sizes, and what it says of transitions.")
      .def(nb::init<std::int32_t, std::int32_t, std::int32_t, bool, bool>(), nb::kw_only(), nb::arg("players"), nb::arg("actions"),
           nb::arg("outcomes"), nb::arg("masks"), nb::arg("discounts"))
      .def("compile", &BoundModel::compile, nb::arg("recurrent"), nb::arg("instance"), nb::arg("latent_bytes"), nb::arg("owner"),
           "Take the address of a compiled function and the record it reads.")
      .def_prop_ro("record_size", [](const BoundModel& b) { return b.model.record_size(); })
      .def_prop_ro("latent_at", [](const BoundModel& b) { return b.model.latent_at(); }, "Where a latent begins in a record.")
      .def_prop_ro("answer_size", [](const BoundModel& b) { return Answer(b.model).size(); });

  nb::class_<BoundPlan>(m, "Plan", nb::type_slots(Collected<BoundPlan>::slots), "Roots planned together in one learned model.")
      .def(nb::init<nb::object, const Config&, const std::vector<std::uint64_t>&, const std::optional<Array>&, const std::optional<Array>&,
                    const std::optional<Array>&, const std::optional<Array>&, const std::optional<Array>&, std::size_t>(),
           nb::arg("model"), nb::arg("config"), nb::arg("streams"), nb::arg("logits").none(), nb::arg("values").none(),
           nb::arg("movers").none(), nb::arg("legal").none(), nb::arg("latents").none(), nb::arg("threads"),
           nb::sig("def __init__(self, model: Model, config: Config, streams: Sequence[int], "
                   "logits: numpy.typing.NDArray[numpy.generic] | None, values: numpy.typing.NDArray[numpy.generic] | None, "
                   "movers: numpy.typing.NDArray[numpy.generic] | None, legal: numpy.typing.NDArray[numpy.generic] | None, "
                   "latents: numpy.typing.NDArray[numpy.generic] | None, threads: int) -> None"))
      .def_prop_ro("searches", &BoundPlan::searches, nb::sig("def searches(self) -> list[Search]"))
      .def("__len__", &BoundPlan::size)
      .def_prop_ro("visits", &BoundPlan::visits, nb::sig("def visits(self) -> numpy.typing.NDArray[numpy.int64]"), "Of every root.")
      .def_prop_ro("bytes", &BoundPlan::bytes, "Of all graphs.")
      .def("explore", &BoundPlan::explore, nb::arg("goals"), nb::arg("noise"), nb::arg("weight"), nb::arg("alpha"), nb::arg("total"),
           nb::arg("forced"), "`set_root_rules` of all roots.")
      .def("run", &BoundPlan::run_natively, nb::arg("goals"), nb::arg("seconds").none(), nb::arg("threads"),
           nb::sig("def run(self, goals: Sequence[int], seconds: float | None, threads: int) -> "
                   "tuple[list[int], None] | tuple[None, dict[str, object]]"),
           "`run` of all roots.")
      .def("aim", &BoundPlan::aim, nb::arg("goals"), "How many visits every root is to have.")
      .def("gather", &BoundPlan::gather, nb::arg("late"), "Go on until roots ask: how many rows; 0 where all is done or something must be answered first.")
      .def_prop_ro("parents", &BoundPlan::parents, nb::sig("def parents(self) -> numpy.typing.NDArray[numpy.int64]"))
      .def_prop_ro("actions", &BoundPlan::actions, nb::sig("def actions(self) -> numpy.typing.NDArray[numpy.int64]"))
      .def_prop_ro("movers", &BoundPlan::movers, nb::sig("def movers(self) -> numpy.typing.NDArray[numpy.int64]"))
      .def_prop_ro("after", &BoundPlan::after, nb::sig("def after(self) -> numpy.typing.NDArray[numpy.uint8]"))
      .def_prop_ro("first", &BoundPlan::first, "The number of the first row's new latent; the others follow.")
      .def("look",
           [](BoundPlan& p, const std::optional<Array>& a, const std::optional<Array>& b, const std::optional<Array>& c, const std::optional<Array>& d,
              const std::optional<Array>& e, const std::optional<Array>& f, const std::optional<Array>& g) { return p.look({&a, &b, &c, &d, &e, &f, &g}); },
           nb::arg("logits").none(), nb::arg("values").none(), nb::arg("rewards").none(), nb::arg("discounts").none() = nb::none(),
           nb::arg("movers").none() = nb::none(), nb::arg("legal").none() = nb::none(), nb::arg("chances").none() = nb::none(),
           nb::sig("def look(self, logits: numpy.typing.NDArray[numpy.generic] | None, values: numpy.typing.NDArray[numpy.generic] | None, "
                   "rewards: numpy.typing.NDArray[numpy.generic] | None, discounts: numpy.typing.NDArray[numpy.generic] | None = None, "
                   "movers: numpy.typing.NDArray[numpy.generic] | None = None, legal: numpy.typing.NDArray[numpy.generic] | None = None, "
                   "chances: numpy.typing.NDArray[numpy.generic] | None = None) -> tuple[int, int]"),
           "(-1, 0) where answers to the rows gathered last can be used; else the row that cannot be and why: -1, shapes or types.")
      .def("answer",
           [](BoundPlan& p, const std::optional<Array>& a, const std::optional<Array>& b, const std::optional<Array>& c, const std::optional<Array>& d,
              const std::optional<Array>& e, const std::optional<Array>& f, const std::optional<Array>& g) { return p.answer({&a, &b, &c, &d, &e, &f, &g}); },
           nb::arg("logits").none(), nb::arg("values").none(), nb::arg("rewards").none(), nb::arg("discounts").none() = nb::none(),
           nb::arg("movers").none() = nb::none(), nb::arg("legal").none() = nb::none(), nb::arg("chances").none() = nb::none(),
           nb::sig("def answer(self, logits: numpy.typing.NDArray[numpy.generic] | None, values: numpy.typing.NDArray[numpy.generic] | None, "
                   "rewards: numpy.typing.NDArray[numpy.generic] | None, discounts: numpy.typing.NDArray[numpy.generic] | None = None, "
                   "movers: numpy.typing.NDArray[numpy.generic] | None = None, legal: numpy.typing.NDArray[numpy.generic] | None = None, "
                   "chances: numpy.typing.NDArray[numpy.generic] | None = None) -> tuple[int, int]"),
           "The same for the oldest rows not answered yet, whose answers are taken if they can be used.")
      .def("root_of", &BoundPlan::root_of, nb::arg("row"), "Which root asked for a row of those gathered last.")
      .def("drop", &BoundPlan::drop, "Forget what is in flight.")
      .def("tables", &BoundPlan::tables,
           nb::sig("def tables(self) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int64], "
                   "numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int64]]"),
           "(policy, prior, q, prior without noise) [4, roots, actions], visits [roots, actions], values [roots, players], the actions Gumbel searches ended with.");
}
