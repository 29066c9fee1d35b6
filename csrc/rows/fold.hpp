// SPDX-License-Identifier: MIT
// How are decided units folded into the rows that read them?
//
// A row is an affine form plus weights times columns. A unit that is decided is an affine function of its own row, so
// its weight times that row is added: to the value, to the columns below, and by magnitudes to the size.
// Sums have one order, term after term, whatever the blocking. Coefficients are padded to whole vectors with zeros.
// Rounding: n terms cost at most gamma_(n+2) times the sizes involved, lane by lane. What the units themselves are off
// by is not summed here: see residuals.hpp.
// Cost: terms x columns; bringing in a layer is a matrix product, done in register blocks of four rows by four terms.
#pragma once

#include <cstring>
#include <vector>

#include "rows/doubled.hpp"
#include "rows/rows.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// A decided unit, and where its weight stands in the coefficients that are being rewritten.
template <int D>
struct Fold {
  int column;
  const Row<D>* output;
};

// targets[r] += sum over t of weights[r][t] * sources[t], `count` a multiple of eight: a register block of the matrix
// product, which loads and stores once for all of its products.
template <int Rows, int Terms>
void add_products(double* const* targets, const double (*weights)[Terms], const double* const* sources, int count) {
  double block[Rows][Terms];
  std::memcpy(block, weights, sizeof(block));  // a copy that the targets cannot be
  for (int k = 0; k < count; k += 8) {
    Lanes8 terms[Terms];
    for (int t = 0; t < Terms; ++t) terms[t] = load<Lanes8>(sources[t] + k);
    for (int r = 0; r < Rows; ++r) {
      Lanes8 sum = load<Lanes8>(targets[r] + k);
      for (int t = 0; t < Terms; ++t) sum += terms[t] * block[r][t];
      store(targets[r] + k, sum);
    }
  }
}

// The columns' part of folding: `weights[f * Rows + r]` is what row r reads fold f with.
template <int Rows, int D>
void fold_columns(double* const* targets, const double* weights, const Fold<D>* folds, std::size_t count) {
  for (std::size_t next = 0; next < count;) {
    const Fold<D>* fold = folds + next;
    const int columns = fold->output->columns;
    const bool four = next + 4 <= count && fold[1].output->columns == columns && fold[2].output->columns == columns &&
                      fold[3].output->columns == columns;
    if (columns > 0 && four) {
      double block[Rows][4];
      const double* sources[4];
      for (std::size_t t = 0; t < 4; ++t) {
        sources[t] = fold[t].output->coefficients;
        for (std::size_t r = 0; r < Rows; ++r) block[r][t] = weights[(next + t) * Rows + r];
      }
      add_products<Rows, 4>(targets, block, sources, padded(columns));
    } else if (columns > 0) {
      double block[Rows][1];
      for (std::size_t r = 0; r < Rows; ++r) block[r][0] = weights[next * Rows + r];
      add_products<Rows, 1>(targets, block, &fold->output->coefficients, padded(columns));
    }
    next += four ? 4 : 1;
  }
}

template <int D>
void charge_rounding(Row<D>& row, std::size_t terms) {
  row.own = (row.own + row.size * ((double(terms) + 3) * 1.01 * unit_roundoff)) * slack;
}

// Of sums of so many terms that are kept to twice the working precision, whose absolute values add up to `sizes`.
template <class Lanes>
Lanes rounding_of_doubled(Lanes sizes, double terms) {
  return sizes == 0 ? Lanes{} : sizes * doubled_rounding(terms) + room_for_underflow;
}

// The same as fold_columns, for rows that are kept to twice the working precision: sums stay in registers over all
// units.
template <int Rows, int D>
void fold_doubled_columns(Row<D>* rows, const double* weights, const double* low_weights, const Fold<D>* folds,
                          std::size_t count) {
  for (int k = 0; k < rows[0].columns; k += 8) {
    Doubled<Lanes8> sums[Rows];
    for (int r = 0; r < Rows; ++r)
      sums[r] = {load<Lanes8>(rows[r].coefficients + k), load<Lanes8>(rows[r].low_coefficients + k)};
    for (std::size_t f = 0; f < count; ++f) {
      const Row<D>& output = *folds[f].output;
      if (k >= output.columns) continue;
      const Lanes8 high = load<Lanes8>(output.coefficients + k);
      const Lanes8 low = load<Lanes8>(output.low_coefficients + k);
      for (std::size_t r = 0; r < Rows; ++r) {
        const double weight = weights[f * Rows + r];
        sums[r].low += low * weight;
        if (low_weights != nullptr) sums[r].low += high * low_weights[f * Rows + r];
        sums[r].add_product(high, Lanes8{} + weight);
      }
    }
    for (int r = 0; r < Rows; ++r) {
      const Doubled<Lanes8> sum = sums[r].normalized();
      store(rows[r].coefficients + k, sum.high);
      store(rows[r].low_coefficients + k, sum.low);
    }
  }
}

