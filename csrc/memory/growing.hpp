// SPDX-License-Identifier: MIT
// How does a large array grow?
//
// By moving pages, not bytes (memory/blocks.hpp): std::vector would copy every byte at each doubling, and so does realloc once
// malloc has decided to keep large blocks in its heap.
// Only for types that may be moved byte by byte.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "memory/blocks.hpp"

namespace regions {

template <class T>
class GrowingArray {
  static_assert(std::is_trivially_copyable<T>::value, "moved as bytes");

 public:
  GrowingArray() = default;
  GrowingArray(const GrowingArray&) = delete;
  GrowingArray& operator=(const GrowingArray&) = delete;
  ~GrowingArray() { release(block()); }

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
    const OwnedMemory given = shortened(block(), size_ * sizeof(T));
    memory_ = nullptr;
    size_ = capacity_ = bytes_ = 0;
    return given;
  }

 private:
  OwnedMemory block() const { return {memory_, bytes_}; }

  __attribute__((noinline)) void grow(std::size_t count) {
    const std::size_t more = bytes_ < large_page ? 3 * bytes_ : std::max(bytes_ / 4, large_page);  // then growing is cheap
    const std::size_t bytes = std::max({1024 * sizeof(T), bytes_ + more, (size_ + count) * sizeof(T)});
    const OwnedMemory block = grown(this->block(), bytes);
    memory_ = static_cast<T*>(block.start);
    bytes_ = block.bytes;
    capacity_ = bytes_ / sizeof(T);
  }

  T* memory_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace regions
