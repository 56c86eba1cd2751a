// Rules that run as Python fill the same struct as compiled games, with functions that take the GIL, call Python and keep its
// exception for whoever started the search. Two kinds: record games that are not compiled (here), object games
// (object_rules.hpp).
#pragma once

#include <nanobind/nanobind.h>

#include <cstring>
#include <new>
#include <utility>

#include "anabranch/rules.hpp"
#include "anabranch/search.hpp"

namespace nb = nanobind;
using namespace anabranch;

class PythonRules {
 public:
  PythonRules() { rules.runs_python = true; }
  PythonRules(const PythonRules&) = delete;  // `rules` points to this object
  PythonRules& operator=(const PythonRules&) = delete;
  virtual ~PythonRules() = default;

  // A state as Python has it and as the engine has it.
  virtual void write(const nb::object& state, std::byte* record) = 0;
  virtual nb::object read(const std::byte* record) const = 0;
  virtual bool of_objects() const = 0;

  // Let go of what a search, between its paths, does not hold any more.
  virtual void tidy(Search&) {}

  // For the garbage collector: a game may well know somebody who knows the search.
  virtual int traverse(visitproc visit, void* arg) const {
    Py_VISIT(exception.ptr());
    return 0;
  }
  virtual void clear() { exception.reset(); }

  // What a verb raised first since `forget`, to be raised again by whoever started the search.
  nb::object exception = nb::none();
  void forget() { exception = nb::none(); }
  Rules rules;

 protected:
  // Which of the verbs that a game may leave out it has.
  struct Has {
    bool chance, draw, same, bounds;
  };

  // Point to the verbs of a kind of rules, which is the class of this object.
  template <class Kind>
  void describe(std::size_t state_size, std::int32_t players, std::int32_t actions, std::int32_t outcomes, Has has) {
    rules.instance = static_cast<Kind*>(this);
    rules.state_size = state_size;
    rules.players = players;
    rules.actions = actions;
    rules.outcomes = outcomes;
    rules.turn = &Kind::turn;
    rules.legal = &Kind::legal;
    rules.step = &Kind::step;
    if (has.chance) rules.chance = &Kind::chance;
    if (has.draw) rules.draw = &Kind::draw;
    if (has.same) rules.same = &Kind::same;
    if (has.bounds) rules.bounds = &Kind::bounds;
  }

  // Run Python; a status as verbs return it.
  template <class Body>
  Status guarded(Body&& body) {
    const nb::gil_scoped_acquire gil;
    try {
      body();
      return 0;
    } catch (nb::python_error& error) {
      keep(nb::borrow(error.value()));
    } catch (const std::bad_alloc&) {
      keep(nb::borrow(PyExc_MemoryError)());
    } catch (const std::exception& error) {
      keep(nb::borrow(PyExc_TypeError)(error.what()));
    }
    return 1;
  }

 private:
  void keep(nb::object raised) {
    if (exception.is_none()) exception = std::move(raised);
  }
};

// A record game that is not compiled: its `rules` object takes and gives bytes.
class RecordRules : public PythonRules {
 public:
  RecordRules(nb::object verbs, std::size_t state_size, std::size_t key_size, std::int32_t players, std::int32_t actions,
              std::int32_t outcomes, bool has_chance, bool has_draw, bool has_same, bool has_bounds)
      : verbs_(std::move(verbs)) {
    describe<RecordRules>(state_size, players, actions, outcomes, {has_chance, has_draw, has_same, has_bounds});
    rules.key_size = key_size;
    if (key_size > 0) rules.key = &key;
  }

  void write(const nb::object& state, std::byte* record) override {
    const auto data = nb::cast<nb::bytes>(state);
    if (data.size() != rules.state_size) throw nb::value_error("the state does not have the size of the game's records");
    std::memcpy(record, data.data(), data.size());
  }
  nb::object read(const std::byte* record) const override { return nb::bytes(record, rules.state_size); }
  bool of_objects() const override { return false; }

  int traverse(visitproc visit, void* arg) const override {
    Py_VISIT(verbs_.ptr());
    return PythonRules::traverse(visit, arg);
  }
  void clear() override {
    verbs_.reset();
    PythonRules::clear();
  }

 private:
  friend PythonRules;
  static RecordRules& me(const void* self) { return *const_cast<RecordRules*>(static_cast<const RecordRules*>(self)); }

  nb::object load(const void* state) const { return read(static_cast<const std::byte*>(state)); }

  static Status turn(std::int64_t* result, void**, const void* self, void* state) {
    RecordRules& r = me(self);
    return r.guarded([&] { *result = nb::cast<std::int64_t>(r.verbs_.attr("turn")(r.load(state))); });
  }
  static Status legal(std::int64_t* result, void**, const void* self, void* state, std::int32_t player, std::int32_t* actions) {
    RecordRules& r = me(self);
    return r.guarded([&] {
      std::int64_t count = 0;
      for (nb::handle id : r.verbs_.attr("legal")(r.load(state), player)) {
        if (count == r.rules.actions) break;
        actions[count++] = nb::cast<std::int32_t>(id);
      }
      *result = count;
    });
  }
  static Status step(std::int64_t*, void**, const void* self, void* state, const std::int32_t* actions, double* rewards) {
    RecordRules& r = me(self);
    return r.guarded([&] {
      nb::list row;
      for (std::int32_t p = 0; p < r.rules.players; ++p) row.append(actions[p]);
      const nb::object answer = r.verbs_.attr("step")(r.load(state), row);
      const nb::object given = answer[1];
      for (std::int32_t p = 0; p < r.rules.players; ++p) rewards[p] = nb::cast<double>(given[p]);
      r.write(answer[0], static_cast<std::byte*>(state));
    });
  }
  static Status chance(std::int64_t* result, void**, const void* self, void* state, std::int32_t* outcomes, double* chances) {
    RecordRules& r = me(self);
    return r.guarded([&] {
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
    RecordRules& r = me(self);
    return r.guarded([&] {
      const nb::object numbers = nb::module_::import_("anabranch.game.random").attr("Random")(*random);
      *result = nb::cast<std::int64_t>(r.verbs_.attr("draw")(r.load(state), numbers));
      *random = nb::cast<std::uint64_t>(numbers.attr("word"));
    });
  }
  static Status same(std::int64_t* result, void**, const void* self, void* state, std::int32_t player, std::int32_t action) {
    RecordRules& r = me(self);
    return r.guarded([&] { *result = nb::cast<std::int64_t>(r.verbs_.attr("same")(r.load(state), player, action)); });
  }
  static Status key(std::int64_t*, void**, const void* self, void* state, void* key) {
    RecordRules& r = me(self);
    return r.guarded([&] {
      const auto data = nb::cast<nb::bytes>(r.verbs_.attr("key")(r.load(state)));
      std::memcpy(key, data.data(), r.rules.key_size);
    });
  }
  static Status bounds(std::int64_t*, void**, const void* self, void* state, double* low, double* high) {
    RecordRules& r = me(self);
    return r.guarded([&] {
      const nb::object answer = r.verbs_.attr("bounds")(r.load(state));
      const nb::object lows = answer[0], highs = answer[1];
      for (std::int32_t p = 0; p < r.rules.players; ++p) {
        low[p] = nb::cast<double>(lows[p]);
        high[p] = nb::cast<double>(highs[p]);
      }
    });
  }

  nb::object verbs_;
};
