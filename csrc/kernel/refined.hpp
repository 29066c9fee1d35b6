// SPDX-License-Identifier: MIT
// How does a sweep compute with three or four limbs in the lowest layers of a deep network?
//
// The rounding of a low layer is multiplied by the norms of all layers above it. Numbers of three and four limbs
// (rows/limbs.hpp) leave enough bits for about 60 and 90 layers. Little speed is lost: there are few breakpoints in these layers.
// Shares have as many limbs as values, because a unit that crosses is set to its output at the kink, which is off by the
// error of its share. Otherwise the steps are the same as in breakpoints.hpp and products.hpp. The proof is in docs/segments.md.
// Cost: about 40 (three limbs) or 90 operations for each breakpoint, unit and active input.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernel/breakpoints.hpp"
#include "rows/limbs.hpp"
#include "task/panels.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// Calls work(K) with the number of limbs as a constant, three or four.
template <class Work>
void with_more_limbs(int limbs, Work work) {
  with_limbs(limbs, [&](auto number) {
    if constexpr (number() > 2) work(number);
  });
}

template <int K, class Lanes, int m = 0>
REGIONS_INLINE void subtract(Limbs<K, Lanes>& from, const Limbs<K, Lanes>& number) {
  from.template add<m>(-number.limb[m]);
  if constexpr (m + 1 < K) subtract<K, Lanes, m + 1>(from, number);
}

// ---- values ----

// Computes the pre-activations at some breakpoints.
template <int K>
void multiply_refined(const LayerSweep& here, const double* panels, std::size_t inputs, std::size_t first, int* active) {
  const std::size_t width = std::size_t(padded(int(inputs)));
  const double* outputs[points_at_once][K];
  double* sums[points_at_once][K];
  for (std::size_t p = 0; p < points_at_once; ++p)
    for (int m = 0; m < K; ++m) {
      outputs[p][m] = here.limb(m) + std::min(first + p, here.count - 1) * width;
      sums[p][m] = here.limb_of_sums(m) + std::min(first + p, here.count) * here.stride;  // the last row is never read
    }
  std::size_t count = 0;
  for (std::size_t i = 0; i < inputs; ++i)
    if (std::any_of(outputs, outputs + points_at_once, [i](const auto& limbs) { return !(limbs[0][i] == 0); }))
      active[count++] = int(i);
  for (std::size_t unit = 0; unit < here.stride; unit += lanes_at_once) {
    const std::size_t panel = unit / panel_width * panel_width;
    const std::size_t across = std::min(panel_width, here.stride - panel);
    const double* columns = panels + panel * inputs + (unit - panel);
    Limbs<K, Wide> numbers[points_at_once] = {};
    for (auto& number : numbers) number.limb[0] = load<Wide>(here.biases + unit);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t input = std::size_t(active[i]);
      const Wide weights = load<Wide>(columns + input * across);
      for (std::size_t p = 0; p < points_at_once; ++p)
        numbers[p].template add_products<1>([&](int m) { return Wide{} + outputs[p][m][input]; }, [&](int) { return weights; });
    }
    for (std::size_t p = 0; p < points_at_once; ++p) {
      const Limbs<K, Wide> number = numbers[p].normalized();
      for (int m = 0; m < K; ++m) store(sums[p][m] + unit, number.limb[m]);
    }
  }
}

// Computes the pre-activations at all breakpoints of a layer; the outputs below and their sizes are known.
inline void take_refined_values(SweepState& state, int l) {
  LayerSweep& here = state.layers[std::size_t(l)];
  const std::size_t inputs = std::size_t(state.network.layers[std::size_t(l)].inputs);
  for (int m = 2; m < here.limbs; ++m) here.rest_of_sums[m - 2] = state.arena.take<double>((here.count + 1) * here.stride);
  for (std::size_t k = 0; k < here.count; ++k) here.reached[k] = (here.spread * here.size[k] + here.bias_norm) * slack;
  const Arena::Mark mark = state.arena.mark();
  int* active = state.arena.take<int>(inputs);
  with_more_limbs(here.limbs, [&](auto limbs) {
    for (std::size_t first = 0; first < here.count; first += points_at_once)
      multiply_refined<limbs()>(here, state.task.panels[l], inputs, first, active);
  });
  state.arena.release(mark);
}

// ---- breakpoints ----

