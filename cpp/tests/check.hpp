// The smallest test runner that says what failed where: TEST registers, CHECK counts, main (main.cpp) runs them all.
#pragma once

#include <cstdio>
#include <vector>

struct Test {
  const char* name;
  void (*run)();
};

inline std::vector<Test>& all_tests() {
  static std::vector<Test> tests;
  return tests;
}

inline int& failures() {
  static int count = 0;
  return count;
}

struct Registered {
  Registered(const char* name, void (*run)()) { all_tests().push_back({name, run}); }
};

#define TEST(name)                                            \
  static void name();                                         \
  static const Registered registered_##name{#name, &name};    \
  static void name()

#define CHECK(condition)                                                        \
  do {                                                                          \
    if (!(condition)) {                                                         \
      ++failures();                                                             \
      std::fprintf(stderr, "%s:%d: CHECK(%s) failed\n", __FILE__, __LINE__, #condition); \
    }                                                                           \
  } while (false)
