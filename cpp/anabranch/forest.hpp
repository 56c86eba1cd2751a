// Many roots abreast: each graph belongs to one thread at a time, and results do not depend on how many threads there are.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "anabranch/report.hpp"

namespace anabranch {

using Clock = std::chrono::steady_clock;

// How far to search: until every root has its goal of visits, or until the time is up.
struct Budget {
  std::vector<std::uint64_t> goals;  // one per root; the largest number for "until the time is up"
  Clock::time_point deadline = Clock::time_point::max();
};

// Reads the clock now and then: a few times a millisecond, but never after more than 256 playouts, for they may become slow
// without warning.
class Watch {
 public:
  enum class Says : std::uint8_t { nothing, time, look_up };  // the clock was read; it is also time to look up from the work

  Says says() {
    if (++count_ < interval_) return Says::nothing;
    count_ = 0;
    const double passed = milliseconds(Clock::now() - now_);
    now_ = Clock::now();
    if (passed < 0.05 && interval_ < 256) interval_ *= 2;
    else if (passed > 0.2 && interval_ > 1) interval_ = std::max(1u, static_cast<std::uint32_t>(interval_ * (0.1 / passed)));
    if (!first_ && milliseconds(now_ - looked_) < 2.0) return Says::time;
    first_ = false;
    looked_ = now_;
    return Says::look_up;
  }

  Clock::time_point now() const { return now_; }

 private:
  static double milliseconds(Clock::duration time) { return std::chrono::duration<double, std::milli>(time).count(); }

  std::uint32_t count_ = 0, interval_ = 1;
  bool first_ = true;
  Clock::time_point now_ = Clock::now(), looked_ = now_;
};

class Forest {
 public:
  // Search roots whose evaluator is native. `poll` is called now and then on the calling thread and may stop the work by
  // returning false. Returns the simulations done per root; if a game failed, the failure of the first root that failed is
  // thrown, with every graph as it was before the playout in question.
  template <class Poll>
  static std::vector<std::uint64_t> run(const std::vector<Search*>& roots, const Budget& budget, std::size_t threads, Poll&& poll) {
    Work work{roots, budget, std::vector<std::uint64_t>(roots.size(), 0)};
    const TeamOfOneRoot team(roots, threads);
    threads = std::max<std::size_t>(1, std::min(threads, roots.size()));
    std::vector<std::thread> helpers;
    start_threads(helpers, threads, [&work](std::size_t i) {
      work.threads.wait(0);
      work.take([] { return true; }, i);
    });
    work.threads = helpers.size() + 1;  // as many as could be started
    work.threads.notify_all();
    work.take(poll, 0);
    // The caller may have run out of roots first; it goes on polling while the others finish.
    while (!work.stopped && !work.all_rest_within(std::chrono::milliseconds(1)))
      if (!poll()) work.stopped = true;
    for (std::thread& helper : helpers) helper.join();
    if (work.error) std::rethrow_exception(work.error);
    return work.done;
  }

 private:
  // With a single root the threads share the rollouts of each leaf instead.
  struct TeamOfOneRoot {
    TeamOfOneRoot(const std::vector<Search*>& roots, std::size_t threads) {
      if (roots.size() != 1 || threads < 2 || !roots[0]->shares_rollouts()) return;
      root = roots[0];
      team = std::make_unique<Team>(threads);
      root->set_team(team.get());
    }
    TeamOfOneRoot(const TeamOfOneRoot&) = delete;
    TeamOfOneRoot& operator=(const TeamOfOneRoot&) = delete;
    ~TeamOfOneRoot() {
      if (root) root->set_team(nullptr);
    }
    std::unique_ptr<Team> team;
    Search* root = nullptr;
  };

  static constexpr std::uint64_t kLongTurn = 256;  // waves after which somebody looks up from the work
  static constexpr std::uint64_t kTurn = 16;  // waves before the next root's turn, where the clock decides

  struct Work {
    const std::vector<Search*>& roots;
    const Budget& budget;
    std::vector<std::uint64_t> done;
    std::atomic<std::size_t> next{0}, threads{0};
    std::atomic<bool> stopped{false}, late{false};
    std::mutex mutex{};
    std::condition_variable rests{};
    std::size_t resting = 0;  // threads that have no more to do
    std::exception_ptr error{};
    std::size_t error_root = SIZE_MAX;

    // One thread's part: root after root, or, against the clock, its share of the roots in turn, so that none goes short.
    template <class Poll>
    void take(Poll&& poll, std::size_t thread) {
      Watch watch;
      if (budget.deadline == Clock::time_point::max()) {
        for (std::size_t i = next++; i < roots.size() && !stopped; i = next++) attempt(i, watch, UINT64_MAX, poll);
      } else {
        for (bool more = true; more && !stopped;) {
          more = false;
          for (std::size_t i = thread; i < roots.size() && !stopped; i += threads)
            more |= attempt(i, watch, kTurn, poll) && !roots[i]->over() && !roots[i]->solved();
        }
      }
      const std::lock_guard<std::mutex> guard(mutex);
      ++resting;
      rests.notify_one();
    }

