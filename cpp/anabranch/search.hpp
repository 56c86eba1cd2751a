// The search of one root: waves of paths over its graph, and what stays when the root moves on (MODEL sections 7 and 8).
//
// Whoever drives it calls `proceed` with a goal until it returns false. While it returns true, a wave has questions that
// nobody was given yet: `asked` holds them, and `answer` must follow for each, in the order in which waves asked. A wave is all
// or nothing: whatever fails, `undo` restores the graph to what it was before the waves in flight.
//
// Of waves in flight only the oldest may change what others see: nested visits, answers and backups wait for their turn, and
// no wave is selected behind one whose paths have not found their ends. So all that waves make lies on the columns like a
// stack, the newest wave's on top.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "anabranch/reroot.hpp"
#include "anabranch/walk.hpp"

namespace anabranch {

enum class Keep : std::uint8_t { graph, evaluations, nothing };

class Search : public Walker {
  friend class Archive;  // snapshot.hpp

 public:
  Search(const Rules& rules, const Config& config, const NativeEvaluator& evaluator, std::uint64_t stream, const std::byte* root)
      : Walker(rules, config, evaluator, stream) {
    plant(root);
  }

  bool native() const { return evaluators_.native(); }
  void set_team(Team* team) { evaluators_.set_team(team); }
  bool shares_rollouts() const { return evaluators_.shares_rollouts(config_.width); }

  // What counts as the root's visits: Σ N(e), or the completed visits of a chance node.
  std::uint64_t root_visits() const {
    const Node& root = graph_.nodes[0];
    return root.kind == Kind::decision ? (root.visits ? root.visits - 1 : 0) : root.kind == Kind::chance ? root.visits : 0;
  }
  bool over() const { return graph_.nodes[0].kind == Kind::over; }
  bool root_ready() const { return graph_.nodes[0].kind != Kind::decision || graph_.nodes[0].visits > 0; }
  bool in_flight() const { return !waves_.empty(); }

  // Search on until the root has its goal of visits (false), or there are questions to hand out (true; see `asked`), or those
  // handed out must be answered first (false; see `in_flight`). `late`: begin no other wave. Evaluators that are native are
  // asked at once, and `more` is called before every wave; it may stop the search by returning false.
  template <class More>
  bool proceed(std::uint64_t goal, bool late, More&& more) {
    if (config_.sequential()) return proceed_alone(goal, late, more);
    return proceed_in_waves(goal, late, more);
  }

  // The questions to hand out: of the wave that asked last.
  const std::vector<Request>& asked() const { return waves_.back()->asked; }
  void handed_out() { waves_.back()->noting().waits = true; }

  // How many answers the oldest wave waits for that was handed out, and the answers, in order: `wide` logits each (as `settle`
  // takes them: of all players, or of the only acting one; 0: every choice is equally likely) and as many values as players.
  std::size_t questions() const {
    const Wave* wave = waiting();
    return wave ? wave->asked.size() : 0;
  }
  void answer(const double* logits, std::size_t wide, const double* values) {
    Wave& wave = *waiting();
    const std::size_t rows = wave.asked.size();
    wave.waits = false;
    if (config_.sequential()) {
      apply(wave, logits, wide, values);
      return;
    }
    wave.answers = rows;
    wave.wide = wide;
    wave.logits.assign(logits, logits + rows * wide);
    wave.values.assign(values, values + rows * graph_.players);
  }

  // Call for the nodes of the path in hand, and (once they are here) for their edges, which will be backed up next.
  void prefetch_nodes() const {
    for (const PathStep& step : path_.steps) __builtin_prefetch(&graph_.nodes[step.node]);
  }
  void prefetch_edges() const {
    for (const PathStep& step : path_.steps) {
      const EdgeId first = graph_.nodes[step.node].edges;
      __builtin_prefetch(&graph_.edges[first]);
      if (step.place != kNone) __builtin_prefetch(&graph_.edges[first + step.place]);
    }
  }

  // Restore the graph to what it was before the waves in flight.
  void undo() {
    drop_marks(path_);
    set_on_path(false);
    for (Wave* wave : waves_)
      for (std::size_t i = 0; i < wave->count; ++i) drop_marks(wave->paths[i]);
    for (; !waves_.empty(); waves_.pop_back()) take_back(*waves_.back());
    awaited_ = 0;
    path_.clear();
    reaching_ = {kNone, kNone};
  }

