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

// A build has some of these (kernel/compiled.hpp).
extern const PolytopeKernel polytopes_baseline;  // three to six dimensions
extern const PolytopeKernel polytopes_avx2;      // the same, also where there are wider vectors, from which they gain nothing (csrc/TRIED.md)
extern const PolytopeKernel polytopes_wide;      // seven to ten, where regions are not enumerated

}  // namespace regions
