// SPDX-License-Identifier: MIT
// How does what was collected become the arrays of a regions.Partition?
//
// In two passes, so that the arrays have their size before they are made: `number` gives every vertex and facet that a
// region uses its number, in the order of the regions; `assemble` writes. Both go through the parts side by side. A part
// counts the vertices that its regions use in the order in which they come; those that an earlier part has are then left out,
// and so each part knows its first number. Where a facet has its two sides in two parts, the later one is written at the end.
#pragma once

#include "collect/whole.hpp"

namespace regions {

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

void number(Whole& whole, int workers);  // once
void assemble(Whole& whole, const ComplexArrays& arrays, int workers);  // after `number`

}  // namespace regions
