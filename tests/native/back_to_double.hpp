// SPDX-License-Identifier: MIT
// The double nearest to an exact number.
#pragma once

#include <cmath>

#include "exact/dyadic.hpp"

inline double back(const regions::Dyadic& value) {
  const regions::Dyadic::Scaled scaled = value.scaled();
  return double(std::ldexp(scaled.mantissa, int(scaled.exponent)));
}
