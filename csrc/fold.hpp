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

// target += weight * source, `count` a multiple of eight.
inline void add_scaled(double* target, double weight, const double* source, int count) {
  for (int k = 0; k < count; k += 8) write_eight(target + k, read_eight(target + k) + read_eight(source + k) * weight);
}

template <int D>
void charge_rounding(Row<D>& row, std::size_t terms) {
  row.error = (row.error + row.size * ((double(terms) + 3) * 1.01 * unit_roundoff)) * (1 + 0x1p-20);
}

// Adds the units' shares to a row. Its size is the one from before, with the outputs' added to it.
template <int D>
void fold(Row<D>& row, const double* weights, const std::vector<Fold<D>>& folds, std::size_t count) {
  std::size_t used = 0;
  for (std::size_t f = 0; f < count; ++f) {
    const double weight = weights[folds[f].column];
    if (weight == 0) continue;
    ++used;
    const Row<D>& output = *folds[f].output;
    const double magnitude = floored_magnitude(weight);
    row.value += output.value * weight;
    row.error_and_size += output.error_and_size * magnitude;
    add_scaled(row.coefficients, weight, output.coefficients, padded(output.columns));
  }
  if (used > 0) charge_rounding(row, used);
}

// A register block of the matrix product: sixteen products to eight loads and four stores.
template <int D>
void add_four_to_four(Row<D>* rows, const double (*weights)[4], const Fold<D>* folds, int count) {
  double block[4][4];
  std::memcpy(block, weights, sizeof(block));
  const double* sources[4];
  for (int t = 0; t < 4; ++t) sources[t] = folds[t].output->coefficients;
  for (int k = 0; k < count; k += 8) {
    const Lanes8 terms[4] = {read_eight(sources[0] + k), read_eight(sources[1] + k), read_eight(sources[2] + k),
                             read_eight(sources[3] + k)};
    for (int r = 0; r < 4; ++r) {
      Lanes8 sum = read_eight(rows[r].coefficients + k);
      for (int t = 0; t < 4; ++t) sum += terms[t] * block[r][t];
      write_eight(rows[r].coefficients + k, sum);
    }
  }
}

// The same for four neighbouring rows of a layer's weights at once.
template <int D>
void fold_four_rows(Row<D>* rows, const double* weights, std::size_t stride, const std::vector<Fold<D>>& folds) {
  AffineLanes<D> value[4];
  DoubleLanes<D> error_and_size[4];
  for (std::size_t r = 0; r < 4; ++r) {
    value[r] = rows[r].value;
    error_and_size[r] = rows[r].error_and_size;
  }
  for (const Fold<D>& fold : folds) {
    const AffineLanes<D> more = fold.output->value;
    const DoubleLanes<D> more_error_and_size = fold.output->error_and_size;
    for (std::size_t r = 0; r < 4; ++r) {
      const double weight = weights[r * stride + std::size_t(fold.column)];
      value[r] += more * weight;
      error_and_size[r] += more_error_and_size * floored_magnitude(weight);
    }
  }
  for (std::size_t r = 0; r < 4; ++r) {
    rows[r].value = value[r];
    rows[r].error_and_size = error_and_size[r];
    charge_rounding(rows[r], folds.size());
  }
  for (std::size_t next = 0; next < folds.size();) {
    const Fold<D>* fold = &folds[next];
    const int columns = fold->output->columns;
    const bool four = next + 4 <= folds.size() && fold[1].output->columns == columns &&
                      fold[2].output->columns == columns && fold[3].output->columns == columns;
    if (columns > 0 && four) {
      double block[4][4];
      for (std::size_t r = 0; r < 4; ++r)
        for (std::size_t t = 0; t < 4; ++t) block[r][t] = weights[r * stride + std::size_t(fold[t].column)];
      add_four_to_four(rows, block, fold, padded(columns));
    } else if (columns > 0) {
      for (std::size_t r = 0; r < 4; ++r)
        add_scaled(rows[r].coefficients, weights[r * stride + std::size_t(fold->column)], fold->output->coefficients,
                   padded(columns));
    }
    next += four ? 4 : 1;
  }
}

}  // namespace REGIONS_TARGET
}  // namespace regions
