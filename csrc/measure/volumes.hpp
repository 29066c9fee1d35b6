// SPDX-License-Identifier: MIT
// How large are polytopes, and their facets, given their vertices?
//
// A facet is divided into simplices by pulling (Stanley 1980): its own facets that do not have its first vertex are divided in
// the same way, and their simplices are joined to this vertex. The facets of a face are the largest of its intersections with
// other facets of the polytope. A polytope is the union of the pyramids from its first vertex a over the simplices of its facets.
// With m the D minors of the D - 1 edges of such a simplex, of alternating sign, and q the way from a to it, a pyramid has the
// volume |m . q| / D!, and the simplex itself sqrt(m' H m) / (D - 1)!, with H the adjugate of the chart's Gram matrix. A facet is
// divided once, for both of its regions.
//
// Proof of the bounds. A minor is linear in each edge, and at most the product of their lengths (Hadamard). If edge i is r_i, off by at most
// d_i, a minor is off by at most prod (|r_i| + |d_i|) - prod |r_i|. Rounding: the minors of the first edges are found for all sets of
// columns, an edge at a time; each of the products takes at most D^2 + D roundings, and their absolute values add up to at most
// prod |r_i|_1. A norm changes by no more than the norm of the change. Sums of n numbers lose at most n u of their size. All is charged
// with room for the rounding of the bounds themselves.
// Cost: D 2^D products for each simplex. In three dimensions a facet with n vertices has n - 2 simplices.
#pragma once

#include <cstdint>

namespace regions {

// The arrays of a partition; see docs/arrays-and-files.md. There are at most 4096 vertices in a facet.
struct PolytopeArrays {
  int dimension;
  std::int64_t regions;
  std::int64_t facets;
  std::int64_t vertex_count;
  const double* vertices;
  const double* vertex_errors;
  const std::int64_t* cell_offsets;
  const std::int64_t* cell_vertices;
  const std::int64_t* cell_facet_offsets;
  const std::int64_t* cell_facets;
  const std::int64_t* facet_offsets;
  const std::int64_t* facet_vertices;
};

// Volumes, and bounds on their errors: of regions in chart coordinates, of facets in the metric of the chart.
struct Volumes {
  double* regions;
  double* region_errors;
  double* facets;
  double* facet_errors;
};

// `metric` [D, D] is the adjugate of the chart's Gram matrix, each number rounded once.
void measure(const PolytopeArrays& arrays, const double* metric, const Volumes& volumes);

}  // namespace regions
