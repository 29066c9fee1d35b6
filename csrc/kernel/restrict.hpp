// SPDX-License-Identifier: MIT
// What is left of a network on a smaller cell?
//
// Layer by layer, lowest first: write each row in the columns that are still undecided, adding what the newly decided
// units contribute (`fold`: one accumulation over them, never a cascade, because they were rewritten before); then see
// whether it is decided (`decide.hpp`): drop it, fold it into the rows above, or keep it. Once few enough units are
// undecided, the next layer is brought in out of the network's own weights.
//
// Rounding: folding n units into a row costs at most gamma_(n+2) times the sizes involved (Row::size), lane by lane;
// what the units themselves are off by is inherited as a whole (residuals.hpp). Cost: rows x columns, plus the folding.
#pragma once

#include <algorithm>
#include <cassert>

#include "kernel/decide.hpp"
#include "rows/chart.hpp"
#include "rows/fold.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

template <class Cell>
class Restriction {
 public:
  static constexpr int D = Cell::dimension;
  using Lanes = AffineLanes<D>;

  Restriction(const Network& network, const Chart& chart, Exact& exact, Signs<Cell>& signs, Arena& arena,
              std::uint8_t* pieces, std::uint8_t* pattern)
      : network_(network),
        chart_(chart),
        chart_rows_(chart),
        arena_(arena),
        residuals_(network),
        deciding_(network, exact, signs, arena, pieces, pattern, residuals_, child_) {}

  // The whole network on the whole domain: so far only the input coordinates, which are affine forms of the chart.
  LocalNetwork<D> whole(const Cell& cell) {
    const int inputs = network_.layers[0].units;
    LocalNetwork<D> root{};
    root.residuals.first = 1;
    root.outputs = arena_.take<const Row<D>*>(std::size_t(inputs));
    root.output_count = inputs;
    for (int i = 0; i < inputs; ++i) {
      Row<D>* row = arena_.take<Row<D>>(1);
      *row = Row<D>{};
      row->unit = i;
      row->value[0] = chart_.origin[i];
      for (int k = 1; k <= D; ++k)
        row->value[k] = chart_.directions[std::size_t(k - 1) * std::size_t(inputs) + std::size_t(i)];
      row->size = floored<D>(absolute(row->value));
      root.outputs[i] = row;
      deciding_.note_piece(network_.layers[0], i, 0);
    }
    return restricted(root, cell, -1, Side::uncertain);
  }

  // `parent` on a part of its cell, where its line `split` is known to be on one side (-1: there is no such line).
  LocalNetwork<D> restricted(const LocalNetwork<D>& parent, const Cell& cell, int split, Side side) {
    const Extent<Cell> extent(cell);
    child_.network = LocalNetwork<D>{};
    child_.network.blocks = arena_.take<Block<D>>(std::size_t(network_.last()));
    child_.network.bounded = extent.bounded;
    child_.network.frontier = parent.frontier;
    residuals_.begin(parent.residuals, parent.frontier);
    deciding_.begin(cell, extent, parent.block_count > 0 ? parent.blocks[0].layer : 0);
    child_.relaxations.clear();
    child_.survivors.clear();
    child_.folds.clear();

    int column = 0;
    for (int b = 0; b < parent.block_count; ++b) {
      const Block<D>& block = parent.blocks[b];
      if (block.layer == parent.frontier) rewrite_outputs(parent);
      if (b == 0) {
        deciding_.keep_lines(parent, split, side);
      } else {
        rewrite_block(block, column);
      }
      column += block.count;
    }
    if (parent.block_count == 0 || parent.blocks[parent.block_count - 1].layer != parent.frontier)
      rewrite_outputs(parent);
    while (child_.network.frontier < network_.last() && worth_bringing_in_next()) bring_in_next();
    if (child_.network.block_count > 0)
      child_.network.residuals = residuals_.kept(child_.network.blocks[0].layer, child_.network.frontier, arena_);
    return child_.network;
  }

  bool is_last_line(const LocalNetwork<D>& network) const {
    return network.lines.count == 1 && network.block_count == 1 && network.frontier == network_.last();
  }

  void decide_last_line(const LocalNetwork<D>& network, Side side) { deciding_.decide_last_line(network, side); }

 private:
  const Layer& layer(int index) const { return network_.layers[std::size_t(index)]; }

  // Bringing a layer in costs its whole weight matrix; not bringing it in makes every smaller cell pay for that.
  // Bounds need a bounded cell.
  bool worth_bringing_in_next() const {
    const int columns = child_.columns();
    return columns == 0 ||
           (child_.network.bounded && columns * bring_in_factor <= layer(child_.network.frontier + 1).inputs);
  }

  // ---- rewriting rows in the child's columns ----

  // Rows of one layer, with room for their coefficients.
  Row<D>* take_rows(int index, int count, int columns) {
    Row<D>* rows = arena_.take<Row<D>>(std::size_t(count));
    const std::size_t stride = std::size_t(padded(columns));
    double* coefficients = arena_.take<double>(std::size_t(count) * stride);
    double* low = layer(index).doubled ? arena_.take<double>(std::size_t(count) * stride) : nullptr;
    for (int i = 0; i < count; ++i) {
      const std::size_t start = std::size_t(i) * stride;
      rows[i].columns = columns;
      rows[i].coefficients = coefficients + start;
      rows[i].low = Lanes{};
      rows[i].low_coefficients = nullptr;
      std::fill(coefficients + start + columns, coefficients + start + stride, 0.0);
      if (low == nullptr) continue;
      rows[i].low_coefficients = low + start;
      std::fill(low + start, low + start + stride, 0.0);
    }
    return rows;
  }

