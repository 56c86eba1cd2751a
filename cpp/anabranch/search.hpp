// The search of one root: waves of paths over its graph, and what stays when the root moves on (docs/model.md sections 7 and 8).
//
// Whoever drives it calls `proceed` with a goal until it returns false. While it returns true, a wave has requests that were
// handed to nobody yet: `requests` holds them, and `answer` must follow for each, in the order in which waves asked. A wave is
// all or nothing: whatever fails, `undo` restores the graph to what it was before the waves in flight.
//
// Of waves in flight only the oldest may change what others see: inner visits, answers and backups wait for their turn, and
// no wave is selected behind one whose paths have not found their ends. So what the newest wave made is at the end of every
// column.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "anabranch/answers.hpp"
#include "anabranch/playout.hpp"
#include "anabranch/reroot.hpp"

namespace anabranch {

enum class Keep : std::uint8_t { graph, evaluations, nothing };
using Actions = std::vector<std::int32_t>;  // of the acting players, or an outcome

class Search {
 public:
  Search(const Rules& rules, const Config& config, const NativeEvaluator& evaluator, std::uint64_t stream, const std::byte* root)
      : context(rules, config, stream), playout(context, evaluator) {
    playout.expander.plant(root);
  }
  // The same in place of what was searched before by these settings, in its memory. Nothing may be in flight.
  void restart(std::uint64_t stream, const std::byte* root) {
    context.restart(stream);
    if (!playout.kept.empty()) playout.kept = KeptEvaluations(graph().rules);
    playout.expander.plant(root);
  }
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  // Begin to work on this search on this thread; to be called before anything else, unless it was made there.
  void enter() { context.enter(); }

  const Config& config() const { return context.config; }
  const Draws& draws() const { return context.draws; }
  Graph& graph() { return context.graph; }
  const Graph& graph() const { return context.graph; }
  Position& position() { return context.position(); }
  Expander& expander() { return playout.expander; }
  const Dice& dice() const { return playout.dice; }
  Selectors& selectors() { return playout.selectors; }
  const Selectors& selectors() const { return playout.selectors; }
  void load(NodeId id) { context.load(id); }

  bool native() const { return playout.evaluators.native() || playout.asker.foresight.native(); }
  void set_team(Team* team) { playout.evaluators.set_team(team); }
  bool shares_rollouts() const { return playout.evaluators.shares_rollouts(config().width); }

  std::uint64_t root_visits() const { return playout.root_visits(); }
  bool over() const { return graph().nodes[0].kind == Kind::over; }
  bool solved() const { return graph().nodes[0].is(kProven) && graph().nodes[0].visits > 0; }
  bool root_ready() const { return graph().nodes[0].kind != Kind::decision || graph().nodes[0].visits > 0; }
  bool in_flight() const { return !waves_.empty(); }
  std::size_t bytes() const { return context.bytes(); }  // of the graph, and of evaluations kept from before an advance

  // Search on until the root has its goal of visits (false), or there are requests to hand out (true; see `requests`), or
  // those handed out must be answered first (false; see `in_flight`). `late`: begin no other wave. Evaluators that are native
  // are asked at once, and `more` is called before every wave; it may stop the search by returning false.
  template <class More>
  bool proceed(std::uint64_t goal, bool late, More&& more) {
    if (config().sequential()) return proceed_alone(goal, late, more);
    return proceed_in_waves(goal, late, more);
  }

  // What to hand out: the requests of the wave that asked last.
  const Wave& asking() const { return *waves_.back(); }
  void handed_out() { waves_.back()->noting().waits = true; }

  // How many answers the oldest wave waits for that was handed out, and the answers, in order: `wide` logits each (as `settle`
  // takes them: of all players, or of the only acting one; 0: every choice is equally likely) and as many values as players.
  std::size_t awaited() const {
    const Wave* wave = waiting();
    return wave ? wave->requests.size() : 0;
  }
  void answer(const double* logits, std::size_t wide, const double* values) {
    Wave& wave = *waiting();
    const std::size_t rows = wave.requests.size();
    wave.waits = false;
    if (config().sequential()) {
      answers_.apply(wave, logits, wide, values);
      return;
    }
    wave.answers = rows;
    wave.wide = wide;
    wave.logits.assign(logits, logits + rows * wide);
    wave.values.assign(values, values + rows * graph().players);
  }

