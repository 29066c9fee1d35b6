// SPDX-License-Identifier: MIT
// Which units of a layer are on one piece all over a cell, and what do they leave to the layers above?
//
// While nothing below is undecided rows are affine, and signs at the corners decide; above, bounds over the cell do,
// and only where they are proven. A decided unit contributes an affine function of its row, to be folded into the rows
// that read it; one that is not becomes a column of the child, with its relaxation.
//
// Cost: per affine row its signs at the corners; otherwise rows x columns.
#pragma once

#include <algorithm>
#include <cassert>
#include <vector>

#include "kernel/sign.hpp"
#include "rows/decided.hpp"
#include "rows/fold.hpp"
#include "rows/relax.hpp"
#include "rows/residuals.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// What is left of a network on a part of a cell, as far as it is known.
template <int D>
struct Child {
  LocalNetwork<D> network{};
  std::vector<Relaxation<D>, AlignedAllocator<Relaxation<D>>> relaxations;  // of its columns
  std::vector<int> survivors;                                              // its columns in the parent's numbering
  std::vector<Fold<D>> folds;                                              // what newly decided units contribute

  int columns() const { return int(relaxations.size()); }
};

// (upper, -lower) at a position with w = 1.
template <int D>
Lanes2 extremes_at(const AffineLanes<D>& upper, const AffineLanes<D>& lower, const double* position) {
  Lanes2 at{upper[0], -lower[0]};
  for (int k = 1; k <= D; ++k) at += Lanes2{upper[k], -lower[k]} * position[k];
  return at;
}

template <class Cell>
class Deciding {
 public:
  static constexpr int D = Cell::dimension;
  static constexpr int spare = LaneCount<D>::value - 1;
  using Lanes = AffineLanes<D>;

  Deciding(const Network& network, Exact& exact, Signs<Cell>& signs, Arena& arena, std::uint8_t* pieces,
           std::uint8_t* pattern, ResidualBounds<D>& residuals, Child<D>& child)
      : network_(network),
        exact_(exact),
        signs_(signs),
        arena_(arena),
        pieces_(pieces),
        pattern_(pattern),
        residuals_(residuals),
        child_(child) {}

  // From now on it is about this cell; all layers up to `entered` were decided before.
  void begin(const Cell& cell, const Extent<Cell>& extent, int entered) {
    cell_ = &cell;
    extent_ = &extent;
    entered_ = entered;
  }

