// SPDX-License-Identifier: MIT
// What does a unit that is on one piece contribute?
//
// Bits of the activation pattern, and slope * pre-activation + intercept to the rows that read it.
#pragma once

#include <algorithm>

#include "memory/arena.hpp"
#include "rows/fold.hpp"
#include "rows/rows.hpp"
#include "task/network.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

inline void write_bit(std::int64_t bit, bool value, std::uint8_t* bits) {
  const std::uint8_t mask = std::uint8_t(1u << (bit % 8));
  bits[bit / 8] = std::uint8_t(value ? bits[bit / 8] | mask : bits[bit / 8] & ~mask);
}

// Bit k is set where the pre-activation is above kink k; for units with branches, the bit of a pair where its second branch is the
// argmax. A later decision on the unit overwrites an earlier one.
inline void write_pattern(const Layer& layer, int unit, int piece, std::uint8_t* pattern) {
  const auto write = [&](int kink, bool value) { write_bit(layer.kink(unit, kink), value, pattern); };
  for (int kink = 0; kink < layer.kinks; ++kink) write(kink, kink < piece);
  if (!layer.has_maxima() || unit >= layer.own) return;
  const int arms = layer.arms[unit + 1] - layer.arms[unit];
  for (int arm = 1; arm < arms; ++arm)
    for (int lower = 0; lower < arm; ++lower) write(PairOfArms{lower, arm}.number(), arm == piece);
}

// An output's coefficients, in all limbs, times a factor.
template <int K, int D>
void scale_limbs(Row<D>& output, double factor) {
  const int room = padded(output.columns);
  for (int k = 0; k < room; k += 8) {
    Limbs<K, Lanes8> product{};
    product.template add_products<1>(
        [&](int m) { return load<Lanes8>((m == 0 ? output.coefficients : output.low_coefficients + (m - 1) * room) + k); },
        [&](int) { return Lanes8{} + factor; });
    product = product.normalized();
    store(output.coefficients + k, product.limb[0]);
    for (int m = 1; m < K; ++m) store(output.low_coefficients + (m - 1) * room + k, product.limb[m]);
  }
}

// One lane of a panel's coefficients, or of `limbs` limbs of them, as the coefficients of an output.
inline double* one_after_the_other(const double* coefficients, int columns, int limbs, Arena& arena) {
  const int room = padded(columns);
  double* result = arena.take<double>(std::size_t(room) * std::size_t(limbs));
  for (int m = 0; m < limbs; ++m, coefficients += columns * rows_at_once)
    for (int k = 0; k < room; ++k) result[m * room + k] = k < columns ? coefficients[k * rows_at_once] : 0;
  return result;
}

// An output, with everything that it points to except its list.
template <int D>
Row<D>* copy_of_output(const Row<D>& output, Arena& arena) {
  Row<D>* row = arena.copy(&output, 1);
  const std::size_t room = std::size_t(padded(output.columns));
  const std::size_t more = std::size_t(output.limbs - 1);
  if (more > 0) row->low = arena.copy(output.low, more);
  if (room > 0) row->coefficients = arena.copy(output.coefficients, room);
  if (room > 0 && more > 0) row->low_coefficients = arena.copy(output.low_coefficients, room * more);
  return row;
}

// The row times a slope, plus an intercept, as the rows above read it; changed numbers are rounded once or twice.
template <int D>
const Row<D>* affine_output(const Row<D>& row, double slope, double intercept, Arena& arena) {
  const bool changed = slope != 1 || intercept != 0;
  if (!changed && row.columns == 0) return &row;
  Row<D>* output = arena.take<Row<D>>(1);
  *output = row;
  if (slope == 0) {
    *output = Row<D>{};
    output->unit = row.unit;
    output->limbs = row.limbs;
    output->low = row.limbs > 1 ? arena.take<AffineLanes<D>>(std::size_t(row.limbs - 1)) : nullptr;
    std::fill_n(output->low, row.limbs - 1, AffineLanes<D>{});
    output->value[0] = intercept;
    output->size[0] = floored_size(intercept);
    return output;
  }
  output->coefficients = one_after_the_other(row.coefficients, row.columns, 1, arena);
  if (row.limbs > 1)
    output->low_coefficients = one_after_the_other(row.low_coefficients, row.columns, row.limbs - 1, arena);
  if (!changed) return output;
  output->value = row.value * slope;
  output->value[0] += intercept;
  output->size = floored<D>(row.size * floored_magnitude(slope));
  output->size[0] += floored_size(intercept);
  if (row.limbs == 1) {
    output->own = (row.own * std::fabs(slope) + output->size * (4 * unit_roundoff)) * slack;
    for (int k = 0; k < row.columns; ++k) output->coefficients[k] *= slope;
    return output;
  }
  output->own = (row.own * std::fabs(slope) + charge_of_limbs(output->size, row.limbs, 2)) * slack;
  output->low = arena.take<AffineLanes<D>>(std::size_t(row.limbs - 1));
  with_limbs(row.limbs, [&](auto limbs) {
    constexpr int K = limbs();
    Limbs<K, AffineLanes<D>> value{};
    value.limb[0][0] = intercept;
    value.template add_products<1>([&](int m) { return m == 0 ? row.value : row.low[m - 1]; },
                                   [&](int) { return AffineLanes<D>{} + slope; });
    value = value.normalized();
    output->value = value.limb[0];
    for (int m = 1; m < K; ++m) output->low[m - 1] = value.limb[m];
    scale_limbs<K>(*output, slope);
  });
  return output;
}

}  // namespace REGIONS_TARGET
}  // namespace regions
