// SPDX-License-Identifier: MIT
// The recursion for any processor.
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
#include "kernel/kernel_body.hpp"

namespace regions {
const Kernel kernel_baseline = {baseline::count, baseline::enumerate, baseline::frontier, baseline::enumerate_below, baseline::graft};
}
