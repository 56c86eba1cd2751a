// One playout at a time over one graph: walk down, ask for opinions, walk back (MODEL sections 5 and 6).
//
// A playout is a loop with explicit memory, never a recursion, so depth has no limit and it can pause wherever an
// evaluator outside is needed: `begin`, then `proceed` until it returns false; while it returns true, `asked` holds the
// states it waits for, and `answer` must be called. Enumerating a chance node lets its chance children be visited first:
// that is a stack of visits, each with its own stretch of the path. Whatever fails, `undo` restores the graph to what it was
// before `begin`.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "anabranch/backup.hpp"
#include "anabranch/config.hpp"
#include "anabranch/draws.hpp"
#include "anabranch/evaluate.hpp"
#include "anabranch/graph.hpp"
#include "anabranch/position.hpp"
#include "anabranch/select.hpp"
#include "anabranch/team.hpp"

namespace anabranch {

inline constexpr double kGoldenStep = 0.61803398874989484820;  // (√5 − 1) / 2

class Search {
  friend class Archive;  // snapshot.hpp

 public:
  // A state that needs an opinion: a node, or (node == kNone) a state without one, whose value an edge will keep frozen.
  struct Request {
    NodeId node;
    std::uint64_t key;
    NodeId parent;             // frozen: the edge's owner
    std::uint32_t place;       // frozen: the edge's place
    std::vector<std::byte> state;     // frozen: the state to judge
    std::vector<double> collected;    // frozen: rewards on the way there
  };

  Search(const Rules& rules, const Config& config, const NativeEvaluator& evaluator, std::uint64_t stream, const std::byte* root)
      : config_(config),
        evaluator_(evaluator),
        draws_(config.seed, stream, 0),
        graph_(rules),
        position_(graph_.rules),
        chooser_(config_.selector, config_, rules.bounds),
        joint_chooser_(config_.simultaneous, config_, rules.bounds),
        logits_(evaluator.kind == NativeEvaluator::Kind::hashing
                    ? static_cast<std::size_t>(rules.players) * static_cast<std::size_t>(rules.actions)
                    : 0),
        values_(graph_.players),
        buffers_(1, RolloutBuffers(rules)) {
    graph_.count_repeats = config.cycles == Cycles::valued;
    keep_range_ = config.selector.scale == Scale::graph || config.simultaneous.scale == Scale::graph;
    position_.set(root);
    const std::uint64_t hash = offer();
    add_node(config_.keyed_by_path ? mix(kGolden) : hash, hash);
  }
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  const Config& config() const { return config_; }
  const Draws& draws() const { return draws_; }
  Graph& graph() { return graph_; }
  const Graph& graph() const { return graph_; }
  Chooser& joint_chooser() { return joint_chooser_; }
  Chooser& chooser() { return chooser_; }
  Position& position() { return position_; }
  const std::vector<Request>& asked() const { return asked_; }

  // Let a team share the rollouts of every leaf from now on; nullptr: play them alone.
  void set_team(Team* team) {
    team_ = team;
    buffers_.resize(team ? team->members() : 1, RolloutBuffers(graph_.rules));
  }
  bool shares_rollouts() const { return evaluator_.rollout && evaluator_.count > 1 && static_cast<std::size_t>(evaluator_.count) <= Team::kMost; }

  // What counts as the root's visits: Σ N(e), or the completed visits of a chance node.
  std::uint64_t root_visits() const {
    const Node& root = graph_.nodes[0];
    return root.kind == Kind::decision ? (root.visits ? root.visits - 1 : 0) : root.kind == Kind::chance ? root.visits : 0;
  }
  bool over() const { return graph_.nodes[0].kind == Kind::over; }
  bool root_ready() const { return graph_.nodes[0].kind != Kind::decision || graph_.nodes[0].visits > 0; }

  // Ask about the root itself, which is free. True if the answer must come from outside.
  bool begin_root() {
    mark();
    ask_node(0);
    phase_ = Phase::done;
    playing_ = !asked_.empty();
    return playing_;
  }

  void begin() {
    mark();
    push_visit(0);
    phase_ = Phase::walk;
  }

