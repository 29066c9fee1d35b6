// SPDX-License-Identifier: MIT
// How is a network restricted to a smaller cell?
//
// Layer by layer, lowest first: write each row in the columns that are still undecided, adding the contributions of newly
// decided units (`fold`: one sum over them, because their own rows have been rewritten before). Then test whether its unit
// is decided (`decide.hpp`), and drop it, fold it into the rows above, or keep it. Once few enough units are
// undecided, the next layer is computed from the network's own weights.
//
// Rounding: folding n units into a row costs at most gamma_(n+2) times the sizes involved (Row::size), lane by lane;
// errors of the units themselves are inherited together (residuals.hpp). Cost: rows x columns, plus the folding.
#pragma once

#include <algorithm>
#include <cassert>
#include <vector>

#include "kernel/decide.hpp"
#include "kernel/listed.hpp"
#include "rows/chart.hpp"
#include "rows/fold.hpp"
#include "rows/precision.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

template <class Cell>
class Restriction {
 public:
  static constexpr int D = Cell::dimension;
  using Lanes = AffineLanes<D>;

  Restriction(const Chart& chart, const Domain& domain, Step<Cell>& step)
      : network_(step.network),
        chart_(chart),
        dims_(chart.dimension),
        chart_rows_(chart),
        limbs_(limbs_of_layers(network_, chart, domain)),
        arena_(step.arena),
        whole_(network_.is_whole()),
        homogeneous_(is_homogeneous(network_, chart)),
        has_bases_(D <= 2 && std::all_of(network_.layers.begin() + 1, network_.layers.end(), [](const Layer& layer) {
          return !layer.has_maxima() && scales(layer);
        })),
        only_counts_(step.pattern == nullptr),
        child_(step.child),
        residuals_(step.residuals),
        listed_(arena_, child_, folding_, only_counts_ ? few_listed : 0),
        outputs_(step.outputs),
        deciding_(step) {}

  // The whole network on the whole domain: so far only the input coordinates, which are affine forms of the chart.
  LocalNetwork<D> whole(const Cell& cell) {
    const int inputs = network_.layers[0].units;
    LocalNetwork<D> root{};
    root.residuals.first = 1;
    root.outputs = arena_.take<const Row<D>*>(std::size_t(inputs));
    root.output_count = inputs;
    if (network_.groups > 0) {
      root.open_groups = network_.groups;
      root.excluded = arena_.take<std::uint8_t>(std::size_t(network_.groups));
      std::fill_n(root.excluded, network_.groups, std::uint8_t(0));
    }
    for (int i = 0; i < inputs; ++i) {
      Row<D>* row = arena_.take<Row<D>>(1);
      *row = Row<D>{};
      row->unit = i;
      row->value[0] = chart_.origin[i];
      for (int k = 1; k <= dims_; ++k)
        row->value[k] = chart_.directions[std::size_t(k - 1) * std::size_t(inputs) + std::size_t(i)];
      row->size = floored<D>(absolute(row->value));
      root.outputs[i] = row;
      deciding_.note_piece(network_.layers[0], i, 0);
    }
    return restricted(root, cell, -1, Side::uncertain);
  }

