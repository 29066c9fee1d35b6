// SPDX-License-Identifier: MIT
// Which units cross, or may cross, between two breakpoints of an arc, by their values at the breakpoints?
//
// Most units do not cross, and a bound on how far a unit bends between the two proves it; for the others the values at the apex
// are computed (kernel/apexes.hpp). Each kink of a unit is tested: the unit's value above a kink is a sinusoid too.
// The proof is in docs/arcs.md. Cost: a few instructions for eight units and a kink.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernel/apexes.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// Returns whether a unit on one side of a kink at both ends cannot bend far enough to reach it between them.
inline bool too_flat(const SweepState& state, int l, std::size_t k, int unit, int kink) {
  const LayerSweep& here = state.layers[std::size_t(l)];
  const double deviation = state.network.layers[std::size_t(l)].norms[unit] * here.apexes.bulge[k] * slack;
  const std::size_t at = k * here.stride + std::size_t(unit);
  const std::size_t at_kink = here.pieces.at(kink, std::size_t(unit));
  Wave wave{};
  for (int i = 0; i < 3; i += 2) {
    const std::size_t end = at + std::size_t(i / 2) * here.stride;
    wave.high[i] = std::fabs(above_kink(here, here.sums, here.low_sums, end, at_kink).high);
    wave.off[i] = value_error(here, k + std::size_t(i / 2));
  }
  wave.high[1] = 0.5 * (wave.high[0] + wave.high[2]);  // and if it bends towards zero, it is:
  wave.off[1] = (deviation + wave.off[0] + wave.off[2]) * slack + room_for_underflow;
  const double beyond = wave.off[1] - wave.high[1] * (2 - slack);
  if (beyond < 0) return true;
  wave.high[1] = 0;
  wave.off[1] = beyond;
  return surely_apart(here, k, wave);
}

// Finds candidates between a breakpoint and the next; and the smallest distance from a kink, and the largest change, of any
// unit.
template <bool IsSimple>
void look_at_units(SweepState& state, int l, std::size_t k, double& smallest, double& change) {
  LayerSweep& here = state.layers[std::size_t(l)];
  const int units = state.network.layers[std::size_t(l)].units;
  const bool last = k + 1 == here.count;
  const int kinks = IsSimple ? 1 : here.pieces.kinks;
  const std::size_t values = k * here.stride;
  const std::size_t following = last ? values : values + here.stride;
  const double least =
      last ? 0 : (2 * here.apexes.deviation[k] + value_error(here, k) + value_error(here, k + 1)) * slack;
  const Wide least_sum = Wide{} + least * slack;
  Wide least_value = Wide{} + INFINITY;
  Wide largest_change{};
  Wide total{};
  for (int i = 0; i < units; i += lanes_at_once) {
    const std::size_t unit = std::size_t(i);
    unsigned real = (1u << lanes_at_once) - 1;
    if (units - i < lanes_at_once) real = (1u << (units - i)) - 1;
    if (!IsSimple) {
      const Wide difference = magnitude(load<Wide>(here.sums + following + unit) - load<Wide>(here.sums + values + unit));
      largest_change = difference > largest_change ? difference : largest_change;
    }
    for (int kink = 0; kink < kinks; ++kink) {
      const std::size_t at = IsSimple ? unit : here.pieces.at(kink, unit);
      const Wide value = above_kink<IsSimple>(here, values + unit, at);
      const Wide next = above_kink<IsSimple>(here, following + unit, at);
      Wide size = magnitude(value);
      const Wide both = size + magnitude(next);
      if (units - i < lanes_at_once)
        for (int lane = units - i; lane < lanes_at_once; ++lane) size[lane] = INFINITY;
      total += size;
      least_value = size < least_value ? size : least_value;
      if (IsSimple) {
        const Wide difference = magnitude(next - value);
        largest_change = difference > largest_change ? difference : largest_change;
      }
      if (last) continue;
      const unsigned positive = bits_above(value, Wide{});
      const unsigned changes = positive ^ bits_above(next, Wide{});
      const unsigned sure = bits_above(both, least_sum);
      for (unsigned asked = (changes | ~sure) & real; asked != 0; asked &= asked - 1) {
        const int lane = __builtin_ctz(asked);
        const bool once = changes >> lane & 1;
        if (once || !too_flat(state, l, k, i + lane, kink))
          state.suspects.push_back({k, i + lane, kink, once, (positive >> lane & 1) == 0});
      }
    }
  }
  smallest = INFINITY;
  change = 0;
  double sum = 0;
  for (int lane = 0; lane < lanes_at_once; ++lane) {
    smallest = std::min(smallest, least_value[lane]);
    change = std::max(change, largest_change[lane]);
    sum += total[lane];
  }
  if (sum != sum) smallest = 0;  // NaN proves nothing
}

// Returns whether units that cross once between two breakpoints are zero one after the other, as far as that is provable
// without the apex: from where the unit is zero on the chord, and a bound on the distance from there.
inline bool in_order_on_chord(const SweepState& state, int l, std::size_t suspect, std::size_t end) {
  const LayerSweep& here = state.layers[std::size_t(l)];
  if (suspect + 1 == end) return state.suspects[suspect].once;
  std::vector<Crossing> crossings;
  for (; suspect < end; ++suspect) {
    const auto& [k, unit, kink, once, up] = state.suspects[suspect];
    if (!once) return false;
    Crossing crossing{k, unit, kink, 0, 0, 0, 0};
    const double off = at_least(value_error(here, k), value_error(here, k + 1)) + 0.5 * here.apexes.deviation[k];
    if (!place(here, off * slack, crossing)) return false;
    crossings.push_back(crossing);
  }
  return in_order(crossings.data(), crossings.data() + crossings.size());
}

// Bound on the slope of any unit within an eighth of the length from either end, by the angle.
inline double slope_on(const LayerSweep& here, std::size_t k, double change) {
  if (!(here.length[k] > 0x1p-900)) return INFINITY;
  const double off = value_error(here, k) + value_error(here, k + 1) +
                     4 * unit_roundoff * (here.reached[k] + here.reached[k + 1]);
  return 1.2 * (0.5 * change + here.apexes.deviation[k] + off) * slack / here.length[k] * slack;
}

}  // namespace REGIONS_TARGET
}  // namespace regions
