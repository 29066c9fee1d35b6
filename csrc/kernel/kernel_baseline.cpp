// SPDX-License-Identifier: MIT
// The recursion for any processor.
#include "kernel/begin_kernel.hpp"

#define REGIONS_TARGET baseline
#include "kernel/kernel_body.hpp"

namespace regions {
const Kernel kernel_baseline = {baseline::count, baseline::enumerate, baseline::frontier};
}
