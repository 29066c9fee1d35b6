// SPDX-License-Identifier: MIT
// Where do D boundaries meet in a point, for several points at once?
//
// With A the gradients of the D forms and c their constants less the breakpoints: B, about the inverse of A, by elimination with
// pivots; p = -B c, and one Newton step p -= B (A p + c). Each lane is a point of its own.
// Proof of the bound. Let A* and c* be the true numbers, |A* - A| <= E, and p* the true point. The true values at p,
// A* p + c* = A* (p - p*), are at most m: the computed values, the rows' errors and the rounding, as in `evaluate`. Then
// (I - R)(p - p*) = B (A* p + c*) with R = I - B A*, whose rows sum to at most
//     alpha = max_k sum_a (|I - B A|_ka + (|B| E)_ka + (D + 3) u (|B| |A| + I)_ka).
// If alpha < 1, A* is regular, so the boundaries meet in one point, and max_k |p - p*|_k <= max_k (|B| m)_k / (1 - alpha).
// So errors do not accumulate from cut to cut. Cost: O(D^3) operations for each panel of points.
#pragma once

#include <cmath>

#include "cells/vertex.hpp"
#include "rows/panel.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

template <int D>
class Meeting {
 public:
  RowLanes position[D];
  RowLanes error;  // bound on the largest coordinate's distance; infinite if nothing is proven

  // The point of lane r is where the facets named[r] meet.
  Meeting(const Facet<D>* const (*named)[D], Dims<D> dims) {
    with_dims<D>(dims, [&](auto n) { solve<n()>(named); });
  }

 private:
  template <int N>
  void solve(const Facet<D>* const (*named)[D]) {
    for (int a = 0; a < N; ++a) {
      const Row<D>* rows[rows_at_once];  // read once, not for each number
      for (int r = 0; r < rows_at_once; ++r) rows[r] = named[r][a]->row;
      constant_[a] = side_by_side([&](int r) { return rows[r]->value[0]; });
      constant_error_[a] = side_by_side([&](int r) { return rows[r]->error[0]; });
      kink_[a] = side_by_side([&](int r) { return named[r][a]->breakpoint; });
      for (int k = 0; k < N; ++k) {
        gradient_[a][k] = side_by_side([&](int r) { return rows[r]->value[k + 1]; });
        gradient_error_[a][k] = side_by_side([&](int r) { return rows[r]->error[k + 1]; });
      }
    }
    invert<N>();
    RowLanes miss[N];
    for (int k = 0; k < N; ++k) {
      position[k] = RowLanes{};
      for (int a = 0; a < N; ++a) position[k] -= inverse_[k][a] * (constant_[a] - kink_[a]);
    }
    for (int a = 0; a < N; ++a) {
      miss[a] = constant_[a] - kink_[a];
      for (int k = 0; k < N; ++k) miss[a] += gradient_[a][k] * position[k];
    }
    for (int k = 0; k < N; ++k)
      for (int a = 0; a < N; ++a) position[k] -= inverse_[k][a] * miss[a];
    bound<N>(miss);
  }

  // Gauss and Jordan's elimination; each lane chooses its pivots.
  template <int N>
  void invert() {
    RowLanes rest[N][N];
    for (int a = 0; a < N; ++a)
      for (int k = 0; k < N; ++k) {
        rest[a][k] = gradient_[a][k];
        inverse_[a][k] = everywhere(a == k ? 1.0 : 0.0);
      }
#pragma GCC unroll 10
    for (int c = 0; c < N; ++c) {  // all loops then have constant ends
      for (int b = c + 1; b < N; ++b) {
        const RowMask larger = absolute(rest[b][c]) > absolute(rest[c][c]);
        for (int k = c; k < N; ++k) exchange(larger, rest[b][k], rest[c][k]);
        for (int k = 0; k < N; ++k) exchange(larger, inverse_[b][k], inverse_[c][k]);
      }
      const RowLanes scale = 1.0 / rest[c][c];
      for (int k = c + 1; k < N; ++k) rest[c][k] *= scale;
      for (int k = 0; k < N; ++k) inverse_[c][k] *= scale;
      for (int b = 0; b < N; ++b) {
        if (b == c) continue;
        const RowLanes factor = rest[b][c];
        for (int k = c + 1; k < N; ++k) rest[b][k] -= factor * rest[c][k];
        for (int k = 0; k < N; ++k) inverse_[b][k] -= factor * inverse_[c][k];
      }
    }
  }

