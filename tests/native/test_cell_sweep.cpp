// SPDX-License-Identifier: MIT
// Does a sweep over a cell count as by hand, and is each error a part of its bounds?
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernel/cell_sweep.hpp"
#include "small_problem.hpp"

using namespace regions;

namespace {

const double no_weights[6] = {};

// A row: its affine form, its coefficients of the units below, and a bound on its error.
struct Given {
  std::vector<double> form;
  std::vector<double> coefficients = {};
  double error = 0;
  int kinks = 1;  // 0 for a branch; two of these are a unit
};

using Rows = std::vector<Given>;

// Rows of several layers in the square from -1 to 1, none of them decided.
class Layers {
 public:
  explicit Layers(std::vector<Rows> layers, std::vector<double> vertex_errors = {0, 0, 0, 0}) {
    network.layers = {problem_.network.layers[0]};
    Vertex<2>* corners = arena_.take<Vertex<2>>(4);
    for (int i = 0; i < 4; ++i) {
      corners[i] = Vertex<2>{};
      for (int k = 0; k < 3; ++k) corners[i].position[k] = problem_.generators[std::size_t(3 * i + k)];
      corners[i].name = {i, {-1 - i, -1 - i}};
      corners[i].error = vertex_errors[std::size_t(i)];
    }
    cell_ = Polygon::whole(corners, 4, problem_.exact(), arena_);
    local_.bounded = true;
    local_.blocks = arena_.take<Block<2>>(layers.size());
    for (const Rows& rows : layers) {
      network.layers.push_back(problem_.network.layers[1]);
      local_.blocks[local_.block_count++] = block(++local_.frontier, rows);
      const int units = local_.blocks[local_.block_count - 1].units;
      for (const Given& row : rows) count_ += row.kinks;
      if (rows[0].kinks > 0) continue;
      count_ += units;
      make_maxima(network.layers.back(), units, rows);
    }
    local_.lines.count = local_.blocks[0].units;
  }

  std::int64_t count() {
    Signs<Polygon> signs(network, problem_.exact());
    CellSweep<Polygon> sweep(network, arena_, signs);
    REQUIRE(sweep.size(local_, cell_) == count_);
    const std::int64_t regions = sweep.count(local_, cell_);
    CHECK((signs.counts.filter > 0) == (regions != unknown));
    return regions;
  }

  Network network;

 private:
  Block<2> block(int layer, const Rows& given) {
    const int branches = given[0].kinks > 0 ? 1 : 2;
    const int count = int(given.size());
    Block<2> result{layer, count, count / branches, arena_.take<const Row<2>*>(given.size())};
    for (std::size_t r = 0; r < given.size(); ++r) {
      Row<2>* row = arena_.take<Row<2>>(1);
      *row = Row<2>{};
      row->unit = int(r) / branches;
      row->lowest_piece = int(r) % branches;
      row->highest_piece = branches > 1 ? is_an_arm : given[r].kinks;
      row->columns = int(given[r].coefficients.size());
      row->coefficients = arena_.take<double>(given[r].coefficients.size() * rows_at_once + 1);
      row->error[0] = given[r].error;
      for (int k = 0; k < 3; ++k) row->value[k] = given[r].form[std::size_t(k)];
      row->size = absolute(row->value) + row->error;
      for (std::size_t c = 0; c < given[r].coefficients.size(); ++c) {
        row->coefficients[c * rows_at_once] = given[r].coefficients[c];
        row->size[0] += std::fabs(given[r].coefficients[c]) * 10;
      }
      result.rows[r] = row;
    }
    return result;
  }

  // Its units read the layer below with the rows' coefficients.
  void make_maxima(Layer& layer, int units, const Rows& rows) {
    layer.units = layer.own = units;
    layer.kinks = 0;
    layer.inputs = int(rows[0].coefficients.size());
    double* biases = arena_.take<double>(rows.size());
    double* weights = arena_.take<double>(rows.size() * rows[0].coefficients.size() + 1);
    std::int32_t* arms = arena_.take<std::int32_t>(std::size_t(units) + 1);
    layer.biases = biases;
    layer.arms = arms;
    layer.weights = LinearOperator({{0, layer.inputs, weights}}, {}, int(rows.size()), {});
    for (int unit = 0; unit <= units; ++unit) *arms++ = 2 * unit;
    for (const Given& row : rows) {
      *biases++ = row.form[1] == 0 && row.form[2] == 0 ? row.form[0] : -10;
      weights = std::copy(row.coefficients.begin(), row.coefficients.end(), weights);
    }
  }

