// SPDX-License-Identifier: MIT
#include "collect/assemble.hpp"

#include <algorithm>

namespace regions {

ComplexSizes number(Collected& collected) {
  ComplexSizes sizes;
  sizes.regions = std::int64_t(collected.ends.size());
  sizes.corners = std::int64_t(collected.corners.size());
  for (std::int64_t corner = 0; corner < sizes.corners; ++corner) {
    Corner& here = collected.corners[corner];
    here.vertex = collected.representative(here.vertex);
    std::int64_t& same = collected.vertices[here.vertex].same;
    if (same == -1) same = -2 - sizes.vertices++;
    const std::int64_t twin = here.twin();
    if (twin < 0 || twin > corner) ++sizes.facets;
  }
  return sizes;
}

void assemble(Collected& collected, const ComplexArrays& arrays) {
  const int dimension = collected.dimension;
  std::int64_t corner = 0;
  std::int64_t facets = 0;
  arrays.cell_offsets[0] = 0;
  for (std::int64_t region = 0; region < std::int64_t(collected.ends.size()); ++region) {
    const std::int64_t first = corner;
    const std::int64_t end = collected.ends[region];
    arrays.cell_offsets[region + 1] = end;
    for (; corner < end; ++corner) {
      const CollectedVertex& vertex = collected.vertices[collected.corners[corner].vertex];
      const std::int64_t number = -2 - vertex.same;
      std::copy_n(vertex.position, dimension, arrays.vertices + number * dimension);
      arrays.vertex_errors[number] = vertex.error;
      arrays.cell_vertices[corner] = number;
    }
    for (corner = first; corner < end; ++corner) {
      const Corner& here = collected.corners[corner];
      const std::int64_t twin = here.twin();
      if (twin >= 0 && twin < corner) {
        const std::int64_t facet = arrays.cell_facets[twin];
        arrays.cell_facets[corner] = facet;
        arrays.facet_regions[2 * facet + 1] = region;
        continue;
      }
      const std::int64_t facet = facets++;
      arrays.cell_facets[corner] = facet;
      arrays.facet_kinks[facet] = here.boundary;
      arrays.facet_regions[2 * facet] = region;
      arrays.facet_regions[2 * facet + 1] = -1;
      arrays.facet_vertices[facet * dimension] = arrays.cell_vertices[corner];
      if (dimension == 2)
        arrays.facet_vertices[facet * 2 + 1] = arrays.cell_vertices[corner + 1 == end ? first : corner + 1];
    }
  }
  std::copy_n(collected.patterns.data(), collected.patterns.size(), arrays.patterns);
}

}  // namespace regions
