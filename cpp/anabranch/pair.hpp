// Two numbers that go through the same operations: the processor does both at once, each as it would alone.
#pragma once

#include <cstring>

namespace anabranch {

using Pair = double __attribute__((vector_size(16)));

inline Pair both(double number) { return Pair{number, number}; }
inline Pair load_pair(const double* from) {
  Pair pair;
  std::memcpy(&pair, from, sizeof(pair));
  return pair;
}
inline void store_pair(double* to, Pair pair) { std::memcpy(to, &pair, sizeof(pair)); }

}  // namespace anabranch
