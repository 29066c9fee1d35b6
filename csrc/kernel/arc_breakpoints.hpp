// SPDX-License-Identifier: MIT
// Where on a part of an arc is a sinusoid zero?
//
// A part of the circle from p0 to p1, less than half a turn, is a rational curve: with s from 0 to 1, z where the
// tangents at both ends meet, and three positive weights, its points are
// (w0 (1-s)^2 p0 + 2 wz s (1-s) z + w1 s^2 p1) / (the same without points)
// So values of an affine map there are the same averages of its values at p0, z and p1, without angles or roots.
// A part between s and r is such a curve again, with averages for its new ends and apex. The tangent of half the angle
// between two points is T wz (r - s) / N(s, r), where N is the average of the weights and T belongs to the whole.
// A zero is found by solving a quadratic, at the rounded parameter, and then proven: where the sinusoid is at
// most e, its slope L, and its second derivative at most M, a zero is within 1.25 e / L if e M <= L^2 / 8.
// The proof is in docs/arcs.md.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernel/breakpoints.hpp"
#include "rows/twice.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

template <class Number>
Number number(double high, double low);
template <>
inline double number<double>(double high, double) {
  return high;
}
template <>
inline Twice number<Twice>(double high, double low) {
  return {high, low};
}
inline double high_of(double value) { return value; }
inline double high_of(Twice value) { return value.high; }
inline double low_of(double) { return 0; }
inline double low_of(Twice value) { return value.low; }

// The shares of the apex and the end in an average (the share of the start is the rest), and N.
template <class Number>
struct Average {
  Number apex;
  Number end;
  Number weight;
};

template <class Number>
Number share_of(const Crossing& crossing) {
  return number<Number>(crossing.share, crossing.share_low);
}

// The average for the apex of the part between two parameters, or, if they are equal, for a point.
template <class Number>
Average<Number> average(const LayerSweep& here, std::size_t k, Number place, Number other) {
  const Number one = number<Number>(1, 0);
  const Number rest = one - place;
  const Number other_rest = one - other;
  const auto weight = [&](int i) { return number<Number>(here.weights[i][k], here.low_weights[i][k]); };
  const Number start = weight(0) * (rest * other_rest);
  const Number apex = weight(1) * (place * other_rest + rest * other);
  const Number end = weight(2) * (place * other);
  const Number sum = (start + apex) + end;
  return {apex / sum, end / sum, sum};
}

// Rounding of averages after this many layers, in units of the largest averaged value.
inline double rounding_of_averages(int layers, bool doubled) {
  return doubled ? 0x1p11 * (layers + 1) * unit_roundoff * unit_roundoff : 32.0 * (layers + 1) * unit_roundoff;
}

// Values of a unit at the start, the apex and the end of a part of the arc, and bounds on their errors.
struct Wave {
  double high[3];
  double low[3];
  double off[3];
};

