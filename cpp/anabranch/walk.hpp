// One path: walk down to where it ends, ask for evaluations, walk back (MODEL sections 5 and 6).
//
// A path is a loop with explicit memory, never a recursion, so depth has no limit and it can pause wherever evaluations are
// needed. Enumerating a chance node lets its chance children be visited first: that is a stack of visits, each with its own
// stretch of the path. Where waves are searched, a path marks the edges it walks until it is backed up, and waits with those
// inner visits until its wave has its first answers; a path alone goes straight on.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "anabranch/grow.hpp"
#include "anabranch/evaluators.hpp"
#include "anabranch/memory.hpp"
#include "anabranch/select.hpp"

namespace anabranch {

inline constexpr double kGoldenStep = 0.61803398874989484820;  // (√5 − 1) / 2

class Walker : public Grower {
 public:
  Walker(const Rules& rules, const Config& config, const NativeEvaluator& evaluator, std::uint64_t stream)
      : Grower(rules, config, stream),
        evaluators_(evaluator, config_, graph_.rules),
        memory_(graph_.rules),
        chooser_(config_.selector, config_, rules.bounds),
        joint_chooser_(config_.simultaneous, config_, rules.bounds),
        marking_(!config.sequential()),
        deferred_(marking_ || !evaluators_.native()) {
    keep_range_ = config.selector.scale == Scale::graph || config.simultaneous.scale == Scale::graph;
  }

  Chooser& joint_chooser() { return joint_chooser_; }
  Chooser& chooser() { return chooser_; }

 protected:
  void push_visit(NodeId at) {
    path_.visits.push({path_.steps.size(), path_.fresh.size(), path_.drawn.size(), path_.repeated.size(), path_.fresh.size(), at, kNone});
  }

  // Go on with the path in hand until it must wait. A path alone waits only for answers (true) and is over when this returns
  // false; a path of a wave never backs its outermost visit up here.
  template <std::size_t P>
  [[gnu::always_inline]] bool proceed_path() {
    while (path_.phase != Phase::done) {
      if (path_.phase == Phase::walk) {
        walk<P>();
        if (!marking_) {
          if (!wave_->asked.empty()) [[unlikely]] return true;
        } else if (path_.phase == Phase::open || path_.visits.size() > 1) {
          return true;  // the wave's answers come first
        }
      } else if (path_.phase == Phase::open) {
        Visit& visit = path_.visits.back();
        while (visit.next < path_.fresh.size() && graph_.nodes[path_.fresh[visit.next]].visits > 0) ++visit.next;
        if (visit.next < path_.fresh.size()) {
          push_visit(path_.fresh[visit.next++]);
          path_.phase = Phase::walk;
        } else {
          path_.phase = Phase::back;
        }
      } else {
        if (marking_ && path_.visits.size() == 1) return false;
        back<P>();
        path_.phase = path_.visits.empty() ? Phase::done : Phase::open;
      }
    }
    return false;
  }

  // Add one to each edge the innermost visit walked and recompute each node, leaf first. For a path alone, `select` has just
  // read a decision's shared children, and in a graded graph nothing since then has changed any of them but the one walked
  // to: what changed lies deeper. Only a second edge to that one is left to read.
  template <std::size_t P>
  void back() {
    const Visit visit = path_.visits.back();
    const bool known = graph_.graded && !keep_range_ && !marking_;
    const bool nested = path_.visits.size() > 1;
    if (visit.ends_at != kNone) [[unlikely]] {
      if (nested) remember(visit.ends_at);
      refresh(graph_, graph_.nodes[visit.ends_at], config_, keep_range_);
    }
    for (std::size_t i = visit.repeated; i < path_.repeated.size(); ++i) {
      const PathStep& step = path_.repeated[i];
      ++graph_.repeats[graph_.nodes[step.node].edges + step.place];
      if (nested) wave_->noting().repeated.emplace_back(step.node, step.place);
    }
    for (std::size_t i = path_.steps.size(); i > visit.path; --i) {
      const PathStep step = path_.steps[i - 1];
      if (marking_) count_in_flight(step, visit.drawn, -1);
      Node& node = graph_.node<P>(step.node);
      if (nested) [[unlikely]] remember(step, visit);
      if (step.place != kNone) [[likely]] {
        const EdgeId e = node.edges + step.place;
        Edge& edge = graph_.edge<P>(e);
        ++edge.visits;
        if (edge.child != kNone) read_child<P>(graph_, e, discount_of(node, config_), config_);
      } else {
        for (std::size_t d = visit.drawn; d < path_.drawn.size(); ++d) ++graph_.edges[node.edges + path_.drawn[d]].visits;
        read_children(graph_, node, config_);
      }
      ++node.visits;
      node.flags &= static_cast<std::uint8_t>(~kOnPath);
      if (known && node.kind == Kind::decision && !(node.flags & kTwinEdges)) [[likely]] refresh_decision<P>(graph_, node);
      else refresh<P>(graph_, node, config_, keep_range_);
    }
    path_.steps.cut(visit.path);
    path_.fresh.cut(visit.fresh);
    path_.drawn.cut(visit.drawn);
    path_.repeated.cut(visit.repeated);
    path_.visits.pop();
  }

