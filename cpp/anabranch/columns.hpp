// The columns of a graph, each declared by one line. Whoever adds, cuts, moves, copies, saves, loads, takes back or shows
// rows goes through all of them (each_node_column, each_edge_column, each_choice_column of column_set.hpp), so a column needs no other
// line anywhere. A column that is not kept costs nothing.
//
// A line says: its name, the type of its values, how many a row has, what a new row holds, when it is kept, whether files
// hold it (what follows from the rules or from other columns is made anew instead). `rules`, `config` and `players` may be
// used. What every playout reads lies in the records `Node` and `Edge` (graph.hpp), not here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "anabranch/column.hpp"

// One row per node.
#define ANABRANCH_NODE_COLUMNS(COLUMN)                                                            \
  COLUMN(key, std::uint64_t, 1, 0, true, false)    /* what random draws depend on */              \
  COLUMN(parent, std::uint32_t, 1, kNone, true, false) /* the node whose edge reached it first */ \
  COLUMN(range, double, 2 * players, 0.0, rules.bounds != nullptr, false) /* low and high of the remaining return */ \
  COLUMN(proof, double, config.proofs == Proofs::free ? 2 * players + 1 : 3, 0.0, config.proofs != Proofs::off, true) /* lows, highs, distance */ \
  COLUMN(passing, std::uint32_t, 1, 0, config.marks(), false)             /* visits in flight that walk through it */ \
  COLUMN(last_link, std::uint32_t, 1, kNone, config.keeps_parents(), false) /* the end of its list of parents */ \
  COLUMN(solved_at, std::uint32_t, 1, 0, config.simultaneous.rule == Rule::matrix, true) /* N(n) when its table was solved */ \
  ANABRANCH_MORE_NODE_COLUMNS(COLUMN)

// One row per edge.
#define ANABRANCH_EDGE_COLUMNS(COLUMN)                                                          \
  COLUMN(marks, std::uint32_t, 1, 0, config.marks(), false)           /* v(e) */                \
  COLUMN(repeats, std::uint32_t, 1, 0, config.counts_repeats(), true) /* C(e) */                \
  COLUMN(discounts, double, 1, 1.0, config.edge_discounts, true)      /* d(e) of a model */      \
  ANABRANCH_MORE_EDGE_COLUMNS(COLUMN)

// One row per acting player and choice, of nodes that need any: `Node::rows` is the first.
#define ANABRANCH_CHOICE_COLUMNS(COLUMN)                                                                          \
  COLUMN(priors, float, 1, 0.0f, true, true)                                                                      \
  COLUMN(regrets, double, 1, 0.0, config.learns() && config.simultaneous.rule != Rule::matrix, true) /* gains of Exp3 */ \
  COLUMN(current, double, 1, 0.0, config.simultaneous.rule == Rule::matrix, true) /* the last solution of the table */ \
  COLUMN(sums, double, 1, 0.0, config.learns(), true)                             /* strategies, summed up */     \
  ANABRANCH_MORE_CHOICE_COLUMNS(COLUMN)

// Tests declare columns of their own here.
#ifndef ANABRANCH_MORE_NODE_COLUMNS
#define ANABRANCH_MORE_NODE_COLUMNS(COLUMN)
#endif
#ifndef ANABRANCH_MORE_EDGE_COLUMNS
#define ANABRANCH_MORE_EDGE_COLUMNS(COLUMN)
#endif
#ifndef ANABRANCH_MORE_CHOICE_COLUMNS
#define ANABRANCH_MORE_CHOICE_COLUMNS(COLUMN)
#endif

namespace anabranch {

// A declared column: rows of `width` values; 0 where it is not kept.
template <class T>
struct Rows : Column<T> {
  using Value = T;

  const char* name = "";
  std::size_t width = 0;
  T first{};
  bool saved = false;

  void declare(const char* called, bool kept, std::size_t values, T begins_with, bool in_files) {
    name = called;
    width = kept ? values : 0;
    first = begins_with;
    saved = in_files;
  }

  bool kept() const { return width > 0; }
  T* row(std::size_t index) { return this->data() + index * width; }
  const T* row(std::size_t index) const { return this->data() + index * width; }

  void add_rows(std::size_t count) { this->fill(count * width, first); }
  void clear_row(std::size_t index) {
    for (std::size_t i = 0; i < width; ++i) row(index)[i] = first;
  }
  void cut_rows(std::size_t rows) { this->cut(rows * width); }
  void reserve_rows(std::size_t rows) { this->reserve(rows * width); }
  void copy_rows(std::size_t to, const Rows& from, std::size_t at, std::size_t count) {
    if (count > 0) std::memmove(row(to), from.row(at), count * width * sizeof(T));
  }
};

// The declared columns that files hold: (name, whether its values are floating, bytes of a value).
struct SavedName {
  const char* name;
  bool floating;
  std::size_t item;
};
inline std::vector<SavedName> saved_names() {
  std::vector<SavedName> names;
#define ANABRANCH_NAME(column, type, values, begins_with, kept_where, in_files) \
  if (in_files) names.push_back({#column, std::is_floating_point_v<type>, sizeof(type)});
  ANABRANCH_NODE_COLUMNS(ANABRANCH_NAME)
  ANABRANCH_EDGE_COLUMNS(ANABRANCH_NAME)
  ANABRANCH_CHOICE_COLUMNS(ANABRANCH_NAME)
#undef ANABRANCH_NAME
  return names;
}

}  // namespace anabranch
