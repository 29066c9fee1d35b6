// SPDX-License-Identifier: MIT
// Which units of a layer are on one piece all over a cell, and what do they contribute to the layers above?
//
// If all lower layers are decided, rows are affine, and the signs at the corners decide them. In higher layers proven bounds over
// the cell decide. A decided unit contributes an affine function of its row, which is folded into the rows
// that read it; an undecided unit becomes a column of the child, with its relaxation.
//
// Cost: per affine row its signs at the corners; otherwise rows x columns.
#pragma once

#include <algorithm>
#include <cassert>
#include <vector>

#include "kernel/cell_bounds.hpp"
#include "kernel/envelope.hpp"
#include "kernel/excluding.hpp"
#include "kernel/kept_bounds.hpp"
#include "kernel/largest.hpp"
#include "kernel/lines_inside.hpp"
#include "kernel/sign.hpp"
#include "kernel/step.hpp"
#include "rows/decided.hpp"
#include "rows/relax.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

template <class Cell>
class Deciding {
 public:
  static constexpr int D = Cell::dimension;
  using Lanes = AffineLanes<D>;

  explicit Deciding(Step<Cell>& step)
      : step_(step),
        network_(step.network),
        exact_(step.exact),
        signs_(step.signs),
        arena_(step.arena),
        outputs_(step.outputs),
        pieces_(step.pieces),
        pattern_(step.pattern),
        flat_(step.flat),
        maps_(step.maps),
        residuals_(step.residuals),
        child_(step.child),
        envelope_(signs_, exact_, arena_) {}

  // Starts with a new cell; all layers up to `entered` are decided. For an unbounded cell there may be a base of its cone, or null.
  void begin(const Cell& cell, const Extent<Cell>* extent, const ConeBase<Cell>* base, int entered) {
    cell_ = &cell;
    extent_ = extent;
    base_ = base;
    bounded_ = base != nullptr ? &base->extent() : extent;
    entered_ = entered;
  }

  // Starts the rows of one layer; `is_read`: whether the remaining layers above read them. In the parent's rows of higher layers
  // their units are the columns from `first_column` on; -1 if there are no such rows.
  void begin_block(int index, bool is_read, int capacity, int first_column) {
    is_read_ = is_read;
    block_ = start_block(index, capacity);
    columns_ = child_.columns();
    first_column_ = first_column;
    below_ = residuals_.below(index);
  }

  // Decides the next rows, which are written in the child's columns; their units and pieces are set in `rows`.
  void decide_panel(Panel<D>& panel, Row<D>* rows) {
    assert(panel.listing != nullptr || panel.columns == columns_);
    const Layer& here = layer(block_.layer);
    if (here.has_maxima()) return keep_arms(panel, rows);
    set_errors(side_by_side([&](int r) { return here.norms[rows[std::min(r, panel.count - 1)].unit]; }), below_, panel);
    if (rows[0].highest_piece == is_an_output) {
      keep_outputs(panel, rows);
    } else if (columns_ > 0) {
      decide_by_bounds(panel, rows);
    } else {
      keep_affine(panel, rows);
    }
    if (first_column_ >= 0) first_column_ += columns_ > 0 ? panel.count : 0;
  }

  void end_block() {
    if (layer(block_.layer).has_maxima())
      decide_maxima();
    else if (columns_ > 0)
      push(block_);
    else if (network_.has_outputs(block_.layer))
      note_maps();
    else
      decide_affine(block_, first_column_);
  }

  // Decides the parent's lines, whose units are the parent's first columns.
  void keep_lines(const LocalNetwork<D>& parent, bool is_read, int split, Side side) {
    is_read_ = is_read;
    const Block<D>& block = parent.blocks[0];
    Lines<D> lines = parent.lines;
    if (!parent.bounded)  // a part of an unbounded cell has vertices that its margins did not include
      for (int i = 0; i < lines.count; ++i) {
        const Row<D>& row = *block.rows[lines.owners[i]];
        set_margin(lines, i, row, layer(block.layer).breakpoints_of(row.unit)[lines.breakpoints[i]], extent_->largest);
      }
    decide_by_signs(block, lines, 0, split, side);
  }

