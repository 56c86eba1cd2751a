// Questions for evaluators outside: what the roots of a wave ask, as columns, and the answers on their way back.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "anabranch/forest.hpp"
#include "bindings.hpp"
#include "bound_rules.hpp"
#include "bound_search.hpp"

namespace {

using Doubles = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;

// States that need evaluations, copied out of the graphs: they may be looked at while other waves are selected.
class Questions {
 public:
  struct Root {
    std::size_t index, count;  // of the root in the list that was gathered, and how many rows are its
  };

  Questions(const Rules& rules, bool numbered, nb::object owner) : size_(rules.state_size), players_(static_cast<std::size_t>(rules.players)),
        actions_(static_cast<std::size_t>(rules.actions)), planes_(rules.planes), numbered_(numbered), owner_(std::move(owner)) {}

  void add(std::size_t index, BoundSearch& s) {
    Search& search = *s.search;
    const Root root{index, search.asked().size()};
    for (const Request& request : search.asked()) {
      const std::size_t at = records_.size();
      records_.resize(at + size_ / 8);
      auto* record = reinterpret_cast<std::byte*>(&records_[at]);
      if (request.node != kNone) search.graph().states.load(request.node, record);
      else std::memcpy(record, request.state.data(), size_);
      keys_.push_back(request.key);
      seeds_.push_back(search.draws().evaluation());
      roots_of_rows_.push_back(static_cast<std::uint32_t>(roots.size()));
      rules_.push_back(s.verbs);
      turns_.push_back(turn_of(search, request));
      if (numbered_) states_.append(state_of(s, record, size_));
    }
    roots.push_back(root);
  }

  std::size_t rows() const { return keys_.size(); }

  nb::object records() const { return copied<std::uint8_t>(reinterpret_cast<const std::uint8_t*>(records_.data()), {rows(), size_}); }
  nb::object keys() const { return copied<std::uint64_t>(keys_.data(), {rows()}); }
  nb::object seeds() const { return copied<std::uint64_t>(seeds_.data(), {rows()}); }
  nb::object turns() const { return copied<std::int64_t>(turns_.data(), {rows()}); }
  nb::object movers() const {
    std::vector<std::int64_t> first(rows());
    for (std::size_t row = 0; row < rows(); ++row) first[row] = static_cast<std::int64_t>(first_of(row));
    return copied<std::int64_t>(first.data(), {rows()});
  }
  nb::object root_of_rows() const { return copied<std::uint32_t>(roots_of_rows_.data(), {rows()}); }
  nb::list states() const { return states_; }
  bool joint() const {
    return std::any_of(turns_.begin(), turns_.end(), [](std::int64_t turn) { return (turn & (turn - 1)) != 0; });
  }

  // What the first acting player of each state sees, [rows, planes]; with `joint`, what every player sees,
  // [rows, players, planes]; and the row where the verb failed, −1 if it did not.
  nb::tuple observe(bool joint) {
    const std::size_t seats = joint ? players_ : 1, width = seats * planes_;
    Buffer<float> planes(rows() * width);
    std::int64_t failed = -1;
    {
      const nb::gil_scoped_release release;
      std::memset(planes.data(), 0, rows() * width * sizeof(float));
      std::vector<std::uint64_t> state(size_ / 8 + 1);
      for (std::size_t row = 0; row < rows() && failed < 0; ++row) {
        for (std::size_t seat = 0; seat < seats && failed < 0; ++seat) {
          std::memcpy(state.data(), &records_[row * (size_ / 8)], size_);
          const auto player = static_cast<std::int32_t>(joint ? seat : first_of(row));
          std::int64_t nothing = 0;
          if (!call(rules_[row]->observe, nothing, *rules_[row], static_cast<void*>(state.data()), player,
                    planes.data() + row * width + seat * planes_))
            failed = static_cast<std::int64_t>(row);
        }
      }
    }
    return nb::make_tuple(planes.array({rows(), width}), failed);
  }

  // Which ids are legal: [rows, actions] for the first acting player, with `joint` [rows, players, actions]; and the row where
  // the verb failed.
  nb::tuple legal(bool joint) {
    const std::size_t seats = joint ? players_ : 1, width = seats * actions_;
    Buffer<bool> mask(rows() * width);
    std::int64_t failed = -1;
    {
      const nb::gil_scoped_release release;
      std::memset(mask.data(), 0, rows() * width);
      std::vector<std::uint64_t> state(size_ / 8 + 1);
      std::vector<std::int32_t> ids(actions_);
      for (std::size_t row = 0; row < rows() && failed < 0; ++row) {
        for (std::size_t seat = 0; seat < seats && failed < 0; ++seat) {
          const std::size_t player = joint ? seat : first_of(row);
          if (!(turns_[row] >> player & 1)) continue;
          std::memcpy(state.data(), &records_[row * (size_ / 8)], size_);
          std::int64_t count = 0;
          if (!call(rules_[row]->legal, count, *rules_[row], static_cast<void*>(state.data()), static_cast<std::int32_t>(player), ids.data()) ||
              !valid_ids(ids.data(), count, rules_[row]->actions))
            failed = static_cast<std::int64_t>(row);
          for (std::int64_t i = 0; failed < 0 && i < count; ++i)
            mask.data()[row * width + seat * actions_ + static_cast<std::size_t>(ids[static_cast<std::size_t>(i)])] = true;
        }
      }
    }
    return nb::make_tuple(mask.array({rows(), width}), failed);
  }

