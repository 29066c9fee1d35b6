// SPDX-License-Identifier: MIT
// The recursion in three dimensions and more, compiled like the others (kernel/kernel.hpp), in files of its own.
#pragma once

#include <deque>
#include <vector>

#include "collect/face_records.hpp"
#include "kernel/kernel.hpp"

namespace regions {

struct PolytopeKernel {
  CountKernel count;
  void (*enumerate)(const Task&, std::deque<FaceHarvest>& harvests);  // one for each thread; null if regions are only counted
  FrontierKernel frontier;
  void (*corners)(const Task&, std::vector<double>& corners);  // of the domain, with their weights
};

extern const PolytopeKernel polytopes_baseline;  // these have three to six dimensions
#if defined(REGIONS_BASELINE_POLYTOPES)  // in builds with the address sanitizer (setup.py)
static const PolytopeKernel& polytopes_avx2 = polytopes_baseline;
#elif defined(__x86_64__)
extern const PolytopeKernel polytopes_avx2;  // also where there are wider vectors, from which they gain nothing (csrc/TRIED.md)
#endif
#if defined(REGIONS_BASELINE_POLYTOPES) || defined(REGIONS_BASELINE_ONLY)  // in builds with sanitizers
static const PolytopeKernel& polytopes_wide = polytopes_baseline;
#else
extern const PolytopeKernel polytopes_wide;  // seven to ten, where regions are not enumerated
#endif

}  // namespace regions
