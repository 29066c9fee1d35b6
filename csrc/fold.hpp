// SPDX-License-Identifier: MIT
// How are decided units folded into the rows that read them?
//
// A row is an affine form plus weights times columns. A unit that is decided is an affine function of its own row, so
// its weight times that row is added: to the value, to the columns below, and by magnitudes to the error and the size.
// Sums have one order, term after term, whatever the blocking. Coefficients are padded to whole vectors with zeros.
// Rounding: n terms cost at most gamma_(n+2) times the sizes involved, lane by lane.
// Cost: terms x columns; bringing in a layer is a matrix product, done in register blocks of four rows by four terms.
#pragma once

#include <cstring>
#include <vector>

#include "rows.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// A decided unit, and where its weight stands in the coefficients that are being rewritten.
template <int D>
struct Fold {
  int column;
  const Row<D>* output;
};

inline Lanes8 read_eight(const double* address) {
  Lanes8 lanes;
  std::memcpy(&lanes, address, sizeof(lanes));
  return lanes;
}

inline void write_eight(double* address, Lanes8 lanes) { std::memcpy(address, &lanes, sizeof(lanes)); }

// targets[r] += sum over t of weights[r][t] * sources[t], `count` a multiple of eight: a register block of the matrix
// product, which loads and stores once for all of its products.
template <int Rows, int Terms>
void add_products(double* const* targets, const double (*weights)[Terms], const double* const* sources, int count) {
  double block[Rows][Terms];
  std::memcpy(block, weights, sizeof(block));  // a copy that the targets cannot be
  for (int k = 0; k < count; k += 8) {
    Lanes8 terms[Terms];
    for (int t = 0; t < Terms; ++t) terms[t] = read_eight(sources[t] + k);
    for (int r = 0; r < Rows; ++r) {
      Lanes8 sum = read_eight(targets[r] + k);
      for (int t = 0; t < Terms; ++t) sum += terms[t] * block[r][t];
      write_eight(targets[r] + k, sum);
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
  row.error = (row.error + row.size * ((double(terms) + 3) * 1.01 * unit_roundoff)) * (1 + 0x1p-20);
}

template <int D>
class Folding {
 public:
  // Adds the first `count` units' shares to a row. Its size is the one from before, with the outputs' added to it.
  void fold(Row<D>& row, const double* weights, const std::vector<Fold<D>>& folds, std::size_t count) {
    AffineLanes<D> value = row.value;
    DoubleLanes<D> error_and_size = row.error_and_size;
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
      error_and_size += output.error_and_size * floored_magnitude(weight);
    }
    if (used == 0) return;
    row.value = value;
    row.error_and_size = error_and_size;
    charge_rounding(row, used);
    if (any_columns) fold_columns<1>(&row.coefficients, weights_.data(), folds.data(), count);
  }

  // The same for four neighbouring rows of a layer's weights at once, and all units.
  void fold_four_rows(Row<D>* rows, const double* weights, std::size_t stride, const std::vector<Fold<D>>& folds) {
    gather(4 * folds.size());
    for (std::size_t f = 0; f < folds.size(); ++f)
      for (std::size_t r = 0; r < 4; ++r) weights_[f * 4 + r] = weights[r * stride + std::size_t(folds[f].column)];
    for (std::size_t i = 0; i < 4 * folds.size(); ++i) magnitudes_[i] = floored_magnitude(weights_[i]);
    AffineLanes<D> value[4];
    DoubleLanes<D> error_and_size[4];
    double* targets[4];
    for (std::size_t r = 0; r < 4; ++r) {
      value[r] = rows[r].value;
      error_and_size[r] = rows[r].error_and_size;
      targets[r] = rows[r].coefficients;
    }
    for (std::size_t f = 0; f < folds.size(); ++f) {
      const Row<D>& output = *folds[f].output;
      for (std::size_t r = 0; r < 4; ++r) {
        value[r] += output.value * weights_[f * 4 + r];
        error_and_size[r] += output.error_and_size * magnitudes_[f * 4 + r];
      }
    }
    for (std::size_t r = 0; r < 4; ++r) {
      rows[r].value = value[r];
      rows[r].error_and_size = error_and_size[r];
      charge_rounding(rows[r], folds.size());
    }
    fold_columns<4>(targets, weights_.data(), folds.data(), folds.size());
  }

 private:
  void gather(std::size_t count) {
    if (weights_.size() >= count) return;
    weights_.resize(count);
    magnitudes_.resize(count);
  }

  std::vector<double> weights_, magnitudes_;  // of the rows at hand, fold by fold
};

}  // namespace REGIONS_TARGET
}  // namespace regions
