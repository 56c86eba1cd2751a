// One bind_<topic> per file; a binding translates and checks, and decides nothing.
#pragma once

#include <nanobind/nanobind.h>

void bind_random(nanobind::module_& m);
void bind_rules(nanobind::module_& m);
void bind_config(nanobind::module_& m);
void bind_report(nanobind::module_& m);
void bind_plan(nanobind::module_& m);
void bind_requests(nanobind::module_& m);
void bind_search(nanobind::module_& m);
void bind_snapshot(nanobind::module_& m);
void bind_solve(nanobind::module_& m);
