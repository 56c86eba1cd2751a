// Connect four in C++ behind C names, so that a benchmark can hand its addresses to the very engine that Python uses:
// what differs between the two measurements is then the rules alone.
#include "../tests/games.hpp"

using games::ConnectFour;

extern "C" {

std::size_t connect_four_state_size() { return sizeof(ConnectFour::State); }

anabranch::Status connect_four_turn(std::int64_t* result, void** error, const void* self, void* state) {
  return ConnectFour::turn(result, error, self, state);
}

anabranch::Status connect_four_legal(std::int64_t* result, void** error, const void* self, void* state, std::int32_t player,
                                     std::int32_t* actions) {
  return ConnectFour::legal(result, error, self, state, player, actions);
}

anabranch::Status connect_four_step(std::int64_t* result, void** error, const void* self, void* state,
                                    const std::int32_t* actions, double* rewards) {
  return ConnectFour::step(result, error, self, state, actions, rewards);
}

}
