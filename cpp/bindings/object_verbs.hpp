// The verbs of an object game, called through Python's C API, with their answers read as they are.
//
// Answers of the plain kind (integers, sequences of integers, finite floats) that keep their promises are taken as they come.
// Any other is asked for again through `rules`, the same verbs with checks in Python, which raise what users read or give the
// answer in its plain form. Callers hold the GIL; what a verb raises comes out as nb::python_error.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "anabranch/rules.hpp"

namespace nb = nanobind;
using namespace anabranch;

class ObjectVerbs {
 public:
  // `sizes` outlives this: players, actions, outcomes, and which verbs there are.
  ObjectVerbs(const nb::object& game, nb::object rules, const Rules& sizes, bool has_key, bool has_playout)
      : sizes_(sizes), rules_(std::move(rules)), turn_(game.attr("turn")), legal_(game.attr("legal")), step_(game.attr("step")),
        idle_(nb::int_(kIdle)) {
    if (sizes.chance) chance_ = game.attr("chance");
    if (sizes.same) same_ = game.attr("same");
    if (has_key) key_ = game.attr("key");
    if (has_playout) playout_ = game.attr("playout");
    for (std::int32_t p = 0; p < sizes.players; ++p) seats_.emplace_back(nb::int_(p));
  }

  std::int64_t turn(const nb::object& state) {
    const std::optional<std::int64_t> plain = integer(called(turn_, state.ptr()));
    if (plain && valid_turn(sizes_, *plain)) return *plain;
    return nb::cast<std::int64_t>(rules_.attr("turn")(state));
  }

  // Write what a player may choose; how many there are.
  std::int64_t legal(const nb::object& state, std::int32_t player, std::int32_t* ids) {
    const std::int64_t count = read_ids(called(legal_, state.ptr(), seat(player)), ids);
    if (count >= 0) return count;
    std::int64_t checked = 0;
    for (nb::handle id : rules_.attr("legal")(state, player)) ids[checked++] = nb::cast<std::int32_t>(id);
    return checked;
  }

  // The state that follows; `rewards` are written.
  nb::object step(const nb::object& state, const std::int32_t* actions, double* rewards) {
    const nb::object row = joint(actions);
    const nb::object answer = called(step_, state.ptr(), row.ptr());
    if (PyTuple_Check(answer.ptr()) && PyTuple_GET_SIZE(answer.ptr()) == 2 &&
        read_rewards(PyTuple_GET_ITEM(answer.ptr(), 1), rewards))
      return nb::borrow(PyTuple_GET_ITEM(answer.ptr(), 0));
    const nb::object checked = rules_.attr("step")(state, row);
    for (std::int32_t p = 0; p < sizes_.players; ++p) rewards[p] = nb::cast<double>(checked[1][p]);
    return checked[0];
  }

  // Write the outcomes and their chances; how many there are.
  std::int64_t chance(const nb::object& state, std::int32_t* outcomes, double* chances) {
    const std::int64_t count = read_chances(called(chance_, state.ptr()), outcomes, chances);
    if (count >= 0) return count;
    std::int64_t checked = 0;
    for (nb::handle pair : rules_.attr("chance")(state)) {
      if (checked == sizes_.outcomes) throw std::length_error("chance listed more outcomes than the game declares");
      outcomes[checked] = nb::cast<std::int32_t>(pair[0]);
      chances[checked++] = nb::cast<double>(pair[1]);
    }
    return checked;
  }

  // The game's own draw.
  std::int64_t draw(const nb::object& state, std::uint64_t* random) {
    const nb::object numbers = random_numbers(*random);
    const auto outcome = nb::cast<std::int64_t>(rules_.attr("draw")(state, numbers));
    *random = nb::cast<std::uint64_t>(numbers.attr("word"));
    return outcome;
  }

  // What the game's own policy does in a rollout.
  std::int64_t rollout_action(const nb::object& state, std::int32_t player, std::uint64_t* random) {
    const nb::object numbers = random_numbers(*random);
    const auto action = nb::cast<std::int64_t>(rules_.attr("rollout_action")(state, player, numbers));
    *random = nb::cast<std::uint64_t>(numbers.attr("word"));
    return action;
  }

  std::int64_t same(const nb::object& state, std::int32_t player, std::int32_t action) {
    const nb::object id = nb::int_(action);
    const std::optional<std::int64_t> plain = integer(called(same_, state.ptr(), seat(player), id.ptr()));
    if (plain && *plain == static_cast<std::int32_t>(*plain)) return *plain;
    return nb::cast<std::int64_t>(rules_.attr("same")(state, player, action));
  }

  // What decides whether states are the same.
  nb::object key(const nb::object& state) { return key_ ? called(key_, state.ptr()) : state; }

  void bounds(const nb::object& state, double* low, double* high) {
    const nb::object answer = rules_.attr("bounds")(state);
    const nb::object lows = answer[0], highs = answer[1];
    for (std::int32_t p = 0; p < sizes_.players; ++p) {
      low[p] = nb::cast<double>(lows[p]);
      high[p] = nb::cast<double>(highs[p]);
    }
  }

  // Write the rewards of a whole random game that the game plays itself; false: it is to be played step by step.
  bool playout(const nb::object& state, std::uint64_t* random, std::int32_t max_depth, double* rewards) {
    if (!playout_) return false;
    const nb::object numbers = random_numbers(*random), depth = nb::int_(max_depth);
    const nb::object answer = called(playout_, state.ptr(), numbers.ptr(), depth.ptr());
    if (answer.is_none()) {
      *random = nb::cast<std::uint64_t>(numbers.attr("word"));
      return false;
    }
    if (read_rewards(answer.ptr(), rewards)) return true;
    const nb::object checked = rules_.attr("collected")(answer);
    for (std::int32_t p = 0; p < sizes_.players; ++p) rewards[p] = nb::cast<double>(checked[p]);
    return true;
  }

