// SPDX-License-Identifier: MIT
// The recursion in polytopes for x86-64 processors with AVX2 and fused multiply-add.
#if defined(__x86_64__)
#include "kernel/polytopes.hpp"

#include "kernel/begin_avx2.hpp"
#include "kernel/polytopes_body.hpp"

namespace regions {
const PolytopeKernel polytopes_avx2 = avx2::polytope_kernel<3, 6>();
}

#include "kernel/end_target.hpp"
#endif
