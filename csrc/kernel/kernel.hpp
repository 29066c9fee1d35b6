// SPDX-License-Identifier: MIT
// The recursion, compiled once for every generation of processors.
//
// Each kernel_*.cpp includes the same templates in a namespace of its own, with that generation's instructions
// enabled; bridge.cpp picks the best one that the machine supports. Only the speed differs: no contraction, one order of
// summation. But products on segments are fused where the processor can (rows/products.hpp), so the baseline kernel may
// give other last bits to vertices and bounds there. Everything that begin_kernel.hpp includes is compiled for every machine, and shared.
#pragma once

#include "collect/collected.hpp"
#include "collect/strand.hpp"
#include "collect/whole.hpp"
#include "task/crew.hpp"
#include "task/monitor.hpp"
#include "task/network.hpp"
#include "task/outcome.hpp"
#include "task/section.hpp"

namespace regions {

struct Task {
  const Network& network;
  const Chart& chart;
  const Domain& domain;
  Monitor& monitor;
  Outcome& outcome;  // complete even when the work is stopped by an exception
  const double* const* panels = nullptr;  // of each layer's weights (task/panels.hpp); null in the plane
  int workers = 1;
  Section* section = nullptr;  // null if all regions are requested; otherwise workers is 1
  bool leaves_swept_whole = false;  // of a frontier: it has no nodes inside of cells that an enumeration sweeps
};

using CountKernel = void (*)(const Task&);
using EnumerateKernel = void (*)(const Task&, Whole& whole);
using FrontierKernel = std::vector<Path> (*)(const Task&, std::int64_t least);

struct Kernel {
  CountKernel count;
  EnumerateKernel enumerate;
  FrontierKernel frontier;
};

// A build has some of these (kernel/compiled.hpp).
extern const Kernel kernel_baseline;
extern const Kernel kernel_avx2;
extern const Kernel kernel_avx512;

}  // namespace regions
