// SPDX-License-Identifier: MIT
// What is a cell of dimension three or more?
//
// A polytope: its vertices, and for each the set of facets that it is on. Edges and faces are not stored: two vertices are the ends of
// an edge iff they share D - 1 facets, if the cell is simple; in any cell, iff they share D - 1 or more, and no third vertex is on all of
// these. A line (a hyperplane here) cuts the edges at whose ends it has opposite signs.
// Invariants: a vertex's set has all facets that it is on; each facet is a (D - 1)-face; `simple` iff each vertex is on D facets; a
// vertex is named by D boundaries that meet in one point.
// After a cut, a facet is one of a half iff one of its vertices is strictly on that side, and the cut takes the lowest free bit.
// Where regions are collected, a cell also knows the boundaries that touch it: those that are zero at some of its vertices and are not
// its facets. They are kinks that were decided on this cell or a larger one and were zero at a vertex, and facets of larger cells of which
// only vertices are left. A cell also knows the pairs of branches of max units that are equal all over it.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "cells/cell.hpp"
#include "cells/crossed_edges.hpp"
#include "cells/facet_set.hpp"
#include "cells/flats.hpp"
#include "cells/halfspaces.hpp"
#include "cells/meeting.hpp"
#include "cells/sections.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

struct NoInterior : std::invalid_argument {
  NoInterior() : std::invalid_argument("the domain has no interior") {}
};

struct NoTrace {
  static NoTrace of(std::int64_t) { return {}; }
};

// The boundaries that touch a cell.
struct Touches {
  FacetSet used;    // the places in use
  Boundary* names;  // [most_facets]
  FacetSet* sets;   // [vertices of the cell] the boundaries that are zero there

  static Touches* take(int vertices, Arena& arena) {
    Touches* touches = arena.take<Touches>(1);
    *touches = {0, arena.take<Boundary>(std::size_t(most_facets)), arena.take<FacetSet>(std::size_t(vertices))};
    std::fill_n(touches->sets, vertices, FacetSet{0});
    return touches;
  }

  // Returns the place of a new boundary.
  int add(Boundary name) {
    if (~used == 0) throw std::length_error("a cell is touched by more than 128 boundaries");
    const int place = first_of(~used);
    used |= only(place);
    names[place] = name;
    return place;
  }
};

// A pair of branches of a max unit that are equal all over a cell, and those that were found before.
struct EqualArms {
  Boundary pair;
  const EqualArms* before;
};

// `Dimension` is the largest one that cells of this type may have (rows/dims.hpp).
template <int Dimension>
struct Polytope {
  using Trace = NoTrace;
  static constexpr int dimension = Dimension;
  static constexpr int D = Dimension;
  static constexpr int most_children = 2;
  static constexpr int outer = 0;
  static constexpr bool may_lack = Dimension >= 7;
  using Arrangement = std::conditional_t<may_lack, Sections<Polytope>, Flats<Polytope>>;

  int count;
  bool simple;
  FacetSet facets;             // those in use
  const Vertex<D>** vertices;  // [count]
  FacetSet* sets;              // [count]
  const Facet<D>** sides;      // [end_of(facets)]
  mutable Touches* touches;    // null if nothing touches the cell, or regions are only counted
  mutable const EqualArms* equal_arms;  // the same
  Inside<D>* inside;           // null unless the cell is known without its vertices; then there are none
  [[no_unique_address]] Dims<D> dims;

  static Polytope take(int capacity, FacetSet facets, Dims<D> dims, Arena& arena) {
    return {0, true, facets, arena.take<const Vertex<D>*>(std::size_t(capacity)), arena.take<FacetSet>(std::size_t(capacity)),
            arena.take<const Facet<D>*>(std::size_t(end_of(facets))), nullptr, nullptr, nullptr, dims};
  }

  static Polytope without_vertices(Inside<D>* inside, Dims<D> dims) {
    return {0, true, 0, nullptr, nullptr, nullptr, nullptr, nullptr, inside, dims};
  }

