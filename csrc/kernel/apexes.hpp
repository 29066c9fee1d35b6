// SPDX-License-Identifier: MIT
// What are the values of units where the tangents at both ends of a part of an arc meet (the apex)?
//
// They are needed only where a unit crosses: most parts are never cut again, and a bound on how far a unit's sinusoid is from a
// straight line shows that it is not zero on a part. This bound is computed for each part, from layer to layer. The values
// themselves are computed only if a unit crosses, or may cross, in the part. They need the values of lower layers at the apex of
// the same part, or of the part that it was cut from; those that are unknown are computed first, several parts at a time.
// The proof is in docs/arcs.md. Cost: a product with the weights for each part that is requested.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "kernel/arc_breakpoints.hpp"
#include "kernel/layer_values.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// Error of outputs, in the 2-norm, given the error of the outputs below and the size of the pre-activations.
inline double output_error(const SweepState& state, int l, double error, double reached) {
  const LayerSweep& here = state.layers[std::size_t(l)];
  const double rounding = (here.rounding + 2 * rounding_of_averages(l, here.doubled())) * reached;
  return state.network.layers[std::size_t(l)].gain * error + here.pieces.steepest * rounding + here.intercept_rounding;
}

// Error of the outputs of an average of the values at both ends and the apex of part k. Its rounding is proportional to the
// largest size of the three, its other error to the largest error of the three.
inline double average_error(const SweepState& state, int l, std::size_t k) {
  const LayerSweep& here = state.layers[std::size_t(l)];
  const auto largest = [&](const double* ends, const double* apexes) {
    return at_least(at_least(ends[k], ends[k + 1]), apexes[k]);
  };
  return output_error(state, l, largest(here.error, here.apexes.error), largest(here.reached, here.apexes.reached));
}

inline Doubled<Lanes8> sum_at(const double* high, const double* low, std::size_t at) {
  return {load<Lanes8>(high + at), low != nullptr ? load<Lanes8>(low + at) : Lanes8{}};
}

inline void add_change(const Doubled<Lanes8>& from, const Doubled<Lanes8>& to, double share, Doubled<Lanes8>& value) {
  value.high += (to.high - from.high) * share;
}
inline void add_change(const Doubled<Lanes8>& from, Doubled<Lanes8> to, Twice share, Doubled<Lanes8>& value) {
  to.add(-from.high);
  to.low -= from.low;
  to = to.normalized();
  value.add_product(to.high, Lanes8{} + share.high);
  value.low += to.low * share.high + to.high * share.low;
}

// Outputs of an average of the values at the ends and the apex of part k.
template <class Number, bool IsSimple, class PieceOf>
void write_average(const LayerSweep& here, std::size_t k, const Average<Number>& of, const PieceOf& piece_of,
                   double* high, double* low) {
  constexpr bool is_doubled = std::is_same<Number, Twice>::value;
  const double* low_sums = here.doubled() ? here.low_sums + k * here.stride : nullptr;
  const double* low_apex = here.doubled() ? here.apexes.low_sums + k * here.stride : nullptr;
  const double* sums = here.sums + k * here.stride;
  const double* apex = here.apexes.sums + k * here.stride;
  for (std::size_t i = 0; i < here.stride; i += 8) {
    const Doubled<Lanes8> start = sum_at(sums, low_sums, i);
    Doubled<Lanes8> value = start;
    add_change(start, sum_at(apex, low_apex, i), of.apex, value);
    add_change(start, sum_at(sums, low_sums, i + here.stride), of.end, value);
    if (is_doubled) value = value.normalized();
    keep_output<is_doubled, IsSimple>(value, piece_of(start, value, i), high + i, low + i);
  }
}

class ApexesOfLayer {
 public:
  ApexesOfLayer(SweepState& state, int l)
      : state_(state),
        l_(l),
        here_(state.layers[std::size_t(l)]),
        all_(here_.apexes),
        width_(std::size_t(padded(state.network.layers[std::size_t(l)].inputs))) {}

  // Allocates the arrays, in which no values are known yet.
  void take_room() {
    Arena& arena = state_.arena;
    for (double** numbers : {&all_.bulge, &all_.bulge_above, &all_.deviation, &all_.error, &all_.size, &all_.reached})
      *numbers = arena.take<double>(here_.count);
    all_.known = arena.take<unsigned char>(here_.count);
    std::fill_n(all_.known, here_.count, static_cast<unsigned char>(nothing));
    all_.high = arena.take<double>(here_.count * width_);
    all_.low = arena.take<double>(here_.count * width_);
    all_.sums = arena.take<double>((here_.count + 1) * here_.stride);
    all_.low_sums = arena.take<double>(here_.doubled() ? (here_.count + 1) * here_.stride : 0);
  }

  // Computes bounds from the bounds on outputs below, if nothing else is known.
  void bound_deviations() {
    const double gain = state_.network.layers[std::size_t(l_)].gain;
    for (std::size_t k = 0; k + 1 < here_.count; ++k) {
      all_.deviation[k] = here_.norm * all_.bulge[k] * slack + room_for_underflow;
      all_.bulge_above[k] = gain * all_.bulge[k] * slack + room_for_underflow;
    }
  }

