// SPDX-License-Identifier: MIT
// How is a cell known without its vertices?
//
// By the inequalities of the domain, which is a box, and the sides of the cuts on the way to it; and by a point inside. A box of ten
// dimensions has 1,024 vertices, but 20 inequalities. Only counting is possible without vertices, so this is done from seven dimensions on.
// `Dictionaries` decides how lines divide the cell. Coordinates are divided by powers of two, so that the box is of about unit size, and
// forms too, so that their terms are. Both are exact, but for underflow, for which there is room.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>

#include "cells/dictionaries.hpp"
#include "cells/vertex.hpp"
#include "memory/arena.hpp"
#include "rows/rows.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// Numbers of a form in dictionaries.
constexpr int dictionary_width(int dimension) { return (dimension + 4) / 4 * 4; }

template <int D>
struct BoxOfDomain {
  double middle[D + 1];
  double radius[D + 1];  // rounded up
  double reach[D + 1];   // 1, and the largest absolute values of coordinates
  double scale[D + 1];   // 1, and powers of two, no larger than these
  Dims<D> dims;
};

// A cell: `side` times the facet's form is positive there, and so are the inequalities of the larger cell.
template <int D>
struct Inside {
  const Facet<D>* facet;
  double side;
  const Inside* larger;
  const BoxOfDomain<D>* box;
  double point[dictionary_width(D)];  // scaled; proven to be inside
  double other[dictionary_width(D)];  // the same, and on the other side of the line that the cell is cut along

  // The part of the cell on one side of a line.
  static Inside* part(const Inside& cell, const Facet<D>& facet, int side, Arena& arena) {
    Inside* result = arena.take<Inside>(1);
    *result = cell;
    result->facet = &facet;
    result->side = side;
    result->larger = &cell;
    double position[D + 1] = {};
    for (int k = 0; k <= cell.box->dims; ++k) position[k] = cell.point[k] * cell.box->scale[k];
    const bool is_above = evaluate(*facet.row, facet.breakpoint, position, cell.box->dims).value > 0;
    if (is_above != (side > 0)) std::copy_n(cell.other, dictionary_width(D), result->point);
    return result;
  }

  // The domain, if it is a box with x_k >= low_k and x_k <= high_k among its forms, and nothing else; otherwise null.
  static Inside* domain(const Domain& domain, Dims<D> dims, Arena& arena) {
    if (domain.form_count != 2 * dims) return nullptr;
    double ends[2][D + 1];
    bool known[2][D + 1] = {};
    for (int form = 0; form < 2 * dims; ++form) {
      const double* numbers = domain.forms + std::size_t(form) * (dims + 1);
      int axis = 0;
      for (int k = 1; k <= dims; ++k) {
        if (numbers[k] == 0) continue;
        if (axis != 0 || std::fabs(numbers[k]) != 1) return nullptr;
        axis = k;
      }
      if (axis == 0) return nullptr;
      const int end = numbers[axis] < 0;
      known[end][axis] = true;
      ends[end][axis] = end != 0 ? numbers[0] : -numbers[0];
    }
    BoxOfDomain<D>* box = arena.take<BoxOfDomain<D>>(1);
    *box = {};
    box->dims = dims;
    box->reach[0] = box->scale[0] = 1;
    Inside root{};
    root.box = box;
    root.point[0] = 1;
    for (int k = 1; k <= dims; ++k) {
      if (!known[0][k] || !known[1][k] || !(ends[0][k] < ends[1][k])) return nullptr;
      box->reach[k] = std::max(std::fabs(ends[0][k]), std::fabs(ends[1][k]));
      if (!(box->reach[k] > 0x1p-200 && box->reach[k] < 0x1p200)) return nullptr;
      box->middle[k] = ends[0][k] / 2 + ends[1][k] / 2;
      box->radius[k] = (1 + 4 * unit_roundoff) * std::max(ends[1][k] - box->middle[k], box->middle[k] - ends[0][k]);
      box->scale[k] = std::ldexp(1, std::ilogb(box->reach[k]));
      root.point[k] = box->middle[k] / box->scale[k];
    }
    Inside* result = nullptr;
    for (int form = 0; form < 2 * dims; ++form) {
      Row<D>* row = arena.take<Row<D>>(1);
      *row = Row<D>{};
      for (int k = 0; k <= dims; ++k) row->value[k] = domain.forms[std::size_t(form) * (dims + 1) + std::size_t(k)];
      Facet<D>* facet = arena.take<Facet<D>>(1);
      *facet = {form_name(dims, form), row, 0.0};
      Inside* next = arena.take<Inside>(1);
      *next = root;
      next->facet = facet;
      next->side = 1;
      next->larger = result;
      result = next;
    }
    return result;
  }
};

// A cell's dictionaries.
template <int D>
class Halfspaces {
 public:
  static constexpr int width = dictionary_width(D);

  void begin(const Inside<D>& cell) {
    const Dims<D> dims = cell.box->dims;
    if (numbers == nullptr) numbers = make_dictionaries(dictionary_width(dims));
    double reach[width] = {};
    for (int k = 0; k <= dims; ++k) reach[k] = cell.box->reach[k] / cell.box->scale[k];
    numbers->begin(dims, reach);
    usable_ = true;
    for (const Inside<D>* part = &cell; part != nullptr; part = part->larger) add_facet(*part);
  }

  // The margin of a line is that in the domain's box.
  void add_line(const Lines<D>& lines, int line, const BoxOfDomain<D>& box) {
    double form[width] = {};
    double size = 0;
    for (int k = 0; k <= box.dims; ++k) {
      form[k] = lines.value[k][line] * box.scale[k];
      size += std::fabs(lines.value[k][line]) * box.reach[k];
    }
    const double factor = factor_for(size);
    for (double& number : form) number *= factor;
    numbers->add_line(form, lines.margin[line] * factor + room_for_underflow);
  }

  // Returns whether the cell's point is proven to be inside, and there are dictionaries.
  bool start(const Inside<D>& cell) { return usable_ && numbers->start(cell.point); }

  std::unique_ptr<Dictionaries> numbers;  // null before the first cell

 private:
  void add_facet(const Inside<D>& part) {
    const Row<D>& row = *part.facet->row;
    double form[width] = {};
    double size = std::fabs(part.facet->breakpoint);
    double error = 0;
    double steepness = 0;
    for (int k = 0; k <= part.box->dims; ++k) {
      form[k] = part.side * (k == 0 ? row.value[0] - part.facet->breakpoint : row.value[k] * part.box->scale[k]);
      size += std::fabs(row.value[k]) * part.box->reach[k];
      error += row.error[k] * part.box->reach[k];
      if (k > 0) steepness += (std::fabs(row.value[k]) + row.error[k]) * part.box->scale[k];
    }
    const double factor = factor_for(size);
    for (double& number : form) number *= factor;
    const double margin = 1.01 * (error + unit_roundoff * ((part.box->dims + 3) * size)) + room_for_underflow;  // as in set_margin
    numbers->add_facet(form, margin * factor + room_for_underflow, 1.01 * steepness * factor + room_for_underflow);
  }

  // The power of two that makes a form's size about 1.
  double factor_for(double size) {
    usable_ = usable_ && size > 0x1p-400 && size < 0x1p400;
    return usable_ ? std::ldexp(1, -std::ilogb(size)) : 1;
  }

  bool usable_ = true;
};

}  // namespace REGIONS_TARGET
}  // namespace regions
