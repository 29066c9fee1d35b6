// SPDX-License-Identifier: MIT
// How are several vectors of outputs multiplied by the weights of a layer at once?
//
// As a matrix product in register blocks: four vectors, and as many units as fit into the registers. Weights are stored
// input by input, so that eight units are loaded at once. Inputs that are 0 for all four vectors are skipped, because
// neighbouring points of a segment have nearly the same active units.
// Rounding: sums are made of blocks of 32 terms. n terms and the bias are off by at most gamma_(n/32 + 35) times the
// absolute values.
// On a grid: to twice the working precision in five operations a term. The sum of higher parts starts at
// C = 1.5 * 2^k, and 2^k is more than twice the absolute values of all terms, so that it stays between 2^k and 2^(k+1)
// and is a multiple of g = 2^(k-52) at all times. With s = fl(sum + w h), then, t = s - sum is exact, and w h - t is at
// most g/2 and rounded once, to within u g/2. If 2^k is at most 4 times the bound B on the absolute values, g is at most
// 8 u B, and the lower parts of i terms add up to (4 i + 1) u B at most. They are added in blocks of m, 32 or all n if
// these are fewer, with 2 additions a term (4 without fused multiply-add), whose error is 4 n u (4 m + 1) u B at most;
// adding the blocks has an error of (n / 32 + 1) u (4 n + 1) u B. Terms that are rounded once add (4 n + 1) u^2 B, and the bias
// costs 8 (n + 1) u^2 (B + |bias|). So the error of the sum is below (20 (n + 4) (m + 4) + n^2 / 8) u^2 (B + |bias|). This includes
// 10 (n + 1) u^2 (B + |bias|) for the case that some of the terms were added up separately before.
#pragma once

#include <cmath>
#include <cstdint>

#include "rows/doubled.hpp"
#include "task/panels.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// As wide as a register, and how many of them are worked on at once; left * right + sum, rounded once if possible.
#if !defined(REGIONS_FMA)
typedef Lanes2 Wide;
constexpr int plain_vectors = 2;
constexpr int doubled_vectors = 1;
REGIONS_INLINE Wide fused(Wide left, Wide right, Wide sum) { return left * right + sum; }
#elif REGIONS_FMA == 512
typedef Lanes8 Wide;
constexpr int plain_vectors = 4;
constexpr int doubled_vectors = 2;
REGIONS_INLINE Wide fused(Wide left, Wide right, Wide sum) {
  return Wide(_mm512_fmadd_pd(__m512d(left), __m512d(right), __m512d(sum)));
}
#else
typedef Lanes4 Wide;
constexpr int plain_vectors = 2;
constexpr int doubled_vectors = 1;
REGIONS_INLINE Wide fused(Wide left, Wide right, Wide sum) {
  return Wide(_mm256_fmadd_pd(__m256d(left), __m256d(right), __m256d(sum)));
}
#endif
constexpr int lanes_at_once = sizeof(Wide) / sizeof(double);

// One bit for each lane where the left number is larger. Comparing Lanes8 goes lane by lane if registers are
// narrower.
REGIONS_INLINE unsigned bits_above(Wide left, Wide right) {
#if !defined(REGIONS_FMA)
  const auto mask = left > right;
  return unsigned(mask[0] & 1) | unsigned(mask[1] & 2);
#elif REGIONS_FMA == 512
  return unsigned(_mm512_cmp_pd_mask(__m512d(left), __m512d(right), _CMP_GT_OQ));
#else
  return unsigned(_mm256_movemask_pd(_mm256_cmp_pd(__m256d(left), __m256d(right), _CMP_GT_OQ)));
#endif
}

// The absolute value.
REGIONS_INLINE Wide magnitude(Wide value) {
  typedef std::int64_t Bits __attribute__((vector_size(sizeof(Wide))));
  return Wide(Bits(value) & (Bits{} + 0x7fffffffffffffff));
}

constexpr int points_at_once = 4;
constexpr int terms_of_a_sum = 32;

inline double rounding_of_products(double terms) { return (terms / terms_of_a_sum + 40) * 1.01 * unit_roundoff; }

inline double rounding_of_doubled_products(double terms) {
  const double block = terms < terms_of_a_sum ? terms : terms_of_a_sum;
  return (20 * (terms + 4) * (block + 4) + terms * terms / 8) * unit_roundoff * unit_roundoff;
}

// Four vectors, their used entries, and the destination of their products.
struct Operands {
  const double* high[points_at_once];
  const double* low[points_at_once];  // of doubled products
  double grid[points_at_once];        // of doubled products: C
  double* sums[points_at_once];
  double* low_sums[points_at_once];
  const int* active;
  int count;
};

