// SPDX-License-Identifier: MIT
// How do exact numbers become doubles again: the coordinates of a vertex, and the error of a rounded form?
//
// A dyadic number becomes a long double with an exponent of its own, so nothing overflows before the last division. Each
// coordinate has a few rounding errors of long doubles, and is then rounded to a double.
#include <algorithm>
#include <cmath>

#include "exact/exact.hpp"

namespace regions {

namespace {

// Returns left / right for a nonzero right; results far beyond the range of doubles are zero or infinite, or round to that.
long double ratio(const Dyadic::Scaled& left, const Dyadic::Scaled& right) {
  if (left.mantissa == 0) return 0;
  const std::int64_t exponent = left.exponent - right.exponent;
  const int bounded = int(exponent < -4000 ? -4000 : exponent > 4000 ? 4000 : exponent);
  return std::ldexp(left.mantissa / right.mantissa, bounded);
}

Dyadic::Scaled times_root(const Dyadic::Scaled& value, const Dyadic::Scaled& square) {
  const bool odd = square.exponent % 2 != 0;
  const long double root = std::sqrt(odd ? square.mantissa / 2 : square.mantissa);
  return {value.mantissa * root, value.exponent + (square.exponent + (odd ? 1 : 0)) / 2};
}

}  // namespace

void Exact::coordinates(const VertexView& vertex, double* position) {
  const Polynomial& at = point(vertex);
  if (at.square.sign() != 0) {
    const Dyadic::Scaled square = at.square.scaled();
    const Dyadic::Scaled weight =
        at.constant[0].sign() != 0 ? at.constant[0].scaled() : times_root(at.linear[0].scaled(), square);
    position[0] = 1;
    for (std::size_t k = 1; k < 3; ++k)
      position[k] = double(ratio(at.constant[k].scaled(), weight) +
                           ratio(times_root(at.linear[k].scaled(), square), weight));
    return;
  }
  const bool far = !at.linear.empty();
  const Form& numerators = far ? at.linear : at.constant;
  const Dyadic::Scaled weight = at.constant[0].scaled();
  position[0] = far ? 0.0 : 1.0;
  for (int k = 1; k < coordinates_; ++k) {
    position[k] = double(ratio(numerators[std::size_t(k)].scaled(), weight));
  }
}

double Exact::miss(int layer, int row, const double* limbs, int count, int stride, const double* position) {
  const Form& truth = form(layer, row);
  scratch_.clear();
  for (std::size_t k = 0; k < truth.size(); ++k) {
    for (int m = 0; m < count; ++m) scratch_.add_product(Dyadic(position[k]), limbs[std::size_t(m * stride) + k]);
    scratch_.add_product(truth[k], -position[k]);
  }
  const Dyadic::Scaled missed = scratch_.value().scaled();
  return double(std::ldexp(std::fabs(missed.mantissa), int(std::max<std::int64_t>(missed.exponent, -4000))));
}

}  // namespace regions
