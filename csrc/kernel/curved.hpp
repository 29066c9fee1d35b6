// SPDX-License-Identifier: MIT
// What is between two breakpoints of an arc?
//
// Every unit is a sinusoid a + b X + c Y there, given by three values: at both ends, and at the apex, where the
// tangents meet (the affine map of this part is continued to there). Averages of the three are the values of its parts
// (kernel/arc_breakpoints.hpp). This file implements the interface of sweep.hpp for arcs. If a unit crosses, or may cross
// twice, the values at the apex are computed (kernel/apexes.hpp); for all others a bound on the bend shows that they do not
// cross. Invariant, in addition to sweep.hpp: length is the tangent of half the angle between p_k and p_(k+1), within the same
// relative error as lengths on segments.
// The proof is in docs/arcs.md.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernel/apexes.hpp"
#include "kernel/suspects.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

struct Curved {
  static constexpr int most_limbs = 2;

  // The ends of the arc and its apex (p + q) / (1 + p q). With m = (1 + p q) / 2, the square of the cosine of half the
  // angle, the weights are 1, m and m.
  static bool start(SweepState& state) {
    LayerSweep& first = state.layers[1];
    const std::size_t inputs = std::size_t(state.network.layers[0].units);
    const std::size_t width = std::size_t(padded(int(inputs)));
    const Chart& chart = state.task.chart;
    state.take_points(first, 2, width, true);
    ApexesOfLayer(state, 1).take_room();
    Apexes& apexes = first.apexes;
    double* const highs[3] = {first.high, apexes.high, first.high + width};
    double* const lows[3] = {first.low, apexes.low, first.low + width};
    double* const errors[3] = {first.error, apexes.error, first.error + 1};
    Twice places[3][2];
    on_circle(state.task.domain.generators + 1, places[0]);
    on_circle(state.task.domain.generators + 4, places[2]);
    const Twice one{1, 0};
    const Twice below = one + (places[0][0] * places[2][0] + places[0][1] * places[2][1]);
    for (int i = 0; i < 2; ++i) places[1][i] = (places[0][i] + places[2][i]) / below;
    for (std::size_t vector = 0; vector < 3; ++vector) {
      double squares = 0;
      std::fill_n(highs[vector], width, 0.0);
      std::fill_n(lows[vector], width, 0.0);
      for (std::size_t i = 0; i < inputs; ++i) {
        Doubled<Lanes8> input{Lanes8{} + chart.origin[i], Lanes8{}};
        double size = std::fabs(chart.origin[i]);
        for (std::size_t j = 0; j < 2; ++j) {
          const double direction = chart.directions[j * inputs + i];
          input.add_product(Lanes8{} + direction, Lanes8{} + places[vector][j].high);
          input.low += direction * places[vector][j].low;
          // At the apex the ends may cancel, and rounding is in proportion to their size.
          const double reach = vector == 1 ? std::fabs(places[0][j].high) + std::fabs(places[2][j].high)
                                           : std::fabs(places[vector][j].high);
          size += std::fabs(direction) * reach;
        }
        input = input.normalized();
        highs[vector][i] = input.high[0];
        lows[vector][i] = input.low[0];
        squares += size * size;
      }
      *errors[vector] = 0x1p12 * unit_roundoff * unit_roundoff * std::sqrt(squares) * slack +
                            room_for_underflow * double(inputs);
      for (std::size_t j = 0; state.strand != nullptr && j < 2; ++j) {
        first.place[j][vector] = places[vector][j].high;
        first.low_place[j][vector] = places[vector][j].low;
      }
    }
    for (std::size_t end = 0; end < 2; ++end) {
      first.slip[end] = 0;
      if (state.strand != nullptr) first.boundary[end] = -1 - Boundary(end);
    }
    apexes.known[0] = ApexesOfLayer::outputs;
    const double rounded =
        4 * unit_roundoff * (norm(highs[0], width) + norm(highs[1], width) + norm(highs[2], width));
    apexes.bulge[0] = (ApexesOfLayer::distance_from_mean(highs[1], highs[0], highs[2], width) + rounded + *errors[0] +
                       *errors[1] + *errors[2]) *
                      slack;
    first.weights[0][0] = 1;
    first.low_weights[0][0] = 0;
    for (int i = 1; i < 3; ++i) {
      first.weights[i][0] = below.high / 2;
      first.low_weights[i][0] = below.low / 2;
    }
    const Twice across = places[0][0] * places[2][1] - places[0][1] * places[2][0];
    first.length[0] = across.high / below.high;
    return first.length[0] > 0x1p-60 && first.length[0] < 1.001;
  }

