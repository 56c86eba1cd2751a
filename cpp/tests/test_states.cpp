// Records come back as they were stored, whole or as differences, and their hashes are those of their bytes.
#include "anabranch/states.hpp"

#include <cstring>
#include <vector>

#include "anabranch/random.hpp"
#include "check.hpp"

using namespace anabranch;

namespace {

using Record = std::vector<std::uint64_t>;

const std::byte* bytes(const Record& record) { return reinterpret_cast<const std::byte*>(record.data()); }

// The base with a few words changed; now and then with none, or with all.
Record changed(const Record& base, std::uint64_t& random) {
  Record record = base;
  random = mix(random + kGolden);
  const std::size_t changes = random % 16 == 0 ? 0 : random % 16 == 1 ? base.size() : 1 + random % 5;
  for (std::size_t i = 0; i < changes; ++i) {
    random = mix(random + kGolden);
    record[changes == base.size() ? i : random % base.size()] = random % 3;
  }
  return record;
}

}  // namespace

TEST(records_come_back_and_are_found_by_content) {
  for (const std::size_t size : {8u, 64u, 256u, 264u, 1000u, 8192u}) {
    States states(size);
    std::uint64_t random = size;
    std::vector<Record> stored;
    const Record base(size / 8, 1);
    Record read(size / 8);
    for (int i = 0; i < 200; ++i) {
      const Record record = i == 0 ? base : changed(base, random);
      CHECK(states.offer(bytes(record)) == key_of_bytes(bytes(record), size));
      for (std::size_t id = 0; id < stored.size(); ++id) CHECK(states.equals(id) == (stored[id] == record));
      if (i % 5 == 4) continue;  // offered, but not stored
      states.append();
      stored.push_back(record);
    }
    CHECK(states.size() == stored.size());
    for (std::size_t id = 0; id < stored.size(); ++id) {
      states.load(id, reinterpret_cast<std::byte*>(read.data()));
      CHECK(read == stored[id]);
    }
  }
}

TEST(records_that_were_cut_off_leave_no_trace) {
  for (const std::size_t size : {16u, 512u}) {
    States states(size);
    std::uint64_t random = 3;
    std::vector<Record> stored;
    const Record base(size / 8, 5);
    Record read(size / 8);
    for (int round = 0; round < 40; ++round) {
      const std::size_t before = stored.size(), held = states.bytes();
      for (int i = 0; i < 6; ++i) {
        const Record record = stored.empty() ? base : changed(base, random);
        states.offer(bytes(record));
        states.append();
        stored.push_back(record);
      }
      if (round % 2 == 1) {
        states.cut(before);
        stored.resize(before);
        CHECK(states.bytes() == held);
      }
      CHECK(states.size() == stored.size());
      for (std::size_t id = 0; id < stored.size(); ++id) {
        states.load(id, reinterpret_cast<std::byte*>(read.data()));
        CHECK(read == stored[id]);
      }
    }
  }
}

TEST(large_records_are_kept_as_differences) {
  States states(8192);
  Record record(1024, 0);
  for (std::size_t i = 0; i < 100; ++i) {
    record[i] = i + 1;
    states.offer(bytes(record));
    states.append();
  }
  CHECK(states.bytes() < 100 * 100 * 12 + 100 * 8);  // half of 100 × 100 changed words, twelve bytes each
}
