// SPDX-License-Identifier: MIT
// Dictionaries for x86-64 processors with AVX2.
#if defined(__x86_64__)
#include "cells/dictionaries.hpp"

#include "kernel/begin_avx2.hpp"
#include "cells/dictionary.hpp"

namespace regions {
extern const MakeDictionaries make_dictionaries_avx2 = avx2::make_dictionaries_of;
}

#include "kernel/end_target.hpp"
#endif
