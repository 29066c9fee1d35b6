// SPDX-License-Identifier: MIT
// Which of a unit's branches can be the argmax on a cell, and how is a cell cut among them?
//
// A branch is the argmax where it is above all other branches of its unit. Only the upper envelope is a boundary; comparisons between
// other branches are not. While nothing below is undecided branches are affine, and a branch is removed if another one is above it at
// all corners, or equal at all of them with a lower number: signs of differences, decided like all signs. If two branches remain,
// their difference is a line like any other. If more remain, each gets the part of the cell that is left after clipping by its
// differences with the others: this is convex, and nothing has to be merged. Arms without a part, which are below two others
// together, are removed and the rest clipped again, so that each edge is named by the branches on its two sides. Two differences
// with different argmax branches cannot be zero along one edge, because one of the two would be above the other on all of that
// side. On an arc one branch may be the argmax in several parts: there the argmax is followed from its start (cells/arc.hpp).
// Rounding: the error of a difference of rows is at most the sum of their errors and the rounding of the subtraction
// (docs/error-bounds.md). Cost: branches x branches signs at the corners.
#pragma once

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "kernel/sign.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// The branch's number in its unit.
template <int D>
int arm_of(const Row<D>& arm) {
  return arm.lowest_piece;
}

// The pair of two branches of a unit.
template <int D>
PairOfArms pair_of(const Row<D>& one, const Row<D>& other) {
  return arm_of(one) < arm_of(other) ? PairOfArms{arm_of(one), arm_of(other)} : PairOfArms{arm_of(other), arm_of(one)};
}

// The affine form (later branch) - (earlier branch), as a row of the unit.
template <int D>
Row<D> difference_of(const Row<D>& one, const Row<D>& other) {
  const bool in_order = arm_of(one) < arm_of(other);
  const Row<D>& earlier = in_order ? one : other;
  const Row<D>& later = in_order ? other : one;
  Row<D> row{};
  row.unit = one.unit;
  row.limbs = one.limbs;
  row.value = later.value - earlier.value;
  row.size = later.size + earlier.size;
  row.error = (later.error + earlier.error + absolute(row.value) * unit_roundoff) * slack;
  return row;
}

// Returns whether a row is zero without any rounding, such as the difference of two neurons that are off.
template <int D>
bool is_surely_zero(const Row<D>& row) {
  bool zero = true;
  for (int k = 0; k <= D; ++k) zero = zero && row.value[k] == 0 && row.error[k] == 0;
  return zero;
}

template <class Cell>
class Envelope {
 public:
  static constexpr int D = Cell::dimension;

  Envelope(Signs<Cell>& signs, Exact& exact, Arena& arena) : signs_(signs), exact_(exact), arena_(arena) {}

  // Keeps a unit's affine branches that are not below another one on all of the cell. Calls note(pair) for each pair that was compared
  // and does not cross the cell, as after `side_over_cell`.
  template <class Note>
  void leave_winners(int layer, const Cell& cell, const Extent<Cell>& extent, std::vector<const Row<D>*>& arms, Note note) {
    for (std::size_t later = 1; later < arms.size(); ++later)
      for (std::size_t earlier = 0; earlier < later && arms[later] != nullptr; ++earlier) {
        if (arms[earlier] == nullptr) continue;
        const Side side = side_over_cell(layer, *arms[earlier], *arms[later], cell, extent);
        if (side != Side::crossing) note(pair_of(*arms[earlier], *arms[later]).number());
        if (side == Side::active) arms[earlier] = nullptr;
        if (side == Side::inactive) arms[later] = nullptr;
      }
    arms.erase(std::remove(arms.begin(), arms.end(), nullptr), arms.end());
  }

