// SPDX-License-Identifier: MIT
// What must a type of cells offer?
//
// The recursion knows no shape: it asks the cell. Most cells are the convex hull of their corners (some may be at infinity), so
// the sides of a row follow from its signs at the corners, for all types alike (kernel/sign.hpp). A curved cell lies in the hull
// of its vertices, the last of which are not corners. It also decides signs that those at its ends do not determine. Types of
// cells differ in:
//
//     dimension               D: vertices are named by D boundaries
//     count, vertices         its corners, and then the other vertices that enclose it
//     outer                   the number of vertices that are not corners: 0, or the cell is curved
//     bulge                   for curved cells: whether a row is above zero between the corners
//     facet_count             the number of its sides of one dimension less
//     facet, facet_corners    if regions are collected: the boundary of each side and the corners at its ends; the number of these corners
//     whole                   the domain itself, from its corners, or from `Exact::domain`
//     cut                     the children that a line leaves, each entirely on one side of it, with its new corners
//     clip, arrange           the part where a form is positive; the children of a cut into several (kernel/envelope.hpp).
//                             Curved cells may have more than one part: they are not clipped, but arranged at once
//     Trace                   the regions' facets along one facet of the cell, stored until both its sides are known:
//                             `Trace::of` one facet, and what `join` needs (cells/facet_run.hpp)
//     join                    connects the facets of the regions in the children, once all have been found
//     touch                   only for cells whose faces are known by sign vectors (collect/face_records.hpp): notes a kink that is
//                             zero at some corners and has one sign elsewhere. These cells also note branches that are equal
//                             all over them (`note_equal_arms`), and `clip` may leave out the boundaries that touch the part
//     inside                  only for cells that may be known without vertices: null, or by what (cells/halfspaces.hpp)
//     Arrangement             counts the regions of the last layer's lines, if that is possible without making them. It may
//                             stop once there are more than requested, and tells the monitor of long work
//
// A cell is plain data that lives in an arena, as its corners do. A new type is a separate file, and a line in
// kernel/kernel_body.hpp. The compiler checks it with `require_cell`.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "cells/facet_run.hpp"
#include "cells/vertex.hpp"
#include "memory/arena.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// The side of a line that a cell is on.
enum class Side : std::int64_t { inactive, active, crossing, uncertain };

// A facet of a region: its boundary, and the corners at its ends (in dimension one it is a corner).
struct FacetOfCell {
  Boundary boundary;
  int first;
  int last;
};

// The children of a cell that is cut by a line, or among several branches that are the argmax in a part each.
template <class Cell>
struct Cut {
  const int* signs;       // of the line at the cell's corners; null if there are several branches
  int count;              // of children
  Cell* children;
  Side* sides;            // of the line, active or inactive
  typename Cell::Trace** traces;  // of each child's facets
  const Row<Cell::dimension>** winners;  // null if the line is not a pair of branches
  const int* runs;        // for several branches: the children along each edge of a polygon, in order, and then -1

  void take(int room, Arena& arena) {
    children = arena.take<Cell>(std::size_t(room));
    sides = arena.take<Side>(std::size_t(room));
    traces = arena.take<typename Cell::Trace*>(std::size_t(room));
    winners = nullptr;
    runs = nullptr;
  }
};

// What a cell may ask of the collector, for the checks below.
template <int D>
struct AnyCollector {
  void identify(Vertex<D>& vertex);                                   // a vertex has been placed
  FacetRun joined(const FacetRun& before, const FacetRun& after);     // two runs along one facet of the cell
  void match(std::int64_t here, std::int64_t there);                  // the two sides of one facet
  void zip(const FacetRun& forward, const FacetRun& backward);        // of many facets, in opposite order
};

constexpr std::int64_t unknown = -1;  // number of regions

// Marks an edge between several children of a cut by the index of the child on its other side.
inline int child_as_origin(int child) { return -1 - child; }

template <class Cell>
using CutsOf = decltype(Cell::cut(std::declval<const Cell&>(), std::declval<const Facet<Cell::dimension>&>(),
                                  std::declval<Exact&>(), std::declval<Arena&>(),
                                  std::declval<AnyCollector<Cell::dimension>&>(), std::declval<Cut<Cell>&>()));
