// SPDX-License-Identifier: MIT
// How is a single number kept to twice the working precision?
//
// As in doubled.hpp, but one number instead of many side by side, with quotients, and whole after every operation.
// Source: Muller et al., Handbook of Floating-Point Arithmetic, 2018, chapters 4 and 14.
#pragma once

#include <cmath>

#include "rows/lanes.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// One number to about twice the working precision. Operations on positive numbers are off by at most 2^-102 of the
// result.
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

}  // namespace REGIONS_TARGET
}  // namespace regions
