// How widely values scatter below a search's nodes, and what its scale `graph` has seen.
#include "anabranch/moments.hpp"

#include <nanobind/ndarray.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "bound_search.hpp"

namespace {

// A vector as a NumPy array of so many columns, which owns it.
nb::ndarray<nb::numpy, double> owned(std::vector<double>&& values, std::size_t columns) {
  auto* kept = new std::vector<double>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  return nb::ndarray<nb::numpy, double>(kept->data(), {kept->size() / columns, columns}, owner);
}

nb::tuple variances(const BoundSearch& s) {
  const Search& search = idle(s);
  const Graph& g = search.graph();
  const Moments moments(g, search.config());
  const Node& root = g.nodes[0];
  std::vector<double> nodes, edges;
  for (NodeId id = 0; id < g.size(); ++id)
    for (std::size_t p = 0; p < g.players; ++p) nodes.push_back(moments.node(id, p).variance);
  for (EdgeId e = root.edges; e < root.edges + root.edge_count; ++e)
    for (std::size_t p = 0; p < g.players; ++p) edges.push_back(moments.edge(root, e, p).variance);
  return nb::make_tuple(owned(std::move(nodes), g.players), owned(std::move(edges), g.players));
}

nb::ndarray<nb::numpy, double> value_range(const BoundSearch& s) {
  const Graph& g = idle(s).graph();
  std::vector<double> ends = g.low;
  ends.insert(ends.end(), g.high.begin(), g.high.end());
  return owned(std::move(ends), g.players);
}

}  // namespace

void bind_moments(nb::module_& m) {
  m.def("variances", &variances, nb::arg("search"),
        nb::sig("def variances(search: Search) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]"),
        "The variance of the values below every node [nodes, P], and over every edge of the root [edges, P].");
  m.def("value_range", &value_range, nb::arg("search"),
        nb::sig("def value_range(search: Search) -> numpy.typing.NDArray[numpy.float64]"),
        "The least and the largest q(e) that the scale `graph` has seen [2, P]; infinite where it is not in use.");
}