  // In the last layer `value` computes single values instead.
  bool one_by_one() const { return l_ == state_.network.last() && !here_.doubled(); }

  // Computes the values at the apexes of these parts, which are in order.
  static void ask(SweepState& state, int l, const std::vector<std::size_t>& parts) {
    state.asked.resize(state.layers.size());
    state.asked[std::size_t(l)] = parts;
    int lowest = l;
    for (; lowest > 1; --lowest) {
      const LayerSweep& here = state.layers[std::size_t(lowest)];
      const Apexes& below = state.layers[std::size_t(lowest) - 1].apexes;
      std::vector<std::size_t>& parents = state.asked[std::size_t(lowest) - 1];
      parents.clear();
      for (const std::size_t k : state.asked[std::size_t(lowest)]) {
        const std::size_t parent = here.apexes.origin[k].point;
        if (here.apexes.known[k] != nothing || below.known[parent] == values) continue;
        if (parents.empty() || parents.back() != parent) parents.push_back(parent);
      }
      if (parents.empty()) break;
    }
    for (; lowest <= l; ++lowest) ApexesOfLayer(state, lowest).compute(state.asked[std::size_t(lowest)]);
  }

  // The value of one unit at the apex of part k, with no more roundings than in a product for all units.
  double value(std::size_t k, int unit) const {
    const Layer& layer = state_.network.layers[std::size_t(l_)];
    const double* weights = layer.weights.row(unit);
    const double* outputs = all_.high + k * width_;
    Lanes8 sums[4] = {};
    int i = 0;
    for (; i + 32 <= layer.inputs; i += 32)
      for (int part = 0; part < 4; ++part)
        sums[part] += load<Lanes8>(weights + i + 8 * part) * load<Lanes8>(outputs + i + 8 * part);
    double sum = 0;
    for (; i < layer.inputs; ++i) sum += weights[i] * outputs[i];
    const Lanes8 together = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    double total = 0;
    for (int lane = 0; lane < 8; ++lane) total += together[lane];
    return (total + sum) + layer.biases[unit];
  }

  // Bound on the 2-norm of a row of `numbers` minus the mean of two rows, as computed.
  static double distance_from_mean(const double* numbers, const double* first, const double* second,
                                   std::size_t count) {
    Lanes8 squares{};
    for (std::size_t i = 0; i < count; i += 8) {
      const Lanes8 mean = 0.5 * load<Lanes8>(first + i) + 0.5 * load<Lanes8>(second + i);
      const Lanes8 part = load<Lanes8>(numbers + i) - mean;
      squares += part * part;
    }
    double sum = 0;
    for (int lane = 0; lane < 8; ++lane) sum += squares[lane];
    return std::sqrt(sum) * slack + floor_of_sizes * double(count);
  }

  static constexpr unsigned char nothing = 0;
  static constexpr unsigned char outputs = 1;
  static constexpr unsigned char values = 2;

 private:
  void compute(const std::vector<std::size_t>& parts) {
    std::vector<std::size_t>& chosen = state_.chosen;
    chosen.clear();
    for (const std::size_t k : parts) {
      if (all_.known[k] == nothing) {
        write_outputs(k);
        all_.known[k] = outputs;
      }
      if (all_.known[k] == values) continue;
      all_.size[k] = (at_least(here_.size[k], here_.size[k + 1]) + all_.bulge[k] + here_.error[k] + here_.error[k + 1] +
                      all_.error[k]) *
                     slack;
      chosen.push_back(k);
    }
    if (chosen.empty()) return;
    if (one_by_one()) {
      for (const std::size_t k : chosen) measure_outputs(k);
      return;
    }
    const Rows rows{here_.count, all_.high, all_.low, all_.size, all_.reached, all_.sums, all_.low_sums};
    multiply_rows(state_, l_, rows, chosen.data(), chosen.size());
    for (const std::size_t k : chosen) {
      all_.known[k] = values;
      measure_values(k);
    }
  }

  // The outputs at the apex of part k, from the layer below on the part that k was cut from. Units are on the pieces that they
  // have at the start of that part, except units that crossed in it before k.
  void write_outputs(std::size_t k) {
    const LayerSweep& below = state_.layers[std::size_t(l_) - 1];
    const std::size_t part = all_.origin[k].point;
    if (below.pieces.simple)
      write_on_part<true>(k);
    else
      write_on_part<false>(k);
    all_.error[k] = average_error(state_, l_ - 1, part) * slack + room_for_underflow;
  }