  // Rows of one layer that have been written in the child's columns. In the rows being rewritten they themselves are
  // the columns from `first_column` on; -1 if no such rows read them.
  void decide_rows(int index, Row<D>* rows, int count, int first_column) {
    Block<D> block = start_block(index, count);
    const Lanes below = residuals_.below(index);
    for (int i = 0; i < count; ++i) {
      assert(rows[i].columns == child_.columns() && is_padded(rows[i]));
      set_error(layer(index), below, rows[i]);
    }
    if (child_.columns() > 0) {
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

  // The parent's lines, whose units have the parent's first columns.
  void keep_lines(const LocalNetwork<D>& parent, int split, Side side) {
    const Block<D>& block = parent.blocks[0];
    Lines<D> lines = parent.lines;
    if (!parent.bounded)  // a part of an unbounded cell has vertices that its margins did not know
      for (int i = 0; i < lines.count; ++i) {
        const Row<D>& row = *block.rows[lines.owners[i]];
        set_margin(lines, i, row, layer(block.layer).breakpoints_of(row.unit)[lines.breakpoints[i]], extent_->largest);
      }
    decide_by_signs(block, lines, 0, split, side);
  }

  // On a part of the cell where the last line is on one side, nothing is left: only the unit's piece is to be noted.
  void decide_last_line(const LocalNetwork<D>& network, Side side) {
    const Block<D>& block = network.blocks[0];
    const Row<D>& row = *block.rows[0];
    note_piece(layer(block.layer), row.unit, side == Side::active ? row.highest_piece : row.lowest_piece);
  }

  void note_piece(const Layer& here, int unit, int piece) {
    pieces_[here.first_unit + unit] = std::uint8_t(piece);
    if (pattern_ != nullptr) write_pattern(here, unit, piece, pattern_);
  }

 private:
  const Layer& layer(int index) const { return network_.layers[std::size_t(index)]; }

  Block<D> start_block(int index, int capacity) {
    return {index, 0, arena_.take<const Row<D>*>(std::size_t(capacity))};
  }

  void decide_affine(const Block<D>& block, int first_column) {
    while (entered_ < block.layer) exact_.enter(++entered_);
    const Layer& here = layer(block.layer);
    Lines<D> lines = Lines<D>::take(block.count * here.kinks, arena_);
    for (int i = 0; i < block.count; ++i) {
      const Row<D>& row = *block.rows[i];
      assert(here.inputs > 32 || keeps_its_bound(block.layer, row));  // long integers are slow where it is wider
      const double* kinks = here.breakpoints_of(row.unit);
      for (int kink = row.lowest_piece; kink < row.highest_piece; ++kink) {
        const int index = lines.count++;
        for (int k = 0; k <= D; ++k) lines.value[k][index] = row.value[k];
        lines.value[0][index] -= kinks[kink];
        lines.owners[index] = i;
        lines.breakpoints[index] = kink;
        set_margin(lines, index, row, kinks[kink], extent_->largest);
      }
    }
    assert(lines.count <= lines.capacity);
    lines.pad();
    decide_by_signs(block, lines, first_column, -1, Side::uncertain);
  }

  // The invariant of Row::error, at the corners, and without what the lower part may be; for assertions.
  bool keeps_its_bound(int index, const Row<D>& row) {
    Row<D> whole = row;
    whole.low = Lanes{};
    set_error(layer(index), residuals_.below(index), whole);
    double high[spare + 1], low[spare + 1];
    store(high, row.value);
    store(low, row.low);
    bool kept = true;
    for (int i = 0; i < cell_->count - Cell::outer; ++i) {
      const double* position = cell_->vertices[i]->position;
      if (position[0] == 0) continue;
      double bound = 0;
      for (int k = 0; k <= D; ++k) bound += whole.error[k] * std::fabs(position[k]);
      const double allowed = 1.001 * bound + room_for_underflow;  // corners are rounded themselves
      const double missed = exact_.miss(index, row.unit, high, low, position);
      kept = kept && !(missed > allowed);
    }
    return kept;
  }

  void push(const Block<D>& block) {
    if (block.count == 0) return;
    LocalNetwork<D>& left = child_.network;
    assert(left.block_count == 0 || left.blocks[left.block_count - 1].layer < block.layer);
    left.blocks[left.block_count++] = block;
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
          signs_.counts.filter += cell_->count - Cell::outer;
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
          child_.network.best_line = kept_lines.count;
        }
        kept_lines.append(lines, k, kept.count);
      }
      if (!keep(*row, column, kept)) continue;
      const double kink = here.breakpoints_of(row->unit)[lines.breakpoints[first]];
      const double margin = lines.margin[first] + lines.steepness[first] * extent_->error;
      child_.relaxations.push_back(relax<D>(here, *row, residuals_.size_of_column(block.layer, *row), row->value,
                                            row->value, least[first] + kink - margin, greatest[first] + kink + margin,
                                            margin, dot<D>(absolute(row->value), extent_->largest),
                                            extent_->underflow));
    }
    if (kept.count > 0) {
      kept_lines.pad();
      child_.network.lines = kept_lines;
      push(kept);
    }
  }

  // Rows with columns: bounds over the cell. Also gives the row its size.
  void decide_by_bounds(Row<D>& row, int column, Block<D>& kept) {
    const Layer& here = layer(kept.layer);
    const Relaxation<D> sum = weighted(row, child_.relaxations.data(), extent_->largest);
    row.size = sum.size() + row.own;
    if (row.lowest_piece == row.highest_piece) {
      decide(kept.layer, row, row.lowest_piece, column);
      return;
    }
    if (!extent_->bounded) {
      if (keep(row, column, kept))
        child_.relaxations.push_back(relax<D>(here, row, residuals_.size_of_column(kept.layer, row), sum.center,
                                              sum.center, NAN, NAN, NAN, NAN, extent_->underflow));
      return;
    }
    const double scale = sum.radius()[spare];
    const Lanes upper = sum.center + sum.radius();
    const Lanes lower = sum.center - sum.radius();
    double steepness = 0;
    for (int k = 1; k <= D; ++k) steepness += std::fabs(sum.center[k]) + std::fabs(sum.radius()[k]);
    // The product with the scale comes first: it overflows before any of the sums does that it bounds.
    const double margin = 1.02 * (dot<D>(row.error, extent_->largest) + unit_roundoff * ((row.columns + 17) * scale) +
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
      child_.relaxations.push_back(relax<D>(here, row, residuals_.size_of_column(kept.layer, row), lower, upper, low,
                                            high, margin, scale, extent_->underflow));
  }

  // The pieces that a pre-activation proven to lie in [low, high] can be on.
  static void narrow(const Layer& here, Row<D>& row, double low, double high) {
    const double* kinks = here.breakpoints_of(row.unit);
    while (row.lowest_piece < row.highest_piece && low > kinks[row.lowest_piece]) ++row.lowest_piece;
    while (row.lowest_piece < row.highest_piece && high <= kinks[row.highest_piece - 1]) --row.highest_piece;
  }

  // Whether rows above will read it: then they need its relaxation.
  bool keep(const Row<D>& row, int column, Block<D>& kept) {
    kept.rows[kept.count++] = &row;
    if (column >= 0) child_.survivors.push_back(column);
    return kept.layer < network_.last();
  }

  // The unit is on one piece: what it contributes above is an affine function of its row.
  REGIONS_INLINE void decide(int index, const Row<D>& row, int piece, int column) {
    assert(is_sized(row));
    const Layer& here = layer(index);
    note_piece(here, row.unit, piece);
    const double slope = here.slope(row.unit, piece);
    const double intercept = here.intercept(row.unit, piece);
    if (slope == 0 && intercept == 0) return;
    const Row<D>* output = slope == 1 && intercept == 0 ? &row : affine_output(row, slope, intercept, arena_);
    residuals_.decided(index, row, *output);
    if (column >= 0) child_.folds.push_back({column, output});
    if (index == child_.network.frontier && index < network_.last())
      child_.network.outputs[child_.network.output_count++] = output;
  }

  const Network& network_;
  Exact& exact_;
  Signs<Cell>& signs_;
  Arena& arena_;
  std::uint8_t* pieces_;
  std::uint8_t* pattern_;  // null where nobody asks
  ResidualBounds<D>& residuals_;
  Child<D>& child_;

  const Cell* cell_ = nullptr;
  const Extent<Cell>* extent_ = nullptr;
  int entered_ = 0;  // the highest layer whose exact forms hold: all below are decided
  std::vector<double, AlignedAllocator<double>> least_, greatest_;  // of lines, over the cell
  std::vector<Side, AlignedAllocator<Side>> sides_;
};

}  // namespace REGIONS_TARGET
}  // namespace regions
