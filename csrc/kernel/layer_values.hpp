// SPDX-License-Identifier: MIT
// What are the units of a layer, given its inputs at many points?
//
// Points are processed four at a time, in order, because neighbours have nearly the same active inputs (rows/products.hpp).
// If units may be saturated, most inputs are the same at all points, and these are multiplied once for all.
// Cost: points x units x active inputs that differ.
#pragma once

#include <algorithm>

#include "kernel/breakpoints.hpp"
#include "kernel/refined.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

constexpr int fewest_shared = 8;

// Rows of outputs of the layer below, [rows, padded inputs], bounds on their 2-norms, and the destination of pre-activations,
// with room for one more row, which is never read.
struct Rows {
  std::size_t rows;
  const double* high;
  const double* low;
  const double* size;
  double* reached;
  double* sums;
  double* low_sums;
};

// The part of all sums that comes from the biases and from inputs that are the same in all rows; null if there are few such inputs.
struct Shared {
  double* sums = nullptr;
  double* low_sums = nullptr;
  unsigned* others = nullptr;  // one bit for each other input, in groups that are processed at once
};

// Simple units are constant only where their output is 0, and zeros are skipped in any case.
inline bool may_be_saturated(const SweepState& state, int l) {
  return l > 1 && !state.layers[std::size_t(l) - 1].pieces.simple;
}

// The k-th of the chosen rows; of all rows if none are chosen.
inline std::size_t chosen_row(const std::size_t* chosen, std::size_t k) { return chosen != nullptr ? chosen[k] : k; }

inline Shared multiply_shared(SweepState& state, int l, const Rows& of, const std::size_t* chosen, std::size_t count) {
  LayerSweep& here = state.layers[std::size_t(l)];
  const std::size_t inputs = std::size_t(state.network.layers[std::size_t(l)].inputs);
  const std::size_t width = std::size_t(padded(int(inputs)));
  const std::size_t first = chosen_row(chosen, 0);
  unsigned* others = state.arena.take<unsigned>(width / lanes_at_once);
  int* active = state.arena.take<int>(inputs);
  Operands operands{};
  operands.active = active;
  for (std::size_t i = 0; i < width; i += lanes_at_once) {
    const Wide high = load<Wide>(of.high + first * width + i);
    const Wide low = here.doubled() ? load<Wide>(of.low + first * width + i) : Wide{};
    Wide change{};
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t at = chosen_row(chosen, k) * width + i;
      change += magnitude(load<Wide>(of.high + at) - high);
      if (here.doubled()) change += magnitude(load<Wide>(of.low + at) - low);
    }
    // NaN and infinity differ from themselves.
    unsigned same = bits_above(Wide{} + 0x1p-1074, change);
    others[i / lanes_at_once] = ~same;
    for (same &= ~bits_above(Wide{} + 0x1p-1074, magnitude(high)); same != 0; same &= same - 1)
      active[operands.count++] = int(i) + __builtin_ctz(same);
  }
  if (operands.count < fewest_shared || count < 2 * points_at_once) return {};
  Shared shared;
  shared.others = others;
  shared.sums = state.arena.take<double>(here.stride);
  if (here.doubled()) shared.low_sums = state.arena.take<double>(here.stride);
  // The shared sum is a part of each row, so it is at most as large as the smallest; each is charged for a separate grid.
  double smallest = INFINITY;
  for (std::size_t k = 0; k < count; ++k) smallest = std::min(smallest, of.size[chosen_row(chosen, k)]);
  double* nowhere = state.arena.take<double>(2 * here.stride);
  for (std::size_t p = 0; p < points_at_once; ++p) {
    operands.high[p] = of.high + first * width;
    operands.low[p] = of.low + first * width;
    operands.sums[p] = p == 0 ? shared.sums : nowhere;
    if (here.doubled()) operands.low_sums[p] = p == 0 ? shared.low_sums : nowhere + here.stride;
    operands.grid[p] = grid(smallest * here.norm);
    std::copy_n(here.biases, here.stride, operands.sums[p]);
  }
  multiply(&operands, 1, state.task.panels[l], inputs, here.stride, here.doubled());
  return shared;
}

// Computes the pre-activations of all rows, or of the chosen ones.
inline void multiply_rows(SweepState& state, int l, const Rows& of, const std::size_t* chosen, std::size_t count) {
  LayerSweep& here = state.layers[std::size_t(l)];
  const std::size_t inputs = std::size_t(state.network.layers[std::size_t(l)].inputs);
  const std::size_t width = std::size_t(padded(int(inputs)));
  const auto row_of = [&](std::size_t i) { return chosen_row(chosen, i); };
  for (std::size_t i = 0; i < count; ++i)
    of.reached[row_of(i)] = (here.spread * of.size[row_of(i)] + here.bias_norm) * slack;
  const Arena::Mark mark = state.arena.mark();
  const Shared shared = may_be_saturated(state, l) ? multiply_shared(state, l, of, chosen, count) : Shared{};
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
      if (here.doubled()) all.low_sums[p] = of.low_sums + target * here.stride;
      all.grid[p] = grid(of.size[row] * here.norm);
      std::copy_n(shared.sums != nullptr ? shared.sums : here.biases, here.stride, all.sums[p]);
    }
    for (std::size_t i = 0; i < width; i += lanes_at_once) {
      Wide sizes{};
      for (std::size_t p = 0; p < points_at_once; ++p) sizes += magnitude(load<Wide>(all.high[p] + i));
      // All but zeros, so NaN is used, and noticed.
      unsigned used = ~bits_above(Wide{} + 0x1p-1074, sizes) & ((1u << lanes_at_once) - 1);
      if (shared.sums != nullptr) used &= shared.others[i / lanes_at_once];
      // Nothing is read beyond the last input, whatever is stored there.
      if (i + lanes_at_once > inputs) used &= i < inputs ? (1u << (inputs - i)) - 1 : 0;
      for (; used != 0; used &= used - 1) active[all.count++] = int(i) + __builtin_ctz(used);
    }
  }
  multiply(operands, groups, state.task.panels[l], inputs, here.stride, here.doubled());
  for (std::size_t i = 0; shared.low_sums != nullptr && i < count; ++i) {
    for (std::size_t unit = 0; unit < here.stride; unit += 8) {
      const std::size_t at = row_of(i) * here.stride + unit;
      const Lanes8 low = load<Lanes8>(of.low_sums + at) + load<Lanes8>(shared.low_sums + unit);
      const Doubled<Lanes8> sum = Doubled<Lanes8>{load<Lanes8>(of.sums + at), low}.normalized();
      store(of.sums + at, sum.high);
      store(of.low_sums + at, sum.low);
    }
  }
  state.arena.release(mark);
}

// Computes the pre-activations at all breakpoints of a layer.
inline void take_values(SweepState& state, int l) {
  LayerSweep& here = state.layers[std::size_t(l)];
  here.sums = state.arena.take<double>((here.count + 1) * here.stride);
  here.low_sums = state.arena.take<double>(here.doubled() ? (here.count + 1) * here.stride : 0);
  here.size = state.arena.take<double>(here.count);
  here.reached = state.arena.take<double>(here.count);
  const std::size_t width = std::size_t(padded(state.network.layers[std::size_t(l)].inputs));
  for (std::size_t k = 0; k < here.count; ++k) here.size[k] = norm(here.high + k * width, width);
  if (here.limbs > 2) return take_refined_values(state, l);
  const Rows all{here.count, here.high, here.low, here.size, here.reached, here.sums, here.low_sums};
  multiply_rows(state, l, all, nullptr, here.count);
}

}  // namespace REGIONS_TARGET
}  // namespace regions
