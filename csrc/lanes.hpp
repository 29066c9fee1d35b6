// SPDX-License-Identifier: MIT
// What is a short vector here?
//
// A few doubles that are added and multiplied together, in the compiler's own vector types. Every lane is an
// ordinary IEEE operation and every sum has one fixed order, so the same bits come out whatever width the
// processor has: an instruction set changes the speed and nothing else.
#pragma once

#include <cstdint>

namespace regions {

typedef double Lanes2 __attribute__((vector_size(16)));
typedef double Lanes4 __attribute__((vector_size(32)));
typedef double Lanes8 __attribute__((vector_size(64)));
typedef std::int64_t Mask8 __attribute__((vector_size(64)));

// An affine form over a chart of dimension D: lane 0 is the constant, lanes 1..D the gradient, and at least one
// lane is spare.
template <int D>
struct LaneCount {
  static constexpr int value = (D + 2 + 3) / 4 * 4;
};

constexpr double unit_roundoff = 0x1p-53;

}  // namespace regions
