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
typedef std::int64_t Mask8 __attribute__((vector_size(64)));

// An affine form over a chart of dimension D: lane 0 is the constant, lanes 1..D the gradient, and at least one
// lane is spare.
template <int D>
struct LaneCount {
  static constexpr int value = (D + 2 + 3) / 4 * 4;
  static_assert(value <= 8, "no vector has more lanes (AffineLanes)");
};

constexpr double unit_roundoff = 0x1p-53;

// Underflow. A product that falls below the normal range is off by up to 2^-1075, which a relative bound does not see.
// So the factors of a size (Row::size) are never taken to be smaller than `floor` unless they are zero: then a size is
// at least 2^-800, the rounding charged for it, be it to four times the working precision, at least 2^-1012, and that
// pays for 2^60 such products. It does so in coefficients too, which are multiplied with what may be large. Where a
// bound is formed from other numbers, `room_for_underflow` is added to it: more than a million such errors, and still
// a normal number, for products with others take some processors a hundred times as long.
constexpr double floor_of_sizes = 0x1p-400;
constexpr double room_for_underflow = 0x1p-1020;

// Bounds are sums and products of up to 2^31 numbers that are not negative: this covers their own rounding.
constexpr double slack = 1 + 0x1p-20;

// Of a sum of so many products of numbers of several limbs, in units of the sum of their absolute values (limbs.hpp).
constexpr double rounding_of_limbs(int limbs, double terms) {
  double bound = 1.01;
  for (int m = 1; m <= limbs; ++m) bound *= m * (terms + 9 * limbs) * unit_roundoff;
  return bound;
}

// What follows is compiled into whoever calls it, with the instructions allowed there, and never shared: a function
// of wide vectors that is left standing alone would belong to whichever kernel the linker took it from.
#define REGIONS_INLINE __attribute__((always_inline)) inline

// The larger one, and NaN where either is no number. Numbers, or vectors lane by lane.
template <class Number>
REGIONS_INLINE Number at_least(Number bound, Number value) {
  return (value <= bound) | (bound != bound) ? bound : value;
}

// Short vectors from and to memory, whatever its alignment and the type that it is declared with.
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
