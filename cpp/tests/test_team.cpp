#include "anabranch/team.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "check.hpp"

using namespace anabranch;

TEST(jobs_may_have_more_items_than_a_ticket_counts) {
  Team team(2);
  std::vector<std::uint8_t> times((std::size_t{1} << 21) + 7, 0);
  team.each(times.size(), [&](std::size_t item, std::size_t) { ++times[item]; });
  CHECK(std::all_of(times.begin(), times.end(), [](std::uint8_t count) { return count == 1; }));
}

TEST(every_item_of_every_job_is_done_once) {
  for (std::size_t members : {1, 2, 4}) {
    Team team(members);
    for (std::size_t job = 0; job < 2000; ++job) {
      std::vector<int> times(job % 17, 0);
      std::vector<int> by_member(members, 0);
      team.each(times.size(), [&](std::size_t item, std::size_t member) {
        ++times[item];
        ++by_member[member];
      });
      int total = 0;
      for (const int count : times) CHECK(count == 1);
      for (const int count : by_member) total += count;
      CHECK(total == static_cast<int>(times.size()));
    }
  }
}