    bool all_rest_within(std::chrono::milliseconds time) {
      std::unique_lock<std::mutex> lock(mutex);
      return rests.wait_for(lock, time, [&] { return resting == threads; });
    }

    template <class Poll>
    bool attempt(std::size_t i, Watch& watch, std::uint64_t most, Poll&& poll) {
      try {
        return search(i, watch, most, poll);
      } catch (...) {
        const std::lock_guard<std::mutex> guard(mutex);
        if (i < error_root) {
          error_root = i;
          error = std::current_exception();
        }
        stopped = true;
        return false;
      }
    }

    // Search a root to its goal, by at most so many waves; false once the time is up.
    template <class Poll>
    bool search(std::size_t i, Watch& watch, std::uint64_t most, Poll&& poll) {
      Search& root = *roots[i];
      root.graph().reserve(root.graph().size() + std::min<std::uint64_t>(budget.goals[i], 1 << 12) + 1);
      const std::uint64_t before = root.root_visits();
      bool timely = true;
      const auto more = [&] {
        if (most == 0 || stopped.load(std::memory_order_relaxed)) return false;
        --most;
        const Watch::Says said = watch.says();
        if (said != Watch::Says::nothing && watch.now() >= budget.deadline) late = true;
        if (said == Watch::Says::look_up && !poll()) stopped = true;
        timely = !late && !stopped.load(std::memory_order_relaxed);
        return timely;
      };
      guarded(root, [&] { root.proceed(budget.goals[i], false, more); });
      done[i] += root.root_visits() - before;
      return timely;
    }
  };

 public:
  // What a root does after a turn: it asks, it waits for answers or is done, or it was only interrupted.
  enum class After : std::uint8_t { rests, asks, goes_on };

  // Let every root search on until it asks or has reached its goal, or for so many waves: they may go on for long without a
  // question. `before(root)` is called first. On as many threads as a team has (nullptr: this one). If a game failed, the failure of the first root that
  // failed is thrown.
  template <class Before>
  static std::vector<After> gather(const std::vector<Search*>& roots, const std::vector<std::uint64_t>& goals, bool late, Team* team,
                                   const Before& before) {
    std::vector<After> after(roots.size(), After::rests);
    gather(roots, goals, late, team, before, [](std::size_t) {}, after);
    return after;
  }
  // The same where somebody looks at what a root asks while it is in the processor's caches: `asked(root)`.
  template <class Before, class Asked>
  static void gather(const std::vector<Search*>& roots, const std::vector<std::uint64_t>& goals, bool late, Team* team,
                     const Before& before, const Asked& asked, std::vector<After>& after) {
    each(roots, team, [&](std::size_t i) {
      after[i] = After::rests;
      before(i);
      std::uint32_t waves = kLongTurn;
      const auto more = [&] { return waves-- > 0; };
      Search& root = *roots[i];
      if (root.proceed(goals[i], late, more)) {
        root.handed_out();
        after[i] = After::asks;
        asked(i);
      } else if (!late && !root.in_flight() && !root.over() && !root.solved() && root.root_visits() < goals[i]) {
        after[i] = After::goes_on;
      }
    });
  }

  // Do something to every root; whatever goes wrong, undo the root's waves and throw the failure of the first root that failed.
  template <class Action>
  static void each(const std::vector<Search*>& roots, Team* team, const Action& action) {
    std::mutex mutex;
    std::exception_ptr error;
    std::size_t error_root = SIZE_MAX;
    const auto attempt = [&](std::size_t i, std::size_t) {
      try {
        guarded(*roots[i], [&] { action(i); });
      } catch (...) {
        const std::lock_guard<std::mutex> guard(mutex);
        if (i >= error_root) return;
        error_root = i;
        error = std::current_exception();
      }
    };
    if (team && roots.size() > 1) team->each(roots.size(), attempt);
    else
      for (std::size_t i = 0; i < roots.size() && !error; ++i) {
        // Many roots abreast do not fit into the fastest caches: call for those that come next, first for what leads to their graphs.
        if (roots.size() >= kMany && i + kAhead < roots.size()) prefetch(roots[i + kAhead]);
        if (i + 2 < roots.size()) roots[i + 2]->prefetch_nodes();
        if (i + 1 < roots.size()) roots[i + 1]->prefetch_edges();
        attempt(i, 0);
      }
    if (error) std::rethrow_exception(error);
  }

  static constexpr std::size_t kMany = 32, kAhead = 5;  // roots abreast, and how many of them lie between a call and the search

  static void prefetch(const Search* search) {
    const auto* first = reinterpret_cast<const std::byte*>(search);
    for (std::size_t at = 0; at < sizeof(Search); at += 64) __builtin_prefetch(first + at);
  }

  // Do something to a root; whatever goes wrong, undo it and tell which line of play led there.
  template <class Action>
  static void guarded(Search& root, Action&& action) {
    root.enter();
    try {
      action();
    } catch (Failure& failure) {
      failure.search = &root;
      failure.line = failure.node == kNone ? line_in_hand(root) : line_to(root, failure.node, {failure.node, failure.place});
      root.undo();
      throw;
    } catch (...) {
      root.undo();
      throw;
    }
  }
};

}  // namespace anabranch