  // The part of a cell on one side of a form that has that sign somewhere.
  static Polytope part(const Polytope& cell, const Facet<D>& facet, int side, Exact& exact, Arena& arena) {
    const int* signs = signs_of(cell, facet, exact, arena);
    if (std::none_of(signs, signs + cell.count, [&](int sign) { return sign == -side; })) return cell;
    return Cutting(cell, facet, signs, exact, arena).half(side, false, arena);
  }

  // The part of a symbolic, infinitely large box where all forms of the domain are at least zero. It is cut by one form after the other.
  // Most vertices on the way are cut off again, so only those that are left are placed exactly.
  static Polytope whole(Vertex<D>*, int, Exact& exact, Arena& arena) {
    const Dims<D> dims(exact.dimension());
    Polytope cell = largest_box(dims, arena);
    const Domain& domain = exact.domain();
    for (int form = 0; form < domain.form_count; ++form) {
      const double* numbers = domain.forms + std::size_t(form) * (dims + 1);
      const Boundary name = form_name(dims, form);
      Row<D>* row = arena.template take<Row<D>>(1);
      *row = Row<D>{};
      for (int k = 0; k <= dims; ++k) row->value[k] = numbers[k];
      const Facet<D>& facet = new_facet(name, *row, arena);
      const int* signs = signs_of(cell, facet, exact, arena);
      if (std::none_of(signs, signs + cell.count, [](int sign) { return sign > 0; })) throw NoInterior();
      if (std::none_of(signs, signs + cell.count, [](int sign) { return sign < 0; })) continue;
      cell = Cutting(cell, facet, signs, exact, arena, false).half(1, false, arena);
    }
    place_all(cell, exact);
    return cell;
  }

  FacetSet touched_at(int vertex) const { return touches != nullptr ? touches->sets[vertex] : 0; }

  void note_equal_arms(Boundary pair, Arena& arena) const {
    EqualArms* noted = arena.take<EqualArms>(1);
    *noted = {pair, equal_arms};
    equal_arms = noted;
  }

  // A kink that is zero at these vertices, and has one sign at all others.
  void touch(Boundary kink, const std::vector<int>& at, Arena& arena) const {
    if (touches == nullptr) touches = Touches::take(count, arena);
    const FacetSet bit = only(touches->add(kink));
    for (const int vertex : at) touches->sets[vertex] |= bit;
  }

  void append(const Vertex<D>& vertex, FacetSet set) {
    vertices[count] = &vertex;
    sets[count] = set;
    ++count;
  }

  int facet_count() const { return size_of(facets); }

  template <class Collector>
  static void cut(const Polytope& cell, const Facet<D>& facet, Exact& exact, Arena& arena, Collector& collector,
                  Cut<Polytope>& result) {
    result.take(2, arena);
    result.count = 2;
    if constexpr (may_lack) {
      if (cell.inside != nullptr) {
        for (int side = 0; side < 2; ++side) {
          result.children[side] = without_vertices(Inside<D>::part(*cell.inside, facet, side == 0 ? 1 : -1, arena), cell.dims);
          result.sides[side] = side == 0 ? Side::active : Side::inactive;
        }
        return;
      }
    }
    const Cutting cutting(cell, facet, result.signs, exact, arena);
    for (int i = 0; i < cutting.made; ++i) collector.identify(cutting.vertices[i]);
    for (int side = 0; side < 2; ++side) {
      result.children[side] = cutting.half(side == 0 ? 1 : -1, Collector::keeps, arena);
      result.sides[side] = side == 0 ? Side::active : Side::inactive;
    }
  }

  static Polytope unclipped(const Polytope& cell, Arena&) { return cell; }

  // The part where the form is positive, given its signs at the vertices; empty if no vertex is positive.
  static Polytope clip(const Polytope& cell, const Facet<D>& facet, const int* signs, bool with_touches, Exact& exact, Arena& arena) {
    if (std::none_of(signs, signs + cell.count, [](int sign) { return sign < 0; })) return cell;
    if (std::none_of(signs, signs + cell.count, [](int sign) { return sign > 0; })) return without_vertices(nullptr, cell.dims);
    return Cutting(cell, facet, signs, exact, arena).half(1, with_touches, arena);
  }

