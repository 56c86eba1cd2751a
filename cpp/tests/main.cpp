// Runs every registered test; the closing line counts them.
#include "check.hpp"

int main() {
  int failed = 0;
  for (const Test& test : all_tests()) {
    const int before = failures();
    test.run();
    if (failures() != before) {
      ++failed;
      std::fprintf(stderr, "FAILED %s\n", test.name);
    }
  }
  const int passed = static_cast<int>(all_tests().size()) - failed;
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}
