// The native module: a table of contents.
#include "bindings.hpp"

NB_MODULE(_native, m) {
  m.doc() = "The engine of anabranch.";
  nanobind::set_leak_warnings(false);  // games held at exit, by a module or a traceback, are nobody's mistake
  bind_random(m);
  bind_rules(m);
  bind_config(m);
  bind_search(m);
  bind_requests(m);
  bind_plan(m);
  bind_report(m);
  bind_snapshot(m);
  bind_solve(m);
}