  // Count a visit in flight at a node and at the edges it will count, or (change −1) no longer.
  void count_in_flight(const PathStep& step, std::size_t drawn, int change) {
    const auto one = static_cast<std::uint32_t>(change);
    const EdgeId first = graph_.nodes[step.node].edges;
    graph_.passing[step.node] += one;
    auto& flags = graph_.nodes[step.node].flags;
    flags = static_cast<std::uint8_t>(graph_.passing[step.node] ? flags | kMarked : flags & ~kMarked);
    if (step.place != kNone) graph_.marks[first + step.place] += one;
    else
      for (std::size_t d = drawn; d < path_.drawn.size(); ++d) graph_.marks[first + path_.drawn[d]] += one;
  }

  // Whether the path in hand walks through a node, for all its nodes.
  void set_on_path(bool on) {
    for (const PathStep& step : path_.steps) {
      auto& flags = graph_.nodes[step.node].flags;
      flags = static_cast<std::uint8_t>(on ? flags | kOnPath : flags & ~kOnPath);
    }
  }

  // Ask about a decision node, unless somebody did already and the answer is on its way.
  void ask_node(NodeId id) {
    if (!memory_.empty()) [[unlikely]] {
      load(id);
      const std::uint32_t known = memory_.find(position_.state());
      if (known != kNone) {
        if (marking_) wait_for(id, [&] { wave_->noting().remembered.emplace_back(id, known); });
        else recall(id, known);
        return;
      }
    }
    if (deferred_) {
      wait_for(id, [&] { wave_->asked.push_back({id, graph_.hashes[id], kNone, kNone, {}, {}}); });
      return;
    }
    if (evaluators_.needs_state()) load(id);
    const double* logits = evaluators_.evaluate(position_, graph_.hashes[id], draws_);
    settle(id, logits, true, evaluators_.values.data());
  }

  // Write an evaluation into a node: U, Q and the prior over choices. `logits` are [players × actions], or of the only acting
  // player alone; nullptr: every choice is equally likely.
  void settle(NodeId id, const double* logits, bool of_all, const double* values) {
    set_evaluation(id, values);
    if (logits) {
      load(id);
      const std::uint32_t start = static_cast<std::uint32_t>(graph_.priors.size());
      const Node node = graph_.nodes[id];
      const std::uint64_t turn = node.acting == 1 ? std::uint64_t{1} << node.mover : graph_.tables[node.choices].turn;
      const auto wide = static_cast<std::size_t>(graph_.rules.actions);
      std::size_t last = 0;
      for (std::int32_t p = 0; p < graph_.rules.players; ++p)
        if (turn >> p & 1) last = append_prior(p, of_all ? logits + static_cast<std::size_t>(p) * wide : logits);
      if (node.acting > 1 && graph_.priors.size() - start != graph_.tables[node.choices].ids.size())
        position_.fail("legal", node.mover);  // not as many choices as when the node was made: a lying game
      graph_.nodes[id].priors = start;
      if (node.acting == 1) graph_.nodes[id].choices = static_cast<std::uint32_t>(last);
    }
    graph_.nodes[id].visits = 1;
  }

  // Write an evaluation from before an advance into a node.
  void recall(NodeId id, std::uint32_t entry) {
    set_evaluation(id, memory_.evaluation(entry));
    const std::vector<float>& priors = memory_.priors(entry);
    if (!priors.empty()) {
      const std::size_t at = graph_.priors.extend(priors.size());
      std::copy(priors.begin(), priors.end(), &graph_.priors[at]);
      Node& node = graph_.nodes[id];
      node.priors = static_cast<std::uint32_t>(at);
      if (node.acting == 1) node.choices = static_cast<std::uint32_t>(priors.size());
    }
    graph_.nodes[id].visits = 1;
  }

