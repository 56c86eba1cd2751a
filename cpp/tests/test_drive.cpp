// Many roots whose evaluator works on a thread of its own while they go on, as the Python driver has it with a depth of 2.
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "anabranch/forest.hpp"
#include "anabranch/requests.hpp"
#include "check.hpp"
#include "games.hpp"
#include "said.hpp"

namespace {

struct Answered {
  std::unique_ptr<Requests> requests;
  std::vector<double> logits, values;
};

// Takes requests, looks at all of them, and gives back what `Hashing` says, in order.
class Evaluator {
 public:
  Evaluator() : thread_([this] { work(); }) {}
  ~Evaluator() {
    ask(nullptr);
    thread_.join();
  }
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  void ask(std::unique_ptr<Requests> requests) {
    const std::lock_guard<std::mutex> guard(mutex_);
    asked_.push_back(std::move(requests));
    changed_.notify_all();
  }
  Answered answer() {
    std::unique_lock<std::mutex> guard(mutex_);
    changed_.wait(guard, [this] { return !answered_.empty(); });
    Answered first = std::move(answered_.front());
    answered_.pop_front();
    return first;
  }

 private:
  void work() {
    const NativeEvaluator hashing = evaluator_of(NativeEvaluator::Kind::hashing);
    for (;;) {
      Answered next;
      {
        std::unique_lock<std::mutex> guard(mutex_);
        changed_.wait(guard, [this] { return !asked_.empty(); });
        next.requests = std::move(asked_.front());
        asked_.pop_front();
      }
      if (!next.requests) return;
      const Requests& rows = *next.requests;
      const std::size_t wide = rows.players() * rows.actions();
      const auto mask = std::make_unique<bool[]>(rows.rows() * rows.actions());
      CHECK(rows.legal(false, mask.get()) == -1);
      next.logits.resize(rows.rows() * wide);
      next.values.resize(rows.rows() * rows.players());
      for (std::size_t i = 0; i < rows.rows(); ++i)
        evaluate_by_hash(hashing, rows.key(i), rows.players(), rows.actions(), -1.0, 1.0, &next.logits[i * wide], &next.values[i * rows.players()]);
      Numbers logits, values;
      logits.both = next.logits.data();
      logits.wide = wide;
      values.both = next.values.data();
      values.wide = rows.players();
      CHECK(rows.first_bad(logits, values) == Requests::kUsable);
      CHECK(rows.first_bad(logits, values, -1.0, 1.0) == Requests::kUsable);
      CHECK(rows.first_bad(logits, values, 2.0, 3.0) == Requests::kOutside);
      const std::lock_guard<std::mutex> guard(mutex_);
      answered_.push_back(std::move(next));
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Requests>> asked_;
  std::deque<Answered> answered_;
  std::thread thread_;
};

}  // namespace

TEST(an_evaluator_on_another_thread_finds_what_one_inside_finds) {
  const Rules rules = games::ConnectFour::rules();
  const games::ConnectFour::State start{};
  const auto* record = reinterpret_cast<const std::byte*>(&start);
  constexpr std::size_t kRoots = 24;
  constexpr std::uint64_t kGoal = 60;
  for (const std::size_t members : {1, 2, 4}) {
    Config config;
    config.width = 3;
    config.depth = 2;
    std::vector<std::unique_ptr<Search>> own;
    std::vector<Search*> roots;
    for (std::size_t i = 0; i < kRoots; ++i) {
      own.push_back(std::make_unique<Search>(rules, config, evaluator_of(NativeEvaluator::Kind::none), i, record));
      roots.push_back(own.back().get());
    }
    const std::vector<std::uint64_t> goals(kRoots, kGoal);
    Team team(members);
    Evaluator evaluator;
    std::size_t pending = 0;
    const auto nothing = [](std::size_t) {};
    for (;;) {
      std::unique_ptr<Requests> made;
      if (pending < config.depth) {
        const std::vector<Forest::After> after = Forest::gather(roots, goals, false, &team, nothing);
        for (std::size_t i = 0; i < kRoots; ++i) {
          if (after[i] != Forest::After::asks) continue;
          if (!made) made = std::make_unique<Requests>(rules);
          made->add(i, *roots[i], rules);
        }
      }
      if (made) {
        evaluator.ask(std::move(made));
        ++pending;
      } else if (pending > 0) {
        const Answered told = evaluator.answer();
        --pending;
        const std::size_t wide = rules.players * static_cast<std::size_t>(rules.actions);
        std::size_t row = 0;
        for (const Requests::Root& root : told.requests->roots) {
          roots[root.index]->enter();
          roots[root.index]->answer(&told.logits[row * wide], wide, &told.values[row * static_cast<std::size_t>(rules.players)]);
          row += root.count;
        }
      } else {
        break;
      }
    }
    for (std::size_t i = 0; i < kRoots; ++i) {
      Search inside(rules, config, evaluator_of(NativeEvaluator::Kind::hashing), i, record);
      run(inside, kGoal);
      CHECK(roots[i]->root_visits() == kGoal);
      CHECK(same(said(*roots[i]), said(inside)));
    }
  }
}
