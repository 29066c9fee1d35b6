// SPDX-License-Identifier: MIT
// How is a single number stored to twice the working precision?
//
// It is stored as in doubled.hpp, but one number and not many in parallel. There are quotients, and each result is normalized.
// Source: Muller et al., Handbook of Floating-Point Arithmetic, 2018, chapters 4 and 14.
#pragma once

#include <cmath>

#include "rows/lanes.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// One number to about twice the working precision. Sums, products and quotients of positive numbers are off by at most 2^-102 of
// the result.
struct Twice {
  double high;
  double low;
};

inline Twice two_sum(double left, double right) {
  const double sum = left + right;
  const double taken = sum - left;
  return {sum, (left - (sum - taken)) + (right - taken)};
}
inline Twice operator+(Twice left, Twice right) {
  const Twice sum = two_sum(left.high, right.high);
  return two_sum(sum.high, sum.low + (left.low + right.low));
}
inline Twice operator-(Twice left, Twice right) { return left + Twice{-right.high, -right.low}; }
inline Twice operator*(Twice left, Twice right) {
  const double product = left.high * right.high;
  const double lost = std::fma(left.high, right.high, -product);
  return two_sum(product, lost + (left.high * right.low + left.low * right.high));
}
inline Twice operator/(Twice left, Twice right) {
  const double quotient = left.high / right.high;
  const Twice rest = left - right * Twice{quotient, 0};
  return two_sum(quotient, (rest.high + rest.low) / right.high);
}

// sqrt(x^2 + y^2), off by at most 1.01 units of roundoff. Unlike std::hypot it gives the same bits with every C library, and
// the compiled core also runs with a C library that is older than the one that it was linked with. The scale, a power of two, keeps squares in range.
inline double length_of(double x, double y) {
  const double larger = std::fmax(std::fabs(x), std::fabs(y));
  const double scale = larger > 0x1p400 ? 0x1p-600 : larger < 0x1p-400 ? 0x1p600 : 1;
  const Twice across{x * scale, 0};
  const Twice up{y * scale, 0};
  const double root = std::sqrt(across.high * across.high + up.high * up.high);
  if (!(root > 0 && root < INFINITY)) return root / scale;
  const Twice missing = across * across + up * up - Twice{root, 0} * Twice{root, 0};
  return (root + missing.high / (2 * root)) / scale;
}

}  // namespace REGIONS_TARGET
}  // namespace regions
