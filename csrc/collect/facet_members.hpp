// SPDX-License-Identifier: MIT
// Which vertices of a cell are on each of its facets?
//
// A bit for each vertex, and the sum of the vertices' numbers, found in one pass over the sets of facets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cells/facet_set.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

class FacetMembers {
 public:
  // Of the facets of the cell, given the numbers of its vertices.
  template <class Cell>
  void find(const Cell& cell, const std::int64_t* numbers) {
    words_ = std::size_t(cell.count + 63) / 64;
    if (masks_.size() < words_ * most_facets) masks_.resize(words_ * most_facets);
    for_each_facet(cell.facets, [&](int f) {
      std::fill_n(masks_.data() + std::size_t(f) * words_, words_, std::uint64_t{0});
      sums_[f] = 0;
    });
    for (int v = 0; v < cell.count; ++v) {
      std::uint64_t* masks = masks_.data() + v / 64;
      const std::uint64_t bit = std::uint64_t{1} << (v & 63);
      for_each_facet(cell.sets[v], [&](int f) {
        masks[std::size_t(f) * words_] |= bit;
        sums_[f] += numbers[v];
      });
    }
  }

  // Calls work(v) for each vertex on a facet, in order.
  template <class Work>
  void for_each(int facet, Work work) const {
    for (std::size_t k = 0; k < words_; ++k)
      for (std::uint64_t word = masks_[std::size_t(facet) * words_ + k]; word != 0; word &= word - 1) work(int(64 * k) + __builtin_ctzll(word));
  }

  std::size_t count(int facet) const {
    std::size_t count = 0;
    for (std::size_t k = 0; k < words_; ++k) count += std::size_t(__builtin_popcountll(masks_[std::size_t(facet) * words_ + k]));
    return count;
  }

  std::int64_t sum(int facet) const { return sums_[facet]; }

 private:
  std::size_t words_ = 1;  // of a mask
  std::vector<std::uint64_t> masks_;  // [most_facets, words_]
  std::int64_t sums_[most_facets];
};

}  // namespace REGIONS_TARGET
}  // namespace regions
