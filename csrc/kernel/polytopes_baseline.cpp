// SPDX-License-Identifier: MIT
// The recursion in polytopes for any processor.
#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernel/kernel.hpp"
#include "memory/arena.hpp"
#include "rows/lanes.hpp"

#define REGIONS_TARGET baseline
#include "kernel/polytopes_body.hpp"

namespace regions {
const PolytopeKernel polytopes_baseline = {baseline::count_in_polytopes, baseline::frontier_in_polytopes, baseline::corners_of_polytope};
}