  template <class Arms, class Collector>
  static void arrange(const Polytope&, Arms&, Exact&, Arena&, Collector& collector, Cut<Polytope>& result) {
    for (int child = 0; child < result.count; ++child)
      for (int i = 0; i < result.children[child].count; ++i)
        if (result.children[child].vertices[i]->id == unidentified)
          collector.identify(const_cast<Vertex<D>&>(*result.children[child].vertices[i]));
  }

  template <class Collector>
  static void join(const Polytope&, const Cut<Polytope>&, NoTrace*, Collector&) {}

 private:
  static const int* signs_of(const Polytope& cell, const Facet<D>& facet, Exact& exact, Arena& arena) {
    int* signs = arena.take<int>(std::size_t(cell.count));
    for (int v = 0; v < cell.count; ++v) {
      signs[v] = proven_side(facet, *cell.vertices[v], cell.dims);
      if (signs[v] == 0) signs[v] = exact.side(facet.name, cell.vertices[v]->name);
    }
    return signs;
  }

  // A cell and a form that has both signs on it: the vertices on the edges that it crosses.
  struct Cutting : CrossedEdges<Polytope> {
    using Edges = CrossedEdges<Polytope>;
    using Edges::cell, Edges::signs, Edges::up, Edges::down, Edges::positive, Edges::negative, Edges::zero, Edges::above, Edges::below;
    using Edges::made, Edges::shared, Edges::ends;
    const Facet<D>& facet;
    Vertex<D>* vertices = nullptr;  // [made]

    // If `placing` is false, a new vertex is only named, and its position may have any error.
    Cutting(const Polytope& its_cell, const Facet<D>& its_facet, const int* its_signs, Exact& exact, Arena& arena, bool placing = true)
        : Edges(its_cell, its_signs, arena), facet(its_facet) {
      vertices = arena.take<Vertex<D>>(std::size_t(made));
      with_dims<D>(cell.dims, [&](auto n) {
        for (int start = 0; start < made; start += rows_at_once) place<n()>(start, std::min(rows_at_once, made - start), exact, placing);
      });
    }

    // Some vertices, side by side.
    template <int N>
    void place(int start, int count, Exact& exact, bool placing) {
      const Facet<D>* named[rows_at_once][D];
      for (int r = 0; r < rows_at_once; ++r) {
        const FacetSet set = shared[start + std::min(r, count - 1)];
        int number = 0;
        if (size_of(set) == N - 1)
          for_each_facet(set, [&](int f) { named[r][number++] = cell.sides[f]; });
        else
          choose(set, named[r]);
        named[r][N - 1] = &facet;
      }
      const Meeting<D> meeting(named, cell.dims);
      for (int r = 0; r < count; ++r) {
        Vertex<D>& vertex = vertices[start + r];
        vertex.position[0] = 1;
        vertex.error = meeting.error[r];
        vertex.name.generator = -1;
        vertex.id = unidentified;
        for (int k = 0; k < N; ++k) {
          vertex.position[k + 1] = meeting.position[k][r];
          vertex.name.boundaries[k] = named[r][k]->name;
        }
        bool origin = true;
        for (int k = 0; k < N && origin; ++k) origin = through_origin(*named[r][k]);
        if (origin && vertex.error < INFINITY) {
          std::fill_n(vertex.position + 1, cell.dims, 0.0);
          vertex.error = 0;
        }
        const Vertex<D>& here = *cell.vertices[ends[2 * (start + r)]];
        const Vertex<D>& there = *cell.vertices[ends[2 * (start + r) + 1]];
        const bool finite = here.position[0] != 0 && there.position[0] != 0;
        if (placing && finite && vertex.error < placed * distance(here, there, std::integral_constant<int, N>())) continue;
        name_exactly(shared[start + r], vertex, exact);
        if (placing) place_exactly(vertex, exact, cell.dims);
      }
    }

