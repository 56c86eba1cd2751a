// How a failure of the game's rules comes out of the engine: as SearchFailed, with a report for Python to act on.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "anabranch/failure.hpp"

namespace nb = nanobind;
using namespace anabranch;

inline PyObject* search_failed = nullptr;  // raised where a verb failed; its argument is the report

// What went wrong; `state` is what it went wrong on, as Python knows it.
inline nb::dict report(const Failure& failure, nb::object state, nb::object exception) {
  nb::dict d;
  const char* const causes[] = {"verb", "cycle", "too_many_choices", "too_many_players", "endless"};
  d["cause"] = causes[static_cast<std::size_t>(failure.cause)];
  d["verb"] = failure.verb;
  d["state"] = std::move(state);
  d["actions"] = failure.actions;
  d["player"] = failure.player;
  d["action"] = failure.action;
  d["random"] = failure.random;
  d["line"] = failure.line;
  d["exception"] = std::move(exception);
  return d;
}

[[noreturn]] inline void raise_report(const nb::dict& told) {
  PyErr_SetObject(search_failed, told.ptr());
  throw nb::python_error();
}
