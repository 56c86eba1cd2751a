// Graphs as columns for files: taken from a search, and brought back into a fresh one.
#include "anabranch/restore.hpp"

#include <nanobind/ndarray.h>

#include <string>

#include "arrays.hpp"
#include "bindings.hpp"
#include "bound_search.hpp"

namespace {

PyObject* damaged = nullptr;

template <class T>
std::vector<T> read(const nb::dict& columns, const char* name) {
  using Array = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;
  if (!columns.contains(name)) throw Damaged("the column " + std::string(name) + " is missing");
  Array array;
  if (!nb::try_cast<Array>(columns[name], array, false))
    throw Damaged("the column " + std::string(name) + " is not of the right kind");
  return std::vector<T>(array.data(), array.data() + array.size());
}

// A declared column as an array of rows.
nb::object array_of(SavedColumn&& column) {
  auto* kept = new std::vector<std::byte>(std::move(column.bytes));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<std::byte>*>(p); });
  const std::size_t shape[2] = {kept->size() / (column.item * column.width), column.width};
  const nb::dlpack::dtype type{static_cast<std::uint8_t>(column.floating ? nb::dlpack::dtype_code::Float : nb::dlpack::dtype_code::UInt),
                               static_cast<std::uint8_t>(column.item * 8), 1};
  return nb::cast(nb::ndarray<nb::numpy>(kept->data(), column.width == 1 ? 1 : 2, shape, owner, nullptr, type));
}

template <class T>
SavedColumn read_column(const nb::dict& columns, const Rows<T>& column) {
  const std::vector<T> values = read<T>(columns, column.name);
  const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
  return {column.name, std::is_floating_point_v<T>, sizeof(T), column.width, {bytes, bytes + values.size() * sizeof(T)}};
}

nb::dict snapshot(BoundSearch& s) {
  const Search& search = idle(s);
  Snapshot taken = Snapshots::take(search);
  const std::size_t players = search.graph().players;
  nb::dict d;
  d["visits"] = owned(std::move(taken.visits));
  d["parents"] = owned(std::move(taken.parents));
  d["edge_counts"] = owned(std::move(taken.edge_counts));
  d["has_rows"] = owned(std::move(taken.has_rows));
  d["records"] = owned(std::move(taken.records));
  d["means"] = owned(std::move(taken.means), players);
  d["evaluations"] = owned(std::move(taken.evaluations), players);
  d["edge_visits"] = owned(std::move(taken.edge_visits));
  d["children"] = owned(std::move(taken.children));
  d["moves"] = owned(std::move(taken.moves));
  d["edge_values"] = owned(std::move(taken.edge_values), players);
  d["frozen"] = owned(std::move(taken.frozen));
  d["low"] = owned(std::move(taken.low));
  d["high"] = owned(std::move(taken.high));
  d["free"] = owned(std::vector<std::uint32_t>(taken.free.begin(), taken.free.end()));
  d["link_parents"] = owned(std::move(taken.link_parents));
  d["link_children"] = owned(std::move(taken.link_children));
  if (!taken.run.empty()) {
    d["run"] = owned(std::move(taken.run));
    d["run_before"] = owned(std::move(taken.run_before));
  }
  for (SavedColumn& column : taken.columns) d[column.name.c_str()] = array_of(std::move(column));
  return d;
}

void restore(BoundSearch& s, const nb::dict& d) {
  try {
    Snapshot given;
    given.visits = read<std::uint32_t>(d, "visits");
    given.parents = read<std::uint32_t>(d, "parents");
    given.edge_counts = read<std::uint32_t>(d, "edge_counts");
    given.has_rows = read<std::uint8_t>(d, "has_rows");
    given.records = read<std::uint64_t>(d, "records");
    given.means = read<double>(d, "means");
    given.evaluations = read<double>(d, "evaluations");
    given.edge_visits = read<std::uint32_t>(d, "edge_visits");
    given.children = read<std::uint32_t>(d, "children");
    given.moves = read<std::uint32_t>(d, "moves");
    given.edge_values = read<double>(d, "edge_values");
    given.frozen = read<std::uint8_t>(d, "frozen");
    given.low = read<double>(d, "low");
    given.high = read<double>(d, "high");
    const auto free = read<std::uint32_t>(d, "free");
    if (free.size() != given.free.size()) throw Damaged("the column free has the wrong length");
    std::copy(free.begin(), free.end(), given.free.begin());
    given.link_parents = read<std::uint32_t>(d, "link_parents");
    given.link_children = read<std::uint32_t>(d, "link_children");
    if (d.contains("run")) {
      given.run = read<std::uint64_t>(d, "run");
      given.run_before = read<std::uint32_t>(d, "run_before");
    }
    const Graph& g = idle(s).graph();
    const auto read_saved = [&](const auto& column) {
      if (column.saved) given.columns.push_back(read_column(d, column));
    };
    g.each_node_column(read_saved);
    g.each_edge_column(read_saved);
    g.each_choice_column(read_saved);
    reporting(s, [&] {
      const nb::gil_scoped_release release;
      Restore::into(*s.search, given);
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
  m.def("saved_columns",
        [] {
          nb::dict kinds;
          for (const SavedName& each : saved_names())
            kinds[each.name] = (each.floating ? "<f" : "<u") + std::to_string(each.item);
          return kinds;
        },
        nb::sig("def saved_columns() -> dict[str, str]"), "The declared columns that files hold, where they are kept, and their types.");
  m.def("snapshot", &snapshot, nb::arg("search"), nb::sig("def snapshot(search: Search) -> dict[str, object]"),
        "What a search found, as columns; the rules give the rest back.");
  m.def("restore", &restore, nb::arg("search"), nb::arg("columns"),
        nb::sig("def restore(search: Search, columns: dict[str, object]) -> None"),
        "Fill a search that has not begun; raises Damaged where columns cannot be of this game and these settings.");
}