  SmallProblem problem_{no_weights, {0, 0, 0}, square()};
  Arena arena_;
  Polygon cell_;
  LocalNetwork<2> local_{};
  int count_ = 0;
};

const std::vector<double> vertical = {0.1, 1, 0}, horizontal = {0.2, 0, 1};
const Given vertical_row = {vertical};

}  // namespace

TEST_CASE("a row above two lines has a piece of its own in each part") {
  // relu(x + 0.1) + relu(y + 0.2) - c is zero along two axes, and on a slanted line between them.
  const auto with = [](double constant) {
    return Layers({{{vertical}, {horizontal}}, {{{constant, 0, 0}, {1, 1}}}}).count();
  };
  CHECK(with(1) == 4);
  CHECK(with(-0.5) == 7);   // zero in three parts
  CHECK(with(-1.15) == 6);  // above 1.1: the vertical part is outside
  CHECK(with(-2.25) == 5);
  CHECK(with(-2.35) == 4);
}

TEST_CASE("the same line counts once if it is known by name") {
  Layers twice({{{vertical}, {vertical}, {horizontal}}, {{{5, 0, 0}, {1, 1, 1}}}});
  CHECK(twice.count() == unknown);
  twice.network.layers[1].same_line = {0, 0, 2};
  CHECK(twice.count() == 4);
  Layers above({{{vertical}}, {{{-0.5, 0, 0}, {1}}, {{0.5, 0, 0}, {-1}}, {horizontal, {0}}}});
  CHECK(above.count() == unknown);
  above.network.layers[2].same_line = {0, ~0, 2};
  CHECK(above.count() == 6);
}

TEST_CASE("other kinks and slopes") {
  // Left of x = 0.5 the output is 1 - x, right of it x: the row is zero at x = 0.25 and x = 0.75.
  const double kink = 0.5;
  const double slopes[] = {-1, 1};
  const double intercepts[] = {1, 0};
  Layers vee({{{{0, 1, 0}}}, {{{-0.75, 0, 0}, {1}}}});
  vee.network.layers[1].breakpoints = &kink;
  vee.network.layers[1].slopes = slopes;
  vee.network.layers[1].intercepts = intercepts;
  CHECK(vee.count() == 4);
}

const double two_kinks[] = {-0.5, 0.5};
const double hard_tanh_slopes[] = {0, 1, 0};
const double hard_tanh_intercepts[] = {-0.5, 0, 0.5};

std::int64_t above_hard_tanh(double error, Given row) {
  Layers layers({{{{0, 1, 0}, {}, error, 2}}, {row}});
  Layer& lowest = layers.network.layers[1];
  lowest.kinks = 2;
  lowest.breakpoints = two_kinks;
  lowest.slopes = hard_tanh_slopes;
  lowest.intercepts = hard_tanh_intercepts;
  return layers.count();
}

TEST_CASE("a unit with two kinks") {
  const auto with = [](std::vector<double> form, double weight) { return above_hard_tanh(0, {form, {weight}}); };
  CHECK(with({0.75, 0, 0}, 1) == 3);
  CHECK(with({0.25, 0, 0}, 1) == 4);   // zero at x = -0.25
  CHECK(with({0, 1, 0}, -1.5) == 6);   // zero at x = -0.75, 0 and 0.75
  CHECK(with({0, 0, 1}, 1) == 6);      // a bent line through all strips
}

Given branch(std::vector<double> form, std::vector<double> coefficients, double error = 0) {
  return {form, coefficients, error, 0};
}

TEST_CASE("a unit with two branches") {
  // The larger of y and relu(x + 0.1) has a bent line, and is zero left of x = -0.1 below the axis.
  const Rows largest = {branch({0, 0, 1}, {0}), branch({0, 0, 0}, {1})};
  CHECK(Layers({{vertical_row}, largest}).count() == 4);
  CHECK(Layers({{vertical_row}, largest, {{{-0.5, 0, 0}, {0, 1}}}}).count() == 7);
  CHECK(Layers({{vertical_row}, largest, {{{-1.05, 0, 0}, {0, 1}}}}).count() == 5);
}