  int traverse(visitproc visit, void* arg) const {
    for (const nb::object* each : {&rules_, &turn_, &legal_, &step_, &chance_, &same_, &key_, &playout_, &random_})
      Py_VISIT(each->ptr());
    return 0;
  }
  void clear() {
    for (nb::object* each : {&rules_, &turn_, &legal_, &step_, &chance_, &same_, &key_, &playout_, &random_}) each->reset();
  }

 private:
  // A list or a tuple of what was answered, to be read item by item; nothing where it is no sequence.
  class Items {
   public:
    explicit Items(PyObject* answer) {
      if (PyList_CheckExact(answer) || PyTuple_CheckExact(answer)) held_ = nb::borrow(answer);
      else held_ = nb::steal(PySequence_Tuple(answer));  // generators and arrays
      if (!held_) throw nb::python_error();
    }
    Py_ssize_t size() const { return PySequence_Fast_GET_SIZE(held_.ptr()); }
    // Valid as long as no code of the user runs, which could change a list.
    PyObject* operator[](Py_ssize_t index) const { return PySequence_Fast_GET_ITEM(held_.ptr(), index); }

   private:
    nb::object held_;
  };

  template <class... Arguments>
  static nb::object called(const nb::object& verb, Arguments... arguments) {
    PyObject* row[] = {nullptr, arguments...};  // room for the instance before them, which spares Python a copy
    PyObject* answer = PyObject_Vectorcall(verb.ptr(), row + 1, sizeof...(Arguments) | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
    if (!answer) throw nb::python_error();
    return nb::steal(answer);
  }

  static std::optional<std::int64_t> integer(nb::handle answer) {
    if (!PyLong_Check(answer.ptr())) {
      if (!PyIndex_Check(answer.ptr())) return std::nullopt;
      const nb::object number = nb::steal(PyNumber_Index(answer.ptr()));  // NumPy's
      if (number) return integer(number);
      PyErr_Clear();
      return std::nullopt;
    }
    int overflow = 0;
    const std::int64_t value = PyLong_AsLongLongAndOverflow(answer.ptr(), &overflow);
    return overflow ? std::nullopt : std::optional(value);
  }

  static std::optional<double> number(nb::handle answer) {
    if (PyFloat_CheckExact(answer.ptr())) return PyFloat_AS_DOUBLE(answer.ptr());
    const double value = PyFloat_AsDouble(answer.ptr());
    if (value != -1.0 || !PyErr_Occurred()) return value;
    PyErr_Clear();
    return std::nullopt;
  }

  // How many ids there are; −1 where they are not what `legal` promises.
  std::int64_t read_ids(const nb::object& answer, std::int32_t* ids) const {
    const Items items(answer.ptr());
    if (items.size() > sizes_.actions) return -1;
    std::int64_t previous = -1;
    Py_ssize_t count = 0;
    for (; count < items.size(); ++count) {
      const std::optional<std::int64_t> id = integer(nb::borrow(items[count]));
      if (!id || *id <= previous || *id >= sizes_.actions) return -1;
      ids[count] = static_cast<std::int32_t>(previous = *id);
    }
    return count;
  }

  bool read_rewards(PyObject* answer, double* rewards) const {
    if (!PySequence_Check(answer)) return false;
    const Items items(answer);
    if (items.size() != sizes_.players) return false;
    for (std::int32_t p = 0; p < sizes_.players && p < items.size(); ++p) {
      const std::optional<double> reward = number(nb::borrow(items[p]));
      if (!reward) return false;
      rewards[p] = *reward;
    }
    return valid_rewards(rewards, sizes_.players);
  }

  std::int64_t read_chances(const nb::object& answer, std::int32_t* outcomes, double* chances) const {
    const Items items(answer.ptr());
    if (items.size() > sizes_.outcomes) return -1;
    Py_ssize_t count = 0;
    for (; count < items.size(); ++count) {
      const nb::object pair = nb::borrow(items[count]);
      if (!PyTuple_CheckExact(pair.ptr()) || PyTuple_GET_SIZE(pair.ptr()) != 2) return -1;
      const std::optional<std::int64_t> outcome = integer(PyTuple_GET_ITEM(pair.ptr(), 0));
      const std::optional<double> p = number(PyTuple_GET_ITEM(pair.ptr(), 1));
      if (!outcome || *outcome != static_cast<std::int32_t>(*outcome) || !p) return -1;
      outcomes[count] = static_cast<std::int32_t>(*outcome);
      chances[count] = *p;
    }
    return valid_chances(sizes_, outcomes, chances, count) ? count : -1;
  }

  PyObject* seat(std::int32_t player) const { return seats_[static_cast<std::size_t>(player)].ptr(); }

  // A move as `step` gets it.
  nb::object joint(const std::int32_t* actions) const {
    nb::object row = nb::steal(PyTuple_New(sizes_.players));
    if (!row) throw nb::python_error();
    for (std::int32_t p = 0; p < sizes_.players; ++p) {
      nb::object entry = actions[p] == kIdle ? idle_ : nb::steal(PyLong_FromLong(actions[p]));
      if (!entry) throw nb::python_error();
      PyTuple_SET_ITEM(row.ptr(), p, entry.release().ptr());
    }
    return row;
  }

  nb::object random_numbers(std::uint64_t word) {
    if (!random_) random_ = nb::module_::import_("anabranch.game.random").attr("Random");
    return random_(word);
  }

  const Rules& sizes_;
  nb::object rules_, turn_, legal_, step_, chance_, same_, key_, playout_, random_;
  nb::object idle_;
  std::vector<nb::object> seats_;
};