  static bool find_crossings(SweepState& state, int l) {
    LayerSweep& here = state.layers[std::size_t(l)];
    Apexes& apexes = here.apexes;
    here.crossings.clear();
    state.suspects.clear();
    double* smallest = state.arena.take<double>(here.count);
    double* change = state.arena.take<double>(here.count);
    ApexesOfLayer(state, l).bound_deviations();
    state.parts.clear();
    for (std::size_t k = 0; k < here.count; ++k) {
      const std::size_t first = state.suspects.size();
      if (here.pieces.simple)
        look_at_units<true>(state, l, k, smallest[k], change[k]);
      else
        look_at_units<false>(state, l, k, smallest[k], change[k]);
      const std::size_t found = state.suspects.size();
      const bool bent = k + 1 < here.count && apexes.deviation[k] > most_bent * change[k];
      if (found == first && !bent) continue;
      // In a count, a crossing in the last layer adds one region; its position is not needed.
      if (found > first && only_counted(state, l) && in_order_on_chord(state, l, first, found)) {
        for (std::size_t i = first; i < found; ++i) {
          const Suspect& sure = state.suspects[i];
          here.crossings.push_back({k, sure.unit, sure.kink, 0, 0, 0, 0});
        }
        state.suspects.resize(first);
      } else {
        state.parts.push_back(k);
      }
    }
    ApexesOfLayer::ask(state, l, state.parts);
    double before = 0;  // bound on the slopes on the part before this breakpoint
    double length_before = INFINITY;
    std::size_t next = 0;
    for (std::size_t k = 0; k < here.count; ++k) {
      const bool last = k + 1 == here.count;
      const double after = last ? 0 : slope_on(here, k, change[k]);
      const double length = last ? INFINITY : here.length[k];
      const double slip = here.slip[k];
      double threshold = value_error(here, k);
      if (slip != 0) threshold += 8 * slip <= std::min(length_before, length) ? slip * at_least(before, after) : INFINITY;
      if (!(smallest[k] > threshold * slack + room_for_underflow)) return false;
      const std::size_t first = next;
      while (next < state.suspects.size() && state.suspects[next].after == k) ++next;
      if (!place_crossings(state, l, first, next)) return false;
      before = after;
      length_before = length;
    }
    return true;
  }

  // The next breakpoints, old and new in turn, and their outputs; and bounds for the parts between them.
  static void hand_on(SweepState& state, int l) {
    LayerSweep& here = state.layers[std::size_t(l)];
    LayerSweep& above = state.layers[std::size_t(l) + 1];
    state.pick(here);
    state.take_points(above, state.picked.size(), here.stride, true);
    above.apexes.origin = state.picked;
    ApexesOfLayer(state, l + 1).take_room();
    const bool simple = here.pieces.simple;
    if (here.doubled())
      simple ? fill<Twice, true>(state, l) : fill<Twice, false>(state, l);
    else
      simple ? fill<double, true>(state, l) : fill<double, false>(state, l);
  }

  static CollectedVertex vertex(const SweepState& state, const LayerSweep& here, const Crossing& crossing) {
    double at[2];
    for (int j = 0; j < 2; ++j)
      at[j] = here.doubled() ? high_of(place<Twice>(here, crossing, crossing, j))
                           : place<double>(here, crossing, crossing, j);
    return vertex_at(state, at[0], at[1], crossing.slip * here.length[crossing.after]);
  }

  static CollectedVertex vertex(const SweepState& state, const LayerSweep& here, std::size_t k) {
    const double x = here.place[0][2 * k];
    const double y = here.place[1][2 * k];
    if (here.boundary[k] < 0) return {{x + 0.0, y + 0.0}, 0x1p-50, -1};
    return vertex_at(state, x, y, here.slip[k]);
  }

  // The fraction of the arc that is done.
  static double finished(const SweepState& state, const LayerSweep& here) {
    const double* ends = state.task.domain.generators;
    const double x = here.place[0][2 * here.count - 2];
    const double y = here.place[1][2 * here.count - 2];
    const auto angle = [&](double u, double v) { return std::atan2(ends[1] * v - ends[2] * u, ends[1] * u + ends[2] * v); };
    return std::min(1.0, angle(x, y) / angle(ends[4], ends[5]));
  }

 private:
  // The point of the circle in this direction.
  static void on_circle(const double* direction, Twice* point) {
    int exponent;
    std::frexp(at_least(std::fabs(direction[0]), std::fabs(direction[1])), &exponent);
    const Twice x{std::ldexp(direction[0], -exponent), 0};
    const Twice y{std::ldexp(direction[1], -exponent), 0};
    const Twice square = x * x + y * y;
    const double root = std::sqrt(square.high);
    const Twice rest = square - Twice{root, 0} * Twice{root, 0};
    const Twice size = two_sum(root, (rest.high + rest.low) / (2 * root));
    point[0] = x / size;
    point[1] = y / size;
  }

