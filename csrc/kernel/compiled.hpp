// SPDX-License-Identifier: MIT
// Which kernels does this build have?
//
// setup.py defines REGIONS_HAS_.. for each file of this folder that it compiles. A universal binary for macOS has two halves, and only
// the half for x86-64 has more than the baseline.
#pragma once

#if !defined(__x86_64__)
#undef REGIONS_HAS_KERNEL_AVX512
#undef REGIONS_HAS_KERNEL_AVX2
#undef REGIONS_HAS_POLYTOPES_AVX2
#undef REGIONS_HAS_DICTIONARIES_AVX2
#endif
