// SPDX-License-Identifier: MIT
// Which facets of regions lie along one facet of a cell?
//
// The trace of an interval, an arc or a polygon: a run of consecutive facets, counter-clockwise in a polygon.
// From dimension three on facets have no such order, and a cell has another type of trace (cells/cell.hpp).
#pragma once

#include <cstdint>

namespace regions {

struct FacetRun {
  std::int64_t first = -1;  // in the collector's numbering; -1 if not set yet
  std::int64_t last = -1;

  static FacetRun of(std::int64_t facet) { return {facet, facet}; }
  bool empty() const { return first < 0; }
};

}  // namespace regions
