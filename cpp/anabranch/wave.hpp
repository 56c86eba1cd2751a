// A wave: paths in flight together, and the evaluations they request (docs/model.md section 7).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "anabranch/column.hpp"
#include "anabranch/graph.hpp"
#include "anabranch/model.hpp"
#include "anabranch/undo.hpp"

namespace anabranch {

// Something that has to be answered before a wave can be backed up. Its kind says what:
//   node    the evaluation of a node
//   frozen  the evaluation of a state without a node, whose value an edge will keep
//   transition  where an edge leads by a learned model, and what it pays (model.hpp): with a child, or frozen
struct Request {
  enum class Kind : std::uint8_t { node, frozen, transition };

  // Of a state that an edge keeps frozen.
  struct Frozen {
    NodeId parent;                  // the edge's owner
    std::uint32_t place;            // the edge's place
    std::vector<std::byte> state;   // the state to evaluate
    std::vector<double> collected;  // rewards on the way there
    std::int64_t turn;              // who acts in that state
  };

  Kind kind;
  NodeId node;           // of a transition the parent; kNone where there is none
  std::uint32_t frozen;  // the place in the wave's list, of frozen ones; of a transition the edge's place
  std::uint64_t key;
};

struct PathStep {
  NodeId node;
  std::uint32_t place;  // of the edge walked; kNone where a chance node was opened
};

// What a path does next.
enum class Phase : std::uint8_t { done, walk, open, back };

// One visit of a path; an enumerated chance node wants its chance children visited first, hence a stack of them.
struct Visit {
  std::uint32_t path, fresh, drawn, repeated, next;  // where its stretch of each list begins; the next fresh child to visit
  NodeId at;
  NodeId ends_at;  // a node that is refreshed but not visited; kNone where there is none
};

// Steps after which a path that comes back to itself ends, where it may go round.
inline constexpr std::size_t kLoops = 1000;

// One simulation on its way.
struct Path {
  Column<PathStep> steps;
  Column<Visit> visits;
  Column<NodeId> fresh;          // chance children an opened node wants visited
  Column<std::uint32_t> drawn;   // places of the edges an opened node drew
  Column<PathStep> repeated;     // edges that came back into the path
  Column<double> chances;        // the probabilities that choices were drawn with, where a selector needs them again
  Phase phase = Phase::done;

  void begin_visit(NodeId at) {
    const auto here = [](const auto& list) { return static_cast<std::uint32_t>(list.size()); };
    visits.push({here(steps), here(fresh), here(drawn), here(repeated), here(fresh), at, kNone});
  }

  void end_visit() {
    const Visit& visit = visits.back();
    steps.cut(visit.path);
    fresh.cut(visit.fresh);
    drawn.cut(visit.drawn);
    repeated.cut(visit.repeated);
    visits.pop();
  }

  void clear() {
    steps.cut(0);
    visits.cut(0);
    fresh.cut(0);
    drawn.cut(0);
    repeated.cut(0);
    chances.cut(0);
    phase = Phase::done;
  }
};

// Count a visit in flight at a node and at the edges it will count, or (change −1) no longer. `drawn`: where those begin that an
// opened node drew.
inline void mark(Graph& g, const Path& path, const PathStep& step, std::size_t drawn, int change) {
  const auto one = static_cast<std::uint32_t>(change);
  const EdgeId first = g.nodes[step.node].edges;
  g.passing[step.node] += one;
  if (g.passing[step.node]) g.nodes[step.node].set(kMarked);
  else g.nodes[step.node].clear(kMarked);
  if (step.place != kNone) g.marks[first + step.place] += one;
  else
    for (std::size_t d = drawn; d < path.drawn.size(); ++d) g.marks[first + path.drawn[d]] += one;
}

struct Wave {
  Undo undo;
  std::vector<Request> requests;  // not answered yet
  std::vector<Request::Frozen> frozen;
  std::vector<std::pair<NodeId, std::uint32_t>> recalled;  // nodes whose evaluation was kept from before an advance
  std::vector<Path> paths;  // the first `count` are in flight; the memory of others is kept for the next time
  std::size_t count = 0;
  bool landing = false;  // whether its answers are being used; then nothing else begins before it is backed up
  bool waits = false;    // whether somebody outside was given the requests
  std::vector<double> logits, values;  // the answers, used when the wave lands: waves selected before must not see them
  std::size_t answers = 0, wide = 0;   // how many there are; logits of each
  KeptTransitions transitions;         // the answers of a model

  // Whether a path, or all of them, have found their ends and wait for their turn to be backed up.
  bool found_end(std::size_t path) const { return paths[path].phase == Phase::back && paths[path].visits.size() == 1; }
  bool complete() const {
    for (std::size_t i = 0; i < count; ++i)
      if (!found_end(i)) return false;
    return true;
  }

  void begin(const Graph& graph, bool alone) {
    undo.begin(graph, alone);
    count = 0;
    if (!requests.empty()) [[unlikely]] requests.clear();
    if (busy_) [[unlikely]] clear_rest();
  }

  // Announce that something was written down that most waves never write.
  Wave& noting() {
    busy_ = true;
    return *this;
  }

  Path& add_path() {
    busy_ = true;
    if (paths.size() == count) paths.emplace_back();
    Path& path = paths[count++];
    path.clear();
    return path;
  }

 private:
  __attribute__((noinline)) void clear_rest() {
    busy_ = false;
    frozen.clear();
    recalled.clear();
    landing = false;
    waits = false;
    answers = 0;
  }

  bool busy_ = false;
};

}  // namespace anabranch
