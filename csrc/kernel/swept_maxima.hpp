// SPDX-License-Identifier: MIT
// Which of its two branches is each unit on, in a sweep over a cell (cell_sweep.hpp)?
//
// A unit has one row, (second branch) - (first branch), whose line is a boundary where both branches are known to be affine. Its
// output at a corner is the larger branch there, so each branch is evaluated, too.
// Branches often are ReLUs (max-pools), and many of these are off. Where both are, the difference is zero in all of a part.
// Where only one is, the difference is zero at some corners, on the line of the other ReLU. No sign of a number can prove this.
// But the parts tell which ReLUs of the layer below are on. If they prove that a unit has no line in a part, its row is *settled*
// there, and needs no signs. The proof is in docs/error-bounds.md, "The sweep over a cell".
// Cost: rows x columns for each corner, three times.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernel/swept_corners.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

struct SweptMaxima {
  static constexpr int D = Polygon::dimension;

  explicit SweptMaxima(const Network& network) : network_(network), never_negative_(network.layers.size()) {}

  // Reads number b of these layers, whose counts, rooms and first outputs are set.
  void read(const Block<D>& block, int b, SweptRows* blocks, const Extent<Polygon>& extent, Arena& arena) {
    SweptRows& rows = blocks[b];
    see_signs(block.layer);
    rows.take(arena);
    rows.several = false;
    rows.same = arena.take<std::uint64_t>(std::size_t(rows.count));
    rows.first_of_line = ~std::uint64_t{0};
    pairs_ = arena.take<Pair>(std::size_t(rows.count));
    maybe_settled_ = 0;
    const int inputs = 3 + rows.first_output;
    for (SweptForms& branch : branches_) {
      const std::size_t room = std::size_t(rows.room);
      double* memory = arena.take<double>(room * std::size_t(3 + inputs));
      std::fill_n(memory, room * std::size_t(3 + inputs), 0.0);
      branch = {rows.room, memory + 3 * room, memory, memory + room, memory + 2 * room};
    }
    for (int r = 0; r < rows.count; ++r) {
      const Row<D>& first = *block.rows[2 * r];
      const Row<D>& second = *block.rows[2 * r + 1];
      const SweptRows::Sizes of_first = SweptRows::write(branches_[0], r, first, 0, b, blocks, extent);
      const SweptRows::Sizes of_second = SweptRows::write(branches_[1], r, second, 0, b, blocks, extent);
      double steep = 0;
      double sum = 0;
      for (int k = 0; k < inputs; ++k) {
        const int place = k * rows.room + r;
        rows.forms[place] = branches_[1].forms[place] - branches_[0].forms[place];
        (k < 3 ? steep : sum) += k == 0 ? 0 : std::fabs(rows.forms[place]);
      }
      const double size = of_first.size + of_second.size;
      const double error = of_first.error + of_second.error;
      rows.rounding[r] =
          1.01 * (error + unit_roundoff * ((of_first.terms + of_second.terms + 16) * size)) + room_for_underflow;
      rows.steepness[r] = 1.01 * steep;
      rows.sums[r] = 1.01 * sum;
      rows.same[r] = std::uint64_t{1} << r;
      rows.slopes[0][r] = 1;  // the unit is never off
      pairs_[r] = {branch_of(block.layer, first, b, blocks), branch_of(block.layer, second, b, blocks)};
      if (pairs_[r].first.can_be_off || pairs_[r].second.can_be_off) maybe_settled_ |= rows.same[r];
    }
  }

  // The values of differences at all vertices; false if a part needs a sign that is not proven.
  __attribute__((noinline)) bool evaluate(SweptRows& rows, SweptCorners& corners, std::vector<SweptPart>& parts) const {
    rows.proven = std::int64_t(corners.vertex_count) * rows.count;
    for (int v = 0; v < corners.vertex_count; ++v) {
      SweptCorner& vertex = corners.vertices[std::size_t(v)];
      vertex.positive = vertex.zero = vertex.open = 0;
      for (int r = 0; r < rows.room; r += rows_at_once) {
        RowLanes value, bound;
        rows.evaluate(r, rows.first_output, vertex.x, vertex.y, corners.outputs_of(v), vertex.error, vertex.below, value, bound);
        store(corners.values_of(v) + r, value);
        store(corners.bounds_of(v) + r, bound);
        vertex.positive |= bits_of_rows_above(value, RowLanes{}) << r;
        const RowLanes size = absolute(value);
        vertex.open |= (corners.all_bits ^ (bits_of_rows_above(size, bound) & bits_of_rows_above(everywhere(INFINITY), size))) << r;
      }
    }
    for (SweptPart& part : parts) {
      part.settled = settled(part.on);
      for (int i = 0; i < part.count; ++i)
        if ((corners.vertices[part.corners[i]].open & ~part.settled) != 0) return false;
    }
    return true;
  }

