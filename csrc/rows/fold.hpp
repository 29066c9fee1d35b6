// SPDX-License-Identifier: MIT
// How are decided units folded into the rows that read them?
//
// A row is an affine form plus weights times columns. A decided unit is an affine function of its own row, so
// its weight times that row is added: to the value, to the columns below, and by magnitudes to the size.
// Sums have one order, term after term, for any blocking.
// Rounding: n terms cost at most gamma_(n+2) times the sizes involved, lane by lane. Errors of the units themselves
// are not summed here: see residuals.hpp.
// Cost: terms x columns, a panel of rows at once. It is a matrix product, and for large cells most of the work, so a
// few columns' sums stay in registers over many terms.
#pragma once

#include <algorithm>
#include <cassert>
#include <vector>

#include "rows/limbs.hpp"
#include "rows/panel.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// A decided unit, and the position of its weight in the coefficients that are being rewritten.
template <int D>
struct Fold {
  int column;
  const Row<D>* output;
};

// A decided unit with columns, its coefficients, and the position of its weight.
template <int D>
struct FoldOfColumns {
  const Row<D>* output;
  const double* coefficients;
  std::size_t weight;
};

// sums[c] += weight * (column c of an output), over outputs, for `Columns` columns from `first` on.
template <int Columns, int D>
void fold_columns(double* sums, const RowLanes* weights, const FoldOfColumns<D>* begin, const FoldOfColumns<D>* end,
                  int first) {
  RowLanes sum[Columns];
  for (int c = 0; c < Columns; ++c) sum[c] = load<RowLanes>(sums + c * rows_at_once);
  for (const FoldOfColumns<D>* fold = begin; fold < end; ++fold) {
    if (fold->output->columns <= first) continue;
    const double* source = fold->coefficients + first;
    const RowLanes weight = weights[fold->weight];
    for (int c = 0; c < Columns; ++c) sum[c] += weight * source[c];
  }
  for (int c = 0; c < Columns; ++c) store(sums + c * rows_at_once, sum[c]);
}

// The same for outputs with listed columns. Outputs begin .. end list the same columns. The sums of `Columns` of these, from
// entry `first` on, are at the given places.
template <int Columns, int D>
void fold_columns(double* sums, const int* places, const RowLanes* weights, const FoldOfColumns<D>* begin,
                  const FoldOfColumns<D>* end, int first) {
  RowLanes sum[Columns];
  for (int c = 0; c < Columns; ++c) sum[c] = load<RowLanes>(sums + places[c] * rows_at_once);
  for (const FoldOfColumns<D>* fold = begin; fold < end; ++fold) {
    const double* source = fold->coefficients + first;
    const RowLanes weight = weights[fold->weight];
    for (int c = 0; c < Columns; ++c) sum[c] += weight * source[c];
  }
  for (int c = 0; c < Columns; ++c) store(sums + places[c] * rows_at_once, sum[c]);
}

// Consecutive outputs with the same columns.
template <int D>
const FoldOfColumns<D>* end_of_group(const FoldOfColumns<D>* begin, const FoldOfColumns<D>* end) {
  const FoldOfColumns<D>* next = begin + 1;
  while (next < end && next->output->list == begin->output->list && next->output->columns == begin->output->columns)
    ++next;
  return next;
}

template <int D>
class Folding {
 public:
  using Folds = std::vector<Fold<D>>;

