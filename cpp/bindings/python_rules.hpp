// Rules that run as Python: object games, and record games that are not compiled.
//
// They fill the same struct as compiled games, with functions that take the GIL, call the game's `rules` object and keep its
// exception for the caller. Record games hand their bytes over. States of object games are numbered: equal states (equal keys
// where the game has them) get the same number, so the engine compares eight bytes; numbers are kept as long as the search.
#pragma once

#include <nanobind/nanobind.h>

#include <cstring>
#include <vector>

#include "anabranch/rules.hpp"

namespace nb = nanobind;
using namespace anabranch;

class PythonRules {
 public:
  PythonRules(nb::object verbs, std::size_t state_size, std::size_t key_size, std::int32_t players, std::int32_t actions,
              std::int32_t outcomes, bool has_chance, bool has_draw, bool has_same, bool has_bounds)
      : verbs_(std::move(verbs)), numbered_(state_size == 0) {
    rules.instance = this;
    rules.state_size = numbered_ ? 8 : state_size;
    rules.key_size = key_size;
    rules.players = players;
    rules.actions = actions;
    rules.outcomes = outcomes;
    rules.runs_python = true;
    rules.turn = &turn;
    rules.legal = &legal;
    rules.step = &step;
    if (has_chance) rules.chance = &chance;
    if (has_draw) rules.draw = &draw;
    if (has_same) rules.same = &same;
    if (has_bounds) rules.bounds = &bounds;
    if (key_size > 0) rules.key = &key;
  }
  PythonRules(const PythonRules&) = delete;
  PythonRules& operator=(const PythonRules&) = delete;

  // The number of a state object, the same for equal ones.
  std::uint64_t number(const nb::object& state) {
    const nb::object same_as = verbs_.attr("key")(state);
    if (numbers_.contains(same_as)) return nb::cast<std::uint64_t>(numbers_[same_as]);
    const std::uint64_t fresh = states_.size();
    numbers_[same_as] = fresh;
    states_.push_back(state);
    return fresh;
  }
  nb::object state(std::uint64_t number) const { return states_.at(number); }
  bool numbered() const { return numbered_; }

  // For the garbage collector: a game may well know somebody who knows the search.
  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(verbs_.ptr());
    Py_VISIT(numbers_.ptr());
    Py_VISIT(exception.ptr());
    for (const nb::object& state : states_) Py_VISIT(state.ptr());
    return 0;
  }
  void clear() {
    verbs_.reset();
    numbers_.reset();
    exception.reset();
    std::vector<nb::object>().swap(states_);
  }

  // What a verb raised first since `forget`, to be raised again by whoever started the search.
  nb::object exception = nb::none();
  void forget() { exception = nb::none(); }
  Rules rules;

 private:
  void keep(nb::object raised) {
    if (exception.is_none()) exception = std::move(raised);
  }

  static PythonRules& me(const void* self) { return *const_cast<PythonRules*>(static_cast<const PythonRules*>(self)); }

  nb::object load(const void* state) const {
    if (!numbered_) return nb::bytes(state, rules.state_size);
    std::uint64_t number;
    std::memcpy(&number, state, 8);
    return states_[number];
  }

  void store(void* state, const nb::object& value) {
    if (numbered_) {
      const std::uint64_t found = number(value);
      std::memcpy(state, &found, 8);
    } else {
      const auto data = nb::cast<nb::bytes>(value);
      std::memcpy(state, data.data(), rules.state_size);
    }
  }

  template <class Body>
  static Status guarded(const void* self, Body&& body) {
    const nb::gil_scoped_acquire gil;
    try {
      body(me(self));
      return 0;
    } catch (nb::python_error& error) {
      me(self).keep(nb::borrow(error.value()));
    } catch (const std::exception& error) {
      me(self).keep(nb::module_::import_("builtins").attr("TypeError")(error.what()));
    }
    return 1;
  }

  static Status turn(std::int64_t* result, void**, const void* self, void* state) {
    return guarded(self, [&](PythonRules& r) { *result = nb::cast<std::int64_t>(r.verbs_.attr("turn")(r.load(state))); });
  }
  static Status legal(std::int64_t* result, void**, const void* self, void* state, std::int32_t player, std::int32_t* actions) {
    return guarded(self, [&](PythonRules& r) {
      std::int64_t count = 0;
      for (nb::handle id : r.verbs_.attr("legal")(r.load(state), player)) {
        if (count == r.rules.actions) break;
        actions[count++] = nb::cast<std::int32_t>(id);
      }
      *result = count;
    });
  }
  static Status step(std::int64_t*, void**, const void* self, void* state, const std::int32_t* actions, double* rewards) {
    return guarded(self, [&](PythonRules& r) {
      nb::list row;
      for (std::int32_t p = 0; p < r.rules.players; ++p) row.append(actions[p]);
      const nb::object answer = r.verbs_.attr("step")(r.load(state), row);
      const nb::object given = answer[1];
      for (std::int32_t p = 0; p < r.rules.players; ++p) rewards[p] = nb::cast<double>(given[p]);
      r.store(state, answer[0]);
    });
  }
  static Status chance(std::int64_t* result, void**, const void* self, void* state, std::int32_t* outcomes, double* chances) {
    return guarded(self, [&](PythonRules& r) {
      std::int64_t count = 0;
      for (nb::handle pair : r.verbs_.attr("chance")(r.load(state))) {
        if (count == r.rules.outcomes) throw std::length_error("chance listed more outcomes than the game declares");
        outcomes[count] = nb::cast<std::int32_t>(pair[0]);
        chances[count++] = nb::cast<double>(pair[1]);
      }
      *result = count;
    });
  }
  static Status draw(std::int64_t* result, void**, const void* self, void* state, std::uint64_t* random) {
    return guarded(self, [&](PythonRules& r) {
      const nb::object numbers = nb::module_::import_("anabranch.game.random").attr("Random")(*random);
      *result = nb::cast<std::int64_t>(r.verbs_.attr("draw")(r.load(state), numbers));
      *random = nb::cast<std::uint64_t>(numbers.attr("word"));
    });
  }
  static Status same(std::int64_t* result, void**, const void* self, void* state, std::int32_t player, std::int32_t action) {
    return guarded(self, [&](PythonRules& r) {
      *result = nb::cast<std::int64_t>(r.verbs_.attr("same")(r.load(state), player, action));
    });
  }
  static Status key(std::int64_t*, void**, const void* self, void* state, void* key) {
    return guarded(self, [&](PythonRules& r) {
      const auto data = nb::cast<nb::bytes>(r.verbs_.attr("key")(r.load(state)));
      std::memcpy(key, data.data(), r.rules.key_size);
    });
  }
  static Status bounds(std::int64_t*, void**, const void* self, void* state, double* low, double* high) {
    return guarded(self, [&](PythonRules& r) {
      const nb::object answer = r.verbs_.attr("bounds")(r.load(state));
      const nb::object lows = answer[0], highs = answer[1];
      for (std::int32_t p = 0; p < r.rules.players; ++p) {
        low[p] = nb::cast<double>(lows[p]);
        high[p] = nb::cast<double>(highs[p]);
      }
    });
  }

  nb::object verbs_;
  bool numbered_;
  nb::dict numbers_;
  std::vector<nb::object> states_;
};
