// SPDX-License-Identifier: MIT
// Which cell of a plane has a point inside, as far as floating point can tell?
//
// Walk: start in some cell, and cross any edge that has the point on its other side, until there is none. Points that
// come in an order in which neighbours are near each other, each starting where the one before was found, take a few
// steps each.
//
// No cell is entered twice. Let s_l be the number of kinks of layer l whose lines separate the cell from the point, lines
// being those of the piece of layers below l that the cell lies in. Crossing an edge of layer l leaves all layers below as
// they are, and so their s; s_l falls, for the line crossed was one of those counted, and the others stay where they are.
// So (s_1, s_2, ..) falls in the order of a dictionary. (Around other subdivisions such a walk can go in circles.) What
// is read from a file need not be one of ours, hence the limit on steps.
//
// A point that is surely to the left of every edge lies inside the true cell. Edges of the domain's border are not asked:
// points are known to lie in the domain. A walk that reaches a cell where no edge surely has the point on its other side,
// but some may, or one whose neighbour is not known, finds nothing.
// Cost: about 20 operations for each edge looked at. Source: Devillers, Pion and Teillaud, "Walking in a triangulation", 2002.
#pragma once

#include <cstdint>

namespace regions {

// The arrays of a regions.Partition of dimension two; see docs/results.md.
struct PlaneCells {
  const double* vertices;             // [vertices, 2]
  const double* vertex_errors;        // [vertices]
  const std::int64_t* cell_offsets;   // [regions + 1]
  const std::int64_t* cell_vertices;  // [corners]
  const std::int64_t* cell_facets;    // [corners]
  const std::int64_t* facet_regions;  // [facets, 2]
  const std::int64_t* facet_kinks;    // [facets]
};

// Where found[i] is to be the cell that has point i [2] inside, or -1. The first walk starts in the cell `start`; all
// together take no more than `steps`, beyond which nothing is found.
void walk(const PlaneCells& cells, std::int64_t start, std::int64_t steps, const double* points, std::int64_t count,
          std::int64_t* found);

}  // namespace regions
