// SPDX-License-Identifier: MIT
#include "exact/dyadic.hpp"

#include <cassert>
#include <cmath>
#include <cstddef>

namespace regions {

namespace {

__extension__ typedef unsigned __int128 Wide;

struct Integer {
  bool negative;
  std::uint64_t magnitude;
  std::int64_t exponent;
};

// value = magnitude * 2^exponent, denormals included.
Integer to_integer(double value) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  const double scaled = std::ldexp(std::fabs(fraction), 53);
  return {value < 0, static_cast<std::uint64_t>(scaled), exponent - 53};
}

int leading_zeros(std::uint64_t limb) { return __builtin_clzll(limb); }

}  // namespace

Dyadic::Dyadic(double value) {
  if (value == 0) return;
  const Integer integer = to_integer(value);
  const int shift = __builtin_ctzll(integer.magnitude);
  negative_ = integer.negative;
  limbs_.push_back(integer.magnitude >> shift);
  exponent_ = integer.exponent + shift;
}

Dyadic Dyadic::negated() const {
  Dyadic result = *this;
  result.negative_ = !result.negative_;
  return result;
}

Dyadic::Scaled Dyadic::scaled() const {
  if (limbs_.empty()) return {0, 0};
  const std::size_t top = limbs_.size() - 1;
  const int zeros = leading_zeros(limbs_[top]);
  std::uint64_t leading = limbs_[top] << zeros;
  if (zeros > 0 && top > 0) leading |= limbs_[top - 1] >> (64 - zeros);
  const long double mantissa = std::ldexp(static_cast<long double>(leading), -64);
  return {negative_ ? -mantissa : mantissa, exponent_ + std::int64_t(top + 1) * 64 - zeros};
}

void Accumulator::clear() {
  limbs_.clear();
  exponent_ = 0;
}

// Adds +- limbs * 2^exponent, widening the accumulator at either end if needed.
void Accumulator::add_limbs(const std::uint64_t* limbs, std::size_t count, std::int64_t exponent, bool negative) {
  if (count == 0) return;
  if (limbs_.empty()) exponent_ = exponent;
  if (exponent < exponent_) {
    const std::int64_t more = (exponent_ - exponent + 63) / 64;
    limbs_.insert(limbs_.begin(), std::size_t(more), 0);
    exponent_ -= more * 64;
  }
  const std::size_t offset = std::size_t(exponent - exponent_) / 64;
  const int shift = int(std::size_t(exponent - exponent_) % 64);

  // One limb for the bits shifted out and one for the sign: the sum of two numbers below half range cannot wrap.
  const std::size_t needed = offset + count + 2;
  const bool sign = !limbs_.empty() && (limbs_.back() >> 63) != 0;
  if (limbs_.size() < needed) {
    limbs_.resize(needed, sign ? ~std::uint64_t{0} : 0);
  } else if (const std::uint64_t top = limbs_.back() >> 62; top == 1 || top == 2) {
    limbs_.push_back(sign ? ~std::uint64_t{0} : 0);
  }

  std::uint64_t previous = 0;
  std::uint64_t carry = 0;
  for (std::size_t i = offset; i < limbs_.size(); ++i) {
    const std::size_t k = i - offset;
    if (k > count && carry == 0) break;
    const std::uint64_t limb = k < count ? limbs[k] : 0;
    const std::uint64_t term = shift == 0 ? limb : (limb << shift) | (previous >> (64 - shift));
    previous = limb;
    const std::uint64_t before = limbs_[i];
    if (negative) {
      const std::uint64_t difference = before - term;
      const std::uint64_t borrow = std::uint64_t(before < term) | std::uint64_t(difference < carry);
      limbs_[i] = difference - carry;
      carry = borrow;
    } else {
      const std::uint64_t sum = before + term;
      const std::uint64_t total = sum + carry;
      carry = std::uint64_t(sum < before) | std::uint64_t(total < sum);
      limbs_[i] = total;
    }
  }
}

void Accumulator::add(const Dyadic& value) {
  add_limbs(value.limbs_.data(), value.limbs_.size(), value.exponent_, value.negative_);
}

void Accumulator::add_product(const Dyadic& value, double factor) {
  if (factor == 0 || value.limbs_.empty()) return;
  const Integer integer = to_integer(factor);
  product_.resize(value.limbs_.size() + 1);
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < value.limbs_.size(); ++i) {
    const Wide wide = Wide(value.limbs_[i]) * integer.magnitude + carry;
    product_[i] = std::uint64_t(wide);
    carry = std::uint64_t(wide >> 64);
  }
  product_.back() = carry;
  add_limbs(product_.data(), product_.size(), value.exponent_ + integer.exponent,
            value.negative_ != integer.negative);
}

void Accumulator::multiply_and_add(const Dyadic& left, const Dyadic& right, bool negate) {
  if (left.limbs_.empty() || right.limbs_.empty()) return;
  product_.assign(left.limbs_.size() + right.limbs_.size(), 0);
  for (std::size_t i = 0; i < left.limbs_.size(); ++i) {
    std::uint64_t carry = 0;
    for (std::size_t k = 0; k < right.limbs_.size(); ++k) {
      const Wide wide = Wide(left.limbs_[i]) * right.limbs_[k] + product_[i + k] + carry;
      product_[i + k] = std::uint64_t(wide);
      carry = std::uint64_t(wide >> 64);
    }
    product_[i + right.limbs_.size()] = carry;
  }
  add_limbs(product_.data(), product_.size(), left.exponent_ + right.exponent_,
            (left.negative_ != right.negative_) != negate);
}

void Accumulator::add_product(const Dyadic& left, const Dyadic& right) { multiply_and_add(left, right, false); }
void Accumulator::subtract_product(const Dyadic& left, const Dyadic& right) { multiply_and_add(left, right, true); }

Dyadic Accumulator::value() const {
  Dyadic result;
  if (limbs_.empty()) return result;
  result.limbs_ = limbs_;
  result.negative_ = (limbs_.back() >> 63) != 0;
  if (result.negative_) {
    std::uint64_t carry = 1;
    for (std::uint64_t& limb : result.limbs_) {
      limb = ~limb + carry;
      carry = carry != 0 && limb == 0;
    }
  }
  while (!result.limbs_.empty() && result.limbs_.back() == 0) result.limbs_.pop_back();
  std::size_t zeros = 0;
  while (zeros < result.limbs_.size() && result.limbs_[zeros] == 0) ++zeros;
  result.limbs_.erase(result.limbs_.begin(), result.limbs_.begin() + std::ptrdiff_t(zeros));
  result.exponent_ = exponent_ + std::int64_t(zeros) * 64;
  if (result.limbs_.empty()) return Dyadic();
  assert(result.limbs_.back() != 0);
  return result;
}

}  // namespace regions
