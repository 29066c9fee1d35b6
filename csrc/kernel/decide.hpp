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

// Affine forms side by side, at a position with w = 1.
template <int D>
RowLanes at_position(const RowLanes* forms, const double* position) {
  RowLanes at = forms[0];
  for (int k = 1; k <= D; ++k) at += forms[k] * position[k];
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

  // Rows of one layer are next; `is_read`: by what is left of the layers above. In the rows being rewritten they
  // themselves are the columns from `first_column` on; -1 if no such rows read them.
  void begin_block(int index, bool is_read, int capacity, int first_column) {
    is_read_ = is_read;
    block_ = start_block(index, capacity);
    columns_ = child_.columns();
    first_column_ = first_column;
    below_ = residuals_.below(index);
  }

  // The next ones of them, which have been written in the child's columns; their units and pieces stand in `rows`.
  void decide_panel(Panel<D>& panel, Row<D>* rows) {
    assert(panel.listing != nullptr || panel.columns == columns_);
    const Layer& here = layer(block_.layer);
    set_errors(side_by_side([&](int r) { return here.norms[rows[std::min(r, panel.count - 1)].unit]; }), below_, panel);
    if (columns_ > 0) {
      decide_by_bounds(panel, rows);
    } else {
      for (int k = 0; k <= D; ++k) panel.size[k] = floored_sizes(absolute(panel.value[k]) + panel.error[k]);
      for (int r = 0; r < panel.count; ++r) {
        write_row(panel, r, rows[r]);
        block_.rows[block_.count++] = &rows[r];
      }
    }
    if (first_column_ >= 0) first_column_ += columns_ > 0 ? panel.count : 0;
  }

  void end_block() {
    if (columns_ > 0)
      push(block_);
    else
      decide_affine(block_, first_column_);
  }

  // The parent's lines, whose units have the parent's first columns.
  void keep_lines(const LocalNetwork<D>& parent, bool is_read, int split, Side side) {
    is_read_ = is_read;
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

  // The invariant of Row::error, at the corners that doubles reach, and without what lower limbs may be; for assertions.
  bool keeps_its_bound(int index, const Row<D>& row) {
    Panel<D> whole;
    const Row<D>* rows[rows_at_once];
    std::fill_n(rows, rows_at_once, &row);
    read_affine_parts(rows, 1, whole);
    set_errors(everywhere(layer(index).norms[row.unit]), residuals_.below(index), whole);
    double limbs[most_limbs][spare + 1];
    store(limbs[0], row.value);
    for (int m = 1; m < row.limbs; ++m) store(limbs[m], row.low[m - 1]);
    for (int m = 0; m < row.limbs; ++m)
      if (!std::all_of(limbs[m], limbs[m] + D + 1, [](double number) { return std::isfinite(number); })) return true;
    bool kept = true;
    for (int i = 0; i < cell_->count - Cell::outer; ++i) {
      const double* position = cell_->vertices[i]->position;
      if (position[0] == 0) continue;
      if (!std::all_of(position, position + D + 1, [](double number) { return std::isfinite(number); })) continue;
      double bound = 0;
      for (int k = 0; k <= D; ++k) bound += whole.error[k][0] * std::fabs(position[k]);
      const double allowed = 1.001 * bound + room_for_underflow;  // corners are rounded themselves
      const double missed = exact_.miss(index, row.unit, limbs[0], row.limbs, spare + 1, position);
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
          signs_.counts.prove(row->limbs, cell_->count - Cell::outer);
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

  // Rows with columns: bounds over the cell. Also gives them their sizes.
  void decide_by_bounds(Panel<D>& panel, Row<D>* rows) {
    const Layer& here = layer(block_.layer);
    const PanelRelaxation<D> sum = weighted(panel, child_.relaxations.data(), extent_->largest);
    RowLanes upper[D + 1], lower[D + 1];
    for (int k = 0; k <= D; ++k) {
      upper[k] = sum.center[k] + sum.radius[k];
      lower[k] = sum.center[k] - sum.radius[k];
    }
    RowLanes high = everywhere(NAN);  // says nothing: bounds need a bounded cell
    RowLanes low = high;
    RowLanes margin = high;
    if (extent_->bounded) {
      RowLanes error = panel.error[0] * extent_->largest[0];
      RowLanes steepness{};
      for (int k = 1; k <= D; ++k) {
        error += panel.error[k] * extent_->largest[k];
        steepness += absolute(sum.center[k]) + absolute(sum.radius[k]);
      }
      // The product with the scale comes first: it overflows before any of the sums does that it bounds.
      margin = 1.02 * (error + unit_roundoff * (double(columns_ + 17) * sum.scale) + steepness * extent_->error) +
               extent_->underflow;
      high = at_position<D>(upper, cell_->vertices[0]->position);
      low = at_position<D>(lower, cell_->vertices[0]->position);
      for (int i = 1; i < cell_->count; ++i) {
        const RowLanes above = at_position<D>(upper, cell_->vertices[i]->position);
        const RowLanes below = at_position<D>(lower, cell_->vertices[i]->position);
        high = above > high ? above : high;
        low = below < low ? below : low;
      }
      high += margin;
      low -= margin;
    }
    for (int r = 0; r < panel.count; ++r) {
      Row<D>& row = rows[r];
      const int column = first_column_ < 0 ? -1 : first_column_ + r;
      narrow(here, row, low[r], high[r]);
      if (row.lowest_piece == row.highest_piece) {
        if (is_read(block_.layer, row.unit, row.lowest_piece)) write_row(panel, r, row);
        decide(block_.layer, row, row.lowest_piece, column);
        continue;
      }
      write_row(panel, r, row);
      if (!keep(row, column, block_)) continue;
      child_.relaxations.push_back(relax<D>(here, row, residuals_.size_of_column(block_.layer, row),
                                            affine_lane<D>(lower, r), affine_lane<D>(upper, r), low[r], high[r],
                                            margin[r], sum.scale[r], extent_->underflow));
    }
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
    return is_read_;
  }

  // Whether rows above read anything of a unit on that piece.
  bool is_read(int index, int unit, int piece) const {
    return is_read_ && (layer(index).slope(unit, piece) != 0 || layer(index).intercept(unit, piece) != 0);
  }

  // The unit is on one piece: what it contributes above is an affine function of its row.
  REGIONS_INLINE void decide(int index, const Row<D>& row, int piece, int column) {
    const Layer& here = layer(index);
    note_piece(here, row.unit, piece);
    if (!is_read(index, row.unit, piece)) return;
    assert(is_sized(row));
    const Row<D>* output = affine_output(row, here.slope(row.unit, piece), here.intercept(row.unit, piece), arena_);
    assert(is_padded(*output));
    residuals_.decided(index, row, *output);
    if (column >= 0) child_.folds.push_back({column, output});
    if (index == child_.network.frontier) child_.network.outputs[child_.network.output_count++] = output;
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

  // The rows that are being decided: those kept so far, or all where they are affine.
  bool is_read_ = false;  // by anything that is left of the layers above
  Block<D> block_{};
  int columns_ = 0;
  int first_column_ = -1;  // of the panel that is next
  Lanes below_{};
};

}  // namespace REGIONS_TARGET
}  // namespace regions
