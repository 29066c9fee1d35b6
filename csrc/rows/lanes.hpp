// SPDX-License-Identifier: MIT
// What is a short vector here?
//
// A few doubles that are added and multiplied together, in the compiler's own vector types. Every lane is an
// ordinary IEEE operation and every sum has one fixed order, so the same bits come out whatever width the
// processor has: an instruction set changes the speed and nothing else.
#pragma once

#include <cstdint>
#include <cstring>

namespace regions {

typedef double Lanes2 __attribute__((vector_size(16)));
typedef double Lanes4 __attribute__((vector_size(32)));
typedef double Lanes8 __attribute__((vector_size(64)));
typedef double Lanes16 __attribute__((vector_size(128)));
typedef std::int64_t Mask8 __attribute__((vector_size(64)));

// An affine form over a chart of dimension D: lane 0 is the constant, lanes 1..D the gradient, and at least one
// lane is padding.
template <int D>
struct LaneCount {
  static constexpr int value = D + 2 <= 4 ? 4 : D + 2 <= 8 ? 8 : 16;
  static_assert(D + 2 <= value, "no vector has more lanes (AffineLanes)");
};

constexpr double unit_roundoff = 0x1p-53;

// Underflow. A product below the normal range is off by up to 2^-1075, which a relative bound does not include.
// So nonzero factors of a size (Row::size) are never taken to be smaller than `floor`. Then a size is at least 2^-800, and the
// rounding charged for it, even to four times the working precision, at least 2^-1012, which covers 2^60 such products.
// It also covers them in coefficients, which may be multiplied by large numbers. If a bound is formed from other numbers,
// `room_for_underflow` is added to it: it covers more than a million such errors, and is still a normal number, because
// products with subnormal numbers take some processors a hundred times as long.
constexpr double floor_of_sizes = 0x1p-400;
constexpr double room_for_underflow = 0x1p-1020;

// Bounds are sums and products of up to 2^31 non-negative numbers: this covers their own rounding.
constexpr double slack = 1 + 0x1p-20;

// Rounding of a sum of `terms` products of numbers of several limbs, relative to the sum of their absolute values (limbs.hpp).
constexpr double rounding_of_limbs(int limbs, double terms) {
  double bound = 1.01;
  for (int m = 1; m <= limbs; ++m) bound *= m * (terms + 9 * limbs) * unit_roundoff;
  return bound;
}

// The following is compiled into its callers, with the instructions allowed there, and never shared: a separate function
// of wide vectors would belong to whichever kernel the linker took it from.
#define REGIONS_INLINE __attribute__((always_inline)) inline

// The larger one, and NaN if either is NaN. Numbers, or vectors lane by lane.
template <class Number>
REGIONS_INLINE Number at_least(Number bound, Number value) {
  return (value <= bound) | (bound != bound) ? bound : value;
}

// Short vectors from and to memory, for any alignment and declared type.
template <class Lanes>
REGIONS_INLINE Lanes load(const void* address) {
  Lanes lanes;
  std::memcpy(&lanes, address, sizeof(lanes));
  return lanes;
}

template <class Lanes>
REGIONS_INLINE void store(void* address, Lanes lanes) {
  std::memcpy(address, &lanes, sizeof(lanes));
}

}  // namespace regions