  void freeze(NodeId at, std::uint32_t place, const double* collected, const double* worth) {
    const EdgeId e = graph_.nodes[at].edges + place;
    graph_.edges[e].bits |= kFrozen;
    const double discount = discount_of(graph_.nodes[at], config_);
    for (std::size_t p = 0; p < graph_.players; ++p)
      graph_.value(e)[p] = static_cast<double>(graph_.reward(e, p)) + discount * (collected[p] + worth[p]);
  }

  Evaluators evaluators_;
  Memory memory_;
  Chooser chooser_, joint_chooser_;
  Path path_;            // the one in hand
  const bool marking_;   // whether visits may be in flight together
  const bool deferred_;  // whether evaluations come later
  bool keep_range_ = false;

  bool opens_at_once(NodeId at) {
    Node& node = graph_.nodes[at];
    const bool exact = graph_.rules.chance && graph_.distributions[node.choices].outcomes.size() <= config_.chance.exact_up_to;
    if (exact) node.flags |= kExact;
    return exact || config_.chance.draws > 1;
  }

 private:
  // Walk down to where the visit ends; the next phase is then `back` or `open`.
  template <std::size_t P>
  void walk() {
    NodeId at = path_.visits.back().at;
    path_.phase = Phase::back;
    for (;;) {
      Node& node = graph_.node<P>(at);
      std::uint32_t place;
      if (node.kind == Kind::decision) [[likely]] {
        if (node.visits == 0) {
          ask_node(at);
          return;
        }
        node.flags |= kOnPath;
        path_.steps.push({at, kNone});
        place = select<P>(at);
      } else {
        if (node.kind == Kind::over) return;
        node.flags |= kOnPath;
        path_.steps.push({at, kNone});
        if (node.visits == 0 && graph_.in_flight(at) == 0 && opens_at_once(at)) {
          open(at);
          if (marking_) count_in_flight(path_.steps.back(), path_.visits.back().drawn, 1);
          if (!marking_ || path_.fresh.size() > path_.visits.back().fresh) path_.phase = Phase::open;
          return;
        }
        if (path_.steps.size() > kLongest) [[unlikely]] fail_endless();
        place = draw(at);
      }
      if (place == kNone) [[unlikely]] {  // no room for an edge: the playout ends before this node, which lends its Q
        path_.steps.pop();
        graph_.nodes[at].flags &= static_cast<std::uint8_t>(~kOnPath);
        path_.visits.back().ends_at = at;
        return;
      }
      path_.steps.back().place = place;
      const NodeId child_id = graph_.edge<P>(graph_.node<P>(at).edges + place).child;
      const bool on = child_id == kNone || step_onto<P>(at, place, child_id);
      if (marking_) [[unlikely]] count_in_flight(path_.steps.back(), 0, 1);
      if (child_id == kNone || !on) return;  // frozen, or about to be; or it ends here
      at = child_id;
    }
  }

  // Whether the walk goes on at a child.
  template <std::size_t P>
  [[gnu::always_inline]] bool step_onto(NodeId at, std::uint32_t place, NodeId child_id) {
    if (graph_.node<P>(child_id).flags & kOnPath) [[unlikely]] {
      repeat(at, place);
      return false;
    }
    if (config_.stop && stops(at, place, child_id)) {
      path_.visits.back().ends_at = child_id;
      return false;
    }
    return true;
  }

  // Whether a playout ends at a child that has seen more visits than the edge to it.
  __attribute__((noinline)) bool stops(NodeId at, std::uint32_t place, NodeId child) const {
    const Node& node = graph_.nodes[at];
    const EdgeId e = node.edges + place;
    const double known = graph_.nodes[child].visits + graph_.in_flight(child);
    const double asked = graph_.edges[e].visits + (graph_.count_marks ? graph_.marks[e] : 0);
    return node.kind == Kind::decision && known > config_.rho * asked &&
           (config_.leak == 0.0 ||
            draws_.uniform(Purpose::leak, 0, graph_.hashes[at], node.visits + graph_.in_flight(at)) >= config_.leak);
  }