  // The same where a learned model was asked for transitions: the rows from `first` on. What is used later is copied.
  void answer(const Transitions& given, std::size_t first) {
    Wave& wave = *waiting();
    wave.waits = false;
    if (config().sequential()) {
      answers_.apply(wave, given, first);
      return;
    }
    wave.transitions.take(given, first, wave.requests.size(), *graph().rules.model);
    wave.answers = wave.requests.size();
  }

  // What a model says of the root, which is a decision.
  void begin(const Transition& said) {
    begin_wave();
    playout.settler.settle_decision(0, said);
    waves_.pop_back();
  }

  // Call for the nodes of the path in hand, and (once they are here) for their edges, which will be backed up next.
  void prefetch_nodes() const {
    for (const PathStep& step : playout.path.steps) __builtin_prefetch(&graph().nodes[step.node]);
  }
  void prefetch_edges() const {
    for (const PathStep& step : playout.path.steps) {
      const EdgeId first = graph().nodes[step.node].edges;
      __builtin_prefetch(&graph().edges[first]);
      if (step.place != kNone) __builtin_prefetch(&graph().edges[first + step.place]);
    }
  }

  // Restore the graph to what it was before the waves in flight.
  void undo() {
    drop_marks(playout.path);
    playout.set_on_path(false);
    for (Wave* wave : waves_)
      for (std::size_t i = 0; i < wave->count; ++i) drop_marks(wave->paths[i]);
    for (; !waves_.empty(); waves_.pop_back())
      waves_.back()->undo.take_back(graph(), [this](NodeId id) { playout.expander.forget(id); });
    context.awaited = 0;
    playout.path.clear();
    context.reaching = {kNone, kNone};
  }

  // For reports (report.hpp): the path in hand with the edge it is about to walk, and the oldest wave handed out.
  const Path& path_in_hand() const { return playout.path; }
  PathStep reaching() const { return context.reaching; }
  Wave* waiting() const {
    for (Wave* wave : waves_)
      if (wave->waits) return wave;
    return nullptr;
  }

  // Between moves

  // The node the actions of all players (or the outcome, as the first) lead to from the root; kNone if there is none.
  NodeId child_of(const Actions& actions) {
    const Graph& g = graph();
    const Node root = g.nodes[0];
    std::uint32_t move = 0;
    if (root.kind == Kind::chance && g.rules.chance) {
      const std::vector<std::int32_t>& outcomes = g.outcomes_of(root).outcomes;
      move = static_cast<std::uint32_t>(std::find(outcomes.begin(), outcomes.end(), actions[0]) - outcomes.begin());
    } else if (root.kind == Kind::chance) {
      move = static_cast<std::uint32_t>(actions[0]);
    } else if (root.kind == Kind::decision) {
      load(0);
      Position& position = context.position();
      for (std::size_t p = 0, i = 0; p < g.players; ++p) {
        if (actions[p] == kIdle) continue;
        position.read_choices(static_cast<std::int32_t>(p));
        const auto at = static_cast<std::size_t>(std::find(position.legal.begin(), position.legal.end(), actions[p]) - position.legal.begin());
        if (at == position.legal.size()) return kNone;
        move |= position.group[at] << (root.acting == 1 ? 0 : g.table_of(root).shifts[i++]);
      }
    }
    for (const EdgeId e : EdgeIds(root))
      if (g.edges[e].move == move) return g.edges[e].child;
    return kNone;
  }

