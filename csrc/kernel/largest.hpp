// SPDX-License-Identifier: MIT
// What are affine bounds on the largest of several rows, over a cell?
//
// Each branch h_a lies between two affine forms, lower_a and upper_a, up to its margin. The largest branch is at least as large as each
// branch: the lower bound is the lower form that is largest in the middle. The upper bound is a mean G of the upper
// forms that are largest at some corner, weighted by how far they are above the other such forms there, and raised until it
// is above all branches at all corners: for two branches, and on a segment, that is the chord.
// Proof: h_a <= upper_a + margin_a, and upper_a - G is affine, so it is largest at a corner. Its computed value there has the
// rounding errors of both values and the error of the corner. For upper_a both are in margin_a; for G, whose coefficients are
// means, in the largest margin, except for the rounding of a sum of D + 1 products of numbers whose absolute values add up to
// at most the largest scale. That is four margins at most.
// Cost: branches x corners.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernel/sign.hpp"
#include "rows/relax.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// A branch, and its bounds over the cell; `scale` bounds the terms of both forms.
template <int D>
struct ArmBounds {
  const Row<D>* row;
  AffineLanes<D> lower;
  AffineLanes<D> upper;
  double low, high;  // proven
  double margin;
  double scale;
};

template <int D>
using AllArmBounds = std::vector<ArmBounds<D>, AlignedAllocator<ArmBounds<D>>>;

// The same for an affine branch.
template <class Cell>
ArmBounds<Cell::dimension> bounds_of(const Row<Cell::dimension>& row, const Extent<Cell>& extent) {
  double size = 0;
  double error = 0;
  double steepness = 0;
  for (int k = 0; k <= extent.dims; ++k) {
    size += std::fabs(row.value[k]) * extent.largest[k];
    error += row.error[k] * extent.largest[k];
    if (k > 0) steepness += std::fabs(row.value[k]) + row.error[k];
  }
  const double margin =
      1.02 * (error + unit_roundoff * ((extent.dims + 3) * size) + steepness * extent.error) + extent.underflow;
  return {&row, row.value, row.value, -INFINITY, INFINITY, margin, size};
}

// Returns whether the row is 0 without any rounding, because it has no terms, such as the row of a neuron which is off.
template <int D>
bool is_nothing(const Row<D>& row) {
  bool nothing = true;
  for (int k = 0; k <= D; ++k) nothing = nothing && row.size[k] == 0;
  return nothing;
}

// Removes a branch if a proven bound shows that another one is above it, or, unless `above_only`, not below it with a lower number. If
// several branches are all zero the first remains; calls note(first, other) for each of the others.
template <int D, class Note>
void leave_winners(AllArmBounds<D>& arms, bool above_only, Note note) {
  const Row<D>* zero = nullptr;
  arms.erase(std::remove_if(arms.begin(), arms.end(), [&](const ArmBounds<D>& arm) {
    if (!is_nothing(*arm.row)) return false;
    if (zero != nullptr) {
      note(*zero, *arm.row);
      return true;
    }
    zero = arm.row;
    return false;
  }), arms.end());
  const auto best = std::max_element(arms.begin(), arms.end(), [](const auto& one, const auto& other) { return one.low < other.low; });
  const double low = best->low;
  const Row<D>* row = best->row;
  arms.erase(std::remove_if(arms.begin(), arms.end(), [&](const ArmBounds<D>& arm) {
    return arm.high < low || (!above_only && arm.high == low && arm_of(*row) < arm_of(*arm.row));
  }), arms.end());
}

template <class Cell>
class Largest {
 public:
  static constexpr int D = Cell::dimension;
  using Lanes = AffineLanes<D>;

  // `size` bounds the output of the unit.
  Relaxation<D> relax(const AllArmBounds<D>& arms, const Lanes& size, const Cell& cell, double underflow) {
    const std::size_t count = arms.size();
    double margin = 0;
    double scale = 0;
    for (const ArmBounds<D>& arm : arms) {
      margin = at_least(margin, arm.margin);
      scale = at_least(scale, arm.scale);
    }
    see_corners(arms, cell);
    Lanes above{};
    double total = 0;
    for (std::size_t a = 0; a < count; ++a) total += weights_[a];
    for (std::size_t a = 0; a < count; ++a) above += arms[a].upper * (weights_[a] / total);
    double lift = -INFINITY;
    for (int corner = 0; corner < cell.count; ++corner) {
      const double here = dot<D>(above, at(cell, corner));
      for (std::size_t a = 0; a < count; ++a) lift = at_least(lift, values_[std::size_t(corner) * count + a] - here);
    }
    const double room = 4 * margin + 64 * unit_roundoff * (scale + std::fabs(lift)) + underflow;
    above[0] += lift + room;
    Lanes below = arms[best_].lower;
    below[0] -= room;

    Relaxation<D> result;
    result.center = (above + below) * 0.5;
    result.radius = (above - below) * 0.5;
    result.radius[LaneCount<D>::value - 1] = 2 * (scale + std::fabs(lift) + room);
    result.size = size;
    return result;
  }

 private:
  static Lanes at(const Cell& cell, int corner) {
    Lanes position{};
    for (int k = 0; k <= dims_of(cell); ++k) position[k] = cell.vertices[corner]->position[k];
    return position;
  }

  // Computes the upper forms' values at the corners, the weights of the branches, and the branch that is best in the middle.
  void see_corners(const AllArmBounds<D>& arms, const Cell& cell) {
    const std::size_t count = arms.size();
    values_.resize(std::size_t(cell.count) * count);
    sums_.assign(count, 0);
    wins_.assign(count, false);
    for (int corner = 0; corner < cell.count; ++corner) {
      const Lanes position = at(cell, corner);
      double* here = values_.data() + std::size_t(corner) * count;
      for (std::size_t a = 0; a < count; ++a) {
        here[a] = dot<D>(arms[a].upper, position);
        sums_[a] += dot<D>(arms[a].lower, position);
      }
      wins_[std::size_t(std::max_element(here, here + count) - here)] = true;
    }
    best_ = std::size_t(std::max_element(sums_.begin(), sums_.end()) - sums_.begin());
    weights_.assign(count, 0);
    bool any = false;
    for (int corner = 0; corner < cell.count; ++corner) {
      const double* here = values_.data() + std::size_t(corner) * count;
      const std::size_t first = std::size_t(std::max_element(here, here + count) - here);
      double second = -INFINITY;
      for (std::size_t a = 0; a < count; ++a)
        if (a != first && wins_[a]) second = std::max(second, here[a]);
      const double ahead = here[first] - second;
      if (!(ahead < INFINITY)) continue;  // it is largest at all corners, or NaN
      weights_[first] = std::max(weights_[first], ahead);
      any = any || ahead > 0;
    }
    if (any) return;
    for (std::size_t a = 0; a < count; ++a) weights_[a] = wins_[a] ? 1 : 0;
  }

  std::vector<double> values_;  // [corners, branches]
  std::vector<double> sums_, weights_;
  std::vector<bool> wins_;
  std::size_t best_ = 0;
};

}  // namespace REGIONS_TARGET
}  // namespace regions
