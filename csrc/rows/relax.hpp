// SPDX-License-Identifier: MIT
// What are affine bounds on a unit's output, over a cell?
//
// If the pre-activation h is only known to lie in [low, high], the output phi(h) lies between two affine functions
// of h. A convex phi is bounded from above by its chord and from below by its first or last piece (the one with the smaller gap), a
// concave phi the other way round; any other phi by two parallels of the chord.
// The idea is from Singh et al. 2018 (DeepZ) and Zhang et al. 2018 (CROWN). Loose bounds only cost time.
// Every bound is widened by its rounding, so decisions by bounds are proven.
#pragma once

#include <algorithm>
#include <cmath>

#include "rows/panel.hpp"
#include "rows/rows.hpp"
#include "task/network.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// One column: the output lies in center +- radius, as affine forms. The last lane of `radius` bounds the sum of the
// absolute values of the terms of both over the cell; `size` is the size of the output itself, as in Row.
template <int D>
struct Relaxation {
  AffineLanes<D> center;
  AffineLanes<D> radius;
  AffineLanes<D> size;
};

// Sets the rows' sizes, from their own terms and the sizes of their columns.
template <int D>
void set_sizes(const Relaxation<D>* columns, Panel<D>& panel) {
  RowLanes size[D + 1];
  for (int k = 0; k <= panel.dims; ++k)
    size[k] = floored_sizes(absolute(panel.value[k]) + panel.own[k]);  // not 0 where terms have cancelled
  for_each_column(panel, [&](int place, int column, auto magnitudes) {
    const RowLanes weight = magnitudes(load<RowLanes>(panel.coefficients + place * rows_at_once));
    for (int k = 0; k <= panel.dims; ++k) size[k] += weight * columns[column].size[k];
  });
  for (int k = 0; k <= panel.dims; ++k) panel.size[k] = floored_sizes(size[k]);  // the product of two small factors is smaller
}

// A panel of rows, in the same terms: their forms plus their weights times their columns.
template <int D>
struct PanelRelaxation {
  RowLanes center[D + 1];
  RowLanes radius[D + 1];
  RowLanes scale;  // the last lane of Relaxation::radius
};

template <int N, int D>
void weighted(Panel<D>& panel, const Relaxation<D>* columns, const AffineLanes<D>& largest, PanelRelaxation<D>& sum) {
  RowLanes size[N + 1];
  sum.scale = RowLanes{};
  for (int k = 0; k <= N; ++k) {
    const RowLanes magnitude = absolute(panel.value[k]);
    sum.center[k] = panel.value[k];
    sum.radius[k] = RowLanes{};
    sum.scale += magnitude * largest[k];
    size[k] = floored_sizes(magnitude);
  }
  for_each_column(panel, [&](int place, int column, auto magnitudes) {
    const RowLanes weight = load<RowLanes>(panel.coefficients + place * rows_at_once);
    const RowLanes magnitude = magnitudes(weight);
    const Relaxation<D>& of = columns[column];
    for (int k = 0; k <= N; ++k) {
      sum.center[k] += weight * of.center[k];
      sum.radius[k] += magnitude * of.radius[k];
      size[k] += magnitude * of.size[k];
    }
    sum.scale += magnitude * of.radius[LaneCount<D>::value - 1];
  });
  for (int k = 0; k <= N; ++k) panel.size[k] = floored_sizes(size[k] + panel.own[k]);
}

// Also sets the rows' sizes.
template <int D>
PanelRelaxation<D> weighted(Panel<D>& panel, const Relaxation<D>* columns, const AffineLanes<D>& largest) {
  PanelRelaxation<D> sum;
  with_dims<D>(panel.dims, [&](auto n) { weighted<n()>(panel, columns, largest, sum); });
  return sum;
}

struct Band {
  double lower_slope, lower_intercept;
  double upper_slope, upper_intercept;
};