  // What nested visits change must be known to those who undo it, since visits after them may fail.
  __attribute__((noinline, cold)) Before& remember(NodeId id) {
    if (wave_->low.empty()) {
      wave_->noting().low = graph_.low;
      wave_->high = graph_.high;
    }
    const double* mean = graph_.mean(id);
    wave_->noting().journal.push_back({id, graph_.nodes[id].visits, kNone, {mean, mean + graph_.players}, {}, {}});
    return wave_->journal.back();
  }

  __attribute__((noinline, cold)) void remember(const PathStep& step, const Visit& visit) {
    Before& before = remember(step.node);
    const EdgeId first = graph_.nodes[step.node].edges;
    if (step.place != kNone) {
      const double* value = graph_.value(first + step.place);
      before.walked = step.place;
      before.value.assign(value, value + graph_.players);
      before.edges.emplace_back(step.place, graph_.edges[first + step.place].visits);
    }
    for (std::size_t d = visit.drawn; step.place == kNone && d < path_.drawn.size(); ++d)
      before.edges.emplace_back(path_.drawn[d], graph_.edges[first + path_.drawn[d]].visits);
  }

  // Decisions

  // Choose at a decision node: the place of the edge taken, which may be new; kNone if there is no room for a new one.
  template <std::size_t P>
  [[gnu::always_inline]] std::uint32_t select(NodeId at) {
    Node& node = graph_.node<P>(at);
    if (graph_.size() > kCached) graph_.prefetch_children<P>(node);
    read_shared<P>(graph_, node, config_);
    std::uint32_t place = kNone;
    if (node.acting > 1) [[unlikely]] {
      const std::uint32_t move = joint_chooser_.choose_jointly<P>(graph_, at, node, draws_, place);
      return place != kNone ? place : enter(at, move, false);
    }
    bool counted = false;
    if (node.choices == 0) [[unlikely]] {  // most nodes are never selected at, so nobody asked yet what is legal
      load(at);
      node.choices = static_cast<std::uint32_t>(position_.count_choices(node.mover));
      counted = true;
    }
    const std::uint32_t move = chooser_.choose<P>(graph_, at, node, draws_, place);
    return place != kNone ? place : enter(at, move, counted);
  }

  // Make the edge of a move nobody took before; `counted` if the node's state is in hand and its choices were just counted.
  __attribute__((noinline)) std::uint32_t enter(NodeId at, std::uint32_t move, bool counted) {
    if (has_no_room(at)) return kNone;
    if (!counted) load(at);
    if (counted) {
      std::fill(position_.actions.begin(), position_.actions.end(), kIdle);
      const std::uint8_t mover = graph_.nodes[at].mover;
      position_.actions[mover] = position_.counted(move);
    } else {
      spread_move(at, move);
    }
    step(at);
    return attach_new(at, move, true);
  }

  // Append an edge to the state in hand: to its node, found or made; frozen where there is no room for one.
  [[gnu::always_inline]] std::uint32_t attach_new(NodeId at, std::uint32_t move, bool room) {
    const std::uint32_t place = graph_.add_edge(at, move, position_.rewards.data());
    wave_->added.push(at);
    reaching_ = {at, place};
    if (!(room && attach(at, place, move))) evaluate_frozen(at, place, move);
    reaching_.node = kNone;
    return place;
  }

  void repeat(NodeId at, std::uint32_t place) {
    if (config_.cycles == Cycles::refused) {
      Failure failure;
      failure.cause = Failure::Cause::cycle;
      throw failure;
    }
    if (config_.cycles == Cycles::valued) path_.repeated.push({at, place});
  }

  // Chance

  // Make the first children of a chance node, all outcomes or several draws, and ask about the decisions among them.
  __attribute__((noinline)) void open(NodeId at) {
    const bool exact = graph_.nodes[at].flags & kExact;
    const std::size_t before = graph_.size();
    const std::size_t count = exact ? graph_.distributions[graph_.nodes[at].choices].outcomes.size() : config_.chance.draws;
    std::vector<NodeId> unknown;
    for (std::size_t i = 0; i < count; ++i) {
      const auto number = static_cast<std::uint32_t>(i + 1);
      const std::uint32_t place = exact ? outcome(at, static_cast<std::uint32_t>(i), 0) : outcome(at, outcome_index(at, number), number);
      if (!exact) path_.drawn.push(place);
      const NodeId child = graph_.edges[graph_.nodes[at].edges + place].child;
      if (child == kNone) continue;
      if ((graph_.nodes[child].flags & kOnPath) && !(exact && config_.cycles != Cycles::refused)) repeat(at, place);
      if (graph_.nodes[child].visits == 0 && graph_.nodes[child].kind != Kind::over &&
          std::find(unknown.begin(), unknown.end(), child) == unknown.end())
        unknown.push_back(child);
    }
    for (const NodeId child : unknown) {
      if (graph_.nodes[child].kind == Kind::decision) ask_node(child);
      else if (child >= before) path_.fresh.push(child);
    }
  }

