// SPDX-License-Identifier: MIT
#include "locate/walk.hpp"

#include "locate/side.hpp"

namespace regions {

namespace {

constexpr std::int64_t here = -1;   // the point is inside
constexpr std::int64_t stuck = -2;  // undecided here

Sighting sight(const PlaneCells& cells, std::int64_t corner, const double* point) {
  const std::int64_t vertex = cells.cell_vertices[corner];
  const double* position = cells.vertices + 2 * vertex;
  return {position[0] - point[0], position[1] - point[1], cells.vertex_errors[vertex]};
}

// The cell across an edge that has the point on its other side; or `here`, or `stuck`.
std::int64_t onward(const PlaneCells& cells, std::int64_t cell, const double* point) {
  const std::int64_t first = cells.cell_offsets[cell];
  const std::int64_t last = cells.cell_offsets[cell + 1] - 1;
  std::int64_t result = here;
  Sighting a = sight(cells, last, point);
  std::int64_t corner = last;
  for (std::int64_t next = first; next <= last; corner = next++) {
    const Sighting b = sight(cells, next, point);
    const int side = surely_left(a, b);
    a = b;
    if (side > 0) continue;
    const std::int64_t facet = cells.cell_facets[corner];
    if (cells.facet_kinks[facet] < 0) continue;
    if (side == 0) {
      result = stuck;
      continue;
    }
    const std::int64_t* sides = cells.facet_regions + 2 * facet;
    const std::int64_t across = sides[sides[0] == cell];
    return across >= 0 ? across : stuck;
  }
  return result;
}

}  // namespace

void walk(const PlaneCells& cells, std::int64_t start, std::int64_t steps, const double* points, std::int64_t count,
          std::int64_t* found) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t cell = start;
    std::int64_t next = start;
    for (; next >= 0 && steps > 0; --steps) {
      cell = next;
      next = onward(cells, cell, points + 2 * i);
    }
    found[i] = next == here ? cell : -1;
    if (next == here) start = cell;
  }
}

}  // namespace regions
