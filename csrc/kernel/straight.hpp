// SPDX-License-Identifier: MIT
// What is between two breakpoints of a segment?
//
// Every unit is affine there, so values at a new breakpoint are between its neighbours' values, and one fraction of the
// way describes them all. This file implements the interface of sweep.hpp for segments. The proof is in docs/segments.md.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernel/breakpoints.hpp"
#include "kernel/refined.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

struct Straight {
  static constexpr int most_limbs = 4;

  // The ends of the segment.
  static bool start(SweepState& state) {
    LayerSweep& first = state.layers[1];
    const std::size_t inputs = std::size_t(state.network.layers[0].units);
    const std::size_t width = std::size_t(padded(int(inputs)));
    const Chart& chart = state.task.chart;
    state.take_points(first, 2, width, false);
    const int limbs = std::max(2, first.limbs);
    for (int m = 0; m < limbs; ++m) std::fill_n(first.limb(m), 2 * width, 0.0);
    for (std::size_t end = 0; end < 2; ++end) {
      const double at = state.task.domain.generators[2 * end + 1];
      double squares = 0;
      for (std::size_t i = 0; i < inputs; ++i) {
        with_limbs(limbs, [&](auto number) {
          Limbs<number(), Lanes8> input{};
          input.limb[0] += chart.origin[i];
          input.template add_product<0>(Lanes8{} + chart.directions[i], Lanes8{} + at);
          input = input.normalized();
          for (int m = 0; m < number(); ++m) first.limb(m)[end * width + i] = input.limb[m][0];
        });
        const double size = std::fabs(chart.origin[i]) + std::fabs(chart.directions[i] * at);
        squares += size * size;
      }
      first.error[end] = rounding_of_output(limbs) * std::sqrt(squares) * slack + room_for_underflow * double(inputs);
      first.slip[end] = 0;
    }
    if (state.strand != nullptr) {
      for (std::size_t end = 0; end < 2; ++end) {
        first.place[0][end] = double(end);
        first.low_place[0][end] = 0;
        first.boundary[end] = -1 - Boundary(end);
      }
    }
    first.length[0] = 1;  // whatever the chart's unit: slips and slopes are in units of the segment
    const double extent = std::fabs(state.task.domain.generators[3] - state.task.domain.generators[1]);
    return extent > 0 && extent < INFINITY;
  }

  static bool find_crossings(SweepState& state, int l) {
    return state.layers[std::size_t(l)].pieces.simple ? find_crossings<true>(state, l) : find_crossings<false>(state, l);
  }

  template <bool IsSimple>
  static bool find_crossings(SweepState& state, int l) {
    LayerSweep& here = state.layers[std::size_t(l)];
    const int kinks = IsSimple ? 1 : here.pieces.kinks;
    const int units = state.network.layers[std::size_t(l)].units;
    here.crossings.clear();
    double before = INFINITY;  // bound on the slopes between the previous breakpoint and this one
    for (std::size_t k = 0; k < here.count; ++k) {
      const bool last = k + 1 == here.count;
      const std::size_t values = k * here.stride;
      const std::size_t following = last ? values : values + here.stride;
      const double after = last ? INFINITY : slope_after(here, k);
      const double off = value_error(here, k);
      const double slipped = here.slip[k] == 0 ? 0 : here.slip[k] * std::min(before, after);
      const double threshold = (off + slipped) * slack + room_for_underflow;
      const std::size_t first = here.crossings.size();
      for (int i = 0; i < units; i += lanes_at_once) {
        const unsigned real = (1u << std::min(lanes_at_once, units - i)) - 1;
        for (int kink = 0; kink < kinks; ++kink) {
          const std::size_t unit = std::size_t(i);
          const std::size_t at = IsSimple ? unit : here.pieces.at(kink, unit);
          const Wide value = above_kink<IsSimple>(here, values + unit, at);
          if ((bits_above(magnitude(value), Wide{} + threshold) & real) != real) return false;
          const Wide next = above_kink<IsSimple>(here, following + unit, at);
          unsigned changes = (bits_above(value, Wide{}) ^ bits_above(next, Wide{})) & real;
          for (; changes != 0; changes &= changes - 1) {
            here.crossings.push_back({k, i + __builtin_ctz(changes), kink, 0, 0, 0, 0});
            const double error = at_least(off, value_error(here, k + 1));
            if (!(here.limbs > 2 ? place_refined(here, error, here.crossings.back())
                                 : place(here, error, here.crossings.back())))
              return false;
          }
        }
      }
      if (!in_order(here.crossings.data() + first, here.crossings.data() + here.crossings.size())) return false;
      before = after;
    }
    return true;
  }

