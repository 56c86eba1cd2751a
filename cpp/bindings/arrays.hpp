// Memory of the engine as NumPy arrays.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "anabranch/column.hpp"

namespace nb = nanobind;

// Memory that becomes an array.
template <class T>
class Buffer {
 public:
  explicit Buffer(std::size_t count) { memory_->extend(count); }
  T* data() { return memory_->data(); }
  nb::object array(const std::vector<std::size_t>& shape) {
    T* first = memory_->data();
    const nb::capsule owner(memory_.release(), [](void* p) noexcept { delete static_cast<anabranch::Column<T>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T>(first, shape.size(), shape.data(), owner));
  }

 private:
  std::unique_ptr<anabranch::Column<T>> memory_ = std::make_unique<anabranch::Column<T>>();
};

// A vector as an array of rows of `width`, which owns it; of one dimension where that is 1.
template <class T>
nb::object owned(std::vector<T>&& values, std::size_t width = 1) {
  auto* kept = new std::vector<T>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  const std::size_t shape[2] = {kept->size() / width, width};
  return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), width == 1 ? 1 : 2, shape, owner));
}
