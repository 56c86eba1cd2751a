// Stands before the C library (LD_PRELOAD) and lets one call of a process fail, or end the process there.
//
// Calls that touch files under one folder are counted: Python's own and those of SQLite, which no test can reach from
// Python. The call of a given number fails as it is told: with an error, for once or from then on; by writing half of its
// bytes; or by killing the process, before the call or in the middle of a write.

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace {

constexpr int most_files = 4096;
char folder[4096];
bool ours[most_files];
long done = 0, failing = -1;
int error_number = 0;                     // 0: no error
bool lasting = false, half = false, deadly = false, full = false;

template <class F>
F real(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

bool inside(const char* path) { return folder[0] != 0 && strncmp(path, folder, strlen(folder)) == 0; }
bool inside(int file) { return file >= 0 && file < most_files && ours[file]; }

enum class Call { plain, reading, writing };

// Counts a call; returns whether it is to fail, in which case errno is set. A write that is to be cut says so in `cut`.
bool fails(Call call, bool* cut = nullptr) {
  const long number = done++;
  const bool hit = number == failing || (lasting && failing >= 0 && number > failing);
  if (full && call == Call::writing) {
    errno = ENOSPC;
    return true;
  }
  if (!hit) return false;
  if (half) {
    if (cut != nullptr && call == Call::writing) *cut = true;
    return false;
  }
  if (deadly) kill(getpid(), SIGKILL);
  if (error_number == ENOSPC && call == Call::reading) return false;  // reading needs no room
  errno = error_number;
  return error_number != 0;
}

int opened(int file, const char* path) {
  if (file >= 0 && file < most_files) ours[file] = inside(path);
  return file;
}

template <class Write>
ssize_t written(int file, size_t count, Write write) {
  if (!inside(file)) return write(count);
  bool cut = false;
  if (fails(Call::writing, &cut)) return -1;
  if (!cut) return write(count);
  const ssize_t some = write(count / 2);
  if (deadly) kill(getpid(), SIGKILL);
  full = error_number == ENOSPC;
  return some;
}

}  // namespace

extern "C" {

void calls_arm(const char* under, long number, const char* kind) {
  snprintf(folder, sizeof folder, "%s", under);
  memset(ours, 0, sizeof ours);
  done = 0;
  failing = number;
  full = false;
  lasting = strstr(kind, "for ever") != nullptr;
  half = strncmp(kind, "short", 5) == 0 || strcmp(kind, "torn") == 0;
  deadly = strcmp(kind, "kill") == 0 || strcmp(kind, "torn") == 0;
  error_number = strncmp(kind, "ENOSPC", 6) == 0 || strcmp(kind, "short, then full") == 0 ? ENOSPC
                 : strncmp(kind, "EIO", 3) == 0                                         ? EIO
                                                                                       : 0;
}

long calls_done() { return done; }

#define OPENING(NAME)                                                              \
  int NAME(const char* path, int flags, ...) {                                     \
    va_list rest;                                                                  \
    va_start(rest, flags);                                                         \
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;         \
    va_end(rest);                                                                  \
    static const auto call = real<int (*)(const char*, int, ...)>(#NAME);          \
    const bool writes = (flags & (O_WRONLY | O_RDWR)) != 0;                        \
    if (inside(path) && fails(writes ? Call::plain : Call::reading)) return -1;    \
    return opened(call(path, flags, mode), path);                                  \
  }
OPENING(open)
OPENING(open64)

int close(int file) {
  static const auto call = real<int (*)(int)>("close");
  if (!inside(file)) return call(file);
  ours[file] = false;
  const bool failed = fails(Call::plain);
  const int why = errno, answer = call(file);  // the descriptor goes in any case
  if (!failed) return answer;
  errno = why;
  return -1;
}

ssize_t write(int file, const void* data, size_t count) {
  static const auto call = real<ssize_t (*)(int, const void*, size_t)>("write");
  return written(file, count, [&](size_t some) { return call(file, data, some); });
}

#define WRITING_AT(NAME, OFFSET)                                                                  \
  ssize_t NAME(int file, const void* data, size_t count, OFFSET at) {                             \
    static const auto call = real<ssize_t (*)(int, const void*, size_t, OFFSET)>(#NAME);          \
    return written(file, count, [&](size_t some) { return call(file, data, some, at); });         \
  }
WRITING_AT(pwrite, off_t)
WRITING_AT(pwrite64, off64_t)

#define READING_AT(NAME, OFFSET)                                                                  \
  ssize_t NAME(int file, void* data, size_t count, OFFSET at) {                                   \
    static const auto call = real<ssize_t (*)(int, void*, size_t, OFFSET)>(#NAME);                \
    return inside(file) && fails(Call::reading) ? -1 : call(file, data, count, at);               \
  }
READING_AT(pread, off_t)
READING_AT(pread64, off64_t)

ssize_t read(int file, void* data, size_t count) {
  static const auto call = real<ssize_t (*)(int, void*, size_t)>("read");
  return inside(file) && fails(Call::reading) ? -1 : call(file, data, count);
}

#define ON_FILE(NAME)                                             \
  int NAME(int file) {                                            \
    static const auto call = real<int (*)(int)>(#NAME);           \
    return inside(file) && fails(Call::plain) ? -1 : call(file);  \
  }
ON_FILE(fsync)
ON_FILE(fdatasync)

#define CUTTING(NAME, OFFSET)                                            \
  int NAME(int file, OFFSET length) {                                    \
    static const auto call = real<int (*)(int, OFFSET)>(#NAME);          \
    return inside(file) && fails(Call::plain) ? -1 : call(file, length); \
  }
CUTTING(ftruncate, off_t)
CUTTING(ftruncate64, off64_t)

#define ON_NAMES(NAME)                                                      \
  int NAME(const char* from, const char* to) {                              \
    static const auto call = real<int (*)(const char*, const char*)>(#NAME); \
    return inside(from) && fails(Call::plain) ? -1 : call(from, to);        \
  }
ON_NAMES(rename)
ON_NAMES(link)

int unlink(const char* path) {
  static const auto call = real<int (*)(const char*)>("unlink");
  return inside(path) && fails(Call::plain) ? -1 : call(path);
}

int mkdir(const char* path, mode_t mode) {
  static const auto call = real<int (*)(const char*, mode_t)>("mkdir");
  return inside(path) && fails(Call::plain) ? -1 : call(path, mode);
}
}