template <int D>
class Folding {
 public:
  // Adds the first `count` units' shares to a row. Its size is the one from before, with the outputs' added to it.
  // Lower parts of the weights are null if there are none.
  void fold(Row<D>& row, const double* weights, const double* low_weights, const std::vector<Fold<D>>& folds,
            std::size_t count) {
    AffineLanes<D> value = row.value;
    AffineLanes<D> size = row.size;
    gather(count);
    std::size_t used = 0;
    bool any_columns = false;
    for (std::size_t f = 0; f < count; ++f) {
      const double weight = weights[folds[f].column];
      weights_[f] = weight;
      if (weight == 0) continue;
      ++used;
      const Row<D>& output = *folds[f].output;
      any_columns = any_columns || output.columns > 0;
      value += output.value * weight;
      size += output.size * floored_magnitude(weight);
    }
    if (used == 0) return;
    row.size = size;
    if (row.low_coefficients != nullptr) {
      fold_doubled<1>(&row, low_weights, folds, count, used);
      return;
    }
    row.value = value;
    charge_rounding(row, used);
    if (any_columns) fold_columns<1>(&row.coefficients, weights_.data(), folds.data(), count);
  }

  // The same for four rows of a layer's weights at once, and all units.
  void fold_four_rows(Row<D>* rows, const double* const* weights, const std::vector<Fold<D>>& folds) {
    gather(4 * folds.size());
    for (std::size_t f = 0; f < folds.size(); ++f)
      for (std::size_t r = 0; r < 4; ++r) weights_[f * 4 + r] = weights[r][folds[f].column];
    for (std::size_t i = 0; i < 4 * folds.size(); ++i) magnitudes_[i] = floored_magnitude(weights_[i]);
    AffineLanes<D> value[4];
    AffineLanes<D> size[4];
    double* targets[4];
    for (std::size_t r = 0; r < 4; ++r) {
      value[r] = rows[r].value;
      size[r] = rows[r].size;
      targets[r] = rows[r].coefficients;
    }
    for (std::size_t f = 0; f < folds.size(); ++f) {
      const Row<D>& output = *folds[f].output;
      for (std::size_t r = 0; r < 4; ++r) {
        value[r] += output.value * weights_[f * 4 + r];
        size[r] += output.size * magnitudes_[f * 4 + r];
      }
    }
    for (std::size_t r = 0; r < 4; ++r) rows[r].size = size[r];
    if (rows[0].low_coefficients != nullptr) {
      fold_doubled<4>(rows, nullptr, folds, folds.size(), folds.size());
      return;
    }
    for (std::size_t r = 0; r < 4; ++r) {
      rows[r].value = value[r];
      charge_rounding(rows[r], folds.size());
    }
    fold_columns<4>(targets, weights_.data(), folds.data(), folds.size());
  }

 private:
  // What is left to do for doubled rows, whose weights' higher parts have been gathered.
  template <int Rows>
  void fold_doubled(Row<D>* rows, const double* low_weights, const std::vector<Fold<D>>& folds, std::size_t count,
                    std::size_t used) {
    if (low_weights != nullptr)
      for (std::size_t f = 0; f < count; ++f) low_weights_[f] = low_weights[folds[f].column];
    Doubled<AffineLanes<D>> values[Rows];
    for (int r = 0; r < Rows; ++r) values[r] = {rows[r].value, rows[r].low};
    bool any_columns = false;
    for (std::size_t f = 0; f < count; ++f) {
      const Row<D>& output = *folds[f].output;
      any_columns = any_columns || output.columns > 0;
      for (std::size_t r = 0; r < Rows; ++r) {
        const double weight = weights_[f * Rows + r];
        values[r].low += output.low * weight;
        if (low_weights != nullptr) values[r].low += output.value * low_weights_[f];
        values[r].add_product(output.value, AffineLanes<D>{} + weight);
      }
    }
    for (int r = 0; r < Rows; ++r) {
      const Doubled<AffineLanes<D>> value = values[r].normalized();
      rows[r].value = value.high;
      rows[r].low = value.low;
      rows[r].own = (rows[r].own + rounding_of_doubled(rows[r].size, double(used))) * slack;
    }
    if (any_columns)
      fold_doubled_columns<Rows>(rows, weights_.data(), low_weights == nullptr ? nullptr : low_weights_.data(),
                                 folds.data(), count);
  }

  void gather(std::size_t count) {
    if (weights_.size() >= count) return;
    weights_.resize(count);
    low_weights_.resize(count);
    magnitudes_.resize(count);
  }

  std::vector<double> weights_, low_weights_, magnitudes_;  // of the rows at hand, fold by fold
};

}  // namespace REGIONS_TARGET
}  // namespace regions