  // Go on with the playout until it needs opinions from outside (true) or is over (false).
  bool proceed() {
    return with_players(graph_.players, [this](auto players) { return proceed<players()>(); });
  }

  // Give the opinions asked for, in order: `logits` per request [players × actions] (nullptr: every choice equally likely) and
  // `values` [players].
  void answer(std::size_t index, const double* logits, const double* values) {
    const Request& request = asked_[index];
    if (request.node != kNone) {
      settle(request.node, logits, values);
    } else if (graph_.edges[graph_.nodes[request.parent].edges + request.place].child == kNone) {  // no child meanwhile
      freeze(request.parent, request.place, request.collected.data(), values);
    }
  }
  void answered() { asked_.clear(); }

  // Restore the graph to what it was when the playout in progress began; a finished one stays.
  void undo() {
    if (!playing_) return;
    playing_ = false;
    for (auto entry = journal_.rbegin(); entry != journal_.rend(); ++entry) {
      graph_.nodes[entry->node].visits = entry->visits;
      std::copy_n(entry->mean.begin(), graph_.players, graph_.mean(entry->node));
      const EdgeId first = graph_.nodes[entry->node].edges;
      for (const auto& [place, visits] : entry->edges) graph_.edges[first + place].visits = visits;
      if (entry->walked != kNone) std::copy_n(entry->value.begin(), graph_.players, graph_.value(first + entry->walked));
    }
    for (const NodeId id : settled_) {
      graph_.nodes[id].visits = 0;
      graph_.nodes[id].priors = kNone;
      std::fill_n(graph_.mean(id), 2 * graph_.players, 0.0);
    }
    for (const auto& [node, place] : repeated_) --graph_.repeats[graph_.nodes[node].edges + place];
    for (std::size_t i = added_.size(); i > 0; --i) {
      Node& node = graph_.nodes[added_[i - 1]];
      --node.edge_count;
      graph_.clear_edge(node.edges + node.edge_count);
    }
    for (std::size_t i = 0; i < thawed_.size(); ++i) {
      const EdgeId e = graph_.nodes[thawed_[i].first].edges + thawed_[i].second;
      graph_.edges[e].child = kNone;
      graph_.edges[e].bits = (graph_.edges[e].bits & kNoReward) | kFrozen;
      std::copy_n(&thawed_values_[i * graph_.players], graph_.players, graph_.value(e));
    }
    for (const PathStep& step : path_) graph_.nodes[step.node].flags &= static_cast<std::uint8_t>(~kOnPath);
    while (graph_.size() > first_node_) remove_last_node();
    graph_.rewards.cut(first_reward_);
    graph_.priors.cut(first_prior_);
    graph_.low = low_;
    graph_.high = high_;
    path_.cut(0);
    visits_.cut(0);
    fresh_.cut(0);
    drawn_.cut(0);
    asked_.clear();
    reaching_ = {kNone, kNone};
    phase_ = Phase::done;
  }

