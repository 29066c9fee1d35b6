// SPDX-License-Identifier: MIT
// What are the first layer's rows, as affine forms of the chart?
//
// A sum over all inputs, often hundreds, whose rounding every row above would inherit. So it is done in twice the
// working precision (Ogita, Rump and Oishi 2005, Dot2), eight inputs at a time: off by at most u |result| + gamma_n^2 *
// (sum of absolute values). Cost: inputs x (D + 1) a row, some twenty operations each.
#pragma once

#include <vector>

#include "fold.hpp"
#include "network.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// sum becomes the rounded sum; what it lost is returned (Knuth).
template <class Number>
Number add_exactly(Number& sum, Number more) {
  const Number total = sum + more;
  const Number back = total - sum;
  const Number lost = (sum - (total - back)) + (more - back);
  sum = total;
  return lost;
}

// The leading half of the bits (Veltkamp), so that products of halves are exact.
template <class Number>
Number upper_half(Number value) {
  const Number scaled = value * (0x1p27 + 1);
  return scaled - (scaled - value);
}

template <int D>
class ChartRows {
 public:
  explicit ChartRows(const Chart& chart)
      : inputs_(std::size_t(chart.inputs)), padded_((inputs_ + 7) / 8 * 8), lanes_(padded_ * 3 * (D + 1), 0.0) {
    for (int k = 0; k <= D; ++k) {
      const double* source = k == 0 ? chart.origin : chart.directions + std::size_t(k - 1) * inputs_;
      double* whole = lanes_.data() + std::size_t(k) * 3 * padded_;
      for (std::size_t i = 0; i < inputs_; ++i) {
        whole[i] = source[i];
        whole[padded_ + i] = upper_half(source[i]);
        whole[2 * padded_ + i] = source[i] - whole[padded_ + i];
      }
    }
  }

  // row.value holds the bias; becomes the row's form.
  void read(Row<D>& row, const double* weights) const {
    const double gamma = (double(inputs_) + 11) * 1.01 * unit_roundoff;
    Lanes8 last_weights{};
    for (std::size_t i = inputs_ / 8 * 8; i < inputs_; ++i) last_weights[i % 8] = weights[i];
    Sums sums[D + 1] = {};
    for (std::size_t i = 0; i < padded_; i += 8) {
      const Lanes8 weight = i + 8 <= inputs_ ? read_eight(weights + i) : last_weights;
      const Lanes8 weight_high = upper_half(weight);
      const Lanes8 weight_low = weight - weight_high;
      for (int k = 0; k <= D; ++k) {
        const double* chart = lanes_.data() + std::size_t(k) * 3 * padded_ + i;
        const Lanes8 whole = read_eight(chart);
        const Lanes8 high = read_eight(chart + padded_);
        const Lanes8 low = read_eight(chart + 2 * padded_);
        const Lanes8 product = whole * weight;
        const Lanes8 lost = ((high * weight_high - product) + high * weight_low + low * weight_high) + low * weight_low;
        sums[k].rest += lost + add_exactly(sums[k].sum, product);
        sums[k].size += product < 0 ? -product : product;
        sums[k].products |= (weight != 0) & (whole != 0);
      }
    }
    for (int k = 0; k <= D; ++k) {
      double total = row.value[k];
      double tail = 0;
      double magnitude = std::fabs(total);
      bool any_product = false;
      for (int i = 0; i < 8; ++i) {
        any_product = any_product || sums[k].products[i] != 0;
        tail += add_exactly(total, sums[k].sum[i]) + sums[k].rest[i];
        magnitude += sums[k].size[i];
      }
      row.value[k] = total + tail;
      row.error[k] = std::fabs(row.value[k]) * (2 * unit_roundoff) + magnitude * (2 * gamma * gamma) +
                     (any_product ? room_for_underflow : 0.0);
    }
  }

 private:
  struct Sums {
    Lanes8 sum, rest, size;
    Mask8 products;  // whether there was one of two factors other than zero
  };

  std::size_t inputs_;
  std::size_t padded_;
  std::vector<double> lanes_;  // for each lane: the inputs' coefficients, their upper halves, and what is left
};

}  // namespace REGIONS_TARGET
}  // namespace regions
