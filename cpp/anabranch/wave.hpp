// A wave: paths in flight together, the questions they ask, and all that is needed to take them back (MODEL section 7).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "anabranch/column.hpp"
#include "anabranch/graph.hpp"

namespace anabranch {

// A state that needs an evaluation: a node, or (node == kNone) a state without one, whose value an edge will keep frozen.
struct Request {
  NodeId node;
  std::uint64_t key;
  NodeId parent;                  // frozen: the edge's owner
  std::uint32_t place;            // frozen: the edge's place
  std::vector<std::byte> state;   // frozen: the state to judge
  std::vector<double> collected;  // frozen: rewards on the way there
  std::int64_t turn = 0;          // frozen: who acts in that state
};

struct PathStep {
  NodeId node;
  std::uint32_t place;  // of the edge walked; kNone where a chance node was opened
};

// What a path does next.
enum class Phase : std::uint8_t { done, walk, open, back };

// One visit of a path; an enumerated chance node wants its chance children visited first, hence a stack of them.
struct Visit {
  std::size_t path, fresh, drawn, repeated, next;  // where its stretch of each list begins; the next fresh child to visit
  NodeId at;
  NodeId ends_at;  // a node that is refreshed but not visited; kNone where there is none
};

// One simulation on its way.
struct Path {
  Column<PathStep> steps;
  Column<Visit> visits;
  Column<NodeId> fresh;          // chance children an opened node wants visited
  Column<std::uint32_t> drawn;   // places of the edges an opened node drew
  Column<PathStep> repeated;     // edges that came back into the path
  Phase phase = Phase::done;

  void clear() {
    steps.cut(0);
    visits.cut(0);
    fresh.cut(0);
    drawn.cut(0);
    repeated.cut(0);
    phase = Phase::done;
  }
};

// What a node knew before a visit inside another visit changed it.
struct Before {
  NodeId node;
  std::uint32_t visits;
  std::uint32_t walked;  // the place whose q(e) was `value`
  std::vector<double> mean, value;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
};

struct Wave {
  std::vector<Path> paths;  // the first `count` are in flight; the memory of others is kept for the next time
  std::size_t count = 0;
  std::vector<Request> asked;
  std::vector<std::pair<NodeId, std::uint32_t>> remembered;  // nodes whose evaluation is known from before an advance
  bool landing = false;  // whether its answers are being used; then nothing else begins before it is backed up
  bool waits = false;  // whether somebody outside was given the questions
  std::vector<double> logits, values;  // the answers, used when the wave lands: waves selected before must not see them
  std::size_t answers = 0, wide = 0;   // how many there are; logits of each

  // Since it began:
  std::size_t first_node = 0, first_reward = 0;
  std::size_t first_prior = SIZE_MAX;  // since its first answers
  Column<NodeId> added;             // owners of new edges, in order
  std::vector<NodeId> settled;      // nodes from before it that were asked about
  std::vector<std::pair<NodeId, std::uint32_t>> thawed, repeated;
  std::vector<double> thawed_values, low, high;
  std::vector<Before> journal;

  // Whether a path, or all of them, have found their ends and wait for their turn to be backed up.
  bool found_end(std::size_t path) const { return paths[path].phase == Phase::back && paths[path].visits.size() == 1; }
  bool complete() const {
    for (std::size_t i = 0; i < count; ++i)
      if (!found_end(i)) return false;
    return true;
  }

  void begin(const Graph& graph) {
    count = 0;
    first_node = graph.size();
    first_reward = graph.rewards.size();
    added.cut(0);
    if (!asked.empty()) [[unlikely]] asked.clear();
    if (!settled.empty()) [[unlikely]] settled.clear();
    if (busy) [[unlikely]] clear_rest();
  }

  // Announce that something was written down that most waves never write.
  Wave& noting() {
    busy = true;
    return *this;
  }

  Path& add_path() {
    busy = true;
    if (paths.size() == count) paths.emplace_back();
    Path& path = paths[count++];
    path.clear();
    return path;
  }

 private:
  __attribute__((noinline)) void clear_rest() {
    busy = false;
    remembered.clear();
    landing = false;
    waits = false;
    answers = 0;
    first_prior = SIZE_MAX;
    thawed.clear();
    repeated.clear();
    thawed_values.clear();
    low.clear();
    journal.clear();
  }

  bool busy = false;
};

}  // namespace anabranch