  // Decides the parent's units with branches; the argmax of one unit is known.
  void keep_arms(const LocalNetwork<D>& parent, bool is_read, const Row<D>* winner) {
    is_read_ = is_read;
    decide_arms_by_signs(parent.blocks[0], 0, winner);
  }

  // On a part of the cell where the last line is on one side, no network remains: only the unit's piece is recorded.
  void note_last_line(const LocalNetwork<D>& parent, Side side, const Row<D>* winner) {
    const Row<D>& row = *parent.blocks[0].rows[0];
    const int piece = side == Side::active ? row.highest_piece : row.lowest_piece;
    note_piece(layer(parent.blocks[0].layer), row.unit, winner != nullptr ? arm_of(*winner) : piece);
  }

  // The same if rows of outputs remain, which read the unit.
  void decide_last_line(const LocalNetwork<D>& parent, Side side, const Row<D>* winner) {
    const Row<D>& row = winner != nullptr ? *winner : *parent.blocks[0].rows[0];
    const int piece = side == Side::active ? row.highest_piece : row.lowest_piece;
    is_read_ = true;
    decide(parent.blocks[0].layer, row, winner != nullptr ? arm_of(row) : piece, 0);
  }

  void note_piece(const Layer& here, int unit, int piece) {
    pieces_[here.first_unit + unit] = std::uint8_t(piece);
    if (pattern_ == nullptr) return;
    write_pattern(here, unit, piece, pattern_);
    if (flat_ == nullptr) return;
    for (int kink = 0; kink < here.kinks; ++kink) write_bit(here.kink(unit, kink), false, flat_);
  }

  // Whether pairs of branches that are equal somewhere on a cell are noted, so that all that attain the maximum there can be found:
  // each branch that is removed has a pair with one that is not below it.
  bool notes_ties() const { return is_touched<Cell> && flat_ != nullptr; }

 private:
  const Layer& layer(int index) const { return network_.layers[std::size_t(index)]; }

  Block<D> start_block(int index, int capacity) {
    return {index, 0, 0, arena_.take<const Row<D>*>(std::size_t(capacity))};
  }

