// SPDX-License-Identifier: MIT
// On which side of the line through two corners does a point certainly lie?
//
// The sign of the area between them decides, if it exceeds all errors of the corners and all rounding here; the proof is
// in docs/error-bounds.md. After overflow the bound is infinite as well, or NaN: nothing is certain then.
#pragma once

#include <cmath>

#include "rows/lanes.hpp"

namespace regions {

// A corner relative to a point, and a bound on its error in each coordinate.
struct Sighting {
  double x, y;
  double error;
};

// 1 if the point is certainly to the left of the path from a to b, -1 if it is to the right, and 0 if rounding leaves it open.
inline int surely_left(const Sighting& a, const Sighting& b) {
  const double one = a.x * b.y;
  const double other = a.y * b.x;
  const double area = one - other;
  const double rounded = 8 * unit_roundoff * (std::fabs(one) + std::fabs(other));
  const double moved = (std::fabs(a.x) + std::fabs(a.y)) * b.error + (std::fabs(b.x) + std::fabs(b.y)) * a.error;
  const double bound = (rounded + moved + 2 * a.error * b.error) * slack + room_for_underflow;
  return area > bound ? 1 : area < -bound ? -1 : 0;
}

}  // namespace regions
