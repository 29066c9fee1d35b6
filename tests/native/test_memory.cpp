// SPDX-License-Identifier: MIT
// Does memory stay in place, and is it poisoned when it is freed?
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "memory/arena.hpp"
#include "memory/growing.hpp"

using namespace regions;

TEST_CASE("an arena gives aligned memory that does not move") {
  Arena arena;
  std::vector<std::uint64_t*> taken;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    std::uint64_t* memory = arena.take<std::uint64_t>(1 + i % 100);
    CHECK(reinterpret_cast<std::uintptr_t>(memory) % 64 == 0);
    memory[0] = memory[i % 100] = i;
    taken.push_back(memory);
  }
  for (std::uint64_t i = 0; i < 3000; ++i) CHECK(taken[i][i % 100] == i);
}

TEST_CASE("after a release, the same memory is given out again") {
  Arena arena;
  arena.take<double>(10);
  const Arena::Mark mark = arena.mark();
  double* first = arena.take<double>(100);
  arena.take<double>(1 << 20);  // larger than a block, so it has its own block
  arena.take<double>(1000);
  arena.release(mark);
  CHECK(arena.take<double>(100) == first);
  arena.reset();
  CHECK(arena.take<double>(1) != nullptr);
}

#if defined(__SANITIZE_ADDRESS__)
TEST_CASE("the sanitizer sees what was given back, and the gap behind everything") {
  Arena arena;
  char* kept = arena.take<char>(64);
  const Arena::Mark mark = arena.mark();
  char* released = arena.take<char>(100);
  char* elsewhere = arena.take<char>(1 << 21);
  CHECK_FALSE(__asan_address_is_poisoned(kept + 63));
  CHECK(__asan_address_is_poisoned(kept + 64));
  CHECK(__asan_address_is_poisoned(released + 100));
  CHECK_FALSE(__asan_address_is_poisoned(elsewhere + (1 << 21) - 1));
  arena.release(mark);
  CHECK_FALSE(__asan_address_is_poisoned(kept));
  CHECK(__asan_address_is_poisoned(released));
  CHECK(__asan_address_is_poisoned(elsewhere));
}
#endif

TEST_CASE("a growing array keeps its elements, also where it changes from blocks to mappings") {
  GrowingArray<std::int64_t> array;
  CHECK(array.size() == 0);
  const std::int64_t count = std::int64_t(3 * mapped_from / sizeof(std::int64_t));
  for (std::int64_t next = 0; next < count;) {
    const std::int64_t more = std::min<std::int64_t>(1 + next % 1000, count - next);
    std::int64_t* added = array.extend(std::size_t(more));
    for (std::int64_t i = 0; i < more; ++i) added[i] = next + i;
    next += more;
  }
  CHECK(array.size() == std::size_t(count));
  bool same = true;
  for (std::int64_t i = 0; i < count; ++i) same = same && array[i] == i;
  CHECK(same);
  CHECK(array.extend(0) == array.end());
}

#ifdef __linux__
TEST_CASE("mapped arrays begin at a multiple of the size of a large page, also after they were moved") {
  GrowingArray<std::int64_t> arrays[3];  // in turns, so that none can always grow in place
  bool aligned = true;
  bool same = true;
  for (std::int64_t megabyte = 0; megabyte < 40; ++megabyte)
    for (GrowingArray<std::int64_t>& array : arrays) {
      std::int64_t* added = array.extend(std::size_t{1} << 17);
      *added = megabyte;
      aligned = aligned && (megabyte < 2 || reinterpret_cast<std::uintptr_t>(array.data()) % large_page == 0);
      for (std::int64_t earlier = 0; earlier <= megabyte; ++earlier) same = same && array[earlier << 17] == earlier;
    }
  CHECK(aligned);
  CHECK(same);
}
#endif

TEST_CASE("a growing array gives its memory away, in blocks and in mappings") {
  for (const std::size_t bytes : {std::size_t(0), std::size_t(8), mapped_from / 2, mapped_from, 3 * mapped_from, 5 * mapped_from + 8}) {
    GrowingArray<std::int64_t> array;
    const std::int64_t count = std::int64_t(bytes / sizeof(std::int64_t));
    for (std::int64_t i = 0; i < count; ++i) *array.extend(1) = i;
    const OwnedMemory given = array.give();
    CHECK(array.size() == 0);
    CHECK(given.bytes >= bytes);
    if (bytes > mapped_from) CHECK(given.bytes <= bytes + (1 << 16));
    const std::int64_t* numbers = static_cast<const std::int64_t*>(given.start);
    bool same = true;
    for (std::int64_t i = 0; i < count; ++i) same = same && numbers[i] == i;
    CHECK(same);
    release(given.start, given.bytes);
    *array.extend(1) = 7;
    CHECK(array[0] == 7);
  }
}
