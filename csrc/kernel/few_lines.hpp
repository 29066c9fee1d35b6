// SPDX-License-Identifier: MIT
// How many regions are there in a cell with a few lines, and a few rows of the last layer above them?
//
// Most cells of the recursion are of this kind: they would be cut a few times, and the rows would be rewritten for each half.
// If regions are only counted, these halves are not needed. Therefore the lines cut the cell here, into parts that are stored as
// lists of corners. A part knows its side of each line, and its rows are the cell's rows with the lines' units folded in, several
// at a time, as in the recursion (fold.hpp, residuals.hpp). Signs at a part's corners show which rows are zero somewhere in it,
// and these are its arrangement.
// Invariant: this is used only if rounded arithmetic proves everything: each corner's side of each line, and each row's side at
// the corners, or that it has both. A corner made by a cut is a convex combination of two others, like the ends of chords
// (share.hpp), so it reaches no further than they do, and margins for the cell are valid there too. If anything is not proven,
// nothing is concluded, and the recursion continues as usual.
// Proof, beyond the proofs in these files: the residual bound includes the units' outputs on both pieces, so it is valid in
// every part. A line's sides at a part's corners are proven for the true corners, so it meets the true part's edges in none or
// two points, none of them a corner; and the parts are the cells of the lines' true arrangement in the cell.
// Cost: a panel of rows for each part, and a few operations for each corner of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "cells/polygon.hpp"
#include "kernel/distinct_lines.hpp"
#include "kernel/sign.hpp"
#include "rows/decided.hpp"
#include "rows/residuals.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// Cells of other types are left to the recursion.
template <class Cell>
class FewLines {
 public:
  FewLines(const Network&, Arena&, Signs<Cell>&) {}
  std::int64_t count(const LocalNetwork<Cell::dimension>&, const Cell&) { return unknown; }
  int parts() const { return 0; }
};

template <>
class FewLines<Polygon> {
 public:
  static constexpr int D = Polygon::dimension;

  FewLines(const Network& network, Arena& arena, Signs<Polygon>& signs)
      : network_(network), arena_(arena), signs_(signs), whole_(network.is_whole()), residuals_(network) {}

  // Returns the number of regions in the cell, or `unknown`.
  std::int64_t count(const LocalNetwork<D>& network, const Polygon& cell) {
    if (!suits(network, cell)) return unknown;
    const Arena::Mark mark = arena_.mark();
    crossing_ = Lines<D>::take(most_rows, arena_);
    const std::int64_t regions = cut(network, cell) ? counted(network, Extent<Polygon>(cell)) : unknown;
    arena_.release(mark);
    return regions;
  }

  // Number of parts of the last counted cell.
  int parts() const { return part_count_; }

 private:
  // With 3 lines and 8 rows at most it takes 6% more instructions at 64x3. All kernels have the same limits, so that
  // they prove the same signs.
  static constexpr int most_lines = 6;
  static constexpr int most_rows = 16;
  static constexpr int most_corners = 12;
  static constexpr int most_parts = 1 + most_lines * (most_lines + 1) / 2;

  // A part of the cell, its corners counter-clockwise.
  struct Part {
    int count;
    int active;  // a bit for each line that the part is on the active side of
    const Vertex<D>* corners[most_corners + most_lines];

    void append(const Vertex<D>& corner) { corners[count++] = &corner; }
  };

  bool suits(const LocalNetwork<D>& network, const Polygon& cell) const {
    const int last = network_.last();
    if (!whole_) return false;  // rows may have lists of columns
    if (network.block_count != 2 || network.blocks[0].layer != last - 1 || network.frontier != last) return false;
    if (network.lines.count > most_lines || network.blocks[1].count > most_rows || cell.count > most_corners)
      return false;
    const Layer& below = network_.layers[std::size_t(last) - 1];
    const Layer& here = network_.layers[std::size_t(last)];
    return network.bounded && below.kinks == 1 && here.kinks == 1 && network.blocks[0].rows[0]->limbs == 1 &&
           network.blocks[1].rows[0]->limbs == 1;
  }

