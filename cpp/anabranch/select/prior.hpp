// Priors as nodes store them, and those of choices that are all equally likely, which nodes need not store.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace anabranch {

inline constexpr double kPriorFloor = 1e-6;

// A softmax over the logits of some ids (nullptr: of 0, 1, …). May be read from where it is written.
template <class Real>
inline void softmax(const std::int32_t* ids, std::size_t count, const Real* logits, double* chances) {
  const auto logit = [&](std::size_t i) { return static_cast<double>(logits[ids ? static_cast<std::size_t>(ids[i]) : i]); };
  double top = logit(0);
  for (std::size_t i = 1; i < count; ++i) top = logit(i) > top ? logit(i) : top;
  double total = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    const double below = logit(i) - top;
    chances[i] = below == 0.0 ? 1.0 : std::exp(below);  // of the likeliest, and there is always one
    total += chances[i];
  }
  for (std::size_t i = 0; i < count; ++i) chances[i] /= total;
}

// In float32, nothing below a millionth of the mass, summing to 1.
inline void store_prior(const double* prior, std::size_t size, float* stored) {
  double mass = 0.0, least = HUGE_VAL;
  for (std::size_t i = 0; i < size; ++i) {
    const double rounded = static_cast<float>(prior[i]);
    mass += rounded;
    least = rounded < least ? rounded : least;
  }
  const double floor = kPriorFloor * mass;
  if (!(least < floor)) {  // mostly; the sum of all is the mass again
    for (std::size_t i = 0; i < size; ++i) stored[i] = static_cast<float>(static_cast<double>(static_cast<float>(prior[i])) / mass);
    return;
  }
  double total = 0.0;
  for (std::size_t i = 0; i < size; ++i) {
    const double rounded = static_cast<float>(prior[i]);
    total += rounded < floor ? floor : rounded;
  }
  for (std::size_t i = 0; i < size; ++i) {
    const double rounded = static_cast<float>(prior[i]);
    stored[i] = static_cast<float>((rounded < floor ? floor : rounded) / total);
  }
}

// What is the same for all nodes with so many equally likely choices: the prior of one, and the roots of the mass of the
// first n of them, added up one by one as sums run everywhere.
struct EqualChoices {
  static constexpr std::uint32_t kMost = 64;

  double prior = 0.0;
  std::array<double, kMost + 1> roots{};

  // What `store_prior` makes of 1/size.
  static float stored(std::size_t size) {
    const double rounded = static_cast<float>(1.0 / static_cast<double>(size));
    double mass = 0.0, total = 0.0;
    for (std::size_t i = 0; i < size; ++i) mass += rounded;
    const double raised = rounded < kPriorFloor * mass ? kPriorFloor * mass : rounded;
    for (std::size_t i = 0; i < size; ++i) total += raised;
    return static_cast<float>(raised / total);
  }

  // By the number of choices. One table for all searches: many roots abreast would fill the processor's caches with theirs.
  static const EqualChoices* all() {
    static const std::vector<EqualChoices> made = make();
    return made.data();
  }

 private:
  static std::vector<EqualChoices> make() {
    std::vector<EqualChoices> made(kMost + 1);
    for (std::uint32_t size = 1; size <= kMost; ++size) {
      made[size].prior = static_cast<double>(stored(size));
      double mass = 0.0;
      for (std::uint32_t n = 0; n <= size; ++n, mass += made[size].prior) made[size].roots[n] = std::sqrt(mass);
    }
    return made;
  }
};

// The prior of each of `size` equally likely choices.
inline float uniform_prior(std::size_t size) {
  return size <= EqualChoices::kMost ? static_cast<float>(EqualChoices::all()[size].prior) : EqualChoices::stored(size);
}

}  // namespace anabranch
