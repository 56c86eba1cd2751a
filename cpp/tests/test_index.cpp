// The index is a map from states to nodes, whatever the hashes are like.
#include "anabranch/index.hpp"

#include <vector>

#include "anabranch/random.hpp"
#include "check.hpp"

using namespace anabranch;

namespace {

// States are numbers; their hashes keep as many bits as the mask.
struct Numbers {
  std::uint64_t mask;
  std::vector<std::uint64_t> states;
  Index index;

  std::uint64_t hash(std::uint64_t state) const { return mix(state + kGolden) & mask; }
  std::uint32_t find(std::uint64_t state) {
    return index.find(hash(state), [&](std::uint32_t node) { return states[node] == state; });
  }
  void add(std::uint64_t state) {
    find(state);
    states.push_back(state);
    index.insert(hash(state), static_cast<std::uint32_t>(states.size() - 1), [&](std::uint32_t node) { return hash(states[node]); });
  }
  void remove_last() {
    index.remove(hash(states.back()), static_cast<std::uint32_t>(states.size() - 1));
    states.pop_back();
  }
};

constexpr std::uint64_t kMasks[] = {~std::uint64_t{0}, 0xFFFFFFFF00000000u, 0xFFFF, 0xFF, 1, 0};

}  // namespace

TEST(an_empty_index_finds_nothing) {
  Numbers numbers{0, {}, {}};
  CHECK(numbers.find(3) == Index::kEmpty);
  CHECK(numbers.index.bytes() == 0);
}

TEST(colliding_hashes_merge_nothing) {
  for (const std::uint64_t mask : kMasks) {
    Numbers numbers{mask, {}, {}};
    for (std::uint64_t state = 0; state < 700; ++state) {
      CHECK(numbers.find(state) == Index::kEmpty);
      numbers.add(state);
    }
    for (std::uint64_t state = 0; state < 700; ++state) CHECK(numbers.find(state) == state);
    for (std::uint64_t state = 700; state < 900; ++state) CHECK(numbers.find(state) == Index::kEmpty);
  }
}

// What a failed playout adds is removed newest first; tables may have grown meanwhile.
TEST(removing_the_newest_restores_the_index) {
  for (const std::uint64_t mask : kMasks) {
    Numbers numbers{mask, {}, {}};
    std::uint64_t random = 7;
    for (int round = 0; round < 60; ++round) {
      const std::size_t before = numbers.states.size();
      random = mix(random + kGolden);
      const std::size_t more = random % 25;
      for (std::size_t i = 0; i < more; ++i) numbers.add(1000 * static_cast<std::uint64_t>(round) + i);
      if (round % 3 != 0)
        while (numbers.states.size() > before) numbers.remove_last();
      for (std::size_t i = 0; i < numbers.states.size(); ++i) CHECK(numbers.find(numbers.states[i]) == i);
      if (round % 3 != 0)
        for (std::size_t i = 0; i < more; ++i) CHECK(numbers.find(1000 * static_cast<std::uint64_t>(round) + i) == Index::kEmpty);
    }
    CHECK(numbers.states.size() > 100);
  }
}

TEST(growth_is_announced) {
  Numbers numbers{~std::uint64_t{0}, {}, {}};
  for (std::uint64_t state = 0; state < 2000; ++state) {
    const std::size_t before = numbers.index.bytes(), announced = numbers.index.growth();
    numbers.add(state);
    CHECK(numbers.index.bytes() <= before + announced || before == 0);
    CHECK((numbers.index.bytes() == before) == (announced == 0) || before == 0);
  }
}
