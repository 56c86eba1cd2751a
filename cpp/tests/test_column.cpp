// A column keeps its values while it grows, and views keep theirs.
#include "anabranch/column.hpp"

#include <cstdint>
#include <memory>
#include <vector>

#include "check.hpp"

using namespace anabranch;

TEST(values_survive_growth_beyond_a_page_of_their_own) {
  Column<std::uint32_t> column;
  for (std::uint32_t i = 0; i < 300000; ++i) column.push(i * 7);  // 1.2 MB
  bool same = column.size() == 300000;
  for (std::uint32_t i = 0; i < 300000; ++i) same = same && column[i] == i * 7;
  CHECK(same);
  CHECK(column.bytes() == 300000 * sizeof(std::uint32_t));
}

TEST(a_value_of_the_column_itself_may_be_pushed) {
  Column<std::uint64_t> column;
  column.push(42);
  for (int i = 0; i < 1000; ++i) column.push(column[0]);
  bool same = true;
  for (std::size_t i = 0; i < column.size(); ++i) same = same && column[i] == 42;
  CHECK(same);
}

TEST(a_view_keeps_what_it_saw) {
  for (const std::size_t first : {std::size_t{10}, std::size_t{100000}}) {
    Column<double> column;
    column.fill(first, 1.5);
    const std::shared_ptr<void> view = column.owner();
    const double* seen = column.data();
    column.fill(500000, 2.5);
    column[0] = 9.0;
    CHECK(column.data() != seen);
    bool same = true;
    for (std::size_t i = 0; i < first; ++i) same = same && seen[i] == 1.5;
    CHECK(same);
    CHECK(column[first - 1] == 1.5 && column[first] == 2.5);
  }
}

TEST(without_a_view_nothing_is_kept) {
  Column<double> column;
  column.fill(10, 1.0);
  CHECK(column.owner().use_count() == 2);  // the column's and the one just made
  column.cut(3);
  CHECK(column.size() == 3);
  column.reserve(1000);
  CHECK(column.size() == 3 && column[2] == 1.0);
}
