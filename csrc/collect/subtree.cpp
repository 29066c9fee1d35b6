// SPDX-License-Identifier: MIT
#include "collect/subtree.hpp"

#include <algorithm>
#include <stdexcept>

namespace regions {

void write(Collected& collected, const Border& border, const SubtreeArrays& arrays) {
  const int dimension = collected.dimension;
  for (std::int64_t i = 0; i < std::int64_t(collected.vertices.size()); ++i) {
    arrays.same[i] = collected.representative(i);
    const CollectedVertex& vertex = collected.vertices[i];
    std::copy_n(vertex.position, dimension, arrays.vertices + i * dimension);
    arrays.vertex_errors[i] = vertex.error;
  }
  arrays.cell_offsets[0] = 0;
  for (std::int64_t region = 0; region < std::int64_t(collected.ends.size()); ++region)
    arrays.cell_offsets[region + 1] = collected.ends[region].corners;
  for (std::int64_t i = 0; i < std::int64_t(collected.corners.size()); ++i) {
    arrays.cell_vertices[i] = collected.corners[i];
    arrays.cell_kinks[i] = collected.facets[i].boundary;
    arrays.cell_twins[i] = collected.facets[i].twin();
  }
  std::copy(border.facets.begin(), border.facets.end(), arrays.border);
  std::copy(border.ends.begin(), border.ends.end(), arrays.border_ends);
  std::copy_n(collected.patterns.data(), collected.patterns.size(), arrays.patterns);
}

void append(const Subtree& subtree, const std::vector<std::int64_t>& way, Collected& whole) {
  const int dimension = whole.dimension;
  const std::int64_t placed = std::int64_t(way.size());
  if (subtree.vertex_count < placed)
    throw std::invalid_argument("a part has fewer vertices than are placed on the way to it");
  const std::int64_t first_vertex = std::int64_t(whole.vertices.size());
  const std::int64_t first_corner = std::int64_t(whole.corners.size());
  const auto moved = [&](std::int64_t vertex) {
    return vertex < placed ? way[std::size_t(vertex)] : vertex - placed + first_vertex;
  };

  for (std::int64_t i = 0; i < placed; ++i) {
    const CollectedVertex& here = whole.vertices[way[std::size_t(i)]];
    if (subtree.vertex_errors[i] != here.error ||
        !std::equal(here.position, here.position + dimension, subtree.vertices + i * dimension))
      throw std::invalid_argument("a part was cut from another place than the path " + text_of(subtree.node));
  }

  CollectedVertex* vertices = whole.vertices.extend(std::size_t(subtree.vertex_count - placed));
  for (std::int64_t i = placed; i < subtree.vertex_count; ++i, ++vertices) {
    *vertices = {{}, subtree.vertex_errors[i], subtree.same[i] == i ? -1 : moved(subtree.same[i])};
    std::copy_n(subtree.vertices + i * dimension, dimension, vertices->position);
  }
  for (std::int64_t i = 0; i < placed; ++i) whole.unite(moved(i), moved(subtree.same[i]));

  std::int64_t* corners = whole.corners.extend(std::size_t(subtree.corner_count));
  CollectedFacet* facets = whole.facets.extend(std::size_t(subtree.corner_count));
  RegionEnds* ends = whole.ends.extend(std::size_t(subtree.region_count));
  std::int64_t twins = 0;
  for (std::int64_t region = 0; region < subtree.region_count; ++region) {
    const std::int64_t begin = subtree.cell_offsets[region];
    const std::int64_t end = subtree.cell_offsets[region + 1];
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t next = dimension == 1 ? i : i + 1 == end ? begin : i + 1;
      const std::int64_t twin = subtree.cell_twins[i];
      corners[i] = moved(subtree.cell_vertices[i]);
      facets[i] = {subtree.cell_kinks[i], first_corner + i, first_corner + next,
                   twin >= 0 ? first_corner + twin : CollectedFacet::no_link};
      twins += twin >= 0;
    }
    ends[region] = {first_corner + end, first_corner + end};
  }
  whole.matched += twins / 2;
  const std::size_t pattern_bytes = std::size_t(subtree.region_count) * whole.pattern_bytes;
  std::copy_n(subtree.patterns, pattern_bytes, whole.patterns.extend(pattern_bytes));
}

}  // namespace regions
