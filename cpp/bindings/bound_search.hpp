// A search as Python holds it, and how its failures come out; shared by the bindings that work on searches.
#pragma once

#include <nanobind/nanobind.h>

#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "anabranch/search.hpp"
#include "python_rules.hpp"
#include "reports.hpp"

// A search and what its rules live in.
struct BoundSearch {
  nb::object owner;  // keeps code, instance and evaluator alive
  PythonRules* python = nullptr;
  const Rules* verbs = nullptr;  // as they are now: `observe` is compiled when first used
  std::unique_ptr<Search> search;
  bool busy = false;  // a thread without the GIL is at work on it; read and written with the GIL
  unsigned long holder = 0;  // the thread whose run it is in, also while that waits for answers; 0 where none is

  void forget() {
    if (python) python->forget();
  }

  // Let go of Python's states that nothing found refers to any more.
  void tidy() {
    if (python && !search->in_flight()) python->tidy(*search);
  }

  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(owner.ptr());
    return 0;
  }
  void clear() { owner.reset(); }
};

// Lets the garbage collector see what objects of ours hold.
template <class T>
struct Collected {
  static int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    return nb::inst_ready(self) ? nb::inst_ptr<T>(self)->traverse(visit, arg) : 0;
  }
  static int clear(PyObject* self) {
    if (nb::inst_ready(self)) nb::inst_ptr<T>(self)->clear();
    return 0;
  }
  static inline PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse)},
                                       {Py_tp_clear, reinterpret_cast<void*>(&clear)},
                                       {0, nullptr}};
};

// Refuse a search that a thread is at work on, or another thread's run: a graph belongs to one thread at a time.
inline void check_idle(const BoundSearch& s) {
  const bool elsewhere = s.holder != 0 && s.holder != PyThread_get_thread_ident();
  if (s.busy || elsewhere) [[unlikely]] {
    const nb::object error = nb::module_::import_("anabranch.errors").attr("UsageError");
    PyErr_SetString(error.ptr(), elsewhere ? "this root is being searched by another thread, and its graph changes meanwhile; wait for the "
                                             "run to end, or search with ab.Analysis and read between its slices"
                                           : "this root is being searched; wait for the run to end");
    throw nb::python_error();
  }
}

// The search, to be worked on by this thread.
inline Search& idle(const BoundSearch& s) {
  check_idle(s);
  s.search->enter();
  return *s.search;
}

// Keeps others away while the GIL is released.
class Busy {
 public:
  explicit Busy(std::vector<BoundSearch*> searches) : searches_(std::move(searches)) {
    for (const BoundSearch* s : searches_) check_idle(*s);
    for (BoundSearch* s : searches_) {
      s->busy = true;
      s->forget();
    }
  }
  ~Busy() {
    for (BoundSearch* s : searches_) s->busy = false;
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  std::vector<BoundSearch*> searches_;
};

inline nb::object state_of(const BoundSearch& s, const std::byte* record, std::size_t size) {
  return s.python ? s.python->read(record) : nb::bytes(record, size);
}

// What went wrong, for Python to raise.
inline nb::dict report(const Failure& failure, BoundSearch& s) {
  nb::object state = failure.state.empty() ? nb::none() : state_of(s, failure.state.data(), failure.state.size());
  nb::dict told = report(failure, std::move(state), s.python ? s.python->exception : nb::none());
  s.forget();
  return told;
}

[[noreturn]] inline void raise_report(const Failure& failure, BoundSearch& s) { raise_report(report(failure, s)); }

// Run searches with native evaluators: (simulations per search, None), or (None, a report of what failed). search.cpp
nb::object run(const std::vector<BoundSearch*>& searches, std::vector<std::uint64_t> goals, std::optional<double> seconds, std::size_t threads);
// Let noise, forced visits and plans hold at the roots of all searches. search.cpp
void set_root_rules(const std::vector<BoundSearch*>& searches, const std::vector<std::uint64_t>& goals, bool noise, double weight, double alpha,
                    double total, double forced);

// Do something in which a verb may fail; the report then comes out as SearchFailed.
template <class Body>
auto reporting(BoundSearch& s, Body&& body) {
  const Busy busy({&s});  // verbs in Python may let other threads run
  s.search->enter();
  try {
    return body();
  } catch (const Failure& failure) {
    raise_report(failure, s);
  }
}
