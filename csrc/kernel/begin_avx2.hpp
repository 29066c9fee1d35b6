// SPDX-License-Identifier: MIT
// Chooses the instructions for the rest of a kernel: AVX2 and fused multiply-add. kernel/end_target.hpp ends it.
#include <immintrin.h>

#include "kernel/begin_kernel.hpp"

#define REGIONS_TARGET avx2
#define REGIONS_FMA 256
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
