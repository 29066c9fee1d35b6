// SPDX-License-Identifier: MIT
// How does a cell that was known by its inequalities get its vertices?
//
// The box of the domain is cut by one inequality after the other, with exact signs. The cells on the way are kept: the next cell that needs
// vertices mostly has the same first cuts. The same cuts of a box leave the same cell, so kinks and sides are compared.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "cells/facet_set.hpp"
#include "cells/halfspaces.hpp"
#include "exact/exact.hpp"
#include "memory/arena.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

template <class Cell>
class GivenVertices {
 public:
  static constexpr int D = Cell::dimension;

  // All layers below the kinks that cut the cell are decided.
  Cell give(const Cell& cell, Exact& exact, Arena& arena) {
    std::vector<const Inside<D>*> cuts;
    for (const Inside<D>* part = cell.inside; part != nullptr; part = part->larger) cuts.push_back(part);
    std::reverse(cuts.begin(), cuts.end());
    const std::size_t sides = 2 * std::size_t(cell.dims);
    if (steps_.empty()) {
      Step& box = add_step(0, 0, cell.dims);
      const Facet<D>* facets[2 * D];
      for (std::size_t f = 0; f < sides; ++f) facets[f] = copy(*cuts[f]->facet, *box.arena);
      box.cell = box_with(facets, cell.dims, *box.arena);
    }
    std::size_t same = 0;
    while (sides + same < cuts.size() && same + 1 < steps_.size() && steps_[same + 1].kink == cuts[sides + same]->facet->name &&
           steps_[same + 1].side == cuts[sides + same]->side)
      ++same;
    steps_.resize(same + 1);
    for (std::size_t cut = sides + same; cut < cuts.size(); ++cut) {
      Step& step = add_step(cuts[cut]->facet->name, cuts[cut]->side, cell.dims);
      const Cell& larger = steps_[steps_.size() - 2].cell;
      step.cell = Cell::part(larger, *copy(*cuts[cut]->facet, *step.arena), step.side > 0 ? 1 : -1, exact, *step.arena);
    }
    return copy(steps_.back().cell, arena);
  }

 private:
  struct Step {
    std::unique_ptr<Arena> arena;
    Boundary kink;
    double side;
    Cell cell;
  };

  Step& add_step(Boundary kink, double side, Dims<D> dims) {
    steps_.push_back({std::make_unique<Arena>(), kink, side, Cell::without_vertices(nullptr, dims)});
    return steps_.back();
  }

  // The box with these sides.
  static Cell box_with(const Facet<D>* const* sides, Dims<D> dims, Arena& arena) {
    Cell result = Cell::take(1 << dims, only(2 * dims) - 1, dims, arena);
    int ends[2][D];
    for (int f = 0; f < 2 * dims; ++f) {
      result.sides[f] = sides[f];
      int axis = 0;
      while (sides[f]->row->value[axis + 1] == 0) ++axis;
      ends[sides[f]->row->value[axis + 1] < 0][axis] = f;
    }
    for (int corner = 0; corner < 1 << dims; ++corner) {
      Vertex<D>* vertex = arena.template take<Vertex<D>>(1);
      *vertex = Vertex<D>{};
      vertex->position[0] = 1;
      vertex->name.generator = -1;
      vertex->id = unidentified;
      FacetSet set = 0;
      for (int k = 0; k < dims; ++k) {
        const int f = ends[corner >> k & 1][k];
        const Row<D>& row = *sides[f]->row;
        vertex->position[k + 1] = row.value[k + 1] < 0 ? row.value[0] : -row.value[0];
        vertex->name.boundaries[k] = sides[f]->name;
        set |= only(f);
      }
      result.append(*vertex, set);
    }
    return result;
  }

  static const Facet<D>* copy(const Facet<D>& facet, Arena& arena) {
    Facet<D>* result = arena.template take<Facet<D>>(1);
    *result = facet;
    result->row = arena.copy(facet.row, 1);
    return result;
  }

  static Cell copy(const Cell& cell, Arena& arena) {
    Cell result = Cell::take(cell.count, cell.facets, cell.dims, arena);
    result.simple = cell.simple;
    for_each_facet(cell.facets, [&](int f) { result.sides[f] = copy(*cell.sides[f], arena); });
    for (int v = 0; v < cell.count; ++v) result.append(*arena.copy(cell.vertices[v], 1), cell.sets[v]);
    return result;
  }

  std::vector<Step> steps_;  // the box, and then a cut each
};

}  // namespace REGIONS_TARGET
}  // namespace regions
