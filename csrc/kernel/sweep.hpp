// SPDX-License-Identifier: MIT
// Which regions does a bounded segment meet, if all of them are well apart?
//
// On a segment the recursion carries rows and columns for what numbers can say: the values of a layer at all
// breakpoints so far. Between two neighbours every unit is affine, so where it changes sign there is one more
// breakpoint, and its values are between theirs. One matrix product a layer does nearly all the work, in pieces of a few
// hundred breakpoints, depth first, so that memory stays small.
//
// What is kept of a breakpoint t are outputs that are nearly those of the affine maps on both of its sides at *some*
// real number p, and
//     error    their distance, in the 2-norm: grows by spectral norms, as in residuals.hpp
//     slip     |p - t| at most, in units of the segment
//     length   from this p to the next, to a few roundings
//     place    p, where regions are not only counted
// A sign at t is proven if a value at p is farther from 0 than its error and `slip` times the slope. Two breakpoints
// between the same neighbours are in proven order if they are farther apart than both may have slipped. Where anything
// is not proven, whatever the reason, nothing is said, and the recursion is asked: so nothing is ever decided on long
// integers here, and what is degenerate is none of its business.
// The lowest layers are kept to twice the working precision: there are few breakpoints, and a long way to go.
// The proof is in docs/segments.md. Cost: breakpoints x units x active units of the layer below, for each layer.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "collect/strand.hpp"
#include "kernel/breakpoints.hpp"
#include "kernel/kernel.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

class Sweep {
 public:
  // Without a strand regions are counted.
  explicit Sweep(const Task& task, Strand* strand = nullptr)
      : task_(task), strand_(strand), arena_(*memory_), network_(task.network), layers_(network_.layers.size()) {}

  // Whether it is proven what regions there are: then `outcome` and the strand say it. Tried again with more precision.
  bool run() {
    if (!suits()) return false;
    prepare();
    for (const double doubts : {0x1p-16, 0x1p-26}) {
      if (!choose_precision(doubts)) break;
      const Arena::Mark mark = arena_.mark();
      if (start() && descend()) return true;
      arena_.release(mark);
      task_.outcome = Outcome{};
      task_.monitor.finished(-finished_);
      if (strand_ != nullptr) strand_->clear();
    }
    return false;
  }

 private:
  // One kink at 0, and no intercepts: then the activation is continuous for sure.
  bool suits() const {
    if (task_.panels == nullptr || network_.last() < 1) return false;
    if (task_.domain.count != 2 || task_.domain.generators[0] == 0 || task_.domain.generators[2] == 0) return false;
    for (int l = 1; l <= network_.last(); ++l) {
      const Layer& layer = network_.layers[std::size_t(l)];
      if (layer.kinks != 1) return false;
      for (int i = 0; i < layer.units; ++i)
        if (layer.breakpoints[i] != 0) return false;
      for (int i = 0; i < 2 * layer.units; ++i)
        if (layer.intercepts[i] != 0) return false;
    }
    return true;
  }

  void prepare() {
    for (int l = 1; l <= network_.last(); ++l) {
      const Layer& layer = network_.layers[std::size_t(l)];
      LayerSweep& here = layers_[std::size_t(l)];
      const std::size_t units = std::size_t(layer.units);
      here.stride = std::size_t(padded(layer.units));
      here.norm = layer.largest_norm;
      here.spread = layer.largest_norm * std::sqrt(double(units)) * slack;
      here.biases = arena_.take<double>(here.stride);
      here.lower = arena_.take<double>(here.stride);
      here.upper = arena_.take<double>(here.stride);
      double squares = 0;
      for (std::size_t i = 0; i < here.stride; ++i) {
        const bool real = i < units;
        here.biases[i] = real ? layer.biases[i] : 0;
        here.lower[i] = real ? layer.slopes[2 * i] : 0;
        here.upper[i] = real ? layer.slopes[2 * i + 1] : 0;
        const double magnitude = std::fabs(here.biases[i]);
        here.bias = at_least(here.bias, magnitude);
        squares += magnitude * magnitude;
        here.steepest = at_least(here.steepest, at_least(std::fabs(here.lower[i]), std::fabs(here.upper[i])));
      }
      here.bias_norm = std::sqrt(squares) * slack + floor_of_sizes * double(units);
    }
  }

