// SPDX-License-Identifier: MIT
// How does a large array grow?
//
// By realloc, which for large blocks moves pages and copies nothing; std::vector would copy every byte at each
// doubling. Only for types that may be moved byte by byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace regions {

template <class T>
class GrowingArray {
  static_assert(std::is_trivially_copyable<T>::value, "realloc moves bytes");

 public:
  std::size_t size() const { return size_; }
  T* data() { return memory_.get(); }
  T& operator[](std::int64_t index) { return memory_.get()[index]; }
  const T& operator[](std::int64_t index) const { return memory_.get()[index]; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }

  // Room for more elements at the end, to be filled.
  T* extend(std::size_t count) {
    if (capacity_ - size_ < count) grow(count);
    T* added = memory_.get() + size_;
    size_ += count;
    return added;
  }

 private:
  static constexpr std::size_t moved_by_bytes = std::size_t{1} << 25;  // smaller blocks may be copied after all

  struct Free {
    void operator()(T* memory) const { std::free(memory); }
  };

  __attribute__((noinline)) void grow(std::size_t count) {
    std::size_t capacity = capacity_ == 0 ? 1024 : capacity_ * (capacity_ * sizeof(T) < moved_by_bytes ? 4 : 2);
    while (capacity - size_ < count) capacity *= 2;
    T* moved = static_cast<T*>(std::realloc(memory_.get(), capacity * sizeof(T)));
    if (moved == nullptr) throw std::bad_alloc();
    static_cast<void>(memory_.release());  // realloc has freed it
    memory_.reset(moved);
    capacity_ = capacity;
  }

  std::unique_ptr<T, Free> memory_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace regions
