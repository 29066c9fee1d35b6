// SPDX-License-Identifier: MIT
// Which kinks of a layer have the same line?
//
// Two kinks have the same line if their forms are multiples of each other: if rows, biases and breakpoints are. Candidates are
// rows whose quotients by their first weight agree in a few places, because equal quotients have equal roundings. All their
// numbers are then compared exactly, by products. Rows of patches are only compared with rows of the same patch.
// Invariant: kinks that are said to have the same line have it. Others may have it too, if products are near the ends of the range
// of doubles, or rows are not compared.
// Cost: sorting the rows, and two products for each weight of a row with a candidate.
#include "api/same_lines.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

namespace regions {

namespace {

// Returns whether a b = c d; false too if a product is too small or too large for its rounding to be a double.
bool same_product(double a, double b, double c, double d) {
  if (a == 0 || b == 0 || c == 0 || d == 0) return (a == 0 || b == 0) && (c == 0 || d == 0);
  const double product = a * b;
  if (product != c * d || !(std::fabs(product) > 0x1p-900 && std::fabs(product) < 0x1p1000)) return false;
  return std::fma(a, b, -product) == std::fma(c, d, -product);
}

// Rows of weights.
struct Rows {
  const double* weights;
  int count;
  int terms;
  std::size_t of_row;    // distance between rows
  std::size_t of_term;   // between weights of a row
  const double* biases;  // [count]; null if they are not compared

  double bias(int row) const { return biases == nullptr ? 0 : biases[row]; }
  double weight(int row, int term) const { return weights[std::size_t(row) * of_row + std::size_t(term) * of_term]; }
  int first(int row) const {
    int term = 0;
    while (term < terms && weight(row, term) == 0) ++term;
    return term;
  }
};

struct Key {
  int first;  // the first term whose weight is not zero
  double bias, next, last;  // relative to that weight
  int row;

  auto quotients() const { return std::tie(first, bias, next, last); }
  bool operator<(const Key& other) const {
    return quotients() != other.quotients() ? quotients() < other.quotients() : row < other.row;
  }
};

// Two rows, the second of which is a multiple of the first, with a weight of each for the same input.
struct Multiple {
  int one, other;
  double weight_of_one, weight_of_other;
};

bool are_multiples(const Rows& rows, int one, int other, int first) {
  const double here = rows.weight(one, first);
  const double there = rows.weight(other, first);
  if (!same_product(rows.bias(one), there, rows.bias(other), here)) return false;
  for (int term = first + 1; term < rows.terms; ++term)
    if (!same_product(rows.weight(one, term), there, rows.weight(other, term), here)) return false;
  return true;
}

// For each row the first one that it is a multiple of, or, if biases are not compared, up to eight.
std::vector<Multiple> multiples(const Rows& rows) {
  const int most = rows.biases == nullptr ? 8 : 1;
  std::vector<Key> keys;
  for (int row = 0; row < rows.count; ++row) {
    const int first = rows.first(row);
    if (first == rows.terms) continue;
    const double scale = rows.weight(row, first);
    keys.push_back({first, rows.bias(row) / scale, rows.weight(row, std::min(first + 1, rows.terms - 1)) / scale,
                    rows.weight(row, rows.terms - 1) / scale, row});
  }
  std::sort(keys.begin(), keys.end());
  std::vector<Multiple> found;
  for (std::size_t begin = 0, end; begin < keys.size(); begin = end) {
    for (end = begin + 1; end < keys.size() && keys[end].quotients() == keys[begin].quotients();) ++end;
    for (std::size_t other = begin + 1; other < end; ++other) {
      int left = most;
      for (std::size_t one = begin; one < other && left > 0; ++one) {
        const int first = keys[one].first;
        const int row = keys[one].row;
        const int twin = keys[other].row;
        if (!are_multiples(rows, row, twin, first)) continue;
        found.push_back({row, twin, rows.weight(row, first), rows.weight(twin, first)});
        --left;
      }
    }
  }
  return found;
}

// Notes the kinks that two units have in common, the second of which is a multiple of the first.
void note(const Layer& layer, int one, int other, const Multiple& rows, std::vector<std::int32_t>& lines) {
  const bool opposite = (rows.weight_of_one < 0) != (rows.weight_of_other < 0);
  for (int kink = 0; kink < layer.kinks; ++kink)
    for (int twin = 0; twin < layer.kinks; ++twin)
      if (same_product(layer.breakpoint(other, kink), rows.weight_of_one, layer.breakpoint(one, twin), rows.weight_of_other)) {
        const std::int32_t line = lines[std::size_t(one * layer.kinks + twin)];
        lines[std::size_t(other * layer.kinks + kink)] = opposite ? ~line : line;
      }
}

// Notes multiples of the units of one patch, given the multiples in its kernel.
void note_patch(const Layer& layer, const std::int32_t* units, const std::vector<Multiple>& found,
                std::vector<std::int32_t>& lines) {
  int last = -1;
  for (const Multiple& rows : found) {
    const int one = units[rows.one];
    const int other = units[rows.other];
    if (other == last || !same_product(layer.biases[one], rows.weight_of_other, layer.biases[other], rows.weight_of_one))
      continue;
    last = other;
    note(layer, one, other, rows, lines);
  }
}

}  // namespace

std::vector<std::int32_t> same_lines(const Layer& layer) {
  const LinearOperator& weights = layer.weights;
  if (layer.kinks == 0 || weights.dense().size() + weights.patches().size() != 1) return {};
  std::vector<std::int32_t> different(std::size_t(layer.own) * std::size_t(layer.kinks));
  std::iota(different.begin(), different.end(), 0);
  std::vector<std::int32_t> lines = different;
  for (const DensePart& part : weights.dense())
    for (const Multiple& rows : multiples({part.weights, layer.own, part.inputs, std::size_t(part.inputs), 1, layer.biases}))
      note(layer, rows.one, rows.other, rows, lines);
  for (const PatchPart& part : weights.patches()) {
    std::map<const double*, std::vector<Multiple>> of_kernel;
    for (int patch = 0; patch < part.patches(); ++patch) {
      const double* const kernel = part.kernel(patch);
      auto found = of_kernel.find(kernel);
      if (found == of_kernel.end())
        found = of_kernel.emplace(kernel, multiples({kernel, part.rows(), part.terms(), 1, std::size_t(part.padded_rows()), nullptr})).first;
      note_patch(layer, part.targets(patch), found->second, lines);
    }
  }
  return lines == different ? std::vector<std::int32_t>() : lines;
}

}  // namespace regions
