// SPDX-License-Identifier: MIT
// What is known of a layer at breakpoints of a segment, and where are the next ones?
//
// The terms are defined in sweep.hpp: values are taken at real numbers p near the breakpoints. A unit that is on different
// sides of a kink at two of them meets it in between, at the fraction a / (a - b) of their distance, a and b being its values
// above the kink there. The p of the new breakpoint is *defined* by the rounded fraction, so its values are sums of the
// neighbours' values, and the unit's value there, divided by its slope, bounds the error of that p (its slip).
// The proof is in docs/segments.md.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "exact/exact.hpp"
#include "kernel/kernel.hpp"
#include "kernel/pieces.hpp"
#include "memory/arena.hpp"
#include "rows/products.hpp"
#include "rows/rows.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// A point between a breakpoint and the next where a unit changes its piece.
struct Crossing {
  std::size_t after;  // the breakpoint
  int unit;
  int kink;
  double share;      // its distance from there, as a fraction of the distance between both p
  double share_low;
  double slip;       // in the same units
  double error;      // of the unit's value there
  bool rising = false;  // computed on arcs only
  double share_rest[2] = {};  // third and fourth limbs of the share
};

// A candidate: a unit that crosses between a breakpoint and the next, or may do so twice.
struct Suspect {
  std::size_t after;
  int unit;
  int kink;
  bool once;
  bool up;  // whether it is below its kink at the breakpoint
};

struct Picked {
  std::size_t point;
  const Crossing* crossing;  // null for the point itself
};

// Values of a layer where the tangents at both ends of a part of an arc meet (kernel/apexes.hpp).
struct Apexes {
  std::vector<Picked> origin;      // of breakpoints, in the layer below
  double* bulge = nullptr;         // [count], bound on the 2-norm of outputs below there minus the mean of the outputs at both ends
  double* bulge_above = nullptr;   // [count], of this layer's outputs
  double* deviation = nullptr;     // [count], of any unit's pre-activation
  unsigned char* known = nullptr;  // [count]: nothing, the outputs below, or the pre-activations too
  double* high = nullptr;          // this and all others as in LayerSweep
  double* low = nullptr;
  double* error = nullptr;
  double* size = nullptr;
  double* reached = nullptr;
  double* sums = nullptr;
  double* low_sums = nullptr;
};

// A layer at some breakpoints, in the order of the curve.
struct LayerSweep {
  int limbs = 1;            // of its numbers: outputs below, and pre-activations
  std::size_t stride = 0;   // padded units
  double norm = 0;          // the largest 2-norm of a row of weights
  double spread = 0;        // sqrt(units) times that: at least the Frobenius norm
  double bias = 0;          // the largest |bias|
  double bias_norm = 0;     // the 2-norm of all biases
  double rounding = 0;      // of a sum of products
  double intercept_rounding = 0;  // of all outputs, in the 2-norm, in addition to rounding proportional to pre-activations
  double* biases = nullptr;       // padded with zeros
  Pieces pieces;

  // Outputs of the layer below at breakpoints, and this layer's pre-activations there.
  std::size_t count = 0;    // of breakpoints
  double* high = nullptr;   // [count, padded inputs]
  double* low = nullptr;
  double* rest[2] = {};     // their third and fourth limbs
  double* error = nullptr;  // [count]
  double* slip = nullptr;   // [count], as is length
  double* length = nullptr;
  double* place[2] = {};      // [count], if regions are collected: p as a fraction of the segment, in two parts
  double* low_place[2] = {};  // or on arcs, both coordinates in the chart, of breakpoints and apexes in turn
  Boundary* boundary = nullptr;  // the kink, or the end
  double* size = nullptr;     // [count], bound on the 2-norm of the outputs
  double* reached = nullptr;  // [count], and of the pre-activations
  double* sums = nullptr;     // [count, padded units]
  double* low_sums = nullptr;
  double* rest_of_sums[2] = {};
  double* weights[3] = {};      // [count]: on arcs, of the start, the apex and the end of what follows
  double* low_weights[3] = {};
  Apexes apexes;
  std::vector<Crossing> crossings;
  std::size_t next = 0;  // from where to continue in the layer above
  std::size_t next_crossing = 0;
  Arena::Mark mark{};

