// SPDX-License-Identifier: MIT
#include "collect/assemble.hpp"

#include <algorithm>

namespace regions {

ComplexSizes number(Collected& collected) {
  ComplexSizes sizes;
  sizes.regions = std::int64_t(collected.ends.size());
  sizes.corners = std::int64_t(collected.corners.size());
  sizes.facets = std::int64_t(collected.facets.size()) - collected.matched;
  for (std::int64_t corner = 0; corner < sizes.corners; ++corner) {
    std::int64_t& vertex = collected.corners[corner];
    vertex = collected.representative(vertex);
    std::int64_t& same = collected.vertices[vertex].same;
    if (same == -1) same = -2 - sizes.vertices++;
  }
  return sizes;
}

void assemble(Collected& collected, const ComplexArrays& arrays) {
  const int dimension = collected.dimension;
  std::int64_t corner = 0;
  std::int64_t index = 0;   // of a facet as a region has it; `facet` is its number in the arrays
  std::int64_t facets = 0;
  arrays.cell_offsets[0] = 0;
  for (std::int64_t region = 0; region < std::int64_t(collected.ends.size()); ++region) {
    arrays.cell_offsets[region + 1] = collected.ends[region].corners;
    for (; corner < collected.ends[region].corners; ++corner) {
      const CollectedVertex& vertex = collected.vertices[collected.corners[corner]];
      const std::int64_t number = -2 - vertex.same;
      std::copy_n(vertex.position, dimension, arrays.vertices + number * dimension);
      arrays.vertex_errors[number] = vertex.error;
      arrays.cell_vertices[corner] = number;
    }
    for (; index < collected.ends[region].facets; ++index) {
      const CollectedFacet& here = collected.facets[index];
      const std::int64_t twin = here.twin();
      if (twin >= 0 && twin < index) {
        const std::int64_t facet = arrays.cell_facets[twin];
        arrays.cell_facets[index] = facet;
        arrays.facet_regions[2 * facet + 1] = region;
        continue;
      }
      const std::int64_t facet = facets++;
      arrays.cell_facets[index] = facet;
      arrays.facet_kinks[facet] = here.boundary;
      arrays.facet_regions[2 * facet] = region;
      arrays.facet_regions[2 * facet + 1] = -1;
      std::int64_t* ends = arrays.facet_vertices + facet * collected.facet_corners;
      ends[0] = arrays.cell_vertices[here.first];
      if (collected.facet_corners > 1) ends[1] = arrays.cell_vertices[here.last];
    }
  }
  std::copy_n(collected.patterns.data(), collected.patterns.size(), arrays.patterns);
}

}  // namespace regions