    void choose(FacetSet set, const Facet<D>** chosen) const {
      double gradients[most_facets + 1][D];
      const Facet<D>* candidates[most_facets + 1];
      int number = 0;
      candidates[number++] = &facet;
      for_each_facet(set, [&](int f) { candidates[number++] = cell.sides[f]; });
      choose_independent(candidates, number, chosen, gradients, cell.dims);
    }

    // If the boundaries that name the vertex do not meet in one point, tries other boundaries that meet there, one choice after the other.
    void name_exactly(FacetSet set, Vertex<D>& vertex, Exact& exact) const {
      if (size_of(set) == cell.dims - 1 || exact.meet_in_point(vertex.name.boundaries)) return;
      if (!find_name(set, 0, vertex.name.boundaries, exact)) throw std::logic_error("the facets of a vertex do not meet in a point");
    }

    bool find_name(FacetSet left, int taken, Boundary* names, Exact& exact) const {
      if (taken == cell.dims - 1) {
        names[cell.dims - 1] = facet.name;
        return exact.meet_in_point(names);
      }
      for (; left != 0; left &= left - 1) {
        names[taken] = cell.sides[first_of(left)]->name;
        if (find_name(left & (left - 1), taken + 1, names, exact)) return true;
      }
      return false;
    }

    // The part on one side, 1 or -1, with or without the boundaries that touch it.
    Polytope half(int side, bool with_touches, Arena& arena) const {
      const FacetSet kept = side > 0 ? above : below;
      if (~kept == 0) throw std::length_error("a cell has more than 128 facets");
      const int bit = first_of(~kept);
      Polytope result = take((side > 0 ? positive : negative) + zero + made, kept | only(bit), cell.dims, arena);
      result.equal_arms = cell.equal_arms;
      for_each_facet(kept, [&](int f) { result.sides[f] = cell.sides[f]; });
      result.sides[bit] = &facet;
      const FacetSet own = only(bit);
      const Vertex<D>** its_vertices = result.vertices;
      FacetSet* its_sets = result.sets;
      int number = 0;
      if (zero == 0) {
        const int* list = side > 0 ? up : down;
        for (const int count = side > 0 ? positive : negative; number < count; ++number) {
          its_vertices[number] = cell.vertices[list[number]];
          its_sets[number] = cell.sets[list[number]] & kept;
        }
      } else {
        for (int v = 0; v < cell.count; ++v) {
          if (signs[v] == -side) continue;
          its_vertices[number] = cell.vertices[v];
          its_sets[number++] = (cell.sets[v] & kept) | (signs[v] == 0 ? own : 0);
        }
      }
      for (int i = 0; i < made; ++i, ++number) {
        its_vertices[number] = &vertices[i];
        its_sets[number] = (shared[i] & kept) | own;
      }
      result.count = number;
      if (!cell.simple || zero > 0)
        result.simple = std::all_of(result.sets, result.sets + result.count, [&](FacetSet set) { return size_of(set) == cell.dims; });
      if (with_touches && (cell.touches != nullptr || zero > 0)) result.touches = touches_of_half(side, cell.facets & ~kept, result.count, arena);
      assert(is_convex(result));
      return result;
    }

    // The boundaries that touch the half: boundaries that touched the cell, and facets of which only vertices are left. Vertices
    // are in the order in which `half` appends them.
    Touches* touches_of_half(int side, FacetSet lost, int count, Arena& arena) const {
      FacetSet touching = 0;  // the half, of those that touch the cell
      FacetSet left = 0;      // of the lost facets
      for (int v = 0; v < cell.count; ++v) {
        if (signs[v] == side || signs[v] == 0) touching |= cell.touched_at(v);
        if (signs[v] == 0) left |= cell.sets[v] & lost;
      }
      if (touching == 0 && left == 0) return nullptr;
      Touches* result = Touches::take(count, arena);
      result->used = touching;
      for_each_facet(touching, [&](int t) { result->names[t] = cell.touches->names[t]; });
      int place_of[most_facets];
      for_each_facet(left, [&](int f) { place_of[f] = result->add(cell.sides[f]->name); });
      FacetSet* set = result->sets;
      for (int v = 0; v < cell.count; ++v) {
        if (signs[v] != side && signs[v] != 0) continue;
        *set = cell.touched_at(v);
        if (signs[v] == 0) for_each_facet(cell.sets[v] & left, [&](int f) { *set |= only(place_of[f]); });
        ++set;
      }
      for (int i = 0; i < made; ++i) *set++ = cell.touched_at(ends[2 * i]) & cell.touched_at(ends[2 * i + 1]);
      return result;
    }
  };

