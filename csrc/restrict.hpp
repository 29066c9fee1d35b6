// SPDX-License-Identifier: MIT
// What is left of a network on a smaller cell?
//
// Layer by layer, lowest first: write each row in the columns that are still undecided, adding what the newly decided
// units contribute (`fold`: one accumulation over them, never a cascade, because they were rewritten before); then
// drop it, fold it into the rows above, or keep it. While nothing below is undecided rows are affine, and signs at
// the corners decide; above, bounds over the cell do, and only where they are proven. Once few enough units are
// undecided, the next layer is brought in out of the network's own weights.
//
// Rounding: folding n units into a row costs at most gamma_(n+2) times the sizes involved (Row::size), lane by lane,
// plus the units' own errors times their weights. Cost: rows x columns, plus the folding.
#pragma once

#include <algorithm>
#include <vector>

#include "chart.hpp"
#include "decided.hpp"
#include "fold.hpp"
#include "relax.hpp"
#include "sign.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// (upper, -lower) at a position with w = 1.
template <int D>
Lanes2 extremes_at(const AffineLanes<D>& upper, const AffineLanes<D>& lower, const double* position) {
  Lanes2 at{upper[0], -lower[0]};
  for (int k = 1; k <= D; ++k) at += Lanes2{upper[k], -lower[k]} * position[k];
  return at;
}

template <class Cell>
class Restriction {
 public:
  static constexpr int D = Cell::dimension;
  static constexpr int spare = LaneCount<D>::value - 1;
  using Lanes = AffineLanes<D>;

  Restriction(const Network& network, const Chart& chart, Exact& exact, Signs<Cell>& signs, Arena& arena,
              std::uint8_t* pieces, std::uint8_t* pattern)
      : network_(network),
        chart_(chart),
        chart_rows_(chart),
        exact_(exact),
        signs_(signs),
        arena_(arena),
        pieces_(pieces),
        pattern_(pattern) {}

