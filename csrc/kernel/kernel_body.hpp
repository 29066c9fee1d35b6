// SPDX-License-Identifier: MIT
// One kernel: the recursion for each type of cells.
#include "cells/arc.hpp"
#include "cells/interval.hpp"
#include "cells/polygon.hpp"
#include "kernel/curved.hpp"
#include "kernel/straight.hpp"
#include "kernel/subdivide.hpp"
#include "kernel/sweep.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

template <class Cell>
struct TypeOf {
  using type = Cell;
};

// The one place that knows which types of cells there are.
template <class Work>
void with_type_of_cells(const Task& task, Work work) {
  if (task.domain.arc && task.network.has_maxima())
    throw std::invalid_argument("the largest of several rows cannot be followed along an arc yet");
  if (task.domain.arc) return work(TypeOf<Arc>());
  if (task.chart.dimension == 1) return work(TypeOf<Interval>());
  if (task.chart.dimension == 2) return work(TypeOf<Polygon>());
  throw std::invalid_argument("there are no cells of this dimension");
}

// Whether a sweep could prove what there is along the curve.
inline bool swept(const Task& task, Strand* strand) {
  if (task.domain.arc) return Sweep<Curved>(task, strand).run();
  return task.chart.dimension == 1 && Sweep<Straight>(task, strand).run();
}

inline void count(const Task& task) {
  if (swept(task, nullptr)) return;
  with_type_of_cells(task, [&](auto type) {
    using Cell = typename decltype(type)::type;
    Counter<Cell> counter;
    Subdivision<Cell, Counter<Cell>>(task, counter).run();
  });
}

inline void enumerate(const Task& task, Collected& collected) {
  const std::size_t pattern_bytes = std::size_t(task.network.total_kinks + 7) / 8;
  Strand strand(collected, task.chart.dimension, pattern_bytes);
  if (swept(task, &strand)) return;
  with_type_of_cells(task, [&](auto type) {
    using Cell = typename decltype(type)::type;
    Complex<Cell> complex(collected, pattern_bytes);
    Subdivision<Cell, Complex<Cell>>(task, complex).run();
  });
}

}  // namespace REGIONS_TARGET
}  // namespace regions
