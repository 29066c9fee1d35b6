// SPDX-License-Identifier: MIT
// How large are the weights that a layer reads with?
//
// Sums of absolute values of each row and each column, and sums of squares of each row, in any order: `slack` covers the
// rounding. If a row reads an output more than once, the absolute values of its weights are added first, so all rows are then
// processed term by term. Usually no row does. Then patches of one block that read the same terms have the same rows: each such
// block is processed once, and a patch costs its rows and its terms, not their product.
#include "api/norms.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "rows/lanes.hpp"

namespace regions {

namespace {

double floored(double weight) {
  const double magnitude = std::fabs(weight);
  return magnitude == 0 ? 0 : std::fmax(magnitude, floor_of_sizes);
}

// Absolute values of weights: for each row their sum and the sum of squares, for each column their sum.
class Sums {
 public:
  Sums(int rows, int columns) : rows_(std::size_t(rows)), squares_(std::size_t(rows)), columns_(std::size_t(columns)) {}

  // A single row; an output that it reads more than once has the sum of its weights.
  void add_row(int row, const Terms& terms) {
    together_.resize(columns_.size());
    for (int term = 0; term < terms.count; ++term)
      together_[std::size_t(terms.source(term))] += floored(terms.weights[term]);
    for (int term = 0; term < terms.count; ++term) {
      double& weight = together_[std::size_t(terms.source(term))];
      add(row, terms.source(term), weight);
      weight = 0;
    }
  }

  void add_part(const DensePart& part, int rows) {
    for (int row = 0; row < rows; ++row)
      for (int input = 0; input < part.inputs; ++input)
        add(row, part.first + input, floored(part.weights[std::size_t(row) * std::size_t(part.inputs) + std::size_t(input)]));
  }

  void add_part(const PatchPart& part) {
    std::map<std::pair<const double*, std::vector<bool>>, Sums> blocks;  // by kernel, and the terms that read anything
    std::vector<bool> reads(std::size_t(part.terms()));
    for (int patch = 0; patch < part.patches(); ++patch) {
      const std::int32_t* const sources = part.sources(patch);
      for (int term = 0; term < part.terms(); ++term) reads[std::size_t(term)] = sources[term] >= 0;
      auto found = blocks.find({part.kernel(patch), reads});
      if (found == blocks.end())
        found = blocks.emplace(std::make_pair(part.kernel(patch), reads), of_block(part, patch)).first;
      const Sums& block = found->second;
      for (int row = 0; row < part.rows(); ++row) {
        rows_[std::size_t(part.targets(patch)[row])] += block.rows_[std::size_t(row)];
        squares_[std::size_t(part.targets(patch)[row])] += block.squares_[std::size_t(row)];
      }
      for (int term = 0; term < part.terms(); ++term)
        if (sources[term] >= 0) columns_[std::size_t(sources[term])] += block.columns_[std::size_t(term)];
    }
  }

  Norms norms() const {
    Norms norms;
    for (const double squares : squares_) {
      norms.rows.push_back(std::sqrt(squares) * slack);
      norms.total += squares;
    }
    for (const double sum : rows_) norms.largest_sum = at_least(norms.largest_sum, sum * slack);
    double largest_column = 0;
    for (const double sum : columns_) largest_column = at_least(largest_column, sum * slack);
    norms.spectral = std::fmin(std::sqrt(norms.total), std::sqrt(largest_column) * std::sqrt(norms.largest_sum)) * slack;
    return norms;
  }

 private:
  void add(int row, int column, double weight) {
    rows_[std::size_t(row)] += weight;
    squares_[std::size_t(row)] += weight * weight;
    columns_[std::size_t(column)] += weight;
  }

  // The rows and terms of a block, restricted to the terms that a patch reads.
  static Sums of_block(const PatchPart& part, int patch) {
    Sums sums(part.rows(), part.terms());
    const double* weights = part.kernel(patch);
    for (int term = 0; term < part.terms(); ++term, weights += part.padded_rows())
      if (part.sources(patch)[term] >= 0)
        for (int row = 0; row < part.rows(); ++row) sums.add(row, term, floored(weights[row]));
    return sums;
  }

  std::vector<double> rows_, squares_, columns_;
  std::vector<double> together_;  // all zero between rows
};

// Returns whether some row may read an output more than once.
bool reads_any_again(const LinearOperator& weights, int columns) {
  std::vector<int> part_of(std::size_t(columns), -1), patch_of(std::size_t(columns), -1);
  int part = 0;
  for (const DensePart& dense : weights.dense()) {
    for (int input = 0; input < dense.inputs; ++input) {
      int& before = part_of[std::size_t(dense.first + input)];
      if (before >= 0) return true;
      before = part;
    }
    ++part;
  }
  for (const PatchPart& patches : weights.patches()) {
    for (int patch = 0; patch < patches.patches(); ++patch)
      for (int term = 0; term < patches.terms(); ++term) {
        const std::int32_t source = patches.sources(patch)[term];
        if (source < 0) continue;
        int& before = part_of[std::size_t(source)];
        if (before >= 0 && (before != part || patch_of[std::size_t(source)] == patch)) return true;
        before = part;
        patch_of[std::size_t(source)] = patch;
      }
    ++part;
  }
  return false;
}

}  // namespace

Norms norms_of(const LinearOperator& weights, int rows, int columns) {
  Sums sums(rows, columns);
  TermRoom room;
  const int passed = int(weights.passed().size());
  const bool by_terms = reads_any_again(weights, columns);
  for (int row = by_terms ? 0 : rows - passed; row < rows; ++row) sums.add_row(row, weights.terms(row, room));
  if (by_terms) return sums.norms();
  for (const DensePart& part : weights.dense()) sums.add_part(part, rows - passed);
  for (const PatchPart& part : weights.patches()) sums.add_part(part);
  return sums.norms();
}

}  // namespace regions
