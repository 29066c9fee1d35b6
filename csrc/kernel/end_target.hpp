// SPDX-License-Identifier: MIT
// Ends the instructions that kernel/begin_avx2.hpp or kernel/begin_avx512.hpp chose.
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
