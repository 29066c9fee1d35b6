// SPDX-License-Identifier: MIT
// Are units folded into rows as the definition says, and is every rounding charged?
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "back_to_double.hpp"
#include "rows/fold.hpp"
#include "rows/relax.hpp"
#include "rows/residuals.hpp"

using namespace regions;

namespace {

constexpr int units = 12;
constexpr int columns = 5;

// Decided units with a few columns below them, and four rows that read them all.
class Layers {
 public:
  explicit Layers(bool doubled, bool whole_numbers) : random_(0), whole_(whole_numbers) {
    for (int unit = 0; unit < units; ++unit) folds.push_back({unit, row(doubled)});
    weights.resize(4 * units);
    for (double& weight : weights) weight = drawn();
    for (Row<2>& row : rows) row = *this->row(doubled);
  }

  std::vector<Fold<2>> folds;
  std::vector<double> weights;
  Row<2> rows[4];

 private:
  double drawn() {
    const double value = std::normal_distribution<double>()(random_);
    return whole_ ? std::round(4 * value) : value;
  }

  Row<2>* row(bool doubled) {
    Row<2>* row = arena_.take<Row<2>>(1);
    *row = Row<2>{};
    for (int k = 0; k < 3; ++k) row->value[k] = drawn();
    row->size = floored<2>(absolute(row->value));
    row->columns = columns;
    row->coefficients = arena_.take<double>(std::size_t(padded(columns)));
    for (int k = 0; k < padded(columns); ++k) row->coefficients[k] = k < columns ? drawn() : 0;
    if (!doubled) return row;
    row->low_coefficients = arena_.take<double>(std::size_t(padded(columns)));
    for (int k = 0; k < padded(columns); ++k) row->low_coefficients[k] = 0;
    return row;
  }

  Arena arena_;
  std::mt19937_64 random_;
  bool whole_;
};

// By how much a row's value misses start + sum of weight * output, in lane k.
double missed(const Layers& layers, const Row<2>& start, const Row<2>& result, int row, int k) {
  Accumulator sum;
  sum.add(Dyadic(start.value[k]));
  for (int unit = 0; unit < units; ++unit)
    sum.add_product(Dyadic(layers.folds[std::size_t(unit)].output->value[k]),
                    layers.weights[std::size_t(row * units + unit)]);
  sum.add(Dyadic(-result.value[k]));
  sum.add(Dyadic(-result.low[k]));
  return std::fabs(back(sum.value()));
}

}  // namespace

TEST_CASE("folding is exact where nothing is rounded, and charges what it rounds") {
  for (const bool doubled : {false, true}) {
    for (const bool whole : {false, true}) {
      CAPTURE(doubled);
      CAPTURE(whole);
      Layers layers(doubled, whole);
      Folding<2> folding;
      for (int r = 0; r < 4; ++r) {
        const Row<2> start = layers.rows[r];
        std::vector<double> before(start.coefficients, start.coefficients + columns);
        folding.fold(layers.rows[r], layers.weights.data() + r * units, nullptr, layers.folds, units);
        const Row<2>& row = layers.rows[r];
        double largest_charge = 0;
        for (int k = 0; k < 3; ++k) {
          const double off = missed(layers, start, row, r, k);
          CHECK(off <= row.own[k]);
          CHECK(row.size[k] >= std::fabs(row.value[k]));
          largest_charge = std::fmax(largest_charge, row.own[k]);
          if (whole) CHECK(off == 0);
        }
        CHECK(largest_charge > 0);
        CHECK(largest_charge < (doubled ? 1e-26 : 1e-12));
        CHECK(is_padded(row));
        for (std::size_t c = 0; c < columns; ++c) {
          for (int unit = 0; unit < units; ++unit)
            before[c] += layers.weights[std::size_t(r * units + unit)] *
                         layers.folds[std::size_t(unit)].output->coefficients[c];
          CHECK(std::fabs(row.coefficients[c] - before[c]) <= (whole ? 0 : 1e-14));
        }
      }
    }
  }
}

