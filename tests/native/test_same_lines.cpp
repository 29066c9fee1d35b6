// SPDX-License-Identifier: MIT
// Are the kinks of a layer with the same line found, and no others?
#include <doctest/doctest.h>

#include <vector>

#include "api/same_lines.hpp"

using namespace regions;

namespace {

// A layer of units with these rows of weights, as a matrix or as patches that each read all inputs.
Layer layer_of(const std::vector<std::vector<double>>& rows, const std::vector<double>& biases, bool in_patches = false) {
  static std::vector<double> weights, kept_biases, zeros;
  static std::vector<std::int32_t> kind, sources, targets;
  weights.clear();
  for (const std::vector<double>& row : rows) weights.insert(weights.end(), row.begin(), row.end());
  kept_biases = biases;
  const int units = int(rows.size());
  const int inputs = int(rows[0].size());
  zeros.assign(rows.size(), 0.0);
  Layer layer;
  layer.units = layer.own = units;
  layer.inputs = inputs;
  layer.kinks = 1;
  layer.breakpoints = zeros.data();
  layer.biases = kept_biases.data();
  if (!in_patches) {
    layer.weights = LinearOperator(weights.data(), inputs);
    return layer;
  }
  kind = {0};
  sources.clear();
  targets.clear();
  std::vector<int> rank;
  for (int input = 0; input < inputs; ++input) sources.push_back(input), rank.push_back(input);
  for (int unit = units - 1; unit >= 0; --unit) targets.push_back(unit);
  std::vector<double> kernel;
  for (int unit = units - 1; unit >= 0; --unit) kernel.insert(kernel.end(), rows[std::size_t(unit)].begin(), rows[std::size_t(unit)].end());
  const PatchArrays arrays{0, 1, units, inputs, 1, kernel.data(), kind.data(), sources.data(), targets.data()};
  layer.weights = LinearOperator({}, {PatchPart(arrays, units, rank)}, units, {});
  return layer;
}

using Lines = std::vector<std::int32_t>;

}  // namespace

TEST_CASE("multiples of a row have its line, and negative ones its complement") {
  const std::vector<std::vector<double>> rows = {{0, 0.1, 0.3}, {1, 1, 1}, {0, 0.2, 0.6}, {0, -0.1, -0.3}, {2, 2, 2}};
  CHECK(same_lines(layer_of(rows, {0.7, 1, 1.4, -0.7, 2})) == Lines{0, 1, 0, ~0, 1});
  CHECK(same_lines(layer_of(rows, {0.7, 1, 1.4, -0.7, 2.5})) == Lines{0, 1, 0, ~0, 4});
}

TEST_CASE("products that are equal only after rounding are not taken for equal") {
  // Thirds of three times a number: 0.1 * 3 is not 0.3.
  CHECK(same_lines(layer_of({{0.1, 1}, {0.3, 3}}, {0, 0})).empty());
  CHECK(same_lines(layer_of({{0.1, 1}, {0.5, 5}}, {0, 0})).empty());
  CHECK(same_lines(layer_of({{1, 1 + 0x1p-52}, {1 + 0x1p-52, 1 + 0x1p-51}}, {0, 0})).empty());
}

TEST_CASE("rows without weights, and products out of range, have lines of their own") {
  CHECK(same_lines(layer_of({{0, 0}, {0, 0}}, {1, 1})).empty());
  CHECK(same_lines(layer_of({{0x1p-600, 0x1p-600}, {0x1p-599, 0x1p-599}}, {0, 0})).empty());
  CHECK(same_lines(layer_of({{0x1p600, 0x1p600}, {0x1p601, 0x1p601}}, {0, 0})).empty());
}

TEST_CASE("rows of one patch are compared in any order") {
  const std::vector<std::vector<double>> rows = {{1, 2}, {3, 4}, {-2, -4}, {1, 2}};
  const Layer layer = layer_of(rows, {5, 6, -10, 7}, true);
  REQUIRE(same_lines(layer).size() == 4);
  CHECK(layer.same_line.empty());
  Layer noted = layer;
  noted.same_line = same_lines(layer);
  CHECK(noted.have_same_line(0, 2));
  CHECK(noted.same_line[0] != noted.same_line[2]);
  CHECK(!noted.have_same_line(0, 1));
  CHECK(!noted.have_same_line(0, 3));
}

TEST_CASE("breakpoints must be multiples too") {
  Layer layer = layer_of({{1, 2}, {2, 4}, {-1, -2}}, {0, 0, 0});
  const std::vector<double> breakpoints = {-1, 1, -2, 3, -1, 1};
  layer.kinks = 2;
  layer.breakpoints = breakpoints.data();
  CHECK(same_lines(layer) == Lines{0, 1, 0, 3, ~1, ~0});
}
