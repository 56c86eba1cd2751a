// Graphs as columns for files: taken from a search, and brought back into a fresh one.
#include "anabranch/snapshot.hpp"

#include <nanobind/ndarray.h>

#include <string>

#include "bindings.hpp"
#include "bound_search.hpp"

namespace {

PyObject* damaged = nullptr;

// A vector as a NumPy array that owns it.
template <class T>
nb::object owned(std::vector<T>&& values, std::size_t width = 1) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  const std::size_t shape[2] = {kept->size() / width, width};
  return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), width == 1 ? 1 : 2, shape, owner));
}

template <class T>
std::vector<T> read(const nb::dict& columns, const char* name) {
  using Array = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;
  if (!columns.contains(name)) throw Damaged("the column " + std::string(name) + " is missing");
  Array array;
  if (!nb::try_cast<Array>(columns[name], array, false))
    throw Damaged("the column " + std::string(name) + " is not of the right kind");
  return std::vector<T>(array.data(), array.data() + array.size());
}

nb::dict snapshot(BoundSearch& s) {
  const Search& search = idle(s);
  Snapshot taken = Archive::take(search);
  const std::size_t players = search.graph().players;
  nb::dict d;
  d["visits"] = owned(std::move(taken.visits));
  d["parents"] = owned(std::move(taken.parents));
  d["edge_counts"] = owned(std::move(taken.edge_counts));
  d["has_prior"] = owned(std::move(taken.has_prior));
  d["records"] = owned(std::move(taken.records));
  d["means"] = owned(std::move(taken.means), players);
  d["evaluations"] = owned(std::move(taken.evaluations), players);
  d["edge_visits"] = owned(std::move(taken.edge_visits));
  d["children"] = owned(std::move(taken.children));
  d["moves"] = owned(std::move(taken.moves));
  d["repeats"] = owned(std::move(taken.repeats));
  d["edge_values"] = owned(std::move(taken.edge_values), players);
  d["priors"] = owned(std::move(taken.priors));
  d["low"] = owned(std::move(taken.low));
  d["high"] = owned(std::move(taken.high));
  d["free"] = owned(std::vector<std::uint32_t>(taken.free.begin(), taken.free.end()));
  return d;
}

void restore(BoundSearch& s, const nb::dict& d) {
  try {
    Snapshot given;
    given.visits = read<std::uint32_t>(d, "visits");
    given.parents = read<std::uint32_t>(d, "parents");
    given.edge_counts = read<std::uint32_t>(d, "edge_counts");
    given.has_prior = read<std::uint8_t>(d, "has_prior");
    given.records = read<std::uint64_t>(d, "records");
    given.means = read<double>(d, "means");
    given.evaluations = read<double>(d, "evaluations");
    given.edge_visits = read<std::uint32_t>(d, "edge_visits");
    given.children = read<std::uint32_t>(d, "children");
    given.moves = read<std::uint32_t>(d, "moves");
    given.repeats = read<std::uint32_t>(d, "repeats");
    given.edge_values = read<double>(d, "edge_values");
    given.priors = read<float>(d, "priors");
    given.low = read<double>(d, "low");
    given.high = read<double>(d, "high");
    const auto free = read<std::uint32_t>(d, "free");
    if (free.size() != given.free.size()) throw Damaged("the column free has the wrong length");
    std::copy(free.begin(), free.end(), given.free.begin());
    reporting(s, [&] {
      const nb::gil_scoped_release release;
      Archive::restore(*s.search, given);
    });
  } catch (const Damaged& error) {
    PyErr_SetString(damaged, error.what());
    throw nb::python_error();
  }
}

}  // namespace

void bind_snapshot(nb::module_& m) {
  const auto name = nb::cast<std::string>(m.attr("__name__")) + ".Damaged";
  damaged = PyErr_NewException(name.c_str(), PyExc_ValueError, nullptr);
  m.attr("Damaged") = nb::borrow(damaged);
  m.def("snapshot", &snapshot, nb::arg("search"), nb::sig("def snapshot(search: Search) -> dict[str, object]"),
        "What a search found, as columns; the rules give the rest back.");
  m.def("restore", &restore, nb::arg("search"), nb::arg("columns"),
        nb::sig("def restore(search: Search, columns: dict[str, object]) -> None"),
        "Fill a search that has not begun; raises Damaged where columns cannot be of this game and these settings.");
}
