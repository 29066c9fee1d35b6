// SPDX-License-Identifier: MIT
// Do long numbers add and multiply without rounding?
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "back_to_double.hpp"

using namespace regions;

namespace {

__extension__ typedef __int128 Wide;

// The sign of sum - expected.
int compared(const Accumulator& sum, double expected) {
  Accumulator difference = sum;
  difference.add(Dyadic(-expected));
  return difference.value().sign();
}

}  // namespace

TEST_CASE("a double and its dyadic number are the same") {
  const double smallest = std::numeric_limits<double>::denorm_min();
  const double largest = std::numeric_limits<double>::max();
  for (const double value : {0.0, -0.0, 1.0, -1.0, 0.1, -1e-300, 3 * smallest, smallest, largest, -largest}) {
    CAPTURE(value);
    CHECK(back(Dyadic(value)) == value);
    CHECK(back(Dyadic(value).negated()) == -value);
    CHECK(Dyadic(value).sign() == (value > 0) - (value < 0));
  }
}

TEST_CASE("numbers of all sizes are added, and cancel exactly") {
  Accumulator sum;
  for (const double value : {1e300, 1e-300, -5e-324, 1.0, -1e300, -1.0}) sum.add(Dyadic(value));
  CHECK(compared(sum, 1e-300) < 0);
  sum.add(Dyadic(5e-324));
  CHECK(compared(sum, 1e-300) == 0);
  sum.add(Dyadic(-1e-300));
  CHECK(sum.value().sign() == 0);
  CHECK(back(sum.value()) == 0);
}

TEST_CASE("products keep every bit") {
  const double big = 0x1p53;
  Accumulator sum;
  Accumulator below;
  below.add(Dyadic(big));
  below.add(Dyadic(-1.0));
  Accumulator above;
  above.add(Dyadic(big));
  above.add(Dyadic(1.0));
  sum.add_product(above.value(), below.value());  // 2^106 - 1
  CHECK(compared(sum, 0x1p106) < 0);
  sum.add(Dyadic(1.0));
  CHECK(compared(sum, 0x1p106) == 0);
  sum.subtract_product(Dyadic(big), Dyadic(big));
  CHECK(sum.value().sign() == 0);
}

TEST_CASE("(a + b)(a - b) is a a - b b, however long a and b are") {
  std::mt19937_64 random(0);
  std::uniform_real_distribution<double> mantissa(-1, 1);
  std::uniform_int_distribution<int> exponent(-900, 40);
  for (int trial = 0; trial < 50; ++trial) {
    Accumulator a, b, sum, difference, result;
    for (int term = 0; term < 6; ++term) {
      const double x = std::ldexp(mantissa(random), exponent(random));
      const double y = std::ldexp(mantissa(random), exponent(random));
      a.add(Dyadic(x));
      b.add_product(Dyadic(y), 0.1);
      sum.add(Dyadic(x));
      sum.add_product(Dyadic(0.1), y);
      difference.add(Dyadic(x));
      difference.add_product(Dyadic(y), -0.1);
    }
    result.add_product(sum.value(), difference.value());
    CHECK(result.value().sign() != 0);
    result.subtract_product(a.value(), a.value());
    result.add_product(b.value(), b.value());
    CHECK(result.value().sign() == 0);
  }
}

TEST_CASE("sums agree with 128-bit integers, carries and changes of sign included") {
  std::mt19937_64 random(1);
  std::uniform_int_distribution<std::int64_t> any(-(std::int64_t{1} << 53), std::int64_t{1} << 53);
  for (int trial = 0; trial < 200; ++trial) {
    Accumulator sum;
    Wide expected = 0;
    for (int term = 0; term < 40; ++term) {
      const std::int64_t left = any(random);
      const std::int64_t right = any(random);
      sum.add_product(Dyadic(double(left)), double(right));
      expected += Wide(left) * right;
    }
    for (int part = 0; part < 3; ++part) {  // of at most 53 bits each
      const double high = double(expected);
      CHECK(compared(sum, high) == (expected > Wide(high)) - (expected < Wide(high)));
      sum.add(Dyadic(-high));
      expected -= Wide(high);
    }
    CHECK(sum.value().sign() == 0);
  }
}