  // The actions from the root down to where the playout is now.
  std::vector<std::vector<std::int32_t>> line() {
    std::vector<std::vector<std::int32_t>> actions;
    std::vector<PathStep> steps(path_.steps.begin(), path_.steps.end());
    for (std::size_t i = 0; i + 1 < steps.size(); ++i) {  // an opened node: which of its children is being visited?
      const Node& node = graph_.nodes[steps[i].node];
      for (std::uint32_t e = 0; steps[i].place == kNone && e < node.edge_count; ++e)
        if (graph_.edges[node.edges + e].child == steps[i + 1].node) steps[i].place = e;
    }
    if (!steps.empty() && steps.back().place == kNone) steps.pop_back();
    if (reaching_.node != kNone) steps.push_back(reaching_);
    try {
      for (const PathStep& step : steps)
        actions.push_back(actions_of(step.node, graph_.edges[graph_.nodes[step.node].edges + step.place].move));
    } catch (const Failure&) {  // a verb that fails here too: what is known so far must do
    }
    return actions;
  }

  // The actions from the root to the first state of the oldest wave that waits, by the first way to it that was found.
  std::vector<std::vector<std::int32_t>> line_of_question() {
    const Wave* wave = waiting();
    if (!wave || wave->asked.empty()) return {};
    const Request& request = wave->asked[0];
    std::vector<PathStep> steps;
    if (request.node == kNone) steps.push_back({request.parent, request.place});
    for (NodeId id = request.node == kNone ? request.parent : request.node; id != 0 && graph_.nodes[id].parent != kNone;) {
      const NodeId above = graph_.nodes[id].parent;
      const Node& node = graph_.nodes[above];
      std::uint32_t place = 0;
      while (place < node.edge_count && graph_.edges[node.edges + place].child != id) ++place;
      if (place == node.edge_count || steps.size() > graph_.size()) break;
      steps.push_back({above, place});
      id = above;
    }
    std::vector<std::vector<std::int32_t>> actions;
    try {
      for (auto step = steps.rbegin(); step != steps.rend(); ++step)
        actions.push_back(actions_of(step->node, graph_.edges[graph_.nodes[step->node].edges + step->place].move));
    } catch (const Failure&) {
    }
    return actions;
  }

  // Between moves

  // The node the actions of all players (or the outcome, as the first) lead to from the root; kNone if there is none.
  NodeId child_of(const std::vector<std::int32_t>& actions) {
    const Node root = graph_.nodes[0];
    std::uint32_t move = 0;
    if (root.kind == Kind::chance && graph_.rules.chance) {
      const std::vector<std::int32_t>& outcomes = graph_.distributions[root.choices].outcomes;
      move = static_cast<std::uint32_t>(std::find(outcomes.begin(), outcomes.end(), actions[0]) - outcomes.begin());
    } else if (root.kind == Kind::chance) {
      move = static_cast<std::uint32_t>(actions[0]);
    } else if (root.kind == Kind::decision) {
      load(0);
      for (std::size_t p = 0, i = 0; p < graph_.players; ++p) {
        if (actions[p] == kIdle) continue;
        position_.read_choices(static_cast<std::int32_t>(p));
        const auto at = static_cast<std::size_t>(std::find(position_.legal.begin(), position_.legal.end(), actions[p]) - position_.legal.begin());
        if (at == position_.legal.size()) return kNone;
        move |= position_.group[at] << (root.acting == 1 ? 0 : graph_.tables[root.choices].shifts[i++]);
      }
    }
    for (EdgeId e = root.edges; e < root.edges + root.edge_count; ++e)
      if (graph_.edges[e].move == move) return graph_.edges[e].child;
    return kNone;
  }

