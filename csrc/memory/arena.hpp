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
#include <memory>
#include <new>
#include <utility>
#include <vector>

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

  // Frees everything, and keeps only a moderate amount of memory for the next user.
  void reset() {
    clear();
    std::size_t kept = 0;
    std::size_t total = 0;
    while (kept < blocks_.size() && total + blocks_[kept].size <= most_kept) total += blocks_[kept++].size;
    blocks_.resize(kept);
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
  static constexpr std::size_t most_kept = std::size_t{64} << 20;
  static constexpr std::size_t block_bytes = std::size_t{1} << 20;

  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  struct Block {
    std::unique_ptr<std::byte, Free> memory;
    std::size_t size;
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
    poison(blocks_[block].memory.get() + used, blocks_[block].size - used);
  }

  void enter(std::size_t block) {
    current_ = block;
    base_ = blocks_[block].memory.get();
    size_ = blocks_[block].size;
  }

  // Moves to the next block that is large enough; blocks behind it that are too small are replaced.
  __attribute__((noinline)) void advance(std::size_t bytes) {
    const std::size_t next = blocks_.empty() ? 0 : current_ + 1;
    const std::size_t size = bytes > block_bytes ? bytes : block_bytes;
    if (next < blocks_.size() && blocks_[next].size < size) blocks_.resize(next);
    if (next == blocks_.size()) {
      void* memory = std::aligned_alloc(alignment, size);
      if (memory == nullptr) throw std::bad_alloc();
      blocks_.push_back({std::unique_ptr<std::byte, Free>(static_cast<std::byte*>(memory)), size});
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

// An arena for temporary use. Short runs, such as many segments through one network, would spend their time allocating
// memory, so each thread keeps its last arena. It is taken, not shared, because a progress report may itself count regions.
class BorrowedArena {
 public:
  BorrowedArena() : arena_(spare() ? std::move(spare()) : std::make_unique<Arena>()) {}
  BorrowedArena(const BorrowedArena&) = delete;
  BorrowedArena& operator=(const BorrowedArena&) = delete;
  ~BorrowedArena() {
    arena_->reset();
    spare() = std::move(arena_);
  }
  Arena& operator*() const { return *arena_; }

 private:
  static std::unique_ptr<Arena>& spare() {
    // Aligned for ThreadSanitizer: where a thread's variables begin 16 bytes behind a page, gcc 12's takes these 16 bytes
    // for the header of an older C library, and fails to reserve the size that it reads there.
    alignas(64) thread_local std::unique_ptr<Arena> spare;
    return spare;
  }

  std::unique_ptr<Arena> arena_;
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
