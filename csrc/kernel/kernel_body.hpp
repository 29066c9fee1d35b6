// SPDX-License-Identifier: MIT
// One kernel: the recursion on lines, along arcs and in planes.
#include "cells/arc.hpp"
#include "cells/interval.hpp"
#include "cells/polygon.hpp"
#include "collect/splice.hpp"
#include "kernel/curved.hpp"
#include "kernel/run.hpp"
#include "kernel/straight.hpp"
#include "kernel/sweep.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

template <class Cell>
struct TypeOf {
  using type = Cell;
};

// The types of cells whose regions can be collected. Others are in kernel/polytopes_body.hpp.
template <class Work>
void with_type_of_cells(const Task& task, Work work) {
  if (task.domain.arc) return work(TypeOf<Arc>());
  if (task.chart.dimension == 1) return work(TypeOf<Interval>());
  if (task.chart.dimension == 2) return work(TypeOf<Polygon>());
  throw std::invalid_argument("regions of this dimension cannot be enumerated");
}

// Returns whether a sweep could prove the regions along the curve.
inline bool swept(const Task& task, Strand* strand) {
  // A sweep finds no maps, and leaves no region out.
  if (task.section != nullptr || task.network.output_layers > 0 || task.network.groups > 0) return false;
  if (task.domain.arc) return Sweep<Curved>(task, strand).run();
  return task.chart.dimension == 1 && Sweep<Straight>(task, strand).run();
}

template <class Cell>
void enumerate_together(const Task& task, std::size_t pattern_bytes, Whole& whole) {
  Fragments<Cell> fragments(whole, task.workers);
  const auto splice = [&](bool finished) { Splice<Cell>(fragments, whole).run(finished); };
  try {
    subdivide_together<Cell>(task, [&] {
      return Complex<Cell>(fragments, fragments.new_harvest(), pattern_bytes, task.network.outputs());
    });
  } catch (const Interrupted&) {
    splice(false);
    throw;
  } catch (const LimitExceeded&) {
    splice(false);
    throw;
  }
  splice(task.network.groups == 0);
}

inline void count(const Task& task) {
  if (swept(task, nullptr)) return;
  with_type_of_cells(task, [&](auto type) { count_in<typename decltype(type)::type>(task); });
}

inline void enumerate(const Task& task, Whole& whole) {
  const std::size_t pattern_bytes = task.network.kept_bytes();
  Strand strand(whole.only(), task.chart.dimension, pattern_bytes);
  if (swept(task, &strand)) return;
  with_type_of_cells(task, [&](auto type) {
    using Cell = typename decltype(type)::type;
    if (task.workers > 1 && task.section == nullptr) return enumerate_together<Cell>(task, pattern_bytes, whole);
    Complex<Cell> complex(whole.only(), pattern_bytes, task.network.outputs());
    Subdivision<Cell, Complex<Cell>>(task, complex).run();
  });
}

// As `frontier_in`; a single path if a sweep is faster than its parts would be.
inline std::vector<Path> frontier(const Task& task, std::int64_t least) {
  if (task.domain.arc || task.chart.dimension == 1) return {Path()};
  std::vector<Path> paths;
  with_type_of_cells(task, [&](auto type) { paths = frontier_in<typename decltype(type)::type>(task, least); });
  return paths;
}

}  // namespace REGIONS_TARGET
}  // namespace regions