// Finds the zero where the sinusoid rises, or falls; returns false if it is not proven.
template <class Number>
bool place_on_arc(const LayerSweep& here, const Wave& wave, int layer, Crossing& crossing) {
  const std::size_t k = crossing.after;
  const double direction = crossing.rising ? 1 : -1;
  Number values[3];
  double weights[3];
  double weighted[3];
  double largest = 0;
  for (int i = 0; i < 3; ++i) {
    values[i] = number<Number>(direction * wave.high[i], direction * wave.low[i]);
    weights[i] = here.weights[i][k];
    weighted[i] = weights[i] * direction * wave.high[i];
    largest = at_least(largest, std::fabs(weighted[i]));
  }
  int exponent = 0;
  if (!(largest > 0x1p-300 && largest < 0x1p300)) {
    std::frexp(largest, &exponent);
    for (double& value : weighted) value = std::ldexp(value, -exponent);
  }
  const double root = std::sqrt(weighted[1] * weighted[1] - weighted[0] * weighted[2]);
  const double numerator = weighted[1] <= 0 ? root - weighted[1] : -weighted[0];
  const double denominator = numerator + (weighted[1] <= 0 ? weighted[2] : root + weighted[1]);
  const double share = numerator / denominator;
  if (!(share >= 0 && share <= 1)) return false;
  const auto missed = [&](Number place) {
    const Average<Number> of = average<Number>(here, k, place, place);
    return values[0] + (of.apex * (values[1] - values[0]) + of.end * (values[2] - values[0]));
  };
  crossing.share = share;
  crossing.share_low = 0;
  if (here.doubled()) {
    const double weight = high_of(average<Number>(here, k, number<Number>(share, 0), number<Number>(share, 0)).weight);
    const double slope =
        2 * ((weighted[1] - weighted[0]) * (1 - share) + (weighted[2] - weighted[1]) * share) / weight;
    const double miss = high_of(missed(number<Number>(share, 0)));
    const double correction = -(exponent == 0 ? miss : std::ldexp(miss, -exponent)) / slope;
    if (!(std::fabs(correction) < 0x1p-30)) return false;
    const Twice corrected = two_sum(share, correction);
    if (!(corrected.high >= 0 && corrected.high <= 1 && !(corrected.high == 1 && corrected.low > 0))) return false;
    if (corrected.high == 0 && corrected.low < 0) return false;
    crossing.share = corrected.high;
    crossing.share_low = corrected.low;
  }
  const double size = std::fabs(wave.high[0]) + std::fabs(wave.high[1]) + std::fabs(wave.high[2]);
  const double off = at_least(at_least(wave.off[0], wave.off[1]), wave.off[2]);
  const double miss = std::fabs(high_of(missed(number<Number>(crossing.share, crossing.share_low))));
  crossing.error = (off + miss + 2 * rounding_of_averages(layer, here.doubled()) * size) * slack + room_for_underflow;
  // The values where the tangent at the zero meets the tangents at both ends, and the distances of these two points from the
  // zero. The bound on the bend is valid up to half the length beyond the ends.
  const double at = crossing.share;
  const double rest = 1 - at;
  const double before = weights[1] * at / (weights[0] * rest + weights[1] * at);
  const double after = weights[1] * rest / (weights[1] * rest + weights[2] * at);
  const double apex = direction * wave.high[1];
  const double first = direction * wave.high[0] + before * (apex - direction * wave.high[0]);
  const double second = direction * wave.high[2] + after * (apex - direction * wave.high[2]);
  const double unseen = 4 * rounding_of_averages(layer, false) * size;
  const double slope = ((second - first) - (2 * off + unseen) * slack) / ((before + after) * slack);
  const double square = here.length[k] * here.length[k];
  const double middle = (wave.high[0] + wave.high[2]) / 2;
  const double bend = ((std::fabs(wave.high[1] - middle) + 2 * off + unseen) * (1 + square) +
                       square * (std::fabs(wave.high[2] - wave.high[0]) + 2 * off + unseen)) *
                      slack;
  crossing.slip = 1.25 * (crossing.error / slope) * slack;
  return slope > 0 && crossing.error / slope * bend <= slope / 8.01 && crossing.slip < 0.5;
}

// Sorts crossings; false if they may coincide or be in another order. An angle is at least 1.5 times the tangent of its half.
inline bool in_order_on_arc(const LayerSweep& here, Crossing* first, Crossing* end) {
  std::sort(first, end, [](const Crossing& left, const Crossing& right) {
    return left.share != right.share ? left.share < right.share : left.share_low < right.share_low;
  });
  for (Crossing* crossing = first; crossing + 1 < end; ++crossing) {
    const std::size_t k = crossing->after;
    const double weight = average<double>(here, k, crossing->share, crossing[1].share).weight;
    const double apart = 1.5 * here.weights[1][k] * gap(*crossing, crossing[1]) / weight;
    if (!(apart > (crossing->slip + crossing[1].slip) * slack + 0x1p-76)) return false;
  }
  return true;
}

// Returns whether a sinusoid with one sign at both ends, and maybe not at the apex, is certainly not zero between them.
inline bool surely_apart(const LayerSweep& here, std::size_t k, const Wave& wave) {
  const double largest = at_least(at_least(std::fabs(wave.high[0]), std::fabs(wave.high[1])), std::fabs(wave.high[2]));
  const auto scaled = [&](double value) { return value / largest; };
  const double start = scaled(std::fabs(wave.high[0]) - wave.off[0] * slack);
  const double apex = scaled(std::fabs(wave.high[1]) + wave.off[1] * slack);
  const double end = scaled(std::fabs(wave.high[2]) - wave.off[2] * slack);
  const double weight = here.weights[1][k];
  return start > 0x1p-300 && end > 0x1p-300 &&
         here.weights[0][k] * here.weights[2][k] * start * end > slack * slack * weight * weight * apex * apex;
}

}  // namespace REGIONS_TARGET
}  // namespace regions
