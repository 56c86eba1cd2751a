// The verbs of compiled games, one call at a time.
#include "bound_rules.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"

void bind_rules(nb::module_& m) {
  nb::class_<BoundRules>(m, "Rules", "Compiled verbs of one instance; None means: raised, or broke a promise.")
      .def(nb::init<const nb::bytes&, std::size_t, std::size_t, std::size_t, std::int32_t, std::int32_t, std::int32_t>(),
           nb::arg("instance"), nb::kw_only(), nb::arg("state_size"), nb::arg("key_size"), nb::arg("planes"),
           nb::arg("players"), nb::arg("actions"), nb::arg("outcomes"))
      .def("set", &BoundRules::set, nb::arg("verb"), nb::arg("address"), nb::arg("owner"),
           "Take a verb's compiled address and what keeps its code in memory.")
      .def("setup", &BoundRules::setup, nb::arg("word"),
           nb::sig("def setup(self, word: int) -> tuple[bytes, int] | None"))
      .def("turn", &BoundRules::turn, nb::arg("data"), nb::sig("def turn(self, data: bytes) -> int | None"))
      .def("legal", &BoundRules::legal, nb::arg("data"), nb::arg("player"),
           nb::sig("def legal(self, data: bytes, player: int) -> list[int] | None"))
      .def("step", &BoundRules::step, nb::arg("data"), nb::arg("actions"),
           nb::sig("def step(self, data: bytes, actions: Sequence[int]) -> tuple[bytes, list[float]] | None"))
      .def("chance", &BoundRules::chance, nb::arg("data"),
           nb::sig("def chance(self, data: bytes) -> list[tuple[int, float]] | None"))
      .def("draw", &BoundRules::draw, nb::arg("data"), nb::arg("word"),
           nb::sig("def draw(self, data: bytes, word: int) -> tuple[int, int] | None"))
      .def("same", &BoundRules::same, nb::arg("data"), nb::arg("player"), nb::arg("action"),
           nb::sig("def same(self, data: bytes, player: int, action: int) -> int | None"))
      .def("key", &BoundRules::key, nb::arg("data"), nb::sig("def key(self, data: bytes) -> bytes | None"))
      .def("bounds", &BoundRules::bounds, nb::arg("data"),
           nb::sig("def bounds(self, data: bytes) -> tuple[list[float], list[float]] | None"))
      .def("event", &BoundRules::event, nb::arg("data"),
           nb::sig("def event(self, data: bytes) -> tuple[int, int, int, int] | None"))
      .def("rollout_action", &BoundRules::rollout_action, nb::arg("data"), nb::arg("player"), nb::arg("word"),
           nb::sig("def rollout_action(self, data: bytes, player: int, word: int) -> tuple[int, int] | None"))
      .def("heuristic", &BoundRules::heuristic, nb::arg("data"), nb::sig("def heuristic(self, data: bytes) -> list[float] | None"))
      .def("observe", &BoundRules::observe, nb::arg("data"), nb::arg("player"), nb::arg("planes"),
           "Write an observation into zeroed planes; False if the verb raised.")
      .def_prop_ro("instance", &BoundRules::instance, "The instance's record as it is now.");
}
