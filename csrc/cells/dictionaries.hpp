// SPDX-License-Identifier: MIT
// What is asked about a cell that is known by its inequalities?
//
// How lines (hyperplanes here) divide it, with a proof or not at all. cells/dictionary.hpp has the answers, and is compiled for several
// generations of processors (kernel/dictionaries_*.cpp): nearly all time of a count goes there.
#pragma once

#include <cstdint>
#include <memory>

#include "task/monitor.hpp"

namespace regions {

enum class Division { crosses, above, below, unknown };

// Points and forms have `width` numbers: a constant or 1, D coordinates, and zeros.
class Dictionaries {
 public:
  virtual ~Dictionaries() = default;

  // A cell in the box |x_k| <= reach[k].
  virtual void begin(int dimension, const double* reach) = 0;

  // An inequality form >= 0, and then the lines. In the box the form's values are off by at most the margin, rounding of (D + 3) u times
  // the sum of |terms| included. The steepness bounds the 1-norm of its true gradient.
  virtual void add_facet(const double* form, double margin, double steepness) = 0;
  virtual void add_line(const double* form, double margin) = 0;

  // Starts from a point; returns whether it is proven to be inside, and a vertex was found.
  virtual bool start(const double* point) = 0;

  // The line's side of the cell. If it crosses the cell, finds a proven point on each side.
  virtual Division side(int line, double* here, double* there) = 0;

  // The number of regions of the lines, all of which cross the cell; may stop once it is more than `most`. -1 if it is not known.
  virtual std::int64_t count(std::int64_t most, Monitor& monitor) = 0;
};

std::unique_ptr<Dictionaries> make_dictionaries(int width);

using MakeDictionaries = std::unique_ptr<Dictionaries> (*)(int width);

}  // namespace regions
