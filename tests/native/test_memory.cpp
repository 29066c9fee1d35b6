// SPDX-License-Identifier: MIT
// Does memory stay in place, and is it poisoned when it is freed?
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "memory/arena.hpp"
#include "memory/blocks.hpp"
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
  const std::int64_t count = std::int64_t(3 * large_page / sizeof(std::int64_t));
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
  for (const std::size_t bytes : {std::size_t(0), std::size_t(8), mapped_from / 2, mapped_from, 3 * mapped_from, large_page, 5 * large_page + 8}) {
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
    release(given);
    *array.extend(1) = 7;
    CHECK(array[0] == 7);
  }
}

#ifdef __linux__
TEST_CASE("as much memory is kept as the last result took") {
  constexpr std::size_t large = 2 * least_kept;
  const auto kept = [&] {  // whether the end of a large block that was written and freed is used again
    OwnedMemory block = new_block(large);
    std::memset(block.start, 1, block.bytes);
    release(block);
    block = new_block(large);
    const bool found = static_cast<char*>(block.start)[large - large_page] == 1;
    release(block);
    return found;
  };
  CHECK(!kept());
  expect_result(large + least_kept);  // other blocks are kept, too
  CHECK(kept());
  expect_result(0);
  CHECK(!kept());
}

TEST_CASE("memory that was freed is used again, and poisoned before that") {
  const OwnedMemory block = new_block(6 * large_page);
  std::memset(block.start, 1, block.bytes);
  release(block);
#if defined(__SANITIZE_ADDRESS__)
  CHECK(__asan_address_is_poisoned(block.start));
#endif
  const OwnedMemory again = new_block(6 * large_page);
  const char* bytes = static_cast<char*>(again.start);
  CHECK(std::count(bytes, bytes + again.bytes, 0) < std::ptrdiff_t(again.bytes));  // fresh pages are zero
  release(again);
}
#endif

// Takes, grows, shortens and frees blocks in random order. Returns whether each kept what was written into it.
static bool keeps_what_is_written(unsigned seed) {
  struct Written {
    OwnedMemory memory;
    std::size_t bytes;
    std::uint64_t value;
  };
  const auto at = [](const Written& block, std::size_t place) -> std::uint64_t& {
    return static_cast<std::uint64_t*>(block.memory.start)[place / sizeof(std::uint64_t)];
  };
  constexpr std::size_t step = 4096;  // each page has the block's value, and the last word
  const auto write = [&](Written& block, std::size_t from) {
    for (std::size_t place = from; place + 8 <= block.bytes; place += step) at(block, place) = block.value;
    at(block, block.bytes - 8) = block.value;
  };
  std::mt19937_64 random(seed);
  const auto size = [&] { return std::size_t{8} << random() % 20 << random() % 4; };  // up to 32 megabytes
  std::vector<Written> blocks;
  bool same = true;
  for (int turn = 0; turn < 3000; ++turn) {
    if (blocks.size() < 20 && random() % 2 == 0) {
      const std::size_t bytes = size();
      Written block{random() % 2 == 0 ? new_block(bytes) : grown({}, bytes), bytes, random()};
      same = same && block.memory.bytes >= bytes;
      write(block, 0);
      blocks.push_back(block);
      continue;
    }
    if (blocks.empty()) continue;
    Written& block = blocks[random() % blocks.size()];
    for (std::size_t place = 0; place + 8 <= block.bytes; place += step) same = same && at(block, place) == block.value;
    same = same && at(block, block.bytes - 8) == block.value;
    const std::uint64_t what = random() % 3;
    if (what == 0 && block.memory.bytes < 8 * large_page) {
      block.memory = grown(block.memory, block.memory.bytes + size());
      at(block, block.bytes - 8) = block.value;
      block.bytes = block.memory.bytes / 8 * 8;
      write(block, 0);
    } else if (what == 1 && block.bytes >= 16) {
      block.bytes = block.bytes / 16 * 8;
      block.memory = shortened(block.memory, block.bytes);
      write(block, 0);
    } else {
      release(block.memory);
      std::swap(block, blocks.back());
      blocks.pop_back();
    }
  }
  for (const Written& block : blocks) release(block.memory);
  return same;
}

TEST_CASE("no two blocks share memory, also in several threads") {
  CHECK(keeps_what_is_written(1));
  bool same[2] = {};
  std::thread other([&] { same[0] = keeps_what_is_written(2); });
  same[1] = keeps_what_is_written(3);
  other.join();
  CHECK(same[0]);
  CHECK(same[1]);
}
