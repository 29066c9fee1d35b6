// SPDX-License-Identifier: MIT
// The recursion in polytopes for any processor.
#include "kernel/polytopes.hpp"

#include "kernel/begin_kernel.hpp"

#define REGIONS_TARGET baseline
#include "kernel/polytopes_body.hpp"

namespace regions {
#if defined(__SANITIZE_THREAD__)  // all dimensions share memory in the same way
const PolytopeKernel polytopes_baseline = baseline::polytope_kernel<3, 3>();
#else
const PolytopeKernel polytopes_baseline = baseline::polytope_kernel<3, 6>();
#endif
}
