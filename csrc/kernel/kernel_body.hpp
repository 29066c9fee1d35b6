// SPDX-License-Identifier: MIT
// One kernel: the recursion for each type of cells.
#include "cells/arc.hpp"
#include "cells/interval.hpp"
#include "cells/polygon.hpp"
#include "collect/graft.hpp"
#include "collect/splice.hpp"
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

// The only place that lists the types of cells.
template <class Work>
void with_type_of_cells(const Task& task, Work work) {
  if (task.domain.arc) return work(TypeOf<Arc>());
  if (task.chart.dimension == 1) return work(TypeOf<Interval>());
  if (task.chart.dimension == 2) return work(TypeOf<Polygon>());
  throw std::invalid_argument("there are no cells of this dimension");
}

// Regions of higher dimensions can be counted: `Collected` does not support their facets and positions yet.
template <class Work>
void with_type_of_collected_cells(const Task& task, Work work) {
  with_type_of_cells(task, [&](auto type) {
    if constexpr (decltype(type)::type::dimension <= most_dimensions)
      work(type);
    else
      throw std::invalid_argument("regions of this dimension can be counted, not enumerated");
  });
}

// Returns whether a sweep could prove the regions along the curve.
inline bool swept(const Task& task, Strand* strand) {
  // A sweep finds no maps, and leaves no region out.
  if (task.section != nullptr || task.network.output_layers > 0 || task.network.groups > 0) return false;
  if (task.domain.arc) return Sweep<Curved>(task, strand).run();
  return task.chart.dimension == 1 && Sweep<Straight>(task, strand).run();
}

// Runs the recursion on several threads, each with a separate collector, created by `make`.
template <class Cell, class Make>
void subdivide_together(const Task& task, Make make) {
  task.outcome.count = 0;  // discards the results of an unsuccessful sweep
  task.outcome.signs = SignCounts();
  Crew crew(task.workers, task.monitor, task.outcome);
  crew.run([&](bool first, Monitor& monitor, Outcome& outcome) {
    auto collector = make();
    const Task own{task.network, task.chart, task.domain, monitor, outcome};
    Subdivision<Cell, decltype(collector)>(own, collector, &crew).run_with_others(first);
  });
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
  with_type_of_cells(task, [&](auto type) {
    using Cell = typename decltype(type)::type;
    if (task.workers > 1 && task.section == nullptr) return subdivide_together<Cell>(task, [] { return Counter<Cell>(); });
    Counter<Cell> counter;
    Subdivision<Cell, Counter<Cell>>(task, counter).run();
  });
}

inline void enumerate(const Task& task, Whole& whole) {
  const std::size_t pattern_bytes = std::size_t(task.network.total_kinks + 7) / 8;
  Strand strand(whole.only(), task.chart.dimension, pattern_bytes);
  if (swept(task, &strand)) return;
  with_type_of_collected_cells(task, [&](auto type) {
    using Cell = typename decltype(type)::type;
    if (task.workers > 1 && task.section == nullptr) return enumerate_together<Cell>(task, pattern_bytes, whole);
    Complex<Cell> complex(whole.only(), pattern_bytes, task.network.outputs());
    Subdivision<Cell, Complex<Cell>>(task, complex).run();
  });
}

// Enumerates everything below a node; for the root, the whole domain.
inline void enumerate_below(const Task& task, const Path& node, Whole& whole, Border& border) {
  if (node.empty()) return enumerate(task, whole);
  const std::size_t pattern_bytes = std::size_t(task.network.total_kinks + 7) / 8;
  with_type_of_collected_cells(task, [&](auto type) {
    using Cell = typename decltype(type)::type;
    Complex<Cell> complex(whole.only(), pattern_bytes);
    Subdivision<Cell, Complex<Cell>>(task, complex).run_below(node, border);
  });
}

// Merges subtrees in the order of their nodes; returns whether nothing is left open.
inline bool graft(const Task& task, const Subtrees& subtrees, Collected& collected) {
  const std::size_t pattern_bytes = std::size_t(task.network.total_kinks + 7) / 8;
  bool finished = true;
  with_type_of_collected_cells(task, [&](auto type) {
    using Cell = typename decltype(type)::type;
    Complex<Cell> complex(collected, pattern_bytes);
    Graft<Cell> graft(subtrees, collected, complex);
    if (subtrees.nodes.size() == 1 && subtrees.nodes[0].empty()) return graft.append_all();
    Subdivision<Cell, Complex<Cell>>(task, complex).run_above(graft);
    finished = graft.finish();
  });
  return finished;
}

// Lists the nodes after a number of cuts, and regions that are reached with fewer cuts.
struct Nodes {
  std::size_t cuts;
  std::vector<Path>& paths;
  bool more = false;  // whether any node is not a region

  template <class Cell>
  bool takes(const Path& node, const Cell&, typename Cell::Trace*, bool decided) {
    if (node.size() < cuts && !decided) return false;
    paths.push_back(node);
    more = more || !decided;
    return true;
  }

  template <class Cell>
  void leave(std::size_t, const Cell&, const Cut<Cell>&, typename Cell::Trace*) {}
};

// Paths of at least this many nodes, if there are as many, in order, such that all regions are below one of them. A single path
// if a sweep is faster than its parts would be. Each round descends to cells that are one cut smaller, so all rounds together
// cost at most twice the last.
inline std::vector<Path> frontier(const Task& task, std::int64_t least) {
  if (task.domain.arc || task.chart.dimension == 1) return {Path()};
  std::vector<Path> paths;
  with_type_of_cells(task, [&](auto type) {
    using Cell = typename decltype(type)::type;
    bool more = true;
    for (std::size_t cuts = 0; more && std::int64_t(paths.size()) < least; ++cuts) {
      paths.clear();
      Counter<Cell> counter;
      Nodes nodes{cuts, paths};
      Subdivision<Cell, Counter<Cell>>(task, counter).run_above(nodes);
      more = nodes.more;
    }
  });
  return paths;
}

}  // namespace REGIONS_TARGET
}  // namespace regions
