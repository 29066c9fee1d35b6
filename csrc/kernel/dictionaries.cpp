// SPDX-License-Identifier: MIT
// Which dictionaries does this machine use?
#include "cells/dictionaries.hpp"

#include "kernel/compiled.hpp"

namespace regions {

extern const MakeDictionaries make_dictionaries_baseline;
extern const MakeDictionaries make_dictionaries_avx2;

std::unique_ptr<Dictionaries> make_dictionaries(int width) {
#if defined(REGIONS_HAS_DICTIONARIES_AVX2) && defined(REGIONS_HAS_DICTIONARIES_BASELINE)
  return (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? make_dictionaries_avx2 : make_dictionaries_baseline)(width);
#elif defined(REGIONS_HAS_DICTIONARIES_AVX2)
  return make_dictionaries_avx2(width);
#else
  return make_dictionaries_baseline(width);
#endif
}

}  // namespace regions
