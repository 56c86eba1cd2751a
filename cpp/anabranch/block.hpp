// Memory that grows, for the columns of graphs.
#pragma once

// Builds may say otherwise; tests that let allocations fail do.
#ifndef ANABRANCH_OWN_PAGES
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)  // which watches the edges of malloc's blocks only
#define ANABRANCH_OWN_PAGES 1
#else
#define ANABRANCH_OWN_PAGES 0
#endif
#endif
#ifndef ANABRANCH_KEPT_BYTES
#define ANABRANCH_KEPT_BYTES (std::size_t{16} << 20)
#endif

#if ANABRANCH_OWN_PAGES
#include <sys/mman.h>
#endif

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#include "anabranch/process_lock.hpp"

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
      const std::lock_guard<std::mutex> guard(ProcessLock::mutex());
      Freed*& first = of(size);
      if (!first) return carve(size);
      Freed* const block = first;
      first = block->next;
      if (!is_carved(block)) total_ -= size;
      return block;
    }

    // Allocates nothing: blocks are freed where no memory is left, too.
    bool give(void* block, std::size_t size) {
      const std::lock_guard<std::mutex> guard(ProcessLock::mutex());
      if (!is_carved(block)) {
        if (total_ + size > kMost) return false;
        total_ += size;
      }
      of(size) = new (block) Freed{of(size)};
      return true;
    }

   private:
    static constexpr std::size_t kMost = ANABRANCH_KEPT_BYTES;
    static constexpr std::size_t kPage = std::size_t{2} << 20, kChunk = 2 * kPage, kChunks = 16;

    struct Freed {
      Freed* next;  // of its size
    };

    Freed*& of(std::size_t size) { return blocks_[static_cast<std::size_t>(std::countr_zero(size))]; }

    // Cut a block out of the last chunk, or of a new one; nullptr where there are enough of them.
    void* carve(std::size_t size) {
#if ANABRANCH_OWN_PAGES
      if (count_ == 0 || used_ + size > kChunk) {
        if (count_ == kChunks) return nullptr;
        void* memory = mmap(nullptr, kChunk + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) return nullptr;
        const auto address = reinterpret_cast<std::uintptr_t>(memory);
        auto* chunk = reinterpret_cast<std::byte*>((address + kPage - 1) / kPage * kPage);
        madvise(chunk, kChunk, MADV_HUGEPAGE);  // if the system does not want to, pages are small
        chunks_[count_++] = chunk;
        used_ = 0;
      }
      void* block = chunks_[count_ - 1] + used_;
      used_ += size;
      return block;
#else
      static_cast<void>(size);
      return nullptr;
#endif
    }

    bool is_carved(const void* block) const {
      for (std::size_t i = 0; i < count_; ++i)
        if (block >= chunks_[i] && block < chunks_[i] + kChunk) return true;
      return false;
    }

    std::array<Freed*, 64> blocks_{};
    std::array<std::byte*, kChunks> chunks_{};
    std::size_t count_ = 0;  // of chunks
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

}  // namespace anabranch