  // Restricts `parent` to a part of its cell, where its line `split` is known to be on one side (-1: there is no such line), or
  // a branch of its unit is known to be the argmax.
  LocalNetwork<D> restricted(const LocalNetwork<D>& parent, const Cell& cell, int split, Side side,
                             const Row<D>* winner = nullptr) {
    const Extent<Cell> extent(cell);
    begin(parent, cell, &extent);
    child_.network.blocks = arena_.take<Block<D>>(std::size_t(network_.last()));
    if (parent.excluded != nullptr) {
      child_.network.open_groups = parent.open_groups;
      child_.network.excluded = arena_.copy(parent.excluded, std::size_t(network_.groups));
    }
    child_.network.bounded = extent.bounded;
    child_.network.only_lines = true;

    int column = 0;
    for (int b = 0; b < parent.block_count; ++b) {
      const Block<D>& block = parent.blocks[b];
      const bool is_read = b + 1 < parent.block_count || parent.frontier < network_.last();
      if (block.layer == parent.frontier) rewrite_outputs(parent);
      if (b == 0 && layer(block.layer).has_maxima()) {
        deciding_.keep_arms(parent, is_read, winner);
      } else if (b == 0) {
        deciding_.keep_lines(parent, is_read, split, side);
      } else {
        rewrite_block(block, is_read, column);
      }
      column += block.units;
    }
    if (parent.block_count == 0 || parent.blocks[parent.block_count - 1].layer != parent.frontier)
      rewrite_outputs(parent);
    while (child_.network.frontier < network_.last() && worth_bringing_in_next()) bring_in_next();
    if (!whole_ && child_.network.frontier < network_.last()) keep_outputs(parent);
    if (child_.network.block_count > 1 || child_.network.frontier < network_.last())
      child_.network.residuals = residuals_.kept(child_.network.blocks[0].layer, child_.network.frontier, arena_);
    else  // no later row inherits the residuals
      child_.network.residuals.first = network_.last() + 1;
    return child_.network;
  }

  // Besides the last line there may be rows of outputs. If a unit has several branches and ties are noted, the parts are restricted
  // further, to find ties.
  bool is_last_line(const LocalNetwork<D>& network) const {
    if (deciding_.notes_ties() && network.blocks[0].count > 2) return false;
    return network.lines.count == 1 && network.block_count == 1 + (network_.output_layers > 0) &&
           network.frontier == network_.last();
  }

  // Restricts `parent` to a part of its cell where its last line is on one side.
  void decide_last_line(const LocalNetwork<D>& parent, const Cell& cell, Side side, const Row<D>* winner) {
    if (parent.block_count > 1) return finish_outputs(parent, cell, side, winner);
    deciding_.note_last_line(parent, side, winner);
  }

 private:
  const Layer& layer(int index) const { return network_.layers[std::size_t(index)]; }

  // Returns whether the pre-activations are homogeneous functions of the chart's points. Where groups are excluded, the origin
  // itself may be wanted; and cells of three dimensions and more need the kinks that touch them there.
  static bool is_homogeneous(const Network& network, const Chart& chart) {
    if (D > 2 || Cell::outer > 0 || network.groups > 0 || !zeros(chart.origin, chart.inputs)) return false;
    return std::all_of(network.layers.begin() + 1, network.layers.end(), [](const Layer& layer) {
      return zeros(layer.biases, layer.rows() + layer.units - layer.own) && scales(layer);
    });
  }

  // Returns whether phi(t h) = t phi(h) for all units phi and t >= 0.
  static bool scales(const Layer& layer) {
    return layer.has_maxima() || (zeros(layer.breakpoints, layer.units * layer.kinks) &&
                                  zeros(layer.intercepts, layer.units * (layer.kinks + 1)));
  }

  static bool zeros(const double* numbers, int count) {
    return std::all_of(numbers, numbers + count, [](double number) { return number == 0; });
  }

  static int corner_at_origin(const Cell& cell) {
    for (int i = 0; i < cell.count; ++i) {
      const Vertex<D>& corner = *cell.vertices[i];
      bool zero = corner.position[0] != 0 && corner.error == 0;
      for (int k = 1; k <= dims_of(cell); ++k) zero = zero && corner.position[k] == 0;
      if (zero) return i;
    }
    return -1;
  }

