// SPDX-License-Identifier: MIT
// What are the rows of one layer in a sweep that keeps regions (region_sweep.hpp)?
//
// They lie side by side as in swept_rows.hpp. In addition each unit has bounds for all corners together: on its output, on the
// output's error, and on gradients. Rows of layers that read patches have only some of the columns.
// Invariant: at a point (x, y) known up to e, to which outputs have been interpolated in s steps, a value is off by at most
// rounding + reaches . (|x|, |y|) + steepness e + step s. No part's gradient is larger than `gradients` says. The proof is in
// docs/error-bounds.md, "The sweep over a cell".
// Cost: rows x columns, once for each cell.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>

#include "kernel/swept_rows.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

struct KeptRows : SweptRows {
  int read_above;            // of the outputs of lower layers, the number that a higher layer reads: all, or none
  double* reaches[D];        // [room]
  double* step;              // [room]
  double* gradients;         // [room]: no less than the 1-norm of the row's gradient, in any part
  double* output_gradients;  // [room]: the same for its output
  double* largest_outputs;   // [room]: in absolute value, at any corner
  double* output_errors;     // [room]: at any corner, before any step
  std::int64_t zeros;        // number of signs that are zero by name

  // `blocks`: the layers from the lowest one on; this is number b of them. Their counts, rooms and first outputs are set.
  void read(const Layer& layer, const Block<D>& block, int b, const KeptRows* blocks, const Extent<Polygon>& extent,
            Arena& arena) {
    take(arena);
    double* memory = arena.take<double>(std::size_t(room) * 7);
    for (double** numbers : {&reaches[0], &reaches[1], &step, &gradients, &output_gradients, &largest_outputs, &output_errors}) {
      std::fill_n(memory + count, room - count, 0.0);
      *numbers = memory;
      memory += room;
    }
    clear_columns(*this, b, blocks);
    several = false;
    relu = true;
    zeros = 0;
    output_error = 0;
    for (int r = 0; r < count; ++r) {
      const Row<D>& row = *block.rows[r];
      const double kink = layer.breakpoints_of(row.unit)[0];
      const double passes = (row.columns + 4) * unit_roundoff;  // roundings of the terms without outputs
      double size = 0;     // of all terms together, at any corner
      double error = 0;    // of the value at the origin, with its rounding
      double slopes = 0;
      double doubt = 0;    // of the slopes
      double largest_error = 0;
      double outputs = 0;  // sizes of the terms with outputs
      double rounded = 0;  // the same, each times the number of its roundings minus two
      double rounding_of_outputs = 0;  // in a step
      double weights = 4;  // of outputs, and enough for a product with room_for_underflow to be a normal number
      int later = row.columns;
      for (int k = 0; k <= D; ++k) {
        forms[k * room + r] = row.value[k];
        const double magnitude = std::fabs(row.value[k]) + (k == 0 ? std::fabs(kink) : 0);
        const double bound = slack * (row.error[k] + passes * magnitude);
        size += magnitude * extent.largest[k];
        if (k == 0) {
          error = bound;
          continue;
        }
        reaches[k - 1][r] = bound;
        slopes += std::fabs(row.value[k]);
        doubt += bound;
        largest_error += bound * extent.largest[k];
      }
      forms[r] -= kink;
      double gradient = slopes + doubt;
      for_each_term(row, b, blocks, [&](const KeptRows& of, int unit, double coefficient) {
        forms[(3 + of.first_output + unit) * room + r] = coefficient;
        const double weight = std::fabs(coefficient);
        const double term = weight * of.largest_outputs[unit];
        outputs += term;
        rounded += later-- * term;
        rounding_of_outputs += of.rounding_of_step() * term;
        weights += weight;
        error += weight * of.output_errors[unit];
        gradient += weight * of.output_gradients[unit];
      });
      rounding[r] = slack * (error + unit_roundoff * (rounded + 2 * outputs)) + room_for_underflow;
      steepness[r] = slack * (slopes + doubt);
      step[r] = slack * (rounding_of_outputs + weights * room_for_underflow);
      gradients[r] = slack * gradient + room_for_underflow;
      read_activation(layer, row, 0, kink, size + outputs + largest_error + rounding[r], r);
      output_gradients[r] = slack * (steepest[r] * gradients[r]);
    }
    find_same_lines(layer, block, arena);
  }

  // Charges the outputs for this many steps.
  void charge_steps(double steps) {
    for (int r = 0; r < count; ++r)
      output_errors[r] = slack * (output_errors[r] + steps * rounding_of_step() * largest_outputs[r]) + room_for_underflow;
  }

 private:
  // Relative to the largest output: outputs of ReLUs have one sign.
  double rounding_of_step() const { return (relu ? 4 : 6) * unit_roundoff; }
};

}  // namespace REGIONS_TARGET
}  // namespace regions