  // Make another state the root: `child` is its node where there is one (kNone: looked for), `record` the state itself. If a
  // verb fails, nothing has changed.
  void advance(NodeId child, const std::byte* record, Keep keep) {
    undo();
    std::vector<std::byte> state(record, record + graph_.rules.state_size);
    if (child == kNone) {
      position_.set(state.data());
      child = find(offer());
    }
    Graph fresh(graph_.rules);
    prepare(fresh);
    const bool keeps_graph = keep == Keep::graph && child != kNone;
    if (!keeps_graph) {
      std::swap(graph_, fresh);
      try {
        plant(state.data());
      } catch (...) {
        std::swap(graph_, fresh);
        throw;
      }
      std::swap(graph_, fresh);
    }
    // No verb is called from here on.
    clean_priors();
    if (keep == Keep::evaluations) {
      std::vector<std::vector<std::byte>> roots{state};
      if (child != kNone) {
        load(child);
        roots.emplace_back(position_.state(), position_.state() + graph_.rules.state_size);
      }
      memory_.absorb(graph_);
      memory_.keep_below(roots);
    } else {
      memory_.clear();
    }
    draws_ = Draws(config_.seed, stream_, ++root_number_);
    if (keeps_graph) Reroot(graph_, fresh, config_, [this](NodeId id) { return index_hash(id); }).keep_below(child);
    graph_ = std::move(fresh);
  }
  std::uint64_t root_number() const { return root_number_; }
  void set_root_number(std::uint64_t number) { draws_ = Draws(config_.seed, stream_, root_number_ = number); }

  // The root's priors, of all acting players one after the other, as they are used now.
  std::vector<float> root_priors() {
    explicit_priors();
    const Node& root = graph_.nodes[0];
    return {&graph_.priors[root.priors], &graph_.priors[root.priors] + root_choices()};
  }
  // Use other priors at the root until it moves on.
  void set_root_priors(const std::vector<float>& priors) {
    if (clean_.empty()) clean_ = root_priors();
    std::copy(priors.begin(), priors.end(), &graph_.priors[graph_.nodes[0].priors]);
  }
  bool noised() const { return !clean_.empty(); }
  void clean_priors() {
    if (!clean_.empty()) std::copy(clean_.begin(), clean_.end(), &graph_.priors[graph_.nodes[0].priors]);
    clean_.clear();
  }

  // Visits the root's choices get at least, as k of √(k·P·ΣN); 0: none.
  void set_forced(double k) {
    if (graph_.nodes[0].kind != Kind::decision) return;
    if (k > 0.0) explicit_priors();  // edges are then no longer in the order of choices
    chooser_.forced = joint_chooser_.forced = k;
    auto& flags = graph_.nodes[0].flags;
    flags = static_cast<std::uint8_t>(k > 0.0 ? flags | kForced : flags & ~kForced);
  }

 private:
  void plant(const std::byte* root) {
    position_.set(root);
    const std::uint64_t hash = offer();
    add_node(config_.keyed_by_path ? mix(kGolden) : hash, hash);
  }

  // Waves

  template <class More>
  bool proceed_alone(std::uint64_t goal, bool late, More& more) {
    for (;;) {
      if (waves_.empty() && !begin_alone(goal, late, more)) return false;
      if (!wave_->asked.empty()) [[unlikely]] return !wave_->waits;  // also the question about the root
      if (proceed_path()) return true;
      waves_.pop_back();
    }
  }

  template <class More>
  bool begin_alone(std::uint64_t goal, bool late, More& more) {
    const bool ready = root_ready();
    if (ready && (late || over() || root_visits() >= goal || !more())) return false;
    begin_wave();
    wave_->first_prior = graph_.priors.size();
    if (ready) begin_path();
    else ask_node(0);
    return true;
  }

  template <class More>
  bool proceed_in_waves(std::uint64_t goal, bool late, More& more) {
    for (;;) {
      if (!waves_.empty() && !waves_.back()->asked.empty() && !waves_.back()->waits && waves_.back()->answers == 0) {
        if (!native()) return true;
        answer_natively(*waves_.back());
      }
      const std::uint64_t left = goal - std::min<std::uint64_t>(goal, root_visits() + flying());
      if (!root_ready() && waves_.empty()) {
        begin_wave();
        ask_node(0);
      } else if (has_room() && left > 0 && !late && !over() && more()) {
        select_wave(static_cast<std::size_t>(std::min<std::uint64_t>(left, config_.width)));
      } else if (waves_.empty() || waves_.front()->waits) {
        return false;
      } else {
        land();
      }
    }
  }

  // Whether a wave may be selected behind those in flight; the question about the root is one without paths.
  bool has_room() const {
    return waves_.empty() ||
           (waves_.size() < config_.depth && waves_.back()->count > 0 && !waves_.front()->landing && waves_.back()->complete());
  }