// Some vectors of units from `first` on, whose weights are `width` apart from input to input; the sums hold the biases.
template <int Vectors>
void add_products(const Operands& of, const double* columns, std::size_t width, std::size_t first) {
  for (int start = 0; start < of.count; start += terms_of_a_sum) {
    const int end = start + terms_of_a_sum < of.count ? start + terms_of_a_sum : of.count;
    Wide sums[points_at_once][Vectors] = {};
    for (int i = start; i < end; ++i) {
      const std::size_t input = std::size_t(of.active[i]);
      Wide weights[Vectors];
      for (int v = 0; v < Vectors; ++v) weights[v] = load<Wide>(columns + input * width + lanes_at_once * v);
      for (int p = 0; p < points_at_once; ++p) {
        const Wide output = Wide{} + of.high[p][input];
        for (int v = 0; v < Vectors; ++v) sums[p][v] = fused(weights[v], output, sums[p][v]);
      }
    }
    for (int p = 0; p < points_at_once; ++p)
      for (int v = 0; v < Vectors; ++v) {
        double* target = of.sums[p] + first + lanes_at_once * v;
        store(target, load<Wide>(target) + sums[p][v]);
      }
  }
}

// The same to twice the working precision; the biases are added last.
template <int Vectors>
void add_doubled_products(const Operands& of, const double* columns, std::size_t width, std::size_t first) {
  Wide sums[points_at_once][Vectors];
  Wide lows[points_at_once][Vectors] = {};
  for (int p = 0; p < points_at_once; ++p)
    for (int v = 0; v < Vectors; ++v) sums[p][v] = Wide{} + of.grid[p];
  for (int start = 0; start < of.count; start += terms_of_a_sum) {
    const int end = start + terms_of_a_sum < of.count ? start + terms_of_a_sum : of.count;
    Wide lost[points_at_once][Vectors] = {};
    for (int i = start; i < end; ++i) {
      const std::size_t input = std::size_t(of.active[i]);
      Wide weights[Vectors];
      for (int v = 0; v < Vectors; ++v) weights[v] = load<Wide>(columns + input * width + lanes_at_once * v);
      for (int p = 0; p < points_at_once; ++p) {
        const Wide high = Wide{} + of.high[p][input];
        const Wide low = Wide{} + of.low[p][input];
        for (int v = 0; v < Vectors; ++v) {
#if defined(REGIONS_FMA)
          const Wide sum = fused(weights[v], high, sums[p][v]);
          const Wide taken = sum - sums[p][v];
          lost[p][v] += fused(weights[v], high, -taken);
#else
          const Wide product = weights[v] * high;
          const Wide sum = product + sums[p][v];
          const Wide taken = sum - sums[p][v];
          lost[p][v] += (product - taken) + lost_by_product(weights[v], high, product);
#endif
          lost[p][v] = fused(weights[v], low, lost[p][v]);
          sums[p][v] = sum;
        }
      }
    }
    for (int p = 0; p < points_at_once; ++p)
      for (int v = 0; v < Vectors; ++v) lows[p][v] += lost[p][v];
  }
  for (int p = 0; p < points_at_once; ++p)
    for (int v = 0; v < Vectors; ++v) {
      Doubled<Wide> sum{sums[p][v] - of.grid[p], lows[p][v]};
      sum.add(load<Wide>(of.sums[p] + first + lanes_at_once * v));
      sum = sum.normalized();
      store(of.sums[p] + first + lanes_at_once * v, sum.high);
      store(of.low_sums[p] + first + lanes_at_once * v, sum.low);
    }
}

// For `units` units, a multiple of eight, from panels of their weights (task/panels.hpp): panel by panel, so that one
// stays in the cache for all vectors.
inline void multiply(const Operands* all, std::size_t count, const double* panels, std::size_t inputs,
                     std::size_t units, bool doubled) {
  for (std::size_t panel = 0; panel < units; panel += panel_width) {
    const std::size_t width = units - panel < panel_width ? units - panel : panel_width;
    const std::size_t several = std::size_t(lanes_at_once * (doubled ? doubled_vectors : plain_vectors));
    for (std::size_t i = 0; i < count; ++i) {
      const Operands& of = all[i];
      const double* columns = panels + panel * inputs;
      std::size_t at = 0;
      for (; at + several <= width; at += several)
        if (doubled)
          add_doubled_products<doubled_vectors>(of, columns + at, width, panel + at);
        else
          add_products<plain_vectors>(of, columns + at, width, panel + at);
      for (; at < width; at += lanes_at_once)
        if (doubled)
          add_doubled_products<1>(of, columns + at, width, panel + at);
        else
          add_products<1>(of, columns + at, width, panel + at);
    }
  }
}

}  // namespace REGIONS_TARGET
}  // namespace regions
