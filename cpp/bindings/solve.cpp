// Exact solutions of compiled games: every state found, every value, and what Python looks up of them.
#include "anabranch/solve.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "bound_rules.hpp"
#include "reports.hpp"

namespace {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::vector<std::byte> checked(const nb::bytes& data, std::size_t size, const char* what) {
  if (data.size() != size)
    throw nb::value_error((std::string(what) + " has " + std::to_string(size) + " bytes, found " + std::to_string(data.size())).c_str());
  std::vector<std::byte> bytes(size);
  std::memcpy(bytes.data(), data.data(), size);
  return bytes;
}

nb::bytes bytes_of(const std::vector<std::byte>& record) { return nb::bytes(record.data(), record.size()); }

nb::dict told(const Failure& failure) {
  return report(failure, failure.state.empty() ? nb::object(nb::none()) : bytes_of(failure.state), nb::none());
}

class BoundSolution {
 public:
  BoundSolution(nb::object rules, const nb::bytes& start) : owner_(std::move(rules)) {
    const Rules& verbs = nb::cast<BoundRules*>(owner_)->rules;
    try {
      game_.emplace(verbs, checked(start, verbs.state_size, "a state").data());
    } catch (const Failure& failure) {
      raise_report(told(failure));
    }
    solver_.emplace(*game_);
  }

  bool explore(std::uint64_t most, const nb::object& tell) {
    if (explored_) throw nb::value_error("states are explored once");
    explored_ = true;  // also where that fails: half of it is not gone on with
    whole_ = interruptibly(tell, [&](Beat& beat) { return game_->explore(std::min<std::uint64_t>(most, FiniteGame::kMost), beat); });
    return whole_;
  }

  nb::object solve(double discount, bool iterate, double tolerance, std::size_t sweeps, const nb::object& tell) {
    if (solved_ || !whole_) throw nb::value_error("explore all states, then solve once");
    solved_ = true;
    const char* const names[] = {"solved", "loop", "unsettled", "not_opposed"};
    const Solver::Ended ended = interruptibly(
        tell, [&](Beat& beat) { return solver_->solve({discount, iterate, tolerance, sweeps}, beat); });
    if (ended == Solver::Ended::solved) solver_->where.clear();
    return nb::make_tuple(names[static_cast<std::size_t>(ended)], solver_->where);
  }

  double gap() {
    if (!solved_) throw nb::value_error("solve first");
    return interruptibly(nb::none(), [&](Beat& beat) { return solver_->gap(beat); });
  }

  nb::object find(const nb::bytes& key) {
    const std::uint32_t number = game_->find(checked(key, game_->key_size(), "a key").data());
    if (number == kNone) return nb::none();
    return nb::int_(number);
  }

  nb::bytes state(std::size_t number) {
    std::vector<std::byte> record(words(game_->record_size()) * 8);
    game_->load(known(number), record.data());
    return nb::bytes(record.data(), game_->record_size());
  }

  nb::object edges(std::size_t number) {
    if (!whole_) throw nb::value_error("explore all states first");
    const std::uint32_t state = known(number);
    const std::size_t first = game_->first_edge(state), count = game_->last_edge(state) - first, players = game_->players();
    nb::list children;
    Buffer<double> rewards(count * players);
    for (std::size_t i = 0; i < count; ++i) {
      children.append(game_->child(first + i));
      std::copy_n(game_->rewards(first + i), players, rewards.data() + i * players);
    }
    return nb::make_tuple(children, rewards.array({count, players}));
  }

  // A view that keeps the memory alive; written once, by `solve`.
  nb::object values() {
    const Column<double>& column = solver_->values();
    auto* memory = new std::shared_ptr<void>(column.owner());
    const nb::capsule owner(memory, [](void* p) noexcept { delete static_cast<std::shared_ptr<void>*>(p); });
    const std::size_t players = game_->players(), shape[2] = {column.size() / players, players};
    return nb::cast(nb::ndarray<nb::numpy, const double>(column.data(), 2, shape, owner));
  }

  std::size_t states() const { return game_->size(); }
  std::size_t expanded() const { return game_->expanded(); }
  std::size_t bytes() const { return game_->bytes() + solver_->bytes(); }

  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(owner_.ptr());
    return 0;
  }

 private:
  std::uint32_t known(std::size_t number) const {
    if (number >= game_->size()) throw nb::index_error("no such state");
    return static_cast<std::uint32_t>(number);
  }

