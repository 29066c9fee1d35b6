// SPDX-License-Identifier: MIT
// How are the regions along a curve collected, from one end to the other?
//
// If the order of all breakpoints is known, nothing has to be cut or joined: from one breakpoint to the next the pattern
// changes by one bit, and each region's second facet is the next one's first. The result is the same as after the recursion
// (collect.hpp): regions in order, two corners and two facets each, neighbours matched.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "collect/collected.hpp"

namespace regions {

class Strand {
 public:
  Strand(Collected& collected, int dimension, std::size_t pattern_bytes) : collected_(collected) {
    collected.dimension = dimension;
    collected.facet_corners = 1;
    collected.pattern_bytes = pattern_bytes;
  }

  void clear() {
    collected_.clear();
    pattern_.assign(collected_.pattern_bytes, 0);
    count_ = 0;
  }

  // Sets a bit of the first region, before it begins.
  void switch_on(std::int64_t kink) { pattern_[std::size_t(kink / 8)] |= std::uint8_t(1u << (kink % 8)); }

  void begin(const CollectedVertex& vertex, Boundary end) {
    last_vertex_ = keep(vertex);
    last_boundary_ = end;
  }

  // Ends a region at a vertex, with the boundary between it and the next one: a kink, or the end of the curve.
  // Returns the number of regions so far.
  std::int64_t reach(CollectedVertex vertex, Boundary boundary) {
    keep_order(vertex);
    const std::int64_t corner = std::int64_t(collected_.corners.size());
    std::int64_t* corners = collected_.corners.extend(2);
    FacetLink* links = collected_.links.extend(2);
    FacetBoundary* boundaries = collected_.boundaries.extend(2);
    corners[0] = last_vertex_;
    corners[1] = last_vertex_ = keep(vertex);
    links[0] = links[1] = {FacetLink::none};
    boundaries[0] = {last_boundary_, false};
    boundaries[1] = {boundary, true};
    if (count_ > 0) {
      links[0] = {corner - 1};
      collected_.links[corner - 1] = {corner};
      ++collected_.matched;
    }
    *collected_.offsets.extend(1) = corner + 2;
    std::copy_n(pattern_.data(), pattern_.size(), collected_.patterns.extend(pattern_.size()));
    last_boundary_ = boundary;
    if (boundary >= 0) pattern_[std::size_t(boundary / 8)] ^= std::uint8_t(1u << (boundary % 8));
    return ++count_;
  }

 private:
  std::int64_t keep(const CollectedVertex& vertex) {
    *collected_.vertices.extend(1) = vertex;
    return std::int64_t(collected_.vertices.size()) - 1;
  }

  // Rounding may put a vertex of a segment before the previous one, although it is truly behind it. It is then moved to the previous
  // one, and its error is at most the larger of both.
  void keep_order(CollectedVertex& vertex) const {
    if (collected_.dimension != 1) return;
    const CollectedVertex& before = collected_.vertices[last_vertex_];
    if (!(vertex.position[0] < before.position[0])) return;
    vertex.position[0] = before.position[0];
    vertex.error = std::max(vertex.error, before.error);
  }

  Collected& collected_;
  std::vector<std::uint8_t> pattern_;
  std::int64_t last_vertex_ = 0;
  Boundary last_boundary_ = 0;
  std::int64_t count_ = 0;
};

}  // namespace regions
