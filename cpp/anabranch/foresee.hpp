// A model that is a compiled function, called without Python: what it says of a transition, checked.
#pragma once

#include <cstddef>
#include <cstdint>

#include "anabranch/context.hpp"
#include "anabranch/model.hpp"

namespace anabranch {

class Foresight {
 public:
  explicit Foresight(Context& context) : c(context), model_(context.graph.rules.model), answer_(model_ ? *model_ : kNothing) {}

  bool native() const { return model_ && model_->recurrent; }

  // The transition of an edge; it lies in a buffer until the next one. A model that raises or says nonsense is a Failure.
  Transition ask(NodeId at, std::uint32_t place) {
    const Graph& g = c.graph;
    const Node& node = g.nodes[at];
    Position& position = c.position();
    c.load(at);  // a copy: whatever the function writes there is lost
    const std::int32_t action = model_->action(position.state(), g.edges[node.edges + place].move);
    answer_.clear(c.config.discount, (node.mover + 1) % model_->players);
    std::int64_t result = 0;
    void* error = nullptr;
    if (model_->recurrent(&result, &error, model_->instance, position.state() + model_->latent_at(), action, answer_.data()) != 0)
      fail(at, place, action, Wrong::nothing);
    Transition t = answer_.read();
    if (!model_->discounts) t.discount = c.config.discount;
    const Wrong wrong = wrong_with(*model_, t);
    if (wrong != Wrong::nothing) fail(at, place, action, wrong);
    return t;
  }

  const std::byte* latent() const { return answer_.latent(); }

 private:
  [[noreturn]] __attribute__((noinline, cold)) void fail(NodeId at, std::uint32_t place, std::int32_t action, Wrong wrong) {
    c.load(at);
    Failure failure;
    failure.verb = "recurrent";
    failure.state.assign(c.position().state(), c.position().state() + c.graph.rules.state_size);
    failure.action = action;
    failure.player = static_cast<std::int32_t>(wrong);
    failure.node = at;
    failure.place = place;
    throw failure;
  }

  inline static const Model kNothing;

  Context& c;
  const Model* const model_;
  Answer answer_;
};

}  // namespace anabranch