  // The next breakpoints, old and new in turn, and their outputs.
  static void hand_on(SweepState& state, int l) {
    LayerSweep& here = state.layers[std::size_t(l)];
    LayerSweep& above = state.layers[std::size_t(l) + 1];
    state.pick(here);
    state.take_points(above, state.picked.size(), here.stride, false);
    const double gain = state.network.layers[std::size_t(l)].gain;
    const double rounding = here.rounding + rounding_of_output(here.limbs);
    const auto output_error = [&](double error, double reached) {
      return gain * error + here.pieces.steepest * (rounding * reached) + here.intercept_rounding;
    };
    const auto output_of = [&](const Picked& one, std::size_t i) {
      const bool simple = here.pieces.simple;
      double* const high = above.high + i * here.stride;
      double* const low = above.low + i * here.stride;
      if (here.limbs > 2)
        refined_output(here, one, above, i);
      else if (here.doubled())
        simple ? output<true, true>(here, one, high, low) : output<true, false>(here, one, high, low);
      else
        simple ? output<false, true>(here, one, high, low) : output<false, false>(here, one, high, low);
    };
    for (std::size_t i = 0; i < above.count; ++i) {
      const Picked& one = state.picked[i];
      const std::size_t k = one.point;
      double error = output_error(here.error[k], here.reached[k]);
      above.slip[i] = here.slip[k];
      if (one.crossing != nullptr) {
        // Rounding in an interpolation is proportional to the larger values, even if the error is larger at the other end.
        error = output_error(at_least(here.error[k], here.error[k + 1]), at_least(here.reached[k], here.reached[k + 1])) +
                here.pieces.steepest * one.crossing->error;
        above.slip[i] = one.crossing->slip * here.length[k] * slack + room_for_underflow;  // 0 means exact
      }
      above.error[i] = error * slack + room_for_underflow;
      if (state.strand != nullptr) hand_on_place(state, l, one, i);
      output_of(one, i);
      if (i + 1 < above.count) above.length[i] = gap(start_of(one), end_of(state.picked[i + 1])) * here.length[k];
    }
  }

  // The vertex of a crossing, or of an old breakpoint.
  static CollectedVertex vertex(const SweepState& state, const LayerSweep& here, const Crossing& crossing) {
    const Doubled<Lanes4> place = place_of(here, crossing);
    const double slip = crossing.slip * here.length[crossing.after] * slack + room_for_underflow;
    return vertex_at(state, place.high[0], place.low[0], slip);
  }

  static CollectedVertex vertex(const SweepState& state, const LayerSweep& here, std::size_t k) {
    const Boundary boundary = here.boundary[k];
    if (boundary < 0) return end_of_curve(state, int(-1 - boundary));
    return vertex_at(state, here.place[0][k], here.low_place[0][k], here.slip[k]);
  }

  // The fraction of the segment that is done.
  static double finished(const SweepState&, const LayerSweep& here) { return here.place[0][here.count - 1]; }

 private:
  static CollectedVertex end_of_curve(const SweepState& state, int end) {
    return {{state.task.domain.generators[2 * end + 1] + 0.0, 0}, 0, -1};
  }

  // In the chart, from a fraction of the segment. Sums to twice the working precision, in units of the larger end.
  static CollectedVertex vertex_at(const SweepState& state, double place, double low_place, double slip) {
    const double ends[2] = {state.task.domain.generators[1], state.task.domain.generators[3]};
    const double largest = at_least(std::fabs(ends[0]), std::fabs(ends[1]));
    int exponent;
    std::frexp(largest, &exponent);
    const double start = std::ldexp(ends[0], -exponent);
    const double end = std::ldexp(ends[1], -exponent);
    Doubled<Lanes4> at{Lanes4{} + start, Lanes4{}};
    for (const auto& [value, sign] : {std::pair<double, double>{start, -1}, {end, 1}}) {
      at.add_product(Lanes4{} + sign * value, Lanes4{} + place);
      at.low += sign * value * low_place;
    }
    at = at.normalized();
    const double position = std::ldexp(at.high[0], exponent) + 0.0;
    const double error = slip * std::fabs(ends[1] - ends[0]) + 0x1p-52 * std::fabs(position) + 0x1p-90 * largest;
    return {{position, 0}, error * slack + 0x1p-1073, -1};
  }

  static void hand_on_place(SweepState& state, int l, const Picked& one, std::size_t i) {
    const LayerSweep& here = state.layers[std::size_t(l)];
    LayerSweep& above = state.layers[std::size_t(l) + 1];
    Doubled<Lanes4> place{Lanes4{} + here.place[0][one.point], Lanes4{} + here.low_place[0][one.point]};
    if (one.crossing != nullptr) place = place_of(here, *one.crossing);
    above.place[0][i] = place.high[0];
    above.low_place[0][i] = place.low[0];
    above.boundary[i] = state.boundary_of(l, one);
  }
};

}  // namespace REGIONS_TARGET
}  // namespace regions
