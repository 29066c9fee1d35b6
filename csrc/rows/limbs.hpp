// SPDX-License-Identifier: MIT
// How are numbers stored to two, three or four times the working precision?
//
// As unevaluated sums of K doubles, the limbs, each at most 2^-52 of the one before. The rounding error of a sum or product
// is itself a double, computed by error-free transformations (doubled.hpp), and goes into the next limb; only the error of
// the last limb is lost. This is the K-fold summation of Ogita, Rump and Oishi (2005), for products of limbs.
// Rounding: the sum of n products, whose first limbs' absolute values add up to T, is off by at most
// rounding_of_limbs(K, n) T. The proof is in docs/error-bounds.md, "To a multiple of the working precision". Products
// below the normal range are charged separately, as room_for_underflow.
// Cost: about K^2 additions a term if weights have one limb.
#pragma once

#include <cmath>
#include <type_traits>

#include "rows/doubled.hpp"
#include "task/network.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

template <class Lanes>
bool any(Lanes mask) {
  bool found = false;
  for (std::size_t lane = 0; lane < sizeof(mask) / sizeof(mask[0]); ++lane) found = found || mask[lane] != 0;
  return found;
}

template <int K, class Lanes>
struct Limbs {
  Lanes limb[K];

  // A term of about the size of limb `level`.
  template <int level>
  void add(Lanes term) {
    const Lanes sum = limb[level] + term;
    if constexpr (level + 1 < K) {
      const Lanes taken = sum - limb[level];
      const Lanes lost = (limb[level] - (sum - taken)) + (term - taken);
      limb[level] = sum;
      add<level + 1>(lost);
    } else {
      limb[level] = sum;
    }
  }

  // The product of two limbs, whose indices add up to `level`.
  template <int level>
  void add_product(Lanes left, Lanes right) {
    const Lanes product = left * right;
    if constexpr (level + 1 < K) add<level + 1>(lost_by_product(left, right, product));
    add<level>(product);
  }

  // The product of two numbers, the second with fewer limbs: limb_of(0), limb_of(1), .. and factor_of(0), ..
  template <int factor_limbs, class LimbOf, class FactorOf>
  void add_products(LimbOf limb_of, FactorOf factor_of) {
    add_products_from<factor_limbs, K - 1, K - 1>(limb_of, factor_of);
  }

  // The same number with non-overlapping limbs. One pass or two suffice; otherwise the result is NaN, which
  // proves nothing.
  Limbs normalized() const {
    Limbs result = *this;
    for (int pass = 0; pass < 8; ++pass) {
      for (int m = K - 2; m >= 0; --m) {
        const Lanes sum = result.limb[m] + result.limb[m + 1];
        const Lanes taken = sum - result.limb[m];
        result.limb[m + 1] = (result.limb[m] - (sum - taken)) + (result.limb[m + 1] - taken);
        result.limb[m] = sum;
      }
      if (K == 2 || result.are_apart()) return result;
    }
    result.limb[0] += NAN;
    return result;
  }

 private:
  bool are_apart() const {
    for (int m = 0; m + 1 < K; ++m) {
      const Lanes here = limb[m] < 0 ? -limb[m] : limb[m];
      const Lanes next = limb[m + 1] < 0 ? -limb[m + 1] : limb[m + 1];
      if (any(!(next <= here * (2 * unit_roundoff)))) return false;
    }
    return true;
  }

  // The products of limb a and all later ones: with the same index, and then with the indices before it.
  template <int factor_limbs, int level, int a, class LimbOf, class FactorOf>
  void add_products_from(LimbOf limb_of, FactorOf factor_of) {
    add_product<level>(limb_of(a), factor_of(level - a));
    if constexpr (a > 0 && level - a + 1 < factor_limbs)
      add_products_from<factor_limbs, level, a - 1>(limb_of, factor_of);
    else if constexpr (level > 0)
      add_products_from<factor_limbs, level - 1, level - 1>(limb_of, factor_of);
  }
};

// Calls work(K) with the number of limbs as a constant: two, three or four.
template <class Work>
void with_limbs(int limbs, Work work) {
  if (limbs == 2) work(std::integral_constant<int, 2>());
  if (limbs == 3) work(std::integral_constant<int, 3>());
  if (limbs == 4) work(std::integral_constant<int, 4>());
}

// For sums of `terms` terms whose absolute values add up to `sizes`.
template <class Lanes>
Lanes charge_of_limbs(Lanes sizes, int limbs, double terms) {
  return sizes == 0 ? Lanes{} : sizes * rounding_of_limbs(limbs, terms) + room_for_underflow;
}

}  // namespace REGIONS_TARGET
}  // namespace regions
