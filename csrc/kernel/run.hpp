// SPDX-License-Identifier: MIT
// How does the recursion run in cells of one type?
//
// On one thread or several, or down to nodes that divide its work.
#pragma once

#include <cstdint>
#include <vector>

#include "collect/collect.hpp"
#include "kernel/subdivide.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

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
void count_in(const Task& task) {
  if (task.workers > 1 && task.section == nullptr) return subdivide_together<Cell>(task, [] { return Counter<Cell>(); });
  Counter<Cell> counter;
  Subdivision<Cell, Counter<Cell>>(task, counter).run();
}

// The progress of a division: the most nodes that any round has found, as a fraction of those wanted.
struct DivisionProgress {
  Monitor& monitor;
  std::size_t wanted;
  std::size_t most = 0;

  void has(std::size_t nodes) {
    if (nodes <= most || most >= wanted) return;
    ++most;
    monitor.finished(1.0 / double(wanted));
  }
};

// Lists the nodes after a number of cuts, and regions that are reached with fewer cuts; also cells that an enumeration
// sweeps, if these are left whole.
struct Nodes {
  bool leaves_swept_whole;
  std::size_t cuts;
  std::vector<Path>& paths;
  DivisionProgress& progress;
  bool more = false;  // whether any node is not a region

  bool takes(const Path& node, bool decided) {
    if (node.size() < cuts && !decided) return false;
    paths.push_back(node);
    progress.has(paths.size());
    more = more || !decided;
    return true;
  }
};

// Paths of at least this many nodes, if there are as many, in order, such that all regions are below one of them. Each round descends
// to cells that are one cut smaller, so all rounds together cost at most twice the last.
template <class Cell>
std::vector<Path> frontier_in(const Task& task, std::int64_t least) {
  std::vector<Path> paths;
  DivisionProgress progress{task.monitor, std::size_t(least)};
  bool more = true;
  for (std::size_t cuts = 0; more && std::int64_t(paths.size()) < least; ++cuts) {
    paths.clear();
    Counter<Cell> counter;
    Nodes nodes{task.leaves_swept_whole, cuts, paths, progress};
    Subdivision<Cell, Counter<Cell>>(task, counter).run_above(nodes);
    more = nodes.more;
  }
  return paths;
}

}  // namespace REGIONS_TARGET
}  // namespace regions