  // The side of the difference of two branches. If cells are touched, `Signs::zeros` are then the corners where they are equal, unless
  // the difference crosses the cell.
  Side side_over_cell(int layer, const Row<D>& one, const Row<D>& other, const Cell& cell, const Extent<Cell>& extent) {
    const Row<D> row = difference_of(one, other);
    const Side side = side_of(row, cell, extent);
    if (side == Side::uncertain) return signs_.over_cell(layer, row, pair_of(one, other).number(), cell);
    if constexpr (is_touched<Cell>) {
      signs_.zeros.resize(is_surely_zero(row) ? std::size_t(cell.count) : 0);
      std::iota(signs_.zeros.begin(), signs_.zeros.end(), 0);
    }
    return side;
  }

  // Appends the unit's pair of branches with the best score as a line; returns the score.
  double append_line(const std::vector<const Row<D>*>& arms, int owner, const Cell& cell, const AffineLanes<D>& largest,
                     Lines<D>& lines) {
    double best = -1;
    const int line = lines.count++;
    lines.owners[line] = owner;
    for (std::size_t later = 1; later < arms.size(); ++later)
      for (std::size_t earlier = 0; earlier < later; ++earlier) {
        const Row<D> row = difference_of(*arms[earlier], *arms[later]);
        double steepness = 0;
        for (int k = 1; k <= lines.dims; ++k) steepness += std::fabs(row.value[k]) + row.error[k];
        double least = INFINITY;
        double greatest = -INFINITY;
        for (int i = 0; i < cell.count; ++i) {
          double at = 0;
          for (int k = 0; k <= lines.dims; ++k) at += row.value[k] * cell.vertices[i]->position[k];
          least = std::min(least, at);
          greatest = std::max(greatest, at);
        }
        const double smaller = std::min(greatest, -least);
        const double score = smaller > 0 ? smaller / steepness : 0;
        // A difference beyond the doubles has no score: it is used if there is no other, to be decided exactly.
        if (best >= 0 && !(score > best)) continue;
        best = score > 0 ? score : 0;
        for (int k = 0; k <= lines.dims; ++k) lines.value[k][line] = row.value[k];
        lines.breakpoints[line] = pair_of(*arms[earlier], *arms[later]).number();
        set_margin(lines, line, row, 0.0, largest);
      }
    return best;
  }

  // Cuts the cell among branches of one unit, none of which is below another one everywhere.
  template <class Collector>
  void cut(const Network& network, int layer, const std::vector<const Row<D>*>& arms, const Cell& cell,
           Collector& collector, Cut<Cell>& result) {
    network_ = &network;
    layer_ = layer;
    winners_ = arms;
    collects_ = Collector::keeps;
    result.signs = nullptr;
    if constexpr (Cell::outer == 0) clip_all(cell, result);
    Cell::arrange(cell, *this, exact_, arena_, collector, result);
  }

  // ---- what a cell asks ----

  const std::vector<const Row<D>*>& all() const { return winners_; }

  static bool are_in_order(const Row<D>& one, const Row<D>& other) { return arm_of(one) < arm_of(other); }

  // The sign of the first one minus the second.
  int sign(const Row<D>& one, const Row<D>& other, const Vertex<D>& vertex) {
    return sign(difference_of(one, other), one, other, vertex);
  }

  // Returns whether the first one, which is not above the second at the ends of a curved cell, is above it between them.
  bool comes_above(const Row<D>& one, const Row<D>& other, const Cell& cell) {
    const Row<D> row = difference_of(one, other);
    return signs_.bulges(layer_, row, pair_of(one, other).number(), cell, are_in_order(one, other) ? -1 : 1);
  }

  const Facet<D>& facet(const Row<D>& one, const Row<D>& other) {
    Row<D>* row = arena_.template take<Row<D>>(1);
    *row = difference_of(one, other);
    Facet<D>* facet = arena_.template take<Facet<D>>(1);
    *facet = {network_->layers[std::size_t(layer_)].kink(one.unit, pair_of(one, other).number()), row, 0.0};
    return *facet;
  }