  // A part whose units may bend by more than this times their change is examined more closely, because a bound on slopes that
  // is too large raises doubts. The choice affects only time.
  static constexpr double most_bent = 4;

  static bool only_counted(const SweepState& state, int l) {
    return state.strand == nullptr && l == state.network.last();
  }

  // The values of a unit above its kink.
  static Wave wave_of(SweepState& state, int l, std::size_t k, int unit, int kink) {
    const LayerSweep& here = state.layers[std::size_t(l)];
    const Apexes& apexes = here.apexes;
    const ApexesOfLayer of(state, l);
    const std::size_t at = k * here.stride + std::size_t(unit);
    const std::size_t at_kink = here.pieces.at(kink, std::size_t(unit));
    const Twice values[3] = {above_kink(here, here.sums, here.low_sums, at, at_kink),
                             of.one_by_one() ? Twice{of.value(k, unit) - here.pieces.breakpoints[at_kink], 0}
                                             : above_kink(here, apexes.sums, apexes.low_sums, at, at_kink),
                             above_kink(here, here.sums, here.low_sums, at + here.stride, at_kink)};
    Wave wave{};
    for (int i = 0; i < 3; ++i) {
      wave.high[i] = values[i].high;
      wave.low[i] = values[i].low;
    }
    wave.off[0] = value_error(here, k);
    wave.off[1] = value_error(here, apexes.error[k], apexes.size[k]);
    wave.off[2] = value_error(here, k + 1);
    return wave;
  }

  // Places the crossings of the candidates of one part; false if something is not proven.
  static bool place_crossings(SweepState& state, int l, std::size_t suspect, std::size_t end) {
    LayerSweep& here = state.layers[std::size_t(l)];
    const std::size_t first = here.crossings.size();
    for (; suspect < end; ++suspect) {
      const auto& [k, unit, kink, once, up] = state.suspects[suspect];
      const Wave wave = wave_of(state, l, k, unit, kink);
      if (!once) {
        const double beyond = up ? -wave.high[1] : wave.high[1];
        if (beyond > wave.off[1] * slack || surely_apart(here, k, wave)) continue;
      }
      for (int which = 0; which < (once ? 1 : 2); ++which) {
        here.crossings.push_back({k, unit, kink, 0, 0, 0, 0, which == 0 ? up : !up});
        if (!(here.doubled() ? place_on_arc<Twice>(here, wave, l, here.crossings.back())
                           : place_on_arc<double>(here, wave, l, here.crossings.back())))
          return false;
      }
      // The zero where it leaves the sign of both ends comes first, then the other: otherwise they may lie beyond the breakpoints.
      if (!once && !(gap(here.crossings.end()[-2], here.crossings.back()) > 0)) return false;
    }
    return in_order_on_arc(here, here.crossings.data() + first, here.crossings.data() + here.crossings.size());
  }

