// SPDX-License-Identifier: MIT
#include "memory/blocks.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#include "memory/poison.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace regions {

namespace {

constexpr std::size_t cache_line = 64;

OwnedMemory allocated(std::size_t bytes) {
  void* memory = std::aligned_alloc(cache_line, (bytes + cache_line - 1) / cache_line * cache_line);
  if (memory == nullptr) throw std::bad_alloc();
  return {memory, bytes};
}

OwnedMemory reallocated(OwnedMemory old, std::size_t bytes) {
  void* memory = std::realloc(old.start, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return {memory, bytes};
}

#ifdef __linux__

constexpr std::size_t whole_pages = std::size_t{1} << 16;  // a multiple of the system's pages

std::size_t in_whole_pages(std::size_t bytes) { return (bytes + whole_pages - 1) / whole_pages * whole_pages; }
std::size_t behind_large_page(const char* address) { return reinterpret_cast<std::uintptr_t>(address) % large_page; }
char* start_of(OwnedMemory block) { return static_cast<char*>(block.start); }
char* end_of(OwnedMemory block) { return start_of(block) + block.bytes; }

void unmap(OwnedMemory block) noexcept {
  if (block.bytes == 0) return;
  unpoison(block.start, block.bytes);
  munmap(block.start, block.bytes);
}

// Nobody waits for the mutex: a process that was forked while another thread had it would wait forever.
class KeptBlocks {
 public:
  // A part of the smallest kept block that has room for it; without memory if there is none. Large pages are taken from the front
  // of a block, and small pages from its end, so that few large pages are divided.
  OwnedMemory take(std::size_t bytes) noexcept {
    const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (!lock) return {};
    bytes = in_whole_pages(bytes);
    int best = -1;
    for (int i = 0; i < count_; ++i)
      if (end_of(blocks_[i]) >= place_in(blocks_[i], bytes) + bytes && (best < 0 || blocks_[i].bytes < blocks_[best].bytes)) best = i;
    if (best < 0) return {};
    const OwnedMemory block = blocks_[best];
    char* const start = place_in(block, bytes);
    remove(best);
    add({block.start, std::size_t(start - start_of(block))});
    add({start + bytes, std::size_t(end_of(block) - start) - bytes});
    unpoison(start, bytes);
    return {start, bytes};
  }

  void keep(OwnedMemory block) noexcept {
    const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (!lock) return unmap(block);
    if (const std::size_t room = limit_ - std::min(bytes_, limit_); block.bytes > room) {
      unmap({start_of(block) + room, block.bytes - room});
      block.bytes = room;
    }
    poison(block.start, block.bytes);
    for (int i = count_; i-- > 0;)
      if (end_of(blocks_[i]) == block.start || end_of(block) == blocks_[i].start) {
        block = {std::min(start_of(block), start_of(blocks_[i])), block.bytes + blocks_[i].bytes};
        remove(i);
      }
    add(block);
  }

  // Unmaps this much, so that kept blocks do not add to the largest amount of memory in use; a small amount may stay.
  void drop(std::size_t bytes) noexcept {
    const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (lock) unmap_down_to(small_amount, in_whole_pages(bytes));
  }

  void limit(std::size_t bytes) noexcept {
    const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (!lock) return;
    limit_ = std::clamp(in_whole_pages(bytes), least_kept, most_kept);
    if (bytes_ > limit_) unmap_down_to(limit_, bytes_ - limit_);
  }

 private:
  static constexpr int most_blocks = 64;
  static constexpr std::size_t small_amount = least_kept / 16;

  static char* place_in(OwnedMemory block, std::size_t bytes) {
    if (bytes < large_page) return std::max(end_of(block) - bytes, start_of(block));
    return start_of(block) + (large_page - behind_large_page(start_of(block))) % large_page;
  }

  // Unmaps so many bytes, unless no more than the least amount are left.
  void unmap_down_to(std::size_t least, std::size_t bytes) noexcept {
    while (bytes > 0 && bytes_ > least) {
      const OwnedMemory block = blocks_[count_ - 1];
      const std::size_t dropped = std::min(bytes, block.bytes);
      remove(count_ - 1);
      add({block.start, block.bytes - dropped});
      unmap({end_of(block) - dropped, dropped});
      bytes -= dropped;
    }
  }

  void add(OwnedMemory block) noexcept {
    if (block.bytes == 0) return;
    if (count_ == most_blocks) return unmap(block);
    blocks_[count_++] = block;
    bytes_ += block.bytes;
  }

  void remove(int block) noexcept {
    bytes_ -= blocks_[block].bytes;
    blocks_[block] = blocks_[--count_];
  }

  std::mutex mutex_;
  OwnedMemory blocks_[most_blocks];
  int count_ = 0;
  std::size_t bytes_ = 0;  // of all blocks
  std::size_t limit_ = least_kept;
};

KeptBlocks kept_blocks;

// Fresh pages. They begin at a multiple of the size of a large page, so that no two mappings share the room of a large page.
OwnedMemory mapped(std::size_t bytes) {
  const std::size_t whole = in_whole_pages(bytes);
  void* room = mmap(nullptr, whole + large_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) throw std::bad_alloc();
  char* start = static_cast<char*>(room);
  const std::size_t before = (large_page - behind_large_page(start)) % large_page;
  if (before > 0) munmap(start, before);
  start += before;
  munmap(start + whole, large_page - before);
  if (whole >= large_page) madvise(start, whole, MADV_HUGEPAGE);  // harmless if it is refused
  return {start, whole};
}

// Moves pages to a place that was mapped for them. A block may consist of several mappings, and only pages of one mapping can be
// moved together.
void move_pages(char* from, char* to, std::size_t bytes) {
  for (char* const end = from + bytes; from < end;) {
    const std::size_t piece = std::min(large_page - behind_large_page(from), std::size_t(end - from));
    if (mremap(from, piece, piece, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED) {
      if (mmap(to, piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) throw std::bad_alloc();
      std::memcpy(to, from, piece);
      munmap(from, piece);
    }
    from += piece;
    to += piece;
  }
}

// Replaces fresh large pages from this place on by kept ones, as far as there are any. Returns where fresh ones begin.
std::size_t use_kept_pages(OwnedMemory block, std::size_t from) {
  for (; from < block.bytes; from += large_page) {
    const OwnedMemory kept = kept_blocks.take(large_page);
    if (kept.start == nullptr) break;
    move_pages(start_of(kept), start_of(block) + from, large_page);
  }
  kept_blocks.drop(block.bytes - from);
  return from;
}

std::size_t in_large_pages(std::size_t bytes) { return (bytes + large_page - 1) / large_page * large_page; }

#endif

}  // namespace

#ifdef __linux__

OwnedMemory new_block(std::size_t bytes) {
  if (bytes < mapped_from) return allocated(bytes);
  OwnedMemory block = kept_blocks.take(bytes);
  if (block.start != nullptr) return block;
  if (bytes < large_page) {
    kept_blocks.drop(bytes);
    return mapped(bytes);
  }
  block = mapped(in_large_pages(bytes));
  const std::size_t whole = in_whole_pages(bytes);
  if (use_kept_pages(block, 0) < block.bytes && whole < block.bytes) {
    munmap(start_of(block) + whole, block.bytes - whole);
    block.bytes = whole;
  }
  return block;
}

OwnedMemory grown(OwnedMemory old, std::size_t bytes) {
  if (bytes < mapped_from) return reallocated(old, bytes);
  OwnedMemory block;
  if (old.bytes < large_page) block = kept_blocks.take(in_large_pages(bytes));  // it may go on growing
  if (block.start == nullptr && bytes < large_page) block = kept_blocks.take(bytes);
  if (block.start == nullptr) {
    const std::size_t moved = old.bytes < mapped_from ? 0 : old.bytes;
    block = mapped(bytes < large_page ? bytes : in_large_pages(bytes));
    if (moved > 0) move_pages(start_of(old), start_of(block), moved);
    if (old.bytes >= large_page)
      use_kept_pages(block, moved);
    else
      kept_blocks.drop(block.bytes - moved);
    if (moved > 0) return block;
  }
  if (old.bytes > 0) std::memcpy(block.start, old.start, old.bytes);
  release(old);
  return block;
}

OwnedMemory shortened(OwnedMemory block, std::size_t bytes) {
  if (block.bytes < mapped_from) return block;
  const std::size_t whole = std::max(in_whole_pages(bytes), mapped_from);
  if (whole < block.bytes) kept_blocks.keep({start_of(block) + whole, block.bytes - whole});
  return {block.start, std::min(whole, block.bytes)};
}

void release(OwnedMemory block) noexcept {
  if (block.bytes < mapped_from)
    std::free(block.start);
  else
    kept_blocks.keep(block);
}

void expect_result(std::size_t bytes) noexcept { kept_blocks.limit(bytes); }

#else

OwnedMemory new_block(std::size_t bytes) { return allocated(bytes); }
OwnedMemory grown(OwnedMemory old, std::size_t bytes) { return reallocated(old, bytes); }
OwnedMemory shortened(OwnedMemory block, std::size_t) { return block; }
void release(OwnedMemory block) noexcept { std::free(block.start); }
void expect_result(std::size_t) noexcept {}

#endif

}  // namespace regions