  bool doubled() const { return limbs > 1; }
  double* limb(int m) const { return m == 0 ? high : m == 1 ? low : rest[m - 2]; }
  double* limb_of_sums(int m) const { return m == 0 ? sums : m == 1 ? low_sums : rest_of_sums[m - 2]; }
};

// Rounding of an interpolation and the output there, in units of the largest number of it.
constexpr double rounding_of_output(int limbs) {
  if (limbs == 1) return 16 * unit_roundoff;
  return limbs == 2 ? 0x1p10 * unit_roundoff * unit_roundoff : rounding_of_limbs(limbs, 32);
}

// Upper bound on the 2-norm of a padded vector.
inline double norm(const double* vector, std::size_t count) {
  Lanes8 squares{};
  for (std::size_t i = 0; i < count; i += 8) {
    const Lanes8 part = load<Lanes8>(vector + i);
    squares += part * part;
  }
  double sum = 0;
  for (int lane = 0; lane < 8; ++lane) sum += squares[lane];
  return std::sqrt(sum) * slack + floor_of_sizes * double(count);
}

// 1.5 times a power of two between two and four times a bound, rounded up; NaN if it overflows.
inline double grid(double bound) {
  int exponent;
  if (!(bound < 0x1p1000)) return NAN;
  std::frexp(bound, &exponent);
  return std::ldexp(1.5, exponent + 1);
}

// Error of any unit's pre-activation, given this error and size of the outputs.
inline double value_error(const LayerSweep& here, double error, double size) {
  return (here.norm * error + here.rounding * (here.norm * size + here.bias)) * slack + room_for_underflow;
}

// The same at a breakpoint.
inline double value_error(const LayerSweep& here, std::size_t k) {
  return value_error(here, here.error[k], here.size[k]);
}

// Upper bound on the slope of any unit between a breakpoint and the next. In doubled layers only higher parts are used.
inline double slope_after(const LayerSweep& here, std::size_t k) {
  if (!(here.length[k] > 0x1p-900)) return INFINITY;  // near underflow a length is not accurate to a few roundings
  const double* values = here.sums + k * here.stride;
  Wide change{};
  for (std::size_t i = 0; i < here.stride; i += lanes_at_once) {
    const Wide difference = magnitude(load<Wide>(values + here.stride + i) - load<Wide>(values + i));
    change = difference > change ? difference : change;
  }
  double largest = 0;
  for (int lane = 0; lane < lanes_at_once; ++lane) largest = at_least(largest, change[lane]);
  const double unseen = here.doubled() ? 2 * unit_roundoff * (here.reached[k] + here.reached[k + 1]) : 0;
  return ((largest + unseen) * slack + value_error(here, k) + value_error(here, k + 1)) * slack / here.length[k] * slack;
}

// How far units are above one of their kinks at a breakpoint: `at` is an index into the sums, `kink` one into the tables.
template <bool IsSimple>
REGIONS_INLINE Wide above_kink(const LayerSweep& here, std::size_t at, std::size_t kink) {
  const Wide value = load<Wide>(here.sums + at);
  if (IsSimple) return value;
  Wide above = value - load<Wide>(here.pieces.breakpoints + kink);
  for (int m = 1; m < here.limbs; ++m) above += load<Wide>(here.limb_of_sums(m) + at);
  return above;
}

// The same for one unit, from any sums.
inline Twice above_kink(const LayerSweep& here, const double* sums, const double* low_sums, std::size_t at,
                        std::size_t kink) {
  const Twice above = two_sum(sums[at], -here.pieces.breakpoints[kink]);
  return here.doubled() ? two_sum(above.high, above.low + low_sums[at]) : Twice{above.high, 0};
}

