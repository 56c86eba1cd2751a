// A column of the graph: one growing array of plain values.
//
// Once it is large it grows by moving pages instead of copying them, so the peak stays near what is used.
// NumPy may hold a view: the memory is shared then, and growing leaves the view its old copy instead of freeing it.
#pragma once

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)  // which watches the edges of malloc's blocks only
#include <sys/mman.h>
#define ANABRANCH_OWN_PAGES 1
#else
#define ANABRANCH_OWN_PAGES 0
#endif

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

namespace anabranch {

// Memory that grows. Large blocks have pages of their own: growing remaps them, freeing gives them back. (With malloc that
// holds only until the program has freed its first large block; from then on blocks are copied, and leave holes.)
class Block {
 public:
  Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() { release(); }

  void* data() const { return data_; }

  // Keep the contents and make room for `size` bytes, more than there were.
  void grow(std::size_t size) {
#if ANABRANCH_OWN_PAGES
    if (size >= kOwnPages) {
      void* moved = paged_ ? mremap(data_, size_, size, MREMAP_MAYMOVE)
                           : mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (moved == MAP_FAILED) throw std::bad_alloc();
      if (!paged_ && size_ > 0) std::memcpy(moved, data_, size_);
      if (!paged_) release();
      data_ = moved;
      size_ = size;
      paged_ = true;
      return;
    }
#endif
    void* moved = std::realloc(data_, size);
    if (!moved) throw std::bad_alloc();
    data_ = moved;
    size_ = size;
  }

 private:
  static constexpr std::size_t kOwnPages = std::size_t{1} << 18;

  void release() {
#if ANABRANCH_OWN_PAGES
    if (paged_) {
      munmap(data_, size_);
      return;
    }
#endif
    std::free(data_);
  }

  void* data_ = nullptr;
  std::size_t size_ = 0;
  bool paged_ = false;
};

template <class T>
class Column {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Column() = default;
  Column(Column&&) noexcept = default;
  Column& operator=(Column&&) noexcept = default;

  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](std::size_t index) { return data_[index]; }
  const T& operator[](std::size_t index) const { return data_[index]; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }
  std::shared_ptr<void> owner() const { return memory_; }  // keeps the values alive for a view

  // Add `count` values, not initialised; the index of the first.
  std::size_t extend(std::size_t count) {
    const std::size_t first = size_;
    if (size_ + count > capacity_) [[unlikely]] grow(size_ + count);
    size_ += count;
    return first;
  }

  void push(const T& value) {
    if (size_ == capacity_) [[unlikely]] {
      const T copy = value;  // it may live in this very column
      grow(size_ + 1);
      data_[size_++] = copy;
      return;
    }
    data_[size_++] = value;
  }

  void fill(std::size_t count, const T& value) {
    const std::size_t first = extend(count);
    for (std::size_t i = first; i < size_; ++i) data_[i] = value;
  }

  // Make room at once for what is expected.
  void reserve(std::size_t count) {
    if (count > capacity_) grow(count);
  }

  void cut(std::size_t size) { size_ = size; }

 private:
  __attribute__((noinline, cold)) void grow(std::size_t wanted) {
    std::size_t capacity = capacity_ + capacity_ / 2;
    if (capacity < 16) capacity = 16;
    if (capacity < wanted) capacity = wanted;
    if (!memory_ || memory_.use_count() > 1) {
      auto fresh = std::make_shared<Block>();
      fresh->grow(capacity * sizeof(T));
      if (size_) std::memcpy(fresh->data(), static_cast<const void*>(data_), size_ * sizeof(T));
      memory_ = std::move(fresh);
    } else {
      memory_->grow(capacity * sizeof(T));
    }
    data_ = static_cast<T*>(memory_->data());
    capacity_ = capacity;
  }

  std::shared_ptr<Block> memory_;
  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace anabranch
