// SPDX-License-Identifier: MIT
// One kernel: the recursion for each dimension.
#include "kernel/subdivide.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

template <class Cell>
void count_cells(const Task& task) {
  Counter<Cell> counter;
  Subdivision<Cell, Counter<Cell>>(task, counter).run();
}

template <class Cell>
void enumerate_cells(const Task& task, Collected& collected) {
  Complex<Cell> complex(collected, std::size_t(task.network.total_kinks + 7) / 8);
  Subdivision<Cell, Complex<Cell>>(task, complex).run();
}

inline void count(const Task& task) {
  if (task.chart.dimension == 1)
    count_cells<Interval>(task);
  else
    count_cells<Polygon>(task);
}

inline void enumerate(const Task& task, Collected& collected) {
  if (task.chart.dimension == 1)
    enumerate_cells<Interval>(task, collected);
  else
    enumerate_cells<Polygon>(task, collected);
}

}  // namespace REGIONS_TARGET
}  // namespace regions