  std::uint64_t flying() const {
    std::uint64_t paths = 0;
    for (const Wave* wave : waves_) paths += wave->count;
    return paths;
  }

  void begin_wave() {
    wave_ = waves_.empty() ? &first_ : unused_wave();
    wave_->begin(graph_);
    waves_.push_back(wave_);
  }

  Wave* unused_wave() {
    const auto used = [this](const Wave* wave) { return std::find(waves_.begin(), waves_.end(), wave) != waves_.end(); };
    if (!used(&first_)) return &first_;
    for (const auto& wave : others_)
      if (!used(wave.get())) return wave.get();
    others_.push_back(std::make_unique<Wave>());
    return others_.back().get();
  }

  void begin_path() {
    crowded_ = limited() && graph_.bytes() + kReserve + awaited() > config_.max_bytes;
    push_visit(0);
    path_.phase = Phase::walk;
  }

  // Walk paths down from the root, one after the other, each seeing those before it in flight.
  void select_wave(std::size_t width) {
    begin_wave();
    for (std::size_t i = 0; i < width; ++i) {
      begin_path();
      proceed_path();
      set_on_path(false);
      std::swap(path_, wave_->add_path());
    }
  }

  // With the answers to the oldest wave: let paths that waited for them go on, or back all up, in order.
  void land() {
    Wave& wave = *waves_.front();
    wave_ = &wave;
    wave.noting().landing = true;
    if (wave.first_prior == SIZE_MAX) wave.first_prior = graph_.priors.size();
    for (const auto& [node, entry] : wave.remembered) recall(node, entry);
    wave.remembered.clear();
    if (wave.answers > 0) apply(wave, wave.logits.data(), wave.wide, wave.values.data());
    const bool complete = wave.complete();
    for (std::size_t i = 0; i < wave.count; ++i) {
      if (!complete && wave.found_end(i)) continue;
      std::swap(path_, wave.paths[i]);
      if (complete) {
        with_players(graph_.players, [this](auto players) { back<players()>(); });
        path_.phase = Phase::done;
      } else {
        set_on_path(true);
        proceed_path();
        set_on_path(false);
      }
      std::swap(path_, wave.paths[i]);
    }
    if (complete) waves_.erase(waves_.begin());
  }

  bool proceed_path() {
    return with_players(graph_.players, [this](auto players) { return Walker::proceed_path<players()>(); });
  }

  // Write the answers to a wave's questions into the graph.
  void apply(Wave& wave, const double* logits, std::size_t wide, const double* values) {
    wave_ = &wave;
    const bool of_all = wide == graph_.players * static_cast<std::size_t>(graph_.rules.actions);
    for (const Request& request : wave.asked) {
      if (request.node != kNone) {
        settle(request.node, wide ? logits : nullptr, of_all, values);
      } else if (graph_.edges[graph_.nodes[request.parent].edges + request.place].child == kNone) {  // no child meanwhile
        freeze(request.parent, request.place, request.collected.data(), values);
      }
      logits += wide;
      values += graph_.players;
    }
    wave.asked.clear();
    wave.answers = 0;
  }

  // Evaluate all that a wave asks; its rollouts may be shared by a team.
  void answer_natively(Wave& wave) {
    const std::size_t size = graph_.rules.state_size;
    if (evaluators_.needs_state()) {
      states_.resize(wave.asked.size() * size);
      keys_.clear();
      for (const Request& request : wave.asked) {
        read_state(request);
        std::copy_n(position_.state(), size, states_.data() + keys_.size() * size);
        keys_.push_back(request.key);
      }
      evaluators_.play_all(states_, keys_, draws_);
    }
    wave.logits.clear();
    wave.values.clear();
    wave.wide = 0;
    for (std::size_t i = 0; i < wave.asked.size(); ++i) {
      const double* logits = nullptr;
      if (evaluators_.needs_state()) {
        read_state(wave.asked[i]);
        evaluators_.finish(position_, i, wave.asked[i].key, draws_);
      } else {
        logits = evaluators_.evaluate(position_, wave.asked[i].key, draws_);
      }
      wave.values.insert(wave.values.end(), evaluators_.values.begin(), evaluators_.values.end());
      if (!logits) continue;
      wave.wide = graph_.players * static_cast<std::size_t>(graph_.rules.actions);
      wave.logits.insert(wave.logits.end(), logits, logits + wave.wide);
    }
    wave.answers = wave.asked.size();
  }