  template <class Number, bool IsSimple>
  static void fill(SweepState& state, int l) {
    constexpr bool is_doubled = std::is_same<Number, Twice>::value;
    const LayerSweep& here = state.layers[std::size_t(l)];
    LayerSweep& above = state.layers[std::size_t(l) + 1];
    const auto piece_of = [&](const auto&, const Doubled<Lanes8>& value, std::size_t i) {
      return piece_at<IsSimple>(here.pieces, value, i);
    };
    double bend = 0;  // of the part that is cut
    for (std::size_t i = 0; i < above.count; ++i) {
      const Picked& one = state.picked[i];
      const std::size_t k = one.point;
      const Crossing start = start_of(one);
      double* high = above.high + i * here.stride;
      double* low = above.low + i * here.stride;
      if (one.crossing == nullptr) {
        above.slip[i] = here.slip[k];
        above.error[i] = output_error(state, l, here.error[k], here.reached[k]) * slack + room_for_underflow;
        for (std::size_t j = 0; j < here.stride; j += 8) {
          const Doubled<Lanes8> value =
              sum_at(here.sums + k * here.stride, is_doubled ? here.low_sums + k * here.stride : nullptr, j);
          keep_output<is_doubled, IsSimple>(value, piece_of(value, value, j), high + j, low + j);
        }
      } else {
        above.slip[i] = one.crossing->slip * here.length[k] * slack + room_for_underflow;  // 0 means exact
        above.error[i] =
            (average_error(state, l, k) + here.pieces.steepest * one.crossing->error) * slack + room_for_underflow;
        const auto at = average<Number>(here, k, share_of<Number>(start), share_of<Number>(start));
        write_average<Number, IsSimple>(here, k, at, piece_of, high, low);
        keep_kink(here, *one.crossing, high, low);
      }
      if (state.strand != nullptr) hand_on_place<Number>(state, l, i);
      if (i + 1 == above.count) return;
      const Picked& next = state.picked[i + 1];
      if (one.crossing == nullptr && next.crossing == nullptr) {
        for (int j = 0; j < 3; ++j) {
          above.weights[j][i] = here.weights[j][k];
          above.low_weights[j][i] = here.low_weights[j][k];
        }
        above.length[i] = here.length[k];
        above.apexes.bulge[i] = here.apexes.bulge_above[k];
        continue;
      }
      const Crossing end = end_of(next);
      const Number shares[2] = {share_of<Number>(start), share_of<Number>(end)};
      const auto at = average<Number>(here, k, shares[0], shares[1]);
      const Number weights[3] = {average<Number>(here, k, shares[0], shares[0]).weight, at.weight,
                                 average<Number>(here, k, shares[1], shares[1]).weight};
      for (int j = 0; j < 3; ++j) {
        above.weights[j][i] = high_of(weights[j]);
        above.low_weights[j][i] = low_of(weights[j]);
      }
      const double share = here.weights[1][k] * gap(start, end) / high_of(at.weight);
      above.length[i] = here.length[k] * share;
      if (one.crossing == nullptr) bend = bend_of(state, l, k);
      const double bulge = here.apexes.bulge_above[k];
      above.apexes.bulge[i] =
          (share * (share * bulge) + above.length[i] * (above.length[i] * (bend + bulge))) * slack + room_for_underflow;
    }
  }

  // Bound on the 2-norm of half the change of all outputs over a part, by its own affine map.
  static double bend_of(const SweepState& state, int l, std::size_t k) {
    const LayerSweep& here = state.layers[std::size_t(l)];
    const double* start = here.sums + k * here.stride;
    // The distance between the end and the start.
    const double distance = ApexesOfLayer::distance_from_mean(start + here.stride, start, start, here.stride);
    const double error = output_error(state, l, here.error[k], here.reached[k]) +
                         output_error(state, l, here.error[k + 1], here.reached[k + 1]);
    const double rounded = 4 * unit_roundoff * (here.reached[k] + here.reached[k + 1]);
    return (0.5 * (here.pieces.steepest * (distance + rounded) + error)) * slack + room_for_underflow;
  }

  // A coordinate of a crossing, or of the apex between two.
  template <class Number>
  static Number place(const LayerSweep& here, const Crossing& start, const Crossing& end, int j) {
    const std::size_t k = 2 * start.after;
    const auto of = average<Number>(here, start.after, share_of<Number>(start), share_of<Number>(end));
    const auto at = [&](std::size_t vector) { return number<Number>(here.place[j][vector], here.low_place[j][vector]); };
    return at(k) + (of.apex * (at(k + 1) - at(k)) + of.end * (at(k + 2) - at(k)));
  }

  template <class Number>
  static void hand_on_place(SweepState& state, int l, std::size_t i) {
    const LayerSweep& here = state.layers[std::size_t(l)];
    LayerSweep& above = state.layers[std::size_t(l) + 1];
    const Picked& one = state.picked[i];
    above.boundary[i] = state.boundary_of(l, one);
    Crossing start = start_of(one);
    start.after = one.point;
    for (int j = 0; j < 2; ++j) {
      const Number old = number<Number>(here.place[j][2 * one.point], here.low_place[j][2 * one.point]);
      const Number at = one.crossing == nullptr ? old : place<Number>(here, start, start, j);
      above.place[j][2 * i] = high_of(at);
      above.low_place[j][2 * i] = low_of(at);
      if (i + 1 == above.count) continue;
      const Number apex = place<Number>(here, start, end_of(state.picked[i + 1]), j);
      above.place[j][2 * i + 1] = high_of(apex);
      above.low_place[j][2 * i + 1] = low_of(apex);
    }
  }

  // Each layer that is not doubled adds at most 24 (layer) + 37 units of rounding error to a position.
  static CollectedVertex vertex_at(const SweepState& state, double x, double y, double slip) {
    double layers = 0;  // and the chart
    for (const LayerSweep& layer : state.layers) layers += layer.doubled() ? 0 : 1;
    const double rounding = 18 * layers * layers * unit_roundoff;
    return {{x + 0.0, y + 0.0}, slip * slack + rounding, -1};
  }
};

}  // namespace REGIONS_TARGET
}  // namespace regions
