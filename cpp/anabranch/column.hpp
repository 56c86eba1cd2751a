// A column: one growing array of plain values. And records, which end in as many doubles as there are players to know about.
//
// Once it is large it grows by moving pages instead of copying them, so the peak stays near what is used.
// NumPy may hold a view: the memory is shared then, and growing leaves the view its old copy instead of freeing it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

#include "anabranch/block.hpp"

namespace anabranch {

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

  // The same where room was reserved.
  void append(const T& value) { data_[size_++] = value; }

  void fill(std::size_t count, const T& value) {
    const std::size_t first = extend(count);
    for (std::size_t i = first; i < size_; ++i) data_[i] = value;
  }

  // Make room at once for what is expected.
  void reserve(std::size_t count) {
    if (count > capacity_) grow(count);
  }

  void cut(std::size_t size) { size_ = size; }
  // Cut off everything, to be filled anew: memory that somebody looks at is left to them.
  void clear() {
    size_ = 0;
    if (!memory_ || memory_.use_count() == 1) return;
    memory_.reset();
    data_ = nullptr;
    capacity_ = 0;
  }

  // As a stack of values.
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  bool empty() const { return size_ == 0; }
  void pop() { --size_; }

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
    capacity_ = memory_->size() / sizeof(T);
  }

  std::shared_ptr<Block> memory_;
  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

// A column of records that end in doubles, as many as there are players to know about: what is read together lies together.
template <class T>
class Records {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(double) == 0);

 public:
  explicit Records(std::size_t doubles) : words_(sizeof(T) / sizeof(double) + doubles) {}

  std::size_t size() const { return size_; }
  std::size_t bytes() const { return memory_.bytes(); }
  std::size_t stride() const { return words_ * sizeof(double); }  // bytes from one record to the next
  const Column<double>& memory() const { return memory_; }

  T& operator[](std::size_t index) { return *reinterpret_cast<T*>(memory_.data() + index * words_); }
  const T& operator[](std::size_t index) const { return *reinterpret_cast<const T*>(memory_.data() + index * words_); }
  double* doubles(std::size_t index) { return memory_.data() + index * words_ + sizeof(T) / sizeof(double); }
  const double* doubles(std::size_t index) const { return memory_.data() + index * words_ + sizeof(T) / sizeof(double); }

  // The same where the compiler knows how many doubles there are, unless N is 0.
  template <std::size_t N>
  T& at(std::size_t index) {
    return *reinterpret_cast<T*>(memory_.data() + index * (N ? sizeof(T) / sizeof(double) + N : words_));
  }
  template <std::size_t N>
  const T& at(std::size_t index) const {
    return *reinterpret_cast<const T*>(memory_.data() + index * (N ? sizeof(T) / sizeof(double) + N : words_));
  }

  // Add `count` records, not initialised; the index of the first.
  std::size_t extend(std::size_t count) {
    memory_.extend(count * words_);
    const std::size_t first = size_;
    size_ += count;
    return first;
  }

  void reserve_rows(std::size_t count) { memory_.reserve(count * words_); }
  void clear() {
    size_ = 0;
    memory_.clear();
  }
  void cut_rows(std::size_t size) {
    size_ = size;
    memory_.cut(size * words_);
  }
  void copy_rows(std::size_t to, const Records& from, std::size_t at, std::size_t count) {
    std::memmove(memory_.data() + to * words_, from.memory_.data() + at * words_, count * stride());
  }

 private:
  Column<double> memory_;
  std::size_t words_, size_ = 0;
};

// The doubles behind a record, and the record `count` further on, where the number of doubles is known to the compiler.
template <class T>
inline double* doubles_of(T* record) { return reinterpret_cast<double*>(record + 1); }
template <class T>
inline const double* doubles_of(const T* record) { return reinterpret_cast<const double*>(record + 1); }
template <class T>
inline T* further(T* record, std::size_t bytes) {
  using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
  return reinterpret_cast<T*>(reinterpret_cast<Byte*>(record) + bytes);
}

}  // namespace anabranch