  // Places the vertices of the domain whose error is not tiny, compared with its extent.
  static void place_all(const Polytope& cell, Exact& exact) {
    const Vertex<D>* first = nullptr;
    double extent = 0;
    for (int v = 0; v < cell.count; ++v) {
      const Vertex<D>& vertex = *cell.vertices[v];
      if (vertex.position[0] == 0 || !(vertex.error < INFINITY)) continue;
      if (first == nullptr) first = &vertex;
      extent = std::max(extent, distance(*first, vertex, cell.dims));
    }
    for (int v = 0; v < cell.count; ++v) {
      const Vertex<D>& vertex = *cell.vertices[v];
      if (vertex.position[0] != 0 && !(vertex.error < 0x1p-30 * extent)) place_exactly(const_cast<Vertex<D>&>(vertex), exact, cell.dims);
    }
  }

  static const Facet<D>& new_facet(Boundary name, const Row<D>& row, Arena& arena) {
    Facet<D>* facet = arena.take<Facet<D>>(1);
    *facet = {name, &row, 0.0};
    return *facet;
  }

  // The vertices (1, M p) with p_k = -1 or 1. The constants of its facets are infinite, as doubles.
  static Polytope largest_box(Dims<D> dims, Arena& arena) {
    Polytope box = take(1 << dims, only(2 * dims) - 1, dims, arena);
    for (int side = 0; side < 2 * dims; ++side) {
      Row<D>* row = arena.template take<Row<D>>(1);
      *row = Row<D>{};
      row->value[0] = INFINITY;
      row->value[side / 2 + 1] = side % 2 != 0 ? -1 : 1;
      box.sides[side] = &new_facet(far_side_name(side), *row, arena);
    }
    for (int corner = 0; corner < 1 << dims; ++corner) {
      Vertex<D>* vertex = arena.template take<Vertex<D>>(1);
      *vertex = Vertex<D>{};
      vertex->name.generator = -1;
      vertex->id = unidentified;
      FacetSet set = 0;
      for (int k = 0; k < dims; ++k) {
        const int high = corner >> k & 1;
        vertex->position[k + 1] = high != 0 ? 1 : -1;
        vertex->name.boundaries[k] = far_side_name(2 * k + high);
        set |= only(2 * k + high);
      }
      box.append(*vertex, set);
    }
    return box;
  }

  // Returns whether, up to rounding, each vertex is on its facets, and none beyond another one. For assertions.
  static bool is_convex(const Polytope& cell) {
    bool convex = cell.count > cell.dims;
    for_each_facet(cell.facets, [&](int f) {
      int on = 0;
      bool positive = false;
      bool negative = false;
      for (int v = 0; v < cell.count; ++v) {
        const int side = proven_side(*cell.sides[f], *cell.vertices[v], cell.dims);
        const bool is_on = (cell.sets[v] & only(f)) != 0;
        on += is_on;
        positive = positive || side > 0;
        negative = negative || side < 0;
        convex = convex && !(is_on && side != 0);
      }
      convex = convex && !(positive && negative) && on >= cell.dims;
    });
    return convex;
  }
};

template <int Dimension>
constexpr bool may_lack_vertices<Polytope<Dimension>> = Polytope<Dimension>::may_lack;

}  // namespace REGIONS_TARGET
}  // namespace regions