  static void exchange(RowMask where, RowLanes& one, RowLanes& other) {
    const RowLanes before = one;
    one = where ? other : one;
    other = where ? before : other;
  }

  template <int N>
  void bound(RowLanes* miss) {
    for (int a = 0; a < N; ++a) {
      RowLanes value = constant_[a] - kink_[a];
      RowLanes size = absolute(constant_[a]) + absolute(kink_[a]);
      RowLanes off = constant_error_[a];
      for (int k = 0; k < N; ++k) {
        const RowLanes reach = absolute(position[k]);
        value += gradient_[a][k] * position[k];
        size += absolute(gradient_[a][k]) * reach;
        off += gradient_error_[a][k] * reach;
      }
      miss[a] = absolute(value) + 1.01 * (off + unit_roundoff * ((N + 3) * size)) + room_for_underflow;
    }
    // The sums over a of the other terms need the sums of the rows of |A| and E alone.
    RowLanes sizes[D];
    for (int j = 0; j < N; ++j) {
      sizes[j] = RowLanes{};
      for (int a = 0; a < N; ++a) sizes[j] += gradient_error_[j][a] + unit_roundoff * ((N + 3) * absolute(gradient_[j][a]));
    }
    RowLanes farthest{};
    RowLanes apart{};
    for (int k = 0; k < N; ++k) {
      RowLanes distance{};
      RowLanes difference = everywhere(unit_roundoff * (N + 3) + N * room_for_underflow);
      for (int j = 0; j < N; ++j) {
        const RowLanes factor = absolute(inverse_[k][j]);
        distance += factor * miss[j];
        difference += factor * sizes[j];
      }
      for (int a = 0; a < N; ++a) {
        RowLanes product = everywhere(k == a ? -1.0 : 0.0);
        for (int j = 0; j < N; ++j) product += inverse_[k][j] * gradient_[j][a];
        difference += absolute(product);
      }
      farthest = at_least(farthest, distance);
      apart = at_least(apart, difference);
    }
    const RowLanes certain = 1 - 1.01 * apart;
    const RowLanes proven = 1.01 * (farthest + room_for_underflow) / certain + 0x1p-1073;
    error = (certain > 0.5) & (proven < INFINITY) ? proven : everywhere(INFINITY);
  }

  RowLanes gradient_[D][D], gradient_error_[D][D], constant_[D], constant_error_[D], kink_[D];
  RowLanes inverse_[D][D];
};

// D - 1 of these facets, as independent of each other and of the first one as rounded arithmetic can see: Gram and Schmidt's method,
// with the longest remainder next. The bound of their meeting shows whether they are.
template <int D>
void choose_independent(const Facet<D>* const* facets, int count, const Facet<D>** chosen, double (*gradients)[D], Dims<D> dims) {
  for (int f = 0; f < count; ++f) {
    double size = 0;
    for (int k = 0; k < dims; ++k) size += std::fabs(facets[f]->row->value[k + 1]);
    for (int k = 0; k < dims; ++k) gradients[f][k] = facets[f]->row->value[k + 1] / size;
  }
  for (int step = 0; step < dims; ++step) {
    int best = step;
    double most = -1;
    for (int f = step == 0 ? 0 : 1; f < (step == 0 ? 1 : count); ++f) {
      double square = 0;
      for (int k = 0; k < dims; ++k) square += gradients[f][k] * gradients[f][k];
      if (square > most) {
        most = square;
        best = f;
      }
    }
    if (step > 0) chosen[step - 1] = facets[best];
    double axis[D];
    for (int k = 0; k < dims; ++k) axis[k] = gradients[best][k] / std::sqrt(most);
    for (int f = 0; f < count; ++f) {
      double along = 0;
      for (int k = 0; k < dims; ++k) along += axis[k] * gradients[f][k];
      for (int k = 0; k < dims; ++k) gradients[f][k] = f == best ? 0 : gradients[f][k] - along * axis[k];
    }
  }
}

}  // namespace REGIONS_TARGET
}  // namespace regions
