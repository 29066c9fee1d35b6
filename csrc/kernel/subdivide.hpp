// SPDX-License-Identifier: MIT
// Which regions does the network have in the domain?
//
// The recursion takes a cell and the network restricted to it. If nothing is undecided, the cell is a region. Otherwise it cuts
// the cell along one of the lowest undecided layer's lines (the one with the largest smaller side) and continues with
// each child and the network restricted to it. Every cut is a true boundary, because lower layers are decided first. So
// nothing has to be merged, and memory is the depth of the recursion.
//
// Several threads share it (kernel/donations.hpp); cells with a child that was given away are joined at the end. A thread may
// also work on a section of it (kernel/section_ends.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "cells/cell.hpp"
#include "collect/collect.hpp"
#include "kernel/cell_sweep.hpp"
#include "kernel/cutting.hpp"
#include "kernel/distinct_lines.hpp"
#include "kernel/donations.hpp"
#include "kernel/excluding.hpp"
#include "kernel/given_vertices.hpp"
#include "kernel/kernel.hpp"
#include "kernel/region_sweep.hpp"
#include "kernel/restrict.hpp"
#include "kernel/section_ends.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

template <class Cell, class Collector>
class Subdivision {
  static_assert(require_cell<Cell>(), "cells/cell.hpp says what a cell offers");

 public:
  static constexpr int D = Cell::dimension;
  using Trace = typename Cell::Trace;

  Subdivision(const Task& task, Collector& collector, Crew* crew = nullptr)
      : donations_(crew, arena_),
        network_(task.network),
        domain_(task.domain),
        collector_(collector),
        monitor_(task.monitor),
        outcome_(task.outcome),
        ends_(task.section, task.monitor),
        pieces_(std::size_t(network_.total_units), 0),
        pattern_((finds_zeros() ? 2 : 1) * network_.pattern_bytes(), 0),
        maps_(Collector::keeps ? collector.map_numbers() : 0, 0),
        exact_(network_, task.chart, domain_, pieces_.data(), task.monitor),
        signs_(network_, exact_),
        step_{network_, exact_, signs_, arena_, pieces_.data(), Collector::keeps ? pattern_.data() : nullptr,
              Collector::keeps && finds_zeros() ? pattern_.data() + network_.pattern_bytes() : nullptr, maps_.empty() ? nullptr : maps_.data()},
        restriction_(task.chart, domain_, step_),
        cell_sweep_(network_, arena_, signs_),
        cutting_(network_, exact_, signs_, arena_, collector_) {}

  ~Subdivision() {
    donations_.keep_memory();
    outcome_.count = collector_.count;
    outcome_.signs = signs_.counts;
  }

  void run() {
    enter_whole();
    subdivide(ends_.any() ? go_to_begin() : 1);
  }

  // Runs as one thread of the crew; one of them begins with the whole domain.
  void run_with_others(bool first) {
    if (first) {
      collector_.begin(0);
      run();
    }
    while (const auto part = donations_.take(monitor_)) {
      donations_.keep_memory();
      donations_.begin(*part);
      pieces_ = part->pieces;
      pattern_ = part->pattern;
      for (int layer = 1; layer <= network_.last(); ++layer) exact_.enter(layer);
      collector_.begin(part->number);
      ends_.enter_child(0);
      descend(part->parent[0], part->child, stack_[0]);
      donations_.adopt_vertices(stack_[0].cell, collector_);
      subdivide(1);
    }
    donations_.keep_memory();
  }

  // Runs the recursion above the nodes that `nodes` takes.
  template <class Nodes>
  void run_above(Nodes& nodes) {
    enter_whole();
    for (std::size_t depth = 1; depth > 0;) {
      Frame<Cell>& frame = stack_[depth - 1];
      if (frame.next_child == 0) {
        const bool is_leaf = frame.network.block_count == 0 ||
                             (nodes.leaves_swept_whole && RegionSweep<Cell>::size(network_, frame.network, frame.cell) > 0);
        if (nodes.takes(path_to<Cell>(stack_, depth), is_leaf)) {
          --depth;
          continue;
        }
        cut_above(frame);
      } else {
        release(frame);
      }
      depth = frame.next_child < frame.cut.count ? enter_next_child(depth) : depth - 1;
    }
  }

