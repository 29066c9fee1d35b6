// SPDX-License-Identifier: MIT
// Chooses the instructions for the rest of a kernel: AVX-512. kernel/end_target.hpp ends it.
#include <immintrin.h>

#include "kernel/begin_kernel.hpp"

#define REGIONS_TARGET avx512
#define REGIONS_FMA 512
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("fma,avx512f,avx512vl,avx512dq,avx512bw"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("fma,avx512f,avx512vl,avx512dq,avx512bw")
#endif
