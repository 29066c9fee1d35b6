// SPDX-License-Identifier: MIT
// Into which children is a cell cut?
//
// A cell is cut into the two sides of one of its lines, or into one child per branch of a max unit (kernel/envelope.hpp).
#pragma once

#include <cassert>
#include <vector>

#include "kernel/envelope.hpp"
#include "kernel/frame.hpp"
#include "kernel/sign.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

template <class Cell, class Collector>
class Cutting {
 public:
  static constexpr int D = Cell::dimension;

  Cutting(const Network& network, Exact& exact, Signs<Cell>& signs, Arena& arena, Collector& collector)
      : network_(network), exact_(exact), signs_(signs), arena_(arena), collector_(collector), envelope_(signs, exact, arena) {}

  void cut(Frame<Cell>& frame) {
    const int layer = frame.network.blocks[0].layer;
    if (network_.layers[std::size_t(layer)].has_maxima())
      cut_among_arms(frame, layer);
    else
      cut_along(frame, layer, *frame.network.blocks[0].rows[frame.network.lines.owners[frame.network.best_line]]);
    for (int child = 0; child < frame.cut.count; ++child)
      frame.cut.traces[child] =
          arena_.template take<typename Cell::Trace>(std::size_t(frame.cut.children[child].facet_count()));
    frame.mark = arena_.mark();
    frame.identified = collector_.identified();
  }

 private:
  // Cuts along the line of the only remaining pair of a unit's branches, or into several parts.
  __attribute__((noinline)) void cut_among_arms(Frame<Cell>& frame, int layer) {
    const Block<D>& block = frame.network.blocks[0];
    const int first = frame.network.lines.owners[frame.network.best_line];
    const int end = block.end_of_unit(first);
    if (end - first > 2) {
      arms_.assign(block.rows + first, block.rows + end);
      return envelope_.cut(network_, layer, arms_, frame.cell, collector_, frame.cut);
    }
    Row<D>* row = arena_.template take<Row<D>>(1);
    *row = difference_of(*block.rows[first], *block.rows[first + 1]);
    cut_along(frame, layer, *row);
    frame.cut.winners = arena_.template take<const Row<D>*>(std::size_t(frame.cut.count));
    for (int child = 0; child < frame.cut.count; ++child)
      frame.cut.winners[child] = block.rows[first + (frame.cut.sides[child] == Side::active)];
  }

  // Cuts along the best line, whose form belongs to this row.
  void cut_along(Frame<Cell>& frame, int layer, const Row<D>& row) {
    const LocalNetwork<D>& network = frame.network;
    const Cell& cell = frame.cell;
    const int line = network.best_line;
    const int breakpoint = network.lines.breakpoints[line];
    const int corners = cell.count - Cell::outer;
    int* signs = arena_.template take<int>(std::size_t(corners));
    const Layer& here = network_.layers[std::size_t(layer)];
    signs_.at_corners(layer, row, network.lines, line, cell, signs);
    for (int i = 0; i < corners; ++i) assert(here.inputs > 32 || signs[i] == exact_.sign(layer, row.unit, breakpoint, cell.vertices[i]->name));
    frame.cut.signs = signs;
    Facet<D>* facet = arena_.template take<Facet<D>>(1);
    *facet = {here.kink(row.unit, breakpoint), &row, here.breakpoint(row.unit, breakpoint)};
    Cell::cut(cell, *facet, exact_, arena_, collector_, frame.cut);
  }

  const Network& network_;
  Exact& exact_;
  Signs<Cell>& signs_;
  Arena& arena_;
  Collector& collector_;
  Envelope<Cell> envelope_;
  std::vector<const Row<D>*> arms_;  // of the unit for which a cell is cut
};

}  // namespace REGIONS_TARGET
}  // namespace regions
