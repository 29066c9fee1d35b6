// SPDX-License-Identifier: MIT
// The recursion in polytopes for any processor.
#include "kernel/polytopes.hpp"

#include "kernel/begin_kernel.hpp"

#define REGIONS_TARGET baseline
#include "kernel/polytopes_body.hpp"

namespace regions {
const PolytopeKernel polytopes_baseline = baseline::polytope_kernel<3, 6>();
}