  // Work without the GIL. Now and then Python looks for Ctrl-C, and `tell` is called with the numbers of states found,
  // expanded and solved, and of the sweep at work; an exception of either ends the work and comes out.
  template <class Work>
  std::invoke_result_t<Work, Beat&> interruptibly(const nb::object& tell, Work&& work) {
    if (busy_) throw nb::value_error("this game is being solved");
    std::optional<nb::python_error> interrupted;
    std::optional<Failure> failed;
    std::optional<std::invoke_result_t<Work, Beat&>> answer;
    busy_ = true;
    {
      const nb::gil_scoped_release release;
      Beat beat([&] {
        const nb::gil_scoped_acquire gil;
        try {
          if (PyErr_CheckSignals() != 0) throw nb::python_error();
          if (!tell.is_none()) tell(states(), expanded(), solver_->solved(), solver_->sweep());
        } catch (nb::python_error& error) {
          interrupted.emplace(std::move(error));
          return false;
        }
        return true;
      });
      try {
        answer = work(beat);
      } catch (const Stopped&) {
      } catch (const Failure& failure) {
        failed = failure;
      } catch (...) {
        busy_ = false;
        throw;
      }
    }
    busy_ = false;
    if (interrupted) throw std::move(*interrupted);
    if (failed) raise_report(told(*failed));
    return *answer;
  }

  nb::object owner_;  // keeps code and instance alive
  std::optional<FiniteGame> game_;
  std::optional<Solver> solver_;
  bool explored_ = false, whole_ = false, solved_ = false, busy_ = false;
};

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<BoundSolution>(self)->traverse(visit, arg) : 0;
}
PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse)}, {0, nullptr}};

nb::object equilibrium(const Matrix& matrix) {
  const std::size_t rows = matrix.shape(0), columns = matrix.shape(1);
  if (rows == 0 || columns == 0) throw nb::value_error("a matrix game needs at least one row and one column");
  for (std::size_t i = 0; i < rows * columns; ++i)
    if (!std::isfinite(matrix.data()[i])) throw nb::value_error("a matrix game needs finite entries");
  MatrixGame game;
  game.solve({matrix.data(), rows, columns});
  return nb::make_tuple(game.x, game.y);
}

}  // namespace

void bind_solve(nb::module_& m) {
  nb::class_<BoundSolution>(m, "FiniteGame", nb::type_slots(slots), "Every state that can follow a start, with its value.")
      .def(nb::init<nb::object, const nb::bytes&>(), nb::arg("rules"), nb::arg("start"))
      .def("explore", &BoundSolution::explore, nb::arg("most"), nb::arg("tell").none(),
           "Find all states; False where there are more than `most`. `tell` gets (found, expanded, solved, sweep) now and then.")
      .def("solve", &BoundSolution::solve, nb::arg("discount"), nb::arg("iterate"), nb::arg("tolerance"), nb::arg("sweeps"),
           nb::arg("tell").none(),
           nb::sig("def solve(self, discount: float, iterate: bool, tolerance: float, sweeps: int, tell: object | None) -> "
                   "tuple[str, list[int]]"),
           "Find all values: ('solved', []), or why that cannot be, 'loop', 'unsettled' or 'not_opposed', and which states.")
      .def("gap", &BoundSolution::gap, "The smallest difference between two choices of one who chooses alone.")
      .def("find", &BoundSolution::find, nb::arg("key"), nb::sig("def find(self, key: bytes) -> int | None"),
           "The number of the state with a key.")
      .def("state", &BoundSolution::state, nb::arg("number"), "A state's record.")
      .def("edges", &BoundSolution::edges, nb::arg("number"),
           nb::sig("def edges(self, number: int) -> tuple[list[int], numpy.typing.NDArray[numpy.float64]]"),
           "The children of a state and the rewards on the way, over joint choices or outcomes.")
      .def_prop_ro("values", &BoundSolution::values,
                   nb::sig("def values(self) -> numpy.typing.NDArray[numpy.float64]"), "[state, player]; read only.")
      .def_prop_ro("states", &BoundSolution::states)
      .def_prop_ro("expanded", &BoundSolution::expanded, "How many states' edges are known.")
      .def_prop_ro("bytes", &BoundSolution::bytes);
  m.def("equilibrium", &equilibrium, nb::arg("matrix"), nb::sig("def equilibrium(matrix: object) -> tuple[list[float], list[float]]"),
        "Optimal strategies (rows, columns) of a table of what the row player gets.");
}
