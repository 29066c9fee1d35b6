// SPDX-License-Identifier: MIT
// Dictionaries for any processor.
#include "cells/dictionaries.hpp"

#include "kernel/begin_kernel.hpp"

#define REGIONS_TARGET baseline
#include "cells/dictionary.hpp"

namespace regions {

extern const MakeDictionaries make_dictionaries_baseline = baseline::make_dictionaries_of;

}  // namespace regions