  void rewrite(const Row<D>& old, std::size_t folds, Row<D>& row) {
    row.value = old.value;
    row.size = old.size;
    row.own = old.own;
    row.low = old.low;
    assert(std::size_t(row.columns) == child_.survivors.size());
    const int* survivors = child_.survivors.data();
    const double* source = old.coefficients;
    double* __restrict target = row.coefficients;
    for (int k = 0; k < row.columns; ++k) target[k] = source[survivors[k]];
    if (old.low_coefficients != nullptr)
      for (int k = 0; k < row.columns; ++k) row.low_coefficients[k] = old.low_coefficients[survivors[k]];
    folding_.fold(row, old.coefficients, old.low_coefficients, child_.folds, folds);
    assert(is_padded(row));
  }

  // The outputs the next layer will read: their own layer's newly decided units are added by decide().
  void rewrite_outputs(const LocalNetwork<D>& parent) {
    if (parent.frontier == network_.last()) return;
    child_.network.outputs = arena_.take<const Row<D>*>(std::size_t(layer(parent.frontier).units));
    child_.network.output_count = parent.output_count;
    const bool affine =
        parent.output_count == 0 || parent.blocks == nullptr || parent.blocks[0].layer >= parent.frontier;
    Row<D>* rows = affine ? nullptr : take_rows(parent.frontier, parent.output_count, child_.columns());
    for (int i = 0; i < parent.output_count; ++i) {
      const Row<D>* output = parent.outputs[i];
      if (output->columns > 0) {
        Row<D>& row = rows[i];
        row.unit = output->unit;
        rewrite(*output, child_.folds.size(), row);
        row.size = floored<D>(absolute(row.value) + row.own);  // not 0 where terms have cancelled
        for (int k = 0; k < row.columns; ++k)
          row.size += child_.relaxations[std::size_t(k)].size() * floored_magnitude(row.coefficients[k]);
        residuals_.rewritten(parent.frontier, row);
        output = &row;
      }
      child_.network.outputs[i] = output;
    }
  }

  void rewrite_block(const Block<D>& block, int first_column) {
    const std::size_t folds = child_.folds.size();
    Row<D>* rows = take_rows(block.layer, block.count, child_.columns());
    for (int i = 0; i < block.count; ++i) {
      const Row<D>& old = *block.rows[i];
      rows[i].unit = old.unit;
      rows[i].lowest_piece = old.lowest_piece;
      rows[i].highest_piece = old.highest_piece;
      rewrite(old, folds, rows[i]);
    }
    deciding_.decide_rows(block.layer, rows, block.count, first_column);
  }

  void bring_in_next() {
    const int index = ++child_.network.frontier;
    const Layer& here = layer(index);
    const int below = child_.columns();
    const int blocks = child_.network.block_count;
    const Block<D>* last = blocks > 0 ? &child_.network.blocks[blocks - 1] : nullptr;
    const int own = last != nullptr && last->layer == index - 1 ? last->count : 0;  // columns of the layer just below
    child_.folds.clear();
    for (int i = 0; i < child_.network.output_count; ++i)
      child_.folds.push_back({child_.network.outputs[i]->unit, child_.network.outputs[i]});
    child_.network.output_count = 0;
    if (index < network_.last()) child_.network.outputs = arena_.take<const Row<D>*>(std::size_t(here.units));

    Row<D>* rows = take_rows(index, here.units, below);
    int* own_units = arena_.take<int>(std::size_t(own));
    for (int k = 0; k < own; ++k) own_units[k] = last->rows[k]->unit;
    residuals_.bring_in(index, child_.folds, child_.relaxations.data() + (below - own), own);
    const double* of_four[4];
    for (int unit = 0; unit < here.units; ++unit) {
      const double* weights = here.weights.row(unit, rooms_[unit % 4]);
      of_four[unit % 4] = weights;
      Row<D>& row = rows[unit];
      row.unit = unit;
      row.lowest_piece = 0;
      row.highest_piece = here.kinks;
      row.value = Lanes{};
      row.value[0] = here.biases[unit];
      row.own = Lanes{};
      // The layer's own columns get nothing added to them, so nothing is rounded there.
      row.size = floored<D>(absolute(row.value));
      std::fill(row.coefficients, row.coefficients + (below - own), 0.0);
      double* __restrict coefficients = row.coefficients + (below - own);
      for (int k = 0; k < own; ++k) coefficients[k] = weights[own_units[k]];
      if (index == 1)
        chart_rows_.read(row, weights, here.doubled);
      else if (unit % 4 == 3)  // while their weights are at hand
        folding_.fold_four_rows(rows + unit - 3, of_four, child_.folds);
    }
    for (int unit = index == 1 ? here.units : here.units / 4 * 4; unit < here.units; ++unit)
      folding_.fold(rows[unit], of_four[unit % 4], nullptr, child_.folds, child_.folds.size());
    deciding_.decide_rows(index, rows, here.units, -1);
  }

  static constexpr int bring_in_factor = 2;

  const Network& network_;
  const Chart& chart_;
  const ChartRows<D> chart_rows_;
  Arena& arena_;

  Child<D> child_{};  // what is left on the cell under way
  ResidualBounds<D> residuals_;
  Deciding<Cell> deciding_;
  Folding<D> folding_;
  RowRoom rooms_[4];  // for the weights of four rows that are brought in together
};

}  // namespace REGIONS_TARGET
}  // namespace regions