  // The whole network on the whole domain: so far only the input coordinates, which are affine forms of the chart.
  LocalNetwork<D> whole(const Cell& cell) {
    const int inputs = network_.layers[0].units;
    LocalNetwork<D> root{};
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
      pieces_[i] = 0;
    }
    return restricted(root, cell, -1, Side::uncertain);
  }

  // `parent` on a part of its cell, where its line `split` is known to be on one side (-1: there is no such line).
  LocalNetwork<D> restricted(const LocalNetwork<D>& parent, const Cell& cell, int split, Side side) {
    const Extent<Cell> extent(cell);
    cell_ = &cell;
    extent_ = &extent;
    child_ = LocalNetwork<D>{};
    child_.blocks = arena_.take<Block<D>>(std::size_t(network_.last()));
    child_.bounded = extent.bounded;
    child_.frontier = parent.frontier;
    entered_ = parent.block_count > 0 ? parent.blocks[0].layer : 0;
    relaxations_.clear();
    survivors_.clear();
    folds_.clear();

    int column = 0;
    for (int b = 0; b < parent.block_count; ++b) {
      const Block<D>& block = parent.blocks[b];
      if (block.layer == parent.frontier) rewrite_outputs(parent);
      if (b == 0) {
        keep_lines(parent, split, side);
      } else {
        rewrite_block(block, column);
      }
      column += block.count;
    }
    if (parent.block_count == 0 || parent.blocks[parent.block_count - 1].layer != parent.frontier)
      rewrite_outputs(parent);
    while (child_.frontier < network_.last() && worth_bringing_in_next()) bring_in_next();
    return child_;
  }

  bool is_last_line(const LocalNetwork<D>& network) const {
    return network.lines.count == 1 && network.block_count == 1 && network.frontier == network_.last();
  }

  // On a part of the cell where the last line is on one side, nothing is left: only the unit's piece is to be noted.
  void decide_last_line(const LocalNetwork<D>& network, Side side) {
    const Block<D>& block = network.blocks[0];
    const Row<D>& row = *block.rows[0];
    note_piece(layer(block.layer), row.unit, side == Side::active ? row.highest_piece : row.lowest_piece);
  }

 private:
  static Lanes absolute(Lanes lanes) { return lanes < 0 ? -lanes : lanes; }
  const Layer& layer(int index) const { return network_.layers[std::size_t(index)]; }
  int columns() const { return int(relaxations_.size()); }

  // Bringing a layer in costs its whole weight matrix; not bringing it in makes every smaller cell pay for that.
  // Bounds need a bounded cell.
  bool worth_bringing_in_next() const {
    return columns() == 0 || (extent_->bounded && columns() * bring_in_factor <= layer(child_.frontier + 1).inputs);
  }

  // ---- rewriting rows in the child's columns ----

  // Rows of one layer, with room for their coefficients.
  Row<D>* take_rows(int count, int columns) {
    Row<D>* rows = arena_.take<Row<D>>(std::size_t(count));
    const std::size_t stride = std::size_t(padded(columns));
    double* coefficients = arena_.take<double>(std::size_t(count) * stride);
    for (int i = 0; i < count; ++i) {
      rows[i].columns = columns;
      rows[i].coefficients = coefficients + std::size_t(i) * stride;
      for (int k = columns; k < padded(columns); ++k) rows[i].coefficients[k] = 0;
    }
    return rows;
  }

  void rewrite(const Row<D>& old, std::size_t folds, Row<D>& row) {
    row.value = old.value;
    row.error = old.error;
    row.size = old.size;
    const int* survivors = survivors_.data();
    const double* source = old.coefficients;
    double* __restrict target = row.coefficients;
    for (int k = 0; k < row.columns; ++k) target[k] = source[survivors[k]];
    folding_.fold(row, old.coefficients, folds_, folds);
  }

  // The outputs the next layer will read: their own layer's newly decided units are added by decide().
  void rewrite_outputs(const LocalNetwork<D>& parent) {
    if (parent.frontier == network_.last()) return;
    child_.outputs = arena_.take<const Row<D>*>(std::size_t(layer(parent.frontier).units));
    child_.output_count = parent.output_count;
    const bool affine =
        parent.output_count == 0 || parent.blocks == nullptr || parent.blocks[0].layer >= parent.frontier;
    Row<D>* rows = affine ? nullptr : take_rows(parent.output_count, columns());
    for (int i = 0; i < parent.output_count; ++i) {
      const Row<D>* output = parent.outputs[i];
      if (output->columns > 0) {
        Row<D>& row = rows[i];
        row.unit = output->unit;
        rewrite(*output, folds_.size(), row);
        row.size = floored<D>(absolute(row.value));
        for (int k = 0; k < row.columns; ++k)
          row.size += relaxations_[std::size_t(k)].size * floored_magnitude(row.coefficients[k]);
        output = &row;
      }
      child_.outputs[i] = output;
    }
  }

  void rewrite_block(const Block<D>& block, int first_column) {
    const std::size_t folds = folds_.size();
    Row<D>* rows = take_rows(block.count, columns());
    for (int i = 0; i < block.count; ++i) {
      const Row<D>& old = *block.rows[i];
      rows[i].unit = old.unit;
      rows[i].lowest_piece = old.lowest_piece;
      rows[i].highest_piece = old.highest_piece;
      rewrite(old, folds, rows[i]);
    }
    decide_rows(block.layer, rows, block.count, first_column);
  }

  void bring_in_next() {
    const int index = ++child_.frontier;
    const Layer& here = layer(index);
    const int below = columns();
    const Block<D>* last = child_.block_count > 0 ? &child_.blocks[child_.block_count - 1] : nullptr;
    const int own = last != nullptr && last->layer == index - 1 ? last->count : 0;  // columns of the layer just below
    folds_.clear();
    for (int i = 0; i < child_.output_count; ++i) folds_.push_back({child_.outputs[i]->unit, child_.outputs[i]});
    child_.output_count = 0;
    if (index < network_.last()) child_.outputs = arena_.take<const Row<D>*>(std::size_t(here.units));

    Row<D>* rows = take_rows(here.units, below);
    int* own_units = arena_.take<int>(std::size_t(own));
    for (int k = 0; k < own; ++k) own_units[k] = last->rows[k]->unit;
    const auto weights_of = [&here](int unit) { return here.weights + std::size_t(unit) * std::size_t(here.inputs); };
    for (int unit = 0; unit < here.units; ++unit) {
      const double* weights = weights_of(unit);
      Row<D>& row = rows[unit];
      row.unit = unit;
      row.lowest_piece = 0;
      row.highest_piece = here.kinks;
      row.value = Lanes{};
      row.value[0] = here.biases[unit];
      row.error = Lanes{};
      // The layer's own columns get nothing added to them, so nothing is rounded there.
      row.size = floored<D>(absolute(row.value));
      std::fill(row.coefficients, row.coefficients + (below - own), 0.0);
      double* __restrict coefficients = row.coefficients + (below - own);
      for (int k = 0; k < own; ++k) coefficients[k] = weights[own_units[k]];
      if (index == 1)
        chart_rows_.read(row, weights);
      else if (unit % 4 == 3)  // while their weights are at hand
        folding_.fold_four_rows(rows + unit - 3, weights_of(unit - 3), std::size_t(here.inputs), folds_);
    }
    for (int unit = index == 1 ? here.units : here.units / 4 * 4; unit < here.units; ++unit)
      folding_.fold(rows[unit], weights_of(unit), folds_, folds_.size());
    decide_rows(index, rows, here.units, -1);
  }

  // ---- deciding units ----

  Block<D> start_block(int index, int capacity) {
    return {index, 0, arena_.take<const Row<D>*>(std::size_t(capacity))};
  }

  // Rows of one layer that have been written in the child's columns. In the rows being rewritten they themselves are
  // the columns from `first_column` on; -1 if no such rows read them.
  void decide_rows(int index, Row<D>* rows, int count, int first_column) {
    Block<D> block = start_block(index, count);
    if (columns() > 0) {
      for (int i = 0; i < count; ++i) decide_by_bounds(rows[i], first_column < 0 ? -1 : first_column + i, block);
      push(block);
      return;
    }
    for (int i = 0; i < count; ++i) {
      rows[i].size = floored<D>(absolute(rows[i].value) + rows[i].error);
      block.rows[block.count++] = &rows[i];
    }
    decide_affine(block, first_column);
  }

  void decide_affine(const Block<D>& block, int first_column) {
    while (entered_ < block.layer) exact_.enter(++entered_);
    const Layer& here = layer(block.layer);
    Lines<D> lines = Lines<D>::take(block.count * here.kinks, arena_);
    for (int i = 0; i < block.count; ++i) {
      const Row<D>& row = *block.rows[i];
      for (int kink = row.lowest_piece; kink < row.highest_piece; ++kink) {
        const int index = lines.count++;
        for (int k = 0; k <= D; ++k) lines.value[k][index] = row.value[k];
        lines.value[0][index] -= here.breakpoints[kink];
        lines.owners[index] = i;
        lines.breakpoints[index] = kink;
        set_margin(lines, index, row, here.breakpoints[kink], extent_->largest);
      }
    }
    lines.pad();
    decide_by_signs(block, lines, first_column, -1, Side::uncertain);
  }

  // The parent's lines, whose units have the parent's first columns.
  void keep_lines(const LocalNetwork<D>& parent, int split, Side side) {
    const Block<D>& block = parent.blocks[0];
    Lines<D> lines = parent.lines;
    if (!parent.bounded)  // a part of an unbounded cell has vertices that its margins did not know
      for (int i = 0; i < lines.count; ++i)
        set_margin(lines, i, *block.rows[lines.owners[i]], layer(block.layer).breakpoints[lines.breakpoints[i]],
                   extent_->largest);
    decide_by_signs(block, lines, 0, split, side);
  }

  void push(const Block<D>& block) {
    if (block.count == 0) return;
    child_.blocks[child_.block_count++] = block;
  }

  // Affine rows: the lines' signs at the corners. What stays undecided becomes the child's lowest block.
  void decide_by_signs(const Block<D>& block, const Lines<D>& lines, int first_column, int split, Side side) {
    if (least_.size() < std::size_t(padded(lines.count))) {
      least_.resize(std::size_t(padded(lines.count)));
      greatest_.resize(least_.size());
      sides_.resize(least_.size());
    }
    double* least = least_.data();
    double* greatest = greatest_.data();
    Side* sides = sides_.data();
    if (split < 0 || lines.count > 1) classify(lines, *cell_, extent_->error, least, greatest, sides);
    if (split >= 0) sides[split] = side;

    const Layer& here = layer(block.layer);
    Block<D> kept = start_block(block.layer, block.count);
    Lines<D> kept_lines = Lines<D>::take(lines.count, arena_);
    double best = -1;
    int line = 0;
    for (int i = 0; i < block.count; ++i) {
      const Row<D>* row = block.rows[i];
      const int first = line;
      int active = 0;
      int inactive = 0;
      for (; line < lines.count && lines.owners[line] == i; ++line) {
        Side& known = sides[line];
        if (line != split && known == Side::uncertain)
          known = signs_.over_cell(block.layer, *row, lines.breakpoints[line], *cell_);
        else
          signs_.counts.filter += cell_->count;
        active += known == Side::active;
        inactive += known == Side::inactive;
      }
      const int column = first_column < 0 ? -1 : first_column + i;
      const int lowest = row->lowest_piece + active;
      const int highest = row->highest_piece - inactive;
      if (lowest == highest) {
        decide(block.layer, *row, lowest, column);
        continue;
      }
      if (active + inactive > 0) {
        Row<D>* narrowed = arena_.take<Row<D>>(1);
        *narrowed = *row;
        narrowed->lowest_piece = lowest;
        narrowed->highest_piece = highest;
        row = narrowed;
      }
      for (int k = first; k < line; ++k) {
        if (sides[k] != Side::crossing) continue;
        const double smaller = std::min(greatest[k], -least[k]);
        const double score = smaller > 0 ? smaller / lines.steepness[k] : 0;
        if (score > best) {
          best = score;
          child_.best_line = kept_lines.count;
        }
        kept_lines.append(lines, k, kept.count);
      }
      if (!keep(*row, column, kept)) continue;
      const double kink = here.breakpoints[lines.breakpoints[first]];
      const double margin = lines.margin[first] + lines.steepness[first] * extent_->error;
      relaxations_.push_back(relax<D>(here, *row, row->value, row->value, least[first] + kink - margin,
                                      greatest[first] + kink + margin, margin,
                                      dot<D>(absolute(row->value), extent_->largest), extent_->underflow));
    }
    if (kept.count > 0) {
      kept_lines.pad();
      child_.lines = kept_lines;
      push(kept);
    }
  }

  // Rows with columns: bounds over the cell. Also gives the row its size.
  void decide_by_bounds(Row<D>& row, int column, Block<D>& kept) {
    const Layer& here = layer(kept.layer);
    const Relaxation<D> sum = weighted(row, relaxations_.data(), extent_->largest);
    row.size = sum.size;
    if (row.lowest_piece == row.highest_piece) {
      decide(kept.layer, row, row.lowest_piece, column);
      return;
    }
    if (!extent_->bounded) {
      if (keep(row, column, kept))
        relaxations_.push_back(relax<D>(here, row, sum.center, sum.center, NAN, NAN, NAN, NAN, extent_->underflow));
      return;
    }
    const double scale = sum.radius[spare];
    const Lanes upper = sum.center + sum.radius;
    const Lanes lower = sum.center - sum.radius;
    double steepness = 0;
    for (int k = 1; k <= D; ++k) steepness += std::fabs(sum.center[k]) + std::fabs(sum.radius[k]);
    const double margin = 1.02 * (dot<D>(row.error, extent_->largest) + (row.columns + 16) * unit_roundoff * scale +
                                  steepness * extent_->error) +
                          extent_->underflow;
    // Both extremes at once: the greatest of (upper, -lower) over the corners.
    Lanes2 greatest = extremes_at<D>(upper, lower, cell_->vertices[0]->position);
    for (int i = 1; i < cell_->count; ++i) {
      const Lanes2 at = extremes_at<D>(upper, lower, cell_->vertices[i]->position);
      greatest = at > greatest ? at : greatest;
    }
    const double high = greatest[0] + margin;
    const double low = -greatest[1] - margin;
    narrow(here, row, low, high);
    if (row.lowest_piece == row.highest_piece)
      decide(kept.layer, row, row.lowest_piece, column);
    else if (keep(row, column, kept))
      relaxations_.push_back(relax<D>(here, row, lower, upper, low, high, margin, scale, extent_->underflow));
  }

  // The pieces that a pre-activation proven to lie in [low, high] can be on.
  static void narrow(const Layer& here, Row<D>& row, double low, double high) {
    const double* kinks = here.breakpoints;
    while (row.lowest_piece < row.highest_piece && low > kinks[row.lowest_piece]) ++row.lowest_piece;
    while (row.lowest_piece < row.highest_piece && high <= kinks[row.highest_piece - 1]) --row.highest_piece;
  }

  // Whether rows above will read it: then they need its relaxation.
  bool keep(const Row<D>& row, int column, Block<D>& kept) {
    kept.rows[kept.count++] = &row;
    if (column >= 0) survivors_.push_back(column);
    return kept.layer < network_.last();
  }

  void note_piece(const Layer& here, int unit, int piece) {
    pieces_[here.first_unit + unit] = std::uint8_t(piece);
    if (pattern_ != nullptr) write_pattern(here, unit, piece, pattern_);
  }

  // The unit is on one piece: what it contributes above is an affine function of its row.
  void decide(int index, const Row<D>& row, int piece, int column) {
    const Layer& here = layer(index);
    note_piece(here, row.unit, piece);
    const double slope = here.slope(row.unit, piece);
    const double intercept = here.intercept(row.unit, piece);
    if (slope == 0 && intercept == 0) return;
    const Row<D>* output = slope == 1 && intercept == 0 ? &row : affine_output(row, slope, intercept, arena_);
    if (column >= 0) folds_.push_back({column, output});
    if (index == child_.frontier && index < network_.last()) child_.outputs[child_.output_count++] = output;
  }

  static constexpr int bring_in_factor = 2;

  const Network& network_;
  const Chart& chart_;
  const ChartRows<D> chart_rows_;
  Exact& exact_;
  Signs<Cell>& signs_;
  Arena& arena_;
  std::uint8_t* pieces_;
  std::uint8_t* pattern_;  // null where nobody asks

  // Of the restriction under way.
  const Cell* cell_ = nullptr;
  const Extent<Cell>* extent_ = nullptr;
  LocalNetwork<D> child_{};
  std::vector<double, AlignedAllocator<double>> least_, greatest_;  // of lines, over the cell
  std::vector<Side, AlignedAllocator<Side>> sides_;
  int entered_ = 0;  // the highest layer whose exact forms hold: all below are decided
  std::vector<Relaxation<D>, AlignedAllocator<Relaxation<D>>> relaxations_;  // of the child's columns
  std::vector<int> survivors_;              // the child's columns in the parent's numbering
  std::vector<Fold<D>> folds_;
  Folding<D> folding_;
};

}  // namespace REGIONS_TARGET
}  // namespace regions