  // Make another state the root: `child` is its node where there is one (kNone: looked for), `record` the state itself. If a
  // verb fails, or there is no memory, nothing has changed.
  void advance(NodeId child, const std::byte* record, Keep keep) {
    undo();
    std::vector<std::byte> state(record, record + graph().rules.state_size);
    if (child == kNone) {
      context.position().set(state.data());
      child = playout.expander.find(playout.expander.offer());
    }
    Graph fresh(graph().rules, config());
    const bool keeps_graph = keep == Keep::graph && child != kNone;
    if (!keeps_graph) {
      std::swap(context.graph, fresh);
      try {
        playout.expander.plant(state.data());
      } catch (...) {
        std::swap(context.graph, fresh);
        throw;
      }
      std::swap(context.graph, fresh);
    }
    KeptEvaluations kept(graph().rules);
    if (keep == Keep::evaluations) {
      std::vector<std::vector<std::byte>> roots{state};
      if (child != kNone) {
        load(child);
        roots.emplace_back(context.position().state(), context.position().state() + graph().rules.state_size);
      }
      kept = playout.kept.below(graph(), roots, config());
    }
    if (keeps_graph) Reroot(graph(), fresh, config(), [this](NodeId id) { return playout.expander.index_hash(id); }).keep_below(child);
    // Nothing can fail from here on.
    playout.kept = std::move(kept);
    context.kept_bytes = playout.kept.bytes();
    set_root_number(context.root_number + 1);
    context.root = RootRule();
    context.graph = std::move(fresh);
  }
  // The records held: those of all nodes, and those of evaluations kept from before an advance.
  std::size_t records() const { return graph().size() + playout.kept.size(); }
  template <class Action>
  void each_record(const Action& action) const {
    std::vector<std::uint64_t> memory(graph().rules.state_size / 8 + 1);
    auto* record = reinterpret_cast<std::byte*>(memory.data());
    for (NodeId id = 0; id < graph().size(); ++id) {
      graph().states.load(id, record);
      action(record);
    }
    playout.kept.each_record(record, action);
  }

  std::uint64_t root_number() const { return context.root_number; }
  void set_root_number(std::uint64_t number) { context.draws = Draws(config().seed, context.stream, context.root_number = number); }

  // The root's own rule

  const RootRule& root_rule() const { return context.root; }

  // The root's own priors, of all acting players one after the other, as they are stored; written out where all are equally likely.
  std::span<const float> root_priors() {
    Node& root = graph().nodes[0];
    if (root.acting == 1) playout.expander.count_choices(0, root);
    playout.settler.write_priors(0);
    return {&graph().priors[root.rows], graph().choices_of(root)};
  }

  // A rule to be filled, in the memory of one that held before: nothing of that is left. Then `use_root_rule` lets it hold at the
  // root until it moves on or another one is set; edges need no longer be in the order of choices then.
  RootRule& unused_root_rule() {
    context.unused_root.clear();
    return context.unused_root;
  }
  void use_root_rule() {
    Node& root = graph().nodes[0];
    if (root.kind != Kind::decision) return;
    if (context.unused_root.holds()) root_priors();
    std::swap(context.root, context.unused_root);
    if (context.root.holds()) root.set(kRuled);
    else root.clear(kRuled);
  }

 private:
  // Waves

  // One path at a time with nothing in flight: the same walk, and the fast one.
  template <class More>
  bool proceed_alone(std::uint64_t goal, bool late, More& more) {
    for (;;) {
      if (waves_.empty() && !begin_alone(goal, late, more)) return false;
      if (!context.wave->requests.empty()) [[unlikely]] return !context.wave->waits;  // also the request of the root
      if (proceed_path()) return true;
      waves_.pop_back();
    }
  }

  template <class More>
  bool begin_alone(std::uint64_t goal, bool late, More& more) {
    const bool ready = root_ready();
    if (ready && (late || over() || solved() || root_visits() >= goal || !more())) return false;
    begin_wave();
    if (ready) playout.begin();
    else playout.asker.request(0);
    return true;
  }

