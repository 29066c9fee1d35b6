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
inline void scale_doubled(const double* high, const double* low, double factor, int count, double* scaled_high,
                          double* scaled_low) {
  for (int k = 0; k < count; k += 8) {
    Doubled<Lanes8> product{};
    product.add_product(load<Lanes8>(high + k), Lanes8{} + factor);
    product.low += load<Lanes8>(low + k) * factor;
    product = product.normalized();
    store(scaled_high + k, product.high);
    store(scaled_low + k, product.low);
  }
}

// The row times a slope, plus an intercept; each coefficient is rounded once or twice.
template <int D>
const Row<D>* affine_output(const Row<D>& row, double slope, double intercept, Arena& arena) {
  Row<D>* output = arena.take<Row<D>>(1);
  *output = Row<D>{};
  output->unit = row.unit;
  output->value = row.value * slope;
  output->value[0] += intercept;
  output->size = slope == 0 ? AffineLanes<D>{} : floored<D>(row.size * floored_magnitude(slope));
  output->size[0] += std::fabs(intercept);
  if (slope == 0) return output;
  output->columns = row.columns;
  output->coefficients = arena.take<double>(std::size_t(padded(row.columns)));
  if (row.low_coefficients != nullptr) {
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
    output->low_coefficients = arena.take<double>(std::size_t(padded(row.columns)));
    scale_doubled(row.coefficients, row.low_coefficients, slope, padded(row.columns), output->coefficients,
                  output->low_coefficients);
    return output;
  }
  output->own = (row.own * std::fabs(slope) + output->size * (4 * unit_roundoff)) * slack;
  for (int k = 0; k < padded(row.columns); ++k) output->coefficients[k] = row.coefficients[k] * slope;
  return output;
}

}  // namespace REGIONS_TARGET
}  // namespace regions