 private:
  void enter_whole() {
    Frame<Cell>& root = stack_[0];
    root.cell = whole_domain();
    restrict(root, [&] { return restriction_.whole(root.cell); });
    root.traces = arena_.template take<Trace>(std::size_t(root.cell.facet_count()));
    root.share = 1;
    root.next_child = 0;
    root.tried = std::numeric_limits<int>::max();
    root.given = 0;
  }

  // Frees the memory below a cell's children, and forgets the vertices there.
  void release(const Frame<Cell>& frame) {
    arena_.release(frame.mark);
    collector_.forget(frame.identified);
  }

  __attribute__((noinline)) void cut_above(Frame<Cell>& frame) {
    ++outcome_.cells;
    monitor_.work(1 + frame.network.lines.count);
    cutting_.cut(frame);
  }

  // Runs with this many cells on the stack.
  void subdivide(std::size_t depth) {
    while (depth > 0) {
      if (donations_.are_wanted()) donations_.give(stack_, depth, collector_, pieces_, pattern_);
      Frame<Cell>& top = stack_[depth - 1];
      if (top.next_child == 0 && ends_.is_within(depth)) {
        if (ends_.is_region(ends_.end(), depth)) {
          sweep_on_way(top, ends_.end(), depth);
          return;
        }
        cut_on_way(top, ends_.end(), depth);
      } else if (top.next_child == 0 && close(top)) {
        if (Collector::keeps && ends_.any() && ends_.is_within_swept<Cell>(stack_, depth, collected_, swept_)) return;
        if (is_closed(top.network)) ends_.leave_open(depth);
        --depth;
        continue;
      }
      if (top.next_child > 0 && depth >= donations_.height()) release(top);
      if (top.next_child == top.cut.count - top.given) {
        if (depth <= donations_.height())
          collector_.join_later(top.cell, top.cut, top.given, top.traces, donations_.memory());
        else if (ends_.has_all_of(depth))
          collector_.join(top.cell, top.cut, top.traces);
        --depth;
        continue;
      }
      if (ends_.any() && ends_.before_next_child<Cell>(stack_, depth, collector_.count)) return;
      depth = enter_next_child(depth);
    }
  }

  // Returns the number of cells on the stack afterwards.
  std::size_t enter_next_child(std::size_t depth) {
    const int child = stack_[depth - 1].next_child++;
    ends_.enter_child(depth);
    if (depth == stack_.size()) stack_.emplace_back();
    descend(stack_[depth - 1], child, stack_[depth]);
    return depth + 1;
  }

  // Returns the number of cells on the stack afterwards, 0 if the section has ended.
  std::size_t go_to_begin() {
    if (!ends_.start()) return 0;
    const Path& begin = ends_.begin();
    std::size_t depth = 1;
    for (const int child : begin) {
      Frame<Cell>& frame = stack_[depth - 1];
      if (ends_.is_region(begin, depth)) {
        if (sweep_on_way(frame, begin, depth)) return 0;
        ends_.reached();
        return depth - 1;
      }
      cut_on_way(frame, begin, depth);
      frame.next_child = child;
      monitor_.finished(frame.share / frame.cut.count * child);
      if (ends_.before_next_child<Cell>(stack_, depth, collector_.count)) return 0;
      depth = enter_next_child(depth);
    }
    ends_.reached();
    return depth;
  }

  // Cuts a cell that a path leads into.
  __attribute__((noinline)) void cut_on_way(Frame<Cell>& frame, const Path& path, std::size_t depth) {
    if (frame.network.block_count == 0) refuse(path);
    if (ends_.counts(path, depth)) ++outcome_.cells;
    monitor_.work(1 + frame.network.lines.count);
    cutting_.cut(frame);
    if (path[depth - 1] >= frame.cut.count) refuse(path);
    can_be_swept(frame);
  }

  // Sweeps a cell in which a section begins or ends. Returns whether it ends there.
  __attribute__((noinline)) bool sweep_on_way(Frame<Cell>& frame, const Path& path, std::size_t depth) {
    if (path.size() != depth || RegionSweep<Cell>::size(network_, frame.network, frame.cell) == 0) refuse(path);
    can_be_swept(frame);
    const std::int64_t first = &path == &ends_.begin() ? ends_.region(path) : 0;
    const bool ends = ends_.is_within(depth) && ends_.is_region(ends_.end(), depth);
    if (first == 0) ++outcome_.cells;
    const std::int64_t last = ends ? ends_.region(ends_.end()) : std::numeric_limits<std::int64_t>::max();
    std::int64_t regions;
    if constexpr (Collector::keeps) {
      regions = sweep(cell_sweep_, frame, first, last);
    } else {
      RegionSweep<Cell> sweep_of_regions(network_, arena_, signs_);
      regions = sweep(sweep_of_regions, frame, first, last);
    }
    if (ends_.region(path) >= regions) refuse(path);
    monitor_.found(collector_.count);
    monitor_.finished(frame.share * collected());
    return ends_.is_within_swept<Cell>(stack_, depth, collected_, swept_);
  }

