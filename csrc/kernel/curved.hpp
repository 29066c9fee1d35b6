// SPDX-License-Identifier: MIT
// What is between two breakpoints of an arc?
//
// Every unit is a wave a + b X + c Y there, so three values say all: those at both ends, and at the apex, where the
// tangents meet (the affine map of this part is continued to there). Averages of the three are the values of its parts
// (kernel/arc_breakpoints.hpp). What sweep.hpp asks of a line, for arcs. Units that have one sign at the three have it
// between; where not all have, a unit crosses once or twice, or that is not proven. In the last layer nobody asks for
// values at apexes but of few units.
// Invariant, beside that of sweep.hpp: vector 2k is for breakpoint k, vector 2k + 1 nearly that of the affine map
// between p_k and p_(k+1) at the apex of *these*, and length is the tangent of half the angle between them.
// The proof is in docs/segments.md.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernel/arc_breakpoints.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

struct Curved {
  // The ends of the arc and its apex (p + q) / (1 + p q). With m = (1 + p q) / 2, the square of the cosine of half the
  // angle, the weights are 1, m and m.
  static bool start(SweepState& state) {
    LayerSweep& first = state.layers[1];
    const std::size_t inputs = std::size_t(state.network.layers[0].units);
    const std::size_t width = std::size_t(padded(int(inputs)));
    const Chart& chart = state.task.chart;
    state.take_points(first, 2, width, true);
    std::fill_n(first.high, 3 * width, 0.0);
    std::fill_n(first.low, 3 * width, 0.0);
    Twice places[3][2];
    on_circle(state.task.domain.generators + 1, places[0]);
    on_circle(state.task.domain.generators + 4, places[2]);
    const Twice one{1, 0};
    const Twice below = one + (places[0][0] * places[2][0] + places[0][1] * places[2][1]);
    for (int i = 0; i < 2; ++i) places[1][i] = (places[0][i] + places[2][i]) / below;
    for (std::size_t vector = 0; vector < 3; ++vector) {
      double squares = 0;
      for (std::size_t i = 0; i < inputs; ++i) {
        Doubled<Lanes8> input{Lanes8{} + chart.origin[i], Lanes8{}};
        double size = std::fabs(chart.origin[i]);
        for (std::size_t j = 0; j < 2; ++j) {
          const double direction = chart.directions[j * inputs + i];
          input.add_product(Lanes8{} + direction, Lanes8{} + places[vector][j].high);
          input.low += direction * places[vector][j].low;
          // At the apex the ends may cancel, and what is rounded is of their size.
          const double reach = vector == 1 ? std::fabs(places[0][j].high) + std::fabs(places[2][j].high)
                                           : std::fabs(places[vector][j].high);
          size += std::fabs(direction) * reach;
        }
        input = input.normalized();
        first.high[vector * width + i] = input.high[0];
        first.low[vector * width + i] = input.low[0];
        squares += size * size;
      }
      first.error[vector] = 0x1p12 * unit_roundoff * unit_roundoff * std::sqrt(squares) * slack +
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
    here.crossings.clear();
    double before = 0;  // bound on the slopes on the part before this breakpoint
    double length_before = INFINITY;
    for (std::size_t k = 0; k < here.count; ++k) {
      const bool last = k + 1 == here.count;
      const double deviation = last || !here.lazy ? 0 : deviation_at(state, l, k);
      const double after = last ? 0 : slope_on(here, k, deviation);
      const double length = last ? INFINITY : here.length[k];
      const double slip = here.slip[k];
      double threshold = value_error(here, 2 * k);
      if (slip != 0) threshold += 8 * slip <= std::min(length_before, length) ? slip * std::max(before, after) : INFINITY;
      threshold = threshold * slack + room_for_underflow;
      if (!find_crossings_after(state, l, k, threshold, deviation)) return false;
      before = after;
      length_before = length;
    }
    return true;
  }

  // The next breakpoints, old and new in turn, their outputs, and those at the apexes between them.
  static void hand_on(SweepState& state, int l) {
    LayerSweep& here = state.layers[std::size_t(l)];
    LayerSweep& above = state.layers[std::size_t(l) + 1];
    state.pick(here);
    state.take_points(above, state.picked.size(), here.stride, true);
    double* slopes = state.arena.take<double>(here.stride);
    if (here.doubled)
      fill<Twice>(state, l, slopes);
    else
      fill<double>(state, l, slopes);
  }

  static CollectedVertex vertex(const SweepState& state, const LayerSweep& here, const Crossing& crossing) {
    double at[2];
    for (int j = 0; j < 2; ++j)
      at[j] = here.doubled ? high_of(place<Twice>(here, crossing, crossing, j))
                           : place<double>(here, crossing, crossing, j);
    return vertex_at(state, at[0], at[1], crossing.slip * here.length[crossing.after]);
  }

  static CollectedVertex vertex(const SweepState& state, const LayerSweep& here, std::size_t k) {
    const double x = here.place[0][2 * k];
    const double y = here.place[1][2 * k];
    if (here.boundary[k] < 0) return {{x + 0.0, y + 0.0}, 0x1p-50, -1};
    return vertex_at(state, x, y, here.slip[k]);
  }

  // How much of the arc is done.
  static double finished(const SweepState& state, const LayerSweep& here) {
    const double* ends = state.task.domain.generators;
    const double x = here.place[0][here.vectors - 1];
    const double y = here.place[1][here.vectors - 1];
    const auto angle = [&](double u, double v) { return std::atan2(ends[1] * v - ends[2] * u, ends[1] * u + ends[2] * v); };
    return std::min(1.0, angle(x, y) / angle(ends[4], ends[5]));
  }

 private:
  // The direction's point of the circle.
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

  static const double* values_at(const LayerSweep& here, std::size_t k) {
    return here.sums + (here.lazy ? k : 2 * k) * here.stride;
  }

  static constexpr std::size_t apex_of(std::size_t k) { return 2 * k + 1; }

  // Of any unit's value at the apex from the mean of those at both ends.
  static double deviation_at(const SweepState& state, int l, std::size_t k) {
    const LayerSweep& here = state.layers[std::size_t(l)];
    const std::size_t width = std::size_t(padded(state.network.layers[std::size_t(l)].inputs));
    const double* vectors = here.high + 2 * k * width;
    Lanes8 squares{};
    for (std::size_t i = 0; i < width; i += 8) {
      const Lanes8 mean = 0.5 * load<Lanes8>(vectors + i) + 0.5 * load<Lanes8>(vectors + 2 * width + i);
      const Lanes8 part = load<Lanes8>(vectors + width + i) - mean;
      squares += part * part;
    }
    double sum = 0;
    for (int lane = 0; lane < 8; ++lane) sum += squares[lane];
    const double rounded = 4 * unit_roundoff * (here.size[2 * k] + here.size[2 * k + 1] + here.size[2 * k + 2]);
    const double error = here.error[2 * k] + here.error[2 * k + 1] + here.error[2 * k + 2];
    const double deviation = std::sqrt(sum) * slack + floor_of_sizes * double(width) + rounded + error;
    return here.norm * deviation * slack + room_for_underflow;
  }

  // Bound on the slope of any unit within an eighth of the length of either end, by the angle.
  static double slope_on(const LayerSweep& here, std::size_t k, double deviation) {
    if (!(here.length[k] > 0x1p-900)) return INFINITY;
    const double* start = values_at(here, k);
    const double* end = values_at(here, k + 1);
    const double* apex = here.lazy ? end : start + here.stride;
    Lanes8 change{};
    for (std::size_t i = 0; i < here.stride; i += 8) {
      const Lanes8 middle = load<Lanes8>(apex + i);
      const Lanes8 first = absolute(middle - load<Lanes8>(start + i));
      const Lanes8 second = absolute(load<Lanes8>(end + i) - middle);
      change = first > change ? first : change;
      change = second > change ? second : change;
    }
    double largest = deviation;
    for (int lane = 0; lane < 8; ++lane) largest = at_least(largest, change[lane] + deviation);
    double off = 0;
    for (std::size_t i = 2 * k; i < 2 * k + 3; ++i)
      off += 2 * value_error(here, i) + 4 * unit_roundoff * here.reached[i];
    return 1.2 * (largest + off) * slack / here.length[k] * slack;
  }

  // What a unit has at the apex, in a layer without products of apexes: as many roundings at most as these have.
  static double apex_value(const SweepState& state, int l, std::size_t k, int unit) {
    const LayerSweep& here = state.layers[std::size_t(l)];
    const Layer& layer = state.network.layers[std::size_t(l)];
    RowRoom room;
    const double* weights = layer.weights.row(unit, room);
    const double* outputs = here.high + apex_of(k) * std::size_t(padded(layer.inputs));
    Lanes8 sums[4] = {};
    int i = 0;
    for (; i + 32 <= layer.inputs; i += 32)
      for (int part = 0; part < 4; ++part)
        sums[part] += load<Lanes8>(weights + i + 8 * part) * load<Lanes8>(outputs + i + 8 * part);
    double sum = 0;
    for (; i < layer.inputs; ++i) sum += weights[i] * outputs[i];
    const Lanes8 all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    double total = 0;
    for (int lane = 0; lane < 8; ++lane) total += all[lane];
    return (total + sum) + layer.biases[unit];
  }

  static Wave wave_of(const SweepState& state, int l, std::size_t k, int unit) {
    const LayerSweep& here = state.layers[std::size_t(l)];
    Wave wave{};
    for (std::size_t i = 0; i < 3; ++i) {
      wave.off[i] = value_error(here, 2 * k + i);
      if (here.lazy) {
        wave.high[i] = i == 1 ? apex_value(state, l, k, unit) : values_at(here, k + i / 2)[unit];
        continue;
      }
      const std::size_t at = (2 * k + i) * here.stride + std::size_t(unit);
      wave.high[i] = here.sums[at];
      if (here.doubled) wave.low[i] = here.low_sums[at];
    }
    return wave;
  }

  // Signs at the breakpoint, and the crossings up to the next; false where something is not proven.
  static bool find_crossings_after(SweepState& state, int l, std::size_t k, double threshold, double deviation) {
    LayerSweep& here = state.layers[std::size_t(l)];
    const int units = state.network.layers[std::size_t(l)].units;
    const bool last = k + 1 == here.count;
    const double* values = values_at(here, k);
    const double* following = last ? values : values_at(here, k + 1);
    const double* apex = last || here.lazy ? values : values + here.stride;
    const double least = last ? 0 : here.lazy ? deviation + value_error(here, 2 * k) + value_error(here, 2 * k + 2)
                                              : value_error(here, apex_of(k));
    const std::size_t first = here.crossings.size();
    for (int i = 0; i < units; i += 8) {
      const Lanes8 value = load<Lanes8>(values + i);
      const unsigned real = units - i >= 8 ? 255u : (1u << (units - i)) - 1;
      if ((bits_of(absolute(value) > threshold) & real) != real) return false;
      if (last) continue;
      const Lanes8 next = load<Lanes8>(following + i);
      const unsigned positive = bits_of(value > 0) & real;
      const unsigned changes = (positive ^ bits_of(next > 0)) & real;
      unsigned sure;
      if (here.lazy) {
        sure = bits_of(absolute(value) > least * slack) & bits_of(absolute(next) > least * slack);
      } else {
        const Lanes8 middle = load<Lanes8>(apex + i);
        sure = (bits_of(middle > least * slack) & positive) | (bits_of(middle < -least * slack) & ~positive);
      }
      for (unsigned asked = (changes | ~sure) & real; asked != 0; asked &= asked - 1) {
        const int lane = __builtin_ctz(asked);
        const Wave wave = wave_of(state, l, k, i + lane);
        const bool up = !(positive >> lane & 1);
        const bool once = changes >> lane & 1;
        if (!once) {
          const double beyond = up ? -wave.high[1] : wave.high[1];
          if (beyond > wave.off[1] * slack || surely_apart(here, k, wave)) continue;
        }
        for (int which = 0; which < (once ? 1 : 2); ++which) {
          here.crossings.push_back({k, i + lane, 0, 0, 0, 0, which == 0 ? up : !up});
          if (!(here.doubled ? place_on_arc<Twice>(here, wave, l, here.crossings.back())
                             : place_on_arc<double>(here, wave, l, here.crossings.back())))
            return false;
        }
      }
    }
    return in_order_on_arc(here, here.crossings.data() + first, here.crossings.data() + here.crossings.size());
  }

  template <class Number>
  static void fill(SweepState& state, int l, double* slopes) {
    const LayerSweep& here = state.layers[std::size_t(l)];
    LayerSweep& above = state.layers[std::size_t(l) + 1];
    const Layer& layer = state.network.layers[std::size_t(l)];
    const double rounding = here.steepest * (here.rounding + 2 * rounding_of_averages(l, here.doubled));
    const auto error_at = [&](std::size_t vector) {
      return layer.gain * here.error[vector] + rounding * here.reached[vector];
    };
    for (std::size_t i = 0; i < above.count; ++i) {
      const Picked& one = state.picked[i];
      const std::size_t k = one.point;
      const bool last = k + 1 == here.count;
      const double around = last ? 0 : std::max(error_at(2 * k), std::max(error_at(2 * k + 1), error_at(2 * k + 2)));
      const Crossing start = start_of(one);
      if (one.crossing == nullptr) {
        choose_slopes(here, 2 * k, slopes);
        above.slip[i] = here.slip[k];
        above.error[2 * i] = error_at(2 * k) * slack + room_for_underflow;
        output<Number>(here, 2 * k, slopes, above, 2 * i);
      } else {
        slopes[one.crossing->unit] = (one.crossing->rising ? here.upper : here.lower)[one.crossing->unit];
        above.slip[i] = one.crossing->slip * here.length[k] * slack + room_for_underflow;  // 0 means exact
        above.error[2 * i] = (around + here.steepest * one.crossing->error) * slack + room_for_underflow;
        const auto at = average<Number>(here, k, share_of<Number>(start), share_of<Number>(start));
        output<Number>(here, 2 * k, at, slopes, above, 2 * i);
        above.high[2 * i * here.stride + std::size_t(one.crossing->unit)] = 0;
        if (here.doubled) above.low[2 * i * here.stride + std::size_t(one.crossing->unit)] = 0;
      }
      if (state.strand != nullptr) hand_on_place<Number>(state, l, i);
      if (i + 1 == above.count) return;
      above.error[2 * i + 1] = around * slack + room_for_underflow;
      const Picked& next = state.picked[i + 1];
      if (one.crossing == nullptr && next.crossing == nullptr) {
        for (int j = 0; j < 3; ++j) {
          above.weights[j][i] = here.weights[j][k];
          above.low_weights[j][i] = here.low_weights[j][k];
        }
        above.length[i] = here.length[k];
        output<Number>(here, 2 * k + 1, slopes, above, 2 * i + 1);
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
      above.length[i] = here.length[k] * (here.weights[1][k] * gap(start, end) / high_of(at.weight));
      output<Number>(here, 2 * k, at, slopes, above, 2 * i + 1);
    }
  }

  template <class Number>
  static Number share_of(const Crossing& crossing) {
    return number<Number>(crossing.share, crossing.share_low);
  }

  // On the part after a breakpoint: signs there are proven.
  static void choose_slopes(const LayerSweep& here, std::size_t vector, double* slopes) {
    for (std::size_t i = 0; i < here.stride; i += 8) {
      const Lanes8 value = load<Lanes8>(here.sums + vector * here.stride + i);
      store(slopes + i, value > 0 ? load<Lanes8>(here.upper + i) : load<Lanes8>(here.lower + i));
    }
  }

  static void keep(const LayerSweep& here, Doubled<Lanes8> value, const double* slopes, LayerSweep& above,
                   std::size_t target, std::size_t i) {
    const Lanes8 slope = load<Lanes8>(slopes + i);
    if (!here.doubled) {
      store(above.high + target * here.stride + i, value.high * slope);
      return;
    }
    Doubled<Lanes8> result{};
    result.add_product(value.high, slope);
    result.low += value.low * slope;
    result = result.normalized();
    store(above.high + target * here.stride + i, result.high);
    store(above.low + target * here.stride + i, result.low);
  }

  static Doubled<Lanes8> sum_at(const LayerSweep& here, std::size_t at) {
    return {load<Lanes8>(here.sums + at), here.doubled ? load<Lanes8>(here.low_sums + at) : Lanes8{}};
  }

  template <class Number>
  static void output(const LayerSweep& here, std::size_t vector, const double* slopes, LayerSweep& above,
                     std::size_t target) {
    for (std::size_t i = 0; i < here.stride; i += 8)
      keep(here, sum_at(here, vector * here.stride + i), slopes, above, target, i);
  }

  // Of an average of a vector and the two after it.
  template <class Number>
  static void output(const LayerSweep& here, std::size_t vector, const Average<Number>& of, const double* slopes,
                     LayerSweep& above, std::size_t target) {
    for (std::size_t i = 0; i < here.stride; i += 8) {
      const std::size_t at = vector * here.stride + i;
      Doubled<Lanes8> value = sum_at(here, at);
      const Doubled<Lanes8> start = value;
      add_change(here, start, sum_at(here, at + here.stride), of.apex, value);
      add_change(here, start, sum_at(here, at + 2 * here.stride), of.end, value);
      if (here.doubled) value = value.normalized();
      keep(here, value, slopes, above, target, i);
    }
  }

  static void add_change(const LayerSweep&, const Doubled<Lanes8>& from, const Doubled<Lanes8>& to, double share,
                         Doubled<Lanes8>& value) {
    value.high += (to.high - from.high) * share;
  }

  static void add_change(const LayerSweep&, const Doubled<Lanes8>& from, Doubled<Lanes8> to, Twice share,
                         Doubled<Lanes8>& value) {
    to.add(-from.high);
    to.low -= from.low;
    to = to.normalized();
    value.add_product(to.high, Lanes8{} + share.high);
    value.low += to.low * share.high + to.high * share.low;
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
    above.boundary[i] = one.crossing != nullptr ? state.network.layers[std::size_t(l)].kink(one.crossing->unit, 0)
                                                : here.boundary[one.point];
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

  // In each layer that is not doubled a position is off by 24 (layer) + 37 units more, at most.
  static CollectedVertex vertex_at(const SweepState& state, double x, double y, double slip) {
    double layers = 0;  // and the chart
    for (const LayerSweep& layer : state.layers) layers += layer.doubled ? 0 : 1;
    const double rounding = 18 * layers * layers * unit_roundoff;
    return {{x + 0.0, y + 0.0}, slip * slack + rounding, -1};
  }
};

}  // namespace REGIONS_TARGET
}  // namespace regions