// Sets the error and the slip of a crossing, given the sizes of its values at both ends; false if the slip is too large.
inline bool slips_little(double size, double error, double rounding, Crossing& crossing) {
  crossing.error = (error + rounding * size) * slack + room_for_underflow;
  const double net = size * (2 - slack) - 2 * slack * error;
  crossing.slip = crossing.error / net * slack;
  return net > 0 && crossing.slip < 1;
}

// Places the unit's crossing between two p, where the errors of its values are at most `error`.
inline bool place(const LayerSweep& here, double error, Crossing& crossing) {
  const std::size_t at = crossing.after * here.stride + std::size_t(crossing.unit);
  const std::size_t kink = here.pieces.at(crossing.kink, std::size_t(crossing.unit));
  const auto [left, low_left] = above_kink(here, here.sums, here.low_sums, at, kink);
  const auto [right, low_right] = above_kink(here, here.sums, here.low_sums, at + here.stride, kink);
  const double distance = left - right;
  const double size = std::fabs(left) + std::fabs(right);
  crossing.share = left / distance;
  double rounding = 4 * unit_roundoff;
  if (here.doubled()) {
    Doubled<Lanes8> apart{Lanes8{} + left, Lanes8{} + low_left};
    apart.add(Lanes8{} - right);
    apart.low -= low_right;
    apart = apart.normalized();
    Doubled<Lanes8> missed{Lanes8{} + left, Lanes8{} + low_left};
    missed.add_product(apart.high, Lanes8{} - crossing.share);
    missed.low -= apart.low * crossing.share;
    crossing.share_low = (missed.high[0] + missed.low[0]) / distance;
    rounding = 0x1p10 * unit_roundoff * unit_roundoff;
  }
  return slips_little(size, error, rounding, crossing);
}

// The distance of two crossings, as a fraction; to within 2^-106.
inline double gap(const Crossing& left, const Crossing& right) {
  return (right.share - left.share) + ((right.share_low - left.share_low) + (right.share_rest[0] - left.share_rest[0]));
}

// Sorts the crossings between two breakpoints; false if their order is not proven, or they may coincide.
inline bool in_order(Crossing* first, Crossing* end) {
  std::sort(first, end, [](const Crossing& left, const Crossing& right) {
    return left.share != right.share ? left.share < right.share : left.share_low < right.share_low;
  });
  for (Crossing* crossing = first; crossing + 1 < end; ++crossing)
    if (!(gap(*crossing, crossing[1]) > (crossing->slip + crossing[1].slip) * slack + 0x1p-76)) return false;
  return true;
}

// The p of a crossing, as a fraction of the segment.
inline Doubled<Lanes4> place_of(const LayerSweep& here, const Crossing& crossing) {
  const std::size_t k = crossing.after;
  Doubled<Lanes4> place{Lanes4{} + here.place[0][k], Lanes4{} + here.low_place[0][k]};
  Doubled<Lanes4> way{Lanes4{} + here.place[0][k + 1], Lanes4{} + here.low_place[0][k + 1]};
  way.add(-place.high);
  way.low -= place.low;
  way = way.normalized();
  place.add_product(way.high, Lanes4{} + crossing.share);
  place.low += way.low * crossing.share + way.high * crossing.share_low;
  return place.normalized();
}

// State shared by the layers of a sweep.
struct SweepState {
  const Task& task;
  Strand* strand;  // null if regions are only counted
  Arena& arena;
  const Network& network;
  std::vector<LayerSweep> layers;
  std::vector<Picked> picked;
  std::vector<std::vector<std::size_t>> asked;  // parts, layer by layer (kernel/apexes.hpp)
  std::vector<Suspect> suspects;                // of the layer at work
  std::vector<std::size_t> parts;
  std::vector<std::size_t> chosen;
  std::vector<double> numbers;

  // The boundary of a point that layer l passes to the next.
  Boundary boundary_of(int l, const Picked& one) const {
    if (one.crossing == nullptr) return layers[std::size_t(l)].boundary[one.point];
    return network.layers[std::size_t(l)].kink(one.crossing->unit, one.crossing->kink);
  }

