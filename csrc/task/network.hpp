// SPDX-License-Identifier: MIT
// How does the core represent a network and its chart?
//
// A network is a chain of layers. A unit's pre-activation h is an affine form of the previous layer's outputs; its output is
// piecewise linear in h: on piece k, where breakpoint[k-1] < h <= breakpoint[k], it is slope[k] * h + intercept[k]. Weights,
// slopes and intercepts are never multiplied in advance: their products are in general not doubles, and results must be exact for
// the numbers as they are stored. Units may instead have several rows each, their *branches* (`arms` in the code), and be the
// largest of these: the piece is the number of the argmax branch, the lowest of branches that are equal on a cell. The kinks of
// such a unit are its pairs of branches a < b, in the order (0, 1), (0, 2), (1, 2), (0, 3), .., with the form
// (branch b) - (branch a), and the bit of a pair is 1 iff b is the argmax.
//
// Layer 0 is the chart: input coordinate i is the affine form origin[i] + sum_j direction[j][i] * p[j] of the
// chart's coordinates p, and has one piece, the identity. Everything else follows from layer to layer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "task/operator.hpp"

namespace regions {

// Largest number of limbs of rows (rows/limbs.hpp).
constexpr int most_limbs = 4;

struct Layer {
  int units = 0;
  int own = 0;                      // of these; the others are pass-through units, outputs of the layer below, always on one piece
  const std::int32_t* arms = nullptr;      // [own + 1]: the first row of each of them, and their end; null if each has one row
  std::vector<std::int32_t> unit_of;       // [rows], if units have branches
  std::vector<std::int64_t> pairs_before;  // [own + 1], of branches, in the units before
  int inputs = 0;
  LinearOperator weights;           // [rows and passed units, inputs]
  std::vector<int> order;           // [rows], in which they are written; empty if it is the natural order
  std::vector<int> group_of;        // [rows], in that order: only rows of one group are written together; empty: all
  double multiply_adds = 0;         // of weights with outputs
  int most_terms = 0;               // largest number of terms of a row
  const double* biases = nullptr;   // [rows and passed units]
  int kinks = 0;                    // breakpoints of each unit; its pieces are kinks + 1. 0 if units have branches
  const double* breakpoints = nullptr;  // [units, kinks], increasing for each unit
  const double* slopes = nullptr;       // [units, kinks + 1]
  const double* intercepts = nullptr;   // [units, kinks + 1]
  // [units, kinks]: for each kink the first one of the layer with certainly the same line, or, if its form is a negative
  // multiple of the other, ~ this number. Empty if all lines differ.
  std::vector<std::int32_t> same_line;
  const double* norms = nullptr;        // [rows and passed units], upper bounds on the 2-norms of the weights' rows
  double largest_norm = 0;              // of these
  double largest_sum = 0;               // of the absolute values of a row's weights
  double largest_bias = 0;              // in absolute value
  double gain = 0;                      // upper bound on the spectral norm of the weights, times the largest |slope|
  double growth = 1;                    // a guess: growth of error bounds relative to the growth of values
  std::int64_t first_kink = 0;          // index of the layer's first kink in the whole network's numbering
  std::int64_t first_unit = 0;

  int highest_piece(int unit) const { return unit < own ? kinks : 0; }
  const double* breakpoints_of(int unit) const { return breakpoints + std::size_t(unit) * std::size_t(kinks); }
  double slope(int unit, int piece) const {
    return arms != nullptr ? 1 : slopes[std::size_t(unit) * (kinks + 1) + piece];
  }
  double intercept(int unit, int piece) const {
    return arms != nullptr ? 0 : intercepts[std::size_t(unit) * (kinks + 1) + piece];
  }
  std::int64_t kink(int unit, int breakpoint) const {
    return first_kink + (arms != nullptr ? pairs_before[std::size_t(unit)] : std::int64_t(unit) * kinks) + breakpoint;
  }
  // Returns whether two kinks of the layer, counted from its first, certainly have the same line.
  bool have_same_line(std::int64_t one, std::int64_t other) const {
    const std::int32_t first = same_line[std::size_t(one)];
    const std::int32_t second = same_line[std::size_t(other)];
    return first == second || first == ~second;
  }
  double breakpoint(int unit, int kink) const { return arms != nullptr ? 0 : breakpoints_of(unit)[kink]; }
  bool has_maxima() const { return arms != nullptr; }
  bool is_always_affine() const { return kinks == 0 && arms == nullptr; }
  int rows() const { return arms != nullptr ? arms[own] : own; }
  // The row that a unit follows on a piece.
  int row_of(int unit, int piece) const {
    return arms == nullptr ? unit : unit < own ? arms[unit] + piece : arms[own] + (unit - own);
  }