 private:
  // The side of a difference, as `classify` finds it for lines.
  Side side_of(const Row<D>& row, const Cell& cell, const Extent<Cell>& extent) {
    if (is_surely_zero(row)) return Side::inactive;
    double size = 0;
    double error = 0;
    double steepness = 0;
    for (int k = 0; k <= extent.dims; ++k) {
      size += std::fabs(row.value[k]) * extent.largest[k];
      error += row.error[k] * extent.largest[k];
      if (k > 0) steepness += std::fabs(row.value[k]) + row.error[k];
    }
    const double margin =
        1.01 * (error + unit_roundoff * ((extent.dims + 3) * size) + steepness * extent.error) + room_for_underflow;
    double least = INFINITY;
    double greatest = -INFINITY;
    bool both = false;
    for (int i = 0; i < cell.count; ++i) {
      double at = row.value[0] * cell.vertices[i]->position[0];
      for (int k = 1; k <= extent.dims; ++k) at += row.value[k] * cell.vertices[i]->position[k];
      least = std::min(least, at);
      greatest = std::max(greatest, at);
      if (i < cell.count - Cell::outer) both = least < -margin && greatest > margin;
    }
    const Side side = least > margin      ? Side::active
                      : greatest < -margin ? Side::inactive
                      : both               ? Side::crossing
                                           : Side::uncertain;
    if (side != Side::uncertain) signs_.counts.prove(row.limbs, cell.count);
    return side;
  }

  // The sign of the first one minus the second.
  int sign(const Row<D>& difference, const Row<D>& one, const Row<D>& other, const Vertex<D>& vertex) {
    const int sign = signs_.at_vertex(layer_, difference, pair_of(one, other).number(), 0.0, vertex);
    return are_in_order(one, other) ? -sign : sign;
  }

  // The children are the nonempty parts of the cell for each branch.
  void clip_all(const Cell& cell, Cut<Cell>& result) {
    while (!clip(cell)) winners_.erase(std::remove(winners_.begin(), winners_.end(), nullptr), winners_.end());
    const std::size_t count = winners_.size();
    if (count < 2) throw std::logic_error("a unit that is undecided has a single winner");
    result.take(int(count), arena_);
    result.count = int(count);
    result.winners = arena_.template take<const Row<D>*>(count);
    for (std::size_t child = 0; child < count; ++child) {
      result.children[child] = parts_[child];
      result.winners[child] = winners_[child];
      result.sides[child] = Side::active;
    }
  }

  // Computes the part of the cell for each branch; false if some are empty, which are then set to null.
  bool clip(const Cell& cell) {
    parts_.clear();
    bool all = true;
    const Cell whole = Cell::unclipped(cell, arena_);
    for (const Row<D>*& arm : winners_) {
      Cell part = whole;
      for (std::size_t other = 0; other < winners_.size() && part.count > 0; ++other)
        if (winners_[other] != arm && winners_[other] != nullptr) part = clip(part, *arm, *winners_[other], int(other));
      parts_.push_back(part);
      if (part.count > 0) continue;
      arm = nullptr;
      all = false;
    }
    return all;
  }

  Cell clip(const Cell& part, const Row<D>& arm, const Row<D>& other, int number) {
    const Facet<D>& facet = this->facet(arm, other);
    int* signs = arena_.template take<int>(std::size_t(part.count));
    for (int i = 0; i < part.count; ++i) signs[i] = sign(*facet.row, arm, other, *part.vertices[i]);
    if constexpr (is_touched<Cell>)
      return Cell::clip(part, facet, signs, collects_, exact_, arena_);
    else
      return Cell::clip(part, facet, signs, child_as_origin(number), exact_, arena_);
  }

  Signs<Cell>& signs_;
  Exact& exact_;
  Arena& arena_;
  const Network* network_ = nullptr;
  int layer_ = 0;
  bool collects_ = false;  // regions, with what touches them
  std::vector<const Row<D>*> winners_;
  std::vector<Cell> parts_;  // of the cell, one for each of them
};

}  // namespace REGIONS_TARGET
}  // namespace regions
