// Making nodes and edges: the state in hand becomes a node, found or made, and whatever was made can be taken back.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "anabranch/backup.hpp"
#include "anabranch/config.hpp"
#include "anabranch/draws.hpp"
#include "anabranch/graph.hpp"
#include "anabranch/position.hpp"
#include "anabranch/wave.hpp"

namespace anabranch {

class Grower {
 public:
  Grower(const Rules& rules, const Config& config, std::uint64_t stream)
      : config_(config), stream_(stream), draws_(config.seed, stream, 0), graph_(rules), position_(graph_.rules) {
    prepare(graph_);
  }
  Grower(const Grower&) = delete;
  Grower& operator=(const Grower&) = delete;

  const Config& config() const { return config_; }
  const Draws& draws() const { return draws_; }
  Graph& graph() { return graph_; }
  const Graph& graph() const { return graph_; }
  Position& position() { return position_; }

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

 protected:
  void prepare(Graph& graph) const {
    graph.count_repeats = config_.cycles == Cycles::valued;
    graph.count_marks = !config_.sequential();
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

  // The state stepped to is the position's from here on.

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
    graph_.edges[e].bits |= kFrozen;  // it keeps its value until the child has one
    wave_->noting().thawed.emplace_back(at, place);
    wave_->thawed_values.insert(wave_->thawed_values.end(), frozen.begin(), frozen.end());
  }

  // Whether not even an edge may be added to a node. The root's always may: without them nothing would go on.
  bool has_no_room(NodeId at) const { return crowded_ && at != 0; }

  // Bytes that answers on their way will take: a prior for every choice, at the most.
  std::size_t awaited() const { return awaited_ * static_cast<std::size_t>(graph_.rules.actions) * sizeof(float); }

  bool limited() const { return config_.max_bytes != std::numeric_limits<std::size_t>::max(); }

  bool full() const {
    if (graph_.size() >= config_.max_nodes) return true;
    // An eighth of the memory is left for edges that new leaves get instead of nodes.
    return limited() && graph_.bytes() + graph_.index.growth() + kReserve + awaited() + config_.max_bytes / 8 > config_.max_bytes;
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
    graph_.remove_last();
  }

  static constexpr std::size_t kReserve = 4096;  // what one playout may add to a graph that is nearly full

  const Config config_;
  const std::uint64_t stream_;
  Draws draws_;
  Graph graph_;
  Position position_;
  Wave* wave_ = nullptr;             // the one at work
  std::size_t awaited_ = 0;          // answers on their way, where waves are searched
  bool crowded_ = false;             // whether the memory was used up when the path in hand began
  PathStep reaching_{kNone, kNone};  // the edge whose state is in hand, where it is not yet part of the path

 private:
  std::vector<double> range_;
  std::vector<std::uint64_t> record_;
  std::vector<std::uint32_t> sizes_;
  std::vector<std::int32_t> ids_;
};

}  // namespace anabranch
