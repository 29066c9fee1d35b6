// SPDX-License-Identifier: MIT
// How are the regions of a cell's lines counted from seven dimensions on?
//
// If the cell is known without vertices, linear programs count them (dictionaries, cells/dictionary.hpp). Otherwise its vertices do.
#pragma once

#include <cstdint>

#include "cells/flats.hpp"
#include "cells/halfspaces.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

template <class Cell>
class Sections {
 public:
  static constexpr int D = Cell::dimension;

  std::int64_t count(const Lines<D>& lines, const Cell& cell, std::int64_t most, Monitor* monitor) {
    if (!lacks_vertices(cell)) return flats_.count(lines, cell, most, monitor);
    if (lines.count == 1) return 2;
    halfspaces_.begin(*cell.inside);
    for (int line = 0; line < lines.count; ++line) halfspaces_.add_line(lines, line, *cell.inside->box);
    return halfspaces_.start(*cell.inside) ? halfspaces_.numbers->count(most, *monitor) : unknown;
  }

 private:
  Halfspaces<D> halfspaces_;
  Flats<Cell> flats_;
};

}  // namespace REGIONS_TARGET
}  // namespace regions