  // The actions from the root down to where the playout is now.
  std::vector<std::vector<std::int32_t>> line() {
    std::vector<std::vector<std::int32_t>> actions;
    std::vector<PathStep> steps(path_.begin(), path_.end());
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

  // The actions an edge stands for, one per acting player, or the outcome.
  std::vector<std::int32_t> actions_of(NodeId id, std::uint32_t move) {
    const Node& node = graph_.nodes[id];
    if (node.kind == Kind::chance)
      return {graph_.rules.chance ? graph_.distributions[node.choices].outcomes[move] : static_cast<std::int32_t>(move)};
    load(id);
    std::vector<std::int32_t> actions;
    spread_move(id, move);
    for (const std::int32_t action : position_.actions)
      if (action != kIdle) actions.push_back(action);
    return actions;
  }

  void load(NodeId id) { graph_.states.load(id, position_.state()); }

 private:
  enum class Phase : std::uint8_t { done, walk, open, back };
  struct PathStep {
    NodeId node;
    std::uint32_t place;  // of the edge walked; kNone where a chance node was opened
  };
  struct Visit {
    std::size_t path, fresh, drawn, next;  // where its stretch of each list begins; the next fresh child to visit
    NodeId at;
  };
  struct Before {
    NodeId node;
    std::uint32_t visits;
    std::uint32_t walked;  // the place whose q(e) was `value`
    std::vector<double> mean, value;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  };

  void mark() {
    undo();  // a playout that was left
    playing_ = true;
    crowded_ = limited() && graph_.bytes() + kReserve > config_.max_bytes;
    first_node_ = graph_.size();
    first_reward_ = graph_.rewards.size();
    first_prior_ = graph_.priors.size();
    if (keep_range_ || low_.empty()) {
      low_ = graph_.low;
      high_ = graph_.high;
    }
    added_.cut(0);
    thawed_.clear();
    thawed_values_.clear();
    repeated_.clear();
    settled_.clear();
    journal_.clear();
    asked_.clear();
  }

  void push_visit(NodeId at) { visits_.push({path_.size(), fresh_.size(), drawn_.size(), fresh_.size(), at}); }

  template <std::size_t P>
  [[gnu::always_inline]] bool proceed() {
    while (phase_ != Phase::done) {
      if (phase_ == Phase::walk) {
        walk<P>();
        if (!asked_.empty()) return true;
      } else if (phase_ == Phase::open) {
        Visit& visit = visits_.back();
        while (visit.next < fresh_.size() && graph_.nodes[fresh_[visit.next]].visits > 0) ++visit.next;
        if (visit.next < fresh_.size()) {
          push_visit(fresh_[visit.next++]);
          phase_ = Phase::walk;
        } else {
          phase_ = Phase::back;
        }
      } else {
        back<P>();
        phase_ = visits_.empty() ? Phase::done : Phase::open;
      }
    }
    playing_ = false;
    return false;
  }

  // Walk down to where the playout ends; the next phase is then `back` or `open`.
  template <std::size_t P>
  void walk() {
    NodeId at = visits_.back().at;
    phase_ = Phase::back;
    for (;;) {
      Node& node = graph_.node<P>(at);
      std::uint32_t place;
      if (node.kind == Kind::decision) [[likely]] {
        if (node.visits == 0) {
          ask_node(at);
          return;
        }
        node.flags |= kOnPath;
        path_.push({at, kNone});
        place = select<P>(at);
      } else {
        if (node.kind == Kind::over) return;
        node.flags |= kOnPath;
        path_.push({at, kNone});
        if (node.visits == 0 && opens_at_once(at)) {
          open(at);
          phase_ = Phase::open;
          return;
        }
        place = draw(at);
      }
      if (place == kNone) [[unlikely]] {  // no room for an edge: the playout ends before this node, which lends its Q
        path_.pop();
        graph_.nodes[at].flags &= static_cast<std::uint8_t>(~kOnPath);
        refresh(graph_, graph_.nodes[at], config_, keep_range_);
        return;
      }
      path_.back().place = place;
      const NodeId child_id = graph_.edge<P>(graph_.node<P>(at).edges + place).child;
      if (child_id == kNone) return;  // frozen, or about to be
      Node& child = graph_.node<P>(child_id);
      if (child.flags & kOnPath) [[unlikely]] {
        repeat(at, place);
        return;
      }
      if (config_.stop && stops(at, place, child)) {
        if (visits_.size() > 1) remember(child_id);
        refresh(graph_, child, config_, keep_range_);
        return;
      }
      at = child_id;
    }
  }

  // Whether a playout ends at a child that has seen more visits than the edge to it.
  __attribute__((noinline)) bool stops(NodeId at, std::uint32_t place, const Node& child) const {
    const Node& node = graph_.nodes[at];
    return node.kind == Kind::decision && static_cast<double>(child.visits) > config_.rho * graph_.edges[node.edges + place].visits &&
           (config_.leak == 0.0 || draws_.uniform(Purpose::leak, 0, graph_.hashes[at], node.visits) >= config_.leak);
  }

  // Add one to each edge walked and recompute each node, leaf first. `select` has just read a decision's shared children,
  // and in a graded graph nothing since then has changed any of them but the one walked to: what changed lies deeper.
  // Only a second edge to that one is left to read.
  template <std::size_t P>
  void back() {
    const Visit visit = visits_.back();
    const bool known = graph_.graded && !keep_range_;
    const bool nested = visits_.size() > 1;
    for (std::size_t i = path_.size(); i > visit.path; --i) {
      const PathStep step = path_[i - 1];
      Node& node = graph_.node<P>(step.node);
      if (nested) [[unlikely]] remember(step, visit);
      if (step.place != kNone) [[likely]] {
        const EdgeId e = node.edges + step.place;
        Edge& edge = graph_.edge<P>(e);
        ++edge.visits;
        if (edge.child != kNone) read_child<P>(graph_, e, discount_of(node, config_), config_);
      } else {
        for (std::size_t d = visit.drawn; d < drawn_.size(); ++d) ++graph_.edges[node.edges + drawn_[d]].visits;
        read_children(graph_, node, config_);
      }
      ++node.visits;
      node.flags &= static_cast<std::uint8_t>(~kOnPath);
      if (known && node.kind == Kind::decision && !(node.flags & kTwinEdges)) [[likely]] refresh_decision<P>(graph_, node);
      else refresh<P>(graph_, node, config_, keep_range_);
    }
    path_.cut(visit.path);
    fresh_.cut(visit.fresh);
    drawn_.cut(visit.drawn);
    visits_.pop();
  }

  // What nested visits change must be known to `undo`, since visits after them may fail.
  __attribute__((noinline, cold)) Before& remember(NodeId id) {
    const double* mean = graph_.mean(id);
    journal_.push_back({id, graph_.nodes[id].visits, kNone, {mean, mean + graph_.players}, {}, {}});
    return journal_.back();
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
    for (std::size_t d = visit.drawn; step.place == kNone && d < drawn_.size(); ++d)
      before.edges.emplace_back(drawn_[d], graph_.edges[first + drawn_[d]].visits);
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

  // Step from the state of a node, which is in hand.
  void step(NodeId at) {
    if (position_.try_step()) return;
    load(at);
    position_.fail("step");
  }

  // Write the actions of a move into the position, whose state is that node's.
  void spread_move(NodeId at, std::uint32_t move) {
    const Node& node = graph_.nodes[at];
    for (std::int32_t& action : position_.actions) action = kIdle;
    if (node.acting == 1) {
      position_.actions[node.mover] = position_.choice(node.mover, move);
      return;
    }
    const Table& table = graph_.tables[node.choices];
    for (std::size_t i = 0; i < table.sizes.size(); ++i)
      position_.actions[table.players[i]] = table.ids[table.starts[i] + table.choice(move, i)];
  }

  void repeat(NodeId at, std::uint32_t place) {
    if (config_.cycles == Cycles::refused) {
      Failure failure;
      failure.cause = Failure::Cause::cycle;
      throw failure;
    }
    if (config_.cycles == Cycles::valued) {
      ++graph_.repeats[graph_.nodes[at].edges + place];
      repeated_.emplace_back(at, place);
    }
  }

  // Chance

  bool opens_at_once(NodeId at) {
    Node& node = graph_.nodes[at];
    const bool exact = graph_.rules.chance && graph_.distributions[node.choices].outcomes.size() <= config_.chance.exact_up_to;
    if (exact) node.flags |= kExact;
    return exact || config_.chance.draws > 1;
  }

  // Make the first children of a chance node, all outcomes or several draws, and ask about the decisions among them.
  __attribute__((noinline)) void open(NodeId at) {
    const bool exact = graph_.nodes[at].flags & kExact;
    const std::size_t before = graph_.size();
    const std::size_t count = exact ? graph_.distributions[graph_.nodes[at].choices].outcomes.size() : config_.chance.draws;
    std::vector<NodeId> unknown;
    for (std::size_t i = 0; i < count; ++i) {
      const auto number = static_cast<std::uint32_t>(i + 1);
      const std::uint32_t place = exact ? outcome(at, static_cast<std::uint32_t>(i), 0) : outcome(at, outcome_index(at, number), number);
      if (!exact) drawn_.push(place);
      const NodeId child = graph_.edges[graph_.nodes[at].edges + place].child;
      if (child == kNone) continue;
      if ((graph_.nodes[child].flags & kOnPath) && !(exact && config_.cycles != Cycles::refused)) repeat(at, place);
      if (graph_.nodes[child].visits == 0 && graph_.nodes[child].kind != Kind::over &&
          std::find(unknown.begin(), unknown.end(), child) == unknown.end())
        unknown.push_back(child);
    }
    for (const NodeId child : unknown) {
      if (graph_.nodes[child].kind == Kind::decision) ask_node(child);
      else if (child >= before) fresh_.push(child);
    }
  }

  __attribute__((noinline)) std::uint32_t draw(NodeId at) {
    const Node& node = graph_.nodes[at];
    std::uint32_t drawn = node.visits;
    if (!(node.flags & kExact)) {
      drawn = 0;
      for (EdgeId e = node.edges; e < node.edges + node.edge_count; ++e) drawn += graph_.edges[e].visits;
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
    if (place != kNone && !((graph_.edges[node.edges + place].is(kFrozen)) && room)) return place;
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

  // Making nodes. The state stepped to is the position's.

  // Append an edge to the state in hand: to its node, found or made; frozen where there is no room for one.
  [[gnu::always_inline]] std::uint32_t attach_new(NodeId at, std::uint32_t move, bool room) {
    const std::uint32_t place = graph_.add_edge(at, move, position_.rewards.data());
    added_.push(at);
    reaching_ = {at, place};
    if (!(room && attach(at, place, move))) judge(at, place, move);
    reaching_.node = kNone;
    return place;
  }

  [[gnu::always_inline]] bool attach(NodeId at, std::uint32_t place, std::uint32_t move) {
    const std::uint64_t hash = offer();
    NodeId child = find(hash);
    if (child == kNone) {
      if (full()) return false;
      child = add_node(node_key(hash, at, move), hash);
    }
    graph_.link(at, graph_.nodes[at].edges + place, child);
    return true;
  }

  void thaw(NodeId at, std::uint32_t place) {
    const EdgeId e = graph_.nodes[at].edges + place;
    const std::vector<double> frozen(graph_.value(e), graph_.value(e) + graph_.players);
    reaching_ = {at, place};
    const bool attached = attach(at, place, graph_.edges[e].move);
    reaching_.node = kNone;
    if (!attached) return;
    thawed_.emplace_back(at, place);
    thawed_values_.insert(thawed_values_.end(), frozen.begin(), frozen.end());
  }

  // Whether not even an edge may be added to a node. The root's always may: without them nothing would go on.
  bool has_no_room(NodeId at) const { return crowded_ && at != 0; }

  bool limited() const { return config_.max_bytes != std::numeric_limits<std::size_t>::max(); }

  bool full() const {
    if (graph_.size() >= config_.max_nodes) return true;
    // An eighth of the memory is left for edges that new leaves get instead of nodes.
    return limited() && graph_.bytes() + graph_.index.growth() + kReserve + config_.max_bytes / 8 > config_.max_bytes;
  }

  std::uint64_t node_key(std::uint64_t hash, NodeId creator, std::uint32_t) const {
    if (!config_.keyed_by_path) return hash;
    std::uint64_t key = graph_.hashes[creator];
    for (const std::int32_t action : position_.actions) key = fold(key, static_cast<std::uint64_t>(static_cast<std::int64_t>(action)));
    return key;
  }

  // Offer the state in hand to the stores; the hash it is looked up by.
  [[gnu::always_inline]] std::uint64_t offer() {
    const std::uint64_t hash = graph_.states.offer(position_.state());
    return graph_.rules.key ? graph_.keys.offer(position_.key()) : hash;
  }

  NodeId find(std::uint64_t hash) {
    if (!config_.merge) return kNone;
    const States& compared = graph_.rules.key ? graph_.keys : graph_.states;
    return graph_.index.find(hash & config_.hash_mask, [&](NodeId id) { return compared.equals(id); });
  }

  [[gnu::always_inline]] NodeId add_node(std::uint64_t key, std::uint64_t hash) {
    const std::int64_t turn = position_.turn();
    Node made;
    if (turn == kChance) {
      made.kind = Kind::chance;
      if (graph_.rules.chance) {
        const std::size_t count = position_.read_chances();
        made.choices = graph_.intern(position_.outcomes(), position_.chances(), count);
      } else if (!graph_.rules.draw) {
        position_.fail("chance");
      }
    } else if (turn != kOver) {
      made.kind = Kind::decision;
      for (std::int64_t rest = turn; rest; rest &= rest - 1) ++made.acting;
      made.mover = static_cast<std::uint8_t>(std::countr_zero(static_cast<std::uint64_t>(turn)));
      if (made.acting > 1) made.choices = read_table(static_cast<std::uint64_t>(turn));  // one player's: when first selected
    } else {
      made.visits = 1;
    }
    std::vector<double>& range = range_;
    if (graph_.rules.bounds) {
      range.resize(2 * graph_.players);
      position_.bounds(range.data(), range.data() + graph_.players);
    }
    const NodeId id = graph_.add(made, key);
    if (graph_.rules.bounds) std::copy(range.begin(), range.end(), &graph_.ranges[id * 2 * graph_.players]);
    if (config_.merge) {
      graph_.index.insert(hash & config_.hash_mask, id, [&](NodeId node) { return index_hash(node); });
    }
    return id;
  }

  std::uint32_t read_table(std::uint64_t turn) {
    sizes_.clear();
    ids_.clear();
    for (std::int32_t p = 0; p < graph_.rules.players; ++p) {
      if (!(turn >> p & 1)) continue;
      const std::size_t before = ids_.size();
      position_.append_choices(p, ids_);
      sizes_.push_back(static_cast<std::uint32_t>(ids_.size() - before));
    }
    const std::uint32_t place = graph_.intern(turn, sizes_, ids_);
    if (place == kNone) {
      Failure failure;
      failure.cause = Failure::Cause::too_many_choices;
      failure.state.assign(position_.state(), position_.state() + graph_.rules.state_size);
      throw failure;
    }
    return place;
  }

  // The hash a node is indexed by. Node keys are that hash, except where they follow the path.
  std::uint64_t index_hash(NodeId node) {
    if (!config_.keyed_by_path) return graph_.hashes[node] & config_.hash_mask;
    std::uint64_t handle = 0;
    record_.resize(graph_.rules.state_size / 8);
    graph_.states.load(node, reinterpret_cast<std::byte*>(record_.data()));
    handle = key_of_bytes(reinterpret_cast<const std::byte*>(record_.data()), graph_.rules.state_size);
    return handle & config_.hash_mask;
  }

  void remove_last_node() {
    const auto last = static_cast<NodeId>(graph_.size() - 1);
    if (config_.merge) graph_.index.remove(index_hash(last), last);
    graph_.release_edges(graph_.nodes[last]);
    graph_.nodes.cut(last);
    graph_.hashes.cut(last);
    graph_.levels.cut(last);
    if (graph_.rules.bounds) graph_.ranges.cut(last * 2 * graph_.players);
    graph_.states.cut(last);
    if (graph_.rules.key) graph_.keys.cut(last);
  }

  // Opinions

  // Judge the state in hand, which gets no node: walk on through chance by drawing; a known state lends its Q.
  __attribute__((noinline, cold)) void judge(NodeId at, std::uint32_t place, std::uint32_t move) {
    std::uint64_t hash = offer();
    std::uint64_t key = node_key(hash, at, move);
    Random random{draws_.key(Purpose::freeze, 0, key, graph_.nodes[at].visits)};
    std::vector<double> collected(graph_.players, 0.0);
    for (;;) {
      const NodeId known = find(hash);
      if (known != kNone && graph_.nodes[known].visits > 0) {
        freeze(at, place, collected.data(), graph_.mean(known));
        return;
      }
      const std::int64_t turn = position_.turn();
      if (turn == kOver) {
        std::fill(values_.begin(), values_.end(), 0.0);
        freeze(at, place, collected.data(), values_.data());
        return;
      }
      if (turn != kChance) break;
      position_.step_outcome(position_.draw(random));
      for (std::size_t p = 0; p < graph_.players; ++p) collected[p] += static_cast<double>(position_.rewards[p]);
      hash = offer();
      if (config_.keyed_by_path) key = fold(key, static_cast<std::uint64_t>(static_cast<std::int64_t>(position_.actions[0])));
      else key = hash;
    }
    if (evaluator_.kind == NativeEvaluator::Kind::none) {
      graph_.edges[graph_.nodes[at].edges + place].bits |= kFrozen;  // from now on; its value comes with the answer
      asked_.push_back({kNone, key, at, place, {position_.state(), position_.state() + graph_.rules.state_size}, std::move(collected)});
      return;
    }
    const double* logits = nullptr;
    evaluate(key, logits);
    freeze(at, place, collected.data(), values_.data());
  }

  void freeze(NodeId at, std::uint32_t place, const double* collected, const double* worth) {
    const EdgeId e = graph_.nodes[at].edges + place;
    graph_.edges[e].bits |= kFrozen;
    const double discount = discount_of(graph_.nodes[at], config_);
    for (std::size_t p = 0; p < graph_.players; ++p)
      graph_.value(e)[p] = static_cast<double>(graph_.reward(e, p)) + discount * (collected[p] + worth[p]);
  }

  void ask_node(NodeId id) {
    if (evaluator_.kind == NativeEvaluator::Kind::none) {
      asked_.push_back({id, graph_.hashes[id], kNone, kNone, {}, {}});
      return;
    }
    if (evaluator_.kind != NativeEvaluator::Kind::uniform) load(id);
    const double* logits = nullptr;
    evaluate(graph_.hashes[id], logits);
    settle(id, logits, values_.data());
  }

  // Evaluate the state in hand natively, into `values_`.
  void evaluate(std::uint64_t key, const double*& logits) {
    switch (evaluator_.kind) {
      case NativeEvaluator::Kind::uniform:
        std::fill(values_.begin(), values_.end(), evaluator_.value);
        break;
      case NativeEvaluator::Kind::hashing:
        hash_opinion(evaluator_, key, graph_.players, static_cast<std::size_t>(graph_.rules.actions), config_.returns_low,
                     config_.returns_high, logits_.data(), values_.data());
        logits = logits_.data();
        break;
      case NativeEvaluator::Kind::rollout:
        roll_out(key);
        break;
      case NativeEvaluator::Kind::none:
        break;
    }
  }

  // The mean of the rollouts from the state in hand, into `values_`. Each has numbers and a result of its own, so it does
  // not matter who plays it; results are added up in order.
  void roll_out(std::uint64_t key) {
    const std::uint64_t base = fold(draws_.evaluation(), key);
    if (evaluator_.count == 1 && evaluator_.rollout) [[likely]] {
      for (double& value : values_) value = 0.0;
      if (play_rollout(position_.state(), fold(base, 0), buffers_[0], values_.data())) [[likely]] return;
    }
    roll_out_many(base);
  }

  __attribute__((noinline)) void roll_out_many(std::uint64_t base) {
    const auto count = static_cast<std::size_t>(evaluator_.count);
    start_.assign(position_.state(), position_.state() + graph_.rules.state_size);
    totals_.assign(count * graph_.players, 0.0);
    failed_.assign(count, evaluator_.rollout == nullptr);
    if (evaluator_.rollout) {
      const auto play = [this, base](std::size_t i, std::size_t member) {
        failed_[i] = !play_rollout(start_.data(), fold(base, i), buffers_[member], &totals_[i * graph_.players]);
      };
      if (team_ && count > 1) team_->each(count, play);
      else
        for (std::size_t i = 0; i < count; ++i) play(i, 0);
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (!failed_[i]) continue;
      // There is no compiled rollout, or something failed on its way: play it verb by verb, which finds where.
      position_.set(start_.data());
      std::fill_n(&totals_[i * graph_.players], graph_.players, 0.0);
      rollout(position_, graph_.rules, Random{fold(base, i)}, evaluator_.max_depth, config_.discount, &totals_[i * graph_.players]);
    }
    std::fill(values_.begin(), values_.end(), 0.0);
    for (std::size_t i = 0; i < totals_.size(); ++i) values_[i % graph_.players] += totals_[i];
    for (double& value : values_) value /= evaluator_.count;
    position_.set(start_.data());
  }

  // One compiled rollout from a state; false if something failed.
  bool play_rollout(const std::byte* start, std::uint64_t random, RolloutBuffers& b, double* totals) const {
    copy_record(reinterpret_cast<std::byte*>(b.state.data()), start, graph_.rules.state_size);
    std::int64_t result = 0;
    void* error = nullptr;
    return evaluator_.rollout(&result, &error, graph_.rules.instance, b.state.data(), &random, evaluator_.max_depth, config_.discount,
                              b.ids.data(), b.joint.data(), b.outcomes.data(), b.chances.data(), b.rewards.data(), totals) == 0 &&
           result == 0 && finite(totals, graph_.rules.players);
  }

  // Write an opinion into a node: U, Q and the prior over choices.
  void settle(NodeId id, const double* logits, const double* values) {
    if (id < first_node_) settled_.push_back(id);
    std::copy_n(values, graph_.players, graph_.mean(id));
    std::copy_n(values, graph_.players, graph_.opinion(id));
    if (logits) {
      load(id);
      const std::uint32_t start = static_cast<std::uint32_t>(graph_.priors.size());
      const Node node = graph_.nodes[id];
      const std::uint64_t turn = node.acting == 1 ? std::uint64_t{1} << node.mover : graph_.tables[node.choices].turn;
      for (std::int32_t p = 0; p < graph_.rules.players; ++p)
        if (turn >> p & 1) append_prior(p, logits + static_cast<std::size_t>(p) * static_cast<std::size_t>(graph_.rules.actions));
      if (node.acting > 1 && graph_.priors.size() - start != graph_.tables[node.choices].ids.size())
        position_.fail("legal", node.mover);  // not as many choices as when the node was made: a lying game
      graph_.nodes[id].priors = start;
      if (node.acting == 1) graph_.nodes[id].choices = static_cast<std::uint32_t>(position_.choices.size());
    }
    graph_.nodes[id].visits = 1;
  }

  // A softmax over legal ids, summed over ids that do the same.
  __attribute__((noinline)) void append_prior(std::int32_t player, const double* logits) {
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
  }

  static constexpr std::size_t kCached = 4096;  // nodes of a graph that stays in the processor's caches anyway
  static constexpr std::size_t kReserve = 4096;  // what one playout may add to a graph that is nearly full

  const Config config_;
  const NativeEvaluator evaluator_;
  const Draws draws_;
  Graph graph_;
  Position position_;
  Chooser chooser_, joint_chooser_;
  Team* team_ = nullptr;
  bool keep_range_ = false;
  Phase phase_ = Phase::done;

  // The playout in progress.
  Column<PathStep> path_;
  Column<Visit> visits_;
  Column<NodeId> fresh_;         // chance children an opened node wants visited
  Column<std::uint32_t> drawn_;  // places of the edges an opened node drew
  std::vector<Request> asked_;

  // What `undo` needs.
  std::size_t first_node_ = 0, first_reward_ = 0, first_prior_ = 0;
  bool playing_ = false;         // whether a playout is in progress
  bool crowded_ = false;         // whether the memory was used up when it began
  PathStep reaching_{kNone, kNone};  // the edge whose state is in hand, where it is not yet part of the path
  Column<NodeId> added_;         // owners of new edges, in order
  std::vector<NodeId> settled_;  // nodes from before the playout that got their opinion in it: the root
  std::vector<std::pair<NodeId, std::uint32_t>> thawed_, repeated_;
  std::vector<double> thawed_values_, low_, high_;
  std::vector<Before> journal_;

  // Scratch.
  std::vector<double> logits_, values_, totals_, weights_, sums_, range_;
  std::vector<RolloutBuffers> buffers_;  // one for each member of the team
  std::vector<char> failed_;
  std::vector<std::byte> start_;
  std::vector<std::uint64_t> record_;
  std::vector<std::uint32_t> sizes_;
  std::vector<std::int32_t> ids_;
};

}  // namespace anabranch