  // Of a kink of the layer, counted from its first.
  struct KinkOfUnit {
    int unit;
    int kink;
  };
  KinkOfUnit kink_at(std::int64_t local) const {
    if (arms == nullptr) return {int(local / kinks), int(local % kinks)};
    const auto after = std::upper_bound(pairs_before.begin(), pairs_before.end(), local);
    const int unit = int(after - pairs_before.begin()) - 1;
    return {unit, int(local - pairs_before[std::size_t(unit)])};
  }
};

// Two branches of a unit, the lower one first, and the number of the pair.
struct PairOfArms {
  int first;
  int second;

  int number() const { return second * (second - 1) / 2 + first; }
  static PairOfArms at(int number) {
    int second = 1;
    while (second * (second + 1) / 2 <= number) ++second;
    return {number - second * (second - 1) / 2, second};
  }
};

// Hidden layers: an affine output layer makes no region. layers[0] is the chart's (units = n_in, no weights). If the maps of the
// outputs are requested, layers without kinks follow, the last of which has the outputs. They do not change the recursion.
struct Network {
  std::vector<Layer> layers;
  int output_layers = 0;  // number of layers at the end that only compute outputs
  // Units of the last hidden layer, in groups. A group is excluded on a cell if one of its units is proven to be below its
  // first breakpoint all over the cell; regions where all groups are excluded are not wanted. A unit with ~g instead of its
  // group g has one breakpoint, and excludes the group also if it is above that.
  std::vector<std::int32_t> group_of;  // [units]; empty if all regions are wanted
  int groups = 0;
  std::int64_t total_kinks = 0;
  std::int64_t total_units = 0;
  // Whether collected patterns are followed by as many bits for the kinks that are zero all over the region.
  bool keeps_zeros = false;

  std::size_t pattern_bytes() const { return std::size_t(total_kinks + 7) / 8; }
  std::size_t kept_bytes() const { return (keeps_zeros ? 2 : 1) * pattern_bytes(); }

  int last() const { return int(layers.size()) - 1; }
  int last_hidden() const { return last() - output_layers; }
  bool has_outputs(int layer) const { return output_layers > 0 && layer == last(); }
  int outputs() const { return output_layers > 0 ? layers.back().units : 0; }

  // Returns whether each unit has one row, which reads all units of the layer below, and nothing else.
  bool is_whole() const {
    for (std::size_t layer = 1; layer < layers.size(); ++layer)
      if (!layers[layer].weights.is_whole()) return false;
    return true;
  }
};

struct Chart {
  int dimension = 0;
  int inputs = 0;
  const double* origin = nullptr;      // [inputs]
  const double* directions = nullptr;  // [dimension, inputs]
};

// The domain in the chart, by homogeneous generators (w, p): w = 1 is a vertex, w = 0 the vertex (1, M p) for a
// symbolic M larger than any number, so that whole lines and planes are very large segments and polygons. Or an arc of
// the unit circle, in a plane's chart: (0, p) and (0, q) are the directions of its ends.
// From dimension three on: where all `forms` are at least zero. The generators are then corners that may be rounded, and only tell sizes.
struct Domain {
  int count = 0;
  const double* generators = nullptr;  // [count, dimension + 1], counter-clockwise when dimension is 2
  bool arc = false;
  int form_count = 0;
  const double* forms = nullptr;  // [form_count, dimension + 1], each a constant and a gradient
};

}  // namespace regions
