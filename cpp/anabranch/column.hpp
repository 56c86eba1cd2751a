// A column of the graph: one growing array of plain values.
//
// It grows by realloc, which moves pages instead of copying them once it is large, so the peak stays near what is used.
// NumPy may hold a view: the memory is shared then, and growing leaves the view its old copy instead of freeing it.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

namespace anabranch {

template <class T>
class Column {
  static_assert(std::is_trivially_copyable_v<T>);

  struct Memory {
    T* data = nullptr;
    Memory() = default;
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory() { std::free(data); }
  };

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
    if (memory_ && memory_.use_count() == 1) {
      void* moved = std::realloc(static_cast<void*>(memory_->data), capacity * sizeof(T));
      if (!moved) throw std::bad_alloc();
      memory_->data = static_cast<T*>(moved);
    } else {
      auto fresh = std::make_shared<Memory>();
      fresh->data = static_cast<T*>(std::malloc(capacity * sizeof(T)));
      if (!fresh->data) throw std::bad_alloc();
      if (size_) std::memcpy(static_cast<void*>(fresh->data), data_, size_ * sizeof(T));
      memory_ = std::move(fresh);
    }
    data_ = memory_->data;
    capacity_ = capacity;
  }

  std::shared_ptr<Memory> memory_;
  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace anabranch
