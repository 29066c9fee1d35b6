// SPDX-License-Identifier: MIT
// How does what was collected become the arrays of a regions.Partition?
//
// In two passes, so that the arrays have their size before they are made: `number` gives every vertex and facet that a
// region uses its number, in the order of the regions; `assemble` writes.
#pragma once

#include "collect/collected.hpp"

namespace regions {

struct ComplexSizes {
  std::int64_t regions = 0;
  std::int64_t corners = 0;
  std::int64_t vertices = 0;
  std::int64_t facets = 0;
};

// Where to write; see docs/results.md.
struct ComplexArrays {
  double* vertices;              // [vertices, dimension]
  double* vertex_errors;         // [vertices]
  std::int64_t* cell_offsets;    // [regions + 1]
  std::int64_t* cell_vertices;   // [corners]
  std::int64_t* cell_facets;     // [corners]: in dimensions one and two there are as many facets
  std::int64_t* facet_vertices;  // [facets, dimension]
  std::int64_t* facet_regions;   // [facets, 2]
  std::int64_t* facet_kinks;     // [facets]
  std::uint8_t* patterns;        // [regions, pattern_bytes]
};

ComplexSizes number(Collected& collected);
void assemble(Collected& collected, const ComplexArrays& arrays);  // after `number`

}  // namespace regions
