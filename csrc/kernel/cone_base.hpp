// SPDX-License-Identifier: MIT
// Where are rows bounded if the cell is unbounded?
//
// The points (1, p) of a cell and its directions (0, d) generate a cone in R^(D+1). Let w be a linear function that is above 0 at
// all corners. The base of the cone is its part with w = 1. It is bounded: the convex hull of the corners, each divided by its w.
// If all units map t h to t phi(h), then each pre-activation maps t g to t h(g). So a bound a(g) + b on the base is the bound a + b w on
// the cone, and a sign that is the same all over the base is the same all over the cell. Proof in docs/error-bounds.md.
//
// A cell that contains a line has no such w; nor is one used if rounding leaves a doubt. Cost: a few operations per corner.
#pragma once

#include <cmath>
#include <vector>

#include "kernel/sign.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

template <class Cell>
class ConeBase {
 public:
  static constexpr int D = Cell::dimension;

  // Finds the base of a cell's cone; false if it is not known. A corner with the number `origin` is left out.
  bool find(const Cell& cell, int origin) {
    positions_.clear();
    extent_ = Extent<Cell>();
    extent_.dims = dims_of(cell);
    extent_.bounded = false;
    AffineLanes<D> w = above_zero_at_directions(cell);
    double least = INFINITY;
    double greatest = -INFINITY;
    double far = 0;
    for (int i = 0; i < cell.count; ++i) {
      const Vertex<D>& corner = *cell.vertices[i];
      if (i == origin || corner.position[0] == 0) continue;
      const double at = value(w, corner);
      least = std::fmin(least, at);
      greatest = std::fmax(greatest, at);
      far = at_least(far, largest_coordinate(corner, extent_.dims));
    }
    if (greatest >= least) w[0] = (greatest > least ? greatest - least : far > 0 ? far : 1) - least;

    for (int i = 0; i < cell.count; ++i)
      if (i != origin && !add(w, *cell.vertices[i])) return false;
    extent_.one = w;
    extent_.terms = 0;
    double sum = 0;
    for (int k = 0; k <= extent_.dims; ++k) {
      extent_.largest[k] += extent_.error;
      extent_.terms += 1.01 * std::fabs(w[k]) * extent_.largest[k];
      sum += extent_.largest[k];
    }
    extent_.underflow = room_for_underflow * (1 + sum);
    return true;
  }

  // Sets the least and greatest values of affine forms at the corners of the base.
  void values(const RowLanes* upper, const RowLanes* lower, RowLanes& high, RowLanes& low) const {
    with_dims<D>(extent_.dims, [&](auto n) {
      high = values_at<n()>(upper, positions_.data());
      low = values_at<n()>(lower, positions_.data());
      for (std::size_t i = n() + 1; i < positions_.size(); i += n() + 1) {
        const RowLanes above = values_at<n()>(upper, positions_.data() + i);
        const RowLanes below = values_at<n()>(lower, positions_.data() + i);
        high = above > high ? above : high;
        low = below < low ? below : low;
      }
    });
  }

  const Extent<Cell>& extent() const { return extent_; }

 private:
  double value(const AffineLanes<D>& w, const Vertex<D>& corner) const {
    double sum = 0;
    for (int k = 0; k <= extent_.dims; ++k) sum += w[k] * corner.position[k];
    return sum;
  }

  // The sum of all directions, divided by their lengths.
  AffineLanes<D> above_zero_at_directions(const Cell& cell) const {
    AffineLanes<D> sum{};
    for (int i = 0; i < cell.count; ++i) {
      const double* direction = cell.vertices[i]->position;
      if (direction[0] != 0) continue;
      double square = 0;
      for (int k = 1; k <= extent_.dims; ++k) square += direction[k] * direction[k];
      for (int k = 1; k <= extent_.dims; ++k) sum[k] += direction[k] / std::sqrt(square);
    }
    return sum;
  }

  // Adds a corner, divided by its w. Returns whether its w is certainly above 0.
  bool add(const AffineLanes<D>& w, const Vertex<D>& corner) {
    double size = std::fabs(w[0] * corner.position[0]);
    double steepness = 0;
    for (int k = 1; k <= extent_.dims; ++k) {
      size += std::fabs(w[k] * corner.position[k]);
      steepness += std::fabs(w[k]);
    }
    const double here = value(w, corner);
    const double off = 1.01 * (steepness * corner.error + unit_roundoff * (extent_.dims + 3) * size) + room_for_underflow;
    if (!(here > 0x1p10 * off && here < INFINITY)) return false;
    double reach = 0;
    for (int k = 0; k <= extent_.dims; ++k) {
      positions_.push_back(corner.position[k] / here);
      const double coordinate = std::fabs(positions_.back());
      reach = at_least(reach, coordinate);
      extent_.largest[k] = at_least(extent_.largest[k], coordinate);
    }
    const double error = 1.01 * (corner.error + reach * off) / (here - off) + 2 * unit_roundoff * reach + room_for_underflow;
    extent_.error = at_least(extent_.error, error);
    return error < INFINITY;
  }

  Extent<Cell> extent_;
  std::vector<double> positions_;  // [corners, D + 1]
};

}  // namespace REGIONS_TARGET
}  // namespace regions