TEST_CASE("branches that are off together, and that touch where one of them begins") {
  const auto largest = [](Given first, Given second) {
    const Rows relus = {{{0.1, 1, 0}}, {{-0.4, 2, 0}}, {{-0.6, 1, 0}}};
    return Layers({relus, {first, second}, {{{-0.45, 0, 0}, {0, 0, 0, 1}}}}).count();
  };
  const std::vector<double> none = {0, 0, 0};
  CHECK(largest(branch(none, {1, 0, 0}), branch(none, {0, 0, 1})) == 5);  // 0.45 at x = 0.35
  CHECK(largest(branch(none, {1, 0, 0}), branch(none, {0, 1, 0})) == 6);  // a line at x = 0.5, too
  CHECK(largest(branch(none, none), branch(none, {1, 0, 0})) == 5);
  CHECK(largest(branch(none, none), branch(none, {-1, 0, 0})) == unknown);
  CHECK(largest(branch(none, {1, 0, 0}, 1e-300), branch(none, {0, 0, 1}, 1e-300)) == unknown);
  CHECK(largest(branch({0.45, 0, 0}, {1, 0, 0}), branch({0.45, 0, 0}, {0, 0, 1})) == unknown);
}

TEST_CASE("branches that begin at one corner") {
  const Rows relus = {vertical_row, {horizontal}};
  CHECK(Layers({relus, {branch({0, 0, 0}, {1, 0}), branch({0, 0, 0}, {0, 1})}}).count() == unknown);
}

// In the following, something is 1e-6 away from where it would be undecided. Errors below that are allowed, and larger ones are not.

TEST_CASE("errors of rows") {
  const auto with = [](double lower, double upper) {
    return Layers({{{vertical, {}, lower}}, {{{-3.3 + 1e-6, 0, 0}, {3}, upper}}}).count();
  };
  CHECK(with(0, 0.9e-6) == 3);  // zero at x = 1 - 3.3e-7
  CHECK(with(0, 1.1e-6) == unknown);
  CHECK(with(0.3e-6, 0) == 3);
  CHECK(with(0.36e-6, 0) == unknown);
}

TEST_CASE("errors of steep outputs") {
  const double slopes[] = {0, 3};
  const auto with = [&](double error) {
    Layers layers({{{vertical, {}, error}}, {{{-3.3 + 1e-6, 0, 0}, {1}}}});
    layers.network.layers[1].slopes = slopes;
    return layers.count();
  };
  CHECK(with(0.3e-6) == 3);
  CHECK(with(0.36e-6) == unknown);
}

TEST_CASE("errors of units with two kinks") {
  const auto with = [](double error) { return above_hard_tanh(error, {{-0.5 + 1e-6, 0, 0}, {1}}); };
  CHECK(with(0.15e-6) == 4);  // three times this at x = 0.5, for each of two rows
  CHECK(with(0.2e-6) == unknown);
}

TEST_CASE("errors of branches") {
  const auto largest = [](double first, double second) {  // 1e-6 above zero at the corner (1, 1)
    return Layers({{vertical_row}, {branch({0, 0, 1}, {0}, first), branch({0, 0, 0}, {1}, second)}, {{{-1.1 + 1e-6, 0, 0}, {0, 1}}}})
        .count();
  };
  CHECK(largest(0.9e-6, 0.9e-6) == 5);
  CHECK(largest(0, 1.1e-6) == unknown);
  const auto difference = [](double first, double second) {  // 1e-6 beside two corners
    return Layers({{vertical_row}, {branch({0, 0, 1}, {0}, first), branch({1e-6, 1, 0}, {0}, second)}}).count();
  };
  CHECK(difference(0.45e-6, 0.45e-6) == 4);
  CHECK(difference(1.1e-6, 0) == unknown);
  CHECK(difference(0, 1.1e-6) == unknown);
  const auto rounded = [](double size) {  // 2^-10 above zero at x = 1
    return Layers({{vertical_row}, {branch({size, -size, 0}, {0}), branch({2 * size + 0x1p-10, -2 * size, 0}, {0})}}).count();
  };
  CHECK(rounded(0x1p20) == 2);
  CHECK(rounded(0x1p42) == unknown);
  CHECK(Layers({{vertical_row}, {branch({1e308, 1e308, 0}, {0}), branch({0, 0, 1}, {0})}}).count() == unknown);
}