  // As many of the lowest layers are doubled as make a doubt unlikely, by a guess. It costs nothing but time.
  bool choose_precision(double most_doubts) {
    for (int doubled = 0; doubled <= network_.last(); ++doubled) {
      double error = 0;  // of outputs, in units of their size
      double doubts = 0;
      double breakpoints = 2;
      for (int l = 1; l <= network_.last(); ++l) {
        const Layer& layer = network_.layers[std::size_t(l)];
        LayerSweep& here = layers_[std::size_t(l)];
        here.doubled = l <= doubled;
        here.rounding =
            here.doubled ? rounding_of_doubled_products(layer.inputs) : rounding_of_products(layer.inputs);
        const double growth = layer.gain / (here.spread * std::sqrt(0.5 / layer.units));  // more than values do
        error = error * growth + 1.5 * here.rounding * std::sqrt(double(layer.units));
        doubts += breakpoints * error;
        breakpoints += 0.5 * layer.units;
      }
      if (doubts < most_doubts) return true;
    }
    return false;
  }

  // The ends of the segment.
  bool start() {
    LayerSweep& first = layers_[1];
    const std::size_t inputs = std::size_t(network_.layers[0].units);
    const std::size_t width = std::size_t(padded(int(inputs)));
    const Chart& chart = task_.chart;
    take_points(first, 2, width);
    std::fill_n(first.high, 2 * width, 0.0);
    std::fill_n(first.low, 2 * width, 0.0);
    for (std::size_t end = 0; end < 2; ++end) {
      const double at = task_.domain.generators[2 * end + 1];
      double squares = 0;
      for (std::size_t i = 0; i < inputs; ++i) {
        Doubled<Lanes8> input{Lanes8{} + chart.origin[i], Lanes8{}};
        input.add_product(Lanes8{} + chart.directions[i], Lanes8{} + at);
        input = input.normalized();
        first.high[end * width + i] = input.high[0];
        first.low[end * width + i] = input.low[0];
        const double size = std::fabs(chart.origin[i]) + std::fabs(chart.directions[i] * at);
        squares += size * size;
      }
      first.error[end] = 0x1p10 * unit_roundoff * unit_roundoff * std::sqrt(squares) * slack +
                         room_for_underflow * double(inputs);
      first.slip[end] = 0;
    }
    if (strand_ != nullptr) {
      strand_->clear();
      for (std::size_t end = 0; end < 2; ++end) {
        first.place[end] = double(end);
        first.low_place[end] = 0;
        first.boundary[end] = -1 - Boundary(end);
      }
    }
    finished_ = 0;
    first.length[0] = 1;  // whatever the chart's unit: slips and slopes are in units of the segment
    const double extent = std::fabs(task_.domain.generators[3] - task_.domain.generators[1]);
    return extent > 0 && extent < INFINITY;
  }

  void take_points(LayerSweep& layer, std::size_t count, std::size_t width) {
    layer.count = count;
    layer.high = arena_.take<double>(count * width);
    layer.low = arena_.take<double>(count * width);
    layer.error = arena_.take<double>(count);
    layer.slip = arena_.take<double>(count);
    layer.length = arena_.take<double>(count);
    if (strand_ == nullptr) return;
    layer.place = arena_.take<double>(count);
    layer.low_place = arena_.take<double>(count);
    layer.boundary = arena_.take<Boundary>(count);
  }

  // Depth first: each layer hands on a few hundred of its breakpoints at a time.
  bool descend() {
    int l = 1;
    if (!advance(l)) return false;
    while (l > 0) {
      LayerSweep& here = layers_[std::size_t(l)];
      if (l == network_.last() || here.next + 1 >= here.count) {
        --l;
        continue;
      }
      arena_.release(here.mark);
      hand_on(l);
      if (!advance(++l)) return false;
    }
    return true;
  }

  // Everything about one layer at the breakpoints that it was given; false where a sign or an order is not proven.
  bool advance(int l) {
    LayerSweep& here = layers_[std::size_t(l)];
    const Layer& layer = network_.layers[std::size_t(l)];
    multiply_all(l);
    here.next = 0;
    here.next_crossing = 0;
    if (!find_crossings(l)) return false;
    if (strand_ != nullptr && here.boundary[0] == -1) begin(l);
    here.mark = arena_.mark();
    Outcome& outcome = task_.outcome;
    const std::int64_t signs = std::int64_t(here.count) * layer.units;
    outcome.signs.prove(here.doubled ? 2 : 1, signs);
    outcome.cells += std::int64_t(here.count) - 1;
    task_.monitor.work(signs / 16);
    if (l != network_.last()) return true;
    if (strand_ != nullptr) return collect(l);
    outcome.count += std::int64_t(here.count - 1 + here.crossings.size());
    task_.monitor.found(outcome.count);
    return true;
  }

