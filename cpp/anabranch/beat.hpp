// Long work that says now and then how far it is, and stops when it is told to.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <utility>

namespace anabranch {

// Thrown where work was told to stop.
struct Stopped {};

// Counts work, looks at the clock when much was done, and asks `go_on` ten times a second or so.
class Beat {
 public:
  explicit Beat(std::function<bool()> go_on) : go_on_(std::move(go_on)) {}

  void count(std::size_t work) {
    done_ += work;
    if (done_ >= kLook) [[unlikely]] look();
  }

 private:
  static constexpr std::size_t kLook = 1024;  // calls of verbs, or as much: a millisecond or less
  static constexpr std::chrono::milliseconds kEvery{100};

  __attribute__((noinline)) void look() {
    done_ = 0;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + kEvery;
    if (!go_on_()) throw Stopped{};
  }

  std::function<bool()> go_on_;
  std::size_t done_ = 0;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + kEvery;
};

}  // namespace anabranch