  std::vector<Root> roots;

 private:
  // Memory that becomes an array of NumPy's.
  template <class T>
  class Buffer {
   public:
    explicit Buffer(std::size_t count) { memory_->extend(count); }
    T* data() { return memory_->data(); }
    nb::object array(const std::vector<std::size_t>& shape) {
      T* first = memory_->data();
      const nb::capsule owner(memory_.release(), [](void* p) noexcept { delete static_cast<Column<T>*>(p); });
      return nb::cast(nb::ndarray<nb::numpy, T>(first, shape.size(), shape.data(), owner));
    }

   private:
    std::unique_ptr<Column<T>> memory_ = std::make_unique<Column<T>>();
  };

  template <class T>
  static nb::object copied(const T* values, const std::vector<std::size_t>& shape) {
    std::size_t count = 1;
    for (const std::size_t size : shape) count *= size;
    Buffer<T> made(count);
    if (count) std::memcpy(made.data(), values, count * sizeof(T));
    return made.array(shape);
  }

  std::size_t first_of(std::size_t row) const { return static_cast<std::size_t>(std::countr_zero(static_cast<std::uint64_t>(turns_[row]))); }

  static std::int64_t turn_of(Search& search, const Request& request) {
    if (request.node == kNone) return request.turn;
    const Node& node = search.graph().nodes[request.node];
    return node.acting == 1 ? std::int64_t{1} << node.mover : static_cast<std::int64_t>(search.graph().tables[node.choices].turn);
  }

  std::size_t size_, players_, actions_, planes_;
  bool numbered_;
  std::vector<std::uint64_t> records_, keys_, seeds_;
  std::vector<std::int64_t> turns_;
  std::vector<std::uint32_t> roots_of_rows_;
  std::vector<const Rules*> rules_;  // of searches that `owner_` keeps alive
  nb::list states_;
  nb::object owner_;
};

// Roots searched together, with questions answered outside; the threads stay from wave to wave.
class Drive {
 public:
  Drive(const nb::list& searches, std::vector<std::uint64_t> goals, std::size_t threads) : owners_(searches), goals_(std::move(goals)) {
    for (const nb::handle& search : searches) bound_.push_back(nb::cast<BoundSearch*>(search));
    for (BoundSearch* s : bound_) roots_.push_back(s->search.get());
    if (goals_.size() != roots_.size()) throw nb::value_error("one goal per search");
    const bool python = !bound_.empty() && bound_[0]->python;
    threads = std::min(threads, roots_.size());
    if (threads > 1 && !python) team_ = std::make_unique<Team>(threads);
    for (std::size_t i = 0; i < roots_.size(); ++i) {  // columns that grow step by step are copied at every step
      Graph& graph = idle(*bound_[i]).graph();
      graph.reserve(graph.size() + std::min<std::uint64_t>(goals_[i], kExpected) + 1);
    }
  }

  // Let all roots go on until they ask: (what they ask or None, whether there is more to do without answers, a report or None).
  nb::tuple gather(bool late) {
    std::vector<Forest::After> after;
    nb::object told = attempt(bound_, [&] { after = Forest::gather(roots_, goals_, late, team_.get()); });
    if (!told.is_none()) return nb::make_tuple(nb::none(), false, told);
    std::unique_ptr<Questions> made;
    bool more = false;
    for (std::size_t i = 0; i < roots_.size(); ++i) {
      more |= after[i] == Forest::After::goes_on;
      if (after[i] != Forest::After::asks) continue;
      if (!made) made = std::make_unique<Questions>(*bound_[i]->verbs, bound_[i]->python && bound_[i]->python->numbered(), owners_);
      made->add(i, *bound_[i]);
    }
    if (!made) return nb::make_tuple(nb::none(), more, nb::none());
    return nb::make_tuple(nb::cast(made.release(), nb::rv_policy::take_ownership), more, nb::none());
  }