template <class Cell>
using JoinsOf = decltype(Cell::join(std::declval<const Cell&>(), std::declval<const Cut<Cell>&>(),
                                    std::declval<typename Cell::Trace*>(), std::declval<AnyCollector<Cell::dimension>&>()));
template <class Cell>
using WholeOf = decltype(Cell::whole(std::declval<Vertex<Cell::dimension>*>(), 0, std::declval<Exact&>(),
                                     std::declval<Arena&>()));
template <class Cell>
using FacetsOf = decltype(std::declval<const Cell&>().facet(std::declval<const Cell&>().facet_count()));
template <class Cell>
using FacetCountOf = decltype(std::declval<const Cell&>().facet_count());
template <class Cell>
using CornersOf = decltype(*std::declval<const Cell&>().vertices[std::declval<const Cell&>().count]);
template <class Cell>
using TracesOf = decltype(Cell::Trace::of(std::int64_t()));
template <class Cell>
using RegionsOf = decltype(std::declval<typename Cell::Arrangement&>().count(
    std::declval<const Lines<Cell::dimension>&>(), std::declval<const Cell&>(), std::int64_t(), std::declval<Monitor*>()));

// Returns whether Question<Cell> compiles, with the result type Answer.
template <class Answer, template <class> class Question, class Cell, class = void>
struct Answers : std::false_type {};
template <class Answer, template <class> class Question, class Cell>
struct Answers<Answer, Question, Cell, std::void_t<Question<Cell>>> : std::is_convertible<Question<Cell>, Answer> {};
template <template <class> class Question, class Cell>
struct Answers<void, Question, Cell, std::void_t<Question<Cell>>> : std::is_void<Question<Cell>> {};

// Whether cells of this type know the boundaries that touch them.
template <class Cell>
using TouchOf = decltype(std::declval<const Cell&>().touch(Boundary(), std::declval<const std::vector<int>&>(), std::declval<Arena&>()));
template <class Cell>
constexpr bool is_touched = Answers<void, TouchOf, Cell>::value;

// Whether cells of this type may be known without vertices, of which there are then none (cells/halfspaces.hpp).
template <class Cell>
constexpr bool may_lack_vertices = false;

// Whether a cell is.
template <class Cell>
bool lacks_vertices(const Cell& cell) {
  if constexpr (may_lack_vertices<Cell>) return cell.inside != nullptr;
  return false;
}

// How many dimensions the cell has.
template <class Cell>
Dims<Cell::dimension> dims_of(const Cell& cell) {
  if constexpr (varies<Cell::dimension>) return cell.dims;
  return {};
}

template <class Cell>
constexpr bool require_cell() {
  static_assert(Cell::dimension >= 1 && Cell::most_children >= 2, "a cell has a dimension, and is cut into children");
  static_assert(std::is_trivially_copyable<Cell>::value, "a cell is plain data: an arena does not destroy anything");
  static_assert(Answers<const Vertex<Cell::dimension>&, CornersOf, Cell>::value, "a cell has `count` `vertices`");
  static_assert(Answers<int, FacetCountOf, Cell>::value, "a cell has `facet_count()` facets");
  static_assert(Cell::outer >= 0, "`outer` says how many of the vertices are no corners");
  static_assert(Answers<Cell, WholeOf, Cell>::value, "`whole` makes the domain's cell of its corners");
  static_assert(Answers<void, CutsOf, Cell>::value, "`cut` leaves children");
  static_assert(Answers<typename Cell::Trace, TracesOf, Cell>::value, "a `Trace` begins with one facet");
  static_assert(Answers<void, JoinsOf, Cell>::value, "`join` tells how their facets are connected");
  static_assert(Answers<std::int64_t, RegionsOf, Cell>::value, "an `Arrangement` counts, or says `unknown`");
  return true;
}

// A collector of regions requires more.
template <class Cell>
constexpr bool require_facets() {
  static_assert(Answers<FacetOfCell, FacetsOf, Cell>::value, "a cell has facets, `facet(i)` each");
  static_assert(Cell::facet_corners == 1 || Cell::facet_corners == 2, "a facet is a corner, or between two");
  return true;
}

}  // namespace REGIONS_TARGET
}  // namespace regions