  // Starts with a part of the parent's cell; the extent may be null if nothing but outputs is left.
  void begin(const LocalNetwork<D>& parent, const Cell& cell, const Extent<Cell>* extent) {
    child_.network = LocalNetwork<D>{};
    child_.network.frontier = parent.frontier;
    child_.network.origin = homogeneous_ ? corner_at_origin(cell) : -1;
    residuals_.begin(parent.residuals, parent.frontier);
    const bool has_base = has_bases_ && extent != nullptr && !extent->bounded && base_.find(cell, child_.network.origin);
    child_.network.has_bounds = has_base || (extent != nullptr && extent->bounded);
    deciding_.begin(cell, extent, has_base ? &base_ : nullptr, parent.block_count > 0 ? parent.blocks[0].layer : 0);
    child_.relaxations.clear();
    child_.survivors.clear();
    child_.folds.clear();
    if (!whole_) {
      listed_.begin(parent.columns());
      outputs_.begin_turns();
    }
  }

  __attribute__((noinline)) void finish_outputs(const LocalNetwork<D>& parent, const Cell& cell, Side side, const Row<D>* winner) {
    begin(parent, cell, nullptr);
    deciding_.decide_last_line(parent, side, winner);
    rewrite_block(parent.blocks[1], false, 1);
  }

  // Bringing a layer in costs its whole weight matrix; not bringing it in makes every smaller cell pay for that.
  // Without bounds all rows are kept. But bounded parts of the cell share them.
  bool worth_bringing_in_next() const {
    const int columns = child_.columns();
    if (columns == 0 || child_.network.frontier >= network_.last_hidden()) return true;  // outputs are few, and need no bounds
    const Layer& next = layer(child_.network.frontier + 1);
    if (!child_.network.has_bounds) return D <= 2 && next.weights.is_whole() && columns <= few_columns;
    const bool leaves_out = network_.groups > 0;  // then bounds on the last layer are worth more
    if (leaves_out && next.units <= few_units) return true;
    if (next.weights.is_whole() && !leaves_out && !whole_ && D <= 2) return columns <= columns_of_inputs * next.inputs;
    if (next.weights.is_whole()) return columns * (leaves_out ? 1 : bring_in_factor) <= next.inputs;
    if (next.is_always_affine()) return true;  // nothing is cut there
    if (only_counts_ && next.multiply_adds <= few_terms * next.rows()) return has_room_for(next);  // few columns are quickly rewritten
    double multiply_adds = next.multiply_adds;  // for branches almost none: the layer above them has the cost
    if (next.has_maxima() && child_.network.frontier + 1 < network_.last_hidden())
      multiply_adds = std::max(multiply_adds, layer(child_.network.frontier + 2).multiply_adds);
    return columns * patience <= std::sqrt((dims_ + 1) * multiply_adds) && has_room_for(next);
  }

  // Returns whether there is room for the layer's outputs, if each has as many coefficients as the inputs have.
  bool has_room_for(const Layer& next) const {
    double bytes = 0;
    for (int i = 0; i < child_.network.output_count; ++i)
      bytes += double(sizeof(double)) * child_.network.outputs[i]->columns * child_.network.outputs[i]->limbs;
    return bytes * next.units <= most_bytes * layer(child_.network.frontier).units;
  }

  // ---- rewriting rows in the child's columns ----

  // Rows of one layer side by side, with room for their coefficients.
  Panel<D> take_panel(int index, int count, int columns) {
    Panel<D> panel;
    panel.dims = dims_;
    panel.limbs = limbs_[std::size_t(index)];
    panel.count = count;
    const std::size_t more = std::size_t(panel.limbs - 1);
    panel.low_of_rows = more > 0 ? arena_.take<Lanes>(more * std::size_t(rows_at_once)) : nullptr;
    if (!whole_) {  // columns follow when they are known
      panel.listing = listed_.none();
      panel.columns = 0;
      panel.coefficients = nullptr;
      panel.low_coefficients = nullptr;
      return panel;
    }
    panel.listing = nullptr;
    const std::size_t room = std::size_t(columns) * std::size_t(rows_at_once);
    panel.coefficients = arena_.take<double>(room);
    panel.low_coefficients = more > 0 ? arena_.take<double>(more * room) : nullptr;
    panel.columns = columns;
    return panel;
  }

