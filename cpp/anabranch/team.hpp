// A few threads that share one loop: the rollouts of one leaf, when there is only one root to search.
//
// Items are claimed one at a time from a ticket that holds the job's number, its size and the next item, all in one word, so
// a thread that wakes up late finds the job gone and touches nothing of it. The caller works too and never waits for a
// thread that has not claimed anything. Which thread did an item leaves no trace in the results.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace anabranch {

// Start threads number 1 to `count` − 1 of a work that the caller is part of; fewer where the system starts no more.
template <class Work>
void start_threads(std::vector<std::thread>& threads, std::size_t count, const Work& work) {
  threads.reserve(count);
  try {
    for (std::size_t number = 1; number < count; ++number) threads.emplace_back([work, number] { work(number); });
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {
  }
}

class Team {
 public:

  // So many members, the caller included; fewer where the system starts no more threads.
  explicit Team(std::size_t members) {
    start_threads(helpers_, members, [this](std::size_t member) { help(member); });
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team() {
    stopped_ = true;
    ticket_.fetch_add(kJob);
    ticket_.notify_all();
    for (std::thread& helper : helpers_) helper.join();
  }

  std::size_t members() const { return helpers_.size() + 1; }

  // Do work(item, member) for every item below count. It must not throw.
  template <class Work>
  void each(std::size_t count, const Work& work) {
    for (std::size_t first = 0; first < count; first += kItem)
      do_job(std::min<std::size_t>(count - first, kItem), [&](std::size_t item, std::size_t member) { work(first + item, member); });
  }

 private:
  static constexpr std::uint64_t kJob = std::uint64_t{1} << 40, kItem = (1 << 20) - 1;

  // The same for at most kItem of them.
  template <class Work>
  void do_job(std::size_t count, const Work& work) {
    call_ = [](const void* context, std::size_t item, std::size_t member) { (*static_cast<const Work*>(context))(item, member); };
    context_ = &work;
    done_.store(0, std::memory_order_relaxed);
    const std::uint64_t job = (ticket_.load(std::memory_order_relaxed) / kJob + 1) * kJob;
    ticket_.store(job | static_cast<std::uint64_t>(count) << 20, std::memory_order_release);
    ticket_.notify_all();
    take(job / kJob, 0);
    while (done_.load(std::memory_order_acquire) < count) pause();
  }

  // Claim and do items of one job until none is left.
  void take(std::uint64_t job, std::size_t member) {
    std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
    while (ticket / kJob == job && (ticket & kItem) < (ticket >> 20 & kItem)) {
      if (!ticket_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acq_rel)) continue;
      call_(context_, ticket & kItem, member);
      done_.fetch_add(1, std::memory_order_release);
      ticket = ticket_.load(std::memory_order_acquire);
    }
  }

  void help(std::size_t member) {
    std::uint64_t seen = 0;
    while (!stopped_) {
      std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
      for (int spin = 0; ticket / kJob == seen && spin < 2000; ++spin) {  // the next leaf is microseconds away
        pause();
        ticket = ticket_.load(std::memory_order_acquire);
      }
      if (ticket / kJob == seen) {
        ticket_.wait(ticket, std::memory_order_acquire);
        continue;
      }
      seen = ticket / kJob;
      take(seen, member);
    }
  }

  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

  void (*call_)(const void*, std::size_t, std::size_t) = nullptr;
  const void* context_ = nullptr;
  std::atomic<std::uint64_t> ticket_{0};
  std::atomic<std::size_t> done_{0};
  std::atomic<bool> stopped_{false};
  std::vector<std::thread> helpers_;
};

}  // namespace anabranch
