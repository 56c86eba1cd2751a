// Nodes and edges: the records that every playout reads, their flags, and the links from children to parents.
#pragma once

#include <cstdint>

#include "anabranch/tables.hpp"

namespace anabranch {

using NodeId = std::uint32_t;
using EdgeId = std::uint32_t;

enum class Kind : std::uint8_t { over, chance, decision };

// Flags of nodes.
inline constexpr std::uint16_t kOnPath = 1;       // in the path being walked
inline constexpr std::uint16_t kManyParents = 2;  // all edges into it carry kShared
inline constexpr std::uint16_t kExact = 4;        // a chance node whose outcomes were all enumerated
inline constexpr std::uint16_t kSharedEdges = 8;  // some of its edges carry kShared
inline constexpr std::uint16_t kTwinEdges = 16;   // two of its edges lead to one child
inline constexpr std::uint16_t kPending = 32;     // asked about, but not answered yet
inline constexpr std::uint16_t kMarked = 64;      // visits in flight walk through it
inline constexpr std::uint16_t kRuled = 128;      // a root with a rule of its own (root.hpp)
inline constexpr std::uint16_t kMet = 256;        // met by the walk over ancestors (propagate.hpp)
inline constexpr std::uint16_t kChanged = 512;    // its Q changed in that walk
inline constexpr std::uint16_t kTight = 1024;     // more is certain of it than at first (proof.hpp)
inline constexpr std::uint16_t kProven = 2048;    // its exact value is known
inline constexpr std::uint16_t kSkips = 4096;     // some of its edges carry kSkip
inline constexpr std::uint16_t kProofs = kTight | kProven | kSkips;
// Flags of edges, in the three highest bits of `Edge::bits`.
inline constexpr std::uint32_t kSkip = 1u << 29;    // nothing to learn behind it: the child is proven, or another choice certainly better
inline constexpr std::uint32_t kShared = 1u << 30;  // the child has another parent: q(e) may be stale
inline constexpr std::uint32_t kFrozen = 1u << 31;  // q(e) is the frozen value: no child, or one that no visit counted yet
inline constexpr std::uint32_t kNoReward = kSkip - 1;

struct Node {  // then Q and U of all players
  std::uint32_t visits = 0;      // N(n)
  std::uint32_t edges = 0;       // the first edge of its block
  std::uint32_t edge_count = 0;  // how many edges it has
  std::uint32_t choices = 0;     // one acting player: how many choices; several: a joint table; chance: a list of outcomes
  std::uint32_t rows = kNone;    // its first row of choice columns, kNone if all choices are equally likely
  std::uint32_t level = 0;       // how many edges the first way to it has
  std::uint16_t flags = 0;
  Kind kind = Kind::over;
  std::uint8_t mover = 0;       // the acting player, if there is one
  std::uint8_t acting = 0;      // how many players act
  std::uint8_t size_class = 0;  // of its block, which holds 2^(size_class − 1) edges; 0: it has none

  std::uint32_t room() const { return (1u << size_class) >> 1; }
  bool is(std::uint16_t flag) const { return flags & flag; }
  void set(std::uint16_t flag) { flags = static_cast<std::uint16_t>(flags | flag); }
  void clear(std::uint16_t flag) { flags = static_cast<std::uint16_t>(flags & ~flag); }
};
static_assert(sizeof(Node) == 32);

struct Edge {  // then q(e) of all players
  NodeId child;          // kNone if frozen
  std::uint32_t move;    // the choice; several acting: choices packed as bits; chance: the outcome's place in the list
  std::uint32_t visits;  // N(e)
  std::uint32_t bits;    // a row of `rewards`, kNoReward where all are 0; and flags

  std::uint32_t reward() const { return bits & kNoReward; }
  bool is(std::uint32_t flag) const { return bits & flag; }
};

// The edges of a node, in creation order.
class EdgeIds {
 public:
  explicit EdgeIds(const Node& node) : first_(node.edges), end_(node.edges + node.edge_count) {}

  struct Iterator {
    EdgeId at;
    EdgeId operator*() const { return at; }
    Iterator& operator++() {
      ++at;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at != other.at; }
  };
  Iterator begin() const { return {first_}; }
  Iterator end() const { return {end_}; }

 private:
  EdgeId first_, end_;
};

// A parent of a child, in the ring of all its parents.
struct ParentLink {
  NodeId parent, child;
  std::uint32_t next, before;  // the first one after the last; the last one when this was added
};

}  // namespace anabranch
