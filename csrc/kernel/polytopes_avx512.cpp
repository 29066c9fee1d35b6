// SPDX-License-Identifier: MIT
// The recursion in polytopes for x86-64 processors with AVX512.
#if defined(__x86_64__)

#include <immintrin.h>

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

#define REGIONS_TARGET avx512
#define REGIONS_FMA 512
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("fma,avx512f,avx512vl,avx512dq,avx512bw"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("fma,avx512f,avx512vl,avx512dq,avx512bw")
#endif

#include "kernel/polytopes_body.hpp"

namespace regions {
const PolytopeKernel polytopes_avx512 = {avx512::count_in_polytopes, avx512::frontier_in_polytopes, avx512::corners_of_polytope};
}

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
