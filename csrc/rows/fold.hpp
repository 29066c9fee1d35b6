// SPDX-License-Identifier: MIT
// How are decided units folded into the rows that read them?
//
// A row is an affine form plus weights times columns. A unit that is decided is an affine function of its own row, so
// its weight times that row is added: to the value, to the columns below, and by magnitudes to the size.
// Sums have one order, term after term, whatever the blocking.
// Rounding: n terms cost at most gamma_(n+2) times the sizes involved, lane by lane. What the units themselves are off
// by is not summed here: see residuals.hpp.
// Cost: terms x columns, a panel of rows at once. It is a matrix product, and for large cells most of the work, so a
// few columns' sums stay in registers over many terms.
#pragma once

#include <algorithm>
#include <vector>

#include "rows/doubled.hpp"
#include "rows/panel.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// A decided unit, and where its weight stands in the coefficients that are being rewritten.
template <int D>
struct Fold {
  int column;
  const Row<D>* output;
};

// A decided unit with columns, and the place of its weight.
template <int D>
struct FoldOfColumns {
  const Row<D>* output;
  std::size_t weight;
};

// sums[c] += weight * (column c of an output), over outputs, for so many columns from `first` on.
template <int Columns, int D>
void fold_columns(double* sums, const RowLanes* weights, const FoldOfColumns<D>* begin, const FoldOfColumns<D>* end,
                  int first) {
  RowLanes sum[Columns];
  for (int c = 0; c < Columns; ++c) sum[c] = load<RowLanes>(sums + c * rows_at_once);
  for (const FoldOfColumns<D>* fold = begin; fold < end; ++fold) {
    if (fold->output->columns <= first) continue;
    const double* source = fold->output->coefficients + first;
    const RowLanes weight = weights[fold->weight];
    for (int c = 0; c < Columns; ++c) sum[c] += weight * source[c];
  }
  for (int c = 0; c < Columns; ++c) store(sums + c * rows_at_once, sum[c]);
}

// Of sums of so many terms that are kept to twice the working precision, whose absolute values add up to `sizes`.
template <class Lanes>
Lanes rounding_of_doubled(Lanes sizes, double terms) {
  return sizes == 0 ? Lanes{} : sizes * doubled_rounding(terms) + room_for_underflow;
}

template <int D>
class Folding {
 public:
  using Folds = std::vector<Fold<D>>;

  // Adds the first `count` units' shares to a panel of rows; weight_of(column) is what they read a column with, and
  // low_weight_of(column) its lower parts, if `doubled_weights`. The sizes are those from before, with the outputs'
  // added to them.
  template <class WeightOf, class LowWeightOf>
  void fold(Panel<D>& panel, const Folds& folds, std::size_t count, bool doubled_weights, WeightOf weight_of,
            LowWeightOf low_weight_of) {
    if (count == 0) return;
    if (weights_.size() < count) weights_.resize(count);
    with_columns_.clear();
    RowLanes value[D + 1], size[D + 1];
    for (int k = 0; k <= D; ++k) {
      value[k] = panel.value[k];
      size[k] = panel.size[k];
    }
    RowLanes used{};
    for (std::size_t f = 0; f < count; ++f) {
      const RowLanes weight = weight_of(folds[f].column);
      weights_[f] = weight;
      const RowMask skipped = weight == 0;  // even if what it stands at is no number
      const RowLanes magnitude = floored_magnitudes(weight);
      used += skipped ? RowLanes{} : everywhere(1);
      const Row<D>& output = *folds[f].output;
      for (int k = 0; k <= D; ++k) {
        value[k] += skipped ? RowLanes{} : weight * output.value[k];
        size[k] += skipped ? RowLanes{} : magnitude * output.size[k];
      }
      if (output.columns > 0) with_columns_.push_back({&output, f});
    }
    for (int k = 0; k <= D; ++k) panel.size[k] = size[k];
    if (panel.low_coefficients != nullptr) {
      if (doubled_weights) {
        if (low_weights_.size() < count) low_weights_.resize(count);
        for (std::size_t f = 0; f < count; ++f) low_weights_[f] = low_weight_of(folds[f].column);
      }
      fold_doubled(panel, folds, count, doubled_weights, used);
      return;
    }
    const RowLanes charge = (used + 3) * (1.01 * unit_roundoff);
    for (int k = 0; k <= D; ++k) {
      panel.value[k] = value[k];
      panel.own[k] = used > 0 ? (panel.own[k] + size[k] * charge) * slack : panel.own[k];
    }
    if (with_columns_.empty()) return;
    // Outputs a few at a time: then they are read along their rows, and the panel's sums stay near by.
    for (std::size_t next = 0; next < with_columns_.size(); next += outputs_at_once) {
      const FoldOfColumns<D>* begin = with_columns_.data() + next;
      const FoldOfColumns<D>* end = with_columns_.data() + std::min(next + outputs_at_once, with_columns_.size());
      int column = 0;
      for (; column + columns_at_once <= panel.columns; column += columns_at_once)
        fold_columns<columns_at_once>(panel.coefficients + column * rows_at_once, weights_.data(), begin, end, column);
      for (; column < panel.columns; ++column)
        fold_columns<1>(panel.coefficients + column * rows_at_once, weights_.data(), begin, end, column);
    }
  }

 private:
  static constexpr int columns_at_once = 8;
  static constexpr std::size_t outputs_at_once = 32;

  // What is left to do for doubled rows: sums stay in registers over all units.
  void fold_doubled(Panel<D>& panel, const Folds& folds, std::size_t count, bool doubled_weights, RowLanes used) {
    Doubled<RowLanes> values[D + 1];
    for (int k = 0; k <= D; ++k) values[k] = {panel.value[k], panel.low[k]};
    for (std::size_t f = 0; f < count; ++f) {
      const Row<D>& output = *folds[f].output;
      for (int k = 0; k <= D; ++k) {
        values[k].low += output.low[k] * weights_[f];
        if (doubled_weights) values[k].low += output.value[k] * low_weights_[f];
        values[k].add_product(everywhere(output.value[k]), weights_[f]);
      }
    }
    for (int k = 0; k <= D; ++k) {
      const Doubled<RowLanes> value = values[k].normalized();
      panel.value[k] = value.high;
      panel.low[k] = value.low;
      const RowLanes charged = (panel.own[k] + rounding_of_doubled(panel.size[k], double(count))) * slack;
      panel.own[k] = used > 0 ? charged : panel.own[k];
    }
    for (int column = 0; column < panel.columns; ++column) {
      double* high = panel.coefficients + column * rows_at_once;
      double* low = panel.low_coefficients + column * rows_at_once;
      Doubled<RowLanes> sum{load<RowLanes>(high), load<RowLanes>(low)};
      for (const FoldOfColumns<D>& fold : with_columns_) {
        if (column >= fold.output->columns) continue;
        const double part = fold.output->coefficients[column];
        sum.low += fold.output->low_coefficients[column] * weights_[fold.weight];
        if (doubled_weights) sum.low += part * low_weights_[fold.weight];
        sum.add_product(everywhere(part), weights_[fold.weight]);
      }
      sum = sum.normalized();
      store(high, sum.high);
      store(low, sum.low);
    }
  }

  std::vector<RowLanes, AlignedAllocator<RowLanes>> weights_, low_weights_;  // of the rows at hand, fold by fold
  std::vector<FoldOfColumns<D>> with_columns_;
};

}  // namespace REGIONS_TARGET
}  // namespace regions