  void read_state(const Request& request) {
    if (request.node != kNone) load(request.node);
    else position_.set(request.state.data());
  }

  Wave* waiting() const {
    for (Wave* wave : waves_)
      if (wave->waits) return wave;
    return nullptr;
  }

  // Taking back

  void drop_marks(const Path& path) {
    if (!marking_) return;
    for (const PathStep& step : path.steps) {
      Node& node = graph_.nodes[step.node];
      node.flags &= static_cast<std::uint8_t>(~kMarked);
      graph_.passing[step.node] = 0;
      for (EdgeId e = node.edges; e < node.edges + node.edge_count; ++e) graph_.marks[e] = 0;
    }
  }

  void take_back(const Wave& wave) {
    for (auto entry = wave.journal.rbegin(); entry != wave.journal.rend(); ++entry) {
      graph_.nodes[entry->node].visits = entry->visits;
      std::copy_n(entry->mean.begin(), graph_.players, graph_.mean(entry->node));
      const EdgeId first = graph_.nodes[entry->node].edges;
      for (const auto& [place, visits] : entry->edges) graph_.edges[first + place].visits = visits;
      if (entry->walked != kNone) std::copy_n(entry->value.begin(), graph_.players, graph_.value(first + entry->walked));
    }
    for (const NodeId id : wave.settled) {
      graph_.nodes[id].flags &= static_cast<std::uint8_t>(~kPending);
      graph_.nodes[id].visits = 0;
      graph_.nodes[id].priors = kNone;
      std::fill_n(graph_.mean(id), 2 * graph_.players, 0.0);
    }
    for (const auto& [node, place] : wave.repeated) --graph_.repeats[graph_.nodes[node].edges + place];
    for (std::size_t i = wave.added.size(); i > 0; --i) {
      Node& node = graph_.nodes[wave.added[i - 1]];
      --node.edge_count;
      graph_.clear_edge(node.edges + node.edge_count);
    }
    for (std::size_t i = 0; i < wave.thawed.size(); ++i) {
      const EdgeId e = graph_.nodes[wave.thawed[i].first].edges + wave.thawed[i].second;
      graph_.edges[e].child = kNone;
      graph_.edges[e].bits = (graph_.edges[e].bits & kNoReward) | kFrozen;
      std::copy_n(&wave.thawed_values[i * graph_.players], graph_.players, graph_.value(e));
    }
    while (graph_.size() > wave.first_node) remove_last_node();
    graph_.rewards.cut(wave.first_reward);
    if (wave.first_prior != SIZE_MAX) graph_.priors.cut(wave.first_prior);
    if (!wave.low.empty()) {
      graph_.low = wave.low;
      graph_.high = wave.high;
    }
  }

  // The root's priors, written out where all choices are equally likely.
  void explicit_priors() {
    Node& root = graph_.nodes[0];
    if (root.priors != kNone) return;
    if (root.acting == 1 && root.choices == 0) {
      load(0);
      root.choices = static_cast<std::uint32_t>(position_.count_choices(root.mover));
    }
    const std::size_t start = graph_.priors.extend(root_choices());
    root.priors = static_cast<std::uint32_t>(start);
    if (root.acting == 1) {
      std::fill_n(&graph_.priors[start], root.choices, chooser_.uniform_prior(root.choices));
      return;
    }
    const Table& table = graph_.tables[root.choices];
    for (std::size_t i = 0; i < table.sizes.size(); ++i)
      std::fill_n(&graph_.priors[start + table.starts[i]], table.sizes[i], chooser_.uniform_prior(table.sizes[i]));
  }

  std::size_t root_choices() const {
    const Node& root = graph_.nodes[0];
    return root.acting == 1 ? root.choices : graph_.tables[root.choices].ids.size();
  }

  std::vector<Wave*> waves_;  // in flight, the oldest first
  Wave first_;                // in sequential searches the only one
  std::vector<std::unique_ptr<Wave>> others_;
  std::uint64_t root_number_ = 0;
  std::vector<float> clean_;  // the root's priors without noise
  std::vector<std::byte> states_;
  std::vector<std::uint64_t> keys_;
};

}  // namespace anabranch
