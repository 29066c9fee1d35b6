// SPDX-License-Identifier: MIT
// How are the collected regions converted to the arrays of a regions.Partition?
//
// In two passes, so that the sizes of the arrays are known before they are allocated: `number` gives every vertex and facet
// that a region uses its number, in the order of the regions; `assemble` writes. Both process the parts in parallel. A part
// counts the vertices that its regions use in order, omits those that an earlier part has, and thus every part knows its first
// number. A facet whose two sides are in two parts is written at the end, with the later part.
//
// If there is only one part, four arrays of the result can be written over what was collected: each element is read for the last
// time just before its final value is written there. Therefore they need no more memory.
#pragma once

#include "collect/whole.hpp"
#include "memory/growing.hpp"

namespace regions {

// The arrays to write; see docs/arrays-and-files.md.
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
  double* maps;                  // [regions, outputs, dimension + 1]: constant and slopes; unused if maps are not requested
  double* map_errors;            // the same: bounds
};

void number(Whole& whole, int workers);  // once
void assemble(Whole& whole, const ComplexArrays& arrays, int workers);  // after `number`

// Sets cell_offsets, cell_vertices, cell_facets and patterns to the memory of the only part; returns false if there are several.
bool lend(Whole& whole, ComplexArrays& arrays);

// Gives these four away after `assemble`.
void give(Whole& whole, OwnedMemory* memory);

}  // namespace regions
