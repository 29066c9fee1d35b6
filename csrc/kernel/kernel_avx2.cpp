// SPDX-License-Identifier: MIT
// The recursion for x86-64 processors with AVX2 and fused multiply-add.
#if defined(__x86_64__)
#include "kernel/begin_avx2.hpp"
#include "kernel/kernel_body.hpp"

namespace regions {
const Kernel kernel_avx2 = {avx2::count, avx2::enumerate, avx2::frontier};
}

#include "kernel/end_target.hpp"
#endif