  __attribute__((noinline)) std::uint32_t draw(NodeId at) {
    const Node& node = graph_.nodes[at];
    std::uint32_t drawn = node.visits + (graph_.count_marks ? graph_.passing[at] : 0);
    if (!(node.flags & kExact)) {
      drawn = 0;
      for (EdgeId e = node.edges; e < node.edges + node.edge_count; ++e)
        drawn += graph_.edges[e].visits + (graph_.count_marks ? graph_.marks[e] : 0);
    }
    return outcome(at, outcome_index(at, drawn + 1), drawn + 1);
  }

  // The outcome of the `number`-th draw (1 for the first): its place in the list, or its id where only `draw` knows.
  std::uint32_t outcome_index(NodeId at, std::uint32_t number) {
    const std::uint64_t key = graph_.hashes[at];
    if (!graph_.rules.chance) {
      load(at);
      Random random{draws_.key(Purpose::chance, 0, key, number)};
      return static_cast<std::uint32_t>(position_.draw(random));
    }
    const Distribution& list = graph_.distributions[graph_.nodes[at].choices];
    double point;
    if (config_.chance.sampled) {
      point = draws_.uniform(Purpose::chance, 0, key, number);
    } else {
      const double offset = config_.chance.offset < 0.0 ? draws_.offset(key) : config_.chance.offset;
      point = offset + number * kGoldenStep;
      point -= std::floor(point);
    }
    const auto above = std::upper_bound(list.cumulative.begin(), list.cumulative.end(), point);
    return static_cast<std::uint32_t>(above == list.cumulative.end() ? list.cumulative.size() - 1
                                                                     : static_cast<std::size_t>(above - list.cumulative.begin()));
  }

  // The edge of an outcome, with a child if widening allows one at the `number`-th draw (0: always), else frozen.
  std::uint32_t outcome(NodeId at, std::uint32_t index, std::uint32_t number) {
    const bool room = number == 0 || has_room(at, number);
    const Node& node = graph_.nodes[at];
    std::uint32_t place = kNone;
    for (std::uint32_t e = 0; e < node.edge_count; ++e)
      if (graph_.edges[node.edges + e].move == index) place = e;
    if (place != kNone && !(graph_.edges[node.edges + place].child == kNone && room)) return place;
    if (place == kNone && has_no_room(at)) return kNone;
    load(at);
    position_.set_outcome(graph_.rules.chance ? graph_.distributions[node.choices].outcomes[index] : static_cast<std::int32_t>(index));
    step(at);
    if (place == kNone) return attach_new(at, index, room);
    thaw(at, place);
    return place;
  }

  bool has_room(NodeId at, std::uint32_t number) const {
    std::size_t limit = config_.chance.widen_cap;
    if (config_.chance.widen > 0.0) {
      const double wanted = std::ceil(config_.chance.widen * std::pow(static_cast<double>(number), config_.chance.widen_power));
      limit = std::min(limit, static_cast<std::size_t>(wanted));
    }
    if (limit == std::numeric_limits<std::size_t>::max()) return true;
    const Node& node = graph_.nodes[at];
    std::size_t children = 0;
    for (EdgeId e = node.edges; e < node.edges + node.edge_count; ++e) children += graph_.edges[e].child != kNone;
    return children < limit;
  }

  // Evaluations