TEST_CASE("rounding of large terms") {
  const auto with = [](double size) { return Layers({{{vertical}}, {{{size + 0x1p-10, -size, 0}, {0}}}}).count(); };
  CHECK(with(0x1p20) == 2);  // 2^-10 above zero at x = 1
  CHECK(with(0x1p42) == unknown);
}

TEST_CASE("errors of vertices") {
  const auto with = [](double error) {
    return Layers({{{vertical}}, {{{2 - 1e-6, 1, 1}, {0}}}}, {error, 0, 0, 0}).count();
  };
  CHECK(with(0.45e-6) == 3);
  CHECK(with(0.55e-6) == unknown);
}

TEST_CASE("positions of new vertices") {
  // The lower line x = -0.1 is known to within `error`, and the upper one is 1e-6 beside it.
  const auto with = [](double error) { return Layers({{{vertical, {}, error}}, {{{0.1 + 1e-6, 1, 0}, {0}}}}).count(); };
  CHECK(with(0.9e-6) == 3);
  CHECK(with(1.1e-6) == unknown);
}

TEST_CASE("values of rows at new vertices") {
  // The second line is 1e-6 beside the first one. At a new vertex both the error at the corner and that of the share count.
  const auto with = [](double error) {
    return Layers({{{vertical}, {{0.01 - 1e-7, 0.1, 0}}}, {{{5, 0, 0}, {1, 1}}}}, {error, 0, 0, 0}).count();
  };
  CHECK(with(0.45e-6) == 3);
  CHECK(with(0.6e-6) == unknown);
}

TEST_CASE("outputs at new vertices") {
  const auto with = [](double lowest) {  // the last row is 1e-6 at the new vertex (1, 0)
    return Layers({{{vertical, {}, lowest}}, {{{0, 0, 1}, {0}}}, {{{-1.1 + 1e-6, 0, 5}, {1, 0}}}}).count();
  };
  CHECK(with(0.9e-6) == 7);
  CHECK(with(1.1e-6) == unknown);
  const auto moved = [](double middle) {  // the same at (1/2, -1), whose position is uncertain
    return Layers({{{vertical}}, {{{-0.5, 1, 0}, {0}, middle}}, {{{-0.55 + 1e-6, 0, 0.05}, {1, 0}}}}).count();
  };
  CHECK(moved(0.9e-6) == 4);
  CHECK(moved(1.1e-6) == unknown);
}

TEST_CASE("crossings in the last layer are counted, unless three may be in one point") {
  const auto with = [](double constant, double error) {
    return Layers({{{{0.95, 1, 0}}},
                   {{{0, 1, 0.1}, {0}, error}, {{0, 0.1, 1}, {0}, error}, {{constant, 1, 0.9}, {0}, error}}})
        .count();
  };
  CHECK(with(-0.5, 0) == 9);
  CHECK(with(0.25, 0) == 10);
  CHECK(with(1e-12, 0) == 9);
  CHECK(with(0, 0) == unknown);
  CHECK(with(1e-6, 0.3e-6) == 9);
  CHECK(with(1e-6, 0.45e-6) == unknown);
}

TEST_CASE("ends of chords in one point") {
  const auto with = [](double error) {
    return Layers({{{vertical}}, {{{-0.2, 1, 0}, {0}, error}, {{0.3 + 1e-6, 1, 0.5}, {0}, error}}}).count();
  };
  CHECK(with(0.45e-6) == 5);
  CHECK(with(0.55e-6) == unknown);
}

TEST_CASE("numbers beyond the largest double prove nothing") {
  CHECK(Layers({{{vertical}}, {{{1e308, 1e308, 0}, {1}}}}).count() == unknown);
  CHECK(Layers({{{vertical}}, {{{1e308, 1, 0}, {1e308}}}}).count() == unknown);
  CHECK(Layers({{{{0, 1e155, 1}}}, {{{1e300, 0, 0}, {1e155}}}}).count() == unknown);  // a product
  CHECK(Layers({{{vertical, {}, NAN}}, {{{1, 1, 0}, {1}}}}).count() == unknown);
  CHECK(Layers({{{vertical}}, {{{1, 1, 0}, {1}}}}, {INFINITY, 0, 0, 0}).count() == unknown);
}
