// SPDX-License-Identifier: MIT
// The recursion for x86-64 processors with AVX512.
#if defined(__x86_64__)
#include "kernel/begin_avx512.hpp"
#include "kernel/kernel_body.hpp"

namespace regions {
const Kernel kernel_avx512 = {avx512::count, avx512::enumerate, avx512::frontier};
}

#include "kernel/end_target.hpp"
#endif