TEST_CASE("four rows at once are the same, bit for bit, as one after the other") {
  for (const bool doubled : {false, true}) {
    Layers single(doubled, false);
    Layers four(doubled, false);
    Folding<2> folding;
    const double* weights[4];
    for (int r = 0; r < 4; ++r) {
      folding.fold(single.rows[r], single.weights.data() + r * units, nullptr, single.folds, units);
      weights[r] = four.weights.data() + r * units;
    }
    folding.fold_four_rows(four.rows, weights, four.folds);
    for (int r = 0; r < 4; ++r) {
      for (int k = 0; k < 3; ++k) {
        CHECK(single.rows[r].value[k] == four.rows[r].value[k]);
        CHECK(single.rows[r].low[k] == four.rows[r].low[k]);
        CHECK(single.rows[r].own[k] == four.rows[r].own[k]);
      }
      for (int c = 0; c < columns; ++c) CHECK(single.rows[r].coefficients[c] == four.rows[r].coefficients[c]);
    }
  }
}

TEST_CASE("lines are appended one by one, and padded with zeros") {
  Arena arena;
  Lines<2> source = Lines<2>::take(3, arena);
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) source.value[k][i] = 10 * i + k;
    source.margin[i] = source.steepness[i] = i;
    source.owners[i] = source.breakpoints[i] = i;
  }
  Lines<2> lines = Lines<2>::take(2, arena);
  lines.append(source, 2, 5);
  lines.append(source, 0, 6);
  lines.pad();
  CHECK(lines.count == 2);
  CHECK(lines.value[1][0] == 21);
  CHECK(lines.owners[0] == 5);
  CHECK(lines.breakpoints[1] == 0);
  for (int i = 2; i < 8; ++i) CHECK(lines.value[0][i] == 0);
}

TEST_CASE("the band of a unit holds its function, whatever its shape") {
  const double breakpoints[] = {-1, 0.5, 2};
  const double shapes[][8] = {
      {0, 0.25, 1, 3, 0, 0.25, -0.125, -4.125},  // convex
      {3, 1, 0.25, 0, 2, 0, 0.375, 0.875},       // concave
      {1, -1, 2, 0, 0, -2, -3.5, 0.5},           // neither
  };
  for (const auto& shape : shapes) {
    Layer layer;
    layer.units = 1;
    layer.kinks = 3;
    layer.breakpoints = breakpoints;
    layer.slopes = shape;
    layer.intercepts = shape + 4;
    for (const double low : {-5.0, -1.5, 0.0, 1.0}) {
      const double high = 4;
      const int first = int(low > -1) + int(low > 0.5);
      const Band bounds = band(layer, 0, first, 3, low, high);
      for (double h = low; h <= high; h += 0x1p-4) {
        int piece = first;
        while (piece < 3 && h > breakpoints[piece]) ++piece;
        const double truth = shape[piece] * h + shape[4 + piece];
        CHECK(bounds.lower_slope * h + bounds.lower_intercept <= truth + 1e-15);
        CHECK(bounds.upper_slope * h + bounds.upper_intercept >= truth - 1e-15);
      }
    }
  }
}

TEST_CASE("no number stays no number, and nothing times anything is nothing") {
  const double none = std::numeric_limits<double>::quiet_NaN();
  CHECK(at_least(1.0, 2.0) == 2);
  CHECK(at_least(2.0, 1.0) == 2);
  CHECK(std::isnan(at_least(1.0, none)));
  CHECK(std::isnan(at_least(none, 1.0)));
  const Lanes4 largest = at_least(Lanes4{none, 1, 5, none}, Lanes4{1, none, 3, none});
  CHECK(std::isnan(largest[0]));
  CHECK(std::isnan(largest[1]));
  CHECK(largest[2] == 5);
  CHECK(std::isnan(largest[3]));
  const Lanes4 lanes = multiple(Lanes4{0, 1, 0, 0x1p-1000}, 3.0);
  CHECK(lanes[0] == 0);
  CHECK(lanes[1] >= 3);
  CHECK(lanes[3] >= 3 * 0x1p-1000);
}