  // The outputs at all vertices; false if one has overflowed.
  __attribute__((noinline)) bool set_outputs(const SweptRows& rows, SweptCorners& corners, std::vector<SweptPart>& parts) const {
    RowLanes total{};
    for (int v = 0; v < corners.vertex_count; ++v) {
      SweptCorner& vertex = corners.vertices[std::size_t(v)];
      RowLanes most{};
      for (int r = 0; r < rows.room; r += rows_at_once) {
        RowLanes values[2], bounds[2];
        for (int branch = 0; branch < 2; ++branch) {
          branches_[branch].evaluate(r, rows.first_output, vertex.x, vertex.y, corners.outputs_of(v), vertex.error, vertex.below,
                                      values[branch], bounds[branch]);
          most = bounds[branch] > most ? bounds[branch] : most;
          total += absolute(values[branch]) + bounds[branch];
        }
        store(corners.outputs_of(v) + rows.first_output + r, values[0] > values[1] ? values[0] : values[1]);
      }
      vertex.below = std::max(vertex.below, slack * corners.largest_of(most));
    }
    for (SweptPart& part : parts) part.settled = 0;
    return bits_of_rows_above(everywhere(INFINITY), total) == corners.all_bits;
  }

 private:
  // The rows that are settled in a part, where these rows of the layer below are positive somewhere.
  std::uint64_t settled(std::uint64_t on) const {
    std::uint64_t settled = 0;
    for (std::uint64_t left = maybe_settled_; left != 0; left &= left - 1) {
      const int r = __builtin_ctzll(left);
      const auto& [first, second] = pairs_[r];
      if (first.is_off(on) ? second.is_off(on) || second.never_negative : second.is_off(on) && first.never_negative)
        settled |= std::uint64_t{1} << r;
    }
    return settled;
  }

  struct Branch {
    bool can_be_off;      // whether it is exactly zero where none of the rows that it reads is positive
    bool never_negative;
    std::uint64_t reads;  // rows of the layer below

    bool is_off(std::uint64_t on) const { return can_be_off && (reads & on) == 0; }
  };
  struct Pair {
    Branch first, second;
  };

  // Only branches that are sums of outputs of the layer just below, without rounding, are known to be zero.
  Branch branch_of(int layer, const Row<D>& row, int b, const SweptRows* blocks) const {
    const int number = network_.layers[std::size_t(layer)].row_of(row.unit, row.lowest_piece);
    Branch branch{true, never_negative_[std::size_t(layer)][std::size_t(number)], 0};
    for (int k = 0; k <= D; ++k) branch.can_be_off = branch.can_be_off && row.value[k] == 0 && row.error[k] == 0;
    SweptRows::for_each_term(row, b, blocks, [&](const SweptRows& below, int unit, double coefficient) {
      if (coefficient == 0) return;
      branch.can_be_off = branch.can_be_off && &below == &blocks[b - 1] && below.is_zero_when_off(unit);
      if (branch.can_be_off) branch.reads |= below.rows_of_unit(unit);
    });
    return branch;
  }

  // Finds which branches are never negative, because they are sums of ReLUs with positive weights.
  void see_signs(int index) {
    std::vector<bool>& result = never_negative_[std::size_t(index)];
    if (!result.empty()) return;
    const Layer& layer = network_.layers[std::size_t(index)];
    const Layer& below = network_.layers[std::size_t(index) - 1];
    TermRoom room;
    for (int row = 0; row < layer.rows(); ++row) {
      bool never_negative = layer.biases[row] >= 0;
      const Terms terms = layer.weights.terms(row, room);
      for (int term = 0; term < terms.count && never_negative; ++term)
        never_negative = terms.weights[term] == 0 || (terms.weights[term] > 0 && is_relu(below, terms.source(term)));
      result.push_back(never_negative);
    }
  }

  static bool is_relu(const Layer& layer, int unit) {
    return layer.kinks == 1 && unit < layer.own && layer.breakpoints_of(unit)[0] == 0 && layer.slope(unit, 0) == 0 &&
           layer.slope(unit, 1) >= 0 && layer.intercept(unit, 0) == 0 && layer.intercept(unit, 1) == 0;
  }

  const Network& network_;
  std::vector<std::vector<bool>> never_negative_;  // of each layer that was met, by rows
  SweptForms branches_[2];                         // of the current layer
  Pair* pairs_ = nullptr;                          // [rows]
  std::uint64_t maybe_settled_ = 0;
};

}  // namespace REGIONS_TARGET
}  // namespace regions
