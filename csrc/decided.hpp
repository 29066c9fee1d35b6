// SPDX-License-Identifier: MIT
// What follows from a unit being on one piece?
//
// Its bits of the activation pattern, and what the rows above read of it: slope * pre-activation + intercept.
#pragma once

#include "arena.hpp"
#include "network.hpp"
#include "rows.hpp"

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
  output->error = (row.error * std::fabs(slope) + output->size * (4 * unit_roundoff)) * (1 + 0x1p-20);
  output->columns = row.columns;
  output->coefficients = arena.take<double>(std::size_t(padded(row.columns)));
  for (int k = 0; k < padded(row.columns); ++k) output->coefficients[k] = row.coefficients[k] * slope;
  return output;
}

}  // namespace REGIONS_TARGET
}  // namespace regions
