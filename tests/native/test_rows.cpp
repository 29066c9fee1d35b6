// SPDX-License-Identifier: MIT
// Are units folded into rows according to the definition, and is every rounding charged?
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "back_to_double.hpp"
#include "rows/decided.hpp"
#include "rows/fold.hpp"
#include "rows/relax.hpp"
#include "rows/residuals.hpp"

using namespace regions;

namespace {

constexpr int units = 12;
constexpr int columns = 13;

double* zeros(int count, Arena& arena) {
  double* numbers = arena.take<double>(std::size_t(count));
  std::fill(numbers, numbers + count, 0.0);
  return numbers;
}

// Decided units with columns below them, fewer in the first ones, and rows that read all of them.
class Layers {
 public:
  Layers(int limbs, bool whole_numbers) : random_(0), whole_(whole_numbers) {
    for (int unit = 0; unit < units; ++unit) folds.push_back({unit, row(limbs, unit < 3 ? unit : columns, 1)});
    weights.resize(rows_at_once * units);
    for (double& weight : weights) weight = drawn();
    for (Row<2>& row : rows) row = *this->row(limbs, columns, rows_at_once);
  }

  // The rows from `first` on, with the units' contributions.
  Panel<2> folded(int first, int count) {
    Panel<2> panel{};
    const int limbs = rows[0].limbs;
    panel.columns = columns;
    panel.count = count;
    panel.coefficients = zeros(columns * rows_at_once, arena_);
    panel.low_coefficients = zeros((limbs - 1) * columns * rows_at_once, arena_);
    panel.low_of_rows = arena_.take<AffineLanes<2>>(std::size_t((limbs - 1) * rows_at_once));
    const auto row_of = [&](int lane) { return first + std::min(lane, count - 1); };
    const Row<2>* side[rows_at_once];
    for (int r = 0; r < rows_at_once; ++r) {
      side[r] = &rows[row_of(r)];
      for (int k = 0; k < columns; ++k)
        panel.coefficients[k * rows_at_once + r] = side[r]->coefficients[k * rows_at_once];
    }
    read_affine_parts(side, limbs, panel);
    const auto weight = [&](int column) {
      return side_by_side([&](int r) { return weights[std::size_t(row_of(r) * units + column)]; });
    };
    Folding<2>().fold(panel, folds, folds.size(), false, weight, [](int, int) { return RowLanes{}; });
    for (int k = 0; k < 3; ++k) panel.error[k] = RowLanes{};
    return panel;
  }

  std::vector<Fold<2>> folds;
  std::vector<double> weights;
  Row<2> rows[rows_at_once];

 private:
  double drawn() {
    const double value = std::normal_distribution<double>()(random_);
    return whole_ ? std::round(4 * value) : value;
  }

  Row<2>* row(int limbs, int its_columns, int stride) {
    Row<2>* row = arena_.take<Row<2>>(1);
    *row = Row<2>{};
    for (int k = 0; k < 3; ++k) row->value[k] = drawn();
    row->size = floored<2>(absolute(row->value));
    row->columns = its_columns;
    row->coefficients = zeros(padded(its_columns) * stride, arena_);
    for (int k = 0; k < its_columns; ++k) row->coefficients[k * stride] = drawn();
    row->limbs = limbs;
    row->low = arena_.take<AffineLanes<2>>(std::size_t(limbs - 1));
    std::fill_n(row->low, limbs - 1, AffineLanes<2>{});
    row->low_coefficients = zeros((limbs - 1) * padded(its_columns) * stride, arena_);
    return row;
  }

  Arena arena_;
  std::mt19937_64 random_;
  bool whole_;
};

// The error of a row's value relative to start + sum of weight * output, in lane k.
double missed(const Layers& layers, const Row<2>& result, int row, int k) {
  Accumulator sum;
  sum.add(Dyadic(layers.rows[row].value[k]));
  for (int unit = 0; unit < units; ++unit)
    sum.add_product(Dyadic(layers.folds[std::size_t(unit)].output->value[k]),
                    layers.weights[std::size_t(row * units + unit)]);
  sum.add(Dyadic(-result.value[k]));
  for (int m = 0; m + 1 < result.limbs; ++m) sum.add(Dyadic(-result.low[m][k]));
  return std::fabs(back(sum.value()));
}

}  // namespace

