// SPDX-License-Identifier: MIT
#include "collect/subtree.hpp"

#include <algorithm>
#include <stdexcept>

namespace regions {

namespace {

void write(Whole& whole, Part& part, const SubtreeArrays& arrays) {
  Collected& collected = *part.collected;
  const int dimension = collected.dimension;
  for (std::int64_t i = part.begin.vertices; i < part.end.vertices; ++i) {
    const std::int64_t place = i + part.shift.vertices;
    arrays.same[place] = whole.place_of_vertex(whole.representative(name_of(part.index, i)));
    const CollectedVertex& vertex = collected.vertices[i];
    std::copy_n(vertex.position, dimension, arrays.vertices + place * dimension);
    arrays.vertex_errors[place] = vertex.error;
  }
  for (std::int64_t region = part.begin.regions; region < part.end.regions; ++region)
    arrays.cell_offsets[region + part.shift.regions + 1] = collected.offsets[region + 1] + part.shift.corners;
  for (std::int64_t i = part.begin.corners; i < part.end.corners; ++i) {
    const std::int64_t place = i + part.shift.corners;
    arrays.cell_vertices[place] = collected.corners[i] + part.shift.vertices;
    arrays.cell_kinks[place] = collected.boundaries[i].boundary();
    const std::int64_t twin = collected.links[i].twin();
    arrays.cell_twins[place] = twin < 0 ? -1 : whole.place_of_facet(is_name(twin) ? twin : name_of(part.index, twin));
  }
  part.copy_patterns(arrays.patterns);
}

}  // namespace

void write(Whole& whole, const Border& border, const SubtreeArrays& arrays) {
  arrays.cell_offsets[0] = 0;
  for (Part& part : whole.parts) write(whole, part, arrays);
  std::copy(border.facets.begin(), border.facets.end(), arrays.border);
  std::copy(border.ends.begin(), border.ends.end(), arrays.border_ends);
}

void append(const Subtree& subtree, const Path& node, const std::vector<std::int64_t>& way, Collected& whole) {
  const int dimension = whole.dimension;
  const std::int64_t placed = std::int64_t(way.size());
  if (subtree.vertex_count < placed)
    throw std::invalid_argument("a part has fewer vertices than the path to it");
  const std::int64_t first_vertex = std::int64_t(whole.vertices.size());
  const std::int64_t first_corner = std::int64_t(whole.corners.size());
  const auto moved = [&](std::int64_t vertex) {
    return vertex < placed ? way[std::size_t(vertex)] : vertex - placed + first_vertex;
  };

  for (std::int64_t i = 0; i < placed; ++i) {
    const CollectedVertex& here = whole.vertices[way[std::size_t(i)]];
    if (subtree.vertex_errors[i] != here.error ||
        !std::equal(here.position, here.position + dimension, subtree.vertices + i * dimension))
      throw std::invalid_argument("a part was cut from another place than the path " + text_of(node));
  }

  CollectedVertex* vertices = whole.vertices.extend(std::size_t(subtree.vertex_count - placed));
  for (std::int64_t i = placed; i < subtree.vertex_count; ++i, ++vertices) {
    *vertices = {{}, subtree.vertex_errors[i], subtree.same[i] == i ? CollectedVertex::itself : moved(subtree.same[i])};
    std::copy_n(subtree.vertices + i * dimension, dimension, vertices->position);
  }
  for (std::int64_t i = 0; i < placed; ++i) whole.unite(moved(i), moved(subtree.same[i]));

  std::int64_t* corners = whole.corners.extend(std::size_t(subtree.corner_count));
  FacetLink* links = whole.links.extend(std::size_t(subtree.corner_count));
  FacetBoundary* boundaries = whole.boundaries.extend(std::size_t(subtree.corner_count));
  std::int64_t* offsets = whole.offsets.extend(std::size_t(subtree.region_count));
  std::int64_t twins = 0;
  for (std::int64_t region = 0; region < subtree.region_count; ++region) {
    const std::int64_t begin = subtree.cell_offsets[region];
    const std::int64_t end = subtree.cell_offsets[region + 1];
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t twin = subtree.cell_twins[i];
      corners[i] = moved(subtree.cell_vertices[i]);
      links[i] = {twin >= 0 ? first_corner + twin : FacetLink::none};
      boundaries[i] = {subtree.cell_kinks[i], i + 1 == end};
      twins += twin >= 0;
    }
    offsets[region] = first_corner + end;
  }
  whole.matched += twins / 2;
  const std::size_t pattern_bytes = std::size_t(subtree.region_count) * whole.pattern_bytes;
  std::copy_n(subtree.patterns, pattern_bytes, whole.patterns.extend(pattern_bytes));
}

}  // namespace regions
