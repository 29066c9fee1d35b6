// SPDX-License-Identifier: MIT
// What is on the stack of the recursion?
//
// The cells on the way from the whole domain to the cell at work. The recursion is a loop over this stack.
#pragma once

#include <cstddef>
#include <vector>

#include "cells/cell.hpp"
#include "rows/rows.hpp"
#include "task/section.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// A cell, the network restricted to it, and the children that it was cut into.
template <class Cell>
struct Frame {
  Cell cell;
  typename Cell::Trace* traces;  // of the cell's facets, to be filled
  LocalNetwork<Cell::dimension> network;
  double share;   // fraction of the domain, for the progress: the children of a cell count alike
  int next_child;
  int tried;      // number of lines and rows in the last cell on the way to it that a sweep was tried on
  int given;      // number of its last children that were given to other threads
  Cut<Cell> cut;
  Arena::Mark mark;
  std::size_t identified;  // number of vertices that the collector has to know while the memory up to the mark is in use
};

// Finished frames are overwritten later.
template <class Cell>
using Frames = std::vector<Frame<Cell>, AlignedAllocator<Frame<Cell>>>;

// The path of the last of this many cells on the stack.
template <class Cell>
Path path_to(const Frames<Cell>& stack, std::size_t depth) {
  Path path;
  for (std::size_t height = 1; height < depth; ++height) path.push_back(stack[height - 1].next_child - 1);
  return path;
}

}  // namespace REGIONS_TARGET
}  // namespace regions
