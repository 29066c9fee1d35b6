// SPDX-License-Identifier: MIT
// Which vertices of a cell are on each of its facets?
//
// A bit for each vertex, found in one pass over the sets of facets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cells/facet_set.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

class FacetMembers {
 public:
  // Finds the vertices of all facets of a cell.
  template <class Cell>
  void find(const Cell& cell) {
    words_ = std::size_t(cell.count + 63) / 64;
    if (masks_.size() < words_ * most_facets) masks_.resize(words_ * most_facets);
    const int facets = end_of(cell.facets);
    for (std::size_t k = 0; k < words_; ++k) {
      std::uint64_t* masks = masks_.data() + k * most_facets;
      for (int f = 0; f < facets; ++f) masks[f] = 0;
      std::uint64_t bit = 1;
      const int begin = int(64 * k);
      for (int v = begin, end = std::min(begin + 64, cell.count); v < end; ++v, bit <<= 1) for_each_facet(cell.sets[v], [&](int f) { masks[f] |= bit; });
    }
  }

  // Calls work(v) for each vertex on a facet, in order.
  template <class Work>
  void for_each(int facet, Work work) const {
    for (std::size_t k = 0; k < words_; ++k)
      for (std::uint64_t word = masks_[k * most_facets + std::size_t(facet)]; word != 0; word &= word - 1) work(int(64 * k) + __builtin_ctzll(word));
  }

  std::size_t count(int facet) const {
    std::size_t count = 0;
    for (std::size_t k = 0; k < words_; ++k) count += std::size_t(__builtin_popcountll(masks_[k * most_facets + std::size_t(facet)]));
    return count;
  }

 private:
  std::size_t words_ = 1;  // of a mask
  std::vector<std::uint64_t> masks_;  // [words_, most_facets]
};

}  // namespace REGIONS_TARGET
}  // namespace regions
