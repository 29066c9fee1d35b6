// SPDX-License-Identifier: MIT
// How does a thread collect a part of the regions, or several parts?
//
// Numbers must depend on the recursion, not on thread timing. A thread repeatedly gives away the last part of its work
// (kernel/donations.hpp), so it finds the first part itself, in one run: a fragment. The parts that it gave away follow, the
// last one first. Fragments are numbered when they are given away, and collect/splice.hpp puts them in order, as if one thread
// had found everything.
// Invariant: a fragment has its own vertices, facets and corners. It begins with copies of the vertices of the given cell,
// which are `adopted`. A cell with a child that was given away, and each cell above it in the fragment, is a seam, the
// innermost first: seams are joined at the end.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "cells/cell.hpp"
#include "collect/collected.hpp"
#include "collect/whole.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

template <class Cell>
struct Seam {
  Cell cell;
  Cut<Cell> cut;
  int given;      // number of its last children that were given to other threads
  typename Cell::Trace* traces;  // of the cell's facets, to be filled
};

template <class Cell>
struct Fragment {
  Fragment(int its_number, Collected& its_source)
      : number(its_number), source(&its_source), begin(its_source), end(its_source) {}

  int number;
  Collected* source;
  Extents begin;
  Extents end;
  std::vector<int> given;                                      // fragments, in the order in which they were given away
  std::vector<Seam<Cell>> seams;                               // innermost first
  std::vector<std::pair<std::int64_t, std::int64_t>> adopted;  // vertices, here and in the thread that gave them
  std::shared_ptr<void> memory;                                // of the seams
};

// The fragments of one thread.
template <class Cell>
struct Harvest {
  explicit Harvest(Collected& its_collected) : collected(its_collected) {}

  void end_fragment() {
    if (!fragments.empty()) fragments.back().end = Extents(collected);
  }

  Collected& collected;
  std::deque<Fragment<Cell>> fragments;
};

template <class Cell>
class Fragments {
 public:
  Fragments(Whole& whole, int workers) {
    for (int worker = 0; worker < workers; ++worker) harvests.emplace_back(whole.collected.emplace_back());
  }

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