  double* numbers_of_units(std::size_t count) {
    if (numbers.size() < count) numbers.resize(count);
    return numbers.data();
  }

  void take_points(LayerSweep& layer, std::size_t count, std::size_t width, bool arc) {
    layer.count = count;
    layer.high = arena.take<double>(count * width);
    layer.low = arena.take<double>(count * width);
    for (int m = 2; m < layer.limbs; ++m) layer.rest[m - 2] = arena.take<double>(count * width);
    layer.error = arena.take<double>(count);
    layer.slip = arena.take<double>(count);
    layer.length = arena.take<double>(count);
    for (int i = 0; arc && i < 3; ++i) {
      layer.weights[i] = arena.take<double>(count);
      layer.low_weights[i] = arena.take<double>(count);
    }
    if (strand == nullptr) return;
    for (int i = 0; i < (arc ? 2 : 1); ++i) {
      layer.place[i] = arena.take<double>(arc ? 2 * count - 1 : count);
      layer.low_place[i] = arena.take<double>(arc ? 2 * count - 1 : count);
    }
    layer.boundary = arena.take<Boundary>(count);
  }

  // Picks the next breakpoints, old and new in turn.
  void pick(LayerSweep& here) {
    picked.clear();
    picked.push_back({here.next, nullptr});
    while (here.next + 1 < here.count && picked.size() < most_points) {
      for (; here.next_crossing < here.crossings.size(); ++here.next_crossing) {
        const Crossing& crossing = here.crossings[here.next_crossing];
        if (crossing.after != here.next) break;
        picked.push_back({here.next, &crossing});
      }
      picked.push_back({++here.next, nullptr});
    }
  }

  static constexpr std::size_t most_points = 256;
};

// The crossing itself, or a placeholder at the old breakpoint on its left, or on its right.
inline Crossing start_of(const Picked& one) { return one.crossing != nullptr ? *one.crossing : Crossing{}; }
inline Crossing end_of(const Picked& one) {
  return one.crossing != nullptr ? *one.crossing : Crossing{0, 0, 0, 1, 0, 0, 0};
}

// Sets the output of the unit that crosses.
inline void keep_kink(const LayerSweep& here, const Crossing& crossing, double* high, double* low) {
  const std::size_t kink = here.pieces.at(crossing.kink, std::size_t(crossing.unit));
  high[crossing.unit] = here.pieces.at_kinks[kink];
  if (here.doubled()) low[crossing.unit] = here.pieces.low_at_kinks[kink];
}

template <bool IsDoubled, bool IsSimple>
void output(const LayerSweep& here, const Picked& one, double* high, double* low) {
  const double* sums = here.sums + one.point * here.stride;
  const double* low_sums = IsDoubled ? here.low_sums + one.point * here.stride : nullptr;
  const double share = one.crossing != nullptr ? one.crossing->share : 0;
  const double share_low = one.crossing != nullptr ? one.crossing->share_low : 0;
  for (std::size_t i = 0; i < here.stride; i += 8) {
    Doubled<Lanes8> sum{load<Lanes8>(sums + i), Lanes8{}};
    if (IsDoubled) {
      sum.low = load<Lanes8>(low_sums + i);
      if (one.crossing != nullptr) {
        Doubled<Lanes8> change{load<Lanes8>(sums + here.stride + i), load<Lanes8>(low_sums + here.stride + i)};
        change.add(-sum.high);
        change.low -= sum.low;
        change = change.normalized();
        sum.add_product(change.high, Lanes8{} + share);
        sum.low += change.low * share + change.high * share_low;
        sum = sum.normalized();
      }
    } else if (one.crossing != nullptr) {
      sum.high += (load<Lanes8>(sums + here.stride + i) - sum.high) * share;
    }
    keep_output<IsDoubled, IsSimple>(sum, piece_at<IsSimple>(here.pieces, sum, i), high + i, low + i);
  }
  if (one.crossing != nullptr) keep_kink(here, *one.crossing, high, low);
}

}  // namespace REGIONS_TARGET
}  // namespace regions
