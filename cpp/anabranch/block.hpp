// Memory that grows, for the columns of graphs.
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
#include <mutex>
#include <new>
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

}  // namespace anabranch
