// SPDX-License-Identifier: MIT
// The recursion for x86-64 processors with AVX2.
#if defined(__x86_64__)

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "arena.hpp"
#include "kernel.hpp"
#include "lanes.hpp"

#define REGIONS_TARGET avx2
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif

#include "kernel_body.hpp"

namespace regions {
const Kernel kernel_avx2 = {avx2::count, avx2::enumerate};
}

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