  // The collected share of the cell that was swept last: 1 unless the section ends in it.
  double collected() const { return double(collected_) / double(swept_); }

  // Finds the regions of a cell, and collects those with numbers from `first` to below `last`, as far as the section has room.
  // Returns the number of all regions of the cell, or `unknown`.
  std::int64_t sweep(RegionSweep<Cell>& cell_sweep, const Frame<Cell>& frame, std::int64_t first, std::int64_t last) {
    const std::int64_t regions = cell_sweep.find(frame.network, frame.cell);
    if (regions == unknown) return unknown;
    if (first == 0) outcome_.cells += cell_sweep.parts();
    monitor_.work(cell_sweep.parts());
    first = std::min(first, regions);
    swept_ = regions;
    collected_ = std::min({regions, std::max(first, last), first + std::min(regions, ends_.left(collector_.count))});
    if constexpr (Collector::keeps)
      cell_sweep.collect(frame.network, frame.cell, pattern_.data(), frame.traces, first, collected_, collector_);
    collector_.count += collected_ - first;
    return regions;
  }

  // Returns whether to try a sweep over the cell: if one has failed on a cell above it, only with half of the lines and rows. The
  // cells on the way to a node count as tried, so that sections have the nodes of one run.
  bool can_be_swept(Frame<Cell>& frame) const {
    int size;
    if constexpr (Collector::keeps)
      size = RegionSweep<Cell>::size(network_, frame.network, frame.cell);
    else
      size = cell_sweep_.size(frame.network, frame.cell);
    if (size == 0 || (Collector::keeps ? 8 : 2) * size > frame.tried) return false;
    frame.tried = size;
    return true;
  }

  void descend(const Frame<Cell>& parent, int which, Frame<Cell>& child) {
    child.cell = parent.cut.children[which];
    child.traces = parent.cut.traces[which];
    child.share = parent.share / parent.cut.count;
    child.next_child = 0;
    child.tried = parent.tried;
    child.given = 0;
    restrict(child, [&] {
      return restriction_.restricted(parent.network, child.cell, parent.network.best_line, parent.cut.sides[which],
                                     parent.cut.winners != nullptr ? parent.cut.winners[which] : nullptr);
    });
  }

  // Restricts the network to a cell. Where a cell without vertices does not prove everything, it gets them.
  template <class Make>
  void restrict(Frame<Cell>& frame, Make make) {
    if constexpr (may_lack_vertices<Cell>) {
      try {
        frame.network = make();
      } catch (const Unproven&) {
        frame.cell = given_vertices_.give(frame.cell, exact_, arena_);
        frame.network = make();
      }
    } else {
      frame.network = make();
    }
  }

  // Finishes the cell if possible (true), otherwise cuts it.
  bool close(Frame<Cell>& frame) {
    ++outcome_.cells;
    if (is_closed(frame.network)) return leave_out(frame);
    const LocalNetwork<D>& network = frame.network;
    const bool undecided = network.block_count > 0;
    std::int64_t regions = undecided ? unknown : 1;
    double share = frame.share;
    if (!undecided) {
      collector_.region(frame.cell, pattern_.data(), frame.traces, maps_.data());
    } else if (!Collector::keeps && network.block_count == 1 && network.frontier == network_.last() &&
               network.only_lines && is_bounded(frame.cell)) {
      const Block<D>& last = network.blocks[0];
      const Lines<D> lines = distinct(network_.layers[std::size_t(last.layer)], last, network.lines, arena_);
      regions = arrangement_.count(lines, frame.cell, monitor_.left(collector_.count), &monitor_);
      if constexpr (may_lack_vertices<Cell>)
        if (regions == unknown && lacks_vertices(frame.cell)) frame.cell = given_vertices_.give(frame.cell, exact_, arena_);
    } else if (can_be_swept(frame)) {
      if constexpr (Collector::keeps) {
        regions = sweep(cell_sweep_, frame, 0, std::numeric_limits<std::int64_t>::max());
        if (regions != unknown) share *= collected();
      } else {
        regions = cell_sweep_.count(network, frame.cell);
        if (regions != unknown) {
          outcome_.cells += cell_sweep_.parts();
          monitor_.work(cell_sweep_.parts());
        }
      }
    }
    if (!Collector::keeps && undecided && regions != unknown) collector_.count += regions;
    monitor_.found(collector_.count);
    monitor_.work(1 + network.lines.count);
    if (regions == unknown) {
      cutting_.cut(frame);
      if (!restriction_.is_last_line(network)) return false;
      finish_children(frame);
    }
    monitor_.finished(share);
    return true;
  }

