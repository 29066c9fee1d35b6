// SPDX-License-Identifier: MIT
// How are numbers stored to twice the working precision?
//
// As unevaluated sums high + low, |low| <= 2^-53 |high|. The rounding error of a sum or product is itself a double, computed
// by Knuth's and Dekker's error-free transformations (Muller et al., Handbook of Floating-Point Arithmetic, 2018,
// chapter 4); with a fused multiply-add, the error of a product takes one instruction.
// Rounding: the lower parts of n terms are added in working precision, four additions a term: the errors of the product and
// the sum of the higher parts, and two products with lower parts. Each addition has an error of at most u times a sum of lower
// parts, which after i terms is at most (i + 3) u times the terms' absolute values. With the rounding of the two products, and
// the product of lower parts, which is left out, the error is at most (2 n^2 + 16 n + 4) u^2 <= 2 (n + 4)^2 u^2 times these values.
// Below 2^-969 the error of a product is itself rounded: that is charged separately, as room_for_underflow. Splitting a factor
// above 2^996 overflows into a lower part that is NaN, which proves nothing.
#pragma once

#include "rows/lanes.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// left * right - product, exactly, where product is left * right rounded.
#if defined(REGIONS_FMA)
inline Lanes4 lost_by_product(Lanes4 left, Lanes4 right, Lanes4 product) {
  return Lanes4(_mm256_fmsub_pd(__m256d(left), __m256d(right), __m256d(product)));
}

inline Lanes8 lost_by_product(Lanes8 left, Lanes8 right, Lanes8 product) {
#if REGIONS_FMA == 512
  return Lanes8(_mm512_fmsub_pd(__m512d(left), __m512d(right), __m512d(product)));
#else
  Lanes4 lefts[2], rights[2], products[2];
  store(lefts, left);
  store(rights, right);
  store(products, product);
  for (int half = 0; half < 2; ++half) products[half] = lost_by_product(lefts[half], rights[half], products[half]);
  return load<Lanes8>(products);
#endif
}
#else
template <class Lanes>
Lanes lost_by_product(Lanes left, Lanes right, Lanes product) {
  const Lanes left_scaled = left * 134217729.0;  // 2^27 + 1
  const Lanes right_scaled = right * 134217729.0;
  const Lanes left_high = left_scaled - (left_scaled - left);
  const Lanes right_high = right_scaled - (right_scaled - right);
  const Lanes left_low = left - left_high;
  const Lanes right_low = right - right_high;
  return ((left_high * right_high - product) + left_high * right_low + left_low * right_high) + left_low * right_low;
}
#endif

template <class Lanes>
struct Doubled {
  Lanes high;
  Lanes low;

  void add(Lanes term) {
    const Lanes sum = high + term;
    const Lanes taken = sum - high;
    low += (high - (sum - taken)) + (term - taken);
    high = sum;
  }

  void add_product(Lanes left, Lanes right) {
    const Lanes product = left * right;
    low += lost_by_product(left, right, product);
    add(product);
  }

  // After a sum, whose lower part may have grown, and may even be the larger one if terms cancel.
  Doubled normalized() const {
    Doubled result{high, Lanes{}};
    result.add(low);
    return result;
  }
};

}  // namespace REGIONS_TARGET
}  // namespace regions
