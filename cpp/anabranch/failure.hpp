// What goes wrong inside a search on account of the game: which verb, on which state, with which arguments.
//
// The engine only reports; the caller repeats the call interpreted, so that users see their own exception.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

namespace anabranch {

struct Failure : std::exception {
  enum class Cause { verb, cycle, too_many_choices, too_many_players, endless };

  Cause cause = Cause::verb;
  std::string verb;               // which verb raised or answered nonsense
  std::vector<std::byte> state;   // the record it was called on
  std::vector<std::int32_t> actions;  // of `step`
  std::int32_t player = 0, action = 0;
  std::uint64_t random = 0;
  std::uint32_t node = UINT32_MAX, place = 0;  // of a model: the edge whose transition it was
  std::vector<std::vector<std::int32_t>> line;  // the actions from the root to that state, filled in by the search
  const void* search = nullptr;                 // whose playout it was

  const char* what() const noexcept override { return "a verb of the game failed"; }
};

}  // namespace anabranch
