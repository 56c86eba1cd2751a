// Many roots planned in one learned model: the transitions they ask for as columns, and the answers on their way back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "anabranch/forest.hpp"
#include "anabranch/model.hpp"

namespace anabranch {

class Plan {
 public:
  Plan(const Model& model, std::vector<Search*> roots, std::uint32_t numbers, std::size_t threads)
      : model_(model), roots_(std::move(roots)), after_(roots_.size()), asked_(roots_.size()), numbers_(numbers) {
    if (threads > 1 && roots_.size() > 1) team_ = std::make_unique<Team>(threads);
  }

  // What is asked, a row each: the number of the parent's latent and who moves there, the action or outcome, whether the row
  // is an afterstate's (the parent is a decision of a stochastic model). Valid until the next `gather`.
  std::vector<std::int64_t> parents, actions, movers;
  std::vector<std::uint8_t> after;
  std::uint32_t first_number() const { return numbers_ - static_cast<std::uint32_t>(parents.size()); }  // of the new latents
  std::size_t root_of(std::size_t row) const {
    std::size_t at = 0;
    const Rows& rows = batches_.back().rows;
    while (rows[at].first + rows[at].second <= row || rows[at].second == 0) ++at;
    return at;
  }

  // Let all roots go on until they ask (`late`: beginning nothing new); whether some went on for long without a question and are not done. Answers given
  // before are used first.
  bool gather(const std::vector<std::uint64_t>& goals, bool late) {
    clear_rows();
    Forest::gather(
        roots_, goals, late, team_.get(), [&](std::size_t i) { use(i); }, [&](std::size_t i) { list(i); }, after_);
    given_.clear();
    bool more = false;
    Rows rows(roots_.size(), {0, 0});
    for (std::size_t i = 0; i < roots_.size(); ++i) {
      more |= after_[i] == Forest::After::goes_on;
      if (after_[i] != Forest::After::asks) continue;
      rows[i] = {parents.size(), asked_[i].size()};
      for (const Asked& each : asked_[i]) {
        parents.push_back(each.parent);
        actions.push_back(each.action);
        movers.push_back(each.mover);
        after.push_back(each.after);
      }
    }
    if (parents.empty()) return more;
    numbers_ += static_cast<std::uint32_t>(parents.size());
    batches_.push_back({std::move(rows), first_number(), parents.size(), model_.stochastic() ? after : std::vector<std::uint8_t>()});
    return true;
  }

  bool waits() const { return !batches_.empty(); }
  // Of the oldest: how many rows, and which are afterstates (nullptr: none is).
  std::size_t waiting_rows() const { return batches_.front().count; }
  const bool* waiting_after() const { return after_of(batches_.front()); }
  const bool* newest_after() const { return after_of(batches_.back()); }

  // The answers to the oldest rows not answered yet; what they point to must stay until the next `gather`.
  void answer(Transitions given) {
    given_.push_back({given, std::move(batches_.front())});
    batches_.pop_front();
    Given& kept = given_.back();
    kept.transitions.number = kept.batch.first;
    kept.transitions.after = after_of(kept.batch);
  }

  // Forget what is in flight: every graph is as it was before its waves.
  void drop() {
    for (Search* root : roots_) {
      root->enter();
      root->undo();
    }
    batches_.clear();
    given_.clear();
    clear_rows();
  }

  const Model& model() const { return model_; }

 private:
  struct Asked {
    std::uint32_t parent;
    std::int32_t action;
    std::uint8_t mover;
    bool after;
  };
  using Rows = std::vector<std::pair<std::size_t, std::size_t>>;  // of each root: its first row, and how many
  struct Batch {
    Rows rows;
    std::uint32_t first;              // the number of the first new latent
    std::size_t count;                // of rows
    std::vector<std::uint8_t> after;  // which are afterstates
  };
  struct Given {
    Transitions transitions;
    Batch batch;
  };

  const bool* after_of(const Batch& batch) const {
    return model_.stochastic() ? reinterpret_cast<const bool*>(batch.after.data()) : nullptr;
  }

  void clear_rows() {
    parents.clear();
    actions.clear();
    movers.clear();
    after.clear();
  }

  void use(std::size_t i) {
    for (const Given& each : given_) {
      const auto [first, count] = each.batch.rows[i];
      if (count > 0) roots_[i]->answer(each.transitions, first);
    }
  }

  // Look at what a root asks.
  void list(std::size_t i) {
    const Search& root = *roots_[i];
    const Graph& g = root.graph();
    asked_[i].clear();
    for (const Request& request : root.asking().requests) {
      const Node& node = g.nodes[request.node];
      const std::byte* record = g.states.at(request.node);
      const std::uint32_t move = g.edges[node.edges + request.frozen].move;
      const bool chance = node.kind == Kind::chance;
      const std::int32_t action = chance ? g.outcomes_of(node).outcomes[move] : model_.action(record, move);
      asked_[i].push_back({Model::head(record).number, action, node.mover, model_.stochastic() && !chance});
    }
  }

  const Model& model_;
  std::vector<Search*> roots_;
  std::unique_ptr<Team> team_;
  std::vector<Forest::After> after_;
  std::vector<std::vector<Asked>> asked_;  // by root
  std::uint32_t numbers_;                  // the next latent's
  std::deque<Batch> batches_;              // asked and not answered, the oldest first
  std::vector<Given> given_;
};

}  // namespace anabranch
