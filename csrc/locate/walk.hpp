// SPDX-License-Identifier: MIT
// Which cell of a plane contains a point, as far as floating point can tell?
//
// Walk: start in some cell, and cross any edge that has the point on its other side, until there is no such edge. Points come
// in an order in which neighbours are near each other, and each starts where the one before was found, so they take a few
// steps each.
//
// No cell is entered twice. Let s_l be the number of kinks of layer l whose lines separate the cell from the point, where the
// lines belong to the piece of the layers below l that contains the cell. Crossing an edge of layer l leaves all layers
// below unchanged, and so their s; s_l falls, because the crossed line was one of those counted, and the others stay. So
// (s_1, s_2, ..) falls in lexicographic order. (In other subdivisions such a walk can go in circles.) A file may contain
// another subdivision, hence the limit on steps.
//
// A point that is certainly to the left of every edge lies inside the true cell. Edges of the domain boundary are not tested,
// because points are known to lie in the domain. A walk finds nothing if it reaches a cell where no edge certainly has the
// point on its other side, but some may, or one whose neighbour is unknown.
// Cost: about 20 operations for each tested edge. Source: Devillers, Pion and Teillaud, "Walking in a triangulation", 2002.
#pragma once

#include <cstdint>

namespace regions {

// The arrays of a regions.Partition of dimension two; see docs/arrays-and-files.md.
struct PlaneCells {
  const double* vertices;             // [vertices, 2]
  const double* vertex_errors;        // [vertices]
  const std::int64_t* cell_offsets;   // [regions + 1]
  const std::int64_t* cell_vertices;  // [corners]
  const std::int64_t* cell_facets;    // [corners]
  const std::int64_t* facet_regions;  // [facets, 2]
  const std::int64_t* facet_kinks;    // [facets]
};

// Sets found[i] to the cell that contains point i [2], or -1. The first walk starts in the cell `start`; all
// together take at most `steps`, beyond which nothing is found.
void walk(const PlaneCells& cells, std::int64_t start, std::int64_t steps, const double* points, std::int64_t count,
          std::int64_t* found);

}  // namespace regions
