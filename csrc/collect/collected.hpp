// SPDX-License-Identifier: MIT
// What does an enumeration leave behind?
//
// A polyhedral complex: vertices, regions as runs of corners, and for each corner the facet that starts there, with the
// corner on its other side. Vertices that turned out to be the same are united, not copied.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "exact/exact.hpp"
#include "memory/growing.hpp"

namespace regions {

struct CollectedVertex {
  double position[2];  // infinite where at infinity; in dimension one only the first counts
  double error;
  std::int64_t same;  // a vertex that stands for this one; of one that stands for itself, -1, or -2 - its number
};

struct Corner {
  static constexpr std::int64_t last = std::numeric_limits<std::int64_t>::min();

  std::int64_t vertex;
  std::int64_t end;   // the vertex at which the facet that starts here ends
  Boundary boundary;  // of that facet (dimension 1: of the corner)
  std::int64_t link;  // the facet's corner on its other side; until that is known, ~(the next in its chain), or `last`

  std::int64_t twin() const { return link >= 0 ? link : -1; }
  std::int64_t following() const { return link == last ? -1 : ~link; }
};

struct Collected {
  int dimension = 0;
  std::size_t pattern_bytes = 0;
  GrowingArray<CollectedVertex> vertices;
  GrowingArray<Corner> corners;
  GrowingArray<std::int64_t> ends;       // [regions] where each region's corners end
  GrowingArray<std::uint8_t> patterns;   // [regions, pattern_bytes]

  std::int64_t representative(std::int64_t vertex) {
    while (vertices[vertex].same >= 0) {
      const std::int64_t next = vertices[vertex].same;
      if (vertices[next].same >= 0) vertices[vertex].same = vertices[next].same;
      vertex = next;
    }
    return vertex;
  }

  // The one that is known best stands for both.
  void unite(std::int64_t left, std::int64_t right) {
    left = representative(left);
    right = representative(right);
    if (left == right) return;
    const double error = vertices[left].error;
    const double other = vertices[right].error;
    const bool keep_left = error < other || (error == other && left < right);
    vertices[keep_left ? right : left].same = keep_left ? left : right;
  }
};

// The facets along one edge of a cell, counter-clockwise; linked through Corner::following.
struct Chain {
  std::int64_t first = -1;
  std::int64_t last = -1;
};

}  // namespace regions