  // Which units are on where the segment begins.
  void begin(int l) {
    const Layer& layer = network_.layers[std::size_t(l)];
    for (int i = 0; i < layer.units; ++i)
      if (layers_[std::size_t(l)].sums[i] > 0) strand_->switch_on(layer.kink(i, 0));
    if (l == network_.last()) strand_->begin(end_of_segment(0), -1);
  }

  // The regions between the breakpoints of the last layer; false where the numbers are out of range.
  bool collect(int l) {
    const LayerSweep& here = layers_[std::size_t(l)];
    const Layer& layer = network_.layers[std::size_t(l)];
    const Crossing* crossing = here.crossings.data();
    const Crossing* const end = crossing + here.crossings.size();
    for (std::size_t k = 0; k + 1 < here.count; ++k) {
      for (; crossing < end && crossing->after == k; ++crossing) {
        const Doubled<Lanes4> place = place_of(here, *crossing);
        const double slip = crossing->slip * here.length[k] * slack + room_for_underflow;
        if (!reach(vertex_at(place.high[0], place.low[0], slip), layer.kink(crossing->unit, 0))) return false;
      }
      const Boundary boundary = here.boundary[k + 1];
      const CollectedVertex vertex =
          boundary < 0 ? end_of_segment(1) : vertex_at(here.place[k + 1], here.low_place[k + 1], here.slip[k + 1]);
      if (!reach(vertex, boundary)) return false;
    }
    const double finished = here.place[here.count - 1];
    task_.monitor.finished(finished - finished_);
    finished_ = finished;
    return true;
  }

  bool reach(const CollectedVertex& vertex, Boundary boundary) {
    if (!(vertex.error < INFINITY)) return false;
    task_.outcome.count = strand_->reach(vertex, boundary);
    task_.monitor.found(task_.outcome.count);
    return true;
  }

  CollectedVertex end_of_segment(int end) const { return {{task_.domain.generators[2 * end + 1] + 0.0, 0}, 0, -1}; }