TEST_CASE("folding is exact where nothing is rounded, and charges what it rounds") {
  for (const int limbs : {1, 2, 3, 4}) {
    for (const bool whole : {false, true}) {
      CAPTURE(limbs);
      CAPTURE(whole);
      Layers layers(limbs, whole);
      const Panel<2> panel = layers.folded(0, rows_at_once);
      for (int r = 0; r < rows_at_once; ++r) {
        Row<2> row{};
        write_row(panel, r, row);
        double largest_charge = 0;
        for (int k = 0; k < 3; ++k) {
          const double off = missed(layers, row, r, k);
          CHECK(off <= row.own[k]);
          CHECK(row.size[k] >= std::fabs(row.value[k]));
          largest_charge = std::fmax(largest_charge, row.own[k]);
          if (whole) CHECK(off == 0);
        }
        CHECK(largest_charge > 0);
        CHECK(largest_charge < (limbs == 1 ? 1e-12 : std::pow(1e-13, limbs)));
        for (int c = 0; c < columns; ++c) {
          double sum = layers.rows[r].coefficients[c * rows_at_once];
          for (const Fold<2>& fold : layers.folds)
            if (c < fold.output->columns)
              sum += layers.weights[std::size_t(r * units + fold.column)] * fold.output->coefficients[c];
          CHECK(std::fabs(row.coefficients[c * rows_at_once] - sum) <= (whole ? 0 : 1e-14));
        }
      }
    }
  }
}

TEST_CASE("a row is the same, bit for bit, whatever is beside it") {
  for (const int limbs : {1, 2, 3, 4}) {
    Layers layers(limbs, false);
    const Panel<2> together = layers.folded(0, rows_at_once);
    for (int r = 0; r < rows_at_once; ++r) {
      const Panel<2> alone = layers.folded(r, 1);
      for (int k = 0; k < 3; ++k) {
        CHECK(alone.value[k][0] == together.value[k][r]);
        for (int m = 0; m + 1 < limbs; ++m) CHECK(alone.low[m][k][0] == together.low[m][k][r]);
        CHECK(alone.own[k][0] == together.own[k][r]);
      }
      for (int c = 0; c < columns; ++c)
        CHECK(alone.coefficients[c * rows_at_once] == together.coefficients[c * rows_at_once + r]);
    }
  }
}

TEST_CASE("rows of a panel without columns have no coefficients") {
  for (int limbs : {1, 2}) {
    Arena arena;
    Panel<2> panel{};
    panel.limbs = limbs;
    panel.low_of_rows = arena.take<AffineLanes<2>>(std::size_t(limbs * rows_at_once));
    for (int r = 0; r < rows_at_once; ++r) {
      Row<2> row{};
      write_row(panel, r, row);
      CHECK(row.columns == 0);
      CHECK(row.coefficients == nullptr);
      CHECK(row.low_coefficients == nullptr);
    }
  }
}

TEST_CASE("a row that reads exact zeros only is charged nothing") {
  Layers layers(1, false);
  for (int unit = 0; unit < units; ++unit) layers.weights[std::size_t(unit)] = 0;
  const Panel<2> panel = layers.folded(0, rows_at_once);
  for (int k = 0; k < 3; ++k) {
    CHECK(panel.own[k][0] == 0);
    CHECK(panel.value[k][0] == layers.rows[0].value[k]);
    CHECK(panel.own[k][1] > 0);
  }
}

TEST_CASE("a size or bound of 0 is one that is known to be 0") {
  const double none = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::isnan(floored_sizes(everywhere(none))[0]));
  CHECK(std::isnan(floored_magnitudes(everywhere(none))[0]));
  CHECK(std::isnan(floored<2>(Lanes4{} + none)[0]));
  CHECK(std::isnan(floored_magnitude(none)));
  CHECK(floored_sizes(everywhere(0))[0] == 0);
  CHECK(floored_sizes(everywhere(5e-324))[0] == floor_of_sizes);
  CHECK(multiple(Lanes4{} + INFINITY, 0)[0] == 0);
  CHECK(multiple(Lanes4{}, INFINITY)[0] == 0);
}

TEST_CASE("what is read of a unit is its piece's affine function of its row") {
  for (const int limbs : {1, 2, 3, 4}) {
    Layers layers(limbs, true);
    Arena arena;
    const Row<2>& row = layers.rows[0];
    const Row<2>& same = *affine_output(row, 1, 0, arena);
    const Row<2>& half = *affine_output(row, 0.5, 2, arena);
    const Row<2>& constant = *affine_output(row, 0, -3, arena);
    CHECK((is_padded(same) && is_padded(half) && is_padded(constant)));
    for (int k = 0; k < 3; ++k) {
      CHECK(same.value[k] == row.value[k]);
      CHECK(same.own[k] == 0);
      CHECK(half.value[k] == 0.5 * row.value[k] + (k == 0 ? 2 : 0));
      CHECK(constant.value[k] == (k == 0 ? -3 : 0));
    }
    for (int c = 0; c < columns; ++c) {
      CHECK(same.coefficients[c] == row.coefficients[c * rows_at_once]);
      CHECK(half.coefficients[c] == 0.5 * row.coefficients[c * rows_at_once]);
    }
    CHECK(constant.columns == 0);
    CHECK(half.limbs == limbs);
  }
}

TEST_CASE("lines are appended one by one, and padded with zeros") {
  Arena arena;
  Lines<2> source = Lines<2>::take(3, {}, arena);
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) source.value[k][i] = 10 * i + k;
    source.margin[i] = source.steepness[i] = i;
    source.owners[i] = source.breakpoints[i] = i;
  }
  Lines<2> lines = Lines<2>::take(2, {}, arena);
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
