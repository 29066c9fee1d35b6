// SPDX-License-Identifier: MIT
// What does a thread collect that finds a part of the regions, or several?
//
// Numbers must follow the recursion, never the clock. A thread gives away the last part of what it has, again and again
// (kernel/subdivide.hpp), so what it finds itself is the first part, in one run: a fragment. The parts that it gave away
// follow, the last one first. So fragments are numbered when they are given, a vertex is named by its fragment and its place
// in that, and collect/splice.hpp puts all of them one behind the other, as if one thread had found them.
// Invariant: facets and vertices that are united in a fragment are its own; those of others wait in `same`. A cell with a
// child that was given away, and each cell above it in the fragment, is a seam, the innermost first: it is joined in the end.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "cells/cell.hpp"
#include "collect/collected.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// A vertex of any fragment, by a name that no other one has; those of the first are their own names.
constexpr std::int64_t vertices_of_fragment = std::int64_t{1} << 40;
inline std::int64_t vertex_of_fragment(int fragment, std::int64_t place) {
  return fragment * vertices_of_fragment + place;
}

// How much there is, or where a fragment is among what its thread collected.
struct Extents {
  std::int64_t vertices = 0;
  std::int64_t corners = 0;
  std::int64_t facets = 0;
  std::int64_t regions = 0;

  Extents() = default;
  explicit Extents(const Collected& collected)
      : vertices(std::int64_t(collected.vertices.size())),
        corners(std::int64_t(collected.corners.size())),
        facets(std::int64_t(collected.facets.size())),
        regions(std::int64_t(collected.ends.size())) {}
};

template <class Cell>
struct Seam {
  Cell cell;
  Cut<Cell> cut;
  int given;      // of its children, the last ones: to others
  Chain* chains;  // of the cell's facets, to be filled
};

template <class Cell>
struct Fragment {
  Fragment(int its_number, Collected& its_source)
      : number(its_number), source(&its_source), begin(its_source), end(its_source) {}

  int number;
  Collected* source;
  Extents begin;
  Extents end;
  std::vector<int> given;                                   // fragments, in the order in which they were given away
  std::vector<Seam<Cell>> seams;                            // innermost first
  std::vector<std::pair<std::int64_t, std::int64_t>> same;  // vertices, by their names
  std::shared_ptr<void> memory;                             // of the seams
};

// Of one thread.
template <class Cell>
struct Harvest {
  Collected collected;
  std::deque<Fragment<Cell>> fragments;

  void end_fragment() {
    if (!fragments.empty()) fragments.back().end = Extents(collected);
  }
};

template <class Cell>
class Fragments {
 public:
  explicit Fragments(int workers) : harvests(std::size_t(workers)) {}

  Harvest<Cell>& new_harvest() { return harvests[std::size_t(taken_++)]; }
  int new_number() { return numbers_++; }
  int count() const { return numbers_; }

  std::deque<Harvest<Cell>> harvests;  // of all threads

 private:
  std::atomic<int> taken_{0};
  std::atomic<int> numbers_{1};
};

}  // namespace REGIONS_TARGET
}  // namespace regions
