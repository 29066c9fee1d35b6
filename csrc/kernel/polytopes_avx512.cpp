// SPDX-License-Identifier: MIT
// The recursion in polytopes for x86-64 processors with AVX512.
#if defined(__x86_64__)
#include "kernel/polytopes.hpp"

#include "kernel/begin_avx512.hpp"
#include "kernel/polytopes_body.hpp"

namespace regions {
const PolytopeKernel polytopes_avx512 = avx512::polytope_kernel<3, 6>();
}

#include "kernel/end_target.hpp"
#endif