  template <bool IsSimple>
  void write_on_part(std::size_t k) {
    const LayerSweep& below = state_.layers[std::size_t(l_) - 1];
    const auto piece_at_start = [&](const Doubled<Lanes8>& start, std::size_t i) {
      return piece_at<IsSimple>(below.pieces, start, i);
    };
    if (all_.origin[k].crossing == nullptr) {
      write<IsSimple>(k, [&](const auto& start, const auto&, std::size_t i) { return piece_at_start(start, i); });
      return;
    }
    const std::size_t at_start = all_.origin[k].point * below.stride;
    const double* low_sums = !IsSimple && below.doubled() ? below.low_sums + at_start : nullptr;
    double* slopes = state_.numbers_of_units(2 * below.stride);
    double* intercepts = slopes + below.stride;
    for (std::size_t i = 0; i < below.stride; i += 8) {
      const Piece piece = piece_at_start(sum_at(below.sums + at_start, low_sums, i), i);
      store(slopes + i, piece.slope);
      if (!IsSimple) store(intercepts + i, piece.intercept);
    }
    std::size_t first = k;
    while (all_.origin[first - 1].crossing != nullptr) --first;
    for (; first <= k; ++first) {
      const Crossing& crossed = *all_.origin[first].crossing;
      const std::size_t piece = below.pieces.at(crossed.kink + (crossed.rising ? 1 : 0), std::size_t(crossed.unit));
      slopes[crossed.unit] = below.pieces.slopes[piece];
      intercepts[crossed.unit] = below.pieces.intercepts[piece];
    }
    write<IsSimple>(k, [&](const auto&, const auto&, std::size_t i) {
      return Piece{load<Lanes8>(slopes + i), IsSimple ? Lanes8{} : load<Lanes8>(intercepts + i)};
    });
  }

  template <bool IsSimple, class PieceOf>
  void write(std::size_t k, const PieceOf& piece_of) {
    if (state_.layers[std::size_t(l_) - 1].doubled())
      write_as<Twice, IsSimple>(k, piece_of);
    else
      write_as<double, IsSimple>(k, piece_of);
  }

  template <class Number, bool IsSimple, class PieceOf>
  void write_as(std::size_t k, const PieceOf& piece_of) {
    const LayerSweep& below = state_.layers[std::size_t(l_) - 1];
    const Picked& one = all_.origin[k];
    const Picked& next = all_.origin[k + 1];
    const std::size_t part = one.point;
    double* high = all_.high + k * width_;
    double* low = all_.low + k * width_;
    if (one.crossing != nullptr || next.crossing != nullptr) {
      const Number shares[2] = {share_of<Number>(start_of(one)), share_of<Number>(end_of(next))};
      const auto of = average<Number>(below, part, shares[0], shares[1]);
      write_average<Number, IsSimple>(below, part, of, piece_of, high, low);
      return;
    }
    constexpr bool is_doubled = std::is_same<Number, Twice>::value;
    const double* low_sums = is_doubled ? below.apexes.low_sums + part * below.stride : nullptr;
    const double* low_start = is_doubled && !IsSimple ? below.low_sums + part * below.stride : nullptr;
    for (std::size_t i = 0; i < below.stride; i += 8) {
      const Doubled<Lanes8> start = sum_at(below.sums + part * below.stride, low_start, i);
      const Doubled<Lanes8> value = sum_at(below.apexes.sums + part * below.stride, low_sums, i);
      keep_output<is_doubled, IsSimple>(value, piece_of(start, value, i), high + i, low + i);
    }
  }

  // Sharper bounds from outputs below, or from the values of this layer, once they are known.
  void measure_outputs(std::size_t k) {
    const double* vectors = here_.high + k * width_;
    const double distance = distance_from_mean(all_.high + k * width_, vectors, vectors + width_, width_);
    const double rounded = 4 * unit_roundoff * (here_.size[k] + all_.size[k] + here_.size[k + 1]);
    const double error = here_.error[k] + all_.error[k] + here_.error[k + 1];
    const double bound = here_.norm * (distance + rounded + error) * slack + room_for_underflow;
    all_.deviation[k] = std::min(all_.deviation[k], bound);
  }

  void measure_values(std::size_t k) {
    const double* vectors = here_.sums + k * here_.stride;
    const double distance =
        distance_from_mean(all_.sums + k * here_.stride, vectors, vectors + here_.stride, here_.stride);
    const double rounded = 4 * unit_roundoff * (here_.reached[k] + all_.reached[k] + here_.reached[k + 1]);
    const double off = value_error(here_, k) + value_error(here_, all_.error[k], all_.size[k]) + value_error(here_, k + 1);
    all_.deviation[k] = std::min(all_.deviation[k], (distance + rounded + off) * slack);
    const double error = output_error(state_, l_, here_.error[k], here_.reached[k]) +
                         output_error(state_, l_, all_.error[k], all_.reached[k]) +
                         output_error(state_, l_, here_.error[k + 1], here_.reached[k + 1]);
    const double bound = (here_.pieces.steepest * (distance + rounded) + error) * slack + room_for_underflow;
    all_.bulge_above[k] = std::min(all_.bulge_above[k], bound);
  }

  SweepState& state_;
  int l_;
  LayerSweep& here_;
  Apexes& all_;
  std::size_t width_;
};

}  // namespace REGIONS_TARGET
}  // namespace regions
