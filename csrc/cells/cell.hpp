// SPDX-License-Identifier: MIT
// What must a type of cells offer?
//
// The recursion knows no shape: it asks the cell. Most cells are the convex hull of their corners (some may be at
// infinity), so the sides of a row follow from its signs at the corners, for all types alike (kernel/sign.hpp). A curved
// one lies in the hull of its vertices, of which the last are no corners, and says what the ends leave open. What differs:
//
//     dimension               D: vertices are named by D boundaries
//     count, vertices         its corners, and then what else encloses it
//     outer                   how many of the vertices are no corners: 0, or it is curved
//     bulge                   of curved cells: whether a row comes above zero between the corners
//     facet_count, facet      its sides of one dimension less: which boundary each is on, and between which corners
//     facet_corners           how many these are
//     whole                   the domain itself, from its corners
//     cut                     the children that a line leaves, each wholly on one side of it, with its new corners
//     clip, arrange           what is left where a form is positive; the children of a cut into several (kernel/envelope.hpp).
//                             Of curved cells more than one part may be left: they are not clipped, but arranged at once
//     Trace                   what is kept of the regions' facets along one facet of the cell, until both its sides are known:
//                             `Trace::of` one facet, and what `join` needs (cells/facet_run.hpp)
//     join                    how the facets of the regions in the children are connected, once all have been found
//     Arrangement             how many regions the last layer's lines make, where that can be told without making them
//
// A cell is plain data that lives in an arena, as its corners do. A new type is a file of its own, and its line in
// kernel/kernel_body.hpp. `require_cell` is what the compiler holds it against.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "cells/facet_run.hpp"
#include "cells/vertex.hpp"
#include "memory/arena.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// Where a cell is of a line.
enum class Side : std::int64_t { inactive, active, crossing, uncertain };

// A facet of a region: its boundary, and the corners at its ends (in dimension one it is a corner).
struct FacetOfCell {
  Boundary boundary;
  int first;
  int last;
};

// What a line leaves of a cell, or several arms that win in a part of it each.
template <class Cell>
struct Cut {
  const int* signs;       // of the line at the cell's corners; null where there are several arms
  int count;              // of children
  Cell* children;
  Side* sides;            // of the line, active or inactive
  typename Cell::Trace** traces;  // of each child's facets
  const Row<Cell::dimension>** winners;  // null if the line is no pair of arms
  const int* runs;        // of several arms: for each edge of a polygon, the children along it in order, and then -1

  void take(int room, Arena& arena) {
    children = arena.take<Cell>(std::size_t(room));
    sides = arena.take<Side>(std::size_t(room));
    traces = arena.take<typename Cell::Trace*>(std::size_t(room));
    winners = nullptr;
    runs = nullptr;
  }
};

// What a cell may ask of whoever collects regions, for the checks below.
template <int D>
struct AnyCollector {
  void identify(Vertex<D>& vertex);                                   // a vertex has been placed
  FacetRun joined(const FacetRun& before, const FacetRun& after);     // two runs along one facet of the cell
  void match(std::int64_t here, std::int64_t there);                  // the two sides of one facet
  void zip(const FacetRun& forward, const FacetRun& backward);        // of many, in opposite order
};

constexpr std::int64_t unknown = -1;  // number of regions

// What is on the other side of an edge, where a cell is cut into several children: one of them, by its number.
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
using CornersOf = decltype(*std::declval<const Cell&>().vertices[std::declval<const Cell&>().count]);
template <class Cell>
using TracesOf = decltype(Cell::Trace::of(std::int64_t()));
template <class Cell>
using RegionsOf = decltype(std::declval<typename Cell::Arrangement&>().count(
    std::declval<const Lines<Cell::dimension>&>(), std::declval<const Cell&>()));

// Whether Question<Cell> can be asked at all, and is answered by an Answer.
template <class Answer, template <class> class Question, class Cell, class = void>
struct Answers : std::false_type {};
template <class Answer, template <class> class Question, class Cell>
struct Answers<Answer, Question, Cell, std::void_t<Question<Cell>>> : std::is_convertible<Question<Cell>, Answer> {};
template <template <class> class Question, class Cell>
struct Answers<void, Question, Cell, std::void_t<Question<Cell>>> : std::is_void<Question<Cell>> {};

template <class Cell>
constexpr bool require_cell() {
  static_assert(Cell::dimension >= 1 && Cell::most_children >= 2, "a cell has a dimension, and is cut into children");
  static_assert(std::is_trivially_copyable<Cell>::value, "a cell is plain data: an arena does not destroy anything");
  static_assert(Answers<const Vertex<Cell::dimension>&, CornersOf, Cell>::value, "a cell has `count` `vertices`");
  static_assert(Answers<FacetOfCell, FacetsOf, Cell>::value, "a cell has `facet_count()` facets, `facet(i)` each");
  static_assert(Cell::facet_corners == 1 || Cell::facet_corners == 2, "a facet is a corner, or between two");
  static_assert(Cell::outer >= 0, "`outer` says how many of the vertices are no corners");
  static_assert(Answers<Cell, WholeOf, Cell>::value, "`whole` makes the domain's cell of its corners");
  static_assert(Answers<void, CutsOf, Cell>::value, "`cut` leaves children");
  static_assert(Answers<typename Cell::Trace, TracesOf, Cell>::value, "a `Trace` begins with one facet");
  static_assert(Answers<void, JoinsOf, Cell>::value, "`join` tells how their facets are connected");
  static_assert(Answers<std::int64_t, RegionsOf, Cell>::value, "an `Arrangement` counts, or says `unknown`");
  return true;
}

}  // namespace REGIONS_TARGET
}  // namespace regions
