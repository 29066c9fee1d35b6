// SPDX-License-Identifier: MIT
// Where does large memory come from, and where does it go?
//
// From malloc while it is small. Larger blocks are mapped where the system can move mappings, in large pages if it has them: a
// block that grows moves pages, not bytes. A block of large pages begins at a multiple of their size, because moving it would
// split them otherwise. Freed blocks are kept for the next run: the system would have to clear their pages again, and to map them
// one by one, which took a quarter of enumerating 16,000 regions, and half of enumerating a million. At most as much is kept as the
// last large result took, because the next one is likely to be as large; but at least `least_kept`, and at most `most_kept`.
// Invariant: two kept blocks neither overlap nor touch.
#pragma once

#include <cstddef>

namespace regions {

constexpr std::size_t large_page = std::size_t{1} << 21;
constexpr std::size_t mapped_from = std::size_t{1} << 17;
constexpr std::size_t least_kept = std::size_t{64} << 20;  // bytes, in all blocks
constexpr std::size_t most_kept = std::size_t{1} << 30;

// A block of memory that belongs to the caller.
struct OwnedMemory {
  void* start = nullptr;
  std::size_t bytes = 0;
};

// A block with at least `bytes` bytes, aligned to a cache line.
OwnedMemory new_block(std::size_t bytes);

// A larger block with at least `bytes` bytes, whose first bytes are the bytes of `old`, which is released.
OwnedMemory grown(OwnedMemory old, std::size_t bytes);

// The block without most of the room behind its first `bytes` bytes.
OwnedMemory shortened(OwnedMemory block, std::size_t bytes);

void release(OwnedMemory block) noexcept;

// Says how large the last result is.
void expect_result(std::size_t bytes) noexcept;

}  // namespace regions
