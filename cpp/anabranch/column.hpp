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

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <type_traits>
#include <vector>

namespace anabranch {

// Memory that grows. Small blocks are kept when they are freed, for the next graph: fresh pages from the system cost more
// than a small search does with them. Large blocks have pages of their own: growing remaps them, freeing gives them back.
// (With malloc that holds only until the program has freed its first large block; from then on blocks are copied, and leave
// holes.)
class Block {
 public:
  Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() { release(); }

  void* data() const { return data_; }
  std::size_t size() const { return size_; }

  // Keep the contents and make room for at least `size` bytes, more than there were.
  void grow(std::size_t size) {
    if (size <= kLargestKept) {
      size = std::bit_ceil(size < kSmallest ? kSmallest : size);
      void* moved = kept().take(size);
      if (!moved) moved = std::malloc(size);
      if (!moved) throw std::bad_alloc();
      if (size_ > 0) std::memcpy(moved, data_, size_);
      release();
      data_ = moved;
      size_ = size;
      return;
    }
#if ANABRANCH_OWN_PAGES
    const bool paged = size_ > kLargestKept;
    void* moved = paged ? mremap(data_, size_, size, MREMAP_MAYMOVE)
                        : mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (moved == MAP_FAILED) throw std::bad_alloc();
#else
    const bool paged = size_ > kLargestKept;
    void* moved = paged ? std::realloc(data_, size) : std::malloc(size);
    if (!moved) throw std::bad_alloc();
#endif
    if (!paged) {
      if (size_ > 0) std::memcpy(moved, data_, size_);
      release();
    }
    data_ = moved;
    size_ = size;
  }

 private:
  static constexpr std::size_t kSmallest = std::size_t{1} << 9, kLargestKept = std::size_t{1} << 20;

  // Freed blocks by size, a power of two. The first ones are cut out of a few large pages: hundreds of small graphs lie close
  // together there, and the processor need not look up a page for each of their columns. Those stay; of others that were
  // freed, a few megabytes are kept.
  class Kept {
   public:
    void* take(std::size_t size) {
      const std::lock_guard<std::mutex> guard(mutex_);
      std::vector<void*>& blocks = of(size);
      if (blocks.empty()) return carve(size);
      void* block = blocks.back();
      blocks.pop_back();
      if (!is_carved(block)) total_ -= size;
      return block;
    }

    bool give(void* block, std::size_t size) {
      const std::lock_guard<std::mutex> guard(mutex_);
      if (!is_carved(block)) {
        if (total_ + size > kMost) return false;
        total_ += size;
      }
      of(size).push_back(block);
      return true;
    }

   private:
    static constexpr std::size_t kMost = std::size_t{16} << 20;
    static constexpr std::size_t kPage = std::size_t{2} << 20, kChunk = 2 * kPage, kChunks = 16;

    std::vector<void*>& of(std::size_t size) { return blocks_[static_cast<std::size_t>(std::countr_zero(size))]; }

    // Cut a block out of the last chunk, or of a new one; nullptr where there are enough of them.
    void* carve(std::size_t size) {
#if ANABRANCH_OWN_PAGES
      if (chunks_.empty() || used_ + size > kChunk) {
        if (chunks_.size() == kChunks) return nullptr;
        void* memory = mmap(nullptr, kChunk + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) return nullptr;
        const auto address = reinterpret_cast<std::uintptr_t>(memory);
        auto* chunk = reinterpret_cast<std::byte*>((address + kPage - 1) / kPage * kPage);
        madvise(chunk, kChunk, MADV_HUGEPAGE);  // if the system does not want to, pages are small
        chunks_.push_back(chunk);
        used_ = 0;
      }
      void* block = chunks_.back() + used_;
      used_ += size;
      return block;
#else
      static_cast<void>(size);
      return nullptr;
#endif
    }

    bool is_carved(const void* block) const {
      for (const std::byte* chunk : chunks_)
        if (block >= chunk && block < chunk + kChunk) return true;
      return false;
    }

    std::mutex mutex_;
    std::array<std::vector<void*>, 64> blocks_;
    std::vector<std::byte*> chunks_;
    std::size_t used_ = 0;   // of the last chunk
    std::size_t total_ = 0;  // bytes kept that were not cut out
  };

  static Kept& kept() {
    static Kept* const all = new Kept;  // never destroyed: graphs may outlive everything else
    return *all;
  }

  void release() {
    if (size_ == 0) return;
    if (size_ <= kLargestKept) {
      if (!kept().give(data_, size_)) std::free(data_);
      return;
    }
#if ANABRANCH_OWN_PAGES
    munmap(data_, size_);
#else
    std::free(data_);
#endif
  }

  void* data_ = nullptr;
  std::size_t size_ = 0;
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

  // As a stack of values.
  T& back() { return data_[size_ - 1]; }
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

  void reserve(std::size_t count) { memory_.reserve(count * words_); }
  void cut(std::size_t size) {
    size_ = size;
    memory_.cut(size * words_);
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
