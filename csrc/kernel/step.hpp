// SPDX-License-Identifier: MIT
// What do restricting a network to a part of a cell, and deciding its units there, work on?
//
// Both change the same state: the child as far as it is known, and the bounds on rounding errors in its rows.
#pragma once

#include <cstdint>
#include <vector>

#include "kernel/outputs.hpp"
#include "kernel/sign.hpp"
#include "rows/fold.hpp"
#include "rows/relax.hpp"
#include "rows/residuals.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// The restriction of a network to a part of a cell, as far as it is known.
template <int D>
struct Child {
  LocalNetwork<D> network{};
  std::vector<Relaxation<D>, AlignedAllocator<Relaxation<D>>> relaxations;  // of its columns
  std::vector<int> survivors;                                              // its columns in the parent's numbering
  std::vector<Fold<D>> folds;                                              // contributions of newly decided units

  int columns() const { return int(relaxations.size()); }
};

template <class Cell>
struct Step {
  const Network& network;
  Exact& exact;
  Signs<Cell>& signs;
  Arena& arena;
  std::uint8_t* pieces;
  std::uint8_t* pattern;  // null if it is not needed
  std::uint8_t* flat;     // where regions are collected in cells that are touched: kinks that are zero all over the cell; else null
  double* maps;  // the last region's maps of the outputs (collect/collected.hpp); null if they are not requested
  Child<Cell::dimension> child{};  // the restriction to the current cell
  ResidualBounds<Cell::dimension> residuals{network, Dims<Cell::dimension>(exact.dimension())};
  Outputs outputs{arena};
};

}  // namespace REGIONS_TARGET
}  // namespace regions
