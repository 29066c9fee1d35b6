// SPDX-License-Identifier: MIT
// What are the first layer's rows, as affine forms of the chart?
//
// A row is a sum over all inputs, often hundreds, and every row above inherits its rounding error. It is therefore computed as 32
// short sums, added up at the end. With n inputs its error is at most gamma_(n/32 + 14) times the sum of the absolute values. In
// deep networks it has several limbs. Cost: terms x (D + 1) for each row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "rows/fold.hpp"
#include "task/network.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

template <int D>
class ChartRows {
 public:
  explicit ChartRows(const Chart& chart)
      : dims_(chart.dimension), inputs_(std::size_t(chart.inputs)), padded_((inputs_ + 7) / 8 * 8), lanes_(padded_ * std::size_t(dims_ + 1), 0.0) {
    for (int k = 0; k <= dims_; ++k) {
      const double* source = k == 0 ? chart.origin : chart.directions + std::size_t(k - 1) * inputs_;
      std::copy_n(source, inputs_, lanes_.data() + std::size_t(k) * padded_);
    }
  }

  // On entry, row.value holds the bias; on return, the row's form.
  void read(Row<D>& row, const double* weights) { read(row, weights, {inputs_, padded_, lanes_.data(), dims_}); }

  // Reads only the inputs that `terms` names.
  void read(Row<D>& row, const Terms& terms) {
    const std::size_t count = std::size_t(terms.count);
    const std::size_t room = (count + 7) / 8 * 8;
    gathered_.assign(room * std::size_t(dims_ + 1), 0.0);
    for (std::size_t k = 0; k <= std::size_t(dims_); ++k)
      for (std::size_t term = 0; term < count; ++term)
        gathered_[k * room + term] = lanes_[k * padded_ + std::size_t(terms.source(int(term)))];
    read(row, terms.weights, {count, room, gathered_.data(), dims_});
  }

 private:
  // Inputs' coefficients, lane after lane, `room` numbers each.
  struct Inputs {
    std::size_t count;
    std::size_t room;
    const double* lanes;
    [[no_unique_address]] Dims<D> dims;
  };

  static void read(Row<D>& row, const double* weights, const Inputs& inputs) {
    if (row.limbs > 1) {
      with_limbs(row.limbs, [&](auto limbs) { read_limbs<limbs()>(row, weights, inputs); });
      return;
    }
    Sums sums[D + 1] = {};
    const std::size_t whole = inputs.count / 8 * 8;
    std::size_t i = 0;
    for (; i + 32 <= whole; i += 32)
      for (std::size_t part = 0; part < 4; ++part) add(load<Lanes8>(weights + i + 8 * part), inputs, i + 8 * part, part, sums);
    for (; i < whole; i += 8) add(load<Lanes8>(weights + i), inputs, i, i / 8 % 4, sums);
    if (i < inputs.count) {
      Lanes8 last{};
      for (std::size_t k = i; k < inputs.count; ++k) last[k % 8] = weights[k];
      add(last, inputs, i, i / 8 % 4, sums);
    }
    const double gamma = (double(inputs.room) / 32 + 14) * 1.01 * unit_roundoff;
    for (int k = 0; k <= inputs.dims; ++k) {
      const Lanes8 sum = (sums[k].parts[0] + sums[k].parts[1]) + (sums[k].parts[2] + sums[k].parts[3]);
      double total = sum[0];
      double size = sums[k].size[0];
      for (int lane = 1; lane < 8; ++lane) {
        total += sum[lane];
        size += sums[k].size[lane];
      }
      if (size <= floor_of_sizes && !any_product(weights, inputs, k)) continue;  // the bias, exactly
      row.own[k] = gamma * (std::fabs(row.value[k]) + size * slack) + room_for_underflow;
      row.value[k] += total;
    }
  }

  // Sums in several limbs: eight sums in parallel.
  template <int K>
  static void read_limbs(Row<D>& row, const double* weights, const Inputs& inputs) {
    for (int k = 0; k <= inputs.dims; ++k) {
      const double* lane = inputs.lanes + std::size_t(k) * inputs.room;
      Limbs<K, Lanes8> sums{};
      Lanes8 sizes{};
      for (std::size_t i = 0; i < inputs.room; i += 8) {
        Lanes8 weight{};
        std::memcpy(&weight, weights + i, std::min(std::size_t(8), inputs.count - i) * sizeof(double));
        const Lanes8 input = load<Lanes8>(lane + i);
        sums.template add_product<0>(weight, input);
        const Lanes8 product = weight * input;
        sizes += product < 0 ? -product : product;
      }
      Limbs<K, Lanes8> total{};
      total.limb[0] += row.value[k];
      double size = std::fabs(row.value[k]);
      for (int part = 0; part < 8; ++part) {
        add_part<0>(sums, part, total);
        size += sizes[part];
      }
      if (size - std::fabs(row.value[k]) <= floor_of_sizes && !any_product(weights, inputs, k)) continue;  // the bias, exactly
      total = total.normalized();
      row.value[k] = total.limb[0][0];
      for (int m = 1; m < K; ++m) row.low[m - 1][k] = total.limb[m][0];
      row.own[k] = rounding_of_limbs(K, double(inputs.room) / 8 + 16) * (size * slack) + room_for_underflow;
    }
  }

  // Adds one of the parallel sums to the total.
  template <int level, int K>
  static void add_part(const Limbs<K, Lanes8>& sums, int part, Limbs<K, Lanes8>& total) {
    total.template add<level>(Lanes8{} + sums.limb[level][part]);
    if constexpr (level + 1 < K) add_part<level + 1>(sums, part, total);
  }

  struct Sums {
    Lanes8 parts[4];
    Lanes8 size;
  };

  static void add(Lanes8 weight, const Inputs& inputs, std::size_t i, std::size_t part, Sums* sums) {
    for (int k = 0; k <= inputs.dims; ++k) {
      const Lanes8 product = load<Lanes8>(inputs.lanes + std::size_t(k) * inputs.room + i) * weight;
      sums[k].parts[part] += product;
      sums[k].size += product < 0 ? -product : product;
    }
  }

  // Returns whether some product has two nonzero factors.
  static bool any_product(const double* weights, const Inputs& inputs, int k) {
    const double* lane = inputs.lanes + std::size_t(k) * inputs.room;
    for (std::size_t i = 0; i < inputs.count; ++i)
      if (weights[i] != 0 && lane[i] != 0) return true;
    return false;
  }

  const Dims<D> dims_;
  std::size_t inputs_;
  std::size_t padded_;
  std::vector<double> lanes_;  // the inputs' coefficients, lane after lane
  std::vector<double> gathered_;  // the coefficients of one row's terms
};

}  // namespace REGIONS_TARGET
}  // namespace regions
