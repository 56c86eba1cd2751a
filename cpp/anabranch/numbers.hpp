// Tables of numbers as Python gives them: rows of floats or doubles, one after the other.
#pragma once

#include <cstddef>
#include <vector>

namespace anabranch {

struct Numbers {
  const float* single = nullptr;
  const double* both = nullptr;  // either this one or that one
  std::size_t wide = 0;          // numbers of a row

  bool given() const { return single || both; }
  double at(std::size_t index) const { return single ? static_cast<double>(single[index]) : both[index]; }

  // The rows from `first` on.
  Numbers from(std::size_t first) const {
    return {single ? single + first * wide : nullptr, both ? both + first * wide : nullptr, wide};
  }

  // Rows from `first` on as doubles; `buffer` is where they are put if they are not.
  const double* rows(std::size_t first, std::size_t count, std::vector<double>& buffer) const {
    if (!single) return both ? both + first * wide : nullptr;
    buffer.resize(count * wide);
    for (std::size_t i = 0; i < count * wide; ++i) buffer[i] = static_cast<double>(single[first * wide + i]);
    return buffer.data();
  }
};

}  // namespace anabranch
