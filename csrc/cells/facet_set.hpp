// SPDX-License-Identifier: MIT
// How is a set of a polytope's facets stored?
//
// A bit for each facet of a cell, in two words: cells can have more than 64 facets.
#pragma once

#include <algorithm>
#include <cstdint>

#include "memory/arena.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

__extension__ typedef unsigned __int128 FacetSet;

constexpr int most_facets = 128;

REGIONS_INLINE int size_of(FacetSet set) {
  return __builtin_popcountll(std::uint64_t(set)) + __builtin_popcountll(std::uint64_t(set >> 64));
}

REGIONS_INLINE int size_of(std::uint64_t set) { return __builtin_popcountll(set); }

// The set is not empty.
REGIONS_INLINE int first_of(FacetSet set) {
  const std::uint64_t low = std::uint64_t(set);
  return low != 0 ? __builtin_ctzll(low) : 64 + __builtin_ctzll(std::uint64_t(set >> 64));
}

// One more than the last one; 0 for the empty set.
REGIONS_INLINE int end_of(FacetSet set) {
  const std::uint64_t high = std::uint64_t(set >> 64);
  if (high != 0) return 128 - __builtin_clzll(high);
  const std::uint64_t low = std::uint64_t(set);
  return low != 0 ? 64 - __builtin_clzll(low) : 0;
}

REGIONS_INLINE FacetSet only(int facet) { return FacetSet{1} << facet; }

// Calls work(facet) for each, in order.
template <class Work>
REGIONS_INLINE void for_each_facet(FacetSet set, Work work) {
  for (int begin = 0; begin < most_facets; begin += 64)
    for (std::uint64_t word = std::uint64_t(set >> begin); word != 0; word &= word - 1) work(begin + __builtin_ctzll(word));
}

// Which vertex has a set of facets: a hash table with open addressing. Memory is the arena's.
class FacetSetTable {
 public:
  FacetSetTable(std::size_t entries, Arena& arena) {
    std::size_t size = 16;
    while (size < 2 * entries) size *= 2;
    last_ = size - 1;
    sets_ = arena.take<FacetSet>(size);
    vertices_ = arena.take<int>(size);
    std::fill_n(sets_, size, FacetSet{0});
  }

  // The vertex of this nonempty set, or -1.
  int find(FacetSet set) const {
    const std::size_t at = place(set);
    return sets_[at] != 0 ? vertices_[at] : -1;
  }

  // The same; if no vertex has the set, this one has it from now on.
  int find_or_put(FacetSet set, int vertex) {
    const std::size_t at = place(set);
    if (sets_[at] != 0) return vertices_[at];
    sets_[at] = set;
    vertices_[at] = vertex;
    return -1;
  }

 private:
  std::size_t place(FacetSet set) const {
    const std::uint64_t mixed = (std::uint64_t(set) ^ std::uint64_t(set >> 64) * 0xC2B2AE3D27D4EB4Fu) * 0x9E3779B97F4A7C15u;
    std::size_t at = std::size_t(mixed >> 20) & last_;
    while (sets_[at] != 0 && sets_[at] != set) at = (at + 1) & last_;
    return at;
  }

  FacetSet* sets_;
  int* vertices_;
  std::size_t last_;
};

}  // namespace REGIONS_TARGET
}  // namespace regions