  void decide_affine(const Block<D>& block, int first_column) {
    enter_exactly(block);
    const Layer& here = layer(block.layer);
    Lines<D> lines = Lines<D>::take(block.count * here.kinks, dims_of(*cell_), arena_);
    for (int i = 0; i < block.count; ++i) {
      const Row<D>& row = *block.rows[i];
      const double* kinks = here.breakpoints_of(row.unit);
      for (int kink = row.lowest_piece; kink < row.highest_piece; ++kink) {
        const int index = lines.count++;
        for (int k = 0; k <= lines.dims; ++k) lines.value[k][index] = row.value[k];
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

  // Prepares exact signs for a block of affine rows. All layers below it are decided.
  void enter_exactly(const Block<D>& block) {
    while (entered_ < block.layer) exact_.enter(++entered_);
    for (int i = 0; i < block.count; ++i)  // long integers are slow for wider layers
      assert(layer(block.layer).inputs > 32 || keeps_its_bound(step_, block.layer, *block.rows[i], *cell_));
  }

  void push(const Block<D>& block) {
    if (block.count == 0) return;
    LocalNetwork<D>& left = child_.network;
    assert(left.block_count == 0 || left.blocks[left.block_count - 1].layer < block.layer);
    left.blocks[left.block_count++] = block;
  }

  // Affine rows: the lines' signs at the corners. Undecided rows become the child's lowest block.
  void decide_by_signs(const Block<D>& block, const Lines<D>& lines, int first_column, int split, Side side) {
    if (least_.size() < std::size_t(padded(lines.count))) {
      least_.resize(std::size_t(padded(lines.count)));
      greatest_.resize(least_.size());
      sides_.resize(least_.size());
    }
    double* least = least_.data();
    double* greatest = greatest_.data();
    Side* sides = sides_.data();
    const bool inside = lacks_vertices(*cell_);
    if (inside && (split < 0 || lines.count > 1))
      lines_inside_.classify(lines, *cell_, split, least, greatest, sides);
    else if (split < 0 || lines.count > 1)
      classify(lines, *cell_, extent_->error, least, greatest, sides);
    if (child_.network.excluded != nullptr && (split < 0 || lines.count > 1)) exclude(network_, block, lines, sides, child_.network);
    if (split >= 0) sides[split] = side;

    const Layer& here = layer(block.layer);
    Block<D> kept = start_block(block.layer, block.count);
    Lines<D> kept_lines = Lines<D>::take(lines.count, lines.dims, arena_);
    double best = -1;
    int line = 0;
    for (int i = 0; i < block.count; ++i) {
      const Row<D>* row = block.rows[i];
      const int first = line;
      int active = 0;
      int inactive = 0;
      Boundary flat = -1;  // a kink that is zero all over the cell
      for (; line < lines.count && lines.owners[line] == i; ++line) {
        Side& known = sides[line];
        if (line != split && known == Side::uncertain) {
          known = signs_.over_cell(block.layer, *row, lines.breakpoints[line], *cell_);
          if (flat_ != nullptr && known != Side::crossing && note_touch(here.kink(row->unit, lines.breakpoints[line])))
            flat = here.kink(row->unit, lines.breakpoints[line]);
        } else {
          signs_.counts.prove(row->limbs, inside ? 1 : cell_->count - Cell::outer);
        }
        active += known == Side::active;
        inactive += known == Side::inactive;
      }
      const int column = first_column < 0 ? -1 : first_column + i;
      const int lowest = row->lowest_piece + active;
      const int highest = row->highest_piece - inactive;
      if (lowest == highest) {
        decide(block.layer, *row, lowest, column);
        if (flat >= 0) write_bit(flat, true, flat_);
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
        const double smaller = inside ? lines_inside_.extent(lines, k, *cell_) : std::min(greatest[k], -least[k]);
        const double score = smaller > 0 ? smaller / lines.steepness[k] : 0;
        if (score > best) {
          best = score;
          child_.network.best_line = kept_lines.count;
          if (inside) lines_inside_.choose(k, *cell_);
        }
        kept_lines.append(lines, k, kept.count);
      }
      if (!keep(*row, column, kept)) continue;
      const Lanes size = residuals_.size_of_column(block.layer, *row);
      if (base_ != nullptr) {
        child_.relaxations.push_back(relax_over_base(*base_, here, *row, size));
        continue;
      }
      const double kink = here.breakpoints_of(row->unit)[lines.breakpoints[first]];
      const double margin = lines.margin[first] + lines.steepness[first] * extent_->error;
      child_.relaxations.push_back(relax<D>(here, *row, size, row->value, row->value, least[first] + kink - margin,
                                            greatest[first] + kink + margin, margin,
                                            dot<D>(absolute(row->value), extent_->largest), extent_->one, extent_->terms,
                                            extent_->underflow));
    }
    if (kept.count > 0) {
      kept_lines.pad();
      child_.network.lines = kept_lines;
      push(kept);
    }
  }

  // Notes a kink that has one sign on the cell, and maybe zeros at corners. Returns whether it is zero at all corners.
  bool note_touch(Boundary kink) {
    if constexpr (is_touched<Cell>) {
      if (signs_.zeros.empty()) return false;
      if (int(signs_.zeros.size()) == cell_->count) return true;
      cell_->touch(kink, signs_.zeros, arena_);
      return false;
    }
    return signs_.all_zero;
  }

  // Decides rows with columns by bounds over the cell.
  void decide_by_bounds(Panel<D>& panel, Row<D>* rows) {
    const Layer& here = layer(block_.layer);
    // In a homogeneous network a sign between the other corners is the sign in the whole cell, except at the origin.
    const PanelBounds<D> bounds =
        bounds_over(*cell_, *bounded_, child_.relaxations.data(), columns_, panel, base_, child_.network.origin);
    const auto& [upper, lower, high, low, margin, scale] = bounds;
    if (child_.network.excluded != nullptr) exclude(network_, block_.layer, panel.count, rows, low, high, child_.network);
    for (int r = 0; r < panel.count; ++r) {
      Row<D>& row = rows[r];
      const int column = first_column_ < 0 ? -1 : first_column_ + r;
      narrow(here, row, low[r], high[r]);
      const bool zero = row.lowest_piece != row.highest_piece && panel.value[0][r] == 0 && is_zero(panel, r);
      if (zero) narrow_at_zero(here, row);
      if (row.lowest_piece == row.highest_piece) {
        if (zero || child_.network.origin >= 0) signs_.prove_zeros(panel.limbs, 1);
        if (is_read(block_.layer, row.unit, row.lowest_piece)) write_row(panel, r, row);
        decide(block_.layer, row, row.lowest_piece, column);
        if (zero) note_zero(here, row);
        continue;
      }
      write_row(panel, r, row);
      if (!keep(row, column, block_)) continue;
      child_.relaxations.push_back(relax<D>(here, row, residuals_.size_of_column(block_.layer, row),
                                            affine_lane<D>(lower, r, panel.dims), affine_lane<D>(upper, r, panel.dims), low[r], high[r],
                                            margin[r], scale[r], bounded_->one, bounded_->terms, bounded_->underflow));
    }
  }

  // A row that is zero everywhere: a unit with a kink at 0 is on the lower piece there.
  __attribute__((noinline)) static void narrow_at_zero(const Layer& here, Row<D>& row) {
    const double* kinks = here.breakpoints_of(row.unit);
    while (row.lowest_piece < row.highest_piece && kinks[row.lowest_piece] < 0) ++row.lowest_piece;
    row.highest_piece = row.lowest_piece;
  }

  // Notes that the kink above its piece is zero all over the cell.
  void note_zero(const Layer& here, const Row<D>& row) {
    if (flat_ != nullptr && row.highest_piece < here.kinks && here.breakpoints_of(row.unit)[row.highest_piece] == 0)
      write_bit(here.kink(row.unit, row.highest_piece), true, flat_);
  }

  // Affine rows are decided when all of them have been written.
  REGIONS_INLINE void keep_affine(Panel<D>& panel, Row<D>* rows) {
    for (int k = 0; k <= panel.dims; ++k) panel.size[k] = floored_sizes(absolute(panel.value[k]) + panel.error[k]);
    for (int r = 0; r < panel.count; ++r) {
      write_row(panel, r, rows[r]);
      block_.rows[block_.count++] = &rows[r];
    }
  }

  // ---- outputs: rows that nothing reads, and that are never decided ----

  __attribute__((noinline)) void keep_outputs(Panel<D>& panel, Row<D>* rows) {
    set_sizes(child_.relaxations.data(), panel);
    for (int r = 0; r < panel.count; ++r) {
      write_row(panel, r, rows[r]);
      block_.rows[block_.count++] = &rows[r];
    }
  }

  // Everything is decided, so the outputs are affine on the cell, which is a region.
  __attribute__((noinline)) void note_maps() {
    enter_exactly(block_);
    if (maps_ == nullptr) return;
    const int dims = dims_of(*cell_);
    double* errors = maps_ + block_.count * (dims + 1);
    for (int i = 0; i < block_.count; ++i) {
      const Row<D>& row = *block_.rows[i];
      for (int k = 0; k <= dims; ++k) {
        maps_[row.unit * (dims + 1) + k] = row.value[k];
        errors[row.unit * (dims + 1) + k] = row.error[k];
      }
    }
  }

  // ---- units with branches; in separate functions, so that others are not slower for them ----

  // Rows with columns are first bounded one by one, because the branches of a unit may be in several panels.
  __attribute__((noinline)) void keep_arms(Panel<D>& panel, Row<D>* rows) {
    const Layer& here = layer(block_.layer);
    set_errors(side_by_side([&](int r) { return here.norms[number_of(here, rows[std::min(r, panel.count - 1)])]; }), below_,
               panel);
    if (columns_ == 0) return keep_affine(panel, rows);
    const PanelBounds<D> bounds = bounds_over(*cell_, *bounded_, child_.relaxations.data(), columns_, panel, base_);
    for (int r = 0; r < panel.count; ++r) {
      write_row(panel, r, rows[r]);
      block_.rows[block_.count++] = &rows[r];
      bounds_.push_back({&rows[r], affine_lane<D>(bounds.lower, r, panel.dims), affine_lane<D>(bounds.upper, r, panel.dims), bounds.low[r],
                         bounds.high[r], bounds.margin[r], bounds.scale[r]});
    }
  }

  // Decides the units of the block; all its rows have been written.
  __attribute__((noinline)) void decide_maxima() {
    if (columns_ == 0) {
      enter_exactly(block_);
      return decide_arms_by_signs(block_, first_column_, nullptr);
    }
    Block<D> kept = start_block(block_.layer, block_.count);
    int column = first_column_;
    for (int first = 0, end; first < block_.count; first = end, column += column >= 0) {
      end = block_.end_of_unit(first);
      arms_.assign(bounds_.begin() + first, bounds_.begin() + end);
      leave_winners(arms_, notes_ties(), [&](const Row<D>& one, const Row<D>& other) {
        if constexpr (is_touched<Cell>)
          if (notes_ties()) cell_->note_equal_arms(layer(block_.layer).kink(one.unit, pair_of(one, other).number()), arena_);
      });
      keep_unit(column, kept);
    }
    bounds_.clear();
    push(kept);
  }

  // Keeps a unit as decided, or as a column. Returns whether it is a column.
  bool keep_unit(int column, Block<D>& kept) {
    if (arms_.size() == 1) {
      decide(kept.layer, *arms_[0].row, arm_of(*arms_[0].row), column);
      return false;
    }
    ++kept.units;
    Lanes size{};
    for (const ArmBounds<D>& arm : arms_) {
      kept.rows[kept.count++] = arm.row;
      size = at_least(size, residuals_.size_of_column(kept.layer, *arm.row));
    }
    if (column >= 0) child_.survivors.push_back(column);
    if (is_read_) child_.relaxations.push_back(largest_.relax(arms_, size, *cell_, extent_->underflow));
    return true;
  }

  // Affine branches: the signs of their differences at the corners.
  __attribute__((noinline)) void decide_arms_by_signs(const Block<D>& block, int first_column, const Row<D>* winner) {
    Block<D> kept = start_block(block.layer, block.count);
    Lines<D> lines = Lines<D>::take(block.units > 0 ? block.units : block.count, dims_of(*cell_), arena_);
    double best = -1;
    int column = first_column;
    for (int first = 0, end; first < block.count; first = end, column += column >= 0) {
      end = block.end_of_unit(first);
      affine_arms_.assign(block.rows + first, block.rows + end);
      const int unit = block.rows[first]->unit;
      const auto note = [&](int pair) { note_tie(layer(block.layer).kink(unit, pair)); };
      if (winner != nullptr && winner->unit == unit) {
        note_ties(block.layer, *winner, note);
        affine_arms_.assign(1, winner);
      } else {
        envelope_.leave_winners(block.layer, *cell_, *extent_, affine_arms_, note);
      }
      arms_.clear();
      for (const Row<D>* arm : affine_arms_) arms_.push_back(bounds_of(*arm, *extent_));
      const int owner = kept.count;
      if (!keep_unit(column, kept)) continue;
      const double score = envelope_.append_line(affine_arms_, owner, *cell_, extent_->largest, lines);
      child_.network.only_lines = child_.network.only_lines && arms_.size() == 2;
      if (score > best) {
        best = score;
        child_.network.best_line = lines.count - 1;
      }
    }
    if (kept.count == 0) return;
    lines.pad();
    child_.network.lines = lines;
    push(kept);
  }

  // Notes a pair of branches that does not cross the cell, after `Envelope::side_over_cell`.
  void note_tie(Boundary pair) {
    if constexpr (is_touched<Cell>)
      if (notes_ties() && note_touch(pair)) cell_->note_equal_arms(pair, arena_);
  }

  // The argmax is not below the other branches of its unit. If there are two, their pair is a facet of the cell.
  template <class Note>
  void note_ties(int layer, const Row<D>& winner, Note note) {
    if (!notes_ties() || affine_arms_.size() == 2) return;
    for (const Row<D>* arm : affine_arms_) {
      if (arm == &winner) continue;
      envelope_.side_over_cell(layer, *arm, winner, *cell_, *extent_);
      note(pair_of(*arm, winner).number());
    }
  }

  // Leaves the pieces that a pre-activation in [low, high] can be on. A kink that it may equal stays, to be decided by signs.
  static void narrow(const Layer& here, Row<D>& row, double low, double high) {
    const double* kinks = here.breakpoints_of(row.unit);
    while (row.lowest_piece < row.highest_piece && low > kinks[row.lowest_piece]) ++row.lowest_piece;
    while (row.lowest_piece < row.highest_piece && high < kinks[row.highest_piece - 1]) --row.highest_piece;
  }

  // Returns whether a higher layer reads this unit, which then needs a relaxation.
  bool keep(const Row<D>& row, int column, Block<D>& kept) {
    kept.rows[kept.count++] = &row;
    ++kept.units;
    if (column >= 0) child_.survivors.push_back(column);
    return is_read_;
  }

  // Returns whether rows above read a unit on that piece.
  bool is_read(int index, int unit, int piece) const {
    return is_read_ && (layer(index).slope(unit, piece) != 0 || layer(index).intercept(unit, piece) != 0);
  }

  // The unit is on one piece: it contributes an affine function of its row above.
  REGIONS_INLINE void decide(int index, const Row<D>& row, int piece, int column) {
    const Layer& here = layer(index);
    note_piece(here, row.unit, piece);
    if (!is_read(index, row.unit, piece)) return;
    assert(is_sized(row));
    const Row<D>* output = affine_output(row, here.slope(row.unit, piece), here.intercept(row.unit, piece), outputs_.arena());
    assert(is_padded(*output));
    residuals_.decided(index, row, *output);
    if (column >= 0) child_.folds.push_back({column, output});
    if (index == child_.network.frontier) child_.network.outputs[child_.network.output_count++] = output;
  }

  Step<Cell>& step_;
  const Network& network_;
  Exact& exact_;
  Signs<Cell>& signs_;
  Arena& arena_;
  Outputs& outputs_;
  std::uint8_t* pieces_;
  std::uint8_t* pattern_;  // null if it is not needed
  std::uint8_t* flat_;     // the same
  double* maps_;           // the same
  ResidualBounds<D>& residuals_;
  Child<D>& child_;

  Envelope<Cell> envelope_;
  Largest<Cell> largest_;
  LinesInside<Cell> lines_inside_;
  AllArmBounds<D> bounds_, arms_;  // of the block's rows; of the branches of a unit that can be the argmax
  std::vector<const Row<D>*> affine_arms_;

  const Cell* cell_ = nullptr;
  const Extent<Cell>* extent_ = nullptr;
  const ConeBase<Cell>* base_ = nullptr;    // of the cone of an unbounded cell, if it is known
  const Extent<Cell>* bounded_ = nullptr;  // of that base, else of the cell
  int entered_ = 0;  // the highest layer whose exact forms are valid: all below are decided
  std::vector<double, AlignedAllocator<double>> least_, greatest_;  // of lines, over the cell
  std::vector<Side, AlignedAllocator<Side>> sides_;

  // The rows that are being decided: those kept so far, or all if they are affine.
  bool is_read_ = false;  // by any remaining layer above
  Block<D> block_{};
  int columns_ = 0;
  int first_column_ = -1;  // of the panel that is next
  Lanes below_{};
};

}  // namespace REGIONS_TARGET
}  // namespace regions
