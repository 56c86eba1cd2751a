// The lock of what all searches of a process share.
//
// A process may be forked while other threads search. The child has none of them, so a lock that one of them held would stay
// taken for ever: it is taken before every fork, and given back on both sides.
#pragma once

#include <pthread.h>

#include <mutex>

namespace anabranch {

class ProcessLock {
 public:
  // Never destroyed: graphs may outlive everything else.
  static std::mutex& mutex() {
    static std::mutex* const made = [] {
      pthread_atfork([] { mutex().lock(); }, [] { mutex().unlock(); }, [] { mutex().unlock(); });
      return new std::mutex;
    }();
    return *made;
  }
};

}  // namespace anabranch
