// SPDX-License-Identifier: MIT
// What follows from a unit being on one piece?
//
// Its bits of the activation pattern, and what the rows above read of it: slope * pre-activation + intercept.
#pragma once

#include "memory/arena.hpp"
#include "rows/fold.hpp"
#include "rows/rows.hpp"
#include "task/network.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// Bit k is set where the pre-activation is above kink k. A later decision on the unit overwrites an earlier one.
inline void write_pattern(const Layer& layer, int unit, int piece, std::uint8_t* pattern) {
  for (int kink = 0; kink < layer.kinks; ++kink) {
    const std::int64_t bit = layer.kink(unit, kink);
    const std::uint8_t mask = std::uint8_t(1u << (bit % 8));
    if (kink < piece)
      pattern[bit / 8] = std::uint8_t(pattern[bit / 8] | mask);
    else
      pattern[bit / 8] = std::uint8_t(pattern[bit / 8] & ~mask);
  }
}

// count numbers (high, low) times a factor, to twice the working precision; count is a multiple of eight.
inline void scale_doubled(double* high, double* low, double factor, int count) {
  for (int k = 0; k < count; k += 8) {
    Doubled<Lanes8> product{};
    product.add_product(load<Lanes8>(high + k), Lanes8{} + factor);
    product.low += load<Lanes8>(low + k) * factor;
    product = product.normalized();
    store(high + k, product.high);
    store(low + k, product.low);
  }
}

// One lane of a panel's coefficients, as those of an output.
inline double* one_after_the_other(const double* coefficients, int columns, Arena& arena) {
  const int room = padded(columns);
  double* result = arena.take<double>(std::size_t(room));
  for (int k = 0; k < room; ++k) result[k] = k < columns ? coefficients[k * rows_at_once] : 0;
  return result;
}

// The row times a slope, plus an intercept, as the rows above read it; what changes is rounded once or twice.
template <int D>
const Row<D>* affine_output(const Row<D>& row, double slope, double intercept, Arena& arena) {
  const bool changed = slope != 1 || intercept != 0;
  if (!changed && row.columns == 0) return &row;
  Row<D>* output = arena.take<Row<D>>(1);
  *output = row;
  if (slope == 0) {
    *output = Row<D>{};
    output->unit = row.unit;
    output->value[0] = intercept;
    output->size[0] = std::fabs(intercept);
    return output;
  }
  output->coefficients = one_after_the_other(row.coefficients, row.columns, arena);
  const bool doubled = row.low_coefficients != nullptr;
  if (doubled) output->low_coefficients = one_after_the_other(row.low_coefficients, row.columns, arena);
  if (!changed) return output;
  output->value = row.value * slope;
  output->value[0] += intercept;
  output->size = floored<D>(row.size * floored_magnitude(slope));
  output->size[0] += std::fabs(intercept);
  if (!doubled) {
    output->own = (row.own * std::fabs(slope) + output->size * (4 * unit_roundoff)) * slack;
    for (int k = 0; k < row.columns; ++k) output->coefficients[k] *= slope;
    return output;
  }
  Doubled<AffineLanes<D>> value{};
  value.add_product(row.value, AffineLanes<D>{} + slope);
  value.low += row.low * slope;
  AffineLanes<D> constant{};
  constant[0] = intercept;
  value.add(constant);
  value = value.normalized();
  output->value = value.high;
  output->low = value.low;
  output->own = (row.own * std::fabs(slope) + rounding_of_doubled(output->size, 2)) * slack;
  scale_doubled(output->coefficients, output->low_coefficients, slope, padded(row.columns));
  return output;
}

}  // namespace REGIONS_TARGET
}  // namespace regions