  __attribute__((noinline)) bool leave_out(const Frame<Cell>& frame) {
    ++outcome_.closed;
    monitor_.leave_out();
    monitor_.work(1);
    monitor_.finished(frame.share);
    return true;
  }

  // For a cell that was cut by the last remaining line: its children are regions.
  void finish_children(Frame<Cell>& frame) {
    for (int child = 0; child < frame.cut.count; ++child) {
      restriction_.decide_last_line(frame.network, frame.cut.children[child], frame.cut.sides[child],
                                    frame.cut.winners != nullptr ? frame.cut.winners[child] : nullptr);
      collector_.region(frame.cut.children[child], pattern_.data(), frame.cut.traces[child], maps_.data());
    }
    outcome_.cells += frame.cut.count;
    collector_.join(frame.cell, frame.cut, frame.traces);
  }

  // Whether the pattern is followed by the kinks that are zero all over the cell.
  bool finds_zeros() const { return is_touched<Cell> || network_.keeps_zeros; }

  static bool is_bounded(const Cell& cell) {
    return std::all_of(cell.vertices, cell.vertices + cell.count,
                       [](const Vertex<D>* vertex) { return vertex->position[0] != 0; });
  }

  Cell whole_domain() {
    const Dims<D> dims(exact_.dimension());
    if constexpr (may_lack_vertices<Cell>) {
      const bool maxima = std::any_of(network_.layers.begin(), network_.layers.end(), [](const Layer& layer) { return layer.has_maxima(); });
      Inside<D>* inside = maxima ? nullptr : Inside<D>::domain(domain_, dims, arena_);
      if (inside != nullptr) return Cell::without_vertices(inside, dims);
    }
    Vertex<D>* vertices = arena_.take<Vertex<D>>(std::size_t(domain_.count));
    for (int i = 0; i < domain_.count; ++i) {
      Vertex<D>& vertex = vertices[i];
      vertex = Vertex<D>{};
      std::copy_n(domain_.generators + std::size_t(i) * std::size_t(dims + 1), dims + 1, vertex.position);
      vertex.name.generator = i;
      std::fill_n(vertex.name.boundaries, dims, -1 - Boundary(i));
    }
    const Cell cell = Cell::whole(vertices, domain_.count, exact_, arena_);  // may place the vertices
    for (int i = 0; i < cell.count - Cell::outer; ++i) collector_.identify(const_cast<Vertex<D>&>(*cell.vertices[i]));
    return cell;
  }

  Arena arena_;
  Donations<Cell> donations_;
  const Network& network_;
  const Domain& domain_;
  Collector& collector_;
  Monitor& monitor_;
  Outcome& outcome_;  // complete when this is destroyed, even by an exception
  SectionEnds ends_;
  std::vector<std::uint8_t> pieces_;
  std::vector<std::uint8_t> pattern_;  // where cells are touched followed by the kinks that are zero all over the cell
  std::vector<double> maps_;  // the last region's maps of the outputs, if they are requested
  Exact exact_;
  Signs<Cell> signs_;
  Step<Cell> step_;
  Restriction<Cell> restriction_;
  typename Cell::Arrangement arrangement_;
  std::conditional_t<Collector::keeps, RegionSweep<Cell>, CellSweep<Cell>> cell_sweep_;
  Cutting<Cell, Collector> cutting_;
  GivenVertices<Cell> given_vertices_;  // used if cells may lack vertices
  std::int64_t swept_ = 1;      // the number of regions in the cell that was swept last
  std::int64_t collected_ = 1;  // of these, all before this one; the others are missing only if the section ends there
  Frames<Cell> stack_ = Frames<Cell>(1);
};

}  // namespace REGIONS_TARGET
}  // namespace regions
