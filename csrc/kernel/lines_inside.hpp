// SPDX-License-Identifier: MIT
// On which sides of lines is a cell that is known without its vertices?
//
// For each line either a point on each side is proven to be in the cell, or the sign that it has all over it (cells/dictionary.hpp).
// Otherwise `Unproven` is thrown, and the recursion gives the cell its vertices, where signs are decided exactly.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "cells/cell.hpp"
#include "cells/halfspaces.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

struct Unproven {};

// For cells that always have vertices.
template <class Cell, bool may_lack = may_lack_vertices<Cell>>
struct LinesInside {
  static constexpr int D = Cell::dimension;
  void classify(const Lines<D>&, const Cell&, int, double*, double*, Side*) {}
  double extent(const Lines<D>&, int, const Cell&) const { return 0; }
  void choose(int, const Cell&) const {}
};

template <class Cell>
class LinesInside<Cell, true> {
 public:
  static constexpr int D = Cell::dimension;

  // Finds the sides of all lines but one (-1: of all), and bounds on their values over the cell, each off by at most the margin.
  void classify(const Lines<D>& lines, const Cell& its_cell, int known, double* least, double* greatest, Side* sides) {
    const Inside<D>& cell = *its_cell.inside;
    halfspaces_.begin(cell);
    for (int line = 0; line < lines.count; ++line) halfspaces_.add_line(lines, line, *cell.box);
    if (!halfspaces_.start(cell)) throw Unproven();
    points_.resize(2 * std::size_t(lines.count) * width);
    for (int line = 0; line < lines.count; ++line) {
      bound(lines, line, *cell.box, least[line], greatest[line]);
      if (line == known) continue;
      const Division answer = halfspaces_.numbers->side(line, points(line), points(line) + width);
      if (answer == Division::unknown) throw Unproven();
      sides[line] = answer == Division::crosses ? Side::crossing : answer == Division::above ? Side::active : Side::inactive;
    }
  }

  // How far the cell is known to extend on both sides of a line that crosses it, in units of the line's steepness.
  double extent(const Lines<D>& lines, int line, const Cell& cell) const {
    const BoxOfDomain<D>& box = *cell.inside->box;
    return std::min(std::fabs(value(lines, line, points(line), box)), std::fabs(value(lines, line, points(line) + width, box)));
  }

  // The cell is going to be cut along the line.
  void choose(int line, const Cell& cell) const {
    std::copy_n(points(line), width, cell.inside->point);
    std::copy_n(points(line) + width, width, cell.inside->other);
  }

 private:
  static constexpr int width = dictionary_width(D);

  double* points(int line) { return points_.data() + 2 * std::size_t(line) * width; }
  const double* points(int line) const { return points_.data() + 2 * std::size_t(line) * width; }

  static double value(const Lines<D>& lines, int line, const double* place, const BoxOfDomain<D>& box) {
    double sum = lines.value[0][line];
    for (int k = 1; k <= box.dims; ++k) sum += lines.value[k][line] * box.scale[k] * place[k];
    return sum;
  }

  // Takes 2 D + 3 roundings of the sum of |terms| in the box, less than two margins; one is charged where bounds are used.
  static void bound(const Lines<D>& lines, int line, const BoxOfDomain<D>& box, double& least, double& greatest) {
    double middle = lines.value[0][line];
    double radius = lines.margin[line];
    for (int k = 1; k <= box.dims; ++k) {
      middle += lines.value[k][line] * box.middle[k];
      radius += std::fabs(lines.value[k][line]) * box.radius[k];
    }
    least = middle - radius;
    greatest = middle + radius;
  }

  Halfspaces<D> halfspaces_;
  std::vector<double> points_;  // for each line that crosses the cell, one on each side
};

}  // namespace REGIONS_TARGET
}  // namespace regions