  // Cuts the cell along all lines; false where that is not proven.
  bool cut(const LocalNetwork<D>& network, const Polygon& cell) {
    const Lines<D>& lines = network.lines;
    const Layer& layer = network_.layers[std::size_t(network.blocks[0].layer)];
    made_ = 0;
    part_count_ = 1;
    parts_[0].count = parts_[0].active = 0;
    proven_ = 0;
    for (int i = 0; i < cell.count; ++i) parts_[0].append(*cell.vertices[i]);
    for (int line = 0; line < lines.count; ++line) {
      if (const int same = same_before(layer, network.blocks[0], lines, line); same >= 0) {
        follow(layer, network.blocks[0], lines, same, line);
        continue;
      }
      for (int part = part_count_ - 1; part >= 0; --part)
        if (!cut_part(lines, line, parts_[part])) return false;
    }
    return true;
  }

  // Every part is on the side of a line that follows from its side of the same line before.
  void follow(const Layer& layer, const Block<D>& block, const Lines<D>& lines, int before, int line) {
    const auto of = [&](int which) { return layer.same_line[std::size_t(kink_of(layer, block, lines, which))]; };
    const int opposite = of(before) != of(line);
    for (int part = 0; part < part_count_; ++part) {
      parts_[part].active |= ((parts_[part].active >> before & 1) ^ opposite) << line;
      proven_ += parts_[part].count;
    }
  }

  // Replaces the part by its active side, if it has both sides; appends the other side.
  bool cut_part(const Lines<D>& lines, int line, Part& part) {
    Value values[most_corners + most_lines];
    int positive = 0;
    for (int i = 0; i < part.count; ++i) {
      values[i] = line_value(lines, line, *part.corners[i]);
      if (!(std::fabs(values[i].value) > values[i].bound)) return false;
      positive += values[i].value > 0;
    }
    proven_ += part.count;
    if (positive > 0) part.active |= 1 << line;
    if (positive == 0 || positive == part.count) return true;
    if (part_count_ == most_parts) return false;  // impossible
    const Part whole = part;
    Part& other = parts_[part_count_++];
    other.active = whole.active & ~(1 << line);
    part.count = other.count = 0;
    int meetings = 0;
    for (int i = 0; i < whole.count; ++i) {
      const int next = i + 1 == whole.count ? 0 : i + 1;
      (values[i].value > 0 ? part : other).append(*whole.corners[i]);
      if ((values[i].value > 0) == (values[next].value > 0)) continue;
      const Share share = zero_between(values[i], values[next]);
      if (!share.usable() || ++meetings > 2) return false;
      Vertex<D>& corner = corners_[made_++];
      corner = placed_between(*whole.corners[i], *whole.corners[next], share);
      part.append(corner);
      other.append(corner);
    }
    return true;
  }

  std::int64_t counted(const LocalNetwork<D>& network, const Extent<Polygon>& extent) {
    const Block<D>& block = network.blocks[0];
    const Block<D>& above = network.blocks[1];
    const Layer& below = network_.layers[std::size_t(block.layer)];
    const Layer& here = network_.layers[std::size_t(above.layer)];
    // Contributions of the lines' units to the rows, on either side: one bound for all parts.
    residuals_.begin(network.residuals, network.frontier);
    const Row<D>* outputs[most_lines][2];
    for (int line = 0; line < network.lines.count; ++line) {
      const Row<D>& row = *block.rows[line];
      for (int piece = 0; piece < 2; ++piece) {
        const double slope = below.slope(row.unit, piece);
        const double intercept = below.intercept(row.unit, piece);
        outputs[line][piece] =
            slope != 0 || intercept != 0 ? affine_output(row, slope, intercept, arena_) : nullptr;
        if (outputs[line][piece] != nullptr) residuals_.decided(block.layer, row, *outputs[line][piece]);
      }
    }
    const AffineLanes<D> inherited = residuals_.below(above.layer);

    std::int64_t regions = 0;
    for (int p = 0; p < part_count_; ++p) {
      Part& part = parts_[p];
      folds_.clear();
      for (int line = 0; line < network.lines.count; ++line)
        if (const Row<D>* output = outputs[line][part.active >> line & 1]) folds_.push_back({line, output});
      double error = 0;
      for (int i = 0; i < part.count; ++i) error = at_least(error, part.corners[i]->error);
      crossing_.count = 0;
      for (int start = 0; start < above.count; start += rows_at_once)
        if (!find_crossing(above, start, here, inherited, extent, part, error)) return unknown;
      const std::int64_t found = arranged(part);
      if (found == unknown) return unknown;
      regions += found;
      proven_ += std::int64_t(part.count) * above.count;
    }
    signs_.counts.prove(1, proven_);
    return regions;
  }