// phi on [low, high], which only meets the pieces first..last.
REGIONS_INLINE Band band(const Layer& layer, int unit, int first, int last, double low, double high) {
  const double* slopes = layer.slopes + std::size_t(unit) * std::size_t(layer.kinks + 1);
  const double* intercepts = layer.intercepts + std::size_t(unit) * std::size_t(layer.kinks + 1);
  bool convex = true;
  bool concave = true;
  for (int piece = first; piece < last; ++piece) {
    convex = convex && slopes[piece] <= slopes[piece + 1];
    concave = concave && slopes[piece] >= slopes[piece + 1];
  }
  const double at_low = slopes[first] * low + intercepts[first];
  const double at_high = slopes[last] * high + intercepts[last];
  const double chord = (at_high - at_low) / (high - low);
  const double room = 16 * unit_roundoff *
                      ((std::fabs(slopes[first]) + std::fabs(chord)) * std::fabs(low) + std::fabs(intercepts[first]) +
                       (std::fabs(slopes[last]) + std::fabs(chord)) * std::fabs(high) + std::fabs(intercepts[last])) +
                      room_for_underflow;
  const double left = at_low - chord * low;
  const double right = at_high - chord * high;
  Band result{chord, (left < right ? left : right) - room, chord, (left > right ? left : right) + room};
  const int extreme = -low > high ? first : last;
  if (convex) {
    result.lower_slope = slopes[extreme];
    result.lower_intercept = intercepts[extreme];
  } else if (concave) {
    result.upper_slope = slopes[extreme];
    result.upper_intercept = intercepts[extreme];
  } else {
    for (int piece = first; piece < last; ++piece) {
      const double kink = layer.breakpoints_of(unit)[piece];
      const double steepness = std::fabs(slopes[piece]) + std::fabs(chord);
      const double error = 16 * unit_roundoff * (steepness * std::fabs(kink) + std::fabs(intercepts[piece])) +
                           room_for_underflow;
      const double gap = slopes[piece] * kink + intercepts[piece] - chord * kink;
      result.lower_intercept = std::fmin(result.lower_intercept, gap - error);
      result.upper_intercept = std::fmax(result.upper_intercept, gap + error);
    }
  }
  return result;
}

// The pre-activation lies between lower and upper, each off by at most `margin`; `scale` bounds their terms, and `size`
// the terms of the row. The form `one` is 1 everywhere, and `terms` bounds its terms.
template <int D>
Relaxation<D> relax(const Layer& layer, const Row<D>& row, const AffineLanes<D>& size, AffineLanes<D> lower,
                    AffineLanes<D> upper, double low, double high, double margin, double scale,
                    const AffineLanes<D>& one, double terms, double underflow) {
  const int first = row.lowest_piece;
  const int last = row.highest_piece;
  const Band bounds = band(layer, row.unit, first, last, low, high);
  AffineLanes<D> above = (bounds.upper_slope >= 0 ? upper : lower) * bounds.upper_slope;
  AffineLanes<D> below = (bounds.lower_slope >= 0 ? lower : upper) * bounds.lower_slope;
  const double steepest = std::max(std::fabs(bounds.upper_slope), std::fabs(bounds.lower_slope));
  const double offset = std::max(std::fabs(bounds.upper_intercept), std::fabs(bounds.lower_intercept));
  const double room = steepest * margin + 16 * unit_roundoff * (steepest * scale + offset * terms) + underflow;
  above += (bounds.upper_intercept + room) * one;
  below += (bounds.lower_intercept - room) * one;

  double slope = 0;
  double intercept = 0;
  for (int piece = first; piece <= last; ++piece) {
    slope = std::max(slope, std::fabs(layer.slope(row.unit, piece)));
    intercept = std::max(intercept, std::fabs(layer.intercept(row.unit, piece)));
  }
  Relaxation<D> result;
  result.center = (above + below) * 0.5;
  result.radius = (above - below) * 0.5;
  result.radius[LaneCount<D>::value - 1] = 2 * (steepest * scale + (offset + room) * terms);
  result.size = floored<D>(size * (slope == 0 ? 0 : std::max(slope, floor_of_sizes)));
  result.size[0] += floored_size(intercept);
  return result;
}

}  // namespace REGIONS_TARGET
}  // namespace regions