  // Evaluators the state in hand, which gets no node: walk on through chance by drawing; a known state lends its Q.
  __attribute__((noinline, cold)) void evaluate_frozen(NodeId at, std::uint32_t place, std::uint32_t move) {
    std::uint64_t hash = offer();
    std::uint64_t key = node_key(hash, at, move);
    Random random{draws_.key(Purpose::freeze, 0, key, graph_.nodes[at].visits + graph_.in_flight(at))};
    std::vector<double> collected(graph_.players, 0.0);
    std::int64_t turn = 0;
    for (std::size_t drawn = 0;; ++drawn) {
      if (drawn > kLongest) fail_endless();
      const NodeId known = find(hash);
      if (known != kNone && graph_.nodes[known].visits > 0) {
        freeze(at, place, collected.data(), graph_.mean(known));
        return;
      }
      turn = position_.turn();
      if (turn == kOver) {
        const std::vector<double> nothing(graph_.players, 0.0);
        freeze(at, place, collected.data(), nothing.data());
        return;
      }
      if (turn != kChance) break;
      position_.step_outcome(position_.draw(random));
      for (std::size_t p = 0; p < graph_.players; ++p) collected[p] += static_cast<double>(position_.rewards[p]);
      hash = offer();
      if (config_.keyed_by_path) key = fold(key, static_cast<std::uint64_t>(static_cast<std::int64_t>(position_.actions[0])));
      else key = hash;
    }
    if (deferred_) {
      graph_.edges[graph_.nodes[at].edges + place].bits |= kFrozen;  // from now on; its value comes with the answer
      wave_->asked.push_back({kNone, key, at, place, {position_.state(), position_.state() + graph_.rules.state_size}, std::move(collected), turn});
      return;
    }
    evaluators_.evaluate(position_, key, draws_);
    freeze(at, place, collected.data(), evaluators_.values.data());
  }

  // Note that a node waits for an answer, and who it is to come from; once.
  template <class Note>
  void wait_for(NodeId id, const Note& note) {
    auto& flags = graph_.nodes[id].flags;
    if (flags & kPending) return;
    flags |= kPending;
    if (marking_) ++awaited_;
    if (id < wave_->first_node) wave_->settled.push_back(id);
    note();
  }

  void set_evaluation(NodeId id, const double* values) {
    auto& flags = graph_.nodes[id].flags;
    if (!(flags & kPending) && id < wave_->first_node) wave_->settled.push_back(id);
    if (marking_ && flags & kPending) --awaited_;
    flags &= static_cast<std::uint8_t>(~kPending);
    std::copy_n(values, graph_.players, graph_.mean(id));
    std::copy_n(values, graph_.players, graph_.evaluation(id));
  }

  // A softmax over legal ids, summed over ids that do the same.
  __attribute__((noinline)) std::size_t append_prior(std::int32_t player, const double* logits) {
    if (!position_.has_same()) {
      const std::size_t count = position_.list_legal(player);
      append_softmax(position_.listed(), count, logits);
      return count;
    }
    position_.read_choices(player);
    double top = logits[position_.legal[0]];
    for (const std::int32_t id : position_.legal) top = logits[id] > top ? logits[id] : top;
    weights_.clear();
    double total = 0.0;
    for (const std::int32_t id : position_.legal) {
      weights_.push_back(std::exp(logits[id] - top));
      total += weights_.back();
    }
    sums_.assign(position_.choices.size(), 0.0);
    for (std::size_t i = 0; i < weights_.size(); ++i) sums_[position_.group[i]] += weights_[i] / total;
    const std::size_t at = graph_.priors.extend(sums_.size());
    store_prior(sums_.data(), sums_.size(), &graph_.priors[at]);
    return sums_.size();
  }

  // The same where every id is a choice of its own.
  void append_softmax(const std::int32_t* ids, std::size_t count, const double* logits) {
    if (sums_.size() < count) sums_.resize(count);
    double* const chances = sums_.data();
    double top = logits[ids[0]];
    for (std::size_t i = 1; i < count; ++i) top = logits[ids[i]] > top ? logits[ids[i]] : top;
    double total = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
      chances[i] = std::exp(logits[ids[i]] - top);
      total += chances[i];
    }
    for (std::size_t i = 0; i < count; ++i) chances[i] /= total;
    const std::size_t at = graph_.priors.extend(count);
    store_prior(chances, count, &graph_.priors[at]);
  }

  [[noreturn]] __attribute__((noinline, cold)) static void fail_endless() {
    Failure failure;
    failure.cause = Failure::Cause::endless;
    throw failure;
  }

  static constexpr std::size_t kLongest = 100000;  // states on one way: where dice lead to dice for ever, somebody must stop
  static constexpr std::size_t kCached = 4096;  // nodes of a graph that stays in the processor's caches anyway

  std::vector<double> weights_, sums_;
};

}  // namespace anabranch