  // Finds rows from `start` on, as many as fit a panel, that are zero inside a part; false if that is undecided for one.
  bool find_crossing(const Block<D>& above, int start, const Layer& here, const AffineLanes<D>& inherited,
                     const Extent<Polygon>& extent, const Part& part, double error) {
    const Row<D>* rows[rows_at_once];
    for (int r = 0; r < rows_at_once; ++r) rows[r] = above.rows[std::min(start + r, above.count - 1)];
    Panel<D> panel;
    panel.columns = 0;
    panel.listing = nullptr;
    panel.count = std::min(rows_at_once, above.count - start);
    read_affine_parts(rows, 1, panel);
    folding_.fold(
        panel, folds_, folds_.size(), false,
        [&](int column) { return side_by_side([&](int r) { return rows[r]->coefficients[column * rows_at_once]; }); },
        [](int, int) { return RowLanes{}; });
    set_errors(side_by_side([&](int r) { return here.norms[rows[r]->unit]; }), inherited, panel);
    const RowLanes kinks = side_by_side([&](int r) { return here.breakpoints_of(rows[r]->unit)[0]; });

    // As in set_margin and classify.
    RowLanes size = absolute(kinks);
    RowLanes rounded{};
    RowLanes steepness{};
    for (int k = 0; k <= D; ++k) {
      size += absolute(panel.value[k]) * extent.largest[k];
      rounded += panel.error[k] * extent.largest[k];
      if (k > 0) steepness += absolute(panel.value[k]) + panel.error[k];
    }
    const RowLanes margin = 1.01 * (rounded + unit_roundoff * ((D + 3) * size)) + room_for_underflow;
    steepness *= 1.01;
    const RowLanes bound = margin + steepness * error;
    panel.value[0] -= kinks;
    RowLanes low = values_at<D>(panel.value, part.corners[0]->position);
    RowLanes high = low;
    for (int i = 1; i < part.count; ++i) {
      const RowLanes at = values_at<D>(panel.value, part.corners[i]->position);
      low = at < low ? at : low;
      high = at > high ? at : high;
    }
    const RowMask decided = (low > bound) | (high < -bound);
    const RowMask both = (low < -bound) & (high > bound);
    for (int r = 0; r < panel.count; ++r) {
      if (decided[r]) continue;
      if (!both[r]) return false;
      if (!here.same_line.empty() && is_crossing_already(here, rows[r]->unit)) continue;
      const int line = crossing_.count++;
      crossing_.owners[line] = rows[r]->unit;
      for (int k = 0; k <= D; ++k) crossing_.value[k][line] = panel.value[k][r];
      crossing_.margin[line] = margin[r];
      crossing_.steepness[line] = steepness[r];
    }
    return true;
  }

  bool is_crossing_already(const Layer& here, int unit) const {
    return std::any_of(crossing_.owners, crossing_.owners + crossing_.count,
                       [&](int before) { return here.have_same_line(before, unit); });
  }

  std::int64_t arranged(Part& part) {
    if (crossing_.count < 2) return 1 + crossing_.count;
    Polygon cell{};
    cell.count = part.count;
    cell.vertices = part.corners;
    return arrangement_.count(crossing_, cell);
  }

  const Network& network_;
  Arena& arena_;
  Signs<Polygon>& signs_;
  const bool whole_;
  ResidualBounds<D> residuals_;
  Folding<D> folding_;
  Polygon::Arrangement arrangement_;
  Lines<D> crossing_{};          // the rows that are zero inside a part; their owners are units
  std::vector<Fold<D>> folds_;   // the lines' units folded into it
  Part parts_[most_parts];
  int part_count_ = 0;
  Vertex<D> corners_[2 * most_parts];  // made by the cuts, two by each
  int made_ = 0;
  std::int64_t proven_ = 0;  // signs
};

}  // namespace REGIONS_TARGET
}  // namespace regions
