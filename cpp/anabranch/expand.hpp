// Expand: children of nodes, from the rules of the game or from a learned model. The state stepped to becomes a node, found
// or made; a model's is made before the model says what it is, as a leaf whose transition is requested.
//
// The only part that steps through a game: everything above sees edges and children, wherever they come from.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "anabranch/context.hpp"
#include "anabranch/model.hpp"
#include "anabranch/proof.hpp"
#include "anabranch/select/prior.hpp"

namespace anabranch {

class Expander {
 public:
  explicit Expander(Context& context) : c(context), record_(context.graph.rules.state_size / 8 + 1) {
    if (context.graph.rules.model) Model::head(reinterpret_cast<std::byte*>(record_.data())) = LatentHead();
  }

  // Make the root of an empty graph.
  void plant(const std::byte* root) {
    c.position().set(root);
    const std::uint64_t hash = offer();
    add_node(c.config.keyed_by_path ? mix(kGolden) : hash, hash);
  }

  // Step from a node along a move; the state reached is in hand then. `counted`: the node's state is in hand and its choices
  // were just counted.
  [[gnu::always_inline]] void step(NodeId at, std::uint32_t move, bool counted = false) {
    if (c.graph.rules.model) [[unlikely]] {
      set_out(at, move);
      return;
    }
    if (counted) {
      Position& position = c.position();
      std::fill(position.actions.begin(), position.actions.end(), kIdle);
      position.actions[c.graph.nodes[at].mover] = position.counted(move);
    } else {
      c.load(at);
      spread_move(at, move);
    }
    if (c.position().try_step()) return;
    c.load(at);
    c.position().fail("step");
  }

  // The actions an edge stands for, one per acting player, or the outcome.
  std::vector<std::int32_t> actions_of(NodeId id, std::uint32_t move) {
    const Node& node = c.graph.nodes[id];
    if (node.kind == Kind::chance) return {outcome_of(node, move)};
    c.load(id);
    spread_move(id, move);
    std::vector<std::int32_t> actions;
    for (const std::int32_t action : c.position().actions)
      if (action != kIdle) actions.push_back(action);
    return actions;
  }

  // How many choices the only acting player of a node has: most nodes are never selected at, so it is not asked before.
  // Whether that was only found out now.
  [[gnu::always_inline]] bool count_choices(NodeId at, Node& node) {
    if (node.choices != 0) [[likely]] return false;
    if (c.graph.rules.model) {
      weigh(at, node);
      return false;
    }
    c.load(at);
    node.choices = static_cast<std::uint32_t>(c.position().count_choices(node.mover));
    return true;
  }

  // Lead an edge to the state in hand: to its node, found or made. False where there is no room for one.
  template <std::size_t P = 0>
  [[gnu::always_inline]] bool attach(NodeId at, std::uint32_t place) {
    if (c.graph.rules.model) [[unlikely]] return attach_unknown<P>(at, place);
    const std::uint64_t hash = offer();
    NodeId child = find(hash);
    if (child == kNone) {
      if (c.full()) return false;
      child = add_node<P>(child_key(hash, at), hash);
    }
    c.graph.link<P>(at, c.graph.node<P>(at).edges + place, child);
    return true;
  }

  // Offer the state in hand to the stores; the hash it is looked up by.
  [[gnu::always_inline]] std::uint64_t offer() {
    const std::uint64_t hash = c.graph.states.offer(c.position().state());
    return c.graph.rules.key ? c.graph.key_records.offer(c.position().key()) : hash;
  }

  NodeId find(std::uint64_t hash) {
    if (!c.config.merge) return kNone;
    const States& compared = c.graph.rules.key ? c.graph.key_records : c.graph.states;
    return c.graph.index.find(hash & c.config.hash_mask, [&](NodeId id) { return compared.equals(id); });
  }

  // Make a node of the state in hand, which was offered.
  template <std::size_t P = 0>
  [[gnu::always_inline]] NodeId add_node(std::uint64_t key, std::uint64_t hash) {
    Graph& g = c.graph;
    const std::int64_t turn = c.position().turn();
    Node made;
    if (turn == kChance) {
      made.kind = Kind::chance;
      if (g.rules.chance) {
        const std::size_t count = c.position().read_chances();
        made.choices = g.tables.intern(c.position().outcomes(), c.position().chances(), count);
      } else if (!g.rules.draw) {
        c.position().fail("chance");
      }
    } else if (turn != kOver) {
      made.kind = Kind::decision;
      for (std::int64_t rest = turn; rest; rest &= rest - 1) ++made.acting;
      made.mover = static_cast<std::uint8_t>(std::countr_zero(static_cast<std::uint64_t>(turn)));
      if (made.acting > c.config.simultaneous.most_acting()) fail_at_state(Failure::Cause::too_many_players);
      if (made.acting > 1) made.choices = read_table(static_cast<std::uint64_t>(turn));  // one player's: when first selected
    } else {
      made.visits = 1;
    }
    if (g.rules.bounds) {
      range_.resize(2 * g.players);
      c.position().bounds(range_.data(), range_.data() + g.players);
    }
    const NodeId id = g.add<P>(made, key);
    if (g.rules.bounds) std::copy(range_.begin(), range_.end(), g.range.row(id));
    if (g.proof.kept()) begin_proof(g, c.config, id);
    if (is_found(g.nodes[id], c.config))
      g.index.insert(hash & c.config.hash_mask, id, [&](NodeId node) { return index_hash(node); }, [&](NodeId node) { return is_found(g.nodes[node], c.config); });
    return id;
  }

