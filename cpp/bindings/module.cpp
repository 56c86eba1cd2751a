// The native module: a table of contents.
#include "bindings.hpp"

NB_MODULE(_native, m) {
  m.doc() = "The engine of anabranch.";
  bind_random(m);
  bind_rules(m);
  bind_config(m);
  bind_search(m);
  bind_snapshot(m);
}