  // Hand answers to the roots that asked: logits [rows, wide] or None, values [rows, players]. A report, or None.
  nb::object answer(const Questions& questions, const std::optional<Doubles>& logits, const Doubles& values) {
    std::vector<Search*> roots;
    std::vector<std::size_t> starts;
    std::vector<BoundSearch*> bound;
    std::size_t at = 0;
    for (const Questions::Root& root : questions.roots) {
      bound.push_back(bound_.at(root.index));
      roots.push_back(roots_[root.index]);
      if (idle(*bound.back()).questions() != root.count) throw nb::value_error("these questions are no longer open");
      starts.push_back(at);
      at += root.count;
    }
    const std::size_t players = roots.empty() ? 1 : roots[0]->graph().players;
    const std::size_t wide = logits && at ? logits->size() / at : 0;
    if (values.size() != at * players || (logits && logits->size() != at * wide)) throw nb::value_error("one row of logits and values per question");
    return attempt(bound, [&] {
      Forest::each(roots, team_.get(), [&](std::size_t i) {
        roots[i]->answer(wide ? logits->data() + starts[i] * wide : nullptr, wide, values.data() + starts[i] * players);
      });
    });
  }

  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(owners_.ptr());
    return 0;
  }
  void clear() { owners_ = nb::list(); }

 private:
  // Do something to searches without the GIL, which rules in Python take again; a report of what failed, or None.
  template <class Action>
  nb::object attempt(const std::vector<BoundSearch*>& searches, const Action& action) {
    std::optional<Failure> failed;
    {
      const Busy busy(searches);
      const nb::gil_scoped_release release;
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

  static constexpr std::uint64_t kExpected = 512;  // nodes to make room for at once

  nb::list owners_;
  std::vector<BoundSearch*> bound_;
  std::vector<Search*> roots_;
  std::vector<std::uint64_t> goals_;
  std::unique_ptr<Team> team_;
};

}  // namespace

void bind_questions(nb::module_& m) {
  nb::class_<Questions>(m, "Questions", "States that need evaluations, as columns.")
      .def("__len__", &Questions::rows)
      .def_prop_ro("records", &Questions::records, nb::sig("def records(self) -> numpy.typing.NDArray[numpy.uint8]"))
      .def_prop_ro("keys", &Questions::keys, nb::sig("def keys(self) -> numpy.typing.NDArray[numpy.uint64]"))
      .def_prop_ro("seeds", &Questions::seeds, nb::sig("def seeds(self) -> numpy.typing.NDArray[numpy.uint64]"))
      .def_prop_ro("turns", &Questions::turns, nb::sig("def turns(self) -> numpy.typing.NDArray[numpy.int64]"))
      .def_prop_ro("movers", &Questions::movers, nb::sig("def movers(self) -> numpy.typing.NDArray[numpy.int64]"))
      .def_prop_ro("root_of_rows", &Questions::root_of_rows, nb::sig("def root_of_rows(self) -> numpy.typing.NDArray[numpy.uint32]"))
      .def_prop_ro("first_root", [](const Questions& q) { return q.roots[0].index; }, "The first of the roots that have rows.")
      .def_prop_ro("joint", &Questions::joint, "Whether players choose at once in any of them.")
      .def_prop_ro("states", &Questions::states, nb::sig("def states(self) -> list[object]"), "Of object games.")
      .def_prop_ro("roots",
                   [](const Questions& q) {
                     std::vector<std::size_t> indices;
                     for (const Questions::Root& root : q.roots) indices.push_back(root.index);
                     return indices;
                   },
                   "Which of the searches gathered have rows.")
      .def("observe", &Questions::observe, nb::arg("joint"),
           nb::sig("def observe(self, joint: bool) -> tuple[numpy.typing.NDArray[numpy.float32], int]"))
      .def("legal", &Questions::legal, nb::arg("joint"),
           nb::sig("def legal(self, joint: bool) -> tuple[numpy.typing.NDArray[numpy.bool_], int]"));
  nb::class_<Drive>(m, "Drive", nb::type_slots(Collected<Drive>::slots), "Roots searched together, with questions answered outside.")
      .def(nb::init<const nb::list&, std::vector<std::uint64_t>, std::size_t>(), nb::arg("searches"), nb::arg("goals"), nb::arg("threads"),
           nb::sig("def __init__(self, searches: list[Search], goals: Sequence[int], threads: int) -> None"))
      .def("gather", &Drive::gather, nb::arg("late"),
           nb::sig("def gather(self, late: bool) -> tuple[Questions | None, bool, dict[str, object] | None]"),
           "Go on until roots ask: (what they ask, whether there is more to do without answers, a report of what failed).")
      .def("answer", &Drive::answer, nb::arg("questions"), nb::arg("logits").none(), nb::arg("values"),
           nb::sig("def answer(self, questions: Questions, logits: numpy.typing.NDArray[numpy.float64] | None, "
                   "values: numpy.typing.NDArray[numpy.float64]) -> dict[str, object] | None"),
           "Give roots the evaluations they asked for; a report of what failed.");
}
