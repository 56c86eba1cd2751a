// The states of an object game, numbered: equal states (equal keys where the game has them) have the same number, so the
// engine compares eight bytes and Python hashes a state once. Numbers of states that were freed are given out again.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace nb = nanobind;

class ObjectStates {
 public:
  // The number of a state, given what decides whether states are the same; whether it is a new one.
  std::pair<std::uint64_t, bool> number(const nb::object& same_as, const nb::object& state) {
    if (slots_.size() == slots_.capacity()) slots_.reserve(2 * slots_.size() + 16);  // before anything is changed
    const std::uint64_t next = unused_.empty() ? slots_.size() : unused_.back();
    const nb::object fresh = nb::steal(PyLong_FromUnsignedLongLong(next));
    if (!fresh) throw nb::python_error();
    PyObject* found = PyDict_SetDefault(numbers_.ptr(), same_as.ptr(), fresh.ptr());  // hashed and compared by the user's code
    if (!found) throw nb::python_error();
    if (found != fresh.ptr()) return {PyLong_AsUnsignedLongLong(found), false};
    if (next == slots_.size()) {
      slots_.push_back({state, same_as});
    } else {
      slots_[next] = {state, same_as};
      unused_.pop_back();
    }
    return {next, true};
  }

  const nb::object& state(std::uint64_t number) const { return slots_.at(number).state; }

  // How many states are held, and how many numbers there are: those of all states are below.
  std::size_t size() const { return slots_.size() - unused_.size(); }
  std::size_t numbers() const { return slots_.size(); }

  // Forget all states but those whose numbers are marked.
  void keep(const std::vector<char>& marked) {
    std::vector<Slot> freed;  // let go of at the end: that may run any code
    unused_.reserve(slots_.size());
    freed.reserve(slots_.size());
    for (std::size_t number = 0; number < slots_.size(); ++number) {
      Slot& slot = slots_[number];
      if (marked[number] || !slot.state) continue;
      if (PyDict_DelItem(numbers_.ptr(), slot.same_as.ptr()) != 0) {
        PyErr_Clear();  // a state that cannot be found any more: it stays
        continue;
      }
      freed.push_back(std::move(slot));
      unused_.push_back(number);
    }
  }

  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(numbers_.ptr());
    for (const Slot& slot : slots_) {
      Py_VISIT(slot.state.ptr());
      Py_VISIT(slot.same_as.ptr());
    }
    return 0;
  }
  void clear() {
    numbers_.reset();
    std::vector<Slot>().swap(slots_);
  }

 private:
  struct Slot {
    nb::object state, same_as;
  };

  nb::dict numbers_;
  std::vector<Slot> slots_;
  std::vector<std::uint64_t> unused_;
};