  // The panel becomes these rows; their coefficients are `stride` apart.
  template <int stride>
  void rewrite(const Row<D>* const* old, std::size_t folds, Panel<D>& panel) {
    if (!whole_) return listed_.template rewrite<stride>(old, panel);
    const Row<D>* rows[rows_at_once];
    const double* coefficients[rows_at_once];
    const double* low_coefficients[rows_at_once];
    for (int r = 0; r < rows_at_once; ++r) {
      rows[r] = old[std::min(r, panel.count - 1)];
      coefficients[r] = rows[r]->coefficients;
      low_coefficients[r] = rows[r]->low_coefficients;
    }
    read_affine_parts(rows, panel.limbs, panel);
    const auto weights = [&](int column) {
      return side_by_side([&](int r) { return coefficients[r][column * stride]; });
    };
    const auto low_weights = [&](int column, int m) {
      return side_by_side([&](int r) {
        const int columns = rows[r]->columns;
        return low_coefficients[r][(m * (stride == 1 ? padded(columns) : columns) + column) * stride];
      });
    };
    assert(std::size_t(panel.columns) <= child_.survivors.size());  // columns of the panels before follow
    const int* survivors = child_.survivors.data();
    for (int k = 0; k < panel.columns; ++k) store(panel.coefficients + k * rows_at_once, weights(survivors[k]));
    for (int m = 0; m + 1 < panel.limbs; ++m)
      for (int k = 0; k < panel.columns; ++k)
        store(panel.low_coefficients + (m * panel.columns + k) * rows_at_once, low_weights(survivors[k], m));
    folding_.fold(panel, child_.folds, folds, panel.limbs > 1, weights, low_weights);
  }

  // The outputs that the next layer will read: decide() adds the outputs of newly decided units of their own layer.
  void rewrite_outputs(const LocalNetwork<D>& parent) {
    if (parent.frontier == network_.last()) return;
    child_.network.outputs = arena_.take<const Row<D>*>(std::size_t(layer(parent.frontier).units));
    child_.network.output_count = parent.output_count;
    const Row<D>** with_columns = arena_.take<const Row<D>*>(std::size_t(parent.output_count));
    int* places = arena_.take<int>(std::size_t(parent.output_count));
    int count = 0;
    for (int i = 0; i < parent.output_count; ++i) {
      child_.network.outputs[i] = parent.outputs[i];
      if (parent.outputs[i]->columns == 0) continue;
      with_columns[count] = parent.outputs[i];
      places[count++] = i;
    }
    for (int start = 0; start < count; start += rows_at_once) {
      Panel<D> panel = take_panel(parent.frontier, std::min(rows_at_once, count - start), child_.columns());
      rewrite<1>(with_columns + start, child_.folds.size(), panel);
      set_sizes(child_.relaxations.data(), panel);
      for (int k = 0; k <= panel.dims; ++k) panel.error[k] = RowLanes{};
      for (int r = 0; r < panel.count; ++r) {
        Row<D>* row = outputs_.arena().take<Row<D>>(1);
        *row = *with_columns[start + r];
        write_row(panel, r, *row);
        row->coefficients = one_after_the_other(row->coefficients, row->columns, 1, outputs_.arena());
        if (row->limbs > 1)
          row->low_coefficients = one_after_the_other(row->low_coefficients, row->columns, row->limbs - 1, outputs_.arena());
        residuals_.rewritten(parent.frontier, *row);
        child_.network.outputs[places[start + r]] = row;
      }
    }
  }