  // The key of a child: the hash of its state, or a mix of its parent's and the actions where states are Python's objects and
  // where dice are rolled inside the transition, each edge its own.
  std::uint64_t child_key(std::uint64_t hash, NodeId creator) {
    if (!c.config.keyed_by_path && !(c.config.chance.in_transition && c.position().turn() == kChance)) return hash;
    std::uint64_t key = c.graph.key[creator];
    for (const std::int32_t action : c.position().actions) key = fold(key, static_cast<std::uint64_t>(static_cast<std::int64_t>(action)));
    return key;
  }

  // The hash a node is indexed by. Node keys are that hash, except where they follow the path.
  std::uint64_t index_hash(NodeId node) {
    if (!c.config.keyed_by_path) return c.graph.key[node] & c.config.hash_mask;
    auto* bytes = reinterpret_cast<std::byte*>(record_.data());
    c.graph.states.load(node, bytes);
    return key_of_bytes(bytes, c.graph.rules.state_size) & c.config.hash_mask;
  }

  // Take the newest node out of the index.
  void forget(NodeId id) {
    if (is_found(c.graph.nodes[id], c.config)) c.graph.index.remove(index_hash(id), id);
  }

 private:
  // The way to a child that a model has not told of yet: the actions, which its key is made of; nothing is paid so far.
  [[gnu::always_inline]] void set_out(NodeId at, std::uint32_t move) {
    Position& position = c.position();
    const Node& node = c.graph.nodes[at];
    position.rewards[0] = 0.0f;
    if (position.actions.size() > 1) {
      std::fill(position.actions.begin(), position.actions.end(), kIdle);
      std::fill(position.rewards.begin(), position.rewards.end(), 0.0f);
    }
    if (node.kind == Kind::chance) position.actions[0] = outcome_of(node, move);
    else position.actions[node.mover] = c.graph.rules.model->action(c.graph.states.at(at), move);
  }

  // Lead an edge to a leaf of which nothing is known. False where there is no room for one.
  template <std::size_t P>
  bool attach_unknown(NodeId at, std::uint32_t place) {
    if (c.full()) return false;
    c.graph.states.offer_unlike(reinterpret_cast<const std::byte*>(record_.data()));
    Node made;
    made.kind = Kind::decision;
    made.acting = 1;
    const NodeId child = c.graph.add<P>(made, child_key(0, at));
    c.graph.link<P>(at, c.graph.node<P>(at).edges + place, child);
    return true;
  }

  // Turn the logits that a model gave for a node into priors, when it is first selected at; most nodes never are.
  __attribute__((noinline)) void weigh(NodeId at, Node& node) {
    const Model& model = *c.graph.rules.model;
    const auto wide = static_cast<std::size_t>(model.actions);
    if (ids_.size() < wide) ids_.resize(wide);
    if (chances_.size() < wide) chances_.resize(wide);
    std::size_t count = wide;
    if (model.masks) count = model.list_legal(c.graph.states.at(at), ids_.data());
    if (node.rows != kNone) {
      float* row = &c.graph.priors[node.rows];
      softmax(model.masks ? ids_.data() : nullptr, count, row, chances_.data());
      store_prior(chances_.data(), count, row);
    }
    node.choices = static_cast<std::uint32_t>(count);
  }

  std::int32_t outcome_of(const Node& node, std::uint32_t move) const {
    return c.graph.rules.chance ? c.graph.outcomes_of(node).outcomes[move] : static_cast<std::int32_t>(move);
  }

  // Write the actions of a move into the position, whose state is that node's.
  void spread_move(NodeId at, std::uint32_t move) {
    const Node& node = c.graph.nodes[at];
    Position& position = c.position();
    if (node.kind == Kind::chance) {
      position.set_outcome(outcome_of(node, move));
      return;
    }
    for (std::int32_t& action : position.actions) action = kIdle;
    if (node.acting == 1) {
      position.actions[node.mover] = position.choice(node.mover, move);
      return;
    }
    const Table& table = c.graph.table_of(node);
    for (std::size_t i = 0; i < table.sizes.size(); ++i)
      position.actions[table.players[i]] = table.ids[table.starts[i] + table.choice(move, i)];
  }

  std::uint32_t read_table(std::uint64_t turn) {
    sizes_.clear();
    ids_.clear();
    for (std::int32_t p = 0; p < c.graph.rules.players; ++p) {
      if (!(turn >> p & 1)) continue;
      const std::size_t before = ids_.size();
      c.position().append_choices(p, ids_);
      sizes_.push_back(static_cast<std::uint32_t>(ids_.size() - before));
    }
    const std::uint32_t place = c.graph.tables.intern(turn, sizes_, ids_);
    if (place == kNone) fail_at_state(Failure::Cause::too_many_choices);
    return place;
  }

  // Fail on account of the state in hand.
  [[noreturn]] void fail_at_state(Failure::Cause cause) {
    Failure failure;
    failure.cause = cause;
    failure.state.assign(c.position().state(), c.position().state() + c.graph.rules.state_size);
    throw failure;
  }

  Context& c;
  std::vector<double> range_;
  std::vector<std::uint64_t> record_;  // of one state, as taking nodes back must not take memory; of a model's leaf, which never changes
  std::vector<std::uint32_t> sizes_;
  std::vector<std::int32_t> ids_;
  std::vector<double> chances_;
};

}  // namespace anabranch
