// Random numbers, so that tests can hold the Python ones against them.
#include "anabranch/random.hpp"

#include <nanobind/stl/vector.h>

#include <vector>

#include "bindings.hpp"

namespace nb = nanobind;
using namespace anabranch;

void bind_random(nb::module_& m) {
  m.def("mix", &mix, nb::arg("word"), "Scramble 64 bits one to one.");
  m.def("key_of", [](const std::vector<std::uint64_t>& words) { return key_of(words); }, nb::arg("words"),
        "One 64-bit key for a sequence of words.");
  m.def("key_of_bytes",
        [](const nb::bytes& data) { return key_of_bytes(static_cast<const std::byte*>(data.data()), data.size()); },
        nb::arg("data"), "The node key of a state.");
  m.def(
      "numbers",
      [](std::uint64_t key, std::int32_t n, std::size_t count) {
        Random random{key};
        std::vector<std::int32_t> drawn;
        for (std::size_t i = 0; i < count; ++i) drawn.push_back(random.below(n));
        return drawn;
      },
      nb::arg("key"), nb::arg("n"), nb::arg("count"), "`count` integers in [0, n) from one key.");
}
