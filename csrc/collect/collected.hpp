// SPDX-License-Identifier: MIT
// What does an enumeration leave behind?
//
// A polyhedral complex: vertices, regions as runs of corners, and their facets, with what is on the other side of each.
// Vertices that turned out to be the same are united, not copied.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "exact/exact.hpp"
#include "memory/growing.hpp"

namespace regions {

constexpr int most_dimensions = 2;

// More than any thread collects of anything.
constexpr std::int64_t room_of_part = std::int64_t{1} << 40;

struct CollectedVertex {
  static constexpr std::int64_t itself = -1;

  double position[most_dimensions];  // infinite where at infinity; in dimension one only the first counts
  double error;
  std::int64_t same;  // the vertex that stands for this one; or `itself`, below that with its number, or its entry

  // Among those that several parts have (collect/whole.hpp), or below zero.
  std::int64_t entry() const { return -2 - same - room_of_part; }
  void set_entry(std::int64_t entry) { same = -2 - room_of_part - entry; }
  std::int64_t number() const { return -2 - same; }
  void set_number(std::int64_t number) { same = -2 - number; }
};

// A facet, as the region on one side has it.
struct CollectedFacet {
  static constexpr std::int64_t no_link = std::numeric_limits<std::int64_t>::min();

  Boundary boundary;
  std::int64_t first;  // the region's corners at its ends, which are one in dimension one
  std::int64_t last;
  std::int64_t link;   // the facet on its other side; until that is known, ~(the next in its run), or `no_link`. One of
                       // another part by its name (collect/whole.hpp)

  std::int64_t twin() const { return link >= 0 ? link : -1; }
  std::int64_t following() const { return link == no_link ? -1 : ~link; }
};

// Where a region's corners and facets end.
struct RegionEnds {
  std::int64_t corners;
  std::int64_t facets;
};

// Threads collect side by side: no two share a line of the cache.
struct alignas(64) Collected {
  int dimension = 0;
  int facet_corners = 0;
  std::size_t pattern_bytes = 0;
  GrowingArray<CollectedVertex> vertices;
  GrowingArray<std::int64_t> corners;     // the vertex of each
  GrowingArray<CollectedFacet> facets;
  GrowingArray<RegionEnds> ends;          // [regions]
  GrowingArray<std::uint8_t> patterns;    // [regions, pattern_bytes]
  std::int64_t matched = 0;               // facets whose two sides have been found

  // As if nothing had been found.
  void clear() {
    vertices.clear();
    corners.clear();
    facets.clear();
    ends.clear();
    patterns.clear();
    matched = 0;
  }

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

}  // namespace regions
