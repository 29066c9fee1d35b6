// SPDX-License-Identifier: MIT
// How does a large array grow?
//
// By moving pages, not bytes: std::vector would copy every byte at each doubling, and so does realloc once malloc has
// decided to keep large blocks in its heap. So large blocks are mapped where the system can move mappings, in large
// pages if it has them: copies and the faults of small pages took a fifth of enumerating. A block begins at a multiple of
// the size of a large page, also after it was moved: otherwise its ends are in small pages, and moving splits large ones.
// Only for types that may be moved byte by byte.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace regions {

constexpr std::size_t large_page = std::size_t{1} << 21;
constexpr std::size_t mapped_from = large_page;     // malloc can reuse smaller ones, and may copy them
constexpr std::size_t whole_pages = std::size_t{1} << 16;  // a multiple of the system's pages

// A block of memory with `bytes` bytes, beginning with the bytes of `old`, which is freed; `old_bytes` is 0 if `old` is null.
inline void* resized(void* old, std::size_t old_bytes, std::size_t bytes);
inline void release(void* memory, std::size_t bytes);

#ifdef __linux__
// Maps a block that begins at a multiple of the size of a large page.
inline void* mapped(std::size_t bytes, int protection) {
  const std::size_t whole = (bytes + whole_pages - 1) / whole_pages * whole_pages;
  void* room = mmap(nullptr, whole + large_page, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) throw std::bad_alloc();
  char* start = static_cast<char*>(room);
  const std::size_t before = (large_page - reinterpret_cast<std::uintptr_t>(start) % large_page) % large_page;
  if (before > 0) munmap(start, before);
  munmap(start + before + whole, large_page - before);
  return start + before;
}

inline void* resized(void* old, std::size_t old_bytes, std::size_t bytes) {
  void* memory = nullptr;
  if (bytes < mapped_from) {
    memory = std::realloc(old, bytes);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
  }
  if (old_bytes < mapped_from) {
    memory = mapped(bytes, PROT_READ | PROT_WRITE);
    if (old_bytes > 0) std::memcpy(memory, old, old_bytes);
    std::free(old);
  } else {
    memory = mremap(old, old_bytes, bytes, 0);
    if (memory == MAP_FAILED) {
      void* target = mapped(bytes, PROT_NONE);
      memory = mremap(old, old_bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, target);
      if (memory == MAP_FAILED) {
        munmap(target, bytes);
        throw std::bad_alloc();
      }
    }
  }
  madvise(memory, bytes, MADV_HUGEPAGE);  // harmless if it is refused
  return memory;
}

inline void release(void* memory, std::size_t bytes) {
  if (bytes < mapped_from)
    std::free(memory);
  else
    munmap(memory, bytes);
}
#else
inline void* resized(void* old, std::size_t, std::size_t bytes) {
  void* memory = std::realloc(old, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

inline void release(void* memory, std::size_t) { std::free(memory); }
#endif

// A block that belongs to the caller. `release` frees it.
struct OwnedMemory {
  void* start;
  std::size_t bytes;
};

template <class T>
class GrowingArray {
  static_assert(std::is_trivially_copyable<T>::value, "moved as bytes");

 public:
  GrowingArray() = default;
  GrowingArray(const GrowingArray&) = delete;
  GrowingArray& operator=(const GrowingArray&) = delete;
  ~GrowingArray() { release(memory_, capacity_ * sizeof(T)); }

  std::size_t size() const { return size_; }
  T* data() { return memory_; }
  T& operator[](std::int64_t index) {
    assert(std::size_t(index) < size_);
    return memory_[index];
  }
  const T& operator[](std::int64_t index) const {
    assert(std::size_t(index) < size_);
    return memory_[index];
  }
  T* begin() { return data(); }
  T* end() { return data() + size_; }

  void clear() { size_ = 0; }

  void shrink(std::size_t size) { size_ = size; }

  // Appends uninitialised elements.
  T* extend(std::size_t count) {
    if (capacity_ - size_ < count) grow(count);
    T* added = memory_ + size_;
    size_ += count;
    return added;
  }

  // Gives the memory away, without most of the room behind the elements, and is empty afterwards.
  OwnedMemory give() {
    std::size_t bytes = capacity_ * sizeof(T);
    if (bytes >= mapped_from) {
      const std::size_t pages = (size_ * sizeof(T) + whole_pages - 1) / whole_pages * whole_pages;
      const std::size_t least = pages < mapped_from ? mapped_from : pages;  // a mapping stays one
      if (least < bytes) {
        memory_ = static_cast<T*>(resized(memory_, bytes, least));
        bytes = least;
      }
    }
    const OwnedMemory given{memory_, bytes};
    memory_ = nullptr;
    size_ = capacity_ = 0;
    return given;
  }

 private:
  __attribute__((noinline)) void grow(std::size_t count) {
    std::size_t capacity = capacity_ == 0 ? 1024 : capacity_ * (capacity_ * sizeof(T) < mapped_from ? 4 : 2);
    while (capacity - size_ < count) capacity *= 2;
    memory_ = static_cast<T*>(resized(memory_, capacity_ * sizeof(T), capacity * sizeof(T)));
    capacity_ = capacity;
  }

  T* memory_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;  // a power of two, at least 1024, so that mappings are whole pages
};

}  // namespace regions
