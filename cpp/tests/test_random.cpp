#include "anabranch/random.hpp"

#include "check.hpp"

using namespace anabranch;

// SplitMix64 from seed 1234567, as published with the generator (Vigna's splitmix64.c prints these).
TEST(splitmix_gives_the_published_numbers) {
  Random random{1234567};
  CHECK(random.next() == 6457827717110365317u);
  CHECK(random.next() == 3203168211198807973u);
  CHECK(random.next() == 9817491932198370423u);
}

TEST(uniform_stays_below_one_and_covers_the_interval) {
  CHECK(unit(~std::uint64_t{0}) < 1.0);
  CHECK(unit(0) == 0.0);
  Random random{7};
  int low = 0;
  for (int i = 0; i < 10000; ++i) low += random.uniform() < 0.25;
  CHECK(low > 2300 && low < 2700);
}

TEST(below_never_reaches_its_limit) {
  const double largest = unit(~std::uint64_t{0});
  for (std::int32_t n : {1, 2, 3, 7, 1000, 2147483647}) CHECK(static_cast<std::int32_t>(largest * n) < n);
}

TEST(keys_depend_on_order_and_on_every_word) {
  const std::uint64_t words[3] = {1, 2, 3}, swapped[3] = {2, 1, 3};
  CHECK(key_of(words) != key_of(swapped));
  std::byte data[20] = {};
  const std::uint64_t zero = key_of_bytes(data, 20);
  for (std::size_t i = 0; i < 20; ++i) {
    data[i] = std::byte{1};
    CHECK(key_of_bytes(data, 20) != zero);
    data[i] = std::byte{0};
  }
  CHECK(key_of_bytes(data, 19) != zero);
}
