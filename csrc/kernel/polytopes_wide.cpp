// SPDX-License-Identifier: MIT
// Counting in polytopes of seven to ten dimensions, for any processor.
//
// The time goes into pairs of vertices, which wider vectors do not find faster, and each kernel takes long to compile.
#include "kernel/polytopes.hpp"

#include "kernel/begin_kernel.hpp"

#define REGIONS_TARGET baseline
#include "kernel/polytopes_body.hpp"

namespace regions {
const PolytopeKernel polytopes_wide = {baseline::count_in_polytopes<7, 10>, nullptr, baseline::frontier_in_polytopes<7, 10>,
                                       baseline::corners_of_polytope<7, 10>};
}
