// SPDX-License-Identifier: MIT
// Which regions does the network have in the domain?
//
// The recursion: take a cell and what is left of the network on it. If nothing is left, the cell is a region. Else cut
// it along one of the lowest undecided layer's lines (the one that leaves most on its smaller side) and go on with
// each child and the network restricted to it. Every cut is a true boundary, because lower layers are decided first; so
// nothing has to be merged, and memory is the depth of the recursion. The stack is ours, not the machine's.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cells/cell.hpp"
#include "collect/collect.hpp"
#include "kernel/few_lines.hpp"
#include "kernel/kernel.hpp"
#include "kernel/restrict.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

template <class Cell, class Collector>
class Subdivision {
  static_assert(require_cell<Cell>(), "cells/cell.hpp says what a cell offers");

 public:
  static constexpr int D = Cell::dimension;

  Subdivision(const Task& task, Collector& collector)
      : arena_(*memory_),
        network_(task.network),
        domain_(task.domain),
        collector_(collector),
        monitor_(task.monitor),
        outcome_(task.outcome),
        pieces_(std::size_t(network_.total_units), 0),
        pattern_(std::size_t(network_.total_kinks + 7) / 8, 0),
        exact_(network_, task.chart, domain_, pieces_.data(), task.monitor),
        signs_(network_, exact_),
        restriction_(network_, task.chart, exact_, signs_, arena_, pieces_.data(),
                     Collector::keeps ? pattern_.data() : nullptr),
        few_lines_(network_, arena_, signs_) {}

  ~Subdivision() {
    outcome_.count = collector_.count;
    outcome_.signs = signs_.counts;
  }

  void run() {
    std::vector<Frame, AlignedAllocator<Frame>> stack(1);  // frames that are done stay, to be written over
    std::size_t depth = 1;
    Frame& root = stack[0];
    root.cell = whole_domain();
    root.chains = arena_.take<Chain>(std::size_t(root.cell.facet_count()));
    root.network = restriction_.whole(root.cell);
    root.share = 1;
    root.next_child = 0;
    while (depth > 0) {
      Frame& top = stack[depth - 1];
      if (top.next_child == 0 && close(top)) {
        --depth;
        continue;
      }
      if (top.next_child > 0) arena_.release(top.mark);
      if (top.next_child == top.cut.count) {
        collector_.join(top.cell, top.cut, top.chains);
        --depth;
        continue;
      }
      const int child = top.next_child++;
      if (depth == stack.size()) stack.emplace_back();
      descend(stack[depth - 1], child, stack[depth]);
      ++depth;
    }
  }

 private:
  struct Frame {
    Cell cell;
    Chain* chains;  // of the cell's facets, to be filled
    LocalNetwork<D> network;
    double share;   // of the whole, in equal parts: for the progress
    int next_child;
    Cut<Cell> cut;
    Arena::Mark mark;
  };

  void descend(const Frame& parent, int which, Frame& child) {
    child.cell = parent.cut.children[which];
    child.chains = parent.cut.chains[which];
    child.share = parent.share / parent.cut.count;
    child.next_child = 0;
    child.network =
        restriction_.restricted(parent.network, child.cell, parent.network.best_line, parent.cut.sides[which]);
  }

  // Finishes the cell if it can be (true), else cuts it.
  bool close(Frame& frame) {
    ++outcome_.cells;
    const LocalNetwork<D>& network = frame.network;
    const bool undecided = network.block_count > 0;
    std::int64_t regions = undecided ? unknown : 1;
    if (!undecided) {
      collector_.region(frame.cell, pattern_.data(), frame.chains);
    } else if (!Collector::keeps && network.block_count == 1 && network.frontier == network_.last() &&
               is_bounded(frame.cell)) {
      regions = arrangement_.count(network.lines, frame.cell);
    } else if (!Collector::keeps && undecided && network.block_count == 2) {
      regions = few_lines_.count(network, frame.cell);
      if (regions != unknown) outcome_.cells += few_lines_.parts();
    }
    if (undecided && regions != unknown) collector_.count += regions;
    monitor_.found(collector_.count);
    monitor_.work(1 + network.lines.count);
    if (regions == unknown) {
      cut(frame);
      if (!restriction_.is_last_line(network)) return false;
      finish_children(frame);
    }
    monitor_.finished(frame.share);
    return true;
  }

  // Of a cell that was cut by the last line there was: they are regions.
  void finish_children(Frame& frame) {
    for (int child = 0; child < frame.cut.count; ++child) {
      restriction_.decide_last_line(frame.network, frame.cut.sides[child]);
      collector_.region(frame.cut.children[child], pattern_.data(), frame.cut.chains[child]);
    }
    outcome_.cells += frame.cut.count;
    collector_.join(frame.cell, frame.cut, frame.chains);
  }

  static bool is_bounded(const Cell& cell) {
    return std::all_of(cell.vertices, cell.vertices + cell.count,
                       [](const Vertex<D>* vertex) { return vertex->position[0] != 0; });
  }

  void cut(Frame& frame) {
    const LocalNetwork<D>& network = frame.network;
    const Cell& cell = frame.cell;
    const int line = network.best_line;
    const int layer = network.blocks[0].layer;
    const Row<D>& row = *network.blocks[0].rows[network.lines.owners[line]];
    const int breakpoint = network.lines.breakpoints[line];
    const int corners = cell.count - Cell::outer;
    int* signs = arena_.take<int>(std::size_t(corners));
    const Layer& here = network_.layers[std::size_t(layer)];
    for (int i = 0; i < corners; ++i) {
      signs[i] = signs_.at_vertex(layer, row, network.lines, line, *cell.vertices[i]);
      assert(here.inputs > 32 || signs[i] == exact_.sign(layer, row.unit, breakpoint, cell.vertices[i]->name));
    }
    frame.cut.signs = signs;
    Facet<D>* facet = arena_.template take<Facet<D>>(1);
    *facet = {here.kink(row.unit, breakpoint), &row, here.breakpoints_of(row.unit)[breakpoint]};
    Cell::cut(cell, *facet, exact_, arena_, collector_, frame.cut);
    for (int child = 0; child < frame.cut.count; ++child)
      frame.cut.chains[child] = arena_.take<Chain>(std::size_t(frame.cut.children[child].facet_count()));
    frame.mark = arena_.mark();
  }

  Cell whole_domain() {
    Vertex<D>* vertices = arena_.take<Vertex<D>>(std::size_t(domain_.count));
    for (int i = 0; i < domain_.count; ++i) {
      Vertex<D>& vertex = vertices[i];
      vertex = Vertex<D>{};
      std::copy_n(domain_.generators + std::size_t(i) * (D + 1), D + 1, vertex.position);
      vertex.name.generator = i;
      std::fill_n(vertex.name.boundaries, D, -1 - Boundary(i));
    }
    const Cell cell = Cell::whole(vertices, domain_.count, exact_, arena_);  // which may place them
    for (int i = 0; i < domain_.count; ++i) collector_.identify(vertices[i]);
    return cell;
  }

  BorrowedArena memory_;
  Arena& arena_;
  const Network& network_;
  const Domain& domain_;
  Collector& collector_;
  Monitor& monitor_;
  Outcome& outcome_;  // complete when this is destroyed, be it by an exception
  std::vector<std::uint8_t> pieces_;
  std::vector<std::uint8_t> pattern_;
  Exact exact_;
  Signs<Cell> signs_;
  Restriction<Cell> restriction_;
  typename Cell::Arrangement arrangement_;
  FewLines<Cell> few_lines_;
};

}  // namespace REGIONS_TARGET
}  // namespace regions
