// SPDX-License-Identifier: MIT
// What is the result of an enumeration?
//
// A polyhedral complex: vertices, regions as runs of corners, and their facets, with the facet on the other side of each.
// Vertices that turned out to be the same are united, not copied.
// Invariant: there is one facet for each corner of a region, and it has the corner's index. In the plane it leads from that corner
// to the region's next one, counter-clockwise; in dimension one it is the corner.
// Memory: everything but vertices and boundaries can become an array of the result (collect/assemble.hpp).
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "exact/exact.hpp"
#include "memory/growing.hpp"

namespace regions {

constexpr int most_dimensions = 2;

// More than any thread collects of any kind.
constexpr std::int64_t room_of_part = std::int64_t{1} << 40;

struct CollectedVertex {
  static constexpr std::int64_t itself = -1;

  double position[most_dimensions];  // infinite at infinity; in dimension one only the first coordinate is used
  double error;
  std::int64_t same;  // the representative of this vertex; or `itself`; below that, its encoded number or entry

  // The entry among the vertices that several parts have (collect/whole.hpp), or below zero.
  std::int64_t entry() const { return -2 - same - room_of_part; }
  void set_entry(std::int64_t entry) { same = -2 - room_of_part - entry; }
  std::int64_t number() const { return -2 - same; }
  void set_number(std::int64_t number) { same = -2 - number; }
};

// The same facet as seen from the other side. Until that is known, ~(the next facet in its run), or `none`. A facet of another part
// is given by its name (collect/whole.hpp).
struct FacetLink {
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();

  std::int64_t link;

  std::int64_t twin() const { return link >= 0 ? link : -1; }
  std::int64_t following() const { return link == none ? -1 : ~link; }
};

// The boundary that a facet lies on, and whether the facet is its region's last one.
class FacetBoundary {
 public:
  FacetBoundary(Boundary boundary, bool is_last) : bits_(2 * boundary + is_last) {}
  Boundary boundary() const { return bits_ >> 1; }
  bool is_last() const { return (bits_ & 1) != 0; }

 private:
  Boundary bits_;
};

// Threads collect in parallel: no two share a cache line.
struct alignas(64) Collected {
  int dimension = 0;
  int facet_corners = 0;
  std::size_t pattern_bytes = 0;
  std::size_t map_numbers = 0;            // of each region; 0 if maps are not requested
  GrowingArray<CollectedVertex> vertices;
  GrowingArray<std::int64_t> offsets;     // [regions + 1]: the ends of the regions' corners, after a 0
  GrowingArray<std::int64_t> corners;     // the vertex of each
  GrowingArray<FacetLink> links;          // [corners]
  GrowingArray<FacetBoundary> boundaries; // [corners]
  GrowingArray<std::uint8_t> patterns;    // [regions, pattern_bytes]
  GrowingArray<double> maps;              // [regions, 2, outputs, dimension + 1]: maps, and bounds on their errors
  std::int64_t matched = 0;               // facets whose two sides have been found

  Collected() { *offsets.extend(1) = 0; }

  // Removes everything.
  void clear() {
    vertices.clear();
    offsets.shrink(1);
    corners.clear();
    links.clear();
    boundaries.clear();
    patterns.clear();
    maps.clear();
    matched = 0;
  }

  std::int64_t regions() const { return std::int64_t(offsets.size()) - 1; }

  // The corner where a facet ends. The last facet of a region ends at the region's first corner.
  std::int64_t end_of(std::int64_t facet) const {
    if (facet_corners == 1) return facet;
    if (!boundaries[facet].is_last()) return facet + 1;
    while (facet > 0 && !boundaries[facet - 1].is_last()) --facet;
    return facet;
  }

  std::int64_t representative(std::int64_t vertex) {
    while (vertices[vertex].same >= 0) {
      const std::int64_t next = vertices[vertex].same;
      if (vertices[next].same >= 0) vertices[vertex].same = vertices[next].same;
      vertex = next;
    }
    return vertex;
  }

  // Unites two vertices; the more accurate one represents both.
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
