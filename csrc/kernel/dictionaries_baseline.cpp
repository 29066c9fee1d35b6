// SPDX-License-Identifier: MIT
// Dictionaries for any processor, and the choice between them.
#include "cells/dictionaries.hpp"

#include "kernel/begin_kernel.hpp"

#define REGIONS_TARGET baseline
#include "cells/dictionary.hpp"

namespace regions {

extern const MakeDictionaries make_dictionaries_avx2;

std::unique_ptr<Dictionaries> make_dictionaries(int width) {
#if defined(__x86_64__) && !defined(REGIONS_BASELINE_ONLY)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return make_dictionaries_avx2(width);
#endif
  return baseline::make_dictionaries_of(width);
}

}  // namespace regions
