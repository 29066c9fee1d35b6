// SPDX-License-Identifier: MIT
// What does an enumeration leave behind?
//
// A polyhedral complex in flat arrays: vertices, regions as runs of corners, and for each corner the facet that starts
// there, with the corner on its other side. Vertices that turned out to be the same are united, not copied.
#pragma once

#include <cstdint>
#include <vector>

#include "exact.hpp"

namespace regions {

struct Corner {
  std::int64_t vertex;
  std::int64_t region;
  Boundary boundary;       // of the facet that starts at the corner (dimension 1: of the corner)
  std::int64_t twin;       // the corner whose facet is the same one from the other side, or -1
  std::int64_t following;  // the next corner in its chain along a cell's edge, or -1
};

// Flat; see docs/results.md for what Python makes of it.
struct Collected {
  int dimension = 0;
  std::vector<double> positions;           // [vertices, dimension], infinite where at infinity
  std::vector<double> errors;              // [vertices]
  std::vector<std::int64_t> offsets{0};    // [regions + 1] first corner of each region
  std::vector<Corner> corners;
  std::vector<std::int64_t> same;          // [vertices] union-find
  std::vector<std::uint8_t> patterns;      // [regions, pattern_bytes]

  std::int64_t representative(std::int64_t vertex) {
    while (same[std::size_t(vertex)] != vertex) {
      same[std::size_t(vertex)] = same[std::size_t(same[std::size_t(vertex)])];
      vertex = same[std::size_t(vertex)];
    }
    return vertex;
  }

  // The one that is known best stands for both.
  void unite(std::int64_t left, std::int64_t right) {
    left = representative(left);
    right = representative(right);
    if (left == right) return;
    const bool keep_left = errors[std::size_t(left)] < errors[std::size_t(right)] ||
                           (errors[std::size_t(left)] == errors[std::size_t(right)] && left < right);
    same[std::size_t(keep_left ? right : left)] = keep_left ? left : right;
  }

  // The vertex at which the facet that starts at this corner ends.
  std::int64_t facet_end(std::int64_t corner) const {
    const std::size_t region = std::size_t(corners[std::size_t(corner)].region);
    const bool last = corner + 1 == offsets[region + 1];
    return corners[std::size_t(last ? offsets[region] : corner + 1)].vertex;
  }
};

// The facets along one edge of a cell, counter-clockwise; linked through Corner::following.
struct Chain {
  std::int64_t first = -1;
  std::int64_t last = -1;
};

}  // namespace regions