  void rewrite_block(const Block<D>& block, bool is_read, int first_column) {
    const std::size_t folds = child_.folds.size();
    const int columns = child_.columns();
    Row<D>* rows = arena_.take<Row<D>>(std::size_t(block.count));
    deciding_.begin_block(block.layer, is_read, block.count, first_column);
    for (int start = 0; start < block.count; start += rows_at_once) {
      Panel<D> panel = take_panel(block.layer, std::min(rows_at_once, block.count - start), columns);
      rewrite<rows_at_once>(block.rows + start, folds, panel);
      for (int r = 0; r < panel.count; ++r) {
        const Row<D>& old = *block.rows[start + r];
        rows[start + r].unit = old.unit;
        rows[start + r].lowest_piece = old.lowest_piece;
        rows[start + r].highest_piece = old.highest_piece;
      }
      deciding_.decide_panel(panel, rows + start);
      if (!whole_) listed_.settle(panel, rows + start);
    }
    deciding_.end_block();
  }

  void bring_in_next() {
    const int index = ++child_.network.frontier;
    const Layer& here = layer(index);
    const int below = child_.columns();
    const int blocks = child_.network.block_count;
    const Block<D>* last = blocks > 0 ? &child_.network.blocks[blocks - 1] : nullptr;
    const int own = last != nullptr && last->layer == index - 1 ? last->units : 0;  // columns of the layer just below
    child_.folds.clear();
    for (int i = 0; i < child_.network.output_count; ++i)
      child_.folds.push_back({child_.network.outputs[i]->unit, child_.network.outputs[i]});
    child_.network.output_count = 0;
    if (index < network_.last()) child_.network.outputs = arena_.take<const Row<D>*>(std::size_t(here.units));
    residuals_.bring_in(index, child_.folds, child_.relaxations.data() + (below - own), own);
    if (!whole_) return bring_in_listed(index, own > 0 ? last : nullptr, below - own);
    int* own_units = arena_.take<int>(std::size_t(own));
    for (int k = 0; k < own; ++k) own_units[k] = last->rows[k]->unit;

    Row<D>* rows = arena_.take<Row<D>>(std::size_t(here.units));
    deciding_.begin_block(index, index < network_.last(), here.units, -1);
    for (int start = 0; start < here.units; start += rows_at_once) {
      Panel<D> panel = take_panel(index, std::min(rows_at_once, here.units - start), below);
      const double* weights[rows_at_once];
      const Row<D>* written[rows_at_once];
      for (int r = 0; r < rows_at_once; ++r) {
        const int unit = start + std::min(r, panel.count - 1);
        weights[r] = here.weights.row(unit);
        written[r] = &rows[unit];
        if (r >= panel.count) continue;
        begin_row(here, unit, panel, r, rows[unit]);
        if (index == 1) chart_rows_.read(rows[unit], weights[r]);
      }
      read_affine_parts(written, panel.limbs, panel);
      if (index > 1) fold_weights(weights, own_units, own, panel);
      deciding_.decide_panel(panel, rows + start);
    }
    deciding_.end_block();
  }

  // The same if layers read patches, and some of them outputs of several layers below.
  void bring_in_listed(int index, const Block<D>* last, int first_own) {
    outputs_.turn();
    const Layer& here = layer(index);
    const bool is_read = index < network_.last();
    listed_.begin_layer(here, child_.folds, last, first_own);
    const int row_count = here.rows();
    deciding_.begin_block(index, is_read, row_count, -1);
    for (int start = 0; start < row_count;) {
      Panel<D> panel = take_panel(index, ListedRows<D>::together(here, start), 0);
      Row<D>* rows = arena_.take<Row<D>>(std::size_t(panel.count));
      const Row<D>* written[rows_at_once];
      int numbers[rows_at_once];
      for (int r = 0; r < rows_at_once; ++r) {
        const int place = std::min(r, panel.count - 1);
        numbers[r] = here.order.empty() ? start + place : here.order[std::size_t(start + place)];
        written[r] = &rows[place];
        if (r >= panel.count) continue;
        begin_row(here, numbers[r], panel, r, rows[r]);
        if (index == 1) chart_rows_.read(rows[r], here.weights.terms(numbers[r], room_));
      }
      read_affine_parts(written, panel.limbs, panel);
      if (index > 1) listed_.bring_in(numbers, panel);
      deciding_.decide_panel(panel, rows);
      listed_.settle(panel, rows);
      start += panel.count;
    }
    deciding_.end_block();
    for (int unit = here.own; is_read && unit < here.units; ++unit) {
      const Row<D>* row = listed_.passed(here.weights.passed()[std::size_t(unit - here.own)], unit, limbs_[std::size_t(index)], outputs_.arena());
      if (row == nullptr) continue;
      residuals_.rewritten(index, *row);
      child_.network.outputs[child_.network.output_count++] = row;
    }
  }