  template <class More>
  bool proceed_in_waves(std::uint64_t goal, bool late, More& more) {
    for (;;) {
      if (!waves_.empty() && !waves_.back()->requests.empty() && !waves_.back()->waits && waves_.back()->answers == 0) {
        if (!native()) return true;
        if (playout.asker.foresight.native()) waves_.back()->answers = waves_.back()->requests.size();  // when it lands
        else answers_.evaluate(*waves_.back());
      }
      const std::uint64_t left = goal - std::min<std::uint64_t>(goal, root_visits() + flying());
      if (!root_ready() && waves_.empty()) {
        begin_wave();
        playout.asker.request(0);
      } else if (has_room() && left > 0 && !late && !over() && !solved() && more()) {
        select_wave(static_cast<std::size_t>(std::min<std::uint64_t>(left, config().width)));
      } else if (waves_.empty() || waves_.front()->waits) {
        return false;
      } else {
        land();
      }
    }
  }

  // Whether a wave may be selected behind those in flight; the request of the root is one without paths.
  bool has_room() const {
    return waves_.empty() ||
           (waves_.size() < config().depth && waves_.back()->count > 0 && !waves_.front()->landing && waves_.back()->complete());
  }

  std::uint64_t flying() const {
    std::uint64_t paths = 0;
    for (const Wave* wave : waves_) paths += wave->count;
    return paths;
  }

  [[gnu::always_inline]] void begin_wave() {
    context.wave = waves_.empty() ? &first_ : unused_wave();
    context.wave->begin(graph(), config().sequential());
    waves_.push_back(context.wave);
  }

  Wave* unused_wave() {
    const auto used = [this](const Wave* wave) { return std::find(waves_.begin(), waves_.end(), wave) != waves_.end(); };
    if (!used(&first_)) return &first_;
    for (const auto& wave : others_)
      if (!used(wave.get())) return wave.get();
    others_.push_back(std::make_unique<Wave>());
    return others_.back().get();
  }

  // Walk paths down from the root, one after the other, each seeing those before it in flight.
  void select_wave(std::size_t width) {
    begin_wave();
    for (std::size_t i = 0; i < width; ++i) {
      playout.begin();
      proceed_path();
      playout.set_on_path(false);
      std::swap(playout.path, context.wave->add_path());
    }
  }

  // With the answers to the oldest wave: let paths that waited for them go on, or back all up, in order.
  void land() {
    Wave& wave = *waves_.front();
    context.wave = &wave;
    wave.noting().landing = true;
    wave.undo.answers_begin(graph());
    for (const auto& [node, entry] : wave.recalled) playout.settler.recall(node, playout.kept, entry);
    wave.recalled.clear();
    if (wave.answers > 0) {
      if (!graph().rules.model) answers_.apply(wave, wave.logits.data(), wave.wide, wave.values.data());
      else if (native()) answers_.foresee(wave);
      else answers_.apply(wave, wave.transitions.view(), 0);
    }
    const bool complete = wave.complete();
    if (complete) playout.expect_back();
    for (std::size_t i = 0; i < wave.count; ++i) {
      if (!complete && wave.found_end(i)) continue;
      std::swap(playout.path, wave.paths[i]);
      if (complete) {
        with_players(graph().players, [this](auto players) { playout.back<players()>(); });
        playout.path.phase = Phase::done;
      } else {
        playout.set_on_path(true);
        proceed_path();
        playout.set_on_path(false);
      }
      std::swap(playout.path, wave.paths[i]);
    }
    if (complete) waves_.erase(waves_.begin());
  }

  bool proceed_path() {
    return with_players(graph().players, [this](auto players) { return playout.proceed<players()>(); });
  }

  void drop_marks(const Path& path) {
    if (!config().marks()) return;
    for (const PathStep& step : path.steps) {
      Node& node = graph().nodes[step.node];
      node.clear(kMarked);
      graph().passing[step.node] = 0;
      for (const EdgeId e : EdgeIds(node)) graph().marks[e] = 0;
    }
  }

  Context context;
  Playout playout;
  std::vector<Wave*> waves_;  // in flight, the oldest first
  Wave first_;                // in sequential searches the only one
  std::vector<std::unique_ptr<Wave>> others_;
  Answers answers_{context, playout};
};

}  // namespace anabranch
