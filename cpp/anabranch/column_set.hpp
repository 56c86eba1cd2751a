// All columns of a graph that columns.hpp declares, and ways to go through those that are kept.
#pragma once

#include <cstddef>
#include <cstdint>

#include "anabranch/columns.hpp"
#include "anabranch/config.hpp"
#include "anabranch/node.hpp"
#include "anabranch/rules.hpp"

namespace anabranch {

struct ColumnSet {
  ColumnSet([[maybe_unused]] const Rules& rules, [[maybe_unused]] std::size_t players, [[maybe_unused]] const Config& config) {
#define ANABRANCH_DECLARE(column, type, values, begins_with, kept_where, in_files) \
  column.declare(#column, kept_where, values, begins_with, in_files);
    ANABRANCH_NODE_COLUMNS(ANABRANCH_DECLARE)
    ANABRANCH_EDGE_COLUMNS(ANABRANCH_DECLARE)
    ANABRANCH_CHOICE_COLUMNS(ANABRANCH_DECLARE)
#undef ANABRANCH_DECLARE
  }

#define ANABRANCH_MEMBER(column, type, ...) Rows<type> column;
  ANABRANCH_NODE_COLUMNS(ANABRANCH_MEMBER)
  ANABRANCH_CHOICE_COLUMNS(ANABRANCH_MEMBER)
  ANABRANCH_EDGE_COLUMNS(ANABRANCH_MEMBER)
#undef ANABRANCH_MEMBER

  // Call f(column) for every column of rows that is kept.
#define ANABRANCH_CALL(column, ...) \
  if (column.kept()) f(column);
  template <class F>
  void each_node_column(F&& f) { ANABRANCH_NODE_COLUMNS(ANABRANCH_CALL) }
  template <class F>
  void each_node_column(F&& f) const { ANABRANCH_NODE_COLUMNS(ANABRANCH_CALL) }
  template <class F>
  void each_edge_column(F&& f) { ANABRANCH_EDGE_COLUMNS(ANABRANCH_CALL) }
  template <class F>
  void each_edge_column(F&& f) const { ANABRANCH_EDGE_COLUMNS(ANABRANCH_CALL) }
  template <class F>
  void each_choice_column(F&& f) { ANABRANCH_CHOICE_COLUMNS(ANABRANCH_CALL) }
  template <class F>
  void each_choice_column(F&& f) const { ANABRANCH_CHOICE_COLUMNS(ANABRANCH_CALL) }
#undef ANABRANCH_CALL
  // The same for two graphs at once: f(column of this one, column of the other).
#define ANABRANCH_PAIR(column, ...) \
  if (column.kept()) f(column, other.column);
  template <class F>
  void each_node_column(const ColumnSet& other, F&& f) { ANABRANCH_NODE_COLUMNS(ANABRANCH_PAIR) }
  template <class F>
  void each_edge_column(const ColumnSet& other, F&& f) { ANABRANCH_EDGE_COLUMNS(ANABRANCH_PAIR) }
  template <class F>
  void each_choice_column(const ColumnSet& other, F&& f) { ANABRANCH_CHOICE_COLUMNS(ANABRANCH_PAIR) }
#undef ANABRANCH_PAIR
};

}  // namespace anabranch
