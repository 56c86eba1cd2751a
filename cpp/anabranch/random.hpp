// Counter-based random numbers: every draw is a pure function of what it is for.
//
// There is no hidden state, so any thread may draw in any order and results stay the same. `src/anabranch/game/random.py`
// holds the same functions in Python; tests compare the two word for word.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace anabranch {

inline constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15u;  // 2^64 divided by the golden ratio, made odd

// Scramble 64 bits one to one (the finaliser of SplitMix64, Steele et al. 2014).
constexpr std::uint64_t mix(std::uint64_t word) {
  word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9u;
  word = (word ^ (word >> 27)) * 0x94D049BB133111EBu;
  return word ^ (word >> 31);
}

// The key that follows `key` when `word` is read; distinct words give distinct keys.
constexpr std::uint64_t fold(std::uint64_t key, std::uint64_t word) { return mix((key ^ word) + kGolden); }

constexpr std::uint64_t key_of(std::span<const std::uint64_t> words) {
  std::uint64_t key = mix(kGolden);
  for (const std::uint64_t word : words) key = fold(key, word);
  return key;
}

// mix(i + 1) for the first words of a state.
inline constexpr auto kPlaces = [] {
  std::array<std::uint64_t, 32> places{};
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = mix(i + 1);
  return places;
}();

constexpr std::uint64_t place_of(std::size_t index) { return index < kPlaces.size() ? kPlaces[index] : mix(index + 1); }

// The node key of a state: a sum of mixed (word, index), so that it can follow changed words alone.
inline std::uint64_t key_of_bytes(const std::byte* data, std::size_t size) {
  std::uint64_t total = 0, word = 0;
  std::size_t index = 0;
  for (const std::size_t few = size / 8 < kPlaces.size() ? size / 8 : kPlaces.size(); index < few; ++index) {
    std::memcpy(&word, data + index * 8, 8);
    total += mix(word ^ kPlaces[index]);
  }
  for (; index < size / 8; ++index) {
    std::memcpy(&word, data + index * 8, 8);
    total += mix(word ^ place_of(index));
  }
  if (const std::size_t rest = size % 8) {
    word = 0;
    std::memcpy(&word, data + index * 8, rest);
    total += mix(word ^ place_of(index));
  }
  return mix(total + size);
}

// 64 random bits as a double in [0, 1), a multiple of 2^-53.
constexpr double unit(std::uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }

// A short run of random numbers from one key (SplitMix64); what `setup`, `draw` and rollouts receive.
struct Random {
  std::uint64_t word;

  constexpr std::uint64_t next() { return mix(word += kGolden); }
  constexpr double uniform() { return unit(next()); }
  // An integer in [0, n), n < 2^31.
  constexpr std::int32_t below(std::int32_t n) {
    const std::uint64_t bits = next() >> 11;
    if (n < 2048) return static_cast<std::int32_t>(bits * static_cast<std::uint64_t>(n) >> 53);
    return static_cast<std::int32_t>(static_cast<double>(bits) * 0x1p-53 * n);
  }
};

}  // namespace anabranch