  // Adds the first `count` units' contributions to a panel of rows; weight_of(column) is their weight of a column, and
  // low_weight_of(column, m) the limbs after the first, if `long_weights`. The sizes are those from before, with the
  // outputs' added to them. `same`: the folds and the panel's listing are unchanged since the last call.
  template <class WeightOf, class LowWeightOf>
  void fold(Panel<D>& panel, const Folds& folds, std::size_t count, bool long_weights, WeightOf weight_of,
            LowWeightOf low_weight_of, bool same = false) {
    if (count == 0) return;
    if (weights_.size() < count) weights_.resize(count);
    if (!same) with_columns_.clear();
    RowLanes value[D + 1], size[D + 1];
    for (int k = 0; k <= panel.dims; ++k) {
      value[k] = panel.value[k];
      size[k] = panel.size[k];
    }
    RowLanes used{};
    for (std::size_t f = 0; f < count; ++f) {
      const RowLanes weight = weight_of(folds[f].column);
      weights_[f] = weight;
      const RowMask skipped = weight == 0;  // even if its factor is NaN
      const RowLanes magnitude = floored_magnitudes(weight);
      used += skipped ? RowLanes{} : everywhere(1);
      const Row<D>& output = *folds[f].output;
      for (int k = 0; k <= panel.dims; ++k) {
        value[k] += skipped ? RowLanes{} : weight * output.value[k];
        size[k] += skipped ? RowLanes{} : magnitude * output.size[k];
      }
      if (!same && output.columns > 0) with_columns_.push_back({&output, output.coefficients, f});
    }
    if (!same && panel.listing != nullptr) see_groups(panel.listing->places);
    for (int k = 0; k <= panel.dims; ++k) panel.size[k] = size[k];
    if (panel.limbs > 1) {
      with_limbs(panel.limbs, [&](auto limbs) {
        constexpr int K = limbs();
        if (!long_weights) {
          fold_limbs<K, 1>(panel, folds, count, used);
          return;
        }
        if (low_weights_.size() < count * (K - 1)) low_weights_.resize(count * (K - 1));
        for (std::size_t f = 0; f < count; ++f)
          for (int m = 0; m + 1 < K; ++m) low_weights_[f * (K - 1) + std::size_t(m)] = low_weight_of(folds[f].column, m);
        fold_limbs<K, K>(panel, folds, count, used);
      });
      return;
    }
    const RowLanes charge = (used + 3) * (1.01 * unit_roundoff);
    for (int k = 0; k <= panel.dims; ++k) {
      panel.value[k] = value[k];
      panel.own[k] = used > 0 ? (panel.own[k] + size[k] * charge) * slack : panel.own[k];
    }
    if (with_columns_.empty()) return;
    if (panel.listing != nullptr) return fold_listed(panel);
    // A few outputs at a time: then they are read along their rows, and the panel's sums stay in the cache.
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

  // Consecutive outputs with the same columns; the positions of their sums begin at this one of `places_`.
  struct Group {
    const FoldOfColumns<D>* begin;
    const FoldOfColumns<D>* end;
    std::size_t places;
  };

  __attribute__((noinline)) void see_groups(const int* places) {
    groups_.clear();
    places_.clear();
    const FoldOfColumns<D>* const end = with_columns_.data() + with_columns_.size();
    for (const FoldOfColumns<D>* begin = with_columns_.data(); begin < end; begin = groups_.back().end) {
      groups_.push_back({begin, end_of_group(begin, end), places_.size()});
      const Row<D>& output = *begin->output;
      for (int c = 0; c < output.columns; ++c)
        places_.push_back(places[output.list == nullptr ? c : output.list->columns[c]]);
    }
  }

  __attribute__((noinline)) void fold_listed(Panel<D>& panel) {
    for_each_group([&](auto several, const FoldOfColumns<D>* begin, const FoldOfColumns<D>* end, const int* at, int first) {
      fold_columns<several()>(panel.coefficients, at, weights_.data(), begin, end, first);
    });
  }

  // Calls work(number of columns, outputs from, to, positions of their sums, first of these columns in the outputs), if columns
  // are listed.
  template <class Work>
  void for_each_group(Work work) {
    for (const Group& group : groups_) {
      const int columns = group.begin->output->columns;
      const int* const places = places_.data() + group.places;
      int column = 0;
      for (; column + columns_at_once <= columns; column += columns_at_once)
        work(std::integral_constant<int, columns_at_once>(), group.begin, group.end, places + column, column);
      for (; column + 2 <= columns; column += 2)
        work(std::integral_constant<int, 2>(), group.begin, group.end, places + column, column);
      for (; column < columns; ++column)
        work(std::integral_constant<int, 1>(), group.begin, group.end, places + column, column);
    }
  }

  // The rest for rows of several limbs: sums stay in registers over all units. Outputs have as many limbs, or
  // more, because they are of lower layers.
  template <int K, int factor_limbs>
  void fold_limbs(Panel<D>& panel, const Folds& folds, std::size_t count, RowLanes used) {
    const auto factor_of = [&](std::size_t fold) {
      return [this, fold](int m) {
        return m == 0 ? weights_[fold] : low_weights_[fold * (K - 1) + std::size_t(m - 1)];
      };
    };
    Limbs<K, RowLanes> values[D + 1];
    for (int k = 0; k <= panel.dims; ++k) {
      values[k].limb[0] = panel.value[k];
      for (int m = 1; m < K; ++m) values[k].limb[m] = panel.low[m - 1][k];
    }
    for (std::size_t f = 0; f < count; ++f) {
      const Row<D>& output = *folds[f].output;
      assert(output.limbs >= K);
      for (int k = 0; k <= panel.dims; ++k)
        values[k].template add_products<factor_limbs>(
            [&](int m) { return everywhere(m == 0 ? output.value[k] : output.low[m - 1][k]); }, factor_of(f));
    }
    for (int k = 0; k <= panel.dims; ++k) {
      const Limbs<K, RowLanes> value = values[k].normalized();
      panel.value[k] = value.limb[0];
      for (int m = 1; m < K; ++m) panel.low[m - 1][k] = value.limb[m];
      const RowLanes charged = (panel.own[k] + charge_of_limbs(panel.size[k], K, double(count))) * slack;
      panel.own[k] = used > 0 ? charged : panel.own[k];
    }
    constexpr int several = K == 2 ? 4 : 2;  // independent sums, to hide latency
    if (panel.listing != nullptr) {
      for_each_group([&](auto columns, const FoldOfColumns<D>* begin, const FoldOfColumns<D>* end, const int* at, int first) {
        constexpr int at_once = columns() < several ? columns() : several;
        for (int c = 0; c < columns(); c += at_once)
          fold_limbs_of_places<at_once, K, factor_limbs>(panel, at + c, begin, end, first + c, factor_of);
      });
      for (int c = 0; c < panel.columns; ++c) normalize_column<K>(panel, c);
      return;
    }
    int column = 0;
    for (; column + several <= panel.columns; column += several)
      fold_limbs_of_columns<several, K, factor_limbs>(panel, column, factor_of);
    for (; column < panel.columns; ++column) fold_limbs_of_columns<1, K, factor_limbs>(panel, column, factor_of);
  }

  template <int Columns, int K, int factor_limbs, class FactorOf>
  static void fold_limbs_of_places(Panel<D>& panel, const int* places, const FoldOfColumns<D>* begin,
                                   const FoldOfColumns<D>* end, int first, FactorOf factor_of) {
    Limbs<K, RowLanes> sums[Columns];
    for (int c = 0; c < Columns; ++c)
      for (int m = 0; m < K; ++m) sums[c].limb[m] = load<RowLanes>(limb_of_column(panel, m, places[c]));
    const int room = padded(begin->output->columns);
    for (const FoldOfColumns<D>* fold = begin; fold < end; ++fold) {
      const double* source = fold->coefficients + first;
      const double* lows = fold->output->low_coefficients + first;
      const auto factor = factor_of(fold->weight);
      for (int c = 0; c < Columns; ++c)
        sums[c].template add_products<factor_limbs>(
            [&](int m) { return everywhere(m == 0 ? source[c] : lows[(m - 1) * room + c]); }, factor);
    }
    for (int c = 0; c < Columns; ++c)
      for (int m = 0; m < K; ++m) store(limb_of_column(panel, m, places[c]), sums[c].limb[m]);
  }

  template <int K>
  static void normalize_column(Panel<D>& panel, int column) {
    Limbs<K, RowLanes> sum;
    for (int m = 0; m < K; ++m) sum.limb[m] = load<RowLanes>(limb_of_column(panel, m, column));
    sum = sum.normalized();
    for (int m = 0; m < K; ++m) store(limb_of_column(panel, m, column), sum.limb[m]);
  }

  static double* limb_of_column(Panel<D>& panel, int limb, int column) {
    return limb == 0 ? panel.coefficients + column * rows_at_once
                     : panel.low_coefficients + ((limb - 1) * panel.columns + column) * rows_at_once;
  }

  template <int Columns, int K, int factor_limbs, class FactorOf>
  void fold_limbs_of_columns(Panel<D>& panel, int column, FactorOf factor_of) {
    double* limbs[K];
    limbs[0] = panel.coefficients + column * rows_at_once;
    for (int m = 1; m < K; ++m)
      limbs[m] = panel.low_coefficients + ((m - 1) * panel.columns + column) * rows_at_once;
    Limbs<K, RowLanes> sums[Columns];
    for (int c = 0; c < Columns; ++c)
      for (int m = 0; m < K; ++m) sums[c].limb[m] = load<RowLanes>(limbs[m] + c * rows_at_once);
    for (const FoldOfColumns<D>& fold : with_columns_) {
      if (column >= fold.output->columns) continue;
      const double* source = fold.output->coefficients + column;
      const double* lows = fold.output->low_coefficients + column;
      const int room = padded(fold.output->columns);
      const auto factor = factor_of(fold.weight);
      for (int c = 0; c < Columns; ++c)
        sums[c].template add_products<factor_limbs>(
            [&](int m) { return everywhere(m == 0 ? source[c] : lows[(m - 1) * room + c]); }, factor);
    }
    for (int c = 0; c < Columns; ++c) {
      const Limbs<K, RowLanes> sum = sums[c].normalized();
      for (int m = 0; m < K; ++m) store(limbs[m] + c * rows_at_once, sum.limb[m]);
    }
  }

  std::vector<RowLanes, AlignedAllocator<RowLanes>> weights_, low_weights_;  // of the current rows, fold by fold
  std::vector<FoldOfColumns<D>> with_columns_;
  std::vector<Group> groups_;  // if columns are listed
  std::vector<int> places_;    // of the sums of all groups' columns
};

}  // namespace REGIONS_TARGET
}  // namespace regions
