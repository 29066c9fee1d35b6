// SPDX-License-Identifier: MIT
// One kernel: the recursion in three dimensions and more.
//
// These kernels have files of their own, so that they are compiled in parallel and do not change how the others are inlined.
#include "cells/polytope.hpp"
#include "collect/face_collector.hpp"
#include "kernel/run.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// Calls work with a null pointer to the type of polytopes of the chart's dimension: of three, or of several up to `Most`.
template <int Least, int Most, class Work>
auto with_polytopes(const Task& task, Work work) {
  const int dimension = task.chart.dimension;
  if constexpr (Least == 3)
    if (dimension == 3) return work(static_cast<Polytope<3>*>(nullptr));
  if (dimension < least_dims<Most> || dimension > Most) throw std::invalid_argument("there are no cells of this dimension");
  return work(static_cast<Polytope<Most>*>(nullptr));
}

template <int Least, int Most>
void count_in_polytopes(const Task& task) {
  with_polytopes<Least, Most>(task, [&](auto* type) { count_in<std::remove_pointer_t<decltype(type)>>(task); });
}

template <int Least, int Most>
void enumerate_in_polytopes(const Task& task, std::deque<FaceHarvest>& harvests) {
  with_polytopes<Least, Most>(task, [&](auto* type) {
    using Cell = std::remove_pointer_t<decltype(type)>;
    const Dims<Cell::dimension> dims(task.chart.dimension);
    std::atomic<int> numbers{1};
    if (task.workers > 1 && task.section == nullptr) {
      std::mutex adding;
      return subdivide_together<Cell>(task, [&] {
        const std::lock_guard<std::mutex> lock(adding);
        return FaceCollector<Cell>(harvests.emplace_back(), numbers, task.network, dims);
      });
    }
    FaceHarvest& harvest = harvests.emplace_back();
    harvest.begin_fragment(0);
    FaceCollector<Cell> collector(harvest, numbers, task.network, dims);
    Subdivision<Cell, FaceCollector<Cell>>(task, collector).run();
  });
}

template <int Least, int Most>
std::vector<Path> frontier_in_polytopes(const Task& task, std::int64_t least) {
  return with_polytopes<Least, Most>(task, [&](auto* type) { return frontier_in<std::remove_pointer_t<decltype(type)>>(task, least); });
}

// The set without interior has no corners.
template <int Least, int Most>
void corners_of_polytope(const Task& task, std::vector<double>& corners) {
  with_polytopes<Least, Most>(task, [&](auto* type) {
    using Cell = std::remove_pointer_t<decltype(type)>;
    const std::vector<std::uint8_t> pieces(std::size_t(task.network.total_units), 0);
    Exact exact(task.network, task.chart, task.domain, pieces.data(), task.monitor);
    Arena arena;
    try {
      const Cell cell = Cell::whole(nullptr, 0, exact, arena);
      for (int v = 0; v < cell.count; ++v)
        corners.insert(corners.end(), cell.vertices[v]->position, cell.vertices[v]->position + cell.dims + 1);
    } catch (const NoInterior&) {
    }
  });
}

template <int Least, int Most>
constexpr PolytopeKernel polytope_kernel() {
  return {count_in_polytopes<Least, Most>, enumerate_in_polytopes<Least, Most>, frontier_in_polytopes<Least, Most>,
          corners_of_polytope<Least, Most>};
}

}  // namespace REGIONS_TARGET
}  // namespace regions
