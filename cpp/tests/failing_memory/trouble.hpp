// Allocations that fail.
#pragma once

#include <cstdint>

enum class Fails : std::uint8_t { once, from_then_on };

// While it lives, the `at`-th allocation fails, or all from there on.
class Trouble {
 public:
  Trouble(Fails kind, long at);
  ~Trouble();
  Trouble(const Trouble&) = delete;
  Trouble& operator=(const Trouble&) = delete;
};
