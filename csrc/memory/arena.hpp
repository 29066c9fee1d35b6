// SPDX-License-Identifier: MIT
// How is memory for the nodes of the recursion allocated?
//
// In a stack of large blocks: memory is allocated by moving a pointer and freed by moving it back to a mark, as
// a depth-first recursion uses memory. Objects in an arena have no destructors. Pointers stay valid until
// their mark is released, because blocks never move. Under the address sanitizer, freed memory is poisoned.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

#include "memory/blocks.hpp"
#include "memory/poison.hpp"

namespace regions {

class Arena {
 public:
  struct Mark {
    std::size_t block;
    std::size_t used;
  };

  template <class T>
  T* take(std::size_t count) {
    return static_cast<T*>(take_bytes(count * sizeof(T)));
  }

  template <class T>
  T* copy(const T* source, std::size_t count) {
    T* result = take<T>(count);
    std::copy_n(source, count, result);
    return result;
  }

  Mark mark() const { return {current_, used_}; }

  // Frees everything, and keeps all blocks.
  void clear() {
    if (!blocks_.empty()) release({0, 0});
  }

  // Frees everything, and keeps only a moderate amount of memory.
  void reset() {
    clear();
    std::size_t kept = 0;
    std::size_t total = 0;
    while (kept < blocks_.size() && total + blocks_[kept].size() <= least_kept) total += blocks_[kept++].size();
    blocks_.erase(blocks_.begin() + std::ptrdiff_t(kept), blocks_.end());
    used_ = 0;
    current_ = 0;
    base_ = nullptr;
    size_ = 0;
    if (kept > 0) enter(0);
  }

  void release(Mark mark) {
    if (poisons)
      for (std::size_t block = mark.block; block <= current_; ++block)
        poison_from(block, block == mark.block ? mark.used : 0);
    if (mark.block != current_) enter(mark.block);
    used_ = mark.used;
  }

 private:
  static constexpr std::size_t alignment = 64;
  static constexpr std::size_t gap = poisons ? alignment : 0;
  static constexpr std::size_t block_bytes = std::size_t{1} << 20;

  class Block {
   public:
    explicit Block(std::size_t size) : memory_(new_block(size)) {}
    Block(Block&& other) noexcept : memory_(std::exchange(other.memory_, {})) {}
    Block& operator=(Block&& other) noexcept {
      std::swap(memory_, other.memory_);
      return *this;
    }
    ~Block() { regions::release(memory_); }
    std::byte* start() const { return static_cast<std::byte*>(memory_.start); }
    std::size_t size() const { return memory_.bytes; }

   private:
    OwnedMemory memory_;
  };

  void* take_bytes(std::size_t bytes) {
    const std::size_t room = (bytes + alignment - 1) / alignment * alignment + gap;
    if (used_ + room > size_) advance(room);
    void* memory = base_ + used_;
    used_ += room;
    unpoison(memory, bytes);
    return memory;
  }

  void poison_from(std::size_t block, std::size_t used) {
    poison(blocks_[block].start() + used, blocks_[block].size() - used);
  }

  void enter(std::size_t block) {
    current_ = block;
    base_ = blocks_[block].start();
    size_ = blocks_[block].size();
  }

  // Moves to the next block that is large enough; blocks behind it that are too small are replaced.
  __attribute__((noinline)) void advance(std::size_t bytes) {
    const std::size_t next = blocks_.empty() ? 0 : current_ + 1;
    const std::size_t size = bytes > block_bytes ? bytes : block_bytes;
    if (next < blocks_.size() && blocks_[next].size() < size) blocks_.erase(blocks_.begin() + std::ptrdiff_t(next), blocks_.end());
    if (next == blocks_.size()) {
      blocks_.emplace_back(size);
      poison_from(next, 0);
    }
    enter(next);
    used_ = 0;
  }

  std::vector<Block> blocks_;
  std::size_t current_ = 0;
  std::byte* base_ = nullptr;  // of the current block
  std::size_t size_ = 0;
  std::size_t used_ = 0;
};

// For std::vector of types that contain vectors of lanes: std::allocator did not align them with every target pragma.
template <class T>
struct AlignedAllocator {
  using value_type = T;
  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>&) {}
  T* allocate(std::size_t count) {
    void* memory = std::aligned_alloc(64, (count * sizeof(T) + 63) / 64 * 64);
    if (memory == nullptr) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t) { std::free(memory); }
  friend bool operator==(const AlignedAllocator&, const AlignedAllocator&) { return true; }
  friend bool operator!=(const AlignedAllocator&, const AlignedAllocator&) { return false; }
};

}  // namespace regions
