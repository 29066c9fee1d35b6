// SPDX-License-Identifier: MIT
// One kernel: the recursion for each dimension, and the second run when something underflowed.
//
// The filter's bounds assume that nothing underflows. The processor remembers if something did, in a sticky flag; then
// the run is done again and decides by exact signs alone. This is slow, and rare: it takes products below 1e-308.
#include <cfenv>

#include "subdivide.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

template <class Cell>
Outcome count_cells(const Task& task, std::int64_t* found) {
  for (const bool filtered : {true, false}) {
    Counter<Cell> counter(*found);
    std::feclearexcept(FE_UNDERFLOW);
    const Outcome outcome = Subdivision<Cell, Counter<Cell>>(task, counter, filtered).run();
    if (!filtered || std::fetestexcept(FE_UNDERFLOW) == 0) return outcome;
    task.monitor.restart();
  }
  return {};
}

template <class Cell>
Outcome enumerate_cells(const Task& task, Collected& collected) {
  for (const bool filtered : {true, false}) {
    collected = Collected();
    Complex<Cell> complex(collected, std::size_t(task.network.total_kinks + 7) / 8);
    std::feclearexcept(FE_UNDERFLOW);
    const Outcome outcome = Subdivision<Cell, Complex<Cell>>(task, complex, filtered).run();
    if (!filtered || std::fetestexcept(FE_UNDERFLOW) == 0) return outcome;
    task.monitor.restart();
  }
  return {};
}

inline Outcome count(const Task& task, std::int64_t* found) {
  return task.chart.dimension == 1 ? count_cells<Interval>(task, found) : count_cells<Polygon>(task, found);
}

inline Outcome enumerate(const Task& task, Collected& collected) {
  return task.chart.dimension == 1 ? enumerate_cells<Interval>(task, collected)
                                   : enumerate_cells<Polygon>(task, collected);
}

}  // namespace REGIONS_TARGET
}  // namespace regions