  // Copies the outputs of the frontier, which are read on parts of the cell.
  void keep_outputs(const LocalNetwork<D>& parent) {
    LocalNetwork<D>& left = child_.network;
    for (int i = 0; i < left.output_count; ++i) {
      const Row<D>& output = *left.outputs[i];
      if (left.frontier == parent.frontier && i < parent.output_count && &output == parent.outputs[i]) continue;
      left.outputs[i] = copy_of_output(output, arena_);
    }
  }

  void begin_row(const Layer& here, int number, const Panel<D>& panel, int place, Row<D>& row) const {
    row = Row<D>{};
    row.unit = number;
    row.highest_piece = network_.has_outputs(child_.network.frontier) ? is_an_output : here.kinks;
    if (here.has_maxima()) {
      row.unit = here.unit_of[std::size_t(number)];
      row.lowest_piece = number - here.arms[row.unit];
      row.highest_piece = is_an_arm;
    }
    row.value[0] = here.biases[number];
    row.size = floored<D>(absolute(row.value));
    row.limbs = panel.limbs;
    if (row.limbs == 1) return;
    row.low = panel.low_of_rows + place * (row.limbs - 1);
    std::fill_n(row.low, row.limbs - 1, Lanes{});
  }

  // Adds the inputs of a new layer's rows: decided units, and undecided units just below. Nothing is added to the columns of
  // the latter, so nothing is rounded there.
  void fold_weights(const double* const* weights, const int* own_units, int own, Panel<D>& panel) {
    const auto read = [&](int column) { return side_by_side([&](int r) { return weights[r][column]; }); };
    const auto no_more = [](int, int) { return RowLanes{}; };
    const int others = panel.columns - own;
    std::fill(panel.coefficients, panel.coefficients + others * rows_at_once, 0.0);
    for (int k = 0; k < own; ++k) store(panel.coefficients + (others + k) * rows_at_once, read(own_units[k]));
    std::fill_n(panel.low_coefficients, (panel.limbs - 1) * panel.columns * rows_at_once, 0.0);
    folding_.fold(panel, child_.folds, child_.folds.size(), false, read, no_more);
  }

  static constexpr int bring_in_factor = 2;
  static constexpr int columns_of_inputs = 2;  // if lower layers read patches, outputs of the frontier cost more than new rows
  static constexpr int few_units = 32;
  static constexpr int few_columns = 8;
  static constexpr int few_terms = 4;
  static constexpr int few_listed = 16;
  static constexpr double patience = D == 1 ? 1.5 : D == 2 ? 1 : 2;
  static constexpr double most_bytes = 0x1p26;

  const Network& network_;
  const Chart& chart_;
  const Dims<D> dims_;
  ChartRows<D> chart_rows_;
  const std::vector<int> limbs_;  // of the rows of each layer
  Arena& arena_;
  const bool whole_;  // columns are never listed in this case
  const bool homogeneous_;
  const bool has_bases_;  // whether unbounded cells have bounds (cone_base.hpp); in more dimensions these do not pay
  const bool only_counts_;

  Child<D>& child_;
  ResidualBounds<D>& residuals_;
  Folding<D> folding_;
  ListedRows<D> listed_;
  Outputs& outputs_;
  ConeBase<Cell> base_;
  Deciding<Cell> deciding_;
  TermRoom room_;
};

}  // namespace REGIONS_TARGET
}  // namespace regions
