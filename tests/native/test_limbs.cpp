// SPDX-License-Identifier: MIT
// Are sums of numbers of several limbs as accurate as promised?
#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "back_to_double.hpp"
#include "rows/limbs.hpp"

using namespace regions;

namespace {

// A number of K limbs that follow each other without a gap, at a random scale between 2^-spread and 2^spread.
template <int K>
Limbs<K, Lanes4> drawn(std::mt19937_64& random, int spread) {
  std::uniform_real_distribution<double> any(-1, 1);
  Limbs<K, Lanes4> number{};
  double size = std::ldexp(1.0, int(random() % (2 * spread + 1)) - spread);
  for (int m = 0; m < K; ++m, size *= 0x1p-53) number.limb[m] += size * any(random);
  return number.normalized();
}

// The error of a sum of products of numbers, relative to its bound. Every other term cancels the one before, except for its last
// limb.
template <int K, int factor_limbs>
double share_of_charge(int terms, int spread, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Limbs<K, Lanes4> sum{};
  Accumulator exact;
  double size = 0;
  Limbs<K, Lanes4> left{}, right{};
  for (int i = 0; i < terms; ++i) {
    if (i % 2 == 0) {
      left = drawn<K>(random, spread);
      right = drawn<K>(random, spread);
    } else {
      left.limb[0] = -left.limb[0];
      for (int m = 1; m < K; ++m) left.limb[m] = -left.limb[m];
      left.limb[K - 1] *= 0.5;
    }
    sum.template add_products<factor_limbs>([&](int m) { return left.limb[m]; }, [&](int m) { return right.limb[m]; });
    size += std::fabs(left.limb[0][0] * right.limb[0][0]);
    for (int a = 0; a < K; ++a)
      for (int b = 0; b < factor_limbs; ++b) exact.add_product(Dyadic(left.limb[a][0]), right.limb[b][0]);
  }
  sum = sum.normalized();
  for (int m = 0; m < K; ++m) {
    exact.add(Dyadic(-sum.limb[m][0]));
    if (m > 0) CHECK(std::fabs(sum.limb[m][0]) <= 0x1p-52 * std::fabs(sum.limb[m - 1][0]));
  }
  return std::fabs(back(exact.value())) / (rounding_of_limbs(K, terms) * size);
}

template <int K>
void try_sums() {
  for (const int terms : {1, 2, 3, 8, 64, 784})
    for (const int spread : {0, 3, 60}) {
      for (std::uint64_t seed = 0; seed < 40; ++seed) {
        CAPTURE(terms);
        CAPTURE(spread);
        CAPTURE(seed);
        CHECK(share_of_charge<K, 1>(terms, spread, seed) <= 1);
        CHECK(share_of_charge<K, K>(terms, spread, seed) <= 1);
      }
    }
}

}  // namespace

TEST_CASE("sums of products are within their error bounds, and their limbs do not overlap") {
  try_sums<2>();
  try_sums<3>();
  try_sums<4>();
}

TEST_CASE("normalizing changes no number, and infinity becomes NaN") {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> any(-1, 1);
  for (int trial = 0; trial < 2000; ++trial) {
    Limbs<4, Lanes4> number{};
    Accumulator sum;
    for (int m = 0; m < 4; ++m) {
      const double limb = std::ldexp(any(random), int(random() % 120) - 60 * int(random() % 3));
      number.limb[m] += m == 3 && trial % 2 == 0 ? -number.limb[trial % 3][0] : limb;
      sum.add(Dyadic(number.limb[m][0]));
    }
    const Limbs<4, Lanes4> result = number.normalized();
    for (int m = 0; m < 4; ++m) {
      sum.add(Dyadic(-result.limb[m][0]));
      if (m > 0) CHECK(std::fabs(result.limb[m][0]) <= 0x1p-52 * std::fabs(result.limb[m - 1][0]));
    }
    CHECK(sum.value().sign() == 0);
  }
  Limbs<3, Lanes4> infinite{{Lanes4{} + INFINITY, Lanes4{} + 1, Lanes4{}}};
  CHECK(std::isnan(infinite.normalized().limb[0][0]));
}