  // In the chart, from a share of the segment. Sums to twice the working precision, in units of the larger end.
  CollectedVertex vertex_at(double place, double low_place, double slip) const {
    const double ends[2] = {task_.domain.generators[1], task_.domain.generators[3]};
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

  void multiply_all(int l) {
    LayerSweep& here = layers_[std::size_t(l)];
    const std::size_t inputs = std::size_t(network_.layers[std::size_t(l)].inputs);
    const std::size_t width = std::size_t(padded(int(inputs)));
    here.sums = arena_.take<double>((here.count + 1) * here.stride);  // and room for what nobody reads
    here.low_sums = arena_.take<double>(here.doubled ? (here.count + 1) * here.stride : 0);
    here.size = arena_.take<double>(here.count);
    here.reached = arena_.take<double>(here.count);
    const Arena::Mark mark = arena_.mark();
    const std::size_t groups = (here.count + points_at_once - 1) / points_at_once;
    int* active = arena_.take<int>(groups * inputs);
    Operands* operands = arena_.take<Operands>(groups);
    for (std::size_t group = 0; group < groups; ++group, active += inputs) {
      Operands& of = operands[group];
      of = Operands{};
      of.active = active;
      for (std::size_t p = 0; p < points_at_once; ++p) {
        const std::size_t point = std::min(group * points_at_once + p, here.count - 1);
        const std::size_t target = std::min(group * points_at_once + p, here.count);
        of.high[p] = here.high + point * width;
        of.low[p] = here.low + point * width;
        of.sums[p] = here.sums + target * here.stride;
        if (here.doubled) of.low_sums[p] = here.low_sums + target * here.stride;
        here.size[point] = norm(of.high[p], width);
        here.reached[point] = (here.spread * here.size[point] + here.bias_norm) * slack;
        of.grid[p] = grid(here.size[point] * here.norm);
        std::copy_n(here.biases, here.stride, of.sums[p]);
      }
      for (std::size_t i = 0; i < width; i += 8) {
        unsigned used = 0;
        for (std::size_t p = 0; p < points_at_once; ++p) used |= bits_of(load<Lanes8>(of.high[p] + i) != 0);
        for (; used != 0; used &= used - 1) active[of.count++] = int(i) + __builtin_ctz(used);
      }
    }
    multiply(operands, groups, task_.panels[l], inputs, here.stride, here.doubled);
    arena_.release(mark);
  }

  bool find_crossings(int l) {
    LayerSweep& here = layers_[std::size_t(l)];
    const int units = network_.layers[std::size_t(l)].units;
    here.crossings.clear();
    double before = INFINITY;  // bound on the slopes between the last breakpoint and this one
    for (std::size_t k = 0; k < here.count; ++k) {
      const bool last = k + 1 == here.count;
      const double* values = here.sums + k * here.stride;
      const double* following = last ? values : values + here.stride;
      const double after = last ? INFINITY : slope_after(here, k);
      const double off = value_error(here, k);
      const double slipped = here.slip[k] == 0 ? 0 : here.slip[k] * std::min(before, after);
      const double threshold = (off + slipped) * slack + room_for_underflow;
      const std::size_t first = here.crossings.size();
      for (int i = 0; i < units; i += 8) {
        const Lanes8 value = load<Lanes8>(values + i);
        const unsigned real = units - i >= 8 ? 255u : (1u << (units - i)) - 1;
        if ((bits_of(absolute(value) > threshold) & real) != real) return false;
        unsigned changes = bits_of((value > 0) ^ (load<Lanes8>(following + i) > 0)) & real;
        for (; changes != 0; changes &= changes - 1) {
          here.crossings.push_back({k, i + __builtin_ctz(changes), 0, 0, 0, 0});
          if (!place(here, std::max(off, value_error(here, k + 1)), here.crossings.back())) return false;
        }
      }
      if (!in_order(here.crossings.data() + first, here.crossings.data() + here.crossings.size())) return false;
      before = after;
    }
    return true;
  }

  // The next breakpoints, old and new in turn, and their outputs.
  void hand_on(int l) {
    LayerSweep& here = layers_[std::size_t(l)];
    LayerSweep& above = layers_[std::size_t(l) + 1];
    picked_.clear();
    picked_.push_back({here.next, nullptr});
    while (here.next + 1 < here.count && picked_.size() < most_points) {
      for (; here.next_crossing < here.crossings.size(); ++here.next_crossing) {
        const Crossing& crossing = here.crossings[here.next_crossing];
        if (crossing.after != here.next) break;
        picked_.push_back({here.next, &crossing});
      }
      picked_.push_back({++here.next, nullptr});
    }
    take_points(above, picked_.size(), here.stride);
    const double gain = network_.layers[std::size_t(l)].gain;
    const double rounding =
        here.steepest * (here.rounding + (here.doubled ? 0x1p10 * unit_roundoff : 16) * unit_roundoff);
    const auto error_at = [&](std::size_t k) { return gain * here.error[k] + rounding * here.reached[k]; };
    for (std::size_t i = 0; i < above.count; ++i) {
      const Picked& one = picked_[i];
      double error = error_at(one.point);
      above.slip[i] = here.slip[one.point];
      if (one.crossing != nullptr) {
        error = std::max(error, error_at(one.point + 1)) + here.steepest * one.crossing->error;
        above.slip[i] = one.crossing->slip * here.length[one.point] * slack + room_for_underflow;  // 0 means exact
      }
      above.error[i] = error * slack + room_for_underflow;
      if (strand_ != nullptr) hand_on_place(l, one, i);
      if (here.doubled)
        output<true>(here, one, above.high + i * here.stride, above.low + i * here.stride);
      else
        output<false>(here, one, above.high + i * here.stride, above.low + i * here.stride);
      if (i + 1 < above.count) above.length[i] = gap(start_of(one), end_of(picked_[i + 1])) * here.length[one.point];
    }
  }

  void hand_on_place(int l, const Picked& one, std::size_t i) {
    const LayerSweep& here = layers_[std::size_t(l)];
    LayerSweep& above = layers_[std::size_t(l) + 1];
    Doubled<Lanes4> place{Lanes4{} + here.place[one.point], Lanes4{} + here.low_place[one.point]};
    if (one.crossing != nullptr) place = place_of(here, *one.crossing);
    above.place[i] = place.high[0];
    above.low_place[i] = place.low[0];
    above.boundary[i] = one.crossing != nullptr ? network_.layers[std::size_t(l)].kink(one.crossing->unit, 0)
                                                : here.boundary[one.point];
  }

  static constexpr std::size_t most_points = 256;

  const Task& task_;
  Strand* strand_;
  double finished_ = 0;  // share of the segment
  BorrowedArena memory_;
  Arena& arena_;
  const Network& network_;
  std::vector<LayerSweep> layers_;
  std::vector<Picked> picked_;
};

}  // namespace REGIONS_TARGET
}  // namespace regions
