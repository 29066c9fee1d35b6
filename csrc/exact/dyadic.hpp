// SPDX-License-Identifier: MIT
// How are numbers represented without rounding?
//
// Every finite double is an integer times a power of two, and the core only adds and multiplies, so every exact
// value has this form too: sign, magnitude, exponent. A Dyadic is such a value, immutable; an Accumulator computes sums of
// products without temporaries. Cost: proportional to the length of the numbers, which grows by one
// weight (53 bits) per layer; lengths are bounded only by memory.
#pragma once

#include <cstdint>
#include <vector>

namespace regions {

class Dyadic {
 public:
  Dyadic() = default;
  explicit Dyadic(double value);  // value is finite

  int sign() const { return limbs_.empty() ? 0 : (negative_ ? -1 : 1); }
  Dyadic negated() const;
  // Returns true for 1 and -1, if made from a double.
  bool is_unit() const { return exponent_ == 0 && limbs_.size() == 1 && limbs_[0] == 1; }

  // value = mantissa * 2^exponent, 0.5 <= |mantissa| < 1, with relative error below 2^-62; {0, 0} for zero.
  struct Scaled {
    long double mantissa;
    std::int64_t exponent;
  };
  Scaled scaled() const;

 private:
  friend class Accumulator;
  bool negative_ = false;
  std::int64_t exponent_ = 0;
  std::vector<std::uint64_t> limbs_;  // least significant first; the highest is not zero; empty for zero
};

class Accumulator {
 public:
  void clear();
  void add(const Dyadic& value);
  void add_product(const Dyadic& value, double factor);  // factor is finite
  void add_product(const Dyadic& left, const Dyadic& right);
  void subtract_product(const Dyadic& left, const Dyadic& right);
  Dyadic value() const;

 private:
  void add_limbs(const std::uint64_t* limbs, std::size_t count, std::int64_t exponent, bool negative);
  void multiply_and_add(const Dyadic& left, const Dyadic& right, bool negate);

  std::int64_t exponent_ = 0;             // of the lowest limb
  std::vector<std::uint64_t> limbs_;      // two's complement, least significant first
  std::vector<std::uint64_t> product_;    // scratch
};

}  // namespace regions
