#include "trouble.hpp"

#include <cstdlib>
#include <new>

namespace {

long countdown = 0;  // allocations until one fails; 0: none will
Fails how = Fails::once;

bool fails() {
  if (countdown == 0 || --countdown > 0) return false;
  countdown = how == Fails::from_then_on ? 1 : 0;
  return true;
}

}  // namespace

Trouble::Trouble(Fails kind, long at) {
  how = kind;
  countdown = at;
}
Trouble::~Trouble() { countdown = 0; }

// The engine's own calls of malloc come here (the linker's --wrap).
extern "C" {
void* __real_malloc(std::size_t size);
void* __real_realloc(void* block, std::size_t size);
void* __wrap_malloc(std::size_t size) { return fails() ? nullptr : __real_malloc(size); }
void* __wrap_realloc(void* block, std::size_t size) { return fails() ? nullptr : __real_realloc(block, size); }
}

void* operator new(std::size_t size) {
  void* made = fails() ? nullptr : __real_malloc(size ? size : 1);
  if (!made) throw std::bad_alloc();
  return made;
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
