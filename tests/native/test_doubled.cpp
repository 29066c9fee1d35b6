// SPDX-License-Identifier: MIT
// Are doubled numbers as accurate as promised?
#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "back_to_double.hpp"
#include "rows/doubled.hpp"
#include "rows/twice.hpp"

using namespace regions;

TEST_CASE("what a rounded product loses is found exactly") {
  std::mt19937_64 random(0);
  std::uniform_real_distribution<double> any(-1e3, 1e3);
  for (int trial = 0; trial < 1000; ++trial) {
    const Lanes4 left = {any(random), any(random), 1 + 0x1p-52, 0x1p-200 * any(random)};
    const Lanes4 right = {any(random), 3, 1 - 0x1p-53, any(random)};
    const Lanes4 product = left * right;
    const Lanes4 lost = lost_by_product(left, right, product);
    for (int k = 0; k < 4; ++k) {
      Accumulator sum;
      sum.add_product(Dyadic(left[k]), right[k]);
      sum.add(Dyadic(-product[k]));
      CHECK(back(sum.value()) == lost[k]);
      sum.add(Dyadic(-lost[k]));
      CHECK(sum.value().sign() == 0);
    }
  }
}

TEST_CASE("sums of products are within the bound that is charged, and normalized parts do not overlap") {
  std::mt19937_64 random(1);
  std::normal_distribution<double> any;
  for (const int terms : {1, 3, 64, 784}) {
    Doubled<Lanes4> sum{};
    Accumulator exact;
    double size = 0;
    double last = 0;
    for (int i = 0; i < terms; ++i) {
      // Every other term cancels the one before, except for its last bits.
      const double left = i % 2 == 1 ? -last : any(random) * std::ldexp(1.0, i % 37);
      const double right = i % 2 == 1 ? 1 + 0x1p-40 : 1;
      last = left;
      sum.add_product(Lanes4{} + left, Lanes4{} + right);
      exact.add_product(Dyadic(left), right);
      size += std::fabs(left * right);
    }
    const Doubled<Lanes4> result = sum.normalized();
    CHECK(std::fabs(result.low[0]) <= 0x1p-53 * std::fabs(result.high[0]));
    exact.add(Dyadic(-result.high[0]));
    exact.add(Dyadic(-result.low[0]));
    CAPTURE(terms);
    CHECK(std::fabs(back(exact.value())) <= 2.02 * (terms + 4) * (terms + 4) * 0x1p-106 * size);
  }
}

TEST_CASE("the length of a vector is off by one unit of roundoff") {
  std::mt19937_64 random(1);
  std::normal_distribution<double> any;
  for (int trial = 0; trial < 1000; ++trial) {
    const double x = any(random);
    const double y = std::ldexp(any(random), trial % 80 - 40);
    const double length = length_of(x, y);
    Accumulator missed;
    missed.add_product(Dyadic(x), x);
    missed.add_product(Dyadic(y), y);
    missed.add_product(Dyadic(-length), length);
    CHECK(std::fabs(back(missed.value())) <= 2.03 * unit_roundoff * length * length);
  }
  for (int exponent : {-1074, -600, -401, 0, 399, 500, 1021}) {
    const double unit = std::ldexp(1, exponent);
    CHECK(length_of(3 * unit, -4 * unit) == 5 * unit);
    CHECK(length_of(0, unit) == unit);
  }
  CHECK(length_of(0, -0.0) == 0);
  CHECK(length_of(-INFINITY, 1) == INFINITY);
  CHECK(std::isnan(length_of(NAN, 1)));
}
