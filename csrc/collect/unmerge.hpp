// SPDX-License-Identifier: MIT
// What are the patterns of a network's regions, if they were found in a smaller network that has merged neurons?
//
// The smaller network has one of several kinks whose forms are multiples of each other. The bit of a kink is then the bit of the kink that
// it was merged into, if it has a positive multiple of the form. If it has a negative multiple, it is the opposite bit, unless the form
// is zero all over the region: then both bits are 0. Facets are named by the first of the kinks that were merged.
// Cost: for each region a comparison with the one before it, and a few operations for each kink in which they differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace regions {

class Unmerging {
 public:
  Unmerging() = default;
  // For each kink: the kink of the smaller network that it was merged into, -1 if its form is constant, or -2 if it is zero; and
  // whether its form is a negative multiple of that kink's, or a positive constant.
  Unmerging(const std::int64_t* kinks, const std::uint8_t* opposite, std::int64_t count, std::int64_t merged_count);

  // Whether the patterns of the smaller network must be followed by the kinks that are zero all over the region (Network::keeps_zeros).
  bool needs_zeros() const { return needs_zeros_; }

  // Writes the patterns of so many regions.
  void write_patterns(const std::uint8_t* merged, std::int64_t regions, std::uint8_t* patterns) const;

  // Counts how often another kink is zero, by its name, on a facet of a region, or in a region. `facets` has the facets of all
  // regions, and `kinks` their names in the smaller network.
  std::int64_t zeros(std::int64_t regions, const std::int64_t* facets, std::int64_t count, const std::int64_t* kinks) const {
    std::int64_t zeros = regions * zero_everywhere_;
    for (std::int64_t i = 0; i < count; ++i)
      if (const std::int64_t kink = kinks[facets[i]]; kink >= 0) zeros += others_[std::size_t(kink)];
    return zeros;
  }

  // Replaces kinks of the smaller network, and leaves edges of the domain.
  void rename(std::int64_t* kinks, std::int64_t count) const {
    for (std::int64_t i = 0; i < count; ++i)
      if (kinks[i] >= 0) kinks[i] = first_[std::size_t(kinks[i])];
  }

 private:
  struct Change {
    std::size_t byte;
    std::uint8_t bit;
  };

  bool needs_zeros_ = false;
  std::int64_t zero_everywhere_ = 0;  // number of kinks
  std::size_t merged_bytes_ = 0;      // of a region, with the kinks that are zero if they are needed
  std::vector<std::int64_t> first_;   // of the kinks that were merged into each
  std::vector<std::int64_t> others_;  // number of these kinks, less one
  std::vector<std::size_t> starts_;   // [bits of a region + 1]: where its changes begin
  std::vector<Change> changes_;       // of the pattern, with a bit
  std::vector<std::uint8_t> nothing_; // the pattern of a region whose bits are all 0
};

}  // namespace regions