template <int K>
Limbs<K, Lanes4> refined_above_kink(const LayerSweep& here, std::size_t at, std::size_t kink) {
  Limbs<K, Lanes4> above;
  for (int m = 0; m < K; ++m) above.limb[m] = Lanes4{} + here.limb_of_sums(m)[at];
  above.template add<0>(Lanes4{} - here.pieces.breakpoints[kink]);
  return above.normalized();
}

// As `place`, with three or four limbs.
inline bool place_refined(const LayerSweep& here, double error, Crossing& crossing) {
  double size = 0;
  with_more_limbs(here.limbs, [&](auto limbs) {
    constexpr int K = limbs();
    const std::size_t at = crossing.after * here.stride + std::size_t(crossing.unit);
    const std::size_t kink = here.pieces.at(crossing.kink, std::size_t(crossing.unit));
    const Limbs<K, Lanes4> left = refined_above_kink<K>(here, at, kink);
    const Limbs<K, Lanes4> right = refined_above_kink<K>(here, at + here.stride, kink);
    Limbs<K, Lanes4> apart = left;
    subtract(apart, right);
    apart = apart.normalized();
    Limbs<K, Lanes4> rest = left;
    Limbs<K, Lanes4> share;
    for (int m = 0; m < K; ++m) {
      share.limb[m] = (rest.limb[0] + rest.limb[1]) / apart.limb[0];
      rest.template add_products<1>([&](int a) { return apart.limb[a]; }, [&](int) { return -share.limb[m]; });
      rest = rest.normalized();
    }
    share = share.normalized();
    crossing.share = share.limb[0][0];
    crossing.share_low = share.limb[1][0];
    for (int m = 2; m < K; ++m) crossing.share_rest[m - 2] = share.limb[m][0];
    size = std::fabs(left.limb[0][0]) + std::fabs(right.limb[0][0]);
  });
  return slips_little(size, error, rounding_of_output(here.limbs), crossing);
}

// ---- the next layer ----

template <int K, bool IsSimple>
void refined_output(const LayerSweep& here, const Picked& one, const LayerSweep& above, std::size_t row) {
  const auto sums_at = [&](std::size_t at) {
    Limbs<K, Lanes8> sum;
    for (int m = 0; m < K; ++m) sum.limb[m] = load<Lanes8>(here.limb_of_sums(m) + at);
    return sum;
  };
  const int written = std::max(2, above.limbs);
  const std::size_t target = row * here.stride;
  for (std::size_t i = 0; i < here.stride; i += 8) {
    const std::size_t at = one.point * here.stride + i;
    Limbs<K, Lanes8> value = sums_at(at);
    if (one.crossing != nullptr) {
      const Crossing& crossing = *one.crossing;
      const double share[4] = {crossing.share, crossing.share_low, crossing.share_rest[0], crossing.share_rest[1]};
      Limbs<K, Lanes8> change = sums_at(at + here.stride);
      subtract(change, value);
      change = change.normalized();
      value.template add_products<K>([&](int a) { return change.limb[a]; }, [&](int b) { return Lanes8{} + share[b]; });
      value = value.normalized();
    }
    const Piece piece = piece_at<IsSimple>(here.pieces, Doubled<Lanes8>{value.limb[0], value.limb[1]}, i);
    Limbs<K, Lanes8> output{};
    output.template add_products<1>([&](int a) { return value.limb[a]; }, [&](int) { return piece.slope; });
    if (!IsSimple) output.template add<0>(piece.intercept);
    output = output.normalized();
    for (int m = 0; m < written; ++m) store(above.limb(m) + target + i, output.limb[m]);
  }
  if (one.crossing == nullptr) return;
  const std::size_t unit = std::size_t(one.crossing->unit);
  const std::size_t kink = here.pieces.at(one.crossing->kink, unit);
  const Pieces& pieces = here.pieces;
  const double* const at_kinks[4] = {pieces.at_kinks, pieces.low_at_kinks, pieces.rest_at_kinks[0], pieces.rest_at_kinks[1]};
  for (int m = 0; m < written; ++m) above.limb(m)[target + unit] = IsSimple ? 0 : at_kinks[m][kink];
}

// Sets the outputs of one breakpoint, a row of the layer above.
inline void refined_output(const LayerSweep& here, const Picked& one, const LayerSweep& above, std::size_t row) {
  with_more_limbs(here.limbs, [&](auto limbs) {
    constexpr int K = limbs();
    here.pieces.simple ? refined_output<K, true>(here, one, above, row) : refined_output<K, false>(here, one, above, row);
  });
}

}  // namespace REGIONS_TARGET
}  // namespace regions
