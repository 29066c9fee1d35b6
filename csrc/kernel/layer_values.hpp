// SPDX-License-Identifier: MIT
// What do the units of a layer read of its inputs at many points?
//
// Points are taken four at a time, in their order, for neighbours have nearly the same active inputs (rows/products.hpp).
// Cost: points x units x active inputs.
#pragma once

#include <algorithm>

#include "kernel/breakpoints.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// Rows of outputs of the layer below, [rows, padded inputs], bounds on their 2-norms, and where pre-activations go, with room for
// one row more, which nobody reads.
struct Rows {
  std::size_t rows;
  const double* high;
  const double* low;
  const double* size;
  double* reached;
  double* sums;
  double* low_sums;
};

// Of all rows, or of those that are chosen.
inline void multiply_rows(SweepState& state, int l, const Rows& of, const std::size_t* chosen, std::size_t count) {
  LayerSweep& here = state.layers[std::size_t(l)];
  const std::size_t inputs = std::size_t(state.network.layers[std::size_t(l)].inputs);
  const std::size_t width = std::size_t(padded(int(inputs)));
  const auto row_of = [&](std::size_t i) { return chosen != nullptr ? chosen[i] : i; };
  for (std::size_t i = 0; i < count; ++i)
    of.reached[row_of(i)] = (here.spread * of.size[row_of(i)] + here.bias_norm) * slack;
  const Arena::Mark mark = state.arena.mark();
  const std::size_t groups = (count + points_at_once - 1) / points_at_once;
  int* active = state.arena.take<int>(groups * inputs);
  Operands* operands = state.arena.take<Operands>(groups);
  for (std::size_t group = 0; group < groups; ++group, active += inputs) {
    Operands& all = operands[group];
    all = Operands{};
    all.active = active;
    for (std::size_t p = 0; p < points_at_once; ++p) {
      const std::size_t at = group * points_at_once + p;
      const std::size_t row = row_of(std::min(at, count - 1));
      const std::size_t target = at < count ? row : of.rows;
      all.high[p] = of.high + row * width;
      all.low[p] = of.low + row * width;
      all.sums[p] = of.sums + target * here.stride;
      if (here.doubled) all.low_sums[p] = of.low_sums + target * here.stride;
      all.grid[p] = grid(of.size[row] * here.norm);
      std::copy_n(here.biases, here.stride, all.sums[p]);
    }
    for (std::size_t i = 0; i < width; i += lanes_at_once) {
      Wide sizes{};
      for (std::size_t p = 0; p < points_at_once; ++p) sizes += magnitude(load<Wide>(all.high[p] + i));
      // All but those that are 0, so what is no number is used, and is seen.
      unsigned used = ~bits_above(Wide{} + 0x1p-1074, sizes) & ((1u << lanes_at_once) - 1);
      for (; used != 0; used &= used - 1) active[all.count++] = int(i) + __builtin_ctz(used);
    }
  }
  multiply(operands, groups, state.task.panels[l], inputs, here.stride, here.doubled);
  state.arena.release(mark);
}

// At all breakpoints of a layer.
inline void take_values(SweepState& state, int l) {
  LayerSweep& here = state.layers[std::size_t(l)];
  here.sums = state.arena.take<double>((here.count + 1) * here.stride);
  here.low_sums = state.arena.take<double>(here.doubled ? (here.count + 1) * here.stride : 0);
  here.size = state.arena.take<double>(here.count);
  here.reached = state.arena.take<double>(here.count);
  const std::size_t width = std::size_t(padded(state.network.layers[std::size_t(l)].inputs));
  for (std::size_t k = 0; k < here.count; ++k) here.size[k] = norm(here.high + k * width, width);
  const Rows all{here.count, here.high, here.low, here.size, here.reached, here.sums, here.low_sums};
  multiply_rows(state, l, all, nullptr, here.count);
}

}  // namespace REGIONS_TARGET
}  // namespace regions
