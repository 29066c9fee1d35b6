// SPDX-License-Identifier: MIT
// What is the result of a run, and how was it decided?
#pragma once

#include <cstdint>

#include "task/network.hpp"

namespace regions {

struct SignCounts {
  std::int64_t filter = 0;                    // signs that rounded arithmetic proved
  std::int64_t longer[most_limbs - 1] = {};   // of these, in rows of two, three, .. limbs
  std::int64_t exact = 0;                     // signs that needed exact arithmetic
  std::int64_t zero = 0;                      // signs, of either kind, that turned out to be zero

  void prove(int limbs, std::int64_t signs = 1) {
    filter += signs;
    if (limbs > 1) longer[limbs - 2] += signs;
  }

  void add(const SignCounts& more) {
    filter += more.filter;
    for (int m = 0; m + 1 < most_limbs; ++m) longer[m] += more.longer[m];
    exact += more.exact;
    zero += more.zero;
  }
};

struct Outcome {
  std::int64_t count = 0;
  std::int64_t cells = 0;  // nodes of the recursion, and parts of those that were swept
  std::int64_t closed = 0;  // cells that contain no wanted region, and were not cut further
  SignCounts signs;

  void add(const Outcome& more) {
    count += more.count;
    cells += more.cells;
    closed += more.closed;
    signs.add(more.signs);
  }
};

}  // namespace regions
