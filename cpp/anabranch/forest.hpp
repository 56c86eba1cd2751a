// Many roots abreast: each graph belongs to one thread at a time, and results do not depend on how many threads there are.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "anabranch/playout.hpp"

namespace anabranch {

using Clock = std::chrono::steady_clock;

// How far to search: until every root has its goal of visits, or until the time is up.
struct Budget {
  std::vector<std::uint64_t> goals;  // one per root; the largest number for "until the time is up"
  Clock::time_point deadline = Clock::time_point::max();
};

// Reads the clock every few milliseconds instead of every playout, however long playouts take.
class Watch {
 public:
  // Whether it is time to look up from the work.
  bool due() {
    if (++count_ < interval_) return false;
    const auto now = Clock::now();
    const auto passed = std::chrono::duration<double, std::milli>(now - last_).count();
    last_ = now;
    count_ = 0;
    if (passed < 2.0 && interval_ < 1u << 20) interval_ *= 2;
    else if (passed > 8.0 && interval_ > 1) interval_ = std::max(1u, static_cast<std::uint32_t>(interval_ * (4.0 / passed)));
    return true;
  }

 private:
  std::uint32_t count_ = 0, interval_ = 1;
  Clock::time_point last_ = Clock::now();
};

class Forest {
 public:
  // Search roots whose evaluator is native. `poll` is called now and then on the calling thread and may stop the work by
  // returning false. Returns the simulations done per root; if a game failed, the failure of the first root that failed is
  // thrown, with every graph as it was before the playout in question.
  template <class Poll>
  static std::vector<std::uint64_t> run(const std::vector<Search*>& roots, const Budget& budget, std::size_t threads, Poll&& poll) {
    Work work{roots, budget, std::vector<std::uint64_t>(roots.size(), 0)};
    threads = std::max<std::size_t>(1, std::min(threads, roots.size()));
    std::vector<std::thread> helpers;
    helpers.reserve(threads - 1);
    for (std::size_t i = 1; i < threads; ++i) helpers.emplace_back([&work] { work.take([] { return true; }); });
    work.take(poll);
    for (std::thread& helper : helpers) {
      // The caller may have run out of roots first; it goes on polling while the others finish.
      while (work.busy.load() > 0 && !work.stopped.load()) {
        if (!poll()) work.stopped = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      helper.join();
    }
    if (work.error) std::rethrow_exception(work.error);
    return work.done;
  }

 private:
  struct Work {
    const std::vector<Search*>& roots;
    const Budget& budget;
    std::vector<std::uint64_t> done;
    std::atomic<std::size_t> next{0};
    std::atomic<int> busy{0};
    std::atomic<bool> stopped{false};
    std::mutex mutex{};
    std::exception_ptr error{};
    std::size_t error_root = SIZE_MAX;

    template <class Poll>
    void take(Poll&& poll) {
      ++busy;
      for (std::size_t i = next++; i < roots.size() && !stopped; i = next++) {
        try {
          search(i, poll);
        } catch (...) {
          const std::lock_guard<std::mutex> guard(mutex);
          if (i < error_root) {
            error_root = i;
            error = std::current_exception();
          }
          stopped = true;
        }
      }
      --busy;
    }

    template <class Poll>
    void search(std::size_t i, Poll&& poll) {
      Search& root = *roots[i];
      Watch watch;
      root.graph().reserve(root.graph().size() + std::min<std::uint64_t>(budget.goals[i], 1 << 12) + 1);
      guarded(root, [&] {
        if (!root.root_ready()) root.begin_root();
      });
      while (!root.over() && root.root_visits() < budget.goals[i] && !stopped.load(std::memory_order_relaxed)) {
        if (watch.due()) {
          if (Clock::now() >= budget.deadline) break;
          if (!poll()) stopped = true;
        }
        guarded(root, [&] {
          root.begin();
          root.proceed();
        });
        ++done[i];
      }
    }
  };

 public:
  // Do something to a root; whatever goes wrong, undo it and tell which line of play led there.
  template <class Action>
  static void guarded(Search& root, Action&& action) {
    try {
      action();
    } catch (Failure& failure) {
      failure.search = &root;
      failure.line = root.line();
      root.undo();
      throw;
    } catch (...) {
      root.undo();
      throw;
    }
  }
};

}  // namespace anabranch
